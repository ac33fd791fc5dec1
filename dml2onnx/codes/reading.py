"""Findings about the text of a model: DML10xx structure, DML11xx fields."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

# --- DML10xx: structure -----------------------------------------------------------------------------------------------

UNKNOWN_KEY = Code(
    "DML1001",
    "Unknown member",
    "Correct the name: the format has no such member, so it would have no effect. In bindings of DxDispatch models, "
    "only names close to a known one are reported.",
)
IGNORED_KEY = Code(
    "DML1002",
    "Member without effect",
    "Check the name: DxDispatch ignores members that it does not know, so a misspelled one goes unnoticed.",
    Severity.WARNING,
)
MISSING_KEY = Code("DML1003", "Missing member", "The format requires a member that the object does not have.")
WRONG_KIND = Code(
    "DML1004",
    "Wrong kind of JSON value",
    "The value has another kind than the member needs (string, number, object, array), or is outside its range.",
)
DUPLICATE_KEY = Code(
    "DML1005",
    "A member occurs twice",
    "Remove one of them. JSON readers disagree on which of two members of one name counts.",
)
REPEATED_KEY = Code(
    "DML1006",
    "A member occurs twice, and one is ignored",
    "Remove one of them. DxDispatch uses the first of two members of one name, but the last of two resources or "
    "dispatchables.",
    Severity.WARNING,
)
DUPLICATE_NAME = Code(
    "DML1007",
    "Two values have one name",
    "Rename one of them. Inputs, constants and outputs of nodes share one name space.",
)
UNKNOWN_VALUE = Code(
    "DML1008",
    "Unknown value",
    "Correct the name, or add the value: a node or an output reads a name that no input, constant or node output has.",
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
    "Inputs and outputs have the names of the tensor fields in the operator's structure. This operator has no such "
    "field.",
)
UNCONNECTED_TENSOR = Code(
    "DML1011",
    "A tensor is described but not connected",
    "Connect the tensor, or remove its descriptor if the tensor is optional. DirectML does not run an operator whose "
    "described tensors are unbound.",
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
    "Give the contents with --constant NAME=FILE (constants={name: contents} in Python). An option asks to compile "
    "this input as a constant, or DirectML owns the tensor in a recording, but the model has no contents for it.",
)
UNKNOWN_OPTION_NAME = Code(
    "DML1015",
    "Options about inputs do not fit the model",
    "An option about inputs names an input that the model does not have, or requests the same input as a constant "
    "and as an input.",
)
NOTHING_FROZEN = Code(
    "DML1017",
    "--freeze freezes nothing",
    "--freeze turns inputs into constants if the model has contents for them. This model has none, or --input keeps "
    "them inputs. The model is read as without --freeze.",
    Severity.WARNING,
)
CONTENTS_DIFFER = Code(
    "DML1018",
    "Contents given for an input do not fit it",
    "Give an array with the data type of the tensor that reads the input, in the shape that `dml2onnx compile` prints "
    "or flat; or a file with as many bytes as the tensor.",
)
TWO_FILES = Code(
    "DML1019",
    "Two files for one input",
    "Remove one of the files. A directory of constants has one file for an input: NAME.npy, NAME.npz, NAME.bin, "
    "NAME.raw, NAME.dat or NAME, with _ for characters that file names cannot have.",
)
UNUSED_FILES = Code(
    "DML1056",
    "Files of constants belong to no input",
    "Rename these files, or remove them: no input of the graph has their names, so they are not used.",
    Severity.WARNING,
)
TOO_MANY_FINDINGS = Code(
    "DML1016",
    "Further findings are not listed",
    "Correct the findings above first. Only the first ones of a damaged file are listed.",
)

FILE_OUTSIDE = Code(
    "DML1020",
    "A file outside of the model's directory",
    "Allow the directory with --allow-path DIR (allow_paths in Python) if you trust the model. Otherwise a model may "
    "only name files below its own directory, after symbolic links are followed, so that it cannot read your other "
    "files.",
)
FILE_UNREADABLE = Code(
    "DML1021",
    "A file that the model names cannot be read",
    "The file is missing, is no regular file, or the operating system refuses it.",
)
FILE_TOO_SHORT = Code(
    "DML1022",
    "A file is too short",
    "The file ends before the bytes that the model asks for, or has fewer bytes than the tensor.",
)
FILE_TOO_LONG = Code(
    "DML1026",
    "A file is longer than its tensor",
    "Use the right file: a longer one belongs to another tensor, or has another data type. A file may only exceed its "
    'tensor up to the size of the buffer. To read its first bytes only, write "offset": 0 in the native format, '
    '"length" or DataSize in a DML_GRAPH_DESC.',
)
LFS_POINTER = Code(
    "DML1027",
    "A Git LFS pointer in place of a file",
    'Run "git lfs pull" in the repository. Without Git LFS a checkout has short texts in place of large files.',
)
MISSING_CONTENTS = Code(
    "DML1028",
    "The file of a constant is not there",
    "Put the file beside the model before you compile, explain or run it, or say with --constants DIR or --constant "
    "NAME=FILE where it is; --input NAME makes an input of the constant. A serialized graph can be checked and "
    "converted without the files of its constants: their sizes follow from the tensors that read them.",
    Severity.WARNING,
)
FILE_PARTLY_READ = Code(
    "DML1029",
    "A file whose size differs from what is read of it",
    "Check that it is the right file. DxDispatch binds a resource to any tensor that is not larger, and extends a "
    ".npy file with zeros, so it does not notice.",
    Severity.WARNING,
)
BAD_NPY = Code(
    "DML1023",
    "A .npy file that cannot be used",
    "Save the array again with numpy.save. The versions 1 to 3 of the format can be read, with little-endian, "
    "row-major whole numbers, floats and bools.",
)
NO_PILLOW = Code(
    "DML1024",
    "Reading images needs Pillow",
    'Install it: pip install "dml2onnx[images]". It decodes initial values from .png and .jpg files.',
)
BAD_IMAGE = Code(
    "DML1025",
    "An image that cannot be used",
    "Give resampleSize with N, C, H and W. The image is scaled to it and stored as FLOAT32 or FLOAT16 with values "
    "from 0 to 1.",
)

WRONG_VALUE_COUNT = Code(
    "DML1030",
    "Wrong number of values",
    "Give one value for each element: as one flat array, or as arrays nested like the sizes.",
)
BAD_VALUE = Code(
    "DML1031",
    "A value that the data type cannot hold",
    "Give a value that the data type holds. Whole numbers are neither wrapped nor saturated, and fractions are not "
    "rounded to integers.",
)
TOO_MUCH_DATA = Code(
    "DML1032",
    "Too much data in memory",
    "Put the values into a file. Values that have to be computed or decoded stay in memory, and one model may have "
    "256 MiB of them.",
)
NO_DATA = Code("DML1033", "No contents", "Contents of zero bytes are given; a buffer has at least one byte.")
DATA_SOURCE = Code(
    "DML1034",
    "No source of contents, or several",
    "Name exactly one source for the contents of a buffer.",
)
RESOURCE_TOO_SMALL = Code(
    "DML1035",
    "A buffer smaller than its contents",
    "Increase sizeInBytes, or leave it out: it has to cover the initial values, and initialValuesOffsetInBytes before "
    "them.",
)
SEQUENCE_OVERFLOW = Code(
    "DML1036",
    "A sequence leaves the range of its data type",
    "Change the sequence so that it stays in the range of its data type. Here the value wraps; DxDispatch's result "
    "depends on the compiler that built it.",
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
    "The number is larger than the largest finite value of its data type, so it becomes infinite. If you mean "
    'infinity, write "inf" or "-inf"; DxDispatch accepts these strings, too.',
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
    "A DxDispatch program can be compiled if all of its dispatchables are DirectML operators. Shaders (hlsl) and ONNX "
    "models (onnx) are not.",
)
DEFERRED_RESOURCE = Code(
    "DML1044",
    "A deferred resource",
    "Deferred buffers are allocated by ONNX Runtime for the outputs of onnx dispatchables, which are not compiled.",
)
OWNED_NOT_BOUND = Code(
    "DML1045",
    "A tensor owned by DirectML has no contents",
    "Bind the tensor in the bindings of the dispatchable. DirectML reads a tensor with the flag OWNED_BY_DML once, "
    "from there.",
)
OWNED_BOUND_AT_DISPATCH = Code(
    "DML1046",
    "A tensor owned by DirectML is bound by a dispatch",
    "Bind the tensor in the bindings of the dispatchable instead: DirectML itself refuses the program. A tensor with "
    "the flag OWNED_BY_DML is read once, before the first command. Here the resource becomes a constant with its "
    "initial contents.",
    Severity.WARNING,
)
OWNED_BOUND_TWICE = Code(
    "DML1053",
    "A tensor owned by DirectML is bound again by a dispatch",
    "Bind the tensor in the dispatchable only. DirectML reads a tensor with the flag OWNED_BY_DML when the "
    "dispatchable is initialized, and fails if it is bound again.",
)
BOUND_AT_INITIALIZATION = Code(
    "DML1047",
    "A tensor is bound at initialization without being owned by DirectML",
    "Bind the tensor in the dispatch, or set its flag OWNED_BY_DML. The bindings of a dispatchable are for tensors "
    "with that flag; DirectML fails on others.",
)
IGNORED_BINDING = Code(
    "DML1048",
    "A binding without effect",
    "Remove the binding. The operator has no such tensor, or its descriptor omits it, or it is an output bound at "
    "initialization. The resource is neither read nor written.",
    Severity.WARNING,
)
UNPRINTABLE = Code(
    "DML1049",
    "A resource without data type cannot be shown",
    "print, and writeFile to .npy or an image, need initialValuesDataType.",
)
OFFSET_WITHOUT_SIZE = Code(
    "DML1050",
    "An elementOffset without an element size",
    "Set elementSizeInBytes. The resource has no data type of whole bytes, so the offset is 0 bytes whatever "
    "elementOffset says.",
    Severity.WARNING,
)
COLLAPSED_GRAPH = Code(
    "DML1051",
    "DmlCompileGraph with fields outside of desc",
    "Move the fields into desc. Otherwise DxDispatch finds no tensors to bind when it compiles this dispatchable as a "
    "graph. Here the fields are read as if they were in desc.",
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
    "Save the file as UTF-8 without a byte order mark. It is skipped here, but DxDispatch refuses the file.",
    Severity.WARNING,
)

EDGE_INDEX = Code(
    "DML1060",
    "An edge has no end",
    "The index of a node, of a graph input or output, or of a node's input or output is out of range. The inputs and "
    "outputs of a node are numbered in the order of its structure. An array has a number for each element, and an "
    "absent optional tensor keeps its number.",
)
CONNECTED_TWICE = Code(
    "DML1061",
    "Connected twice",
    "Remove one of the edges. Only one edge may lead to an input of a node or an output of the graph.",
)
EDGE_BYTES = Code(
    "DML1062",
    "The ends of an edge differ in size",
    "Give both ends the same TotalTensorSizeInBytes; their other fields may differ. In a serialized graph a reader "
    "may also use only the first bytes.",
)
OWNED_FLAGS_DIFFER = Code(
    "DML1063",
    "Readers of a graph input disagree on OWNED_BY_DML",
    "Set the flag on all inputs that are connected to this graph input, or on none.",
)
OWNED_NOT_AN_INPUT = Code(
    "DML1064",
    "A tensor owned by DirectML is not connected to a graph input",
    "Inputs with the flag OWNED_BY_DML can only be connected to graph inputs.",
)
UNUSED_GRAPH_INPUT = Code(
    "DML1065",
    "An unused graph input",
    "Connect the input, or remove it. The compiled model does not have it.",
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
    "Put an ELEMENT_WISE_IDENTITY between them. A constant node has bytes but no descriptor, so only operators can "
    "read it.",
)
NODE_KIND = Code(
    "DML1070",
    "A node of no known kind",
    "A node of a serialized graph is an operator or a constant, and a constant has a name or bytes.",
)
NOT_YET_MADE = Code(
    "DML1071",
    "A value is read before it is made",
    "Order the nodes as they are executed: a node reads inputs of the graph and outputs of earlier nodes.",
)
INPUT_AS_OUTPUT = Code(
    "DML1072",
    "A graph input as graph output",
    "Put an ELEMENT_WISE_IDENTITY between them. An output of the graph is the output of a node.",
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
    "Correct the name: neither the operator's structure nor the format has such a field. In DxDispatch models, only "
    "names close to a known one are reported, and others are ignored.",
)
IGNORED_FIELD = Code(
    "DML1102",
    "Field without effect",
    "Check the name: DxDispatch ignores fields that it does not know, so a misspelled optional field goes unnoticed.",
    Severity.WARNING,
)
MISSING_FIELD = Code(
    "DML1103",
    "Missing field",
    "Add the field: the structure requires it. DxDispatch models need every field except optional tensors, ScaleBias "
    "and FusedActivation; nothing has a default, not even counts.",
)
NULL_FIELD = Code(
    "DML1104",
    "Field must not be null",
    "Give a value. Only optional fields may be null; in DxDispatch models leave them out instead.",
)
FIELD_KIND = Code("DML1105", "Wrong kind of value", "The field holds another kind of JSON value than it should.")
FIELD_RANGE = Code(
    "DML1106",
    "Value out of range",
    "Give a number that fits the type of the field. Numbers are neither wrapped nor saturated.",
)
NOT_EXACT = Code(
    "DML1107",
    "A whole number that a double cannot hold",
    "Write a decimal point to have the number rounded. A whole number in a FLOAT field must be exact in double "
    "precision.",
)
ENUMERATOR = Code(
    "DML1108",
    "Unknown enumerator",
    "Write an enumerator of the list, in capitals, by its full name or without the prefix of its type.",
)
COUNT_MISMATCH = Code(
    "DML1109",
    "A count does not match its array",
    "Correct the count, or leave it out. It differs from the length of its array; DxDispatch would read beyond the "
    "end of the array.",
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
    "Remove the tensors of the fused activation. DxDispatch ignores them.",
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
    "Make the inner activation a node of its own. DirectML fuses one activation into an operator, and none into an "
    "activation.",
)
TOO_MANY_SIZES = Code(
    "DML1115",
    "Far too many dimensions",
    "DirectML's tensors have up to 8 dimensions. The elements of a longer list are not checked.",
)
NOT_FINITE = Code(
    "DML1116",
    "A number beyond double precision",
    'The number is too large for a double. Where an infinity is meant, write "inf" or "-inf".',
)
NEGATIVE_SCALAR = Code(
    "DML1117",
    "A negative number in an unsigned scalar union",
    "Check the sign. The members of a DML_SCALAR_UNION share eight bytes, so an unsigned type reads a negative number "
    "as a large positive one.",
    Severity.WARNING,
)
ATTRIBUTE_COUNT = Code(
    "DML1118",
    "Wrong number of attributes",
    "Look for another version of the operator: a serialized operator has one entry for each attribute of its "
    "structure, in order, absent ones included.",
)
ATTRIBUTE_NAME = Code(
    "DML1119",
    "An attribute of another name",
    "A serialized operator identifies its attributes by position. The name stored with this attribute is not that of "
    "the field at its position.",
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
    "Correct the type: the fields are all those of another operator. Other findings about the node are left out.",
)
