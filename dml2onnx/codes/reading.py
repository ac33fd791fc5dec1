"""What can be wrong with the text of a model: DML10xx its structure, DML11xx a field."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

# --- DML10xx: structure -----------------------------------------------------------------------------------------------

UNKNOWN_KEY = Code(
    "DML1001",
    "Unknown member",
    "The object has a member that the format does not define. It would be without effect, so it is taken for a slip. "
    "In the bindings of DxDispatch models that is said only of names very close to a known one.",
)
IGNORED_KEY = Code(
    "DML1002",
    "Member without effect",
    "DxDispatch ignores members that it does not know. Here it stands where a slip is likely and would go unnoticed.",
    Severity.WARNING,
)
MISSING_KEY = Code("DML1003", "Missing member", "The format requires a member that the object does not have.")
WRONG_KIND = Code(
    "DML1004",
    "Wrong kind of JSON value",
    "The member has a value of another kind (string, number, object, array) or outside the range that it may have.",
)
DUPLICATE_KEY = Code(
    "DML1005",
    "A member occurs twice",
    "JSON readers disagree on which of two members of one name counts, so neither does.",
)
REPEATED_KEY = Code(
    "DML1006",
    "A member occurs twice, and one is ignored",
    "DxDispatch takes the first member of a name, but of two resources or dispatchables the last one. The other is "
    "without effect.",
    Severity.WARNING,
)
DUPLICATE_NAME = Code(
    "DML1007",
    "Two values have one name",
    "Inputs, constants and the outputs of nodes share one name space, and each name means one value.",
)
UNKNOWN_VALUE = Code(
    "DML1008",
    "Unknown value",
    "A node or an output of the graph reads a name that no input, constant or node output has.",
)
UNKNOWN_OPERATOR = Code(
    "DML1009",
    "Unknown operator",
    "Operators are named as in DirectML.h, with or without DML_OPERATOR_ and in capitals: ELEMENT_WISE_ADD1. "
    "`dml2onnx ops` lists them.",
)
UNKNOWN_TENSOR = Code(
    "DML1010",
    "The operator has no such tensor",
    "Inputs and outputs are connected to the tensor fields of the operator's structure, by their names.",
)
UNCONNECTED_TENSOR = Code(
    "DML1011",
    "A tensor is described but not connected",
    "The descriptor says that the tensor is present, but no value or buffer is given for it. DirectML refuses to bind "
    "nothing to a tensor that is present; an optional tensor is left out by leaving out its descriptor.",
)
CONNECTION_COUNT = Code(
    "DML1012",
    "Wrong number of connections",
    "A field that is an array of tensors needs one value for each of its descriptors; every other field needs one.",
)
UNKNOWN_FEATURE_LEVEL = Code(
    "DML1013",
    "Unknown feature level",
    'Feature levels are written "5_0", "5.0" or "DML_FEATURE_LEVEL_5_0".',
)
NO_CONTENTS = Code(
    "DML1014",
    "An input without contents cannot become a constant",
    "An option asks to compile an input as a constant, or the program of a recording has a tensor that DirectML owns, "
    "but there are no contents for it. --constant NAME=FILE (constants={name: contents} in Python) gives some.",
)
UNKNOWN_OPTION_NAME = Code(
    "DML1015",
    "Options about inputs do not fit the model",
    "An option that turns inputs into constants or keeps them as inputs names something that the model does not have, "
    "or both are asked for the same input.",
)
NOTHING_FROZEN = Code(
    "DML1017",
    "--freeze freezes nothing",
    "--freeze makes constants of inputs whose contents come with the model, and this one has none: they were excepted "
    "with --input, or the model gives no contents. It is read as without --freeze.",
    Severity.WARNING,
)
CONTENTS_DIFFER = Code(
    "DML1018",
    "Contents given for an input do not fit it",
    "What --constant makes the contents of an input is an array in memory order, in the data type of the tensor that "
    "reads it and in the shape that `dml2onnx compile` prints for it, or flat; or as many bytes as the tensor has.",
)
TWO_FILES = Code(
    "DML1019",
    "Two files for one input",
    "In a directory of constants each input has at most one file: NAME.npy, NAME.npz, NAME.bin, NAME.raw, NAME.dat or "
    "NAME, with _ for what names of files cannot have.",
)
UNUSED_FILES = Code(
    "DML1056",
    "Files of constants belong to no input",
    "A directory of constants has files that are named after no input of the graph: they are not used.",
    Severity.WARNING,
)
TOO_MANY_FINDINGS = Code(
    "DML1016",
    "Further findings are not listed",
    "The list of findings ends here, so that a damaged file of any size gives an answer of reasonable size.",
)

FILE_OUTSIDE = Code(
    "DML1020",
    "A file outside of the model's directory",
    "Files that a model names are looked up in the model's directory and may not lie outside of it, symbolic links "
    "followed, so that a model from elsewhere cannot read your files. --allow-path DIR (allow_paths in Python) "
    "allows a further directory.",
)
FILE_UNREADABLE = Code(
    "DML1021",
    "A file that the model names cannot be read",
    "The file is missing, is no regular file, or the operating system refuses it.",
)
FILE_TOO_SHORT = Code(
    "DML1022",
    "A file is too short",
    "The range of bytes that the model asks for ends beyond the end of the file, or does not match its tensor.",
)
FILE_TOO_LONG = Code(
    "DML1026",
    "A file is longer than its tensor",
    "A file that is given as a whole holds one tensor and, at most, what rounds it up to the size of its buffer. A "
    "longer one is another file, or one of another data type. Where its first bytes are meant, the native format says "
    'so with "offset": 0, and a DML_GRAPH_DESC with "length" or DataSize.',
)
LFS_POINTER = Code(
    "DML1027",
    "A Git LFS pointer in place of a file",
    "Git LFS keeps large files elsewhere, and a checkout without it has a short text in place of each. "
    '"git lfs pull" in the repository fetches the files themselves.',
)
MISSING_CONTENTS = Code(
    "DML1028",
    "The file of a constant is not there",
    "A serialized graph can be checked, explained and converted without the files of its constants, whose sizes follow "
    "from the tensors that read them. Compiling and running need them.",
    Severity.WARNING,
)
FILE_PARTLY_READ = Code(
    "DML1029",
    "A file of another size than what is read of it",
    "DxDispatch binds a resource to any tensor that is not larger, and fills what a .npy file lacks with zeros. A file "
    "of another size than its tensor is often another file.",
    Severity.WARNING,
)
BAD_NPY = Code(
    "DML1023",
    "A .npy file that cannot be used",
    "Format versions 1 to 3 are read, row-major, little-endian, of whole numbers, floats and bools.",
)
NO_PILLOW = Code(
    "DML1024",
    "Reading images needs Pillow",
    "Initial values from .png and .jpg files are decoded by the optional package Pillow: "
    'pip install "dml2onnx[images]".',
)
BAD_IMAGE = Code(
    "DML1025",
    "An image that cannot be used",
    "An image is scaled to resampleSize (N, C, H, W; both required) and stored as FLOAT32 or FLOAT16, values 0 to 1.",
)

WRONG_VALUE_COUNT = Code(
    "DML1030",
    "Wrong number of values",
    "Values are given as one flat array or as arrays nested as the sizes say, and there are as many as elements.",
)
BAD_VALUE = Code(
    "DML1031",
    "A value that the data type cannot hold",
    "Whole numbers are neither wrapped nor saturated, and fractions are not rounded for integer types.",
)
TOO_MUCH_DATA = Code(
    "DML1032",
    "Too much data in memory",
    "Values that have to be computed or decoded are kept in memory, up to 256 MiB for one model. Put them into a file.",
)
NO_DATA = Code("DML1033", "No contents", "Contents of zero bytes are given; a buffer has at least one byte.")
DATA_SOURCE = Code(
    "DML1034",
    "No source of contents, or several",
    "A buffer takes its contents from exactly one source.",
)
RESOURCE_TOO_SMALL = Code(
    "DML1035",
    "A buffer smaller than its contents",
    "sizeInBytes, where given, is at least the length of the initial values (and of initialValuesOffsetInBytes before "
    "them).",
)
SEQUENCE_OVERFLOW = Code(
    "DML1036",
    "A sequence leaves the range of its data type",
    "What DxDispatch makes of it depends on the compiler that built it; here the value wraps.",
    Severity.WARNING,
)
OFFSET_WITHOUT_EFFECT = Code(
    "DML1037",
    "initialValuesOffsetInBytes has no effect",
    "DxDispatch checks this member and then writes the initial values at the start of the buffer all the same.",
    Severity.WARNING,
)
BEYOND_RANGE = Code(
    "DML1038",
    "A number beyond the range of its data type",
    "The magnitude of the number is larger than the largest finite value of its floating point type, so that it "
    'becomes infinite. Where an infinity is meant, write "inf" or "-inf"; DxDispatch takes these strings as well.',
    Severity.WARNING,
)

UNKNOWN_RESOURCE = Code(
    "DML1040", "Unknown resource", "A binding or a command names a resource that is no member of resources."
)
UNKNOWN_DISPATCHABLE = Code(
    "DML1041", "Unknown dispatchable", "A dispatch names a dispatchable that is no member of dispatchables."
)
UNKNOWN_COMMAND = Code(
    "DML1042", "Unknown command", "A program consists of the commands dispatch, print and writeFile."
)
UNSUPPORTED_DISPATCHABLE = Code(
    "DML1043",
    "A dispatchable that is no DirectML operator",
    "Shaders (hlsl) and ONNX models (onnx) are not DirectML graphs and cannot be compiled as part of a DxDispatch "
    "program.",
)
DEFERRED_RESOURCE = Code(
    "DML1044",
    "A deferred resource",
    "Deferred buffers are allocated by ONNX Runtime for the outputs of onnx dispatchables, which are not compiled.",
)
OWNED_NOT_BOUND = Code(
    "DML1045",
    "A tensor owned by DirectML has no contents",
    "A tensor with the flag OWNED_BY_DML is bound once, in the bindings of the dispatchable.",
)
OWNED_BOUND_AT_DISPATCH = Code(
    "DML1046",
    "A tensor owned by DirectML is bound by a dispatch",
    "Contents of a tensor with the flag OWNED_BY_DML are captured once, before the first command, from what the "
    "dispatchable's bindings name. A binding in the dispatch alone is taken to mean that: the resource becomes a "
    "constant with its initial contents. DirectML itself refuses it.",
    Severity.WARNING,
)
OWNED_BOUND_TWICE = Code(
    "DML1053",
    "A tensor owned by DirectML is bound again by a dispatch",
    "Contents of a tensor with the flag OWNED_BY_DML are captured when the dispatchable is initialized; DirectML fails "
    "when such a tensor is bound again. Bind it in the dispatchable only.",
)
BOUND_AT_INITIALIZATION = Code(
    "DML1047",
    "A tensor is bound at initialization without being owned by DirectML",
    "The bindings of a dispatchable are for tensors with the flag OWNED_BY_DML; DirectML fails on others.",
)
IGNORED_BINDING = Code(
    "DML1048",
    "A binding without effect",
    "The operator has no such tensor, or its descriptor says that it is absent, or an output is bound at "
    "initialization. The resource is neither read nor written through this binding.",
    Severity.WARNING,
)
UNPRINTABLE = Code(
    "DML1049",
    "A resource without data type cannot be shown",
    "print, and writeFile to .npy or an image, need initialValuesDataType.",
)
OFFSET_WITHOUT_SIZE = Code(
    "DML1050",
    "An elementOffset that counts elements of no size",
    "The resource has no data type of whole bytes and the binding no elementSizeInBytes, so that the offset in bytes "
    "is 0 whatever elementOffset says.",
    Severity.WARNING,
)
COLLAPSED_GRAPH = Code(
    "DML1051",
    "DmlCompileGraph with fields outside of desc",
    "DxDispatch finds no tensors to bind when it compiles such a dispatchable as a graph. It is read as if the fields "
    "stood in desc.",
    Severity.WARNING,
)
DIMENSIONS_DIFFER = Code(
    "DML1052",
    "Dimensions that do not fit",
    "The dimensions of a .npy or image file have to fit into the resource. Those of an image are N, C, H and W, with "
    "N = 1 and 1, 3 or 4 channels.",
)
ELEMENT_COUNT_IGNORED = Code(
    "DML1054",
    "An elementCount smaller than the tensor",
    "DirectML operators read and write as many bytes as the tensor descriptor says; elementCount of a binding is for "
    "shaders and has no effect here.",
    Severity.WARNING,
)
MARKED_TEXT = Code(
    "DML1055",
    "A byte order mark that DxDispatch does not take",
    "The file starts with the UTF-8 byte order mark, which JSON does not have. It is skipped here; DxDispatch itself "
    "refuses the file. Save it as plain UTF-8.",
    Severity.WARNING,
)

EDGE_INDEX = Code(
    "DML1060",
    "An edge leads nowhere",
    "The index of a node, of a graph input or output, or of a node's input or output is out of range. Inputs and "
    "outputs of a node are numbered in the order of its structure; an array takes one number per element, and an "
    "optional tensor keeps its number when it is absent.",
)
CONNECTED_TWICE = Code(
    "DML1061",
    "Connected twice",
    "An input of a node and an output of the graph are the end of one edge each.",
)
EDGE_BYTES = Code(
    "DML1062",
    "The ends of an edge differ in size",
    "Both ends of an edge may describe its bytes differently, but TotalTensorSizeInBytes has to be the same. In a "
    "serialized graph a reader may also use the first bytes only; there are never fewer than it reads.",
)
OWNED_FLAGS_DIFFER = Code(
    "DML1063",
    "Readers of a graph input disagree on OWNED_BY_DML",
    "All inputs connected to one graph input carry the flag, or none does.",
)
OWNED_NOT_AN_INPUT = Code(
    "DML1064",
    "A tensor owned by DirectML is not connected to a graph input",
    "Inputs with the flag OWNED_BY_DML can only be connected to graph inputs.",
)
UNUSED_GRAPH_INPUT = Code(
    "DML1065",
    "An unused graph input",
    "No edge leads from this input. It is no input of the compiled model.",
    Severity.WARNING,
)
UNFED_GRAPH_OUTPUT = Code("DML1066", "A graph output without an edge", "Nothing is connected to this graph output.")
COUNT_DIFFERS = Code(
    "DML1067",
    "A count does not match its array",
    "Counts may be left out; where they are given they agree with the length of the array.",
)
ABSENT_TENSOR = Code(
    "DML1068",
    "An edge to an absent tensor",
    "The optional tensor of this number has no descriptor, so nothing can be connected to it.",
)

CONSTANT_OUTPUT = Code(
    "DML1069",
    "A constant as graph output",
    "A constant node is bytes without a descriptor and feeds operators only; put an ELEMENT_WISE_IDENTITY between.",
)
NODE_KIND = Code(
    "DML1070",
    "A node of no known kind",
    "A node of a serialized graph is an operator or a constant, and a constant has a name or bytes.",
)
NOT_YET_MADE = Code(
    "DML1071",
    "A value is read before it is made",
    "The nodes of a serialized graph stand in the order in which they are executed: what a node reads is an input of "
    "the graph or an output of an earlier node.",
)
INPUT_AS_OUTPUT = Code(
    "DML1072",
    "A graph input as graph output",
    "An output of the graph is the output of a node; put an ELEMENT_WISE_IDENTITY between.",
)
TENSOR_COUNT = Code(
    "DML1073",
    "Names and tensor descriptors do not match",
    "A node of a serialized graph has a name for each of its tensors, in the order of the operator's structure and "
    "empty for those that are absent, and a descriptor for each of those that are present.",
)
GRAPH_BOUND_WITH_OFFSET = Code(
    "DML1074",
    "A serialized graph bound from the middle of a buffer",
    "Inputs and outputs of a dmlSerializedGraph start at the first byte of their resources. DxDispatch refuses every "
    "other elementOffset.",
)
GRAPH_BOUND_BYTES = Code(
    "DML1075",
    "A serialized graph bound to too few bytes",
    "DxDispatch binds elementCount elements (all initial values when it is not given) to an input or output of a "
    "dmlSerializedGraph, and DirectML refuses fewer bytes than the tensor has.",
)

# --- DML11xx: fields --------------------------------------------------------------------------------------------------

UNKNOWN_FIELD = Code(
    "DML1101",
    "Unknown field",
    "Neither the operator's structure nor the format has a field of this name. In DxDispatch models that is said only "
    "of names very close to a known one; others are ignored.",
)
IGNORED_FIELD = Code(
    "DML1102",
    "Field without effect",
    "DxDispatch ignores fields that it does not know, so that a slip in the name of an optional field goes unnoticed.",
    Severity.WARNING,
)
MISSING_FIELD = Code(
    "DML1103",
    "Missing field",
    "The structure requires this field. In DxDispatch models that holds for every field except optional tensors, "
    "ScaleBias and FusedActivation; there are no defaults, and counts have to be written.",
)
NULL_FIELD = Code(
    "DML1104",
    "Field must not be null",
    "Only optional fields may be null, and in DxDispatch models not even those: there they are left out.",
)
FIELD_KIND = Code("DML1105", "Wrong kind of value", "The field holds another kind of JSON value than it should.")
FIELD_RANGE = Code(
    "DML1106",
    "Value out of range",
    "The number does not fit the type of the field. Numbers are neither wrapped nor saturated.",
)
NOT_EXACT = Code(
    "DML1107",
    "A whole number that a double cannot hold",
    "A FLOAT field takes whole numbers, but only those that are exact in double precision; write a decimal point to "
    "have it rounded.",
)
ENUMERATOR = Code(
    "DML1108",
    "Unknown enumerator",
    "Enumerators are written by their full name or without the prefix of their type, in capitals.",
)
COUNT_MISMATCH = Code(
    "DML1109",
    "A count does not match its array",
    "The count field and the arrays that it counts disagree. DxDispatch would read beyond the end of the array.",
)
SCALAR_MEMBER = Code(
    "DML1110",
    "A scalar union without the member of its type",
    "A scalar is a bare number, or an object with the member that belongs to its data type: Float32, Float64, Int8 to "
    "Int64, UInt8 to UInt64; for FLOAT16 it is UInt16 with the bit pattern. In a DML_GRAPH_DESC it may be Bytes, those "
    "of the union, too.",
)
NESTED_TENSOR = Code(
    "DML1111",
    "A nested activation with tensors",
    "The tensors of a fused activation are absent: it works on the output of its host.",
)
NESTED_TENSOR_IGNORED = Code(
    "DML1112",
    "A nested activation with tensors, which are ignored",
    "DxDispatch reads the tensors of a fused activation as absent, whatever is given.",
    Severity.WARNING,
)
NEWER_THAN_DXDISPATCH = Code(
    "DML1113",
    "Newer than DxDispatch",
    "The released DxDispatch does not know this name and rejects the model; dml2onnx reads it.",
    Severity.WARNING,
)
NESTED_TOO_DEEP = Code(
    "DML1114",
    "Activations nested too deeply",
    "DirectML fuses one activation into an operator, and none into an activation.",
)
TOO_MANY_SIZES = Code(
    "DML1115",
    "Far too many dimensions",
    "DirectML's tensors have up to 8 dimensions; a list of this length is not even looked at.",
)
NOT_FINITE = Code(
    "DML1116",
    "A number beyond double precision",
    'The number is too large for a double. Where an infinity is meant, write "inf" or "-inf".',
)
NEGATIVE_SCALAR = Code(
    "DML1117",
    "A negative number in an unsigned scalar union",
    "DML_SCALAR_UNION is eight bytes that every member shares, so a negative number read as an unsigned type is a "
    "large positive one: its bits are kept. That is seldom meant.",
    Severity.WARNING,
)
ATTRIBUTE_COUNT = Code(
    "DML1118",
    "Wrong number of attributes",
    "A serialized operator has one entry for each attribute of its structure, in its order, absent ones included. The "
    "file may have been written for another version of the operator.",
)
ATTRIBUTE_NAME = Code(
    "DML1119",
    "An attribute of another name",
    "The attributes of a serialized operator are identified by their position. The name stored beside this one is not "
    "that of the field at its position.",
)
ATTRIBUTE_KIND = Code(
    "DML1120",
    "An attribute stored as another type",
    "Every attribute of a serialized operator is stored as the type that belongs to its field: UInt32 for UINT, BOOL "
    "and enumerators, Int32, Float32, arrays of these, ScaleBias, Size2D, Activation, and ScalarUnionData with the "
    "eight bytes of the union.",
)
OTHER_OPERATOR = Code(
    "DML1121",
    "The fields of another operator",
    "The type names an operator, and the fields that are given are all those of another one: most likely the type is "
    "wrong. Nothing else is said of the node.",
)
