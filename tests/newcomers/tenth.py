"""Ten mistakes of other kinds than those of the ninth set, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command
from tests.newcomers.eighth import PICTURE
from tests.newcomers.sixth import changed, graph

TENTH_FILES = (
    Case(
        "gamma of a layer normalisation along the last dimension alone",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]}',
            """\
      "type": "MEAN_VARIANCE_NORMALIZATION1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]},
        "Axes": [3],
        "NormalizeVariance": true,
        "Epsilon": 1e-5
      },
      "inputs": {
        "InputTensor": "x",
        "ScaleTensor": "g", // <- here
        "BiasTensor": "b"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "g": {"DataType": "FLOAT32", "Sizes": [64], "fill": 1},
    "b": {"DataType": "FLOAT32", "Sizes": [64], "fill": 0}
  """,
        ),
        (r"ScaleTensor", r"BiasTensor", r"help:.*(\[1, 1, 1, 64\]|Strides \[0, 0, 0, 1\])"),
    ),
    Case(
        "updates of a scatter as long as what they are put into",
        graph(
            """\
    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]},
    "i": {"DataType": "UINT32", "Sizes": [1, 1, 2, 8]},
    "u": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]}""",
            """\
      "type": "SCATTER",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]}, "Axis": 2},
      "inputs": {
        "InputTensor": "x",
        "IndicesTensor": "i",
        "UpdatesTensor": "u" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"UpdatesTensor", r"IndicesTensor", r"(help|or): UpdatesTensor of sizes \[1, 1, 2, 8\]"),
    ),
    Case(
        "parts of a split that leave a rest",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 10, 8, 8]}',
            """\
      "type": "SPLIT",
      "desc": {
        "OutputTensors": [
          {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
          {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}
        ],
        "Axis": 1
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensors": ["y", "z"]}""",
        ).replace('"outputs": ["y"]', '"outputs": ["y", "z"]'),
        (r"OutputTensors", r"\b8\b", r"\b10\b"),
    ),
    Case(
        "the mean of rows with the axis of columns",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]}',
            """\
      "type": "REDUCE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 1]},
        "Function": "AVERAGE",
        "Axes": [2] // <- there
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"help:.*Axes \[3\]"),
    ),
    Case(
        "keys and values of a decoder in each other's layout",
        graph(
            """\
    "q": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
    "k": {"DataType": "FLOAT32", "Sizes": [2, 64, 12]}, // <- there
    "v": {"DataType": "FLOAT32", "Sizes": [2, 12, 64]}""",
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
        "Scale": 0.125, "MaskFilterValue": -10000, "HeadCount": 8, "MaskType": "NONE"
      },
      "inputs": {
        "QueryTensor": "q",
        "KeyTensor": "k",
        "ValueTensor": "v"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"KeyTensor", r"help:.*KeyTensor.*\[2, 12, 64\]"),
    ),
    Case(
        "two letters of a data type in the other order",
        graph(
            PICTURE.replace("FLOAT32", "FLAOT32").replace("]}", "]} // <- here"),
            """\
      "type": "ACTIVATION_RELU",
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"FLAOT32", r'did you mean "FLOAT32"'),
        fixed=True,
    ),
    Case(
        "a tensor that is bound and that the operator does not have",
        changed(('"BTensor": "B",', '"BTensor": "B", "CTensor": "B", // <- here')),
        (r"CTensor", r"ELEMENT_WISE_ADD|\"add\"", r"ATensor"),
    ),
)

TENTH_PROGRAMS = (
    Case(
        "a product of pictures for one of matrices",
        """\
        a = g.input("a", np.float32, [1, 1, 4, 8])
        b = g.input("b", np.float32, [1, 1, 8, 4])
        y = a * b  # <- here
        """,
        (r"\[1, 1, 4, 8\]", r"\[1, 1, 8, 4\]", r"@|gemm"),
    ),
    Case(
        "an axis that the tensor does not have",
        """\
        x = g.input("x", np.float32, [2, 8])
        y = g.reduce(x, "SUM", [2])  # <- here
        """,
        (r"\b2\b", r"Axes|axes", r"0.*1"),
    ),
)

TENTH_COMMANDS = (
    Command(
        "a size that follows from another",
        ("compile", "net.json", "--size", "image=1,3,33,33,1"),
        (r"image", r"\b5\b", r"\b4\b"),
    ),
)
