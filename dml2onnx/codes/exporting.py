"""DML19xx: parts of a graph that a format cannot express."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

INNER_OFFSET = Code(
    "DML1901",
    "a tensor that starts inside of a buffer",
    "The edges of a DML_GRAPH_DESC, and of its serialized form, connect whole tensors: they have no byte offsets. The "
    "native format has them.",
)
PARTIAL_WRITE = Code(
    "DML1902",
    "a write that keeps a part of the old contents",
    "In a DML_GRAPH_DESC, and in its serialized form, every output of a node is a buffer of its own. Programs that "
    "write into a part of a buffer can be written in the native format.",
)
BUFFER_SIZE = Code(
    "DML1903",
    "a buffer of another size than its tensor",
    "The format derives the size of a buffer from the descriptors of the tensors in it, and this buffer is larger.",
)
EFFECT = Code(
    "DML1904",
    "a command that shows a buffer",
    "print and writeFile are commands of DxDispatch programs; a graph has inputs and outputs only. What such a command "
    "shows before it is overwritten has no place there: the command is left out.",
    Severity.WARNING,
)
NO_NODE_OUTPUT = Code(
    "DML1905",
    "a graph output that no node writes",
    "In a DML_GRAPH_DESC, and in its serialized form, an output of the graph is the output of a node; neither a graph "
    "input nor a constant can be one. Put an ELEMENT_WISE_IDENTITY between.",
)
TWO_OUTPUTS = Code(
    "DML1906",
    "one value as two graph outputs",
    "A serialized graph tells values by their names, and a value has one.",
)
HIDDEN_VALUE = Code(
    "DML1907",
    "a graph output with the name of an input",
    "In a serialized graph a name that is an input's means the input, wherever a node reads it. This output has the "
    "same name and is read by another node; rename one of them.",
)
UNREAD_INPUT = Code(
    "DML1908",
    "a graph input that no node reads",
    "In a DML_GRAPH_DESC, and in its serialized form, inputs are described by the tensors that read them only. Remove "
    "the input.",
)
UNSUITABLE_NAME = Code(
    "DML1909",
    "a name that the format cannot hold",
    "Names are Unicode text, and inputs, as well as outputs, have different ones. In a serialized graph none is empty.",
)
TOO_LARGE_TO_WRITE = Code(
    "DML1910",
    "a graph too large for one file",
    "A FlatBuffers file has less than 2 GiB, a tensor less than 2**64 bytes, and a fill of DxDispatch less than 2**32 "
    "elements. Of contents that a model describes by a pattern at most 1 GiB is written out. Constants lie in "
    "files of their own, except those of 64-bit and 4-bit types and those that DirectML must not own.",
)
NOT_SORTABLE = Code(
    "DML1911",
    "nodes that cannot be put into an order",
    "The nodes of a serialized graph stand in the order of their execution. These depend on each other in a circle, or "
    "on a value that nothing makes.",
)
UNKNOWN_TARGET = Code(
    "DML1912",
    "no format to write",
    "Graphs are written in the native format (native, .json), as a DML_GRAPH_DESC (dml_graph), as a serialized graph "
    "(serialized, .bin) or as a program of DxDispatch (dxdispatch). The suffix of the file decides unless --format "
    "does.",
)
OTHER_VIEW = Code(
    "DML1913",
    "a graph input or output seen through another descriptor",
    "In a DML_GRAPH_DESC an input of the graph is described by the first tensor that reads it, and an output by the "
    "tensor that writes it. The native format describes them on their own.",
)
SPECIAL_NAN = Code(
    "DML1914",
    "a NaN with unusual bits",
    'JSON has no NaN; the formats write "nan", which is the one without a sign and without a payload.',
)
NO_SOURCE = Code(
    "DML1915",
    "a value that nothing provides",
    "A node, an output or a command uses a value that is neither a graph input nor a constant, and no node writes it.",
)
BESIDE_OUTPUT = Code(
    "DML1916",
    "a file beside the output is there already",
    "The contents of large constants go to files beside the one that was asked for, which a serialized graph and a "
    "program call as their constants. Some of these files exist without belonging to an older version of the output: "
    "another graph may need them. Write to another directory, or remove them.",
)
BUFFER_VERSIONS = Code(
    "DML1919",
    "two versions of a buffer that are needed at once",
    "In a DxDispatch program a resource holds one version of its contents at a time. Here a version is needed, by a "
    "node, a command or as an output, after another one has taken its place. Put an ELEMENT_WISE_IDENTITY between.",
)
FILE_TO_COME = Code(
    "DML1918",
    "a file that belongs beside the converted graph",
    "The file of a constant was not there when the graph was converted. What was written names it, and can be compiled "
    "and run once the file lies where the message says.",
    Severity.WARNING,
)
LEFT_OUT = Code(
    "DML1917",
    "something that the other format has no place for",
    "Neither a DML_GRAPH_DESC nor a serialized graph holds sample contents of inputs, a feature level, or the commands "
    "of a program; a serialized graph has no descriptors of inputs and outputs, which are seen as their first reader "
    "and their writer see them; a DxDispatch program has neither these nor feature levels, and its inputs have "
    "contents. What is computed is the same; keep the original, or the native format, for the rest.",
    Severity.WARNING,
)
UNSAYABLE = Code(
    "DML1920",
    "a node that a program cannot say",
    "A program of the builder, or of DirectMLX, makes each node by a call of a function, and none gives this one. The "
    "message says what stands in the way; the native format can hold every graph.",
)
