"""Nodes that are alike become the same, and a model is the one that lowering each of them would have given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dml2onnx.buffer_views.repeats import Repeats
from dml2onnx.checks import check
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import Severity
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.lowering.registry import lowerings
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from tests.lowering.harness import operator, t

FOUR = t("FLOAT32", [4])


@contextmanager
def without_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeats, "lower", lambda self, node, lower_node: lower_node())
        yield


def compiled(graph: Graph, opset: int = 21, target: str = "cpu") -> CompiledModel:
    return compile_outputs(graph, graph.outputs, opset=opset, target=target)


def repeated(graph: Graph, times: int, shared: bool) -> Graph:
    """The nodes of a graph several times, each time from ``shared`` inputs or from inputs of their own."""
    constants = {item.value for item in graph.constants}
    nodes: list[Node] = []
    inputs: list[GraphInput] = []
    outputs: list[GraphOutput] = []
    for number in range(times):
        values: dict[Value, Value] = {}

        def copy(value: Value, values: dict[Value, Value] = values, number: int = number) -> Value:
            if value in constants:
                return value
            return values.setdefault(value, Value(f"{value.name}~{number}", value.nbytes))

        for item in graph.inputs:
            if shared and number:
                values[item.value] = inputs[len(values)].value
            else:
                inputs.append(GraphInput(f"{item.name}~{number}", copy(item.value), item.default, item.desc))
        for node in graph.sorted_nodes():
            reads = {
                name: tuple(Read(copy(read.value), read.offset) for read in several)
                for name, several in node.reads.items()
            }
            writes = {
                name: tuple(
                    Write(copy(write.value), write.offset, None if write.base is None else copy(write.base))
                    for write in several
                )
                for name, several in node.writes.items()
            }
            nodes.append(Node(f"{node.name}~{number}", node.operator, reads, writes))
        outputs += [GraphOutput(f"{item.name}~{number}", copy(item.value), item.desc) for item in graph.outputs]
    return Graph(tuple(nodes), tuple(inputs), tuple(outputs), graph.constants)


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(samples(), st.integers(2, 3), st.booleans(), st.sampled_from([17, 21, 23]), st.sampled_from(["cpu", "dml"]))
def test_models_do_not_depend_on_the_memory(sample: Sample, times: int, shared: bool, opset: int, target: str) -> None:
    assume(not any(item.severity is Severity.ERROR for item in check(sample.graph)))
    graph = repeated(sample.graph, times, shared)
    with without_memory():
        want = compiled(graph, opset, target).serialize()
    assert compiled(graph, opset, target).serialize() == want


def tanh(name: str, x: Value, y: Value) -> Node:
    op = operator("ACTIVATION_TANH", InputTensor=FOUR, OutputTensor=FOUR)
    return Node(name, op, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(y),)})


def add(name: str, a: Value, b: Value, y: Value) -> Node:
    op = operator("ELEMENT_WISE_ADD", ATensor=FOUR, BTensor=FOUR, OutputTensor=FOUR)
    return Node(name, op, {"ATensor": (Read(a),), "BTensor": (Read(b),)}, {"OutputTensor": (Write(y),)})


def calls(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a lowering was called."""
    count = 0

    def counting(table: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                nonlocal count
                count += 1
                return function(*arguments)

            return call

        return {name: wrap(function) for name, function in table.items()}

    table = counting(dict(lowerings()))
    monkeypatch.setattr("dml2onnx.lowering.driver.lowering", lambda schema: table[schema.short_name])
    compiled(graph)
    return count


def chain(nodes: Sequence[Node], x: Value, y: Value, constants: tuple[Constant, ...] = ()) -> Graph:
    return Graph(tuple(nodes), (GraphInput("x", x),), (GraphOutput("y", y, FOUR),), constants)


def test_equal_nodes_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [Value(f"v{index}", 16) for index in range(50)]
    nodes = [tanh(f"n{index}", a, b) for index, (a, b) in enumerate(pairwise(values))]
    assert calls(chain(nodes, values[0], values[-1]), monkeypatch) == 1


def test_one_tensor_twice_is_not_two_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    x, h, twice, y = (Value(name, 16) for name in ("x", "h", "twice", "y"))
    nodes = [tanh("a", x, h), add("b", x, h, twice), add("c", twice, twice, y)]
    assert calls(chain(nodes, x, y), monkeypatch) == 3


def test_constants_belong_to_what_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    x, h, k, y = (Value(name, 16) for name in ("x", "h", "k", "y"))
    weights = [Constant(Value(f"w{i}", 16), ArrayData.of(np.full(4, i, np.float32))) for i in (1, 2)]
    nodes = [
        add("a", x, weights[0].value, h),
        add("b", h, weights[1].value, k),
        add("c", k, weights[0].value, y),
    ]
    graph = chain(nodes, x, y, tuple(weights))
    assert calls(graph, monkeypatch) == 2
    got = compiled(graph).run({"x": np.zeros(4, np.float32)})["y"]
    np.testing.assert_array_equal(got, np.full(4, 4, np.float32))


def test_what_an_output_holds_before_is_read_too() -> None:
    """Two tokens for two constant caches, which differ only in their contents."""
    token, cache, number = t("FLOAT32", [1, 1, 2]), t("FLOAT32", [1, 1, 3, 2]), t("INT32", [1])
    op = operator(
        "MULTIHEAD_ATTENTION1",
        **dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor"), token),
        **dict.fromkeys(("OutputPresentKeyTensor", "OutputPresentValueTensor"), cache),
        PastSequenceLengthsTensor=number,
        Scale=0.0,
        MaskFilterValue=0.0,
        QueryHeadCount=1,
        KeyValueHeadCount=1,
        MaskType="NONE",
    )
    x, past = Value("x", 8), Value("past", 4)
    reads = {name: (Read(x),) for name in ("QueryTensor", "KeyTensor", "ValueTensor")}
    nodes, constants, outputs = [], [], []
    for step in range(3):
        before, y = Value(f"before{step}", 24), Value(f"y{step}", 8)
        constants.append(Constant(before, ArrayData.of(np.full(6, step, np.float32))))
        writes = {
            name: (Write(Value(f"{name}{step}", 24), base=before),)
            for name in ("OutputPresentKeyTensor", "OutputPresentValueTensor")
        }
        nodes.append(
            Node(
                f"step{step}",
                op,
                {**reads, "PastSequenceLengthsTensor": (Read(past),)},
                {"OutputTensor": (Write(y),), **writes},
            )
        )
        outputs.append(GraphOutput(f"y{step}", y, token))
    inputs = (GraphInput("x", x, desc=token), GraphInput("past", past, desc=number))
    model = compiled(Graph(tuple(nodes), inputs, tuple(outputs), tuple(constants)))
    got: dict[str, np.ndarray] = model.run({"x": np.full((1, 1, 2), 5, np.float32), "past": np.array([2], np.int32)})
    for step in range(3):
        np.testing.assert_allclose(got[f"y{step}"].reshape(-1), [(step + step + 5) / 3] * 2, 1e-6)


def test_values_of_sizes_that_only_the_run_tells_are_repeated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """ROI_ALIGN takes as many samples of regions that RoiAlign does not take as there are."""
    picture = t("FLOAT32", [1, 1, 4, 4])
    op = operator(
        "ROI_ALIGN",
        InputTensor=picture,
        ROITensor=t("FLOAT32", [1, 1, 1, 4]),
        BatchIndicesTensor=t("UINT32", [1, 1, 1, 1]),
        OutputTensor=picture,
        ReductionFunction="AVERAGE",
        InterpolationMode="LINEAR",
        SpatialScaleX=1.0,
        SpatialScaleY=1.0,
        OutOfBoundsInputValue=0.0,
        MinimumSamplesPerOutput=1,
        MaximumSamplesPerOutput=4,
    )
    regions, batch = Value("regions", 16), Value("batch", 4)
    values = [Value(f"v{index}", 64) for index in range(4)]
    others = {"ROITensor": (Read(regions),), "BatchIndicesTensor": (Read(batch),)}
    nodes = [
        Node(f"n{index}", op, {"InputTensor": (Read(a),), **others}, {"OutputTensor": (Write(b),)})
        for index, (a, b) in enumerate(pairwise(values))
    ]
    inputs = (
        GraphInput("x", values[0], desc=picture),
        GraphInput("regions", regions, desc=op.tensor("ROITensor")),
        GraphInput("batch", batch, desc=op.tensor("BatchIndicesTensor")),
    )
    graph = Graph(tuple(nodes), inputs, (GraphOutput("y", values[-1], picture),))
    assert calls(graph, monkeypatch) == 1
    model = compiled(graph)
    assert [node.op_type for node in model.lowered.nodes].count("RoiAlign") == 3
    assert len(model.lowered.origins[2].nodes) == len(model.lowered.origins[1].nodes)
    with without_memory():
        assert compiled(graph).serialize() == model.serialize()
    feeds = {
        "x": np.zeros((1, 1, 4, 4), np.float32),
        "regions": np.zeros(4, np.float32),
        "batch": np.zeros(1, np.uint32),
    }
    np.testing.assert_array_equal(model.run(feeds)["y"], feeds["x"])
