"""TOP_K and the CUMULATIVE operators against the reference."""

from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.emitter import Emitter
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, make_case, operator, operators, t, whole_range

CUMULATIVE = {"CUMULATIVE_SUMMATION": "HasExclusiveSum", "CUMULATIVE_PRODUCT": "HasExclusiveProduct"}
DIRECTIONS = ["INCREASING", "DECREASING"]
SHAPE = (3, 4, 5)
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
WIDE_INTEGERS = ["INT32", "INT64", "UINT32", "UINT64"]


def top_k(
    k=2, axis=1, direction="DECREASING", data_type="FLOAT32", sizes=SHAPE, strides=None, index="UINT32", name="TOP_K1"
):
    output = (*sizes[:axis], k, *sizes[axis + 1 :])
    direction = {} if name == "TOP_K" else {"AxisDirection": direction}
    return operator(
        name,
        InputTensor=t(data_type, sizes, strides),
        OutputValueTensor=t(data_type, output),
        OutputIndexTensor=t(index, output),
        Axis=axis,
        K=k,
        **direction,
    )


def cumulative(name, exclusive=False, axis=1, direction="INCREASING", data_type="FLOAT32", sizes=SHAPE, strides=None):
    return operator(
        name,
        InputTensor=t(data_type, sizes, strides),
        OutputTensor=t(data_type, sizes),
        Axis=axis,
        AxisDirection=direction,
        **{CUMULATIVE[name]: exclusive},
    )


def every(data_type, **options):
    """Yields descriptors of all operators and modes for a data type."""
    for direction in DIRECTIONS:
        yield top_k(direction=direction, data_type=data_type, **options)
        if data_type.startswith("FLOAT") or data_type in WIDE_INTEGERS:
            for name in CUMULATIVE:
                for exclusive in [False, True]:
                    yield cumulative(name, exclusive, direction=direction, data_type=data_type, **options)


def run(op, x, constants=()):
    """Checks an operator; returns its outputs."""
    model = check_case(op, inputs={"InputTensor": x}, constants=constants)
    return model.run({} if constants else {"InputTensor": x})


# --- TOP_K -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_equal_elements_keep_their_order(data_type, direction, axis):
    """For any K, since kernels choose their algorithm by it; -0 equals 0 and keeps its sign."""
    sizes = tuple(40 if i == axis else 2 for i in range(3))
    x = np.random.default_rng(1).integers(0, 4, sizes).astype(DataType[data_type].dtype)
    if data_type.startswith("FLOAT"):
        x = np.where(np.random.default_rng(2).random(sizes) < 0.5, -0.0, x).astype(x.dtype)
    for k in [1, 2, 5, 20, 39, 40]:
        got = run(top_k(k, axis, direction, data_type, sizes), x)
        picked = np.take_along_axis(x, got["OutputIndexTensor"].astype(np.int64), axis)
        assert picked.tobytes() == got["OutputValueTensor"].tobytes()


