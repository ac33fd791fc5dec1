"""A sixteenth set of twenty mistakes over all ways in, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.files import NETWORK
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

SIXTEENTH_FILES = (
    Case(
        "indices of an unpooling as large as its output",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 4]},
    "i": {"DataType": "UINT32", "Sizes": [1, 4, 8, 8]}""",
            """\
      "type": "MAX_UNPOOLING",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}},
      "inputs": {
        "InputTensor": "x",
        "IndicesTensor": "i" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"IndicesTensor", r"\[1, 4, 8, 8\]", r"(help|or): IndicesTensor of sizes \[1, 4, 4, 4\]"),
    ),
    Case(
        "an LP pool of a larger step whose output was not halved in one dimension",
        graph(
            PICTURE,
            """\
      "type": "LP_POOLING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 8]}, // <- here
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"\b8\b", r"(help|or):.*(\[1, 4, 4, 4\]|Strides \[2, 1\])"),
    ),
    Case(
        "indices of gathered elements of one dimension less",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 8]},
    "i": {"DataType": "INT32", "Sizes": [6, 2]}""",
            """\
      "type": "GATHER_ELEMENTS",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 2]},
        "Axis": 3
      },
      "inputs": {
        "InputTensor": "x",
        "IndicesTensor": "i" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"IndicesTensor", r"\b2\b", r"\b4\b", r"(help|or): IndicesTensor of sizes \[1, 1, 6, 2\]"),
    ),
    Case(
        "a convolution of a volume with the window of a picture",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 2, 8, 16, 16]}',
            """\
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 16, 16]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
        "Strides": [1, 1], // <- here
        "Dilations": [1, 1, 1],
        "StartPadding": [1, 1, 1], "EndPadding": [1, 1, 1], "OutputPadding": [0, 0, 0],
        "GroupCount": 1
      },
      "inputs": {"InputTensor": "x", "FilterTensor": "w"},
      "outputs": {"OutputTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [4, 2, 3, 3, 3], "fill": 0.1}
  """,
        ),
        (r"Strides", r"\b2\b", r"\b3\b", r"(help|or):.*\[1, 1, 1\]"),
    ),
    Case(
        "dequantised bytes called bytes",
        graph(
            '    "x": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]}',
            """\
      "type": "ELEMENT_WISE_DEQUANTIZE_LINEAR",
      "desc": {
        "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]} // <- here
      },
      "inputs": {"InputTensor": "x", "ScaleTensor": "s", "ZeroPointTensor": "z"},
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},
    "z": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1], "fill": 128}
  """,
        ),
        (r"OutputTensor", r"UINT8", r"help:.*FLOAT32", r"help: ScaleTensor, ZeroPointTensor repeated.*\[0, 0, 0, 0\]"),
        findings=2,  # scales of one element are another mistake
    ),
    Case(
        "bits shifted by signed numbers",
        graph(
            """\
    "x": {"DataType": "UINT32", "Sizes": [1, 1, 1, 8]},
    "n": {"DataType": "INT32", "Sizes": [1, 1, 1, 8]}""",
            """\
      "type": "ELEMENT_WISE_BIT_SHIFT_LEFT",
      "desc": {"OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 8]}},
      "inputs": {
        "ATensor": "x",
        "BTensor": "n" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"BTensor", r"INT32", r"help:.*UINT32"),
    ),
    Case(
        "a batch normalisation in training whose statistics have the sizes of the picture",
        graph(
            PICTURE,
            """\
      "type": "BATCH_NORMALIZATION_TRAINING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
        "OutputMeanTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}, // <- here
        "OutputVarianceTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1]},
        "Epsilon": 1e-5
      },
      "inputs": {"InputTensor": "x", "ScaleTensor": "s", "BiasTensor": "b"},
      "outputs": {"OutputTensor": "y", "OutputMeanTensor": "m", "OutputVarianceTensor": "v"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 1},
    "b": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 0}
  """,
        ).replace('"outputs": ["y"]', '"outputs": ["y", "m", "v"]'),
        (r"OutputMeanTensor", r"(help|or): OutputMeanTensor of sizes \[1, 4, 1, 1\]"),
    ),
    Case(
        "an identity matrix without its value",
        graph(
            "",
            """\
      "type": "DIAGONAL_MATRIX",
      "desc": { // <- here
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
        "Offset": 0
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"\bValue\b", r"missing", r"number"),
    ),
    Case(
        "a stage that was left out, and its output is still read",
        edited(
            NETWORK,
            (
                """\
      "inputs": {"InputTensor": "features"},
      "outputs": {"OutputTensor": "pooled"}""",
                """\
      "inputs": {"InputTensor": "normalized"}, // <- here
      "outputs": {"OutputTensor": "pooled"}""",
            ),
        ),
        (r'"normalized"', r'"features"'),
    ),
    Case(
        "a window as one number",
        edited(
            NETWORK,
            (
                '"WindowSize": [2, 2],',
                '"WindowSize": 2, // <- here',
            ),
        ),
        (r"WindowSize", r"(help|or):.*\[2, 2\]"),
        fixed=True,
    ),
    # --- Graphs of C++ ---
    Case(
        "a graph whose sum has the sizes of another network",
        edited(
            GRAPH,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}\n'
                '    }}}},\n    {"Type": "OPERATOR", "Name": "relu"',
                '"OutputTensor": {"$comment": "<- there", "DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]}\n'
                '    }}}},\n    {"Type": "OPERATOR", "Name": "relu"',
            ),
        ),
        (r"OutputTensor", r"\[1, 3, 16, 16\]", r"(help|or): OutputTensor.*\[1, 3, 8, 8\]"),
    ),
    Case(
        "a name of an enumerator with its namespace",
        edited(
            GRAPH,
            (
                '"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}',
                '"BTensor": {"$comment": "<- here", "DataType": "dml::TensorDataType::Float32", "Sizes": [1, 3, 8, 8]}',
            ),
        ),
        (r"DataType", r'did you mean "FLOAT32"'),
        fixed=True,
    ),
    # --- DxDispatch ---
    Case(
        "a file of values that is not there",
        changed(
            (
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},',
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "a.npy"}}, // <- here',
            ),
        ),
        (r"a\.npy", r"[Nn]o such file|not there|does not exist|no file|not found"),
    ),
    Case(
        "a dispatch by the operator in the place of its name",
        changed(('"dispatchable": "add",', '"dispatchable": "DML_OPERATOR_ELEMENT_WISE_ADD", // <- here')),
        (r'"DML_OPERATOR_ELEMENT_WISE_ADD"', r'"add"'),
    ),
)

