"""Mistakes over many operators, edges, files, calls and options, written before answers were read.

They were forty; four turned out to be none: DirectML takes convolutions of three dimensions, and outputs that are
larger than their windows make them, and ``build`` takes a list.
"""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

LSTM = """\
      "type": "LSTM",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [6, 1, 2, 16]},
        "ActivationDescs": [
          {"type": "ACTIVATION_SIGMOID"}, {"type": "ACTIVATION_TANH"}, {"type": "ACTIVATION_TANH"}
        ],
        "Direction": "FORWARD",
        "ClipThreshold": 0, "UseClipThreshold": false, "CoupleInputForget": false
      },
      "inputs": {
        "InputTensor": "x",
        "WeightTensor": "w",
        "RecurrenceTensor": "r"
      },
      "outputs": {"OutputSequenceTensor": "y"}"""
LSTM_WEIGHTS = """
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 10], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 16], "fill": 0.1}
  """
QUANTISED = """\
      "type": "QUANTIZED_LINEAR_CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 8, 8, 8]},
        "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1],
        "GroupCount": 1
      },
      "inputs": {
        "InputTensor": "x", "InputScaleTensor": "s", "InputZeroPointTensor": "z",
        "FilterTensor": "w",
        "FilterScaleTensor": "ws",
        "BiasTensor": "b",
        "OutputScaleTensor": "s", "OutputZeroPointTensor": "z"
      },
      "outputs": {"OutputTensor": "y"}"""
BYTES = '    "x": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]}'


def quantised(scale: str, bias: str) -> str:
    """The constants of a quantised convolution."""
    return f"""
    "s": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1}},
    "z": {{"DataType": "UINT8", "Sizes": [1, 1, 1, 1], "fill": 128}},
    "w": {{"DataType": "INT8", "Sizes": [8, 4, 3, 3], "fill": 1}},
    "ws": {{"DataType": "FLOAT32", "Sizes": {scale}, "fill": 0.1}},
    "b": {{"DataType": "{bias}", "Sizes": [1, 8, 1, 1], "fill": 1}}
  """


