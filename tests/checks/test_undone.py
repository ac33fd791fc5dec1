"""One edit of a valid network is one finding, and one of its remedies reverts the edit."""

from __future__ import annotations

import pytest

from tests.checks.build import found_in
from tests.newcomers.case import edited
from tests.newcomers.more_networks import DECODER, DETECTOR, ENLARGER, TAGGER
from tests.newcomers.networks import BYTES, GRAPH_OF_FOUR, MOBILE, UNET
from tests.newcomers.twentysecond import HEADS

EDITS = [
    # another value is read, with consequences for later nodes
    (MOBILE, '"ATensor": "stem", "BTensor": "project"', '"ATensor": "x", "BTensor": "project"', 'ATensor "stem"'),
    (MOBILE, '"FilterTensor": "stem.w"', '"FilterTensor": "deep.b"', 'FilterTensor "stem.w", which nothing reads'),
    (
        BYTES,
        '"InputZeroPointTensor": "x.z"',
        '"InputZeroPointTensor": "w.z"',
        'InputZeroPointTensor "x.z", which nothing reads',
    ),
    (DECODER, '"BiasTensor": "shift"', '"BiasTensor": "words"', 'BiasTensor of "norm" reads "shift"'),
    (TAGGER, ', "BiasTensor": "b"', "", '"BiasTensor": "b" among the inputs of "lstm"'),
    # sizes that an operator accepts, but its readers do not
    (
        UNET,
        '"Sizes": [1, 16, 32, 32]',
        '"Sizes": [1, 8, 32, 32]',
        "OutputTensor of sizes [1, 16, 32, 32], inferred from the other fields",
    ),
    (DETECTOR, "[1, 1, 10, 80]", "[1, 1, 10, 79]", "OutputTensors/1 of sizes [1, 1, 10, 80]"),
    (DETECTOR, "[1, 1, 10, 20]}, {", "[1, 1, 9, 20]}, {", "OutputTensors/0 of sizes [1, 1, 10, 20]"),
    # constants
    (
        DECODER,
        '"shift": {"DataType": "FLOAT32", "Sizes": [1, 1, 64]',
        '"shift": {"DataType": "FLOAT32", "Sizes": [1, 1, 32]',
        '"shift" of sizes [1, 1, 64]',
    ),
    (ENLARGER, "[16, 1, 5, 5]", "[16, 1, 6, 5]", "FilterTensor of sizes [16, 1, 5, 5]"),
    (BYTES, '"Sizes": [1, 8, 1, 1]', '"Sizes": [1, 8, 1]', "BiasTensor of sizes [1, 8, 1, 1]"),
    # fields
    (
        ENLARGER,
        '"GroupCount": 1\n      },\n      "inputs": {"InputTensor": "x"',
        '"GroupCount": [1]\n      },\n      "inputs": {"InputTensor": "x"',
        "write 1",
    ),
    (DETECTOR, '"feature_level": "6_1"', '"feature_level": "5_0"', "ACTIVATION_SOFTMAX, without Axes"),
    (DETECTOR, '"Axes": [3]', '"Axes": [0]', "Axes [3]"),
    (HEADS, '"Axes": [3]', '"Axes": [4]', "Axes [3]"),
    (HEADS, "[640, 16, 160, 1]", "[2560, 64, 640, 4]", "Strides [640, 16, 160, 1], which count elements and not bytes"),
    # edges of C++
    (
        GRAPH_OF_FOUR,
        '"FromNodeIndex": 1, "FromNodeOutputIndex": 0',
        '"FromNodeIndex": 9, "FromNodeOutputIndex": 0',
        'FromNodeIndex 1, FromNodeOutputIndex 0: OutputTensor of "norm", which nothing reads',
    ),
    (
        GRAPH_OF_FOUR,
        '"ToNodeIndex": 3, "ToNodeInputIndex": 0',
        '"ToNodeIndex": 4, "ToNodeInputIndex": 0',
        'ToNodeIndex 3, ToNodeInputIndex 0: InputTensor of "pool", to which no edge leads',
    ),
]


@pytest.mark.parametrize(("network", "old", "new", "remedy"), EDITS, ids=[remedy for *_, remedy in EDITS])
def test_undone(network: str, old: str, new: str, remedy: str) -> None:
    (found,) = found_in(edited(network, (old, new)))
    assert remedy in [item.words for item in found.remedies]
