"""Findings of checks: DML12xx structure, 13xx tensors, 14xx operators, 15xx sizes, 16xx support, 17xx fusion.

DML175x is what DirectML accepts although its documentation forbids it.
"""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

# --- Structure ------------------------------------------------------------------------------------------------------

UNKNOWN_VALUE = Code(
    "DML1201",
    "a node reads a value that nothing provides",
    "Correct the name, or add what the node should read: a graph input, a constant, or the output of another node.",
)
OUTPUT_WITHOUT_SOURCE = Code(
    "DML1202",
    "a graph output that nothing writes",
    "Name an output of a node, a graph input or a constant as graph output. Nothing writes this value.",
)
CYCLE = Code(
    "DML1203",
    "a cycle of nodes",
    "Break the cycle. The nodes in the message form one: each reads the output of the one before it, and the first "
    "reads that of the last. A DirectML graph is acyclic. To repeat a computation, run the graph again with an output "
    "bound to an input.",
)
VALUE_WRITTEN_TWICE = Code(
    "DML1204",
    "a value with two sources",
    "Give each node a value of its own to write. If two nodes write one value, or a node writes a graph input or a "
    "constant, the contents are undefined.",
)
DUPLICATE_NODE_NAME = Code(
    "DML1205",
    "two nodes of one name",
    "Rename one of them. Node names identify nodes in messages and in the compiled model.",
)
DUPLICATE_BINDING_NAME = Code(
    "DML1206",
    "two graph inputs or two graph outputs of one name",
    "Rename one of them. Buffers are bound by name. An input and an output may share a name (a buffer that is updated "
    "in place), but two inputs or two outputs may not.",
)
UNREAD_INPUT = Code(
    "DML1220",
    "a graph input that no node reads",
    "Check the names: no node reads this input, and it is no output. DirectML accepts that. The compiled model does "
    "not have the input.",
    Severity.WARNING,
)
UNREAD_CONSTANT = Code(
    "DML1221",
    "a constant that no node reads",
    "Check the names: no node reads this constant, and it is no output. The compiled model does not contain it.",
    Severity.WARNING,
)
READ_AS_OTHER_TYPE = Code(
    "DML1222",
    "a value that is read as another data type than it is written as",
    "Read another output or value, or insert a CAST node. DirectML reinterprets the bytes, so the numbers change.",
    Severity.WARNING,
)
OUT_OF_BOUNDS = Code(
    "DML1207",
    "a tensor leaves its buffer",
    "Bind a larger buffer, or reduce the offset. A tensor occupies the bytes [offset, offset + "
    "TotalTensorSizeInBytes) of its buffer, and all of them have to be inside it. If TotalTensorSizeInBytes is 0, the "
    "smallest size counts, rounded up to a multiple of 4 bytes.",
)
MISALIGNED_OFFSET = Code(
    "DML1208",
    "a buffer offset that is not a multiple of 16",
    "Use an offset that is a multiple of 16 bytes (DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT). DirectML refuses any other.",
)
BROKEN_ALIGNMENT_PROMISE = Code(
    "DML1209",
    "a buffer offset that breaks the tensor's own promise",
    "Change the offset, or lower GuaranteedBaseOffsetAlignment: it promises that the tensor starts at a multiple of "
    "that many bytes, and DirectML may rely on it.",
)
UNBOUND_TENSOR = Code(
    "DML1210",
    "a tensor that is bound to nothing",
    "Bind a buffer, or remove the descriptor if the tensor is optional. A node reads or writes a buffer for each "
    "tensor that is described.",
)
BOUND_WITHOUT_TENSOR = Code(
    "DML1211",
    "a buffer bound where the descriptor has no tensor",
    "Describe the tensor, or remove the binding. Without a descriptor the type and sizes of the tensor are unknown.",
)
PARTIAL_OVERLAP = Code(
    "DML1212",
    "an operator writes over a part of its own input",
    "Let the output use exactly the bytes of the input (if the operator runs in place), or other bytes. With a "
    "partial overlap, elements would be overwritten before they are read.",
)
OVERLAPPING_WRITES = Code(
    "DML1213",
    "two outputs of one operator overlap",
    "Give each output bytes of its own. DirectML may write anywhere inside TotalTensorSizeInBytes, in any order.",
)
NOT_IN_PLACE = Code(
    "DML1214",
    "an operator that does not run in place reads and writes the same bytes",
    "Use separate buffers. An output may only alias an input if the operator's page says so, and with the same sizes "
    "and strides. The compiled model computes the result of separate buffers; DirectML promises nothing.",
    Severity.WARNING,
)
OWNED_INTERMEDIATE = Code(
    "DML1215",
    "DML_TENSOR_FLAG_OWNED_BY_DML on a tensor that another node computes",
    "Remove the flag. It is meant for weights: DirectML reads such a tensor once, when the operator is initialized, "
    "but a node computes this one in every execution. The flag is ignored here.",
    Severity.WARNING,
)
DEAD_NODE = Code(
    "DML1216",
    "a node that contributes to no output",
    "Connect the node to an output, or remove it: no output depends on it. It is checked, but the compiled model does "
    "not contain it.",
    Severity.WARNING,
)
NO_OUTPUTS = Code(
    "DML1217",
    "a graph without outputs",
    "Name at least one output. A graph without outputs computes nothing.",
)