STATES = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "rnn", "Desc": {"Operator": {"Type": "LSTM", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]},
      "WeightTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 10]},
      "RecurrenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 16]},
      "BiasTensor": null,
      "HiddenInitTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 16]},
      "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [6, 1, 2, 16]},
      "ActivationDescs": [
        {"Type": "ACTIVATION_SIGMOID"}, {"Type": "ACTIVATION_TANH"}, {"Type": "ACTIVATION_TANH"}
      ],
      "Direction": "FORWARD",
      "ClipThreshold": 0, "UseClipThreshold": false, "CoupleInputForget": false
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 2, "ToNodeIndex": 0, "ToNodeInputIndex": 2},
    {"GraphInputIndex": 3, "ToNodeIndex": 0, "ToNodeInputIndex": 3, "$comment": "<- here"}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 0, "FromNodeOutputIndex": 0}
  ]
}
"""
"""An edge whose index does not count the optional tensor that is left out."""

NINTH_FILES = (
    # --- Quantised ---
    Case(
        "a bias of fractions in a quantised convolution",
        graph(BYTES, edited(QUANTISED, ('"b",', '"b", // <- here')), quantised("[1, 1, 1, 1]", "FLOAT32")),
        (r"BiasTensor", r"FLOAT32", r"INT32", r"help:"),
    ),
    Case(
        "scales for each filter along the filters' own dimension",
        graph(BYTES, edited(QUANTISED, ('"ws",', '"ws", // <- here')), quantised("[8, 1, 1, 1]", "INT32")),
        (r"FilterScaleTensor", r"\[8, 1, 1, 1\]", r"help:.*\[1, 8, 1, 1\]"),
    ),
    Case(
        "fractions as the result of a product of bytes",
        graph(
            '    "a": {"DataType": "UINT8", "Sizes": [1, 1, 4, 8]}, "b": {"DataType": "UINT8", "Sizes": [1, 1, 8, 4]}',
            """\
      "type": "MATRIX_MULTIPLY_INTEGER",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]} // <- here
      },
      "inputs": {"ATensor": "a", "BTensor": "b"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"FLOAT32", r"help:.*INT32"),
    ),
    # --- Recurrent ---
    Case(
        "the batch before the steps, as batch_first of PyTorch",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 2, 6, 10]} // <- there',
            LSTM,
            LSTM_WEIGHTS,
        ),
        (r"InputTensor", r"OutputSequenceTensor", r"help:.*\[1, 6, 2, 10\]|help:.*batch.*step|help:.*step.*batch"),
    ),
    Case(
        "both directions with the weights of one",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]}',
            edited(LSTM, ('"Direction": "FORWARD"', '"Direction": "BIDIRECTIONAL"')),
            LSTM_WEIGHTS,
        ),
        (r"BIDIRECTIONAL", r"help:.*Direction.*FORWARD"),
    ),
    Case(
        "one activation for both functions of a GRU",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 6, 2, 10]}',
            """\
      "type": "GRU",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [6, 1, 2, 16]},
        "ActivationDescs": [{"type": "ACTIVATION_SIGMOID"}], // <- here
        "Direction": "FORWARD",
        "LinearBeforeReset": true
      },
      "inputs": {"InputTensor": "x", "WeightTensor": "w", "RecurrenceTensor": "r"},
      "outputs": {"OutputSequenceTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 48, 10], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 48, 16], "fill": 0.1}
  """,
        ),
        (r"ActivationDescs?", r"\b2\b", r"\b1\b", r"help:.*TANH"),
    ),
    Case(
        "an edge that does not count the tensor left out",
        STATES,
        (r"BiasTensor", r"HiddenInitTensor", r"ToNodeInputIndex.*\b4\b"),
        fixed=True,
    ),
    # --- Regions, resampling, rearranging ---
    Case(
        "regions with the picture's number before them, as torchvision has them",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]},
    "rois": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 5]},
    "n": {"DataType": "UINT32", "Sizes": [1, 1, 1, 20]}""",
            """\
      "type": "ROI_ALIGN",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [20, 4, 7, 7]},
        "ReductionFunction": "AVERAGE",
        "InterpolationMode": "LINEAR",
        "SpatialScaleX": 0.25, "SpatialScaleY": 0.25,
        "OutOfBoundsInputValue": 0, "MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 4
      },
      "inputs": {
        "InputTensor": "x",
        "ROITensor": "rois", // <- here
        "BatchIndicesTensor": "n"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"ROITensor", r"\b5\b", r"help:.*\[1, 1, 20, 4\]", r"help:.*BatchIndicesTensor"),
    ),
    Case(
        "numbers of pictures as fractions",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]},
    "rois": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 4]},
    "n": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 20]}""",
            """\
      "type": "ROI_ALIGN",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [20, 4, 7, 7]},
        "ReductionFunction": "AVERAGE",
        "InterpolationMode": "LINEAR",
        "SpatialScaleX": 0.25, "SpatialScaleY": 0.25,
        "OutOfBoundsInputValue": 0, "MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 4
      },
      "inputs": {
        "InputTensor": "x",
        "ROITensor": "rois",
        "BatchIndicesTensor": "n" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"BatchIndicesTensor", r"FLOAT32", r"help:.*(UINT32|CAST)"),
    ),
    Case(
        "scales the other way round",
        graph(
            PICTURE,
            """\
      "type": "RESAMPLE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 16, 16]},
        "InterpolationMode": "LINEAR",
        "Scales": [1, 1, 0.5, 0.5], // <- here
        "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
        "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Scales", r"\[1, 1, 2, 2\]"),
        severity="warning",
    ),
    Case(
        "a block of as many elements as it has",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 12, 32, 32]}',
            """\
      "type": "DEPTH_TO_SPACE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 64, 64]},
        "BlockSize": 4, // <- here
        "Order": "COLUMN_ROW_DEPTH"
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"BlockSize", r"\b4\b", r"help:.*BlockSize:? (to )?2\b"),
    ),
    Case(
        "more elements asked for than the outputs have",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 100]}',
            """\
      "type": "TOP_K1",
      "desc": {
        "OutputValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5]},
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [1, 1, 4, 5]},
        "Axis": 3,
        "K": 10, // <- here
        "AxisDirection": "DECREASING"
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputValueTensor": "y"}""",
        ),
        (r"\bK\b", r"\b10\b", r"help:.*\bK:? (to )?5\b"),
    ),
    Case(
        "rows of a table along the wrong axis",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 1000, 64]},
    "i": {"DataType": "UINT32", "Sizes": [1, 1, 1, 10]}""",
            """\
      "type": "GATHER",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 10, 64]},
        "Axis": 3, // <- here
        "IndexDimensions": 1
      },
      "inputs": {"InputTensor": "x", "IndicesTensor": "i"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Axis", r"\b3\b", r"help:.*Axis:? (to )?2\b"),
    ),
    # --- Normalisation, convolution, pooling ---
    Case(
        "statistics with the channels last",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
            """\
      "type": "BATCH_NORMALIZATION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
        "Spatial": true,
        "Epsilon": 1e-5
      },
      "inputs": {
        "InputTensor": "x",
        "MeanTensor": "m",
        "VarianceTensor": "m",
        "ScaleTensor": "m",
        "BiasTensor": "m"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "m": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 8], "fill": 0.1}
  """,
        ),
        (r"MeanTensor", r"VarianceTensor", r"ScaleTensor", r"BiasTensor", r"help:.*\[1, 8, 1, 1\]"),
    ),
    Case(
        "an activation in a pool",
        graph(
            PICTURE,
            """\
      "type": "MAX_POOLING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 4]},
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0],
        "FusedActivation": {"type": "ACTIVATION_RELU"} // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"FusedActivation", r"MAX_POOLING", r"help:.*ACTIVATION_RELU"),
    ),
    # --- Strides, types, levels ---
    Case(
        "strides of a picture of three channels for four",
        graph(
            PICTURE,
            """\
      "type": "ACTIVATION_RELU",
      "desc": {
        "OutputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 4, 8, 8],
          "Strides": [192, 1, 24, 3] // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"share memory|overlap", r"help:.*\[256, 1, 32, 4\]"),
    ),
    Case(
        "a size in bytes that is not rounded up",
        graph(
            '    "x": {"DataType": "FLOAT16", "Sizes": [3]}',
            """\
      "type": "ACTIVATION_RELU",
      "desc": {
        "InputTensor": {
          "DataType": "FLOAT16",
          "Sizes": [3],
          "TotalTensorSizeInBytes": 6 // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"TotalTensorSizeInBytes", r"\b6\b", r"\b8\b", r"\b4\b"),
        fixed=True,
    ),
    Case(
        "truth as fractions",
        graph(
            PICTURE,
            """\
      "type": "ELEMENT_WISE_LOGICAL_GREATER_THAN",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]} // <- here
      },
      "inputs": {"ATensor": "x", "BTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"FLOAT32", r"help:.*UINT8"),
    ),
    # --- Graphs of C++ and of DxDispatch ---
    Case(
        "an edge from its end to its beginning",
        edited(
            GRAPH,
            (
                '{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}',
                '{"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, '
                '"$comment": "<- here"}',
            ),
        ),
        (r"help:.*FromNodeIndex.*\b0\b", r"help:.*ToNodeIndex.*\b1\b"),
    ),
    Case(
        "values without their type",
        changed(
            (
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},',
                '"A": {"initialValues": {"valueCount": 16, "value": 1}}, // <- here',
            )
        ),
        (r"initialValuesDataType", r'help:.*"?FLOAT32"?'),
    ),
)

