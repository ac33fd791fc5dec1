"""The mistakes of a sixth set that were answered less than fully right."""

from __future__ import annotations

from tests.newcomers.case import Case, Command

ADDITION = """\
{
  "resources": {
    "A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},
    "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 2}},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}}
  },
  "dispatchables": {
    "add": {
      "type": "DML_OPERATOR_ELEMENT_WISE_ADD",
      "desc": {
        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
        "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "add",
      "bindings": {
        "ATensor": "A",
        "BTensor": "B",
        "OutputTensor": "Out"
      }
    },
    {"type": "print", "resource": "Out"}
  ]
}
"""


def changed(*edits: tuple[str, str]) -> str:
    """The DxDispatch program of one addition with texts replaced, each of which it has exactly once."""
    text = ADDITION
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def graph(inputs: str, node: str, constants: str = "") -> str:
    """A graph of one node, whose members are given."""
    return f"""\
{{
  "dml2onnx": 1,
  "inputs": {{
{inputs}
  }},
  "constants": {{{constants}}},
  "nodes": [
    {{"name": "node",
{node}}}
  ],
  "outputs": ["y"]
}}
"""


TENSOR = """\
class Tensor:
    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


"""

SIXTH_FILES = (
    Case(
        "a binding by the name of another operator",
        changed(('"ATensor": "A",', '"InputTensor": "A", // <- here')),
        (r'nothing is bound to ATensor; is "InputTensor" meant for it',),
    ),
    Case(
        "an input by the name of another operator",
        graph(
            '"a": {"DataType": "FLOAT32", "Sizes": [4]}, "b": {"DataType": "FLOAT32", "Sizes": [4]}',
            """\
      "type": "ELEMENT_WISE_ADD",
      "inputs": {
        "InputTensor": "a", // <- here
        "BTensor": "b"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r'did you mean "ATensor"',),
        fixed=True,
    ),
    Case(
        "a resource that is too short",
        changed(
            (
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},',
                '"A": {"initialValuesDataType": "FLOAT32", '
                '"initialValues": {"valueCount": 12, "value": 1}}, // <- there',
            ),
            (
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},',
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, // <- here',
            ),
        ),
        (r'"A" has 48 bytes', r"64 bytes or more"),
    ),
    Case(
        "a shader",
        changed(
            (
                '  "dispatchables": {\n',
                '  "dispatchables": {\n    "scale": {\n      "type": "hlsl", // <- here\n'
                '      "sourcePath": "scale.hlsl"\n    },\n',
            )
        ),
        (r"is a shader", r"help: without it and its dispatches"),
    ),
    Case(
        "a bias of one row in a GEMM",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 8]},
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 16]},
    "bias": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 16]} // <- there""",
            """\
      "type": "GEMM",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 16]}, // <- here
        "TransA": "NONE",
        "TransB": "NONE",
        "Alpha": 1,
        "Beta": 1
      },
      "inputs": {"ATensor": "x", "BTensor": "w", "CTensor": "bias"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"help: CTensor repeated: Sizes \[1, 1, 4, 16\] with Strides \[0, 0, 0, 1\]",),
        fixed=True,
    ),
    Case(
        "weights of an LSTM in a GRU",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 2, 5]}',
            """\
      "type": "GRU",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [4, 1, 2, 8]},
        "ActivationDescs": [{"type": "ACTIVATION_SIGMOID"}, {"type": "ACTIVATION_TANH"}],
        "Direction": "FORWARD",
        "LinearBeforeReset": false
      },
      "inputs": {
        "InputTensor": "x",
        "WeightTensor": "w", // <- here
        "RecurrenceTensor": "r",
        "BiasTensor": "b"
      },
      "outputs": {"OutputSequenceTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 5], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 8], "fill": 0.1},
    "b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64], "fill": 0.1}
  """,
        ),
        (
            r"WeightTensor, RecurrenceTensor and BiasTensor have the sizes of LSTM: 4 \* hidden_size rows",
            r"GRU has 3 \* hidden_size",
        ),
    ),
    Case(
        "a number of heads that divides nothing",
        graph(
            """\
    "q": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
    "k": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
    "v": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]}""",
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
        "Scale": 0.125,
        "MaskFilterValue": -10000,
        "HeadCount": 6, // <- there
        "MaskType": "NONE"
      },
      "inputs": {
        "QueryTensor": "q", // <- here
        "KeyTensor": "k",
        "ValueTensor": "v"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"not a multiple of HeadCount, 6", r"help: HeadCount 4\n +or: HeadCount 8"),
    ),
    Case(
        "whole numbers for a sigmoid",
        graph(
            '    "x": {"DataType": "INT32", "Sizes": [4]}',
            """\
      "type": "ACTIVATION_SIGMOID",
      "inputs": {"InputTensor": "x"}, // <- here
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"INT32 is supported at no feature level", r"a CAST node makes FLOAT32"),
    ),
    Case(
        "two inputs of whole numbers for a power",
        graph(
            '    "a": {"DataType": "INT32", "Sizes": [4]}, "b": {"DataType": "INT32", "Sizes": [4]}',
            """\
      "type": "ELEMENT_WISE_ATAN_YX",
      "inputs": {
        "ATensor": "a", // <- here
        "BTensor": "b"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"a CAST node makes FLOAT32 of it, and of BTensor as well",),
    ),
    Case(
        "whole numbers where the output has others",
        graph(
            '    "x": {"DataType": "INT32", "Sizes": [4]}',
            """\
      "type": "ACTIVATION_SIGMOID",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}},
      "inputs": {"InputTensor": "x"}, // <- here
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"INT32 is supported at no feature level",),
        never=(r"need one data type",),
    ),
)

