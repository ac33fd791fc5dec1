"""A twenty-third set of forty mistakes, in networks and operators of their own, written before answers were read.

They were forty; one turned out to be none: where a filter has one channel, three of a picture are taken for its batch.
"""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.more_networks import filtered, network, node, tensor

PERCEPTRON = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "up", "Desc": {"Operator": {"Type": "GEMM", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64]},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 256, 64]},
      "CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256], "Strides": [0, 0, 0, 1]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256]},
      "TransA": "NONE",
      "TransB": "TRANSPOSE",
      "Alpha": 1, "Beta": 1
    }}}},
    {"Type": "OPERATOR", "Name": "gelu", "Desc": {"Operator": {"Type": "ACTIVATION_GELU", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256]}
    }}}},
    {"Type": "OPERATOR", "Name": "down", "Desc": {"Operator": {"Type": "GEMM", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256]},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 256, 64]},
      "CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64], "Strides": [0, 0, 0, 1]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64]},
      "TransA": "NONE",
      "TransB": "NONE",
      "Alpha": 1, "Beta": 1
    }}}},
    {"Type": "OPERATOR", "Name": "residual", "Desc": {"Operator": {"Type": "ELEMENT_WISE_ADD", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64]},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 64]}
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 2, "ToNodeIndex": 0, "ToNodeInputIndex": 2},
    {"GraphInputIndex": 3, "ToNodeIndex": 2, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 4, "ToNodeIndex": 2, "ToNodeInputIndex": 2}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 1}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 3, "FromNodeOutputIndex": 0}
  ]
}
"""
"""The second half of a layer of a transformer, as a graph of C++: a Linear of PyTorch, and one stored transposed."""

LOOKED_UP = """\
{
  "resources": {
    "Table": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 1600, "value": 0.5}},
    "Words": {"initialValuesDataType": "UINT32", "initialValues": [3, 1, 4, 1]},
    "Found": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 64, "value": 0}},
    "Y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 64, "value": 0}}
  },
  "dispatchables": {
    "embedding": {
      "type": "DML_OPERATOR_GATHER",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 100, 16]},
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 16]},
        "Axis": 2,
        "IndexDimensions": 1
      }
    },
    "tanh": {
      "type": "DML_OPERATOR_ACTIVATION_TANH",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 16]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 16]}
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "embedding",
      "bindings": {
        "InputTensor": "Table",
        "IndicesTensor": "Words",
        "OutputTensor": "Found"
      }
    },
    {
      "type": "dispatch",
      "dispatchable": "tanh",
      "bindings": {"InputTensor": "Found", "OutputTensor": "Y"}
    },
    {"type": "print", "resource": "Y"}
  ]
}
"""
"""Rows of a table, and their hyperbolic tangents, in DxDispatch."""

POSE = network(
    {"photo": tensor([1, 3, 64, 48])},
    {
        "stem.w": tensor([16, 3, 3, 3]),
        "mean": tensor([1, 16, 1, 1]),
        "variance": tensor([1, 16, 1, 1]),
        "gamma": tensor([1, 16, 1, 1]),
        "beta": tensor([1, 16, 1, 1]),
        "deconv.w": tensor([16, 8, 4, 4]),
    },
    [
        filtered("stem", [1, 16, 32, 24], "photo", [2, 2], [1, 1]),
        node(
            "norm",
            "BATCH_NORMALIZATION",
            {
                "InputTensor": "stem",
                "MeanTensor": "mean",
                "VarianceTensor": "variance",
                "ScaleTensor": "gamma",
                "BiasTensor": "beta",
            },
            {"OutputTensor": tensor([1, 16, 32, 24]), "Spatial": True, "Epsilon": 1e-5},
            {"OutputTensor": "norm"},
        ),
        node(
            "deconv",
            "CONVOLUTION",
            {"InputTensor": "norm", "FilterTensor": "deconv.w"},
            {
                "OutputTensor": tensor([1, 8, 64, 48]),
                "Mode": "CROSS_CORRELATION",
                "Direction": "BACKWARD",
                "Strides": [2, 2],
                "Dilations": [1, 1],
                "StartPadding": [1, 1],
                "EndPadding": [1, 1],
                "OutputPadding": [0, 0],
                "GroupCount": 1,
            },
            {"OutputTensor": "heat"},
        ),
    ],
    "heat",
)
"""A photograph made smaller, normalised, and made larger into eight maps of heat."""

CAPTION = network(
    {"words": tensor([1, 12, 2, 24])},
    {
        "w": tensor([1, 1, 64, 24]),
        "r": tensor([1, 1, 64, 16]),
        "b": tensor([1, 1, 1, 128]),
        "h": tensor([1, 1, 2, 16]),
        "c": tensor([1, 1, 2, 16]),
    },
    [
        node(
            "lstm",
            "LSTM",
            {
                "InputTensor": "words",
                "WeightTensor": "w",
                "RecurrenceTensor": "r",
                "BiasTensor": "b",
                "HiddenInitTensor": "h",
                "CellMemInitTensor": "c",
            },
            {
                "OutputSequenceTensor": tensor([12, 1, 2, 16]),
                "ActivationDescs": [{"type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH")],
                "Direction": "FORWARD",
                "ClipThreshold": 0,
                "UseClipThreshold": False,
                "CoupleInputForget": False,
            },
            {"OutputSequenceTensor": "states"},
        )
    ],
    "states",
)
"""Twelve words of two sentences, in a recurrent layer."""

CROPPED = network(
    {"x": tensor([1, 3, 32, 32])},
    {"logo": tensor([1, 1, 18, 18])},
    [
        node(
            "crop",
            "SLICE1",
            {"InputTensor": "x"},
            {
                "OutputTensor": tensor([1, 3, 16, 16]),
                "InputWindowOffsets": [0, 0, 8, 8],
                "InputWindowSizes": [1, 3, 16, 16],
                "InputWindowStrides": [1, 1, 1, 1],
            },
            {"OutputTensor": "cropped"},
        ),
        node(
            "frame",
            "PADDING",
            {"InputTensor": "cropped"},
            {
                "OutputTensor": tensor([1, 3, 18, 18]),
                "PaddingMode": "CONSTANT",
                "PaddingValue": 0,
                "StartPadding": [0, 0, 1, 1],
                "EndPadding": [0, 0, 1, 1],
            },
            {"OutputTensor": "framed"},
        ),
        node(
            "stamp",
            "JOIN",
            {"InputTensors": ["framed", "logo"]},
            {"OutputTensor": tensor([1, 4, 18, 18]), "Axis": 1},
            {"OutputTensor": "stamped"},
        ),
        node(
            "large",
            "RESAMPLE1",
            {"InputTensor": "stamped"},
            {
                "OutputTensor": tensor([1, 4, 36, 36]),
                "InterpolationMode": "LINEAR",
                "Scales": [1, 1, 2, 2],
                "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
                "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5],
            },
            {"OutputTensor": "large"},
        ),
        node(
            "brightness",
            "REDUCE",
            {"InputTensor": "large"},
            {"Function": "AVERAGE", "OutputTensor": tensor([1, 4, 1, 1]), "Axes": [2, 3]},
            {"OutputTensor": "brightness"},
        ),
        node(
            "bytes",
            "ELEMENT_WISE_QUANTIZE_LINEAR",
            {"InputTensor": "brightness", "ScaleTensor": "step", "ZeroPointTensor": "zero"},
            {
                "ScaleTensor": tensor([1, 4, 1, 1], strides=[0, 0, 0, 0]),
                "ZeroPointTensor": tensor([1, 4, 1, 1], "UINT8", [0, 0, 0, 0]),
                "OutputTensor": tensor([1, 4, 1, 1], "UINT8"),
            },
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
CROPPED = edited(
    CROPPED,
    (
        '  "constants": {\n',
        '  "constants": {\n'
        '    "step": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},\n'
        '    "zero": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1], "fill": 128},\n',
    ),
)
"""The middle of a picture in a frame, with a further plane, made larger; and the brightness of its planes as bytes."""

TWENTYTHIRD_FILES = (
    # --- A graph of C++ ---
    Case(
        "weights of a Linear of PyTorch that are not said to be transposed",
        edited(PERCEPTRON, ('"TransB": "TRANSPOSE"', '"TransB": "NONE"')),
        (r'"up"', r"\b64\b", r"\b256\b", r"(help|or):.*TransB\W+(to )?(DML_MATRIX_TRANSFORM_)?TRANSPOSE"),
    ),
    Case(
        "a bias that is a row, of a product that has thirty-two rows",
        edited(
            PERCEPTRON,
            (
                '"CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 256], "Strides": [0, 0, 0, 1]}',
                '"CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 256]}',
            ),
        ),
        (r'"up"', r"CTensor", r"\b32\b", r"(help|or):.*\[1, 1, 32, 256\].*Strides.*\[0, 0, 0, 1\]"),
    ),
    Case(
        "both terms of a sum go to its first input",
        edited(
            PERCEPTRON,
            (
                '"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 1',
                '"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0',
            ),
        ),
        (r'"residual"', r"ATensor|ToNodeInputIndex", r"(help|or):.*(ToNodeInputIndex\W+(to )?1|BTensor)"),
    ),
    Case(
        "the bias of the second product has no edge",
        edited(
            PERCEPTRON,
            (
                '"ToNodeIndex": 3, "ToNodeInputIndex": 0},\n'
                '    {"GraphInputIndex": 4, "ToNodeIndex": 2, "ToNodeInputIndex": 2}\n',
                '"ToNodeIndex": 3, "ToNodeInputIndex": 0}\n',
            ),
        ),
        (
            r'"down"',
            r"CTensor",
            r"(help|or):.*(ToNodeIndex\W+2.*ToNodeInputIndex\W+2|[Ee]dge.*(CTensor|down|2)|CTensor.*null|null.*CTensor)",
        ),
    ),
    Case(
        "an edge goes to the node after the last",
        edited(
            PERCEPTRON,
            (
                '"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 1',
                '"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 4, "ToNodeInputIndex": 1',
            ),
        ),
        (r"ToNodeIndex", r"\b4\b", r"(help|or):.*(\b3\b|residual)"),
    ),
    # --- DxDispatch ---
    Case(
        "a tenth of the table",
        edited(LOOKED_UP, ('"valueCount": 1600', '"valueCount": 160')),
        (r"Table", r"\b640\b|\b160\b", r"\b6,?400\b|\b1,?600\b", r"(help|or):.*(\b1,?600\b|\b10, 16\])"),
    ),
    Case(
        "a binding named as in ONNX",
        edited(LOOKED_UP, ('"IndicesTensor": "Words"', '"indices": "Words"')),
        (r"indices", r"(help|or|mean):?.*IndicesTensor"),
    ),
    Case(
        "indices that are fractions",
        edited(
            LOOKED_UP,
            ('"IndicesTensor": {"DataType": "UINT32"', '"IndicesTensor": {"DataType": "FLOAT32"'),
        ),
        (r"embedding", r"IndicesTensor", r"FLOAT32", r"(help|or):.*\bU?INT32\b"),
    ),
    Case(
        "no comma between two bindings",
        edited(LOOKED_UP, ('"IndicesTensor": "Words",\n', '"IndicesTensor": "Words"\n')),
        (r":(33|34)\b|line (33|34)\b", r"comma|','|\",\"|`,`"),
    ),
    # --- Heat ---
    Case(
        "the filter of a transposed convolution with outputs first, as in TensorFlow",
        edited(
            POSE,
            (
                '"deconv.w": {"DataType": "FLOAT32", "Sizes": [16, 8,',
                '"deconv.w": {"DataType": "FLOAT32", "Sizes": [8, 16,',
            ),
        ),
        (r'"deconv"', r"\b16\b", r"\b8\b", r"(help|or):.*\[16, 8, 4, 4\]"),
    ),
    Case(
        "a transposed convolution that goes forward",
        edited(POSE, ('"Direction": "BACKWARD"', '"Direction": "FORWARD"')),
        (r'"deconv"', r"(help|or):.*Direction\W+(to )?(DML_CONVOLUTION_DIRECTION_)?BACKWARD"),
    ),
    Case(
        "a filter of TensorFlow, with its outputs last",
        edited(POSE, ("[16, 3, 3, 3]", "[3, 3, 3, 16]")),
        (r'"stem"', r"\b16\b", r"\b3\b", r"(help|or):.*\[16, 3, 3, 3\]"),
    ),
    Case(
        "a photograph with its channels last",
        edited(POSE, ("[1, 3, 64, 48]", "[1, 64, 48, 3]")),
        (r'"stem"', r"\b64\b", r"\b3\b", r"(help|or):.*\[1, 3, 64, 48\]"),
    ),
    Case(
        "the means of a batch normalisation as PyTorch has them",
        edited(
            POSE,
            ('"mean": {"DataType": "FLOAT32", "Sizes": [1, 16, 1, 1]', '"mean": {"DataType": "FLOAT32", "Sizes": [16]'),
        ),
        (r'"norm"', r"MeanTensor", r"(help|or):.*\[1, 16, 1, 1\]"),
    ),
    # --- A recurrent layer ---
    Case(
        "only one of the two biases of a layer",
        edited(
            CAPTION,
            (
                '"b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 128]',
                '"b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64]',
            ),
        ),
        (r'"lstm"', r"BiasTensor", r"\b64\b", r"\b128\b", r"(help|or):.*\[1, 1, 1, 128\]"),
    ),
    Case(
        "a first state with its sentences before its directions",
        edited(
            CAPTION,
            (
                '"h": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 16]',
                '"h": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 16]',
            ),
        ),
        (r'"lstm"', r"HiddenInitTensor", r"(help|or):.*\[1, 1, 2, 16\]"),
    ),
    Case(
        "states with their sentences first",
        edited(CAPTION, ("[12, 1, 2, 16]", "[2, 12, 1, 16]")),
        (r'"lstm"', r"OutputSequenceTensor", r"(help|or):.*\[12, 1, 2, 16\]"),
    ),
    # --- A picture cut out ---
    Case(
        "a window that begins in its first dimensions, not in its last",
        edited(CROPPED, ('"InputWindowOffsets": [0, 0, 8, 8]', '"InputWindowOffsets": [8, 8, 0, 0]')),
        (r'"crop"', r"InputWindowOffsets", r"\b8\b", r"(help|or):.*InputWindowOffsets.*\[0, 0, (8, 8|0, 0)\]"),
    ),
    Case(
        "padding that begins with the last dimension, as in PyTorch",
        edited(CROPPED, ('"StartPadding": [0, 0, 1, 1]', '"StartPadding": [1, 1, 0, 0]')),
        (r'"frame"', r"\b18\b|\b17\b|\b4\b", r"(help|or):.*StartPadding\W+(to )?\[0, 0, 1, 1\]"),
    ),
    Case(
        "planes put below each other, not behind",
        edited(CROPPED, ('"Axis": 1', '"Axis": 2')),
        (r'"stamp"', r"(help|or):.*Axis\W+(to )?1\b"),
    ),
    Case(
        "an interpolation as PyTorch calls it",
        edited(CROPPED, ('"InterpolationMode": "LINEAR"', '"InterpolationMode": "BILINEAR"')),
        (r"BILINEAR", r"(help|or|mean|expected):?.*\bLINEAR\b"),
    ),
    Case(
        "bytes with a sign, and a zero point without",
        edited(
            CROPPED,
            (
                '"OutputTensor": {"DataType": "UINT8", "Sizes": [1, 4, 1, 1]}',
                '"OutputTensor": {"DataType": "INT8", "Sizes": [1, 4, 1, 1]}',
            ),
        ),
        (r'"bytes"', r"\bINT8\b", r"\bUINT8\b", r"(help|or):.*\bU?INT8\b"),
    ),
)

START = """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder("net", feature_level="5_0")
x = g.input("x", np.float32, [1, 3, 32, 32])
"""
"""The first lines of the programs."""

TWENTYTHIRD_PROGRAMS = (
    Case(
        "weights of Keras, height and width first",
        START + "y = g.convolution(x, np.ones((5, 5, 3, 16), np.float32), start_padding=2, end_padding=2)\n"
        'graph = g.build({"y": y})\n',
        (r"[Ff]ilter", r"\b5\b", r"\b3\b", r"\[16, 3, 5, 5\]|\(16, 3, 5, 5\)|\(?3, 2, 0, 1\)?|OIHW"),
    ),
    Case(
        "a Linear of PyTorch without its transposition",
        START + "flat = g.reinterpret(x, np.float32, [1, 1, 1, 3072])\n"
        "y = g.gemm(flat, np.ones((1, 1, 10, 3072), np.float32))\n"
        'graph = g.build({"y": y})\n',
        (r"\b3072\b", r"\b10\b", r"(?i)trans_?b\W+(to )?\W*TRANSPOSE|\[1, 1, 3072, 10\]"),
    ),
    Case(
        "padding as PyTorch calls it",
        START + 'y = g.convolution(x, np.ones((8, 3, 3, 3), np.float32), padding=1)\ngraph = g.build({"y": y})\n',
        (r"\bpadding\b", r"start_padding", r"end_padding"),
    ),
    Case(
        "a layer's normalisation by its name in PyTorch",
        START + 'y = g.layer_norm(x)\ngraph = g.build({"y": y})\n',
        (r"layer_norm", r"mean_variance_normalization"),
    ),
    Case(
        "two pictures of different sizes joined by their channels",
        START + "small = g.max_pooling(x, 2, strides=2).values\n"
        "y = g.join([x, small], axis=1)\n"
        'graph = g.build({"y": y})\n',
        (r"\b32\b", r"\b16\b", r"(?i)resample|(help|or):.*\[1, 3, 32, 32\]"),
    ),
    Case(
        "a mean by the name that numpy has for it",
        START + 'y = g.reduce(x, "MEAN", [2, 3])\ngraph = g.build({"y": y})\n',
        (r"MEAN", r"AVERAGE"),
    ),
)

FILTERED = """\
import numpy as np
import pydirectml as dml

