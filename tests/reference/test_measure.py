"""Graphs that the reference implementation would compute for hours are refused before anything is made."""

from __future__ import annotations

import time

import pytest

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference import evaluate
from dml2onnx.reference.measure import LARGEST_NODE
from dml2onnx.verification import verify
from dml2onnx.verification.lone import lone_node
from tests.lowering.harness import operator, t


def unary(desc: TensorDesc) -> Graph:
    return lone_node(operator("ELEMENT_WISE_ABS", InputTensor=desc, OutputTensor=desc))


def random_numbers(count: int) -> Graph:
    state = t("UINT32", (1, 1, 1, 6))
    output = t("UINT32", (1, 1, 1, count))
    return lone_node(operator("RANDOM_GENERATOR", InputStateTensor=state, OutputTensor=output, Type="PHILOX_4X32_10"))


@pytest.mark.parametrize(
    "graph",
    [
        random_numbers(1 << 30),
        unary(t("FLOAT32", (1 << 30,))),
        unary(t("FLOAT32", (2,), (1 << 31,))),
        unary(t("INT8", (1 << 20, 1 << 10), (1 << 11, 1))),
    ],
    ids=["random numbers", "elements", "gaps", "rows with gaps"],
)
def test_large_graphs_are_refused_at_once(graph: Graph) -> None:
    before = time.process_time()
    for compute in (lambda: verify(graph), lambda: evaluate(graph, {})):
        with pytest.raises(DmlError) as caught:
            compute()
        (item,) = caught.value.diagnostics
        assert item.code == "DML3015"
        assert str(LARGEST_NODE) in item.message
    assert time.process_time() - before < 5
