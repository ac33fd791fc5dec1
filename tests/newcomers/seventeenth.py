"""A seventeenth set of forty mistakes, most of them in networks of some nodes, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.networks import BYTES, DISPATCHED, GRAPH_OF_FOUR, MOBILE, SENTENCE, SPEECH, UNET
from tests.newcomers.sixth import PYDIRECTML

SEVENTEENTH_FILES = (
    # --- An inverted residual block ---
    Case(
        "a filter for each channel with the channels in the second dimension",
        edited(
            MOBILE,
            (
                '"deep.w": {"DataType": "FLOAT32", "Sizes": [32, 1, 3, 3],',
                '"deep.w": {"DataType": "FLOAT32", "Sizes": [1, 32, 3, 3],',
            ),
            ('"BiasTensor": "deep.b"},', '"BiasTensor": "deep.b"}, // <- here'),
        ),
        (r"FilterTensor", r"\[1, 32, 3, 3\]", r"(help|or): FilterTensor.*\[32, 1, 3, 3\]"),
    ),
    Case(
        "the step of a stem forgotten",
        edited(MOBILE, ('"Strides": [2, 2],', '"Strides": [1, 1],')),
        (r'"stem"', r"OutputTensor", r"(help|or): Strides \[2, 2\]"),
    ),
    Case(
        "pads of ONNX taken for pairs of beginning and end",
        edited(
            MOBILE,
            (
                '"StartPadding": [0, 0],\n        "EndPadding": [1, 1],',
                '"StartPadding": [0, 1],\n        "EndPadding": [0, 1],',
            ),
        ),
        (r'"stem"', r"OutputTensor", r"(help|or):.*(StartPadding|EndPadding) \[1, 1\]"),
    ),
    Case(
        "a residual that takes the wide tensor of the block",
        edited(
            MOBILE,
            (
                '"inputs": {"ATensor": "stem", "BTensor": "project"},',
                '"inputs": {"ATensor": "stem", "BTensor": "expand"}, // <- here',
            ),
        ),
        (r"\[1, 32, 16, 16\]", r"\[1, 16, 16, 16\]", r'(help|or|mean):?.*"project"'),
    ),
    Case(
        "a global pool with the window of another resolution",
        edited(MOBILE, ('"WindowSize": [16, 16],', '"WindowSize": [8, 8],')),
        (r'"mean"', r"(help|or): WindowSize \[16, 16\]"),
    ),
    Case(
        "features that are not flattened for the classifier",
        edited(
            MOBILE,
            ('        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 16]},\n', ""),
            ('"CTensor": "head.b"},', '"CTensor": "head.b"}, // <- here'),
        ),
        (r"ATensor", r"\[1, 16, 1, 1\]", r"(help|or): ATensor.*\[1, 1, 1, 16\]"),
    ),
    Case(
        "a batch of four for the input alone",
        edited(MOBILE, ('"Sizes": [1, 3, 32, 32]', '"Sizes": [4, 3, 32, 32]')),
        (r'"stem"', r"\b4\b", r"(help|or):.*(\[4, 16, 16, 16\]|\[1, 3, 32, 32\])"),
    ),
    # --- A U-Net ---
    Case(
        "scales of another enlargement",
        edited(UNET, ('"Scales": [1, 1, 2, 2]', '"Scales": [1, 1, 4, 4]')),
        (r'"up"', r"(help|or): Scales \[1, 1, 2, 2\]"),
    ),
    Case(
        "a skip connection from behind the pool",
        edited(
            UNET,
            ('"inputs": {"InputTensors": ["up", "encode"]},', '"inputs": {"InputTensors": ["up", "pool"]}, // <- here'),
        ),
        (r"InputTensors", r"\b16\b", r"\b32\b", r'(help|or|mean):?.*"encode"'),
    ),
    Case(
        "a joined tensor without the channels of the skip connection",
        edited(
            UNET,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 24, 32, 32]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]}, // <- here',
            ),
        ),
        (r"OutputTensor", r"\b16\b", r"\b24\b", r"(help|or): OutputTensor.*\[1, 24, 32, 32\]"),
    ),
    Case(
        "a last filter from before there was a skip connection",
        edited(
            UNET,
            ('"Sizes": [1, 24, 1, 1]', '"Sizes": [1, 16, 1, 1]'),
            ('"FilterTensor": "decode.w"},', '"FilterTensor": "decode.w"}, // <- here'),
        ),
        (r"FilterTensor", r"\b16\b", r"\b24\b", r"(help|or): FilterTensor.*\[1, 24, 1, 1\]"),
    ),
    # --- A transformer ---
    Case(
        "words of a table looked up along its width",
        edited(SENTENCE, ('"Axis": 2,', '"Axis": 3,')),
        (r'"embed"', r"(help|or): Axis 2"),
    ),
    Case(
        "tokens as fractions",
        edited(
            SENTENCE,
            ('"tokens": {"DataType": "UINT32",', '"tokens": {"DataType": "FLOAT32",'),
            ('"IndicesTensor": "tokens"},', '"IndicesTensor": "tokens"}, // <- here'),
        ),
        (r"IndicesTensor", r"FLOAT32", r"(help|or):.*U?INT32"),
    ),
    Case(
        "queries times keys that are not transposed",
        edited(SENTENCE, ('"TRANSPOSE"', '"NONE"')),
        (r'"scores"', r"\b64\b", r"\b16\b", r"(help|or): TransB TRANSPOSE"),
    ),
    Case(
        "the mean along the wrong dimension",
        edited(SENTENCE, ('"Axes": [2]', '"Axes": [1]')),
        (r'"mean"', r"OutputTensor", r"(help|or): Axes \[2\]"),
    ),
    Case(
        "a softmax that was copied with the sizes of its neighbour",
        edited(
            SENTENCE,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 16]}\n',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]} // <- here\n',
            ),
        ),
        (r"OutputTensor", r"\b64\b", r"\b16\b", r"(help|or): OutputTensor.*\[1, 1, 16, 16\]"),
    ),
    Case(
        "the factors of a product in each other's place",
        edited(
            SENTENCE,
            (
                '"inputs": {"ATensor": "weights", "BTensor": "words"},',
                '"inputs": {"ATensor": "words", "BTensor": "weights"}, // <- here',
            ),
        ),
        (r"ATensor", r"BTensor", r"\b64\b", r"\b16\b", r"(help|or):.*(swap|exchang|each other|the other way)"),
    ),
    # --- Bytes ---
    Case(
        "a scale of half the width",
        edited(BYTES, ('"w.s": {"DataType": "FLOAT32",', '"w.s": {"DataType": "FLOAT16",')),
        (r"FilterScaleTensor", r"FLOAT16", r"(help|or):.*FLOAT32"),
    ),
    Case(
        "a bias quantised like the filter",
        edited(BYTES, ('"b": {"DataType": "INT32",', '"b": {"DataType": "INT8",')),
        (r"BiasTensor", r"INT8", r"(help|or):.*INT32"),
    ),
    Case(
        "a zero point of the type of its scale",
        edited(BYTES, ('"x.z": {"DataType": "UINT8",', '"x.z": {"DataType": "FLOAT32",')),
        (r"InputZeroPointTensor", r"FLOAT32", r"(help|or):.*UINT8"),
    ),
    Case(
        "bytes dequantised to halves by a scale that is none",
        edited(
            BYTES,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
                '"OutputTensor": {"DataType": "FLOAT16", "Sizes": [1, 8, 16, 16]} // <- here',
            ),
        ),
        (
            r"OutputTensor",
            r"FLOAT16",
            r"(help|or):.*(OutputTensor.*FLOAT32|FLOAT32.*OutputTensor|ScaleTensor.*FLOAT16)",
        ),
    ),
    # --- A recurrent network ---
    Case(
        "steps and batch in each other's place",
        edited(SPEECH, ('"Sizes": [1, 20, 1, 40]', '"Sizes": [1, 1, 20, 40]')),
        (r"InputTensor", r"\[1, 1, 20, 40\]|\b20\b", r"(help|or): InputTensor.*\[1, 20, 1, 40\]"),
    ),
    Case(
        "a recurrence the other way round",
        edited(
            SPEECH,
            (
                '"r": {"DataType": "FLOAT32", "Sizes": [1, 1, 96, 32],',
                '"r": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 96],',
            ),
        ),
        (r"RecurrenceTensor", r"\b96\b", r"\b32\b", r"(help|or): RecurrenceTensor.*\[1, 1, 96, 32\]"),
    ),
    Case(
        "the best letter as a fraction",
        edited(
            SPEECH,
            (
                '"OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 20, 1]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 1]}, // <- here',
            ),
        ),
        (r"OutputTensor", r"FLOAT32", r"(help|or):.*UINT32"),
    ),
    Case(
        "the best frame of each letter",
        edited(SPEECH, ('"Axes": [3],', '"Axes": [2],')),
        (r'"best"', r"OutputTensor", r"(help|or): Axes \[3\]"),
    ),
    Case(
        "a first state as wide as the input",
        edited(
            SPEECH,
            (
                '"h": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 32],',
                '"h": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 40],',
            ),
        ),
        (r"HiddenInitTensor", r"\b40\b", r"\b32\b", r"(help|or): HiddenInitTensor.*\[1, 1, 1, 32\]"),
    ),
    # --- Graphs of C++ ---
    Case(
        "an output edge that was not moved to the node appended",
        edited(
            GRAPH_OF_FOUR,
            (
                '{"GraphOutputIndex": 0, "FromNodeIndex": 3, "FromNodeOutputIndex": 0}',
                '{"GraphOutputIndex": 0, "FromNodeIndex": 2, "FromNodeOutputIndex": 0}',
            ),
        ),
        (r'"pool"', r"OutputEdges|output edge|FromNodeIndex|output of the graph"),
        severity="warning",
    ),
    Case(
        "a filter with inputs before outputs",
        edited(
            GRAPH_OF_FOUR,
            (
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [8, 3, 3, 3]},',
                '"FilterTensor": {"$comment": "<- here", "DataType": "FLOAT32", "Sizes": [3, 8, 3, 3]},',
            ),
        ),
        (r"FilterTensor", r"\[3, 8, 3, 3\]", r"(help|or): FilterTensor.*\[8, 3, 3, 3\]"),
    ),
    Case(
        "a mean of as many channels as go into the convolution",
        edited(
            GRAPH_OF_FOUR,
            (
                '"MeanTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]},',
                '"MeanTensor": {"$comment": "<- here", "DataType": "FLOAT32", "Sizes": [1, 3, 1, 1]},',
            ),
        ),
        (r"MeanTensor", r"\b3\b", r"\b8\b", r"(help|or): MeanTensor.*\[1, 8, 1, 1\]"),
    ),
    Case(
        "a pool of halves behind a network of floats",
        edited(
            GRAPH_OF_FOUR,
            (
                '"AVERAGE_POOLING", "Desc": {\n      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},\n'
                '      "OutputTensor": {"DataType": "FLOAT32",',
                '"AVERAGE_POOLING", "Desc": {\n'
                '      "InputTensor": {"$comment": "<- here", "DataType": "FLOAT16", "Sizes": [1, 8, 16, 16]},\n'
                '      "OutputTensor": {"DataType": "FLOAT16",',
            ),
        ),
        (r"InputTensor", r'"?relu"?', r"FLOAT16", r"(help|or):.*(CAST|FLOAT32)"),
    ),
    Case(
        "no dilation as zero",
        edited(GRAPH_OF_FOUR, ('"Dilations": [1, 1],', '"Dilations": [0, 0], "$comment": "<- here",')),
        (r"Dilations", r"\[0, 0\]|\b0\b", r"(help|or):.*\[1, 1\]"),
    ),
    # --- DxDispatch ---
    Case(
        "no groups as zero",
        edited(DISPATCHED, ('"GroupCount": 1', '"GroupCount": 0 // <- here')),
        (r"GroupCount", r"\b0\b", r"(help|or): GroupCount 1"),
    ),
    Case(
        "weights that are not bound",
        edited(DISPATCHED, ('        "FilterTensor": "W",\n', "")),
        (r"FilterTensor", r'"W"'),
    ),
    Case(
        "a data type by the name of C in DxDispatch",
        edited(
            DISPATCHED,
            (
                '"InputTensor": {"DataType": "FLOAT32",',
                '"InputTensor": {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT", // <- here\n         ',
            ),
        ),
        (r"DataType", r"DML_TENSOR_DATA_TYPE_FLOAT\b", r"FLOAT32"),
    ),
)

SEVENTEENTH_PROGRAMS = (
    Case(
        "a picture of features times a matrix",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.gemm(x, np.ones((128, 10), np.float32))  # <- here
        """,
        (r"ATensor", r"BTensor", r"\[1, 8, 4, 4\]", r"\[1, 1, 1, 128\].*reinterpret"),
    ),
    Case(
        "a mean by its usual name",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.reduce(x, "MEAN", axes=[2, 3])  # <- here
        """,
        (r'"MEAN"', r"AVERAGE"),
    ),
    Case(
        "dimensions in another order as PyTorch has it",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.transpose(x, [0, 2, 3, 1])  # <- here
        """,
        (r"transpose", r"[Ss]trides|reinterpret"),
    ),
    Case(
        "rows taken without the number of dimensions of their indices",
        """\
        x = g.input("x", np.float32, [1, 1, 100, 16])
        y = g.gather(x, np.array([3, 1, 4], np.int32), axis=2)  # <- here
        """,
        (r"index_dimensions",),
    ),
)

SEVENTEENTH_COMMANDS = (
    Command(
        "tensors joined along their last axis in PyDirectML",
        ("pydirectml", "program.py"),
        (r"axis|Axis", r"-1", r"\b3\b", r"line 7"),
        PYDIRECTML + "y = dml.join([x, x], -1)\n",
    ),
    Command(
        "a filter of another layer in PyDirectML",
        ("pydirectml", "program.py"),
        (r"FilterTensor", r"\[8, 16, 3, 3\]", r"\b16\b", r"\[8, 1, 3, 3\]", r"line 8"),
        PYDIRECTML
        + "f = dml.input_tensor(graph, 2, dml.TensorDesc(dml.TensorDataType.FLOAT32, [8, 16, 3, 3]))\n"
        + "y = dml.convolution(x, f)\n",
    ),
)
