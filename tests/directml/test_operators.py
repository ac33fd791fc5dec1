"""Every operator in DirectML itself, where it is installed, and in the compiled model.

Floats agree within 1e-3 of the larger of themselves and 1 % of the output's largest, integers exactly; what is
unspecified may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.directml import graphs, runner
from dml2onnx.directml.cases import Outcome
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference import evaluate_results, memory
from dml2onnx.verification import valid
from dml2onnx.verification.lone import lone_node
from dml2onnx.verification.trial import feeds_of
from tests.directml.live import installed, needs_directml

RELATIVE, OF_LARGEST = 1e-3, 1e-2

KNOWN = {
    "BATCH_NORMALIZATION_TRAINING_GRAD": "N11: the mean is taken as it is given",
    "DEQUANTIZE": "a descriptor that DirectML refuses is among those held for valid",
    "GATHER": "X2: what an index below the first element gives",
    "GATHER_ELEMENTS": "X2: what an index below the first element gives",
    "LP_NORMALIZATION": "N16: Epsilon with P 1",
    "MULTIHEAD_ATTENTION": "descriptors that DirectML refuses are among those held for valid",
    "MULTIHEAD_ATTENTION1": "descriptors that DirectML refuses are among those held for valid",
    "REVERSE_SUBSEQUENCES": "what a length above the size gives",
    "ROI_ALIGN_GRAD": "what lies outside, and batch indices that are out of range",
}
"""Operators in which the compiled model still differs; whoever mends one takes it out."""

pytestmark = needs_directml


@dataclass(frozen=True)
class Asked:
    """A graph of one operator, the compiled model's outputs, and what DirectML made of it."""

    graph: Graph
    compiled: dict[str, np.ndarray]
    unspecified: dict[str, np.ndarray]
    outcome: Outcome
    directml: dict[str, np.ndarray]


@cache
def answers() -> dict[OperatorDesc, Asked]:
    """All operators, asked at once."""
    prepared = []
    for op in (op for several in valid.descriptors().values() for op in several):
        graph = lone_node(op)
        model = compile_outputs(graph, graph.outputs)
        feeds = feeds_of(model, 0)
        known = {item.value: np.ascontiguousarray(feeds[item.name]).tobytes() for item in graph.inputs}
        prepared.append((op, graph, model.run(feeds), feeds, graphs.single(graph.nodes[0], known)))
    outcomes = runner.run([case for *_, case in prepared], installed())
    found = {}
    for (op, graph, compiled, feeds, case), outcome in zip(prepared, outcomes, strict=True):
        got = {}
        if outcome.dispatched == 0:
            values = graphs.written(graph.nodes[0], case, outcome)
            got = {
                item.name: memory.read(np.frombuffer(values[item.value], np.uint8).copy(), item.desc)
                for item in graph.outputs
            }
        wanted = evaluate_results(graph, feeds)
        unspecified = {
            name: np.zeros(result.values.shape, bool) if result.unspecified is None else result.unspecified
            for name, result in wanted.items()
        }
        found[op] = Asked(graph, compiled, unspecified, outcome, got)
    return found


def disagreement(got: np.ndarray, want: np.ndarray, ignored: np.ndarray) -> int:
    """Elements that differ by more than is allowed."""
    if got.dtype.kind != "f":
        return int(((got != want) & ~ignored).sum())
    wide, other = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(other) & ~ignored
    largest = np.abs(other).max(initial=0, where=finite)
    with np.errstate(invalid="ignore"):
        near = np.abs(wide - other) <= RELATIVE * np.maximum(np.abs(other), OF_LARGEST * largest)
    same = near | (wide == other) | (np.isnan(wide) & np.isnan(other))
    return int((~same & ~ignored).sum())


def parameters() -> list[Any]:
    names = sorted(valid.descriptors())
    reasons = {name: KNOWN.get(name.removeprefix("DML_OPERATOR_")) for name in names}
    return [
        pytest.param(name, marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else [])
        for name, reason in reasons.items()
    ]


@pytest.mark.parametrize("name", parameters())
def test_the_compiled_model_does_what_directml_does(name: str) -> None:
    for op in valid.descriptors()[name]:
        asked = answers()[op]
        assert asked.outcome.dispatched == 0, graphs.failure(asked.outcome)
        for output, got in asked.directml.items():
            wrong = disagreement(asked.compiled[output], got, asked.unspecified[output])
            assert wrong == 0, f"{op}: {output} differs in {wrong} of {got.size} elements"
