"""If lowerings choose another form at some size, the model for all sizes is right there, or is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.builder.expression import Expression
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.named_sizes import difference
from dml2onnx.named_sizes.slices import BEHIND, open_ended
from dml2onnx.onnx_model import FLOAT, INT64, OnnxNode, OnnxValue
from dml2onnx.sizes.expressions import Expr, Symbol, SymbolKind
from dml2onnx.sizes.named import spelled
from dml2onnx.sizes.solver import Requirement, Solver
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.sized_trials import at, wrong_shapes
from tests.sizes.networks import ROOT

PLACE = Requirement("node", "", "", "")


def _graph(step: Callable[[GraphBuilder, Expression], Expression], *sizes: int) -> dml2onnx.Graph:
    g = GraphBuilder()
    x = g.input("x", np.float32, list(sizes))
    return g.build({"y": step(g, x)})


def _follows(
    graph: dml2onnx.Graph, names: tuple[int | str, ...], ranges: dict[str, tuple[int, int]], *several: tuple[int, ...]
) -> dml2onnx.CompiledModel:
    """Compiles the model for all sizes, and compares it with the models of several sizes."""
    model = dml2onnx.compile(graph, sizes={"x": names}, ranges=ranges)
    for sizes in several:
        x = np.random.default_rng(sum(sizes)).random(sizes, np.float32)
        wanted = dml2onnx.run(graph, {"x": x}, sizes={"x": sizes})
        np.testing.assert_array_equal(model.run({"x": x})["y"], wanted["y"])
    return model


def _unfolded(g: GraphBuilder, x: Expression) -> Expression:
    """For even sizes, the last element is not in a window."""
    return g.unfold(x, [2], [2], [1], [1], [0])


def _reflected(g: GraphBuilder, x: Expression) -> Expression:
    return g.padding(x, "REFLECTION", 0.0, [0, 0, 0, 2], [0, 0, 0, 4])


def _multiplied(g: GraphBuilder, x: Expression) -> Expression:
    return g.cumulative_product(x, 3, "INCREASING", False)


@pytest.mark.parametrize(
    ("step", "sizes", "names", "ranges"),
    [
        (_unfolded, (2, 3, 6), (2, 3, "W"), {"W": (5, 9)}),
        (_reflected, (1, 3, 4, 9), (1, 3, 4, "W"), {"W": (3, 20)}),
        (_multiplied, (1, 2, 3, 4), (1, 2, 3, "W"), {"W": (1, 8)}),
    ],
    ids=["unfold", "reflection", "product"],
)
def test_another_form_at_some_sizes(
    step: Callable[[GraphBuilder, Expression], Expression],
    sizes: tuple[int, ...],
    names: tuple[int | str, ...],
    ranges: dict[str, tuple[int, int]],
) -> None:
    graph = _graph(step, *sizes)
    with pytest.raises(DmlError, match="another form is chosen at W=") as caught:
        dml2onnx.compile(graph, sizes={"x": names}, ranges=ranges)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.node) == ("DML2105", graph.nodes[0].name)


def test_reflections_of_enough_elements() -> None:
    graph, at = _graph(_reflected, 1, 3, 4, 9), [(1, 3, 4, width) for width in (5, 6, 20)]
    _follows(graph, (1, 3, 4, "W"), {"W": (5, 20)}, *at)


@pytest.mark.parametrize(
    "steps", [(1, 3), (2, 1), (1, -2), (-2, -3), (-1, 2), (3, -1)], ids=lambda steps: "by".join(map(str, steps))
)
def test_slices_over_all_elements_with_steps(steps: tuple[int, int]) -> None:
    """Their last element differs between sizes."""

    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.slice1(x, [0, 0, 0, 0], x.sizes, [1, 1, *steps])

    places = ((1, 1), (9, 14), (2, 3), (3, 2), (7, 13), (8, 11), (5, 4), (1, 12), (9, 1))
    ranges = {"N": (1, 3), "H": (1, 9), "W": (1, 14)}
    model = _follows(_graph(step, 2, 3, 6, 8), ("N", 3, "H", "W"), ranges, *((2, 3, *place) for place in places))
    assert "Slice" in [node.op_type for node in model.lowered.nodes]


def test_pooling_with_windows_of_one_element() -> None:
    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.average_pooling(x, [2, 2], [1, 1])

    at = [(1, 3, *place) for place in ((1, 1), (9, 9), (2, 9), (5, 8), (8, 5))]
    _follows(_graph(step, 1, 3, 6, 8), (1, 3, "H", "W"), {"H": (1, 9), "W": (1, 9)}, *at)


def test_half_of_the_rows_are_not_all_rows() -> None:
    """An end that equals the number of columns is not the end of the rows."""
    nodes, constants = [], []
    for size in (4, 6, 10):
        numbers = {"starts": [0, 0], "ends": [size, size], "axes": [0, 1]}
        inputs = tuple(OnnxValue(name, INT64, (2,)) for name in numbers)
        data = OnnxValue("x", FLOAT, (2 * size, size))
        nodes.append(OnnxNode("slice", "Slice", (data, *inputs), (OnnxValue("y", FLOAT, (size, size)),), {}))
        constants.append({name: np.array(row, INT64) for name, row in numbers.items()})
    ends = open_ended(nodes, constants)[2]
    assert [row.tolist() for row in ends] == [[4, BEHIND], [6, BEHIND], [10, BEHIND]]


def test_a_reduction_over_fewer_axes_is_another_form() -> None:
    """It adds in another order, which is not an error of the model that reduces over all axes."""

    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.reduce(x, "SUM", [1, 3])

    one, several = (dml2onnx.compile(_graph(step, 1, channels, 3, 4)) for channels in (1, 5))
    other = dml2onnx.compile(_graph(step, 2, 7, 3, 4))
    assert difference(several.lowered, one.lowered) == "reduce"
    assert difference(several.lowered, other.lowered) is None


def test_products_of_sizes_that_no_tensor_has() -> None:
    """Resampling along the width merges all other dimensions."""

    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.resample(x, [*x.sizes[:3], x.sizes[3] // 2], "LINEAR", scales=[1, 1, 1, 0.5])

    ranges = {"N": (1, 7), "H": (2, 13), "W": (2, 16)}
    _follows(_graph(step, 4, 3, 6, 8), ("N", 3, "H", "W"), ranges, (1, 3, 2, 2), (7, 3, 13, 16), (5, 3, 11, 6))


@pytest.mark.parametrize("last", [8, 14, 15, 16])
def test_windows_at_odd_sizes(last: int) -> None:
    """The models are compiled at odd sizes as well, where the last row needs padding."""

    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.average_pooling(x, [2, 2], [2, 2], [0, 0], [1, 1])

    ranges, at = {"N": (2, 7), "C": (1, 3), "H": (2, last)}, [(3, 3, height, 7) for height in range(2, last + 1)]
    _follows(_graph(step, 2, 3, 8, 7), ("N", "C", "H", 7), ranges, *at)


def test_windows_with_a_rest_at_even_sizes() -> None:
    """The models are compiled at even sizes as well, where there is one more window."""
    numbers = {"Strides": (2, 1), "WindowSize": (3, 2), "StartPadding": (0, 0), "EndPadding": (0, 0), "P": 1}
    op = plain("LP_POOLING", InputTensor=sized(2, 3, 8, 8), OutputTensor=sized(2, 3, 4, 7), **numbers)
    ranges = {"N": (2, 7), "C": (1, 3), "H": (2, 15)}
    with pytest.raises(DmlError) as caught:
        dml2onnx.compile(single_node(op), sizes={"InputTensor0": ("N", "C", "H", 8)}, ranges=ranges, exact=True)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.node) == ("DML2105", "node")


def _tagged(lengths: bool) -> dml2onnx.Graph:
    """An LSTM with named batch and time, whose lengths are an input or constants."""
    rng = np.random.default_rng(6)
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 5, 3, 4])
    weight, recurrence = (rng.normal(0, 0.4, (1, 1, 8, width)).astype(np.float32) for width in (4, 2))
    known = g.constant(np.array([5, 2, 4], np.uint32).reshape(1, 1, 1, 3))
    activations = ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"]
    read = g.lstm(
        x, weight, recurrence, activations, "FORWARD", 0.0, False, False,
        sequence_lengths=known if lengths else None, output_single=False, output_cell_single=False, name="lstm",
    )  # fmt: skip
    assert read.sequence is not None
    return g.build({"y": g.activation_identity(read.sequence)})


def test_an_lstm_with_named_batch_and_time() -> None:
    at = [(1, time, batch, 4) for time, batch in ((1, 1), (7, 3), (64, 16))]
    _follows(_tagged(lengths=False), (1, "T", "N", 4), {"T": (1, 64), "N": (1, 16)}, *at)


def test_constant_lengths_limit_the_time() -> None:
    graph = _tagged(lengths=True)
    with pytest.raises(DmlError, match='"lstm": at T=1 there are fewer elements') as caught:
        dml2onnx.compile(graph, sizes={"x": (1, "T", 3, 4)}, ranges={"T": (1, 64)})
    assert caught.value.diagnostics[0].code == "DML2105"
    model = dml2onnx.compile(graph, sizes={"x": (1, "T", 3, 4)}, ranges={"T": (5, 64)})
    assert model.run({"x": np.ones((1, 5, 3, 4), np.float32)})["y"].shape == (5, 1, 3, 2)


def test_overlapping_elements_stay() -> None:
    numbers = {"Strides": (2, 2), "WindowSize": (3, 3), "StartPadding": (0, 0), "EndPadding": (0, 0)}
    own = TensorDesc(DataType.FLOAT32, (1, 4, 8, 8), (1, 1, 1, 1))
    graph = single_node(plain("MAX_POOLING", InputTensor=own, OutputTensor=sized(1, 4, 4, 3), **numbers))
    assert not dml2onnx.check(graph)
    (finding,) = dml2onnx.check(graph, sizes={"InputTensor0": (1, 2, 8, 8)})
    assert (finding.code, finding.node) == ("DML2102", "node")
    assert "overlap" in finding.message


# --- Texts of sizes ------------------------------------------------------------------------------------------------


def test_expressions_have_no_quotients_of_names() -> None:
    solver = Solver()
    height = solver.symbol("H", 16, SymbolKind.REQUESTED)
    part = solver.quotient(height, 8, PLACE).expr
    assert str(part) == "H/8"
    assert str(spelled(part.scaled(16), solver)) == "2*H"
    assert str(spelled((part + Expr.of(1)).divided(2), solver)) == "floor((H + 8)/16)"
    assert str(spelled(part.scaled(3), solver)) == "3*(H/8)"


def test_rounding_up_is_written_as_rounding_down() -> None:
    h = Expr.of(Symbol(0, "H", 9, SymbolKind.REQUESTED))
    rounded_up = Expr.of(0) - (Expr.of(1) - h).divided(2)
    assert str(rounded_up) == "floor(H/2)"
    assert [at(str(rounded_up), {"H": size}) for size in range(1, 6)] == [0, 1, 1, 2, 2]
    assert rounded_up == h.divided(2)


def test_shapes_in_the_model_are_expressions() -> None:
    """All values have shapes, and values that hold sizes are named after them."""
    ranges = {"N": (1, 4), "H": (16, 240), "W": (16, 240)}
    model = dml2onnx.compile(ROOT / "samples/picture/model.json", sizes={"picture": ("N", 3, "H", "W")}, ranges=ranges)
    proto = model.model_proto
    dims = [dim for item in proto.graph.value_info for dim in item.type.tensor_type.shape.dim]
    assert {"N", "H + 2", "W + 2", "16*floor(H/8)", "4*W"} <= {dim.dim_param for dim in dims}
    assert all(dim.WhichOneof("value") for dim in dims)
    values = {"N": 2, "H": 24, "W": 40}
    picture = np.random.default_rng(0).random((2, 3, 24, 40), np.float32)
    assert wrong_shapes(model, {"picture": picture}, values) == ""


def _rows() -> dml2onnx.CompiledModel:
    g = GraphBuilder(ranges={"N": (1, 4), "H": (2, 9), "W": (2, 9)})
    x = g.input("x", np.float32, ["N", 3, "H", "W"])
    n, c, h, w = x.sizes
    rows = g.reinterpret(g.activation_relu(x), sizes=[1, n * c, 1, h * w])
    softmax = g.activation_softmax(rows, [3])
    return dml2onnx.compile(g.build({"y": g.add(g.reinterpret(softmax, sizes=[n, c, h, w]), x)}))


def test_values_that_hold_sizes_are_named_after_them() -> None:
    sizes = [node for node in _rows().lowered.nodes if node.op_type in ("Shape", "Mul", "Concat")]
    assert sizes
    assert all(
        any(name in node.outputs[0].name.rpartition("/")[2] for name in "NHW") for node in sizes if node.outputs[0]
    )
    assert len({node.name for node in _rows().lowered.nodes}) == len(_rows().lowered.nodes)


def test_shapes_in_the_model_change_no_results() -> None:
    """Compares models with shapes, without shapes, and after ONNX's shape inference."""
    import onnxruntime

    model = _rows()
    proto = model.model_proto
    onnx.checker.check_model(proto, full_check=True)
    bare = onnx.ModelProto.FromString(proto.SerializeToString())
    del bare.graph.value_info[:]
    inferred = onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    stated = {item.name: item for item in proto.graph.value_info}
    for item in inferred.graph.value_info:
        assert item.type == stated[item.name].type
    sessions = [
        onnxruntime.InferenceSession(item.SerializeToString(), providers=["CPUExecutionProvider"])
        for item in (proto, bare, inferred)
    ]
    for sizes in ((1, 3, 2, 9), (4, 3, 5, 5), (3, 3, 9, 2)):
        x = np.random.default_rng(0).random(sizes, np.float32)
        one, *others = [session.run(None, {"x": x})[0] for session in sessions]
        for other in others:
            np.testing.assert_array_equal(other, one)
