"""What the checks find: DML12xx structure, 13xx tensors, 14xx operators, 15xx sizes, 16xx support, 17xx fusion.

DML175x is what DirectML accepts although its documentation forbids it.
"""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

# --- Structure ------------------------------------------------------------------------------------------------------

UNKNOWN_VALUE = Code(
    "DML1201",
    "a node reads a value that nothing provides",
    "Every tensor that a node reads has to come from a graph input, a constant or the output of another node. "
    "Look for a misspelt name, or for the node that was meant to write it.",
)
OUTPUT_WITHOUT_SOURCE = Code(
    "DML1202",
    "a graph output that nothing writes",
    "The value behind a graph output is neither written by a node nor a graph input or constant, so there is nothing "
    "to return.",
)
CYCLE = Code(
    "DML1203",
    "a cycle of nodes",
    "The nodes named in the message form a cycle: each reads what the one before it writes, and the last feeds the "
    "first. A DirectML graph is acyclic. Repeated evaluation has to be done by binding an output to the next run's "
    "input.",
)
VALUE_WRITTEN_TWICE = Code(
    "DML1204",
    "a value with two sources",
    "A value is one version of one buffer and has exactly one source. Two nodes that write it, or a node that writes "
    "a graph input or constant, leave the contents undefined.",
)
DUPLICATE_NODE_NAME = Code(
    "DML1205",
    "two nodes of one name",
    "Node names identify nodes in messages and in the compiled model, so they have to differ.",
)
DUPLICATE_BINDING_NAME = Code(
    "DML1206",
    "two graph inputs or two graph outputs of one name",
    "Buffers are bound by name. An input and an output may share a name (a buffer that is updated in place), two "
    "inputs or two outputs may not.",
)
UNREAD_INPUT = Code(
    "DML1220",
    "a graph input that no node reads",
    "No node reads this input, and no output shows it. DirectML accepts that; usually a name is misspelt. "
    "The compiled model does not have the input.",
    Severity.WARNING,
)
UNREAD_CONSTANT = Code(
    "DML1221",
    "a constant that no node reads",
    "No node reads this constant, and no output shows it. It is not in the compiled model; usually a node "
    "lacks the input that was meant to read it.",
    Severity.WARNING,
)
OUT_OF_BOUNDS = Code(
    "DML1207",
    "a tensor leaves its buffer",
    "A tensor occupies the bytes [offset, offset + TotalTensorSizeInBytes) of the buffer that it is bound to; when "
    "TotalTensorSizeInBytes is 0 the smallest size counts, which is rounded up to a multiple of 4 bytes. All of them "
    "have to lie inside the buffer.",
)
MISALIGNED_OFFSET = Code(
    "DML1208",
    "a buffer offset that is not a multiple of 16",
    "DirectML binds tensors at multiples of DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, 16 bytes, and refuses any other "
    "offset.",
)
BROKEN_ALIGNMENT_PROMISE = Code(
    "DML1209",
    "a buffer offset that breaks the tensor's own promise",
    "GuaranteedBaseOffsetAlignment promises that the tensor starts at a multiple of that many bytes; the library may "
    "read wider words because of it. The offset of this binding is no such multiple.",
)
UNBOUND_TENSOR = Code(
    "DML1210",
    "a tensor that is bound to nothing",
    "The descriptor describes this tensor, so the node has to read or write a buffer for it. To leave out an optional "
    "tensor, leave it out of the descriptor as well.",
)
BOUND_WITHOUT_TENSOR = Code(
    "DML1211",
    "a buffer bound where the descriptor has no tensor",
    "A buffer is bound to a tensor that the descriptor leaves out, or that the operator does not have. Its "
    "type and sizes are unknown.",
)
PARTIAL_OVERLAP = Code(
    "DML1212",
    "an operator writes over a part of its own input",
    "Input and output regions of one operator may be the same bytes (for operators that run in place) or have nothing "
    "in common. Where they overlap in part, elements would be overwritten before they are read.",
)
OVERLAPPING_WRITES = Code(
    "DML1213",
    "two outputs of one operator overlap",
    "Each output of an operator needs bytes of its own: DirectML may write anywhere inside TotalTensorSizeInBytes, in "
    "any order.",
)
NOT_IN_PLACE = Code(
    "DML1214",
    "an operator that does not run in place reads and writes the same bytes",
    "Only operators whose page says so may have an output alias an input, and only with the same sizes and strides. "
    "The compiled model reads its inputs before it writes, so its result is that of separate buffers; DirectML "
    "promises nothing.",
    Severity.WARNING,
)
OWNED_INTERMEDIATE = Code(
    "DML1215",
    "DML_TENSOR_FLAG_OWNED_BY_DML on a tensor that another node computes",
    "Tensors with this flag are bound once, when the operator is initialised, and are meant for weights. A tensor "
    "that a node of the graph computes changes with every execution. The flag is ignored here.",
    Severity.WARNING,
)
DEAD_NODE = Code(
    "DML1216",
    "a node that contributes to no output",
    "Nothing that the graph returns depends on this node. It is checked, and left out of the compiled model.",
    Severity.WARNING,
)
NO_OUTPUTS = Code(
    "DML1217",
    "a graph without outputs",
    "A graph that returns nothing computes nothing. Name at least one output.",
)

