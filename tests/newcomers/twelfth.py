"""Mistakes in files, programs and command lines, written before answers were read.

They were twenty; one turned out to be none: a feature level may be written with a point.
"""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.fourth import GRAPH
from tests.newcomers.ninth import BYTES, LSTM, LSTM_WEIGHTS
from tests.newcomers.sixth import changed, graph

TWELFTH_FILES = (
    Case(
        "a filter for each channel, all in one group",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
            """\
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1],
        "StartPadding": [1, 1], "EndPadding": [1, 1], "OutputPadding": [0, 0],
        "GroupCount": 1 // <- there
      },
      "inputs": {"InputTensor": "x", "FilterTensor": "w"},
      "outputs": {"OutputTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [8, 1, 3, 3], "fill": 0.1}
  """,
        ),
        (r"FilterTensor|GroupCount", r"(help|or): GroupCount 8"),
    ),
    Case(
        "places of the largest elements as signed numbers of 32 bits",
        graph(
            PICTURE,
            """\
      "type": "MAX_POOLING2",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 4]},
        "OutputIndicesTensor": {"DataType": "INT32", "Sizes": [1, 4, 4, 4]}, // <- here
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "Dilations": [1, 1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y", "OutputIndicesTensor": "i"}""",
        ).replace('"outputs": ["y"]', '"outputs": ["y", "i"]'),
        (r"OutputIndicesTensor", r"INT32", r"help:.*UINT32"),
    ),
    Case(
        "the k of PyTorch's local response normalisation",
        graph(
            PICTURE,
            """\
      "type": "LOCAL_RESPONSE_NORMALIZATION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
        "CrossChannel": true, "LocalSize": 5, "Alpha": 0.0001, "Beta": 0.75,
        "K": 1 // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r'"K"', r'did you mean "Bias"'),
    ),
    Case(
        "one bias of an LSTM where both are wanted",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]}',
            edited(
                LSTM,
                ('"RecurrenceTensor": "r"', '"RecurrenceTensor": "r",\n        "BiasTensor": "b" // <- here'),
            ),
            LSTM_WEIGHTS.rstrip() + ',\n    "b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64], "fill": 0}\n  ',
        ),
        (r"BiasTensor", r"\b64\b", r"help:.*\[1, 1, 1, 128\]"),
    ),
    Case(
        "parts along another axis than the sizes say",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 8, 8]}',
            """\
      "type": "SPLIT",
      "desc": {
        "OutputTensors": [
          {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
          {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}
        ],
        "Axis": 2 // <- there
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensors": ["y", "z"]}""",
        ).replace('"outputs": ["y"]', '"outputs": ["y", "z"]'),
        (r"OutputTensors|Axis", r"(help|or): Axis 1"),
    ),
    Case(
        "the sizes of the output as repeats",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}',
            """\
      "type": "TILE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]},
        "Repeats": [1, 1, 4, 6] // <- there
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor|Repeats", r"(help|or): Repeats \[1, 1, 2, 2\]"),
    ),
    Case(
        "padding with the last dimension first, as PyTorch pads",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}',
            """\
      "type": "PADDING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 10, 10]},
        "PaddingMode": "CONSTANT", "PaddingValue": 0,
        "StartPadding": [1, 1, 0, 0], // <- there
        "EndPadding": [1, 1, 0, 0]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (
            r"OutputTensor|StartPadding",
            r"(help|or):.*StartPadding:? (to )?\[0, 0, 1, 1\].*EndPadding:? (to )?\[0, 0, 1, 1\]",
        ),
    ),
    Case(
        "a zero point of signed bytes for a picture of unsigned ones",
        graph(
            BYTES,
            """\
      "type": "CONVOLUTION_INTEGER",
      "desc": {
        "OutputTensor": {"DataType": "INT32", "Sizes": [1, 8, 8, 8]},
        "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1],
        "GroupCount": 1
      },
      "inputs": {
        "InputTensor": "x",
        "InputZeroPointTensor": "z", // <- here
        "FilterTensor": "w"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "z": {"DataType": "INT8", "Sizes": [1, 1, 1, 1], "fill": 0},
    "w": {"DataType": "INT8", "Sizes": [8, 4, 3, 3], "fill": 1}
  """,
        ),
        (r"InputZeroPointTensor", r"InputTensor", r"INT8", r"help:.*UINT8"),
    ),
    Case(
        "a size of the gradient that was flattened",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
    "g": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 192]}""",
            """\
      "type": "ACTIVATION_RELU_GRAD",
      "desc": {"OutputGradientTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
      "inputs": {
        "InputTensor": "x",
        "InputGradientTensor": "g" // <- here
      },
      "outputs": {"OutputGradientTensor": "y"}""",
        ),
        (r"InputGradientTensor", r"help:.*InputGradientTensor.*\[1, 3, 8, 8\]"),
    ),
    Case(
        "the outputs of TOP_K as large as its input",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 100]}',
            """\
      "type": "TOP_K1",
      "desc": {
        "OutputValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 100]}, // <- here
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [1, 1, 4, 100]},
        "Axis": 3,
        "K": 5,
        "AxisDirection": "DECREASING"
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputValueTensor": "y"}""",
        ),
        (r"OutputValueTensor", r"OutputIndexTensor", r"\[1, 1, 4, 5\]"),
    ),
    Case(
        "an operator without one of its underscores",
        edited(
            GRAPH,
            (
                '{"Type": "OPERATOR", "Name": "sum", "Desc": {"Operator": {"Type": "ELEMENT_WISE_ADD", "Desc": {',
                '{"Type": "OPERATOR", "Name": "sum", "Desc": {"$comment": "<- here", '
                '"Operator": {"Type": "ELEMENTWISE_ADD", "Desc": {',
            ),
        ),
        (r"ELEMENTWISE_ADD", r'did you mean "ELEMENT_WISE_ADD"'),
        fixed=True,
    ),
    Case(
        "outputs of a graph counted from 1",
        edited(
            GRAPH,
            (
                '{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 0}',
                '{"GraphOutputIndex": 1, "FromNodeIndex": 1, "FromNodeOutputIndex": 0, "$comment": "<- here"}',
            ),
        ),
        (r"output 0|GraphOutputIndex", r"numbered from 0|\b0\b"),
    ),
    Case(
        "a byte that is too large",
        graph(
            '    "x": {"DataType": "UINT8", "Sizes": [3]}',
            """\
      "type": "ELEMENT_WISE_ADD",
      "inputs": {"ATensor": "x", "BTensor": "c"},
      "outputs": {"OutputTensor": "y"}""",
            """
    "c": {"DataType": "UINT8", "Sizes": [3], "values": [0, 128, 256]} // <- here
  """,
        ),
        (r"\b256\b", r"UINT8", r"\b255\b"),
    ),
    Case(
        "an offset in bytes where elements are counted",
        changed(
            (
                '"ATensor": "A",',
                '"ATensor": {"name": "A", "elementCount": 16, "elementSizeInBytes": 4, "elementOffset": 64}, '
                "// <- here",
            )
        ),
        (r"ATensor", r'"A"', r"\b64\b", r"elementOffset|offset"),
    ),
)

