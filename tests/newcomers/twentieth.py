"""A twentieth set of forty mistakes, in networks and operators of their own, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.more_networks import (
    DECODER,
    DETECTOR,
    ENLARGER,
    GRAPH_OF_POOLS,
    JOINED,
    MAP,
    SMALL_NUMBERS,
    SOUND,
    TAGGER,
)
from tests.newcomers.sixth import PYDIRECTML

TWENTIETH_FILES = (
    # --- A picture made larger ---
    Case(
        "blocks of two for channels of three times three",
        edited(ENLARGER, ('"BlockSize": 3,', '"BlockSize": 2,')),
        (r'"shuffle"', r"\b72\b|\b9\b", r"(help|or): BlockSize 3"),
    ),
    Case(
        "filters of a network that enlarges twice, in one that enlarges three times",
        edited(
            ENLARGER,
            ('"second.w": {"DataType": "FLOAT32", "Sizes": [9,', '"second.w": {"DataType": "FLOAT32", "Sizes": [4,'),
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 9, 24, 24]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 24, 24]},',
            ),
        ),
        (r'"shuffle"', r"\b4\b", r"\b9\b|BlockSize", r"(help|or):.*(\[1, 9, 24, 24\]|BlockSize 2|\[9, 16, 3, 3\])"),
    ),
    Case(
        "the padding of a filter of three for one of five",
        edited(
            ENLARGER,
            (
                '"StartPadding": [2, 2],\n        "EndPadding": [2, 2],',
                '"StartPadding": [1, 1],\n        "EndPadding": [1, 1],',
            ),
        ),
        (r'"first"', r"\b24\b", r"\b22\b", r"(help|or):.*Padding \[2, 2\].*Padding \[2, 2\]"),
    ),
    Case(
        "depth taken from space where space is to be taken from depth",
        edited(ENLARGER, ('"type": "DEPTH_TO_SPACE1"', '"type": "SPACE_TO_DEPTH1"')),
        (r'"shuffle"', r"(help|or|mean):?.*DEPTH_TO_SPACE1?\b"),
    ),
    # --- Regions of a picture ---
    Case(
        "regions with their channels last",
        edited(
            DETECTOR,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [10, 64, 7, 7]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [10, 7, 7, 64]}, // <- here',
            ),
        ),
        (r'"align"', r"\b7\b", r"\b64\b", r"(help|or): OutputTensor.*\[10, 64, 7, 7\]"),
    ),
    Case(
        "one number of a picture for all of its regions",
        edited(
            DETECTOR,
            (
                '"pictures": {"DataType": "UINT32", "Sizes": [1, 1, 1, 10]}',
                '"pictures": {"DataType": "UINT32", "Sizes": [1, 1, 1, 1]}',
            ),
            ('"BatchIndicesTensor": "pictures"},', '"BatchIndicesTensor": "pictures"}, // <- here'),
        ),
        (r"BatchIndicesTensor", r"\b1\b", r"\b10\b", r"(help|or):.*(\[1, 1, 1, 10\]|Strides \[0, 0, 0, 0\])"),
    ),
    Case(
        "a softmax along channels that are not there, as PyTorch has classes in dimension 1",
        edited(DETECTOR, ('"Axes": [3]', '"Axes": [1] // <- here')),
        (r'"softmax"', r"Axes", r"\b1\b", r"(help|or): Axes \[3\]|\bone\b|always"),
        severity="warning",
    ),
    # --- A layer of a transformer ---
    Case(
        "the result of attention with its heads apart",
        edited(
            DECODER,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 64]},\n        "Scale"',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 4, 16]}, // <- here\n        "Scale"',
            ),
        ),
        (r"OutputTensor", r"\[1, 16, 4, 16\]|\b4\b", r"(help|or): OutputTensor.*\[1, 16, 64\]"),
    ),
    # --- A recurrent network in both directions ---
    Case(
        "the states of both directions behind each other, as PyTorch and Keras have them",
        edited(TAGGER, ('"Sizes": [12, 2, 2, 16]},', '"Sizes": [12, 1, 2, 32]}, // <- here')),
        (r"OutputSequenceTensor", r"\[12, 1, 2, 32\]|\b32\b", r"(help|or): OutputSequenceTensor.*\[12, 2, 2, 16\]"),
    ),
    Case(
        "activations of one direction where both run",
        edited(
            TAGGER,
            (
                ', {"type": "ACTIVATION_SIGMOID"}, {"type": "ACTIVATION_TANH"}, {"type": "ACTIVATION_TANH"}],',
                "], // <- here",
            ),
        ),
        (r"ActivationDescs", r"\b3\b", r"\b6\b", r"BIDIRECTIONAL"),
    ),
    Case(
        "the cells of one sentence for two",
        edited(
            TAGGER,
            (
                '"c": {"DataType": "FLOAT32", "Sizes": [1, 2, 2, 16]',
                '"c": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 16]',
            ),
            ('"SequenceLengthsTensor": "lengths"},', '"SequenceLengthsTensor": "lengths"}, // <- here'),
        ),
        (r"CellMemInitTensor", r"\[1, 2, 1, 16\]", r"(help|or): CellMemInitTensor.*\[1, 2, 2, 16\]"),
    ),
    Case(
        "lengths of sentences as signed numbers, as ONNX has them",
        edited(
            TAGGER,
            ('"lengths": {"DataType": "UINT32",', '"lengths": {"DataType": "INT32",'),
            ('"SequenceLengthsTensor": "lengths"},', '"SequenceLengthsTensor": "lengths"}, // <- here'),
        ),
        (r"SequenceLengthsTensor", r"\bINT32", r"(help|or):.*UINT32"),
    ),
    # --- Sound ---
    Case(
        "the padding of one end counted",
        edited(
            SOUND,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 416]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 408]}, // <- here',
            ),
        ),
        (r'"mirror"', r"OutputTensor", r"\b408\b", r"(help|or): OutputTensor.*\[1, 1, 1, 416\]"),
    ),
    Case(
        "the width's step before the height's",
        edited(SOUND, ('"Strides": [1, 16],', '"Strides": [16, 1],')),
        (r'"waves"', r"OutputTensor", r"(help|or): Strides \[1, 16\]"),
    ),
    Case(
        "a filter of one dimension down the columns",
        edited(
            SOUND,
            ('"Sizes": [16, 1, 1, 32], "fill": 1}', '"Sizes": [16, 1, 32, 1], "fill": 1} // <- here'),
        ),
        (r"FilterTensor", r"\[16, 1, 32, 1\]|\b32\b", r"(help|or): FilterTensor.*\[16, 1, 1, 32\]"),
    ),
    Case(
        "an exponent as a tensor for a power of one number",
        edited(
            SOUND,
            ('"waves.w": {', '"two": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 2},\n    "waves.w": {'),
            (
                '"inputs": {"InputTensor": "waves"},',
                '"inputs": {"InputTensor": "waves", "ExponentTensor": "two"}, // <- here',
            ),
        ),
        (r"ExponentTensor", r"ELEMENT_WISE_POW|Exponent\b"),
    ),
    Case(
        "a sum that goes forward, as recurrent networks do",
        edited(SOUND, ('"AxisDirection": "INCREASING",', '"AxisDirection": "FORWARD", // <- here')),
        (r"AxisDirection", r"FORWARD", r"INCREASING"),
    ),
    # --- A product of bytes ---
    Case(
        "a scale found out for each row",
        edited(
            SMALL_NUMBERS,
            (
                '"OutputScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]},',
                '"OutputScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 1]}, // <- here',
            ),
        ),
        (r"OutputScaleTensor", r"\[1, 1, 8, 1\]|\b8\b", r"(help|or): OutputScaleTensor.*\[1, 1, 1, 1\]"),
    ),
    Case(
        "sums of bytes scaled without being made fractions",
        edited(
            SMALL_NUMBERS,
            ('"OutputTensor": "sums"', '"OutputTensor": "reals"'),
            (
                """\
    {
      "name": "cast",
      "type": "CAST",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 32]}
      },
      "inputs": {"InputTensor": "sums"},
      "outputs": {"OutputTensor": "reals"}
    },