SIXTEENTH_PROGRAMS = (
    Case(
        "a window of one dimension for a picture",
        """\
        x = g.input("x", np.float32, [1, 8, 16, 16])
        y = g.average_pooling(x, window_sizes=[2], strides=[2])  # <- here
        """,
        (r"window_sizes|WindowSize|\bstrides\b", r"\[2, 2\]|2 dimensions"),
    ),
    Case(
        "a residual of other channels",
        """\
        x = g.input("x", np.float32, [1, 8, 16, 16])
        y = g.convolution(x, np.ones((16, 8, 3, 3), np.float32), start_padding=[1, 1], end_padding=[1, 1])
        z = x + y  # <- here
        """,
        (r"\[1, 8, 16, 16\]", r"\[1, 16, 16, 16\]"),
    ),
    Case(
        "rows gathered by a list",
        """\
        x = g.input("x", np.float32, [1, 1, 100, 16])
        y = g.gather(x, [3, 1, 4], axis=2, index_dimensions=1)  # <- here
        """,
        (r"IndicesTensor", r"\[3, 1, 4\]", r"numpy\.array"),
    ),
)

SIXTEENTH_COMMANDS = (
    Command(
        "an archive of arrays that is not there",
        ("run", "net.json", "--input", "image=bytes.npz"),
        (r"bytes\.npz", r"[Nn]o such file|not there|does not exist|no file|not found|did you mean"),
    ),
    Command(
        "a code to be hidden that there is not",
        ("check", "net.json", "--ignore", "DML99"),
        (r"DML99", r"no (finding|code)|explain|such"),
    ),
    Command(
        "a feature level as a version of DirectML",
        ("check", "net.json", "--feature-level", "1.8"),
        (r"1\.8", r"--directml 1\.8|--directml"),
    ),
)
