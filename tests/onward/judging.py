"""Compares the results of a tool's model with those of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx

from dml2onnx.reference import Result, disagreements, evaluate_results
from dml2onnx.reference.arithmetic import FLOAT16
from tests.onward.subjects import Arrays, Subject

BOUNDS = ("same", "half", "bits")
"""The model's own results; FLOAT16 results; the error of the tool on the handwritten network."""
SAME = 1e-4
"""Tolerance for FLOAT sums in another order, relative to the largest element."""
MORE = 1.25
"""Allowed ratio of a quantised model's error to that of the handwritten network, plus ``LEAST``."""
LEAST = 1e-3
ALONE = 0.05
"""Limit on a quantised model's error if the tool refuses the handwritten network."""


@dataclass(slots=True)
class Made:
    """The result of a tool for one model."""

    refused: str = ""
    """The error message of the tool, or of ONNX Runtime for its model."""
    outputs: Arrays = field(default_factory=dict)
    nodes: int | None = None
    """The number of nodes if the result is an ONNX model."""


def error(have: Arrays, want: Arrays) -> float:
    """The largest root-mean-square error of all outputs, relative to the root mean square of the expected output."""
    worst = 0.0
    for name, array in want.items():
        if name not in have or have[name].size != array.size or have[name].dtype != array.dtype:
            return float("inf")
        right = array.astype(np.float64).reshape(-1)
        off = have[name].astype(np.float64).reshape(-1) - right
        worst = max(worst, float(np.sqrt(np.mean(off**2)) / (np.sqrt(np.mean(right**2)) or 1.0)))
    return worst


def is_same(have: Arrays, want: Arrays) -> bool:
    """Whether outputs match the original model's, integers exactly."""
    for name, array in want.items():
        if name not in have or have[name].size != array.size or have[name].dtype != array.dtype:
            return False
        right = array.astype(np.float64).reshape(-1)
        off = np.abs(have[name].astype(np.float64).reshape(-1) - right).max(initial=0)
        if not off <= (SAME * np.abs(right).max(initial=0) if array.dtype.kind == "f" else 0):
            return False
    return True


def half_results(subject: Subject) -> Mapping[str, Result]:
    """The results of the network in FLOAT16, with bounds."""
    with np.errstate(all="ignore"):
        return evaluate_results(
            subject.graph, subject.feeds, [*subject.graph.results, *subject.graph.outputs], None, FLOAT16, exact=False
        )


def is_half(subject: Subject, have: Arrays, results: Mapping[str, Result]) -> bool:
    """Whether outputs are within the bounds of FLOAT16."""
    ports = subject.model.outputs
    if any(port.onnx_name not in have or have[port.onnx_name].size != np.prod(port.shape) for port in ports):
        return False
    finished = subject.model.finish({port.name: have[port.onnx_name].reshape(port.shape) for port in ports})
    return not any(
        disagreements(finished[port.name], results[port.name], port.desc.data_type, half_accumulation=True).any()
        for port in ports
    )


def is_like_by_hand(mine: float, by_hand: float | None) -> bool:
    """Whether quantisation is about as accurate as for the handwritten network, by :func:`error`."""
    return mine <= (ALONE if by_hand is None else MORE * by_hand + LEAST)


def node_count(model: onnx.ModelProto) -> int:
    return len(model.graph.node)