""",
                "",
            ),
            ('"BTensor": "s"},', '"BTensor": "s"}, // <- here'),
        ),
        (r"ATensor", r"INT32", r"FLOAT32", r"(help|or):.*CAST"),
    ),
    Case(
        "a scale of one element as large as what it scales",
        edited(
            SMALL_NUMBERS,
            (
                '"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 32], "Strides": [0, 0, 0, 0]},',
                '"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 32]}, // <- here',
            ),
        ),
        (r"BTensor", r'"s"|OutputScaleTensor', r"(help|or):.*Strides.*\[0, 0, 0, 0\]"),
    ),
    # --- A map of classes ---
    Case(
        "the classes of one-hot planes behind the picture, as numpy and PyTorch put them",
        edited(MAP, ('"Axis": 1', '"Axis": 3')),
        (r'"one of five"', r"OutputTensor", r"(help|or): Axis 1"),
    ),
    Case(
        "positions counted in whole numbers for fractions",
        edited(MAP, ('"ValueDataType": "FLOAT32",', '"ValueDataType": "INT32", // <- here')),
        (r"ValueDataType", r"\bINT32", r"(help|or): ValueDataType FLOAT32"),
    ),
    Case(
        "an enlargement that is bilinear",
        edited(MAP, ('"InterpolationMode": "LINEAR",', '"InterpolationMode": "BILINEAR", // <- here')),
        (r"InterpolationMode", r"BILINEAR", r"\bLINEAR"),
    ),
    # --- A graph of C++ ---
    Case(
        "both outputs of a pool counted as its first",
        edited(
            GRAPH_OF_POOLS,
            (
                '{"FromNodeIndex": 1, "FromNodeOutputIndex": 1, "ToNodeIndex": 2, "ToNodeInputIndex": 1}',
                '{"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 1}',
            ),
            (
                '"IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 12, 4, 4]},\n      "OutputTensor"',
                '"IndicesTensor": {"$comment": "<- here", "DataType": "UINT32", "Sizes": [1, 12, 4, 4]},\n'
                '      "OutputTensor"',
            ),
        ),
        (r"IndicesTensor", r"FLOAT32", r"UINT32", r"(help|or|mean):?.*(FromNodeOutputIndex 1|OutputIndicesTensor)"),
    ),
    Case(
        "the indices of a pool that are read and not written",
        edited(
            GRAPH_OF_POOLS,
            (
                '"OutputIndicesTensor": {"DataType": "UINT32", "Sizes": [1, 12, 4, 4]},',
                '"OutputIndicesTensor": null,',
            ),
        ),
        (r"OutputIndicesTensor|FromNodeOutputIndex", r'"pool"'),
    ),
    Case(
        "repeats of height and width",
        edited(GRAPH_OF_POOLS, ('"Repeats": [1, 1, 2, 2]', '"Repeats": [2, 2], "$comment": "<- here"')),
        (r"Repeats", r"\b2\b", r"\b4\b", r"(help|or): Repeats \[1, 1, 2, 2\]"),
    ),
    Case(
        "space put into depth that stays as deep",
        edited(
            GRAPH_OF_POOLS,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 8, 8]},\n      "BlockSize"',
                '"OutputTensor": {"$comment": "<- here", "DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},\n'
                '      "BlockSize"',
            ),
        ),
        (r'"focus"', r"OutputTensor", r"\b3\b", r"(help|or): OutputTensor.*\[1, 12, 8, 8\]"),
    ),
    # --- DxDispatch ---
    Case(
        "one resource for the tensors to be joined",
        edited(JOINED, ('"InputTensors": ["A", "B"],', '"InputTensors": "A", // <- here')),
        (r"InputTensors", r"\b(1|one)\b|\ba list\b|\[", r"\b(2|two)\b"),
    ),
    Case(
        "three tensors counted where two are joined",
        edited(JOINED, ('"InputCount": 2,', '"InputCount": 3, // <- here')),
        (r"InputCount", r"\b3\b", r"\b2\b", r"(help|or):.*\b2\b"),
    ),
    Case(
        "the dimensions of a padding counted without batch and channels",
        edited(JOINED, ('"DimensionCount": 4,', '"DimensionCount": 2, // <- here')),
        (r"DimensionCount", r"\b2\b", r"(help|or):.*\b4\b"),
    ),
)

TWENTIETH_PROGRAMS = (
    Case(
        "a lower bound alone",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.clip(x, 0)  # <- here
        """,
        (r"clip", r"\bmax\b"),
    ),
    Case(
        "a factor of PyTorch's shuffle of pixels",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.depth_to_space(x, upscale_factor=2)  # <- here
        """,
        (r"upscale_factor", r"block_size"),
    ),
    Case(
        "a cast to half as PyTorch has it",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.cast(x, "half")  # <- here
        """,
        (r'"half"', r"FLOAT16"),
    ),
    Case(
        "repeats of the last two dimensions",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.tile(x, [2, 2])  # <- here
        """,
        (r"[Rr]epeats", r"\b2\b", r"\b4\b", r"\[1, 1, 2, 2\]"),
    ),
    Case(
        "a value before its type, as numpy.full has them",
        """\
        y = g.fill_value_constant([1, 1, 4, 4], 1.0, "FLOAT32")  # <- here
        """,
        (r"value_data_type|ValueDataType|data type", r"FLOAT32"),
    ),
)

TWENTIETH_COMMANDS = (
    Command(
        "a product of a matrix and a smaller one in PyDirectML",
        ("pydirectml", "program.py"),
        (r"ATensor|BTensor", r"\b4\b", r"\b3\b", r"line 7"),
        PYDIRECTML + "y = dml.gemm(x, w)\n",
    ),
    Command(
        "a graph of PyDirectML built for an expression that is not in a list",
        ("pydirectml", "program.py"),
        (r"list|sequence|\[", r"outputs|Expression", r"line 8"),
        PYDIRECTML + "y = dml.activation_relu(x)\nmodel = graph.build(dml.ExecutionFlags.NONE, y)\n",
    ),
    Command(
        "a slice of PyDirectML without its steps",
        ("pydirectml", "program.py"),
        (r"strides", r"line 7"),
        PYDIRECTML + "y = dml.slice(x, [0, 0, 0, 0], [1, 1, 2, 2])\n",
    ),
    Command(
        "a factor of PyDirectML's upsampling as a number",
        ("pydirectml", "program.py"),
        (r"Size2D", r"line 7"),
        PYDIRECTML + "y = dml.up_sample_2d(x, 2, dml.InterpolationMode.NEAREST_NEIGHBOR)\n",
    ),
    Command(
        "a picture of PyDirectML without batch and channels",
        ("pydirectml", "program.py"),
        (r"input", r"\[4, 4\]", r"\b4 or 5\b", r"line 8"),
        PYDIRECTML
        + "p = dml.input_tensor(graph, 2, dml.TensorDesc(dml.TensorDataType.FLOAT32, [4, 4]))\n"
        + "y = dml.convolution(p, w)\n",
    ),
)
