"""More mistakes, in files of one node, in programs and on the command line."""

from __future__ import annotations

from tests.newcomers.case import Case, Command


def _file(node: str, inputs: str = '"x": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}') -> str:
    """A graph of one node, whose members are given."""
    return f"""\
{{
  "dml2onnx": 1,
  "inputs": {{{inputs}}},
  "nodes": [
    {{"name": "node",
{node}}}
  ],
  "outputs": ["y"]
}}
"""


FIFTH_FILES = (
    Case(
        "the window by ONNX's name",
        _file("""\
      "type": "AVERAGE_POOLING",
      "desc": {
        "Strides": [2, 2],
        "kernel_shape": [2, 2], // <- here
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "IncludePadding": false
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r'did you mean "WindowSize"',),
        fixed=True,
    ),
    Case(
        "ONNX's pads",
        _file("""\
      "type": "MAX_POOLING",
      "desc": {
        "Strides": [2, 2],
        "WindowSize": [3, 3],
        "pads": [1, 0, 1, 1] // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r'"StartPadding": \[1, 0\], "EndPadding": \[1, 1\]',),
        fixed=True,
    ),
    Case(
        "a CAST with a data type",
        _file("""\
      "type": "CAST",
      "desc": {
        "DataType": "FLOAT16" // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r"it is a member of tensor descriptors", r'"OutputTensor": \{"DataType": "FLOAT16"\}'),
    ),
    Case(
        "a CAST as in ONNX",
        _file("""\
      "type": "CAST",
      "desc": {
        "to": "FLOAT16" // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r"DataType is a member of tensor descriptors", r'"OutputTensor": \{"DataType": "FLOAT16"\}'),
    ),
    Case(
        "one axis of a softmax",
        _file("""\
      "type": "ACTIVATION_SOFTMAX1",
      "desc": {
        "Axis": 3 // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r'"Axes": \[3\]',),
        fixed=True,
    ),
    Case(
        "a node that reads itself",
        _file("""\
      "type": "ACTIVATION_RELU",
      "inputs": {"InputTensor": "y"}, // <- here
      "outputs": {"OutputTensor": "y"}"""),
        (r"cycle", r"which this node writes itself"),
    ),
    Case(
        "strides in bytes that leave the buffer",
        _file("""\
      "type": "ACTIVATION_RELU",
      "desc": {
        "InputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 4, 8, 8],
          "Strides": [1024, 256, 32, 4] // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r"look like bytes", r"help: Strides \[256, 64, 8, 1\]"),
    ),
    Case(
        "a number of C++",
        _file("""\
      "type": "ACTIVATION_LEAKY_RELU",
      "desc": {
        "Alpha": 0.01f // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}"""),
        (r"0\.01f is a number of C\+\+", r"expected: 0\.01\n"),
    ),
)

FIFTH_PROGRAMS = (
    Case(
        "a constant with its name first",
        """\
        w = g.constant("w", np.zeros(3, np.float32))  # <- here
        """,
        (r"constant takes values by place", r"name="),
    ),
    Case(
        "a filter of three channels as TensorFlow has it",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.convolution(x, np.zeros((3, 3, 3, 16), np.float32))  # <- here
        """,
        (r"looks like HWIO", r"transpose \(3, 2, 0, 1\)"),
    ),
    Case(
        "a number for each channel in a sum",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = x + np.zeros(3, np.float32)  # <- here
        """,
        (r"do not broadcast", r"sizes \[3, 1, 1\]"),
    ),
)

FIFTH_COMMANDS = (
    Command("two models at once", ("compile", "net.json", "other.json"), (r"takes one model", r"batch")),
    Command(
        "a program in the place of a model",
        ("check", "program.py"),
        (r"is a Python program", r"pydirectml"),
        "import dml2onnx\n",
    ),
    Command("ONNX as a format of convert", ("convert", "net.json", "--format", "onnx"), (r"compile writes ONNX",)),
    Command("another format by its suffix", ("compile", "net.json", "-o", "net.tflite"), (r"\.tflite", r"OUT\.onnx")),
)
