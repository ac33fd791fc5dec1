"""Ten more mistakes, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.eighth import PICTURE
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

FOURTEENTH_FILES = (
    Case(
        "a filter of depth multipliers, as TensorFlow has those of each channel",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}',
            """\
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1],
        "StartPadding": [1, 1], "EndPadding": [1, 1], "OutputPadding": [0, 0],
        "GroupCount": 8
      },
      "inputs": {
        "InputTensor": "x",
        "FilterTensor": "w" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [3, 3, 8, 1], "fill": 0.1}
  """,
        ),
        (r"FilterTensor", r"(help|or):.*\[8, 1, 3, 3\]"),
    ),
    Case(
        "a head more than divides the query",
        graph(
            '    "q": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]}',
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
        "Scale": 0.125, "MaskFilterValue": -10000,
        "HeadCount": 9, // <- there
        "MaskType": "NONE"
      },
      "inputs": {"QueryTensor": "q", "KeyTensor": "q", "ValueTensor": "q"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"HeadCount", r"\b9\b", r"(help|or): HeadCount 8"),
    ),
    Case(
        "tensors to be joined of which one was not resized",
        graph(
            """\
    "a": {"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]},
    "b": {"DataType": "FLOAT32", "Sizes": [1, 8, 31, 31]} // <- there""",
            """\
      "type": "JOIN",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 24, 32, 32]},
        "Axis": 1
      },
      "inputs": {"InputTensors": ["a", "b"]},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"InputTensors", r"\b31\b", r"\b32\b"),
    ),
    Case(
        "the mean over the batch in an axis too many",
        graph(
            PICTURE,
            """\
      "type": "MEAN_VARIANCE_NORMALIZATION1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
        "Axes": [2, 3, 4], // <- here
        "NormalizeVariance": true, "Epsilon": 1e-5
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Axes", r"\b4\b", r"(help|or): Axes (\[2, 3\]|\[1, 2, 3\])"),
    ),
    Case(
        "gradients of a slice in the place of its input",
        graph(
            '    "g": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]}',
            """\
      "type": "SLICE_GRAD",
      "desc": {
        "OutputGradientTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, // <- here
        "InputWindowOffsets": [0, 0, 2, 2], "InputWindowSizes": [1, 1, 4, 4], "InputWindowStrides": [1, 1, 1, 1]
      },
      "inputs": {"InputGradientTensor": "g"},
      "outputs": {"OutputGradientTensor": "y"}""",
        ),
        (r"OutputGradientTensor", r"InputGradientTensor", r"(help|or):.*other way round"),
    ),
    Case(
        "an input of the graph that two nodes want and one gets",
        edited(
            GRAPH,
            (
                '{"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1}',
                '{"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "$comment": "<- here"}',
            ),
        ),
        (r"ATensor|input 0", r"(help|or):.*ToNodeInputIndex.*\b1\b"),
    ),
    Case(
        "a command of DxDispatch misspelt",
        changed(('{"type": "print", "resource": "Out"}', '{"type": "prnt", "resource": "Out"} // <- here')),
        (r'"prnt"', r'did you mean "print"'),
        fixed=True,
    ),
)

FOURTEENTH_PROGRAMS = (
    Case(
        "a softmax along an axis in words of numpy",
        """\
        x = g.input("x", np.float32, [1, 1, 8, 10])
        y = g.activation_softmax(x, axis=-1)  # <- here
        """,
        (r"\baxes\b", r"\[-1\]|\[3\]"),
    ),
    Case(
        "matrices whose inner sizes are swapped",
        """\
        a = g.input("a", np.float32, [1, 1, 16, 32])
        b = g.input("b", np.float32, [1, 1, 64, 32])
        y = a @ b  # <- here
        """,
        (r"\b32\b", r"\b64\b", r"TRANSPOSE|transpose|trans_b"),
    ),
)

FOURTEENTH_COMMANDS = (
    Command(
        "a constant given as a number",
        ("compile", "net.json", "--constant", "image=0.5"),
        (r"image", r"0\.5", r"\.npy|file"),
    ),
)