WRONG_INPUT_SIZES = Code(
    "DML1218",
    "a graph input that none of its readers can use",
    "Change a size of the input: all nodes that read it are invalid, and would be valid with another size of the "
    "input. They have this one finding.",
)

DEAD_NODE_REFUSED = Code(
    "DML1219",
    "a node of a DML_GRAPH_DESC that contributes to no output",
    "Connect the node to an output, or remove it: IDMLDevice1::CompileGraph refuses a graph with a node on which no "
    "output depends. If another output of the node is used, its other outputs may stay unconnected.",
)

# --- Tensor descriptors ---------------------------------------------------------------------------------------------

DIMENSION_COUNT_LIMIT = Code(
    "DML1301",
    "a tensor of no dimensions, or of more than 8",
    "DirectML tensors have 1 to 8 dimensions (DML_TENSOR_DIMENSION_COUNT_MAX1). A scalar is a tensor of sizes { 1 }.",
)
ZERO_SIZE = Code(
    "DML1302",
    "a dimension of size 0",
    "Make every size at least 1, or leave out operators on empty tensors: DirectML has none.",
)
TOO_MANY_ELEMENTS = Code(
    "DML1303",
    "a tensor of 2**32 elements or more",
    "Split the tensor. DirectML addresses elements with 32 bits: the product of the sizes, and the position of the "
    "last element in memory, counted in elements, stay below 2**32 for every data type.",
)
STRIDE_COUNT = Code(
    "DML1304",
    "not one stride for each dimension",
    "Give one stride for each dimension, counted in elements, or leave the strides out for a packed tensor.",
)
OVERLAPPING_OUTPUT = Code(
    "DML1305",
    "an output whose elements share memory",
    "Give the output strides without 0 and without overlap. Otherwise several elements are written to the same "
    "memory, in no defined order. Inputs may have such strides.",
)
TOTAL_SIZE_TOO_SMALL = Code(
    "DML1306",
    "TotalTensorSizeInBytes is smaller than the tensor",
    "Increase TotalTensorSizeInBytes, or use 0 for the smallest size. It must reach the last element: 4 * ceil(K * "
    "bits / 32), where K is the product of the sizes, or with strides 1 + the sum of (Sizes[i] - 1) * Strides[i].",
)
BAD_ALIGNMENT = Code(
    "DML1307",
    "GuaranteedBaseOffsetAlignment is not a valid power of two",
    "Use 0 (no promise), or a power of two that is at least the size of an element in bytes.",
)
OWNED_OUTPUT = Code(
    "DML1308",
    "DML_TENSOR_FLAG_OWNED_BY_DML on an output",
    "Remove the flag. It gives the contents of an input to DirectML at initialization, when an output has no contents.",
)
STRIDES_IN_BYTES = Code(
    "DML1309",
    "strides that look like bytes",
    "Divide the strides by the size of an element: strides count elements. These are the strides of packed memory in "
    "bytes, so the tensor covers several times the memory that it needs.",
    Severity.WARNING,
)

