"""Whether what a tool made of a network still computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx

from dml2onnx.reference import Result, disagreements, evaluate_results
from dml2onnx.reference.arithmetic import FLOAT16
from tests.onward.subjects import Arrays, Subject

BOUNDS = ("same", "half", "bits")
"""The model's own numbers; what FLOAT16 makes of the network; what the tool makes of the network by hand."""
SAME = 1e-4
"""How far FLOAT may be apart, relative to the largest, where sums are added up in another order."""
MORE = 1.25
"""How much further off the quantised model may be than that of the network by hand, whose rounding is another."""
LEAST = 1e-3
ALONE = 0.05
"""How far off a quantised model may be where the tool refuses the network by hand."""


@dataclass(slots=True)
class Made:
    """What a tool made of one model."""

    refused: str = ""
    """What the tool said, or ONNX Runtime of its model, if nothing came of it."""
    outputs: Arrays = field(default_factory=dict)
    nodes: int | None = None
    """How many the new model has, where it is an ONNX model."""


def error(have: Arrays, want: Arrays) -> float:
    """How far outputs are apart: the root of the mean square, relative to that of what is wanted; the worst of all."""
    worst = 0.0
    for name, array in want.items():
        if name not in have or have[name].size != array.size or have[name].dtype != array.dtype:
            return float("inf")
        right = array.astype(np.float64).reshape(-1)
        off = have[name].astype(np.float64).reshape(-1) - right
        worst = max(worst, float(np.sqrt(np.mean(off**2)) / (np.sqrt(np.mean(right**2)) or 1.0)))
    return worst


def is_same(have: Arrays, want: Arrays) -> bool:
    """Whether outputs are those of the model before: integers to the bit."""
    for name, array in want.items():
        if name not in have or have[name].size != array.size or have[name].dtype != array.dtype:
            return False
        right = array.astype(np.float64).reshape(-1)
        off = np.abs(have[name].astype(np.float64).reshape(-1) - right).max(initial=0)
        if not off <= (SAME * np.abs(right).max(initial=0) if array.dtype.kind == "f" else 0):
            return False
    return True


def half_results(subject: Subject) -> Mapping[str, Result]:
    """What the network gives in FLOAT16, with bounds."""
    with np.errstate(all="ignore"):
        return evaluate_results(
            subject.graph, subject.feeds, [*subject.graph.results, *subject.graph.outputs], None, FLOAT16, exact=False
        )


def is_half(subject: Subject, have: Arrays, results: Mapping[str, Result]) -> bool:
    """Whether outputs are within what FLOAT16 makes of the network."""
    ports = subject.model.outputs
    if any(port.onnx_name not in have or have[port.onnx_name].size != np.prod(port.shape) for port in ports):
        return False
    finished = subject.model.finish({port.name: have[port.onnx_name].reshape(port.shape) for port in ports})
    return not any(
        disagreements(finished[port.name], results[port.name], port.desc.data_type, half_accumulation=True).any()
        for port in ports
    )


def is_like_by_hand(mine: float, by_hand: float | None) -> bool:
    """Whether quantisation costs no more than it does of the network by hand; errors as :func:`error` gives them."""
    return mine <= (ALONE if by_hand is None else MORE * by_hand + LEAST)


def node_count(model: onnx.ModelProto) -> int:
    """Nodes of the main graph."""
    return len(model.graph.node)