WRONG_INPUT_SIZES = Code(
    "DML1218",
    "a graph input that none of its readers can use",
    "All nodes that read the input have sizes that do not fit to it, and would be right if one of its sizes were "
    "another. The input gets one finding instead of each reader.",
)

DEAD_NODE_REFUSED = Code(
    "DML1219",
    "a node of a DML_GRAPH_DESC that contributes to no output",
    "IDMLDevice1::CompileGraph refuses a graph with a node that no graph output depends on. Outputs that nobody reads "
    "may be left unconnected, if another output of the node is needed.",
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
    "Every size is at least 1: DirectML has no empty tensors. Operators on empty tensors have to be left out of the "
    "graph.",
)
TOO_MANY_ELEMENTS = Code(
    "DML1303",
    "a tensor of 2**32 elements or more",
    "DirectML addresses elements with 32 bits: the product of the sizes, and the place of the last element in "
    "memory counted in elements, stay below 2**32 whatever the data type.",
)
STRIDE_COUNT = Code(
    "DML1304",
    "not one stride for each dimension",
    "Strides, when given, have DimensionCount entries, counted in elements. Leave them out for packed tensors.",
)
OVERLAPPING_OUTPUT = Code(
    "DML1305",
    "an output whose elements share memory",
    "Zero strides and overlapping strides are for inputs, where several coordinates may read one element. On an "
    "output they would write one element several times, with no defined winner.",
)
TOTAL_SIZE_TOO_SMALL = Code(
    "DML1306",
    "TotalTensorSizeInBytes is smaller than the tensor",
    "TotalTensorSizeInBytes has to reach the last element: 4 * ceil(K * bits / 32) with K the product of the sizes, or "
    "with strides 1 + the sum of (Sizes[i] - 1) * Strides[i]. 0 asks for this smallest size.",
)
BAD_ALIGNMENT = Code(
    "DML1307",
    "GuaranteedBaseOffsetAlignment is no usable power of two",
    "The promised alignment is 0 (no promise) or a power of two that is not below the size of one element, in bytes.",
)
OWNED_OUTPUT = Code(
    "DML1308",
    "DML_TENSOR_FLAG_OWNED_BY_DML on an output",
    "The flag hands the contents of an input to the library at initialisation. An output has no contents yet.",
)
STRIDES_IN_BYTES = Code(
    "DML1309",
    "strides that look like bytes",
    "Strides count elements. These are those of packed memory, each multiplied by the bytes of an element, so that the "
    "tensor covers several times the memory that its elements need.",
    Severity.WARNING,
)

# --- Operators ------------------------------------------------------------------------------------------------------

