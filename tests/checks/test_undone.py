"""One edit of a valid network is one finding, and one of its remedies reverts the edit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.build import found_in
from tests.frontends.models import REMOVE, Model
from tests.newcomers.build import edit, text_of
from tests.newcomers.networks import BYTES, DECODER, DETECTOR, ENLARGER, GRAPH_OF_FOUR, HEADS, MOBILE, TAGGER, UNET

EDITS = [
    # another value is read, with consequences for later nodes
    (MOBILE, "nodes/residual/inputs/ATensor", "x", 'ATensor "stem"'),
    (MOBILE, "nodes/stem/inputs/FilterTensor", "deep.b", 'FilterTensor "stem.w", which nothing reads'),
    (BYTES, "nodes/conv/inputs/InputZeroPointTensor", "w.z", 'InputZeroPointTensor "x.z", which nothing reads'),
    (DECODER, "nodes/norm/inputs/BiasTensor", "words", 'BiasTensor of "norm" reads "shift"'),
    (TAGGER, "nodes/lstm/inputs/BiasTensor", REMOVE, '"BiasTensor": "b" among the inputs of "lstm"'),
    # sizes that an operator accepts, but its readers do not
    (
        UNET,
        "up/OutputTensor/Sizes",
        [1, 8, 32, 32],
        "OutputTensor of sizes [1, 16, 32, 32], inferred from the other fields",
    ),
    (DETECTOR, "parts/OutputTensors/1/Sizes", [1, 1, 10, 79], "OutputTensors/1 of sizes [1, 1, 10, 80]"),
    (DETECTOR, "parts/OutputTensors/0/Sizes", [1, 1, 9, 20], "OutputTensors/0 of sizes [1, 1, 10, 20]"),
    # constants
    (DECODER, "constants/shift/Sizes", [1, 1, 32], '"shift" of sizes [1, 1, 64]'),
    (ENLARGER, "constants/first.w/Sizes", [16, 1, 6, 5], "FilterTensor of sizes [16, 1, 5, 5]"),
    (BYTES, "constants/b/Sizes", [1, 8, 1], "BiasTensor of sizes [1, 8, 1, 1]"),
    # fields
    (ENLARGER, "first/GroupCount", [1], "write 1"),
    (DETECTOR, "feature_level", "5_0", "ACTIVATION_SOFTMAX, without Axes"),
    (DETECTOR, "softmax/Axes", [0], "Axes [3]"),
    (HEADS, "weights/Axes", [4], "Axes [3]"),
    (
        HEADS,
        "merge/InputTensor/Strides",
        [2560, 64, 640, 4],
        "Strides [640, 16, 160, 1], which count elements and not bytes",
    ),
    # edges of C++
    (
        GRAPH_OF_FOUR,
        "IntermediateEdges/1/FromNodeIndex",
        9,
        'FromNodeIndex 1, FromNodeOutputIndex 0: OutputTensor of "norm", which nothing reads',
    ),
    (
        GRAPH_OF_FOUR,
        "IntermediateEdges/2/ToNodeIndex",
        4,
        'ToNodeIndex 3, ToNodeInputIndex 0: InputTensor of "pool", to which no edge leads',
    ),
]


@pytest.mark.parametrize(("network", "path", "value", "remedy"), EDITS, ids=[remedy for *_, remedy in EDITS])
def test_undone(network: Model, path: str, value: Any, remedy: str) -> None:
    (found,) = found_in(text_of(edit(network, {path: value}).model))
    assert remedy in [item.words for item in found.remedies]