# --- Operators ------------------------------------------------------------------------------------------------------

MISSING_FIELD = Code(
    "DML1401",
    "a required field is null",
    "Give a value. Only fields that the operator's page marks as optional may be null.",
)
UNKNOWN_ENUMERATOR = Code(
    "DML1402",
    "an enumerator that the enumeration does not have",
    "Use an enumerator from the message, which lists those of the field in their short form.",
)
ARRAY_LENGTH = Code(
    "DML1403",
    "an array whose length differs from its count",
    "Correct the count, or the array: both must match. In the C structure an array is a pointer and a count.",
)
DIFFERENT_DATA_TYPES = Code(
    "DML1404",
    "tensors that need one data type have several",
    "Put a CAST in front of the tensor that differs. The operator's page requires the same DataType on these tensors.",
)
DIFFERENT_DIMENSION_COUNTS = Code(
    "DML1405",
    "tensors that need one DimensionCount have several",
    "Add leading sizes of 1 to the tensor with fewer dimensions; the buffer stays the same. DirectML does not add "
    "them itself.",
)
SCALAR_TYPE = Code(
    "DML1406",
    "a scalar of another type than its data type field says",
    "Use the member of the scalar for the data type in the sibling field of type DML_TENSOR_DATA_TYPE.",
)
NOT_FINITE = Code(
    "DML1407",
    "an attribute that is infinite or not a number",
    "Look for a division by zero in the program that made the model. Every element is computed with this attribute, "
    "so no result would mean anything.",
)
OUT_OF_RANGE = Code(
    "DML1408",
    "an attribute outside its range",
    "Use a value in the range that the message gives. It may depend on the tensors: an axis lies in [0, "
    "DimensionCount - 1]. Unlike in ONNX and numpy, axes do not count from the end.",
)
NOT_EQUAL = Code(
    "DML1409",
    "an attribute that has to equal something else does not",
    "Use the value that the message gives: the attribute has to equal another attribute, or a property of a tensor.",
)
ZERO_ATTRIBUTE = Code(
    "DML1410",
    "an attribute that must not be 0",
    "Use 1 for no stride or dilation. DirectML rejects a stride, dilation, window size or divisor of 0.",
)
REPEATED_ENTRY = Code(
    "DML1411",
    "an entry that occurs twice",
    "Remove one of the two: each axis may occur once, in any order.",
)
EXACTLY_ONE = Code(
    "DML1412",
    "not exactly one of several tensors",
    "Give exactly one of these tensors and set the others to null. They are alternatives.",
)
AT_LEAST_ONE = Code(
    "DML1413",
    "none of several tensors",
    "Give at least one of these tensors: without any, the operator has no data.",
)
ALL_OR_NONE = Code(
    "DML1414",
    "some of several tensors that belong together",
    "Give all of these tensors, or none: the operator uses them together.",
)
REQUIRED_HERE = Code(
    "DML1415",
    "a field that another field makes necessary is null",
    "Give the field. It is optional in general, but not with the value of the other field in the message.",
)
WRONG_DATA_TYPE = Code(
    "DML1416",
    "a data type that the operator's other fields rule out",
    "Use a data type from the message. The other attributes exclude this one at every feature level.",
)
WRONG_DIMENSION_COUNT = Code(
    "DML1417",
    "a tensor of too few or too many dimensions",
    "Use a number of dimensions from the message. The operator excludes others at every feature level.",
)
EFFECTIVE_RANK = Code(
    "DML1418",
    "a tensor with too large an effective rank",
    "Use the successor with axes (SOFTMAX1, LOG_SOFTMAX1, HARDMAX1). This operator works on matrices: the effective "
    "rank, which is DimensionCount without leading sizes of 1, is at most 2.",
)
ELEMENT_COUNT = Code(
    "DML1419",
    "a tensor with the wrong number of elements",
    "Change the sizes: the tensor needs the number of elements in the message, such as one for a scalar.",
)
OWNED_NOT_ALLOWED = Code(
    "DML1420",
    "DML_TENSOR_FLAG_OWNED_BY_DML where the operator does not take it",
    "Remove the flag and bind the tensor at execution. The operator's page excludes the flag here.",
)
NOT_AN_ACTIVATION = Code(
    "DML1421",
    "an activation list with something else in it",
    "List only activation operators that compute from one tensor, with null for their own tensors.",
)