NINTH_PROGRAMS = (
    Case(
        "a transposition as true",
        """\
        a = g.input("a", np.float32, [1, 1, 4, 8])
        b = g.input("b", np.float32, [1, 1, 6, 8])
        y = g.gemm(a, b, trans_b=True)  # <- here
        """,
        (r"TransB", r"true", r'did you mean "TRANSPOSE"'),
    ),
    Case(
        "a number of parts where their sizes are meant",
        """\
        x = g.input("x", np.float32, [1, 6, 8, 8])
        y = g.split(x, 1, 2)  # <- here
        """,
        (r"output_axis_sizes", r"\[3, 3\]"),
    ),
    Case(
        "a sum as numpy has it",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = x.sum(axis=1)  # <- here
        """,
        (r"\breduce\(.*SUM",),
    ),
    Case(
        "a flattened tensor",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = x.flatten(1)  # <- here
        """,
        (r"reinterpret", r"192"),
    ),
    Case(
        "a data type by the name of C",
        """\
        x = g.input("x", "float", [1, 3, 8, 8])  # <- here
        """,
        (r"float\b", r"FLOAT32"),
    ),
    Case(
        "a padding mode as numpy has it",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.padding(x, "REFLECT", 0, [0, 0, 1, 1], [0, 0, 1, 1])  # <- here
        """,
        (r"PaddingMode", r'did you mean "REFLECTION"'),
    ),
    Case(
        "one-hot rows by their depth",
        """\
        labels = g.input("labels", np.uint32, [1, 1, 8, 1])
        y = g.one_hot(labels, depth=10)  # <- here
        """,
        (r"depth", r"output_length"),
    ),
    Case(
        "a window of two dimensions",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.slice(x, [2, 2], [4, 4], [1, 1])  # <- here
        """,
        (r"InputWindowOffsets", r"\b2\b", r"\[0, 0, 2, 2\]"),
    ),
)

