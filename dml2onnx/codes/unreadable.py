"""DML00xx: there is nothing that could be read as a model."""

from __future__ import annotations

from dml2onnx.diagnostics import Code

NO_SUCH_FILE = Code(
    "DML0001",
    "The model file does not exist",
    "There is nothing at the path that was given. A relative path is looked up from the current directory.",
)
NOT_A_FILE = Code(
    "DML0002",
    "The path is not a file",
    "A model is one regular file. Directories, pipes and devices are not read.",
)
CANNOT_READ = Code(
    "DML0003",
    "The model file cannot be read",
    "The operating system refused to open or read the file; its own words stand in the message.",
)
FILE_TOO_LARGE = Code(
    "DML0004",
    "The model file is too large to be JSON text",
    "Text of this size would need many times its size in memory. Large tensors belong into files of their own, which "
    "the model names and which are mapped, not read.",
)
NOT_UTF8 = Code(
    "DML0005",
    "The model file is not UTF-8 text",
    "JSON is UTF-8. The message gives the position of the first byte that is none; a binary file, or text in another "
    "encoding, has to be converted first.",
)
BYTE_ORDER_MARK = Code(
    "DML0006",
    "The model file is UTF-16 text",
    "The byte order mark at its start says so, or a zero in every second byte. JSON is UTF-8; save the file in that "
    "encoding.",
)
NOT_JSON = Code(
    "DML0007",
    "The model file is not JSON",
    "The text breaks JSON's grammar at the line and column given. Comments are accepted in native and DxDispatch "
    "models, one trailing comma and text after the end in DxDispatch models only, as that tool does.",
)
NOT_A_NUMBER_LITERAL = Code(
    "DML0008",
    "NaN and Infinity are not JSON",
    'JSON has no literals for these values. Fields that may hold them take the strings "nan", "inf" and "-inf".',
)
TOO_DEEP = Code(
    "DML0009",
    "The text is nested too deeply",
    "No model needs more than a few dozen nested arrays and objects; hundreds of them are damage or an attack.",
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
    "dml2onnx reads DirectML graphs, as JSON, and writes ONNX models. There is nothing to compile in one of these.",
)
DAMAGED_FILE = Code(
    "DML0015",
    "A serialized graph that is damaged",
    "Serialized DirectML graphs (Partition_0.bin) are FlatBuffers files. Every offset in one is checked before it is "
    "followed; the message gives the position in the file of what cannot be right. Such a file is truncated, or was "
    "changed, or is of another kind altogether.",
)
