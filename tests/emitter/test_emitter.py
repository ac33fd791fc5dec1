"""The emitter: folding, shared constants, types, names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

from dml2onnx import legalise
from dml2onnx.emitter import Emitter, NoKernelError, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.onnx_model import UNKNOWN, OnnxGraph, Origin
from dml2onnx.targets import target
from dml2onnx.writer import Header, model_bytes
from tests.emitter.models import model_of


def emitter(opset: int = 21, provider: str = "cpu") -> Emitter:
    e = Emitter(target(provider, opset))
    e.begin("node", "TEST")
    return e


def computed(shape: tuple[int, ...] = (2, 3), dtype: npt.DTypeLike = np.float32, name: str = "x") -> Tensor:
    return Tensor(name, np.dtype(dtype), shape)


def emitted(e: Emitter) -> list[str]:
    return [node.op_type for node in e.emitted]


@pytest.mark.parametrize(("below", "kept"), [(128, 128), (129, None)])
def test_cast_keeps_an_upper_limit_that_fits_the_type(below: int, kept: int | None) -> None:
    x = computed(dtype=np.int64)
    x.below = below
    assert emitter().Cast(x, np.dtype(np.int8)).below == kept


def test_operations_on_constants_are_evaluated() -> None:
    e = emitter()
    weights = e.constant(np.arange(6, dtype=np.float32).reshape(2, 3), label="w")
    result = e.Mul(e.Transpose(e.Flip(weights, [1]), (1, 0)), e.constant(2.0, np.float32))
    np.testing.assert_array_equal(result.constant, 2 * np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1].T)
    assert emitted(e) == []
    assert e.initializers == {}


@pytest.mark.parametrize("exact", [False, True])
def test_adding_zero_is_dropped_except_in_exact_models(exact: bool) -> None:
    e = Emitter(target("cpu", 21, exact=exact))
    e.begin("node", "TEST")
    zero = e.constant(0, np.float32)
    assert {e.Add(*pair).shape for pair in ((computed(), zero), (zero, computed()))} == {(2, 3)}
    assert emitted(e) == ["Add", "Add"] * exact


def test_folding_does_not_make_models_larger() -> None:
    e = emitter()
    wide = e.Expand(e.constant(np.zeros((1, 1), np.float32)), (2048, 2048))
    assert wide.value is None
    assert emitted(e) == ["Expand"]


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(lambda e, x: e.Reshape(x, (2, 3)), id="reshape"),
        pytest.param(lambda e, x: e.Transpose(x, (0, 1)), id="transpose"),
        pytest.param(lambda e, x: e.Slice(x, (0, 0), (2, 3)), id="slice"),
        pytest.param(lambda e, x: e.Expand(x, (2, 3)), id="expand"),
        pytest.param(lambda e, x: e.Concat([x], 1), id="concat"),
        pytest.param(lambda e, x: e.Pad(x, (0, 0), (0, 0)), id="pad"),
        pytest.param(lambda e, x: e.Cast(x, np.dtype(np.float32)), id="cast"),
        pytest.param(lambda e, x: e.Mul(x, e.constant(1, np.float32)), id="mul"),
        pytest.param(lambda e, x: e.Flip(e.Reshape(x, (2, 3)), []), id="flip"),
    ],
)
def test_identities_are_never_emitted(operation) -> None:
    e = emitter()
    x = computed()
    assert operation(e, x) is x
    assert emitted(e) == []


def test_transposes_that_move_nothing_are_reshapes() -> None:
    e = emitter()
    assert e.Transpose(computed((1, 5, 1)), (1, 0, 2)).shape == (5, 1, 1)
    assert emitted(e) == ["Reshape"]


def test_equal_constants_are_one_initializer() -> None:
    e = emitter()
    x = computed()
    for _ in range(3):
        x = e.Add(x, e.constant(np.full((2, 3), 7, np.float32)))
    e.Add(x, e.constant(np.full((3,), 7, np.float32)))
    assert len(e.initializers) == 2


def test_large_constants_are_shared_by_identity() -> None:
    e = emitter()
    array = np.zeros((1024, 512), np.float32)
    x = computed((1024, 512))
    e.Add(e.Add(x, e.constant(array)), e.constant(array))
    assert len(e.initializers) == 1


def test_weights_keep_their_names() -> None:
    e = Emitter(weights=frozenset({"filter"}))
    e.begin("conv", "CONVOLUTION")
    weights = e.constant(np.ones((4, 3), np.float32), label="filter")
    e.MatMul(computed((2, 3)), e.Transpose(weights, (1, 0)))
    assert list(e.initializers) == ["filter"]


def test_node_names_include_their_origin() -> None:
    e = emitter()
    x = e.Relu(computed())
    e.Relu(e.Sigmoid(x))
    origin = e.end()
    assert [node.name for node in origin.nodes] == ["node/Relu", "node/Sigmoid", "node/Relu_2"]
    assert (origin.node, origin.operator, origin.operators) == ("node", "TEST", ("Relu", "Sigmoid", "Relu"))


def test_nodes_of_one_name_do_not_collide() -> None:
    e = emitter()
    first = e.Relu(computed())
    e.begin("node", "TEST")
    second = e.Relu(computed())
    assert first.name != second.name


@pytest.mark.parametrize(
    ("dtype", "operators"),
    [
        pytest.param(np.float32, ["Pad"], id="float32"),
        pytest.param(np.int16, ["Cast", "Pad", "Cast"], id="int16-through-int32"),
        pytest.param(np.uint64, ["Pad"], id="uint64"),
    ],
)
def test_types_are_legalised_with_casts(dtype: type, operators: list[str]) -> None:
    e = emitter()
    result = e.Pad(computed(dtype=dtype), (1, 0), (0, 1), value=3)
    assert result.dtype == dtype
    assert emitted(e) == operators


def test_integer_arithmetic_stays_among_integers() -> None:
    e = emitter()
    for dtype in map(np.dtype, ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")):
        x, y = computed(dtype=dtype), computed(dtype=dtype, name="y")
        results = [e.Add(x, y), e.Sub(x, y), e.Mul(x, y), e.CumSum(x, 0)]
        assert {item.dtype for item in results} == {dtype}
    casts = {node.attributes["to"] for node in e.emitted if node.op_type == "Cast"}
    assert casts
    assert not casts & {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE}


def test_operators_without_exact_kernels_are_refused() -> None:
    e = emitter()
    window = Window((2, 2), (1, 1), (1, 1), (0, 0), (0, 0))
    with pytest.raises(NoKernelError, match="MaxPool for int64"):
        e.MaxPool(computed((1, 1, 4, 4), np.int64), window)
    assert not e.supports("MaxPool", np.dtype(np.int64))
    assert e.supports("MaxPool", np.dtype(np.int32))
    assert not e.has_kernel("MaxPool", np.dtype(np.int32))


def test_division_of_constants_truncates() -> None:
    e = emitter()
    a = e.constant(np.array([-7, 7, -7, 7, 6], np.int32))
    b = e.constant(np.array([2, -2, -2, 2, 3], np.int32))
    np.testing.assert_array_equal(e.Div(a, b).constant, [-3, -3, 3, 3, 2])


def test_renaming_follows_the_readers() -> None:
    e = emitter()
    x = computed()
    y = e.Relu(x)
    z = e.Sigmoid(y)
    y.name = "result"
    relu, sigmoid = model_of(e, [x], [z]).graph.node
    assert list(relu.output) == list(sigmoid.input) == ["result"]
    assert relu.name == "node/Relu"


@pytest.mark.parametrize("opset", range(17, 24))
def test_reductions_match_the_opset(opset: int) -> None:
    e = emitter(opset)
    x = computed()
    model = model_of(e, [x], [e.ReduceMax(e.ReduceSum(x, (0,)), (1,))])
    assert [node.op_type for node in model.graph.node] == ["ReduceSum", "ReduceMax"]


def test_unknown_sizes_are_omitted_from_the_model() -> None:
    e = emitter()
    limit = e.constant(3, np.int64)
    np.testing.assert_array_equal(e.Unsqueeze(e.Range(limit), (1, 2)).constant, np.arange(3).reshape(3, 1, 1))
    assert e.Flatten(computed((2, 3))).shape == (6,)
    many = e.Unsqueeze(e.Range(computed((), np.int64, "count")), (1,))
    row = e.Flatten(e.Add(e.Cast(many, np.dtype(np.float32)), computed((1, 3))))
    assert many.shape == (UNKNOWN, 1)
    assert row.shape == (UNKNOWN,)
    graph = OnnxGraph((Origin("node", "TEST", e.emitted),), {}, (), ())
    model = onnx.load_from_string(model_bytes(graph, Header("g", 21, 10, {})))
    shapes = {item.name: item.type.tensor_type.shape.dim for item in model.graph.value_info}
    assert [item.HasField("dim_value") for item in shapes[many.name]] == [False, True]
    assert [item.HasField("dim_value") for item in shapes[row.name]] == [False]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_runtime_keeps_sums_that_turn_minus_zero_into_zero(dtype: npt.DTypeLike) -> None:
    numbers = np.array([-0.0, 0.0, -1.0, np.inf, np.nan], dtype)
    e = legalise.emitter(target("cpu", 21))
    e.begin("node", "TEST")
    x = computed(numbers.shape, dtype)
    sums = [e.Add(x, e.constant(zero, dtype)) for zero in (0.0, -0.0)] + [e.Add(e.constant(0.0, dtype), x)]
    session = onnxruntime.InferenceSession(model_of(e, [x], sums).SerializeToString())
    with np.errstate(invalid="ignore"):
        wanted = [numbers + np.asarray(zero, dtype) for zero in (0.0, -0.0, 0.0)]
    for got, want in zip(session.run(None, {"x": numbers}), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_constants_are_named_after_their_role_in_the_first_reader() -> None:
    e = emitter()
    x = e.Mul(computed(), e.constant(2, np.float32))
    e.Add(e.Reshape(x, (3, 2)), e.constant(2, np.float32))
    e.Concat([x, e.constant(np.ones((2, 3), np.float32))], 0)
    assert [*e.initializers] == ["node/factor", "node/shape", "node/part"]


NEVER_NEGATIVE: dict[str, Callable[[Emitter, Tensor], Tensor]] = {
    "square": lambda e, x: e.Mul(x, x),
    "magnitude": lambda e, x: e.Abs(x),
    "norm": lambda e, x: e.ReduceL2(x, (1,)),
    "part of a root": lambda e, x: e.Slice(e.Sqrt(x), (0, 0), (1, 3)),
    "sum": lambda e, x: e.Add(e.ReduceMean(e.Mul(x, x), (1,)), e.constant(1.5, x.dtype)),
    "padded": lambda e, x: e.Pad(e.Exp(x), (0, 1), (0, 0)),
    "truth": lambda e, x: e.Cast(e.IsNaN(x), x.dtype),
    "joined": lambda e, x: e.Concat([e.Relu(x), e.constant([[0, 1, 2]], x.dtype)], 0),
}
"""Values that are nonnegative by the operators that produce them."""

PERHAPS_NEGATIVE: dict[str, Callable[[Emitter, Tensor], Tensor]] = {
    "input": lambda e, x: x,
    "product": lambda e, x: e.Mul(x, e.Abs(x)),
    "difference": lambda e, x: e.Sub(e.Abs(x), e.constant(1, x.dtype)),
    "sum": lambda e, x: e.Add(e.Mul(x, x), e.constant(-1, x.dtype)),
    "padded": lambda e, x: e.Pad(e.Exp(x), (0, 1), (0, 0), value=-1.0),
    "square that wraps": lambda e, x: e.Mul(*(e.Cast(x, np.dtype(np.int32)),) * 2),
    "square cast behind wrapping": lambda e, x: e.Cast(e.Mul(*(e.Cast(x, np.dtype(np.int32)),) * 2), x.dtype),
    "joined": lambda e, x: e.Concat([e.Relu(x), e.constant([[0, 1, -2]], x.dtype)], 0),
    # dividing by -0.0, which is not below 0, gives negative numbers
    "quotient": lambda e, x: e.Div(e.Abs(x), e.Sqrt(x)),
}


@pytest.mark.parametrize("emit", NEVER_NEGATIVE.values(), ids=NEVER_NEGATIVE)
def test_values_known_to_be_nonnegative(emit: Callable[[Emitter, Tensor], Tensor]) -> None:
    assert emit(emitter(), computed()).is_never_negative


@pytest.mark.parametrize("emit", PERHAPS_NEGATIVE.values(), ids=PERHAPS_NEGATIVE)
def test_values_not_known_to_be_nonnegative(emit: Callable[[Emitter, Tensor], Tensor]) -> None:
    assert not emit(emitter(), computed()).is_never_negative
