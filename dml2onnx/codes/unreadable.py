"""DML00xx: files that cannot be read as a model."""

from __future__ import annotations

from dml2onnx.diagnostics import Code

NO_SUCH_FILE = Code(
    "DML0001",
    "The model file does not exist",
    "There is no file at this path. A relative path starts at the current directory.",
)
NOT_A_FILE = Code(
    "DML0002",
    "The path is not a file",
    "Name one regular file. Directories, pipes and devices are not read as models.",
)
CANNOT_READ = Code(
    "DML0003",
    "The model file cannot be read",
    "The operating system refused to open or read the file. The message ends with its reason.",
)
FILE_TOO_LARGE = Code(
    "DML0004",
    "The model file is too large to be JSON text",
    "Put large tensors into files of their own and name these in the model: they are mapped, not read. JSON text of "
    "this size would need many times its size in memory.",
)
NOT_UTF8 = Code(
    "DML0005",
    "The model file is not UTF-8 text",
    "Save the file as UTF-8, the encoding of JSON. The message gives the position of the first byte that is not "
    "UTF-8. The file may be binary, or text in another encoding.",
)
BYTE_ORDER_MARK = Code(
    "DML0006",
    "The model file is UTF-16 text",
    "Save the file as UTF-8, the encoding of JSON. It is UTF-16: it starts with a byte order mark, or every second "
    "byte is zero.",
)
NOT_JSON = Code(
    "DML0007",
    "The model file is not JSON",
    "The text breaks JSON's grammar at the line and column in the message. Native and DxDispatch models may have "
    "comments. DxDispatch models may also have a trailing comma and text after the end, as that tool allows.",
)
NOT_A_NUMBER_LITERAL = Code(
    "DML0008",
    "NaN and Infinity are not JSON",
    'JSON has no literals for these values. Fields that may hold them take the strings "nan", "inf" and "-inf".',
)
TOO_DEEP = Code(
    "DML0009",
    "The text is nested too deeply",
    "The text has hundreds of nested arrays or objects. No model needs more than a few dozen, so the file is damaged "
    "or hostile.",
)
LONE_SURROGATE = Code(
    "DML0010",
    "A string holds half of a surrogate pair",
    r"An escape such as \ud83d denotes a character only together with its second half; alone it cannot be written as "
    "UTF-8, in a message or in an ONNX model.",
)
WRONG_ROOT = Code(
    "DML0011",
    "A model is a JSON object",
    "The outermost value of every format is an object.",
)
UNKNOWN_FORMAT = Code(
    "DML0012",
    "The format of the model is not known",
    "The outermost members decide the format: dml2onnx (the native format), Nodes and OutputEdges "
    "(DML_GRAPH_DESC), or resources, dispatchables and commands (DxDispatch).",
)
UNKNOWN_VERSION = Code(
    "DML0013",
    "The version of the native format is not known",
    'The member dml2onnx gives the version of the format. This release reads version 1: "dml2onnx": 1.',
)
ONNX_MODEL = Code(
    "DML0014",
    "The model is an ONNX model already",
    "dml2onnx reads DirectML graphs and writes ONNX models. This file is an ONNX model, so there is nothing to "
    "compile.",
)
DAMAGED_FILE = Code(
    "DML0015",
    "A serialized graph that is damaged",
    "Get the file again from the program that wrote it: it is truncated, changed, or of another kind. Serialized "
    "DirectML graphs (Partition_0.bin) are FlatBuffers files, and every offset in them is checked. The message gives "
    "the position of the first error.",
)
