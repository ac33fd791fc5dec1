"""Graphs that would take the reference hours are refused before anything is allocated."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Value
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference import evaluate, require_computable
from dml2onnx.reference.cost import LARGEST_NODE
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.verification import verify
from tests.lowering.harness import operator, t


def unary(desc: TensorDesc) -> Graph:
    return single_node(operator("ELEMENT_WISE_ABS", InputTensor=desc, OutputTensor=desc))


def random_numbers(count: int) -> Graph:
    state = t("UINT32", (1, 1, 1, 6))
    output = t("UINT32", (1, 1, 1, count))
    return single_node(operator("RANDOM_GENERATOR", InputStateTensor=state, OutputTensor=output, Type="PHILOX_4X32_10"))


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
        assert f"{LARGEST_NODE:,}" in item.message
    assert time.process_time() - before < 5


def test_only_the_elements_read_of_constants_count() -> None:
    """One graph reads part of 1 GiB, the other all of 256 MiB."""
    parts = single_node(
        operator("ELEMENT_WISE_ABS", InputTensor=t("INT8", (4,), (1 << 28,)), OutputTensor=t("INT8", (4,)).packed())
    )
    weights = t("FLOAT32", (1, 1, 1 << 13, 1 << 13))
    product = single_node(
        operator(
            "GEMM",
            ATensor=t("FLOAT32", (1, 1, 2, 1 << 13)),
            BTensor=weights,
            OutputTensor=t("FLOAT32", (1, 1, 2, 1 << 13)),
            TransA="NONE",
            TransB="NONE",
            Alpha=1.0,
            Beta=0.0,
        )
    )
    for graph, name in ((parts, "InputTensor"), (product, "BTensor")):
        value = graph.nodes[0].reads[name][0].value
        nothing = np.broadcast_to(np.zeros((), np.uint8), (value.nbytes,))
        fixed = replace(
            graph,
            inputs=tuple(other for other in graph.inputs if other.value is not value),
            constants=(Constant(value, ArrayData(nothing)),),
        )
        require_computable(fixed, fixed.outputs)


@pytest.mark.parametrize(
    ("sizes", "outputs", "limit"),
    [
        ([LARGEST_NODE] * 4, 4, ""),
        ([LARGEST_NODE] * 5, 4, ""),
        ([*[LARGEST_NODE] * 4, 4], 5, "a graph"),
        ([LARGEST_NODE + 4], 1, "one node"),
    ],
    ids=["all that is allowed", "and one that nothing reads", "too many", "too large"],
)
def test_limits_of_buffers(sizes: list[int], outputs: int, limit: str) -> None:
    values = [Value(f"x{number}", size) for number, size in enumerate(sizes)]
    inputs = tuple(GraphInput(value.name, value) for value in values)
    read = tuple(GraphOutput(value.name, value, t("UINT8", (value.nbytes,))) for value in values[:outputs])
    with pytest.raises(DmlError, match=f"for {limit}") if limit else nullcontext():
        require_computable(Graph((), inputs, read), read)