@pytest.mark.parametrize("data_type", INTEGERS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_integers_compare_exactly(data_type, direction):
    for sizes in [(3, 17), (1, 300)]:
        x = whole_range(data_type, sizes)
        for k in [1, 4, sizes[1]]:
            run(top_k(k, 1, direction, data_type, sizes, index="UINT64"), x)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("constants", [[], ["InputTensor"]])
def test_nan_comes_last_in_order(data_type, direction, constants):
    """Also after infinities; the reference leaves such rows unspecified."""
    x = np.array([[3, np.nan, np.inf, -1, -np.inf, np.nan, 3, 0, -np.inf]] * 2, DataType[data_type].dtype)
    x[1] = np.nan
    order = [2, 0, 6, 7, 3, 4, 8, 1, 5] if direction == "DECREASING" else [4, 8, 3, 7, 0, 6, 2, 1, 5]
    for k in [1, 4, 8, 9]:
        got = run(top_k(k, 1, direction, data_type, x.shape), x, constants)
        np.testing.assert_array_equal(got["OutputIndexTensor"], [order[:k], list(range(9))[:k]])
        np.testing.assert_array_equal(got["OutputValueTensor"], [x[0, order[:k]], x[1, :k]])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_nans(direction):
    x = np.random.default_rng(0).normal(size=(4, 5000)).astype(np.float32)
    x[np.random.default_rng(1).random(x.shape) < 0.3] = np.nan
    for k in [3, 2500, 5000]:
        got = run(top_k(k, 1, direction, sizes=x.shape), x)
        key = np.where(np.isnan(x), np.inf, x if direction == "INCREASING" else -x)
        np.testing.assert_array_equal(got["OutputIndexTensor"], np.argsort(key, 1, kind="stable")[:, :k])


def test_forms_of_top_k():
    assert operators(check_case(top_k(data_type="INT32"))) == ["TopK", "Cast"]
    assert operators(check_case(top_k(data_type="INT64", index="UINT64"))) == ["TopK", "Cast"]
    nodes = operators(check_case(top_k(data_type="FLOAT32")))
    assert sorted(nodes) == ["Cast", "Cast", "Clip", "GatherElements", "IsNaN", "TopK", "Where"]
    assert operators(check_case(top_k(), target="dml")) == ["TopK", "Cast"]


def test_dml_sorts_unsigned_integers():
    case = make_case(top_k(data_type="UINT64"))
    nodes = operators(compile_outputs(case.graph, case.graph.outputs, opset=21, target="dml"))
    assert nodes == ["TopK", "Cast"]


def test_folded_top_k_equals_the_kernel():
    x = np.array([[1, 3, 2, 3, 1]], np.int32)
    for largest, order in [(True, [1, 3, 2, 0, 4]), (False, [0, 4, 2, 1, 3])]:
        values, indices = Emitter().TopK(Emitter().constant(x), 5, 1, largest=largest)
        np.testing.assert_array_equal(indices.constant, [order])
        np.testing.assert_array_equal(values.constant, [x[0, order]])


# --- running sums and products ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", WIDE_INTEGERS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("name", CUMULATIVE)
def test_integers_wrap(name, data_type, direction, exclusive):
    for sizes, axis in [((2, 70, 3), 1), ((130,), 0), ((2, 9), 1), ((9, 2), 0)]:
        x = whole_range(data_type, sizes) | np.asarray(name == "CUMULATIVE_PRODUCT", DataType[data_type].dtype)
        run(cumulative(name, exclusive, axis, direction, data_type, sizes), x)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 64, 65, 127, 128, 129, 513, 1025])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_running_products_of_every_length(length, direction):
    """Full and partial blocks, and blocks of blocks."""
    for exclusive in [False, True]:
        for sizes, axis in [((2, length), 1), ((length, 3), 0)]:
            op = cumulative("CUMULATIVE_PRODUCT", exclusive, axis, direction, "INT64", sizes)
            run(op, whole_range("INT64", sizes) | 1)
            x = np.random.default_rng(0).normal(1, 0.05, sizes).astype(np.float32)
            run(cumulative("CUMULATIVE_PRODUCT", exclusive, axis, direction, sizes=sizes), x)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("name", CUMULATIVE)
def test_special_numbers(name, data_type, direction, exclusive):
    dtype: np.dtype[Any] = DataType[data_type].dtype
    rng = np.random.default_rng(3)
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.0, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max]
    for length in [4, 40]:
        x = rng.normal(size=(60, length)).astype(dtype)
        x[np.arange(60), rng.integers(0, length, 60)] = rng.choice(special, 60)
        x[np.arange(60), rng.integers(0, length, 60)] = rng.choice(special, 60)
        run(cumulative(name, exclusive, 1, direction, data_type, x.shape), x)


def test_forms_of_running_sums_and_products():
    assert operators(check_case(cumulative("CUMULATIVE_SUMMATION"))) == ["CumSum"]
    assert operators(check_case(cumulative("CUMULATIVE_SUMMATION", True, 0, "DECREASING"))) == ["CumSum"]
    assert operators(check_case(cumulative("CUMULATIVE_PRODUCT"))) == ["Split", "Mul", "Mul", "Mul", "Concat"]
    assert len(operators(check_case(cumulative("CUMULATIVE_PRODUCT", sizes=(1, 1024))))) < 80


# --- layouts ---------------------------------------------------------------------------------------------------------


def test_broadcast_elements_are_computed_once():
    for op in every("FLOAT32", axis=1, strides=(0, 5, 1)):
        assert "Expand" in operators(check_case(op))[-2:]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
def test_constants_fold(data_type):
    for op in every(data_type):
        nodes = operators(check_case(op, constants=["InputTensor"], extremes=True))
        assert set(nodes) <= {"Identity"}, op