PRODUCT = """\
import numpy as np
import pydirectml as dml

FLOAT32 = dml.TensorDataType.FLOAT32
graph = dml.GraphBuilder(dml.Device())
x = dml.input_tensor(graph, 0, dml.TensorDesc(FLOAT32, [1, 1, 4, 8]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(FLOAT32, [1, 1, 6, 8]))
y = dml.gemm(x, w)
"""
BOUND = """\
import numpy as np
import pydirectml as dml

FLOAT32 = dml.TensorDataType.FLOAT32
device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(FLOAT32, [1, 1, 4, 4]))
y = dml.activation_relu(x)
model = graph.build(dml.ExecutionFlags.NONE, [y])
device.compute(model, [dml.Binding(x, np.zeros((1, 1, 4, 3), np.float32))], [y])
"""

NINTH_COMMANDS = (
    Command(
        "another weight of PyTorch in PyDirectML",
        ("pydirectml", "program.py"),
        (r"program\.py:8|program\.py\", line 8", r"BTensor", r"TransB.*TRANSPOSE|trans_b.*TRANSPOSE"),
        program=PRODUCT,
    ),
    Command(
        "a binding of too few elements",
        ("pydirectml", "program.py"),
        (r"program\.py:10|program\.py\", line 10", r"\b48\b.*\b64\b|\b64\b.*\b48\b|\b12\b.*\b16\b|\b16\b.*\b12\b"),
        program=BOUND,
    ),
    Command(
        "weights in the place of their partition",
        ("compile", "dense.bin"),
        (r"dense\.bin", r"Partition_0\.bin"),
        before=(("convert", "net.json", "-o", "Partition_0.bin"),),
    ),
    Command(
        "a model to compare with that is no ONNX model",
        ("verify", "net.json", "--against", "net.json"),
        (r"--against", r"net\.json", r"ONNX", r"JSON"),
    ),
    Command(
        "a tolerance of one's own",
        ("verify", "net.json", "--tolerance", "1e-3"),
        (r"--tolerance", r"reference|bound"),
    ),
    Command("sizes with crosses", ("compile", "net.json", "--size", "image=1x3x64x64"), (r"image=1,3,64,64",)),
    Command(
        "contents for what is a constant already",
        ("compile", "net.json", "--constant", "filter=image.npy"),
        (r'"?filter"?', r"constant already|already a constant|is a constant"),
    ),
    Command("an operator as Keras names it", ("explain", "Conv2D"), (r"did you mean.*CONVOLUTION",)),
)
