"""The budget of constants: folding, tables, and the nodes that refusals name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dml2onnx.compiler import compile, compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.emitter.budget import NODE_BYTES, NODE_COUNT, TOTAL_BYTES, Budget
from dml2onnx.ir.data import ArrayData, Data, FillData, PaddedData, stored_bytes
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.test_cases.single_node import single_node
from tests.lowering.harness import make_case, operator, t

SIDE = 1024
SQUARE = t("FLOAT32", (SIDE, SIDE))
NBYTES = 4 * SIDE * SIDE


def fill(number: float) -> FillData:
    return FillData(np.float32(number).tobytes(), NBYTES)


def added(constants: Sequence[Data], chained: bool) -> Graph:
    """Sums of adjacent constants, or a chain of sums."""
    values = [Constant(Value(f"c{index}", NBYTES), data) for index, data in enumerate(constants)]
    nodes, outputs = [], []
    last = values[0].value
    for index, item in enumerate(values[1:]):
        made = Value(f"s{index}", NBYTES)
        op = operator("ELEMENT_WISE_ADD", ATensor=SQUARE, BTensor=SQUARE, OutputTensor=SQUARE)
        reads = {"ATensor": (Read(last),), "BTensor": (Read(item.value),)}
        nodes.append(Node(f"n{index}", op, reads, {"OutputTensor": (Write(made),)}))
        outputs.append(GraphOutput(f"y{index}", made, SQUARE))
        last = made if chained else item.value
    return Graph(tuple(nodes), (), tuple(outputs[-1:] if chained else outputs), tuple(values))


@pytest.mark.parametrize("chained", [True, False], ids=["chain", "fan"])
def test_folding_stops_at_the_budget(chained: bool) -> None:
    """The sums of 200 fills would take 800 MiB in total."""
    graph = added([fill(number) for number in range(200)], chained)
    model = compile(graph)
    assert model.weight_bytes <= TOTAL_BYTES
    assert model.node_count > 0


def test_sums_that_are_not_folded_are_computed() -> None:
    model = compile(added([fill(number) for number in range(80)], True))
    assert (model.run()["y78"] == sum(range(80))).all()


def test_constants_of_the_input_graph_are_free() -> None:
    rows = [ArrayData.of(np.full(SIDE * SIDE, number, np.float32)) for number in range(80)]
    model = compile(added(rows, True))
    assert model.node_count <= 1  # it may grow with what is given
    assert (model.run()["y78"] == sum(range(80))).all()


def test_fills_and_padding_do_not_count_as_input() -> None:
    array = ArrayData.of(np.zeros(5, np.uint8))
    assert stored_bytes(array) == 5
    assert stored_bytes(fill(1)) == 4
    assert stored_bytes(PaddedData(array, 1 << 40)) == 5
    assert Budget.beside([array, fill(1)]).input_bytes == 9


def refused(model: Graph) -> str:
    with pytest.raises(DmlError) as caught:
        compile(model)
    (item,) = caught.value.diagnostics
    assert item.code == "DML2007"
    assert item.node
    assert "limit" in item.message
    return item.message


def padded(mode: str, count: int) -> Graph:
    op = operator(
        "PADDING",
        InputTensor=t("FLOAT32", (4,)),
        OutputTensor=t("FLOAT32", (4 + count,)),
        PaddingMode=mode,
        PaddingValue=0.0,
        StartPadding=(0,),
        EndPadding=(count,),
    )
    return single_node(op)


@pytest.mark.parametrize("mode", ["REFLECTION", "SYMMETRIC"])
def test_tables_are_limited(mode: str) -> None:
    assert str(NODE_BYTES) in refused(padded(mode, 1 << 30))


def test_large_margins_without_a_table() -> None:
    for mode in ("CONSTANT", "EDGE"):
        model = compile(padded(mode, 1 << 30))
        assert model.weight_bytes < 1 << 10


@pytest.mark.parametrize(
    "data", [PaddedData(ArrayData.of(np.arange(4, dtype=np.float32)), 1 << 26), FillData(b"\1", 1 << 26)]
)
def test_partly_written_buffers_are_not_stored(data: Data) -> None:
    """Four numbers are written into 64 MiB, which are described by 16 bytes or 1."""
    row = t("FLOAT32", (4,))
    before, after = Value("y", data.nbytes), Value("y#1", data.nbytes)
    op = operator("ELEMENT_WISE_IDENTITY", InputTensor=row, OutputTensor=row)
    node = Node("part", op, {"InputTensor": (Read(Value("x", 16)),)}, {"OutputTensor": (Write(after, 32, before),)})
    (read,) = node.reads["InputTensor"]
    whole = GraphOutput("y", after, t("FLOAT32", (data.nbytes // 4,)))
    graph = Graph((node,), (GraphInput("x", read.value),), (whole,), (Constant(before, data),))
    model = compile(graph)
    assert model.weight_bytes < 1 << 12
    want = data.read().copy().view(np.float32)
    want[8:12] = 5, 6, 7, 8
    np.testing.assert_array_equal(model.run({"x": np.array([5, 6, 7, 8], np.float32)})["y"], want)


def test_limits_per_node_and_in_total() -> None:
    budget = Budget(input_bytes=100)
    budget.begin("a", "JOIN")
    budget.spend(NODE_BYTES)
    budget.begin("b", "JOIN")
    budget.spend(NODE_BYTES)
    budget.begin("c", "JOIN")
    budget.spend(400)  # four times the input
    assert not budget.affords(1)
    for reserve in (lambda: budget.spend(1), lambda: budget.require(1)):
        with pytest.raises(DmlError) as caught:
            reserve()
        (item,) = caught.value.diagnostics
        assert (item.code, item.node, item.operator) == ("DML2007", "c", "JOIN")
        assert "for all nodes together" in item.message
    with pytest.raises(DmlError, match="for one node"):
        Budget().spend(NODE_BYTES + 1)
    budget.begin("d", "JOIN")
    with pytest.raises(DmlError, match="for all nodes together"):
        budget.spend(budget.for_node)


def test_limit_of_stored_constants() -> None:
    budget = Budget(input_bytes=100)
    for _ in range(2):
        budget.store(TOTAL_BYTES // 2 + 250)
    with pytest.raises(DmlError):
        budget.store(1)


def test_limit_of_nodes() -> None:
    Budget().count_node(NODE_COUNT - 1)
    with pytest.raises(DmlError, match="ONNX nodes"):
        Budget().count_node(NODE_COUNT)


def test_small_models_are_folded() -> None:
    op = operator("ELEMENT_WISE_ADD", ATensor=SQUARE, BTensor=SQUARE, OutputTensor=SQUARE)
    graph = make_case(op, constants=("ATensor", "BTensor")).graph
    assert compile_outputs(graph, graph.outputs).node_count <= 1