SIXTH_PROGRAMS = (
    Case(
        "weights of a linear layer as PyTorch has them",
        """\
        x = g.input("x", np.float32, [1, 1, 4, 8])
        y = g.gemm(x, np.ones((16, 8), np.float32))  # <- here
        """,
        (r"K = 8", r"columns of 16", r"trans_b='TRANSPOSE'"),
        never=(r"dimension count",),
    ),
    Case(
        "a matrix of two dimensions, the other way round",
        """\
        x = g.input("x", np.float32, [1, 1, 4, 8])
        w = g.input("w", np.float32, [16, 8])
        y = g.gemm(x, w)  # <- here
        """,
        (r"reinterpret\(\.\.\., sizes=\[1, 1, 16, 8\]\), and trans_b='TRANSPOSE'",),
    ),
    Case(
        "an expression in the place of a graph",
        """\
        y = g.activation_relu(g.input("x", np.float32, [4]))
        dml2onnx.compile(y)
        """,
        (r"an Expression, not a Graph", r'GraphBuilder\'s build\(\{"y": y\}\)'),
    ),
    Case(
        "a builder in the place of a graph",
        """\
        y = g.activation_relu(g.input("x", np.float32, [4]))
        dml2onnx.check(g)
        """,
        (r"a GraphBuilder, not a Graph", r'build\(\{"y": y\}\)'),
    ),
    Case(
        "a parameter of PyTorch as a filter",
        TENSOR
        + """\
x = g.input("x", np.float32, [1, 4, 8, 8])
y = g.convolution(x, Tensor(np.ones((8, 4, 3, 3))))  # <- here
""",
        (r"FilterTensor is a Tensor", r"help: an array of numpy, which its \.detach\(\)\.cpu\(\)\.numpy\(\) gives"),
    ),
    Case(
        "a parameter of PyTorch as a factor",
        TENSOR
        + """\
x = g.input("x", np.float32, [1, 4, 8, 8])
y = x * Tensor(np.ones((8, 8)))  # <- here
""",
        (r"is a Tensor", r"\.detach\(\)\.cpu\(\)\.numpy\(\)"),
        never=(r"RuntimeError",),
    ),
    Case(
        "a tensor of PyTorch as an output",
        TENSOR
        + """\
x = g.input("x", np.float32, [1, 4, 8, 8])
graph = g.build({"y": Tensor(np.ones((8, 8)))})  # <- here
""",
        (
            r"y is a Tensor, not an Expression",
            r"constant\(\.\.\.\.detach\(\)\.cpu\(\)\.numpy\(\)\) of the GraphBuilder",
        ),
    ),
)

PYDIRECTML = """\
import numpy as np
import pydirectml as dml

graph = dml.GraphBuilder(dml.Device())
x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 4, 4]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 3, 3]))
"""

SIXTH_COMMANDS = (
    Command(
        "padding in PyDirectML as PyTorch has it",
        ("pydirectml", "program.py"),
        (r"no argument padding; did you mean start_padding and end_padding\?", r"line 7"),
        PYDIRECTML + "y = dml.convolution(x, w, padding=[1, 1])\n",
    ),
    Command(
        "a function of PyTorch in PyDirectML",
        ("pydirectml", "program.py"),
        (r"Did you mean: 'activation_soft_max'", r"line 7"),
        PYDIRECTML + "y = dml.softmax(x)\n",
    ),
    Command(
        "a directory of a program that never ran",
        ("compile", "recording"),
        (r'"recording" is a directory without recording\.json', r"dml2onnx_recorder\.h"),
        files=(("recording/log.txt", "nothing"),),
    ),
    Command(
        "a directory of models",
        ("compile", "models"),
        (r'"models" is a directory without recording\.json', r'such as "models/a\.json"'),
        files=(("models/a.json", "{}"),),
    ),
    Command(
        "ONNX once more, for other options",
        ("compile", "net.onnx", "--half", "-o", "half.onnx"),
        (r"an ONNX model already", r'the DirectML graph that it was made of, such as "net\.json"'),
        before=(("compile", "net.json", "-o", "net.onnx"),),
    ),
    Command(
        "weights of a partition that are too short",
        ("compile", "Partition_0.bin"),
        (r'the file "\w+\.bin" has 4 bytes, and \w+ reads', r"or more"),
        before=(("convert", "net.json", "-o", "Partition_0.bin"),),
        files=(("filter.bin", "abcd"),),
    ),
    Command(
        "sizes of which one is missing",
        ("check", "net.json", "--size", "image=1,3,32"),
        (r"4 sizes, such as 1,3,32,32",),
    ),
    Command(
        "a batch as the name of an input",
        ("compile", "net.json", "--size", "batch=8"),
        (r'no input "batch"', r"help: --size image=8,3,32,32"),
    ),
    Command("JSON from the wrong command", ("compile", "net.json", "-o", "net2.json"), (r"dml2onnx convert writes",)),
    Command(
        "numbers as text",
        ("run", "net.json", "--input", "image=numbers.csv"),
        (r'"numbers\.csv" is text', r"numpy\.save"),
        files=(("numbers.csv", "0.5," * (3 * 32 * 32)),),
    ),
)
