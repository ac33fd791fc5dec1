"""Twenty more mistakes over all ways in, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.files import NETWORK
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

FIFTEENTH_FILES = (
    Case(
        "an upsampled picture whose output was not enlarged",
        graph(
            PICTURE,
            """\
      "type": "UPSAMPLE_2D",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}, // <- here
        "ScaleSize": {"Width": 2, "Height": 2}, "InterpolationMode": "NEAREST_NEIGHBOR"
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"(help|or):.*\[1, 4, 16, 16\]"),
    ),
    Case(
        "whole numbers for the two values of a one-hot",
        graph(
            '    "i": {"DataType": "UINT32", "Sizes": [1, 1, 6, 1]}',
            """\
      "type": "ONE_HOT",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 10]}, // <- there
        "Axis": 3
      },
      "inputs": {
        "IndicesTensor": "i",
        "ValuesTensor": "v"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "v": {"DataType": "INT32", "Sizes": [1, 1, 1, 2], "values": [0, 1]}
  """,
        ),
        (r"ValuesTensor", r"OutputTensor", r"INT32", r"FLOAT32", r"(help|or):.*(ValuesTensor.*FLOAT32|INT32)"),
    ),
    Case(
        "regions without the picture's number, as ROI_ALIGN takes them, in the older pooling",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]},
    "rois": {"DataType": "FLOAT32", "Sizes": [1, 1, 7, 4]}""",
            """\
      "type": "ROI_POOLING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [7, 16, 5, 5]},
        "SpatialScale": 0.0625, "PooledSize": {"Width": 5, "Height": 5}
      },
      "inputs": {
        "InputTensor": "x",
        "ROITensor": "rois" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"ROITensor", r"\b5\b", r"\b4\b", r"[Bb]atch|x1"),
    ),
    Case(
        "one bias for three channels",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}',
            """\
      "type": "VALUE_SCALE_2D",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
        "Scale": 0.00392, "ChannelCount": 3,
        "Bias": [-0.5] // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Bias", r"\b3\b", r"\b1\b", r"(help|or):.*\[-0\.5, -0\.5, -0\.5\]"),
    ),
    Case(
        "lengths of sequences one for each step",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16]},
    "n": {"DataType": "UINT32", "Sizes": [1, 1, 10, 1]}""",
            """\
      "type": "REVERSE_SUBSEQUENCES",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16]},
        "Axis": 2
      },
      "inputs": {
        "InputTensor": "x",
        "SequenceLengthsTensor": "n" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"SequenceLengthsTensor", r"(help|or):.*SequenceLengthsTensor.*\[1, 4, 1, 16\]"),
    ),
    Case(
        "a recurrence matrix as wide as the input",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]}',
            """\
      "type": "RNN",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [6, 1, 2, 16]},
        "ActivationDescs": [{"type": "ACTIVATION_TANH"}],
        "Direction": "FORWARD"
      },
      "inputs": {
        "InputTensor": "x",
        "WeightTensor": "w",
        "RecurrenceTensor": "r" // <- here
      },
      "outputs": {"OutputSequenceTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 10], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 10], "fill": 0.1}
  """,
        ),
        (r"RecurrenceTensor", r"(help|or):.*\[1, 1, 16, 16\]"),
    ),
    Case(
        "a zero point of a dynamic quantisation with a sign, and its picture without one",
        graph(
            PICTURE,
            """\
      "type": "DYNAMIC_QUANTIZE_LINEAR",
      "desc": {
        "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]},
        "OutputScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]},
        "OutputZeroPointTensor": {"DataType": "INT8", "Sizes": [1, 1, 1, 1]} // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y", "OutputScaleTensor": "s", "OutputZeroPointTensor": "z"}""",
        ).replace('"outputs": ["y"]', '"outputs": ["y", "s", "z"]'),
        (r"OutputZeroPointTensor", r"INT8", r"help:.*UINT8"),
    ),
    Case(
        "an activation between two nodes that was copied from a larger layer",
        edited(
            NETWORK,
            (
                """\
      "inputs": {"InputTensor": "scores"},""",
                """\
      "inputs": {"InputTensor": "scaled"},""",
            ),
            (
                """\
    {
      "name": "softmax",""",
                """\
    {
      "name": "scale",
      "type": "ELEMENT_WISE_IDENTITY",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 100]}, // <- here
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]},
        "ScaleBias": {"Scale": 0.5, "Bias": 0}
      },
      "inputs": {"InputTensor": "scores"},
      "outputs": {"OutputTensor": "scaled"}
    },
    {
      "name": "softmax",""",
            ),
        ),
        (r"InputTensor", r"\b100\b", r"\b10\b", r"(help|or): InputTensor.*\[1, 1, 1, 10\]"),
    ),
    Case(
        "a constant filled with numbers in brackets",
        graph(
            PICTURE,
            """\
      "type": "ELEMENT_WISE_MULTIPLY",
      "desc": {"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8], "Strides": [0, 1, 0, 0]}},
      "inputs": {"ATensor": "x", "BTensor": "scale"},
      "outputs": {"OutputTensor": "y"}""",
            """
    "scale": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": [0.5, 1, 1, 2]} // <- here
  """,
        ),
        (r"fill", r"(help|or|did you mean):?.*values"),
    ),
    Case(
        "a boolean quoted",
        graph(
            PICTURE,
            """\
      "type": "AVERAGE_POOLING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 4]},
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0],
        "IncludePadding": "false" // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"IncludePadding", r'"false"', r"(help|or):.*false"),
        fixed=True,
    ),
    # --- Graphs of C++ ---
    Case(
        "an edge between two nodes forgotten",
        edited(
            GRAPH,
            (
                """\
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}
  ],""",
                """\
  "IntermediateEdges": [],""",
            ),
            (
                '"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},',
                '"InputTensor": {"$comment": "<- here", "DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},',
            ),
        ),
        (r"InputTensor", r"relu", r"sum", r"IntermediateEdges|edge"),
    ),
    Case(
        "an output edge from an output that the node does not have",
        edited(
            GRAPH,
            (
                '{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 0}',
                '{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 1, "$comment": "<- here"}',
            ),
        ),
        (r"FromNodeOutputIndex", r"\b1\b", r"(help|or|did you mean):?.*\b0\b"),
    ),
    # --- DxDispatch ---
    Case(
        "halves in the resource of a float tensor",
        changed(
            (
                '"B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 2}},',
                '"B": {"initialValuesDataType": "FLOAT16", '
                '"initialValues": {"valueCount": 16, "value": 2}}, // <- there',
            ),
        ),
        (r"BTensor", r'"B"', r"FLOAT16|\b32\b", r"FLOAT32|\b64\b"),
    ),
    Case(
        "a sequence without its step by the names of numpy",
        changed(
            (
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},',
                '"A": {"initialValuesDataType": "FLOAT32", '
                '"initialValues": {"valueCount": 16, "start": 0, "step": 1}}, // <- here',
            ),
        ),
        (r'"?(step|start)"?', r"valueStart|valueDelta"),
    ),
)

FIFTEENTH_PROGRAMS = (
    Case(
        "an epsilon as PyTorch abbreviates it",
        """\
        x = g.input("x", np.float32, [1, 8, 16, 16])
        y = g.mean_variance_normalization(x, axes=[2, 3], eps=1e-3)  # <- here
        """,
        (r"\beps\b", r"\bepsilon\b"),
    ),
    Case(
        "an operator newer than the builder's level",
        """\
        x = g.input("x", np.float32, [1, 8, 16, 16])
        y = g.activation_gelu(x)  # <- here
        """,
        (r"GELU", r"5_0", r"5_1", r"feature_level"),
    ),
    Case(
        "a picture enlarged as PyTorch does",
        """\
        x = g.input("x", np.float32, [1, 8, 16, 16])
        y = g.interpolate(x, scale_factor=2, mode="nearest")  # <- here
        """,
        (r"interpolate", r"\b(resample|upsample_2d)\b"),
    ),
)

FIFTEENTH_COMMANDS = (
    Command(
        "a number of cases in words",
        ("verify", "net.json", "--cases", "many"),
        (r"--cases", r"many", r"number|integer|int\b"),
    ),
    Command(
        "a command for a reduction that there is not",
        ("reduce", "net.json", "--while", "mytoool {}"),
        (r"mytoool", r"not found|no such|127"),
    ),
    Command(
        "a size by the name of another input",
        ("compile", "net.json", "--size", "input=2,3,32,32"),
        (r"\binput\b", r"\bimage\b"),
    ),
)
