"""DML19xx: parts of a graph that a format cannot express."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

INNER_OFFSET = Code(
    "DML1901",
    "a tensor that starts inside a buffer",
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
    "print and writeFile are commands of DxDispatch programs; a graph has inputs and outputs only. A graph cannot "
    "return contents that are overwritten later, so the command is dropped.",
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
    "A serialized graph identifies values by name, and a value has one name.",
)
HIDDEN_VALUE = Code(
    "DML1907",
    "a graph output with the name of an input",
    "In a serialized graph, nodes that read the name of an input read the input. This output has the same name and is "
    "read by another node; rename one of them.",
)
UNREAD_INPUT = Code(
    "DML1908",
    "a graph input that no node reads",
    "In a DML_GRAPH_DESC, and in its serialized form, only the tensors that read an input describe it. Remove "
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
    "The nodes of a serialized graph are in execution order. These nodes form a cycle, or depend on a value that "
    "nothing provides.",
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
    "a graph input or output with another descriptor",
    "In a DML_GRAPH_DESC an input of the graph is described by the first tensor that reads it, and an output by the "
    "tensor that writes it. The native format describes them separately.",
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
    "a file beside the output exists already",
    "The contents of large constants go to files beside the output, which a serialized graph and a program name after "
    "their constants. Some of these files exist and do not belong to an older version of the output: another graph may "
    "need them. Write to another directory, or remove them.",
)
BUFFER_VERSIONS = Code(
    "DML1919",
    "two versions of a buffer that are needed at once",
    "In a DxDispatch program a resource holds one version of its contents at a time. Here a node, a command or an "
    "output needs a version after another one has replaced it. Put an ELEMENT_WISE_IDENTITY between.",
)
FILE_TO_COME = Code(
    "DML1918",
    "a file that belongs beside the converted graph",
    "The file of a constant did not exist when the graph was converted. The output names it, and can be compiled and "
    "run once the file is where the message says.",
    Severity.WARNING,
)
LEFT_OUT = Code(
    "DML1917",
    "information that the other format cannot hold",
    "Neither a DML_GRAPH_DESC nor a serialized graph holds sample contents of inputs, a feature level, or the commands "
    "of a program; a serialized graph has no descriptors of inputs and outputs, which have those of their first reader "
    "and their writer; a DxDispatch program has neither these nor feature levels, and its inputs have contents. The "
    "results are the same; keep the original, or the native format, for the rest.",
    Severity.WARNING,
)
NOT_EXPRESSIBLE = Code(
    "DML1920",
    "a node that a program cannot express",
    "A program of the builder, or of DirectMLX, makes each node by a function call, and no function makes this one. "
    "The message has the reason; the native format can hold every graph.",
)
