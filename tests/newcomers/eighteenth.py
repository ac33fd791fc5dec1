"""An eighteenth set of twenty mistakes in networks of some nodes, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.networks import AUTOENCODER, BEST, BYTES, DISPATCHED, GRAPH_OF_FOUR, MOBILE, SENTENCE, SPEECH
from tests.newcomers.sixth import PYDIRECTML

EIGHTEENTH_FILES = (
    # --- An autoencoder ---
    Case(
        "a filter of a transposed convolution with its outputs first",
        edited(
            AUTOENCODER,
            ('"Sizes": [8, 4, 2, 2]', '"Sizes": [4, 8, 2, 2]'),
            ('"FilterTensor": "up.w"},', '"FilterTensor": "up.w"}, // <- here'),
        ),
        (r"FilterTensor", r"\b4\b", r"\b8\b", r"(help|or): FilterTensor.*\[8, 4, 2, 2\]"),
    ),
    Case(
        "a scale of the layer before",
        edited(
            AUTOENCODER,
            (
                '"scale": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1]',
                '"scale": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]',
            ),
        ),
        (r"ScaleTensor", r"\b8\b", r"\b4\b", r"(help|or): ScaleTensor.*\[1, 4, 1, 1\]"),
    ),
    Case(
        "a transposed convolution that goes forward",
        edited(AUTOENCODER, ('"Direction": "BACKWARD",', '"Direction": "FORWARD",')),
        (r'"up"', r"(help|or): Direction BACKWARD"),
    ),
    Case(
        "parts of a split as large as the whole",
        edited(
            AUTOENCODER,
            (
                '{"DataType": "FLOAT32", "Sizes": [1, 2, 32, 32]},\n'
                '          {"DataType": "FLOAT32", "Sizes": [1, 2, 32, 32]}',
                '{"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]},\n'
                '          {"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]}',
            ),
        ),
        (r"OutputTensors", r"\b4\b", r"\b8\b", r"(help|or):.*\[1, 2, 32, 32\]"),
    ),
    # --- The likeliest classes ---
    Case(
        "more of the best asked for than are written",
        edited(BEST, ('"K": 5', '"K": 10')),
        (r'"best"', r"\b10\b", r"\b5\b", r"(help|or): K 5"),
    ),
    Case(
        "places of the best as fractions",
        edited(BEST, ('"OutputIndexTensor": {"DataType": "UINT32",', '"OutputIndexTensor": {"DataType": "FLOAT32",')),
        (r"OutputIndexTensor", r"FLOAT32", r"(help|or):.*UINT32"),
    ),
    # --- A transformer ---
    Case(
        "words of a table with their width first",
        edited(
            SENTENCE,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]},\n        "Axis": 2,',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 16]}, // <- here\n        "Axis": 2,',
            ),
        ),
        (r"OutputTensor", r"(help|or): OutputTensor.*\[1, 1, 16, 64\]"),
    ),
    Case(
        "a mean whose dimension was left out",
        edited(
            SENTENCE,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 64]}, // <- here',
            ),
        ),
        (r"OutputTensor", r"\b3\b", r"\b4\b", r"(help|or): OutputTensor.*\[1, 1, 1, 64\]"),
    ),
    # --- An inverted residual block ---
    Case(
        "a bias for each channel in the last dimension",
        edited(
            MOBILE,
            (
                '"deep.b": {"DataType": "FLOAT32", "Sizes": [1, 32, 1, 1],',
                '"deep.b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 32],',
            ),
            ('"BiasTensor": "deep.b"},', '"BiasTensor": "deep.b"}, // <- here'),
        ),
        (r"BiasTensor", r"(help|or): BiasTensor.*\[1, 32, 1, 1\]"),
    ),
    Case(
        "a sum that the next layer passes by",
        edited(MOBILE, ('"inputs": {"InputTensor": "sum"},', '"inputs": {"InputTensor": "project"},')),
        (r'"residual"', r'(help|or):.*"sum"'),
        severity="warning",
    ),
    # --- A recurrent network ---
    Case(
        "states of a recurrent network laid out like its input",
        edited(
            SPEECH,
            (
                '"OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [20, 1, 1, 32]},',
                '"OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 20, 1, 32]}, // <- here',
            ),
        ),
        (r"OutputSequenceTensor", r"(help|or): OutputSequenceTensor.*\[20, 1, 1, 32\]"),
    ),
    # --- Bytes ---
    Case(
        "a quantised output with a sign and its zero point without one",
        edited(
            BYTES,
            (
                '"OutputTensor": {"DataType": "UINT8", "Sizes": [1, 8, 16, 16]},\n        "Strides"',
                '"OutputTensor": {"DataType": "INT8", "Sizes": [1, 8, 16, 16]},\n        "Strides"',
            ),
        ),
        (r"Output(ZeroPoint)?Tensor", r"\bINT8", r"UINT8", r"(help|or):.*UINT8"),
    ),
    # --- Graphs of C++ ---
    Case(
        "inputs of a node counted without the one from the node before",
        edited(
            GRAPH_OF_FOUR,
            *[
                (
                    f'"GraphInputIndex": {index}, "ToNodeIndex": 1, "ToNodeInputIndex": {index - 1}',
                    f'"GraphInputIndex": {index}, "ToNodeIndex": 1, "ToNodeInputIndex": {index - 2}',
                )
                for index in (2, 3, 4, 5)
            ],
        ),
        (r"already|two edges|another edge", r"BiasTensor"),
    ),
    Case(
        "a step of two whose output was not halved",
        edited(GRAPH_OF_FOUR, ('"Strides": [1, 1],', '"Strides": [2, 2],')),
        (r"conv", r"OutputTensor", r"(help|or): (Strides \[1, 1\]|OutputTensor.*\[1, 8, 8, 8\])"),
    ),
    Case(
        "a filter of halves",
        edited(
            GRAPH_OF_FOUR,
            (
                '"FilterTensor": {"DataType": "FLOAT32",',
                '"FilterTensor": {"$comment": "<- here", "DataType": "FLOAT16",',
            ),
        ),
        (r"FilterTensor", r"FLOAT16", r"(help|or):.*FLOAT32"),
    ),
    # --- DxDispatch ---
    Case(
        "an output without the padding that is there",
        edited(
            DISPATCHED,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 6, 6]}, // <- here',
            ),
        ),
        (r"OutputTensor", r"\b6\b", r"\b8\b", r"(help|or):.*(\[1, 4, 8, 8\]|Padding \[0, 0\])"),
    ),
    Case(
        "a filter with inputs before outputs in DxDispatch",
        edited(
            DISPATCHED,
            (
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3]},',
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [3, 4, 3, 3]}, // <- here',
            ),
        ),
        (r"FilterTensor", r"(help|or): FilterTensor.*\[4, 3, 3, 3\]"),
    ),
)

EIGHTEENTH_PROGRAMS = (
    Case(
        "an activation without its family",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.relu(x)  # <- here
        """,
        (r"relu", r"activation_relu"),
    ),
    Case(
        "parts of a split that do not make the whole",
        """\
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y, z = g.split(x, axis=1, output_axis_sizes=[3, 3])  # <- here
        """,
        (r"\b6\b", r"\b8\b", r"OutputTensors|output_axis_sizes"),
    ),
)

EIGHTEENTH_COMMANDS = (
    Command(
        "a sum of different sizes in PyDirectML",
        ("pydirectml", "program.py"),
        (r"\[1, 1, 4, 4\]", r"\[1, 1, 3, 3\]", r"line 7"),
        PYDIRECTML + "z = x + w\n",
    ),
)
