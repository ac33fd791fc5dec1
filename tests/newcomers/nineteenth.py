"""A nineteenth set of mistakes in networks of some nodes, written before answers were read; three were none."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.networks import AUTOENCODER, BEST, BYTES, DISPATCHED, GRAPH_OF_FOUR, MOBILE, SENTENCE, SPEECH, UNET
from tests.newcomers.sixth import PYDIRECTML

NINETEENTH_FILES = (
    Case(
        "groups as many as channels go out, and the filter of all",
        edited(
            MOBILE,
            (
                '"project.w": {"DataType": "FLOAT32", "Sizes": [16, 32, 1, 1]',
                '"project.w": {"DataType": "FLOAT32", "Sizes": [16, 2, 1, 1]',
            ),
        ),
        (r'"project"', r"FilterTensor", r"(help|or): (GroupCount 16|FilterTensor.*\[16, 32, 1, 1\])"),
    ),
    Case(
        "a classifier of one class less in its bias",
        edited(
            MOBILE,
            (
                '"head.b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]',
                '"head.b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 9]',
            ),
        ),
        (r"CTensor", r"\b9\b", r"\b10\b", r"(help|or): CTensor.*\[1, 1, 1, 10\]"),
    ),
    Case(
        "the skip connection of a classifier read by its product",
        edited(
            MOBILE,
            ('"inputs": {"ATensor": "mean", "BTensor": "head.w",', '"inputs": {"ATensor": "sum", "BTensor": "head.w",'),
        ),
        (r'"head"|"mean"', r'(help|or):.*"mean"'),
        severity="",
    ),
    Case(
        "an enlargement left out between two nodes",
        edited(
            UNET, ('"inputs": {"InputTensors": ["up", "encode"]},', '"inputs": {"InputTensors": ["middle", "encode"]},')
        ),
        (r'"join"', r'(help|or):.*"up"'),
    ),
    Case(
        "joined along the batch",
        edited(UNET, ('"Axis": 1\n', '"Axis": 0\n')),
        (r'"join"', r"Axis", r"(help|or): Axis 1"),
    ),
    Case(
        "weights of a head for another width",
        edited(
            SENTENCE,
            (
                '"key.w": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 64]',
                '"key.w": {"DataType": "FLOAT32", "Sizes": [1, 1, 64, 32]',
            ),
        ),
        (r'"key"', r"\b32\b", r"\b64\b", r"(help|or): BTensor.*\[1, 1, 64, 64\]"),
    ),
    Case(
        "scores without a softmax",
        edited(
            SENTENCE,
            (
                '"inputs": {"ATensor": "weights", "BTensor": "words"},',
                '"inputs": {"ATensor": "scores", "BTensor": "words"},',
            ),
        ),
        (r'"softmax"', r'(help|or):.*"weights"'),
        severity="warning",
    ),
    Case(
        "a bias for the filters' inputs",
        edited(
            BYTES,
            ('"b": {"DataType": "INT32", "Sizes": [1, 8, 1, 1]', '"b": {"DataType": "INT32", "Sizes": [1, 3, 1, 1]'),
        ),
        (r"BiasTensor", r"\b3\b", r"\b8\b", r"(help|or): BiasTensor.*\[1, 8, 1, 1\]"),
    ),
    Case(
        "a scale in the place of a zero point",
        edited(BYTES, ('"FilterZeroPointTensor": "w.z",', '"FilterZeroPointTensor": "w.s",')),
        (r"FilterZeroPointTensor", r"FLOAT32", r'(help|or):.*("w\.z"|INT8)'),
    ),
    Case(
        "a GRU of another width in its weights",
        edited(
            SPEECH,
            (
                '"w": {"DataType": "FLOAT32", "Sizes": [1, 1, 96, 40]',
                '"w": {"DataType": "FLOAT32", "Sizes": [1, 1, 128, 40]',
            ),
        ),
        (r"WeightTensor", r"\b128\b", r"\b96\b", r"(help|or): WeightTensor.*\[1, 1, 96, 40\]"),
    ),
    Case(
        "the last states in the place of the sequence",
        edited(
            SPEECH,
            (
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 32]},',
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 20]},',
            ),
        ),
        (r'"letters"', r"\b20\b", r"\b32\b", r"(help|or): (ATensor.*\[1, 1, 20, 32\]|TransA TRANSPOSE)"),
    ),
    Case(
        "a mean with its channels last",
        edited(
            AUTOENCODER,
            (
                '"mean": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1]',
                '"mean": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]',
            ),
        ),
        (r"MeanTensor", r"(help|or): MeanTensor.*\[1, 4, 1, 1\]"),
    ),
    Case(
        "the best along the pictures",
        edited(BEST, ('"Axis": 3, "K": 5', '"Axis": 2, "K": 5')),
        (r'"best"', r"(help|or): Axis 3"),
    ),
    # --- Graphs of C++ ---
    Case(
        "a window that was not changed with the network",
        edited(GRAPH_OF_FOUR, ('"WindowSize": [2, 2],', '"WindowSize": [4, 4],')),
        (r"pool", r"(help|or):.*(WindowSize \[2, 2\]|Padding \[1, 1\]|\[1, 8, 7, 7\])"),
        severity="",
    ),
    Case(
        "outputs of two nodes in each other's place",
        edited(
            GRAPH_OF_FOUR,
            (
                '{"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0}',
                '{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0}',
            ),
        ),
        (r'"norm"', r'(help|or):.*"(relu|norm)"'),
    ),
    # --- DxDispatch ---
    Case(
        "a resource for a picture of one channel",
        edited(DISPATCHED, ('"valueCount": 192', '"valueCount": 64')),
        (r"InputTensor", r'"X"', r"\b192\b|\b768\b", r"(help|or):.*\b192\b"),
    ),
)

NINETEENTH_COMMANDS = (
    Command(
        "indices of other dimensions in PyDirectML",
        ("pydirectml", "program.py"),
        (r"axis|Axis", r"\b7\b", r"line 7"),
        PYDIRECTML + "y = dml.gather(x, w, 7, 1)\n",
    ),
)