REPEATED_INDICES = Code(
    "DML1422",
    "indices that repeat by a stride of 0",
    "Store all index tuples in memory. SCATTER_ND refuses an IndicesTensor with a stride of 0 in a dimension of more "
    "than one element.",
)

NOT_PACKED = Code(
    "DML1423",
    "strides where only a packed tensor will do",
    "Leave the strides out, or give those of a packed tensor. DirectML refuses others on this tensor.",
)
MIN_ABOVE_MAX = Code(
    "DML1424",
    "Min and Max in the wrong order",
    "Exchange Min and Max. DirectML accepts this order, but then clipping gives Min for every element, and its "
    "gradient is 0 everywhere.",
    Severity.WARNING,
)
SCALES_ARE_SIZES = Code(
    "DML1425",
    "scales that are sizes, inverted, in another order, or far from the ratio of the sizes",
    "Use the sizes of the output divided by those of the input: scales are factors of sizes. DirectML accepts other "
    "scales, and crops the result or repeats its edge to the sizes of the output.",
    Severity.WARNING,
)
NO_EFFECT = Code(
    "DML1426",
    "an operation without effect",
    "Check axes and names of values: the result is constant, or equals the input. DirectML computes it nevertheless.",
    Severity.WARNING,
)

# --- Sizes ----------------------------------------------------------------------------------------------------------

DIFFERENT_SIZES = Code(
    "DML1501",
    "tensors that need the same sizes have different ones",
    "Give the smaller tensor the full sizes, and a stride of 0 in the repeated dimensions; the buffer stays the same. "
    "DirectML does not broadcast sizes.",
)
NOT_BROADCASTABLE = Code(
    "DML1502",
    "a tensor whose sizes are neither 1 nor the full size",
    "Give each dimension the size 1 or the full size. The operator broadcasts this tensor.",
)
WRONG_SIZE = Code(
    "DML1503",
    "a size that does not follow from the operator's formula",
    "Use the size from the message, which shows the formula with its numbers. Other tensors and attributes determine "
    "it.",
)
WINDOW_TOO_LARGE = Code(
    "DML1504",
    "a window that does not fit",
    "Increase the padding, or make the window smaller: the window with its dilation is larger than the padded input, "
    "or the padding removes the whole output.",
)
INDIVISIBLE = Code(
    "DML1505",
    "a size that does not divide evenly",
    "Use a whole multiple of the groups, the block size, or the interleaved channels.",
)
OUT_OF_WINDOW = Code(
    "DML1506",
    "a slice that leaves its tensor",
    "Keep offsets, sizes and strides of the slice inside the input. DirectML does not clamp them.",
)

# --- Support and feature levels -------------------------------------------------------------------------------------

