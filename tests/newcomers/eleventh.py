"""Mistakes of people who carry networks over from other frameworks, written before answers were read.

They were twenty; two turned out to be none: DirectML makes outputs that are larger than their windows, of transposed
convolutions and of pools whose last window is cut off, as PyTorch does.
"""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.files import NETWORK
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

ELEVENTH_FILES = (
    # --- Pooling ---
    Case(
        "gradients of a pool in each other's place",
        graph(
            PICTURE,
            """\
      "type": "AVERAGE_POOLING_GRAD",
      "desc": {
        "OutputGradientTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 4]}, // <- here
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0],
        "IncludePadding": false
      },
      "inputs": {"InputGradientTensor": "x"},
      "outputs": {"OutputGradientTensor": "y"}""",
        ),
        (
            r"InputGradientTensor",
            r"OutputGradientTensor",
            r"(help|or):.*(InputGradientTensor of sizes \[1, 4, 2, 2\]|OutputGradientTensor of sizes \[1, 4, 16, 16\]"
            r"|other way round)",
        ),
    ),
    # --- Normalisation, softmax, reduction ---
    Case(
        "the last axis of a softmax as -1",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 10]}',
            """\
      "type": "ACTIVATION_SOFTMAX1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 10]},
        "Axes": [-1] // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Axes", r"-1", r"help:.*\b3\b"),
    ),
    Case(
        "the class of each row without the dimension that went",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 10]}',
            """\
      "type": "ARGMAX",
      "desc": {
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 8]}, // <- here
        "Axes": [3],
        "AxisDirection": "INCREASING"
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"(help|or):.*\[1, 1, 8, 1\]"),
    ),
    # --- Recurrent, attention ---
    Case(
        "the first state of a GRU as PyTorch has it",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]}',
            """\
      "type": "GRU",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [6, 1, 2, 16]},
        "ActivationDescs": [{"type": "ACTIVATION_SIGMOID"}, {"type": "ACTIVATION_TANH"}],
        "Direction": "FORWARD",
        "LinearBeforeReset": true
      },
      "inputs": {
        "InputTensor": "x",
        "WeightTensor": "w",
        "RecurrenceTensor": "r",
        "HiddenInitTensor": "h" // <- here
      },
      "outputs": {"OutputSequenceTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 48, 10], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 48, 16], "fill": 0.1},
    "h": {"DataType": "FLOAT32", "Sizes": [1, 2, 16], "fill": 0}
  """,
        ),
        (r"HiddenInitTensor", r"help:.*\[1, 1, 2, 16\]"),
    ),
    Case(
        "queries, keys and values stacked in front of their heads",
        graph(
            '    "qkv": {"DataType": "FLOAT32", "Sizes": [2, 10, 3, 8, 16]}',
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 128]},
        "Scale": 0.25, "MaskFilterValue": -10000, "HeadCount": 8, "MaskType": "NONE"
      },
      "inputs": {
        "StackedQueryKeyValueTensor": "qkv" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"StackedQueryKeyValueTensor", r"help:.*\[2, 10, 8, 3, 16\]"),
    ),
    # --- Resampling, joining, scattering ---
    Case(
        "scales in the order of NHWC",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]}',
            """\
      "type": "RESAMPLE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 32, 32]},
        "InterpolationMode": "LINEAR",
        "Scales": [1, 2, 2, 1], // <- here
        "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
        "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Scales", r"(help|or):.*Scales \[1, 1, 2, 2\]"),
        severity="warning",
    ),
    Case(
        "channels joined along the batch",
        graph(
            PICTURE,
            """\
      "type": "JOIN",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 8, 8]},
        "Axis": 0 // <- there
      },
      "inputs": {"InputTensors": ["x", "x"]},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor|Axis", r"(help|or): Axis 1"),
    ),
    Case(
        "places of a scatter in columns, as numpy.nonzero gives them",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [5, 4, 3]},
    "i": {"DataType": "UINT32", "Sizes": [1, 2, 6]},
    "u": {"DataType": "FLOAT32", "Sizes": [1, 6, 3]}""",
            """\
      "type": "SCATTER_ND",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [5, 4, 3]},
        "InputDimensionCount": 3,
        "IndicesDimensionCount": 2
      },
      "inputs": {
        "InputTensor": "x",
        "IndicesTensor": "i", // <- here
        "UpdatesTensor": "u"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"IndicesTensor", r"help:.*IndicesTensor.*\[1, 6, 2\]"),
    ),
    # --- Quantised, training, random ---
    Case(
        "scales of the columns down the rows",
        graph(
            '    "a": {"DataType": "UINT8", "Sizes": [1, 1, 3, 4]}',
            """\
      "type": "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
      "desc": {"OutputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 3, 5]}},
      "inputs": {
        "ATensor": "a",
        "AScaleTensor": "s",
        "BTensor": "b",
        "BScaleTensor": "bs", // <- here
        "OutputScaleTensor": "s"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},
    "b": {"DataType": "INT8", "Sizes": [1, 1, 4, 5], "fill": 1},
    "bs": {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 1], "fill": 0.1}
  """,
        ),
        (r"BScaleTensor", r"help:.*\[1, 1, 1, 5\]"),
    ),
    Case(
        "the step of ADAM as PyTorch counts it",
        graph(
            """\
    "p": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
    "m": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
    "v": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
    "g": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
    "t": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}""",
            """\
      "type": "ADAM_OPTIMIZER",
      "desc": {"LearningRate": 0.001, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-8},
      "inputs": {
        "InputParametersTensor": "p", "InputFirstMomentTensor": "m", "InputSecondMomentTensor": "v",
        "GradientTensor": "g",
        "TrainingStepTensor": "t" // <- here
      },
      "outputs": {
        "OutputParametersTensor": "y", "OutputFirstMomentTensor": "m2", "OutputSecondMomentTensor": "v2"
      }""",
        ),
        (r"TrainingStepTensor", r"FLOAT32", r"help:.*UINT32"),
    ),
    Case(
        "a random state of four numbers",
        graph(
            '    "seed": {"DataType": "UINT32", "Sizes": [1, 1, 1, 4]}',
            """\
      "type": "RANDOM_GENERATOR",
      "desc": {
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 16]},
        "Type": "PHILOX_4X32_10"
      },
      "inputs": {
        "InputStateTensor": "seed" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"InputStateTensor", r"\b4\b", r"\b6\b"),
    ),
    # --- Graphs of C++, programs of DxDispatch, constants ---
    Case(
        "an edge that begins at the node where it ends",
        edited(
            GRAPH,
            (
                '{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}',
                '{"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0, '
                '"$comment": "<- here"}',
            ),
        ),
        (r'"relu"', r"itself|own output|cycle", r"help:.*FromNodeIndex.*\b0\b"),
    ),
    Case(
        "a buffer measured in elements",
        changed(
            (
                '"Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}}',
                '"Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}, '
                '"sizeInBytes": 16} // <- there',
            ),
        ),
        (r'"Out"', r"OutputTensor", r"\b16\b", r"\b64\b"),
    ),
    Case(
        "rows of numbers of which one is too short",
        edited(
            NETWORK,
            (
                '"bias": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1], "fill": 0.5},',
                '"bias": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1], '
                '"values": [[1, 2, 3, 4], [5, 6, 7]]}, // <- here',
            ),
        ),
        (r'"?bias"?', r"\b8\b", r"\b7\b|\b3\b|nested|flat|one list"),
    ),
)

ELEVENTH_PROGRAMS = (
    Case(
        "a negative slope by the name of PyTorch",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.activation_leaky_relu(x, negative_slope=0.1)  # <- here
        """,
        (r"negative_slope", r"alpha"),
    ),
    Case(
        "a size to be found out, as numpy's -1",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.reinterpret(x, "FLOAT32", [1, 1, 1, -1])  # <- here
        """,
        (r"-1", r"\b128\b"),
    ),
)

SWAPPED = """\
import pydirectml as dml

graph = dml.GraphBuilder(dml.Device())
desc = dml.TensorDesc([1, 1, 4, 4], dml.TensorDataType.FLOAT32)
x = dml.input_tensor(graph, 0, desc)
"""

ELEVENTH_COMMANDS = (
    Command(
        "sizes before the data type in PyDirectML",
        ("pydirectml", "program.py"),
        (r"program\.py:4|program\.py\", line 4", r"data.?type", r"sizes|order"),
        program=SWAPPED,
    ),
    Command(
        "two inputs behind one option",
        ("run", "net.json", "--input", "image=image.npy,mask=image.npy"),
        (r"--input", r"image\.npy,mask=image\.npy", r"once for each|again|several|each"),
    ),
)
