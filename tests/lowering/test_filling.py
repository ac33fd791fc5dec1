"""FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE, DIAGONAL_MATRIX and RANDOM_GENERATOR against the reference."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dml2onnx.ir.operator import Scalar
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, operator, operators, t

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
MANY = (1 << 20) + 3
"""More elements than a model stores instead of computing them."""


def scalar(data_type, value):
    kind = DataType[data_type]
    if kind.is_float:
        with np.errstate(over="ignore"):
            return Scalar(kind, float(np.asarray(value, kind.dtype)))
    return Scalar(kind, min(max(int(value), kind.limits[0]), kind.limits[1]))


def constant(data_type="FLOAT32", sizes=(2, 3), value=3, out=None):
    fields = {"ValueDataType": data_type, "Value": scalar(data_type, value)}
    return operator("FILL_VALUE_CONSTANT", OutputTensor=t(data_type, sizes, out), **fields)


def sequence(data_type="FLOAT32", sizes=(2, 3), start=3, delta=2, out=None):
    fields = {"ValueStart": scalar(data_type, start), "ValueDelta": scalar(data_type, delta)}
    return operator("FILL_VALUE_SEQUENCE", OutputTensor=t(data_type, sizes, out), ValueDataType=data_type, **fields)


def diagonal(data_type="FLOAT32", sizes=(3, 4), offset=1, value=2.5, out=None):
    return operator("DIAGONAL_MATRIX", OutputTensor=t(data_type, sizes, out), Offset=offset, Value=float(value))


def band(data_type="FLOAT32", sizes=(3, 4), begin=0, end=2, value=7, present=True, strides=None, out=None):
    return operator(
        "DIAGONAL_MATRIX1",
        InputTensor=t(data_type, sizes, strides) if present else None,
        OutputTensor=t(data_type, sizes, out),
        ValueDataType=data_type,
        Value=scalar(data_type, value),
        DiagonalFillBegin=begin,
        DiagonalFillEnd=end,
    )


def random(sizes):
    state, output = t("UINT32", (1, 1, 1, 6)), t("UINT32", sizes)
    fields = {"InputStateTensor": state, "OutputTensor": output, "OutputStateTensor": state}
    return operator("RANDOM_GENERATOR", **fields, Type="PHILOX_4X32_10")


def generate(sizes, counter, key, **settings):
    """Returns the ONNX operators for random words and the new state."""
    state = np.array([*counter, *key], np.uint32)
    return operators(check_case(random(sizes), inputs={"InputStateTensor": state}, **settings))


# --- constants and sequences -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["FLOAT64", "FLOAT32", "FLOAT16", "INT64", "INT8", "UINT64", "UINT8"])
def test_constants_keep_their_bits(data_type):
    kind = DataType[data_type]
    if kind.is_float:
        info: np.finfo[Any] = np.finfo(kind.dtype)
        values = [math.nan, math.inf, -math.inf, -0.0, float(info.max), float(info.smallest_subnormal), 0.1]
    else:
        values = [*kind.limits, 0, kind.limits[1] - 1]
    for value in values:
        got = check_case(constant(data_type, (3,), value)).run()["OutputTensor"]
        assert got.tobytes() == np.full(3, value, kind.dtype).tobytes()


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT16", "UINT64"])
def test_large_constants_are_computed_at_run_time(data_type):
    model = check_case(constant(data_type, (MANY,), 5))
    assert operators(model) == ["Expand"]
    assert model.weight_bytes < 100


@pytest.mark.parametrize("data_type", ["INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8"])
def test_integer_sequences_wrap(data_type):
    low, high = DataType[data_type].limits
    for start in (low, high, 0, 1, high // 3):
        for delta in (low, high, 0, 1, high // 3 + 1):
            check_case(sequence(data_type, (300,), start, delta))


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(
    ("start", "delta"),
    [(0, 0.125), (-3.5, 0.1), (1000, -0.3), (0, 0), (0, 3e4), (math.inf, 1), (1, -math.inf), (math.nan, 1)],
)
def test_float_sequences(data_type, start, delta):
    check_case(sequence(data_type, (20, 50), start, delta))
    check_case(sequence(data_type, (1,), start, delta))


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT16", "INT32", "INT64", "UINT64"])
@pytest.mark.parametrize("sizes", [(MANY,), (2, 5, 1 << 17)], ids=str)
def test_large_sequences_are_one_sum(data_type, sizes):
    op = sequence(data_type, sizes, 3, 1e-3 if DataType[data_type].is_float else 7)
    model = check_case(op)
    assert "Add" in operators(model)
    assert model.weight_bytes < 100_000
    if data_type == "FLOAT32":
        check_case(sequence(data_type, sizes, 3, -math.inf))


# --- diagonals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 1, -1, 3, 4, -2, -3, 100, LOWEST, HIGHEST])
def test_diagonals(offset):
    for sizes in ((3, 4), (4, 2), (2, 3, 1), (2, 1, 3, 3)):
        check_case(diagonal(sizes=sizes, offset=offset))


@pytest.mark.parametrize("data_type", ["INT8", "UINT8", "INT64", "UINT64", "FLOAT16", "FLOAT64"])
@pytest.mark.parametrize("value", [10.6, -10.6, 1e30, -1e30, math.nan, math.inf])
def test_values_are_converted_as_by_cast(data_type, value):
    check_case(diagonal(data_type, value=value))


BANDS = [
    ("main diagonal", 0, 1, ["Where"]),
    ("three diagonals", -1, 2, ["Where"]),
    ("upper triangle", LOWEST, 1, ["Where"]),
    ("lower triangle", 1, HIGHEST, ["Where"]),
    ("nothing", 2, 2, ["Identity"]),
    ("beyond", 4, 9, ["Identity"]),
    ("in front", LOWEST, -2, ["Identity"]),
    ("everything", LOWEST, HIGHEST, ["Identity"]),
    ("just everything", -2, 4, ["Identity"]),
    ("inverted", 2, -1, ["Where"]),
    ("all but nothing", 9, 4, ["Identity"]),
    ("all but everything", HIGHEST, LOWEST, ["Identity"]),
]


@pytest.mark.parametrize(("begin", "end", "expected"), [pytest.param(*row[1:], id=row[0]) for row in BANDS])
def test_bands(begin, end, expected):
    assert operators(check_case(band(begin=begin, end=end))) == expected
    for sizes in ((4, 3), (2, 3, 5), (1, 2, 1, 6)):
        check_case(band("INT32", sizes, begin, end))
        check_case(band("INT32", sizes, begin, end, present=False))
    assert operators(check_case(band(begin=begin, end=end), constants=["InputTensor"])) == ["Identity"]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT64", "UINT8"])
@pytest.mark.parametrize(("begin", "end"), [(3, 4), (-5, 900), (LOWEST, 1), (1, HIGHEST), (7, -7)])
def test_large_masks_are_computed_at_run_time(data_type, begin, end):
    sizes = (1025, 1026)
    for op in (band(data_type, sizes, begin, end), band(data_type, sizes, begin, end, present=False)):
        assert check_case(op).weight_bytes < 20_000
    assert check_case(diagonal(data_type, sizes, 5)).weight_bytes < 20_000


# --- random numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", range(5))
def test_the_counter_carries(full):
    for opset, shape in product((17, 18, 21), ((4,), (3, 7))):
        generate(shape, (0xFFFFFFFF,) * full + (0xFFFFFFFE, 5, 6, 7)[: 4 - full], (8, 9), opset=opset)


def test_many_random_numbers():
    check_case(random((1 << 15, 5)))
    # below opset 18 all words are combined at once, four bits at a time
    assert check_case(random((1 << 12, 5)), opset=17).node_count < 350
    assert check_case(random((1 << 12, 5)), opset=18).node_count < 150


def test_a_constant_state_folds():
    nodes = generate((3, 7), (0xFFFFFFFE, 5, 6, 7), (1, 2), constants=["InputStateTensor"])
    assert nodes == ["Identity", "Identity"]
