"""Twelve more mistakes, of other operators and options than the sets before, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.files import NETWORK
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

THIRTEENTH_FILES = (
    Case(
        "channels of a picture cut into blocks that they do not fill",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}',
            """\
      "type": "DEPTH_TO_SPACE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 4, 4]},
        "BlockSize": 2, "Order": "DEPTH_COLUMN_ROW"
      },
      "inputs": {
        "InputTensor": "x" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"InputTensor", r"BlockSize", r"SPACE_TO_DEPTH"),
    ),
    Case(
        "matrices of a batch of which one batch is smaller",
        graph(
            """\
    "a": {"DataType": "FLOAT32", "Sizes": [4, 8, 16, 32]},
    "b": {"DataType": "FLOAT32", "Sizes": [4, 1, 32, 16]}""",
            """\
      "type": "GEMM",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4, 8, 16, 16]},
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0
      },
      "inputs": {
        "ATensor": "a",
        "BTensor": "b" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"BTensor", r"help:.*Strides \[512, 0, 16, 1\]"),
    ),
    Case(
        "a mean over the channels that is written without them",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
            """\
      "type": "REDUCE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 16]}, // <- here
        "Function": "AVERAGE",
        "Axes": [1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"(help|or):.*\[1, 1, 16, 16\]"),
    ),
    Case(
        "the last part of a slice beyond the end",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 10, 10]}',
            """\
      "type": "SLICE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 10]},
        "InputWindowOffsets": [0, 0, 8, 0], // <- here
        "InputWindowSizes": [1, 1, 4, 10],
        "InputWindowStrides": [1, 1, 1, 1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"InputWindow(Offsets|Sizes)", r"\b12\b", r"\b10\b", r"(help|or):.*InputWindowOffsets \[0, 0, 6, 0\]"),
    ),
    Case(
        "an exclusive sum by the name of ONNX",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}',
            """\
      "type": "CUMULATIVE_SUMMATION",
      "desc": {
        "Axis": 3, "AxisDirection": "INCREASING",
        "exclusive": true // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r'"?exclusive"?', r'did you mean "HasExclusiveSum"'),
    ),
    Case(
        "rows of an embedding looked up with indices for each element",
        graph(
            """\
    "table": {"DataType": "FLOAT32", "Sizes": [1, 1, 100, 16]},
    "i": {"DataType": "UINT32", "Sizes": [1, 1, 1, 7]}""",
            """\
      "type": "GATHER",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 7]}, // <- here
        "Axis": 2, "IndexDimensions": 1
      },
      "inputs": {"InputTensor": "table", "IndicesTensor": "i"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"(help|or):.*OutputTensor of sizes \[1, 1, 7, 16\]"),
    ),
    Case(
        "a slope for each channel along the last dimension",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
            """\
      "type": "ACTIVATION_PARAMETERIZED_RELU",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}},
      "inputs": {
        "InputTensor": "x",
        "SlopeTensor": "s" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 8], "fill": 0.25}
  """,
        ),
        (r"SlopeTensor", r"(help|or):.*(Strides \[0, 1, 0, 0\]|\[1, 8, 1, 1\])"),
    ),
    Case(
        "a constant that is read from a number of bytes more than it has",
        edited(
            NETWORK,
            (
                '"dense": {"DataType": "FLOAT32", "Sizes": [1, 1, 2048, 10], "fill": 0.01}',
                '"dense": {"DataType": "FLOAT32", "Sizes": [1, 1, 1024, 10], "fill": 0.01}',
            ),
            (
                '"inputs": {"ATensor": "pooled", "BTensor": "dense"},',
                '"inputs": {"ATensor": "pooled", "BTensor": "dense"}, // <- here',
            ),
        ),
        (r"BTensor|ATensor", r"\b1024\b", r"\b2048\b", r"(help|or):.*\[1, 1, 2048, 10\]"),
    ),
    Case(
        "a node of a graph that is named by its name",
        edited(
            GRAPH,
            (
                '{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}',
                '{"FromNodeIndex": "sum", "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0, '
                '"$comment": "<- here"}',
            ),
        ),
        (r"FromNodeIndex", r'"sum"', r"(help|or):.*\b0\b"),
    ),
    Case(
        "a command that prints what there is not",
        changed(('{"type": "print", "resource": "Out"}', '{"type": "print", "resource": "out"} // <- here')),
        (r'"out"', r'did you mean "Out"'),
        fixed=True,
    ),
)

THIRTEENTH_PROGRAMS = (
    Case(
        "a batch norm without its running statistics",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.batch_normalization(x, scale=np.ones(3, np.float32), bias=np.zeros(3, np.float32))  # <- here
        """,
        (r"\bmean\b", r"\bvariance\b"),
    ),
)

THIRTEENTH_COMMANDS = (
    Command(
        "a level of optimisation as a word",
        ("compile", "net.json", "-O", "all"),
        (r"-O", r"\ball\b", r"\b0\b.*\b1\b.*\b2\b"),
    ),
)