MISSING_FIELD = Code(
    "DML1401",
    "a required field is null",
    "Only the fields that the operator's page marks as optional may be null.",
)
UNKNOWN_ENUMERATOR = Code(
    "DML1402",
    "an enumerator that the enumeration does not have",
    "The message lists the enumerators that the field takes, in their short form.",
)
ARRAY_LENGTH = Code(
    "DML1403",
    "an array whose length is not what its count says",
    "In the C structure an array is a pointer and a count field next to it; both have to say the same.",
)
DIFFERENT_DATA_TYPES = Code(
    "DML1404",
    "tensors that need one data type have several",
    "The operator's page asks for the same DataType on these tensors. Put a CAST in front of the odd one.",
)
DIFFERENT_DIMENSION_COUNTS = Code(
    "DML1405",
    "tensors that need one DimensionCount have several",
    "DirectML does not extend shapes by leading ones on its own: describe a tensor of lower rank with leading sizes "
    "of 1. That changes no byte of the buffer.",
)
SCALAR_TYPE = Code(
    "DML1406",
    "a scalar of another type than its data type field says",
    "A DML_SCALAR_UNION is read by a sibling field of type DML_TENSOR_DATA_TYPE; the value has to be of that type.",
)
NOT_FINITE = Code(
    "DML1407",
    "an attribute that is infinite or not a number",
    "This factor or offset goes into arithmetic with every element, and no result would mean anything. Usually the "
    "value was computed by a division by zero when the model was made.",
)
OUT_OF_RANGE = Code(
    "DML1408",
    "an attribute outside its range",
    "The operator's page limits this attribute; the limits may depend on the tensors (an axis lies in [0, "
    "DimensionCount - 1]). Unlike in ONNX or numpy, axes do not count from the end.",
)
NOT_EQUAL = Code(
    "DML1409",
    "an attribute that has to equal something else does not",
    "The operator's page ties this attribute to a tensor or to another attribute; the message says to what.",
)
ZERO_ATTRIBUTE = Code(
    "DML1410",
    "an attribute that must not be 0",
    "A stride, dilation, window size or divisor of 0 has no meaning, and DirectML rejects it.",
)
REPEATED_ENTRY = Code(
    "DML1411",
    "an entry that occurs twice",
    "Each axis may be named once; the order does not matter.",
)
EXACTLY_ONE = Code(
    "DML1412",
    "not exactly one of several tensors",
    "The operator takes its data in one of several forms: exactly one of these tensors is given, the others are null.",
)
AT_LEAST_ONE = Code(
    "DML1413",
    "none of several tensors",
    "At least one of these tensors has to be given, or the operator has nothing to do.",
)
ALL_OR_NONE = Code(
    "DML1414",
    "some of several tensors that belong together",
    "These tensors are given together or not at all.",
)
REQUIRED_HERE = Code(
    "DML1415",
    "a field that another field makes necessary is null",
    "The field is optional in general, but not together with the value of the other field named in the message.",
)
WRONG_DATA_TYPE = Code(
    "DML1416",
    "a data type that the operator's other fields rule out",
    "With these attributes the tensor is limited to the data types named in the message, at every feature level.",
)
WRONG_DIMENSION_COUNT = Code(
    "DML1417",
    "a tensor of too few or too many dimensions",
    "The operator's page limits the dimension count of this tensor, at every feature level.",
)
EFFECTIVE_RANK = Code(
    "DML1418",
    "a tensor with too many dimensions that count",
    "The effective rank is DimensionCount without leading dimensions of size 1. The first versions of these operators "
    "work on matrices only; their successors (SOFTMAX1, LOG_SOFTMAX1, HARDMAX1) take axes instead.",
)
ELEMENT_COUNT = Code(
    "DML1419",
    "a tensor with the wrong number of elements",
    "This tensor holds a fixed number of elements, such as the single element of a scalar.",
)
OWNED_NOT_ALLOWED = Code(
    "DML1420",
    "DML_TENSOR_FLAG_OWNED_BY_DML where the operator does not take it",
    "The operator's page excludes the flag on this tensor: bind it at execution instead.",
)
NOT_AN_ACTIVATION = Code(
    "DML1421",
    "an activation list with something else in it",
    "The entries of ActivationDescs are activation operators that compute from one tensor; their own tensors are null.",
)

REPEATED_INDICES = Code(
    "DML1422",
    "indices that repeat by a stride of 0",
    "SCATTER_ND refuses an IndicesTensor with a stride of 0 in a dimension of more than one element: all of its tuples "
    "have to stand in memory.",
)

NOT_PACKED = Code(
    "DML1423",
    "strides where only a packed tensor will do",
    "DirectML refuses strides on this tensor: leave them out, or give those of a packed tensor.",
)
MIN_ABOVE_MAX = Code(
    "DML1424",
    "Min and Max in the wrong order",
    "Min is above Max. DirectML accepts that: clipping then gives Min for every element, and its gradient is 0 "
    "everywhere.",
    Severity.WARNING,
)

# --- Sizes ----------------------------------------------------------------------------------------------------------

DIFFERENT_SIZES = Code(
    "DML1501",
    "tensors that need the same sizes have different ones",
    "DirectML does not broadcast by size. To repeat a smaller tensor, describe it with the full sizes and a stride of "
    "0 in the repeated dimensions; the buffer stays as it is.",
)
NOT_BROADCASTABLE = Code(
    "DML1502",
    "a tensor whose sizes are neither 1 nor the full size",
    "This tensor is broadcast by the operator: each of its sizes is 1 or the size of the tensor that it is applied to.",
)
WRONG_SIZE = Code(
    "DML1503",
    "a size that does not follow from the operator's formula",
    "The sizes of this tensor are determined by the other tensors and the attributes. The message has the formula "
    "with its numbers.",
)
NO_ROOM = Code(
    "DML1504",
    "a window that fits nowhere",
    "The window, widened by its dilation, is larger than the padded input, or padding takes away all of the output: "
    "no output element is left. Increase the padding or make the window smaller.",
)
INDIVISIBLE = Code(
    "DML1505",
    "a size that does not divide evenly",
    "Groups, blocks and interleaved channels need sizes that are whole multiples.",
)
OUT_OF_WINDOW = Code(
    "DML1506",
    "a slice that leaves its tensor",
    "Offsets, sizes and strides of a slice have to stay inside the tensor that is sliced. Nothing is clamped.",
)

