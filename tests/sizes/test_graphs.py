"""Random graphs in any layout keep their program at their own sizes, and are valid or refused at others."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.graph import Read, Value
from dml2onnx.ir.inputs import input_descs
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from tests.checks import build
from tests.checks.build import t, unary
from tests.sizes.same import assert_same

NUMBERS = frozenset({"DML1212", "DML1302", "DML1418", "DML1419", "DML1501", "DML1502", "DML1503", "DML1505"})
"""Rules about numbers that a node states, which only ``check`` reports."""


@settings(max_examples=60, deadline=None)
@given(samples(), st.data())
def test_random_graphs(sample: Sample, data: st.DataObject) -> None:
    graph = sample.graph
    if any(item.severity is Severity.ERROR for item in dml2onnx.check(graph)):
        return
    assert_same(Resizer(trace(graph, Solver(), {}), lambda symbol: symbol.old).graph(), graph)
    descs = input_descs(graph.inputs, graph.sorted_nodes(), (*graph.outputs, *graph.results))
    if not descs:
        return
    chosen = data.draw(st.integers(0, len(descs) - 1))
    sizes = list(descs[chosen].sizes)
    i = data.draw(st.integers(0, len(sizes) - 1))
    sizes[i] = data.draw(st.sampled_from([sizes[i] + 1, sizes[i] * 2, sizes[i] * 3]))
    try:
        found = dml2onnx.resize(graph, {graph.inputs[chosen].name: sizes})
    except DmlError:
        return
    for item in dml2onnx.check(found):
        assert item.severity is not Severity.ERROR or item.code in NUMBERS, item


def test_views_of_rows_move_with_their_length() -> None:
    x, whole, row = Value("x", 48), t(3, 4), t(1, 4)
    views = [(whole, Read(x)), *((row, Read(x, offset)) for offset in (0, 16, 32))]
    ends = [(Value(f"y{number}", desc.total_bytes), desc) for number, (desc, _) in enumerate(views)]
    nodes = [
        build.node(unary("ELEMENT_WISE_IDENTITY", desc), {"InputTensor": [read]}, {"OutputTensor": [end]}, end.name)
        for (desc, read), (end, _) in zip(views, ends, strict=True)
    ]
    found = dml2onnx.resize(build.graph(nodes, [x], ends), {"x": [3, 6]})
    read = [(desc.sizes, read.offset) for item in found.nodes for _, _, read, desc in item.views_in()]
    assert read == [((3, 6), 0), ((1, 6), 0), ((1, 6), 24), ((1, 6), 48)]
