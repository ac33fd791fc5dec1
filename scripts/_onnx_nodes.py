"""ONNX's own node tests as DirectML operators, which should compile to the same nodes.

Tests of operators, attributes, types and ranks that DirectML lacks are skipped.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from _onnx_rows import ROWS, Array, Given

from dml2onnx import DmlError, Graph, GraphBuilder
from dml2onnx.builder import Expression


@dataclass(frozen=True, slots=True)
class OnnxCase:
    """One published test of one node, as a DirectML graph with inputs ``x0``, ``x1``, .. and outputs ``y0``, .."""

    name: str
    op: str
    graph: Graph
    feeds: Mapping[str, Array]
    expected: Mapping[str, Array]
    rtol: float
    atol: float


def onnx_cases() -> Iterator[OnnxCase]:
    """Yields the single-node tests that DirectML can express, sorted by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        tests = collect_testcases(None)
    for test in sorted(tests, key=lambda test: test.name):
        case = _case(test)
        if case is not None:
            yield case


def _case(test: Any) -> OnnxCase | None:
    if test.model is None or len(test.model.graph.node) != 1 or not test.data_sets:
        return None
    node = test.model.graph.node[0]
    row = ROWS.get(node.op_type) if not node.domain else None
    inputs, outputs = test.data_sets[0]
    if row is None or not all(_is_plain(item) for item in (*inputs, *outputs)):
        return None
    # omitted optional inputs have no name and get no feed
    fed = iter(inputs)
    arrays = [_single(np.asarray(next(fed))) if name else None for name in node.input]
    g = GraphBuilder()
    given = Given(g, node, arrays)
    try:
        made = row(g, given)
        if made is None:
            return None
        several = [made] if isinstance(made, Expression) else list(made)
        names = [f"y{i}" for i in range(min(len(several), len(outputs)))]
        graph = g.build({name: item for name, item in zip(names, several, strict=False) if item is not None})
    except DmlError:
        return None
    expected = {name: np.asarray(item) for name, item in zip(names, outputs, strict=False)}
    return OnnxCase(test.name, node.op_type, graph, given.feeds, expected, test.rtol, test.atol)


def _single(array: Array) -> Array:
    """Converts FLOAT64, which few DirectML operators accept, to FLOAT32."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _is_plain(item: object) -> bool:
    return isinstance(item, (np.ndarray, np.generic)) and np.asarray(item).dtype.kind in "fiub" and np.size(item) > 0
