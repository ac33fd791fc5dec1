"""Sixteen more mistakes, in files of two formats and in programs, written down before the answers to them were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command

THIRD_FILES = (
    Case(
        "a filter for all channels in each group",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 32, 28, 28]}},
  "constants": {"w": {"DataType": "FLOAT32", "Sizes": [32, 32, 3, 3], "fill": 0.1}},
  "nodes": [
    {
      "name": "depthwise",
      "type": "CONVOLUTION",
      "desc": {
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [1, 1],
        "EndPadding": [1, 1],
        "OutputPadding": [0, 0],
        "GroupCount": 32
      },
      "inputs": {"InputTensor": "x", "FilterTensor": "w"},  // <- here
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r"GroupCount 1\b",
            r"\[32, 1, 3, 3\]",
        ),
    ),
    Case(
        "a matrix as layers of PyTorch have it",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 784]}},
  "constants": {"w": {"DataType": "FLOAT32", "Sizes": [1, 1, 10, 784], "fill": 0.1}},
  "nodes": [
    {
      "name": "linear",
      "type": "GEMM",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 10]},
        "TransA": "NONE",
        "TransB": "NONE",
        "Alpha": 1,
        "Beta": 0
      },
      "inputs": {"ATensor": "x", "BTensor": "w"},  // <- here
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r"TransB TRANSPOSE",
            r"784",
        ),
    ),
    Case(
        "a value by the name of its node",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "first",
      "type": "ACTIVATION_RELU",
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "hidden"}
    },
    {
      "name": "second",
      "type": "ELEMENT_WISE_ABS",
      "inputs": {"InputTensor": "first"},  // <- here
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r'node "first" writes "hidden"',),
        fixed=True,
    ),
    Case(
        "scales of two dimensions",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "up",
      "type": "RESAMPLE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]},
        "InterpolationMode": "LINEAR",
        "Scales": [2, 2],  // <- here
        "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
        "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r"4 elements, one for each dimension",
            r"\[1, 1, ",
        ),
    ),
    Case(
        "bindings without the suffix of their tensors",
        """\
{
  "resources": {
    "A": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
    "B": {"initialValuesDataType": "FLOAT32", "initialValues": [10, 20, 30, 40]},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}}
  },
  "dispatchables": {
    "add": {
      "type": "DML_OPERATOR_ELEMENT_WISE_ADD",
      "desc": {
        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
      }
    }
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "add", "bindings": {"A": "A", "B": "B", "Output": "Out"}},  // <- here
    {"type": "print", "resource": "Out"}
  ]
}
""",
        (
            r'is "A" meant',
            r'is "Output" meant',
        ),
        findings=3,
        fixed=True,
        never=("has no tensor",),
    ),
    Case(
        "a resource that is too small",
        """\
{
  "resources": {
    "A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 64, "value": 1}},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}}
  },
  "dispatchables": {
    "relu": {
      "type": "DML_OPERATOR_ACTIVATION_RELU",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]}  // <- here
      }
    }
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "A", "OutputTensor": "Out"}},
    {"type": "print", "resource": "Out"}
  ]
}
""",
        (
            r"256 bytes",
            r'"Out"',
            r"64",
        ),
        never=("Out#",),
    ),
    Case(
        "an axis from the end, and one dimension less",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [2, 1024]}},
  "nodes": [
    {
      "name": "sums",
      "type": "REDUCE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
        "Function": "SUM",
        "Axes": [-1]  // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r"where that is 1 of 2",
            r"needs? one dimension count|need one dimension count",
        ),
        findings=2,
        fixed=True,
    ),
    Case(
        "inputs and outputs without their suffixes",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"a": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}, "b": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "sum",
      "type": "ELEMENT_WISE_ADD",
      "inputs": {"A": "a", "B": "b"},
      "outputs": {"Output": "y"}  // <- here
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r'mean "ATensor"',
            r'mean "BTensor"',
            r'mean "OutputTensor"',
        ),
        findings=3,
        fixed=True,
        never=("is missing",),
    ),
    Case(
        "an axis of JOIN from the end",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"a": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}, "b": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "joined",
      "type": "JOIN",
      "desc": {"Axis": -3},  // <- here
      "inputs": {"InputTensors": ["a", "b"]},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r"where that is 1 of 4",),
        fixed=True,
    ),
)

THIRD_PROGRAMS = (
    Case(
        "a pool without steps",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.average_pooling(x, 32)  # <- here
        """,
        (r"average_pooling needs 'window_sizes'", r"its arguments are input, strides, window_sizes, "),
    ),
    Case(
        "a bias of one dimension",
        """
        x = g.input("x", np.float32, [1, 16, 8, 8])
        b = g.constant(np.zeros(16, np.float32))
        y = g.add(x, b)  # <- here
        """,
        (
            r"1 dimension and ATensor has 4",
            r"reinterpret\(.*strides=\[0, 1, 0, 0\]",
        ),
    ),
    Case(
        "a builder for each block",
        """
        def block(x):
            return dml2onnx.GraphBuilder().activation_relu(x)  # <- here

        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = block(x)
        """,
        (
            r"another GraphBuilder",
            r'"x"',
        ),
    ),
    Case(
        "all outputs of pooling as one",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.activation_relu(g.max_pooling(x, [2, 2], strides=[2, 2]))  # <- here
        """,
        (r"take one of its outputs: \.values$",),
    ),
)

PYDIRECTML = """\
import numpy as np
import pydirectml as dml

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 4, 4]))
"""
THIRD_COMMANDS = (
    Command(
        "a weight that is not bound",
        ("pydirectml", "program.py"),
        (
            r"2 inputs, but 1 was given",
            r"input 1 of 36 bytes",
            r"line 10",
        ),
        PYDIRECTML
        + """\
w = dml.input_tensor(graph, 1, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 3, 3]))
y = dml.convolution(x, w)
model = graph.build(dml.ExecutionFlags.NONE, [y])
device.compute(model, [dml.Binding(x, np.ones(16, np.float32))], [y])
""",
    ),
    Command(
        "outputs of PyDirectML's pooling as one",
        ("pydirectml", "program.py"),
        (
            r"take one of its outputs: \.values\.",
            r"line 7",
        ),
        PYDIRECTML
        + """\
dml.activation_relu(dml.max_pooling(x, [2, 2], strides=[2, 2]))
""",
    ),
)