# --- Support and feature levels -------------------------------------------------------------------------------------

OPERATOR_LEVEL = Code(
    "DML1601",
    "an operator that the feature level does not have",
    "The operator was introduced with a later feature level. `since` names it; its DirectML version and the first "
    "Windows release that has it are listed with the feature levels.",
)
DATA_TYPE_LEVEL = Code(
    "DML1602",
    "a data type that a later feature level allows",
    "The operator's support table for the target level lacks this data type for this tensor; the table of the level "
    "named in `since` has it.",
)
DATA_TYPE_UNSUPPORTED = Code(
    "DML1603",
    "a data type that the operator does not take",
    "No feature level allows this data type for this tensor. Put a CAST in front of the operator, or behind it.",
)
DIMENSION_COUNT_LEVEL = Code(
    "DML1604",
    "a dimension count that a later feature level allows",
    "Older feature levels want 4 (or 5) dimensions where later ones take 1 to 8. Tensors with fewer dimensions can be "
    "described with leading sizes of 1.",
)
DIMENSION_COUNT_UNSUPPORTED = Code(
    "DML1605",
    "a dimension count that the operator does not take",
    "No feature level allows this number of dimensions for this tensor.",
)
VALUE_LEVEL = Code(
    "DML1606",
    "an attribute value that a later feature level allows",
    "The enumerator was added to the operator with a later feature level.",
)
OPTIONAL_LEVEL = Code(
    "DML1607",
    "a tensor that only a later feature level lets one leave out",
    "The tensor became optional with a later feature level; before, it has to be given.",
)

# --- Fused activations ----------------------------------------------------------------------------------------------

NOT_FUSABLE = Code(
    "DML1701",
    "an operator that cannot be fused into this one",
    "Only the activations that the documentation lists can be fused, and CLIP and SOFTMAX only into some operators. "
    "Make it a node of its own.",
)
FUSION_LEVEL = Code(
    "DML1702",
    "a fusion that a later feature level allows",
    "This operator can be fused into its host from a later feature level on. Below, make it a node of its own.",
)
FUSED_TENSORS = Code(
    "DML1703",
    "a fused activation with tensors of its own",
    "A fused activation works on its host's output: its InputTensor and OutputTensor are null.",
)
FUSED_SCALE_BIAS = Code(
    "DML1704",
    "a fused CLIP with a ScaleBias",
    "A fused ELEMENT_WISE_CLIP has no ScaleBias, or { 1, 0 }. Some versions of DirectML accept other values and ignore "
    "them.",
)

# --- What DirectML accepts against its documentation ----------------------------------------------------------------

ACCEPTED_SIZES = Code(
    "DML1751",
    "sizes that the documentation forbids and DirectML accepts",
    "A size, or a number of dimensions, breaks a rule that DirectML's documentation states or implies, and DirectML "
    "creates the operator all the same. The message says what it does then. With --documented this is an error with "
    "the code of the rule.",
    Severity.WARNING,
)
ACCEPTED_VALUE = Code(
    "DML1752",
    "an attribute that the documentation forbids and DirectML accepts",
    "The value of an attribute breaks a rule that DirectML's documentation states or implies, and DirectML creates the "
    "operator all the same. The message says what it does then. With --documented this is an error with the code of "
    "the rule.",
    Severity.WARNING,
)
ACCEPTED_TYPE = Code(
    "DML1753",
    "data types that the documentation forbids and DirectML accepts",
    "The documentation does not list the data type for this tensor, or asks for the same type on several tensors, and "
    "DirectML creates the operator all the same. With --documented this is an error with the code of the rule.",
    Severity.WARNING,
)
ACCEPTED_FUSION = Code(
    "DML1754",
    "a fused activation that the documentation does not list and DirectML accepts",
    "The documentation does not list the operator among those that can be fused into this one, and DirectML fuses it "
    "all the same. With --documented this is an error with the code of the rule.",
    Severity.WARNING,
)

ACCEPTED = (ACCEPTED_SIZES, ACCEPTED_VALUE, ACCEPTED_TYPE, ACCEPTED_FUSION)
"""The class of codes that take the place of others."""