TWELFTH_PROGRAMS = (
    Case(
        "a pool whose window is missing",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.average_pooling(x, [2, 2])  # <- here
        """,
        (r"window_sizes",),
    ),
    Case(
        "as many biases as channels go in",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.convolution(x, np.ones((4, 3, 3, 3), np.float32), np.zeros(3, np.float32))  # <- here
        """,
        (r"BiasTensor", r"\b3\b", r"\b4\b"),
    ),
)

UNBOUND = """\
import numpy as np
import pydirectml as dml

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 4, 4]))
y = dml.activation_relu(x)
model = graph.build(dml.ExecutionFlags.NONE, [y])
device.compute(model, [np.zeros((1, 1, 4, 4), np.float32)], [y])
"""

TWELFTH_COMMANDS = (
    Command(
        "an array in the place of a binding",
        ("pydirectml", "program.py"),
        (r"program\.py:9|program\.py\", line 9", r"Binding"),
        program=UNBOUND,
    ),
    Command(
        "a file as the directory for results",
        ("run", "net.json", "--input", "image=image.npy", "--output-dir", "nhwc.npy"),
        (r"nhwc\.npy", r"director"),
    ),
    Command(
        "a blank inside the quotes of the shell",
        ("check", "net.json "),
        (r"net\.json", r'did you mean.*"net\.json"'),
    ),
)