FLOAT32 = dml.TensorDataType.FLOAT32
picture = np.ones((1, 1, 8, 8), np.float32)
kernel = np.ones((1, 1, 3, 3), np.float32)

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(FLOAT32, [1, 1, 8, 8]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(FLOAT32, [1, 1, 3, 3]))
y = dml.convolution(x, w, start_padding=[1, 1], end_padding=[1, 1])
model = graph.build(dml.ExecutionFlags.NONE, [y])
[result] = device.compute(model, [dml.Binding(x, picture), dml.Binding(w, kernel)], [y])
print(np.array(result).shape)
"""
"""A filtered picture, in PyDirectML."""

EDGES = """\
{
  "dml2onnx": 1,
  "inputs": {"photo": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}},
  "constants": {
    "laplace": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3], "values": [0, 1, 0, 1, -4, 1, 0, 1, 0]}
  },
  "nodes": [
    {
      "name": "filter",
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
        "Strides": [1, 1], "Dilations": [1, 1],
        "StartPadding": [1, 1], "EndPadding": [1, 1], "OutputPadding": [0, 0],
        "GroupCount": 1
      },
      "inputs": {"InputTensor": "photo", "FilterTensor": "laplace"},
      "outputs": {"OutputTensor": "edges"}
    }
  ],
  "outputs": ["edges"]
}
"""
"""The edges of a photograph of sixteen numbers, which are 64 bytes."""

OUTLINE_AND_PHOTO = (("outline.json", EDGES), ("photo.bin", 64 * "1"))

TWENTYTHIRD_COMMANDS = (
    Command(
        "pydirectml: a kernel of five for a tensor of three",
        ("pydirectml", "program.py"),
        (r"\b25\b|\b100\b|5, 5", r"\b9\b|\b36\b|3, 3", r"TensorDesc|\[1, 1, [35], [35]\]|\(1, 1, [35], [35]\)"),
        program=edited(FILTERED, ("np.ones((1, 1, 3, 3)", "np.ones((1, 1, 5, 5)")),
    ),
    Command(
        "pydirectml: a matrix that should be transposed",
        ("pydirectml", "program.py"),
        (r"\b4\b", r"\b8\b", r"(?i)trans_?b|transpose|\[1, 1, 8, 4\]"),
        program=edited(
            FILTERED,
            ("kernel = np.ones((1, 1, 3, 3)", "kernel = np.ones((1, 1, 4, 8)"),
            ("dml.TensorDesc(FLOAT32, [1, 1, 3, 3])", "dml.TensorDesc(FLOAT32, [1, 1, 4, 8])"),
            ("dml.convolution(x, w, start_padding=[1, 1], end_padding=[1, 1])", "dml.gemm(x, w)"),
        ),
    ),
    Command(
        "an input by the name that other models give it",
        ("run", "outline.json", "--input", "image=photo.bin"),
        (r"\bimage\b", r"\bphoto\b(?!\.bin)"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "an input of one byte for each number",
        ("run", "outline.json", "--input", "photo=grey.bin"),
        (r"photo", r"\b16\b", r"\b64\b", r"(?i)float"),
        files=(*OUTLINE_AND_PHOTO, ("grey.bin", 16 * "1")),
    ),
    Command(
        "a target by the first half of its name",
        ("compile", "outline.json", "--target", "tensorrt"),
        (r"tensorrt\b", r"tensorrt-rtx"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "a feature level that does not exist",
        ("check", "outline.json", "--feature-level", "7_0"),
        (r"7_0", r"6_4"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "a size without the batch",
        ("compile", "outline.json", "--size", "photo=1,8,8"),
        (r"photo", r"\b3\b|1, ?8, ?8", r"\b4\b|1, ?1, ?8, ?8", r"(?i)dimension|sizes|rank|numbers|shape"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "a range that ends before it begins",
        ("compile", "outline.json", "--size", "photo=N,1,4,4", "--range", "N=8..1"),
        (
            r"N=8\.\.1|\b8\b.*\b1\b",
            r"(?i)N=1\.\.8|\b(first|begins?|last|ends?|smaller|larger|greater|less|above|below|order)\b",
        ),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "the option of another tool for where outputs go",
        ("run", "outline.json", "--input", "photo=photo.bin", "--out-dir", "results"),
        (r"--out-dir", r"--output-dir"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "a constant for an input that is spelt otherwise",
        ("compile", "outline.json", "--constant", "foto=photo.bin"),
        (r"\bfoto\b", r"\bphoto\b(?!\.bin)"),
        files=OUTLINE_AND_PHOTO,
    ),
    Command(
        "an ONNX model asked of the command that writes graphs",
        ("convert", "outline.json", "-o", "outline.onnx"),
        (r"\.onnx", r"\bcompile\b"),
        files=OUTLINE_AND_PHOTO,
    ),
)