OPERATOR_LEVEL = Code(
    "DML1601",
    "an operator that the feature level does not have",
    "Raise the feature level, or use another operator: --suggest names one if it knows one. `since` has the first "
    "level with this operator; the table of feature levels has the DirectML version and the Windows release of each.",
)
DATA_TYPE_LEVEL = Code(
    "DML1602",
    "a data type that a later feature level allows",
    "Raise the feature level to that in `since`, or convert the tensor with a CAST. The support table of the target "
    "level does not list the data type for this tensor.",
)
DATA_TYPE_UNSUPPORTED = Code(
    "DML1603",
    "a data type that the operator does not take",
    "Put a CAST in front of the operator, or behind it. No feature level allows this data type for this tensor.",
)
DIMENSION_COUNT_LEVEL = Code(
    "DML1604",
    "a dimension count that a later feature level allows",
    "Raise the feature level, or change the number of dimensions. Older levels need 4 (or 5) dimensions, later ones "
    "allow 1 to 8. Add leading sizes of 1 to tensors with fewer dimensions.",
)
DIMENSION_COUNT_UNSUPPORTED = Code(
    "DML1605",
    "a dimension count that the operator does not take",
    "No feature level allows this number of dimensions for this tensor.",
)
VALUE_LEVEL = Code(
    "DML1606",
    "an attribute value that a later feature level allows",
    "Raise the feature level to that in `since`, or use another enumerator. The operator got this one with a later "
    "level.",
)
OPTIONAL_LEVEL = Code(
    "DML1607",
    "a tensor that is required below a later feature level",
    "Give the tensor, or raise the feature level to that in `since`. It became optional with that level.",
)

# --- Fused activations ----------------------------------------------------------------------------------------------

NOT_FUSABLE = Code(
    "DML1701",
    "an operator that cannot be fused into this one",
    "Make it a separate node. Only the activations in the documentation can be fused, and CLIP and SOFTMAX only "
    "into some operators.",
)
FUSION_LEVEL = Code(
    "DML1702",
    "a fusion that a later feature level allows",
    "Make it a separate node, or raise the feature level to that in `since`, which allows the fusion.",
)
FUSED_TENSORS = Code(
    "DML1703",
    "a fused activation with tensors of its own",
    "Set InputTensor and OutputTensor of the fused activation to null: it works on the output of its host.",
)
FUSED_SCALE_BIAS = Code(
    "DML1704",
    "a fused CLIP with a ScaleBias",
    "Leave ScaleBias out, or use { 1, 0 }. Some versions of DirectML accept other values for a fused "
    "ELEMENT_WISE_CLIP and ignore them.",
)

# --- What DirectML accepts against its documentation ----------------------------------------------------------------

ACCEPTED_SIZES = Code(
    "DML1751",
    "sizes that the documentation forbids and DirectML accepts",
    "DirectML creates the operator, although its documentation forbids this size or number of dimensions. The message "
    "says what it computes then. With --documented this is an error with the code of the rule.",
    Severity.WARNING,
)
ACCEPTED_VALUE = Code(
    "DML1752",
    "an attribute that the documentation forbids and DirectML accepts",
    "DirectML creates the operator, although its documentation forbids this value. The message says what it computes "
    "then. With --documented this is an error with the code of the rule.",
    Severity.WARNING,
)
ACCEPTED_TYPE = Code(
    "DML1753",
    "data types that the documentation forbids and DirectML accepts",
    "DirectML creates the operator, although its documentation does not list this data type, or requires the same "
    "type on several tensors. With --documented this is an error with the code of the rule.",
    Severity.WARNING,
)
ACCEPTED_FUSION = Code(
    "DML1754",
    "a fused activation that the documentation does not list and DirectML accepts",
    "DirectML fuses the activation, although its documentation does not list it for this operator. With --documented "
    "this is an error with the code of the rule.",
    Severity.WARNING,
)

ACCEPTED = (ACCEPTED_SIZES, ACCEPTED_VALUE, ACCEPTED_TYPE, ACCEPTED_FUSION)
"""The codes that replace those of rules which DirectML does not enforce."""
