from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe

ALL = [t for t in DataType if t.bits >= 8]
INTEGERS = [t for t in ALL if not t.is_float]
FLOATS = [t for t in ALL if t.is_float]


def cast(x, data_type):
    op = describe("CAST", InputTensor=x, OutputTensor=np.zeros(x.shape, data_type.dtype))
    (result,) = operator_results(op, {"InputTensor": x})["OutputTensor"]
    assert result.error is None
    return result


@given(st.sampled_from(INTEGERS), st.sampled_from(INTEGERS), st.data())
def test_integers_keep_their_low_bits(source, target, data):
    low, high = source.limits
    value = data.draw(st.one_of(st.integers(low, high), st.sampled_from([low, high])))
    first, last = target.limits
    got = cast(np.array([value], source.dtype), target)
    # narrow types are stored by way of 32 bits, and beyond their range by the driver
    width = max(target.bits, 32)
    least = -(1 << (width - 1)) if first else 0
    way = (value - least) % (1 << width) + least
    if first <= way <= last:
        assert int(got.values[0]) == way
        assert got.unspecified is None
    else:
        assert got.unspecified is not None
        assert got.unspecified.all()


@given(st.sampled_from(FLOATS), st.sampled_from(INTEGERS), st.data())
def test_floats_truncate_and_saturate(source, target, data):
    low, high = target.limits
    near = st.sampled_from([low - 1, low, low + 1, -1, 0, 1, high - 1, high, high + 1]).map(float)
    number = data.draw(st.one_of(st.floats(width=source.bits), near, st.floats(low - 2.0, high + 2.0)))
    with np.errstate(over="ignore"):
        x = np.array([number], np.float64).astype(source.dtype)
    value = float(x[0])
    got = cast(x, target)
    if math.isnan(value):
        want, inside = 0, False
    elif math.isinf(value):
        want, inside = (high if value > 0 else low), False
    else:
        whole = math.trunc(Fraction(value))
        want, inside = min(max(whole, low), high), low <= whole <= high
    assert int(got.values[0]) == want
    assert bool(got.unspecified[0]) != inside


def test_a_fraction_is_not_true():
    np.testing.assert_array_equal(cast(np.array([0.5, -0.5, 1], np.float32), DataType.UINT8).values, [0, 0, 1])


@pytest.mark.parametrize("source", INTEGERS, ids=lambda t: t.name)
@pytest.mark.parametrize("target", FLOATS, ids=lambda t: t.name)
def test_integers_round_to_even(source, target):
    low, high = source.limits
    digits = np.finfo(target.dtype).nmant + 1
    corners = {low, low + 1, -1, 0, 1, high - 1, high, *(2**digits + step for step in range(6)), 2**15, 65519, 65520}
    numbers = sorted(n for n in corners if low <= n <= high)
    got = cast(np.array(numbers, source.dtype), target).values
    for number, value in zip(numbers, got, strict=True):
        if math.isinf(value):
            assert target is DataType.FLOAT16
            assert abs(number) >= 65520
            continue
        distance = abs(Fraction(float(value)) - number)
        with np.errstate(over="ignore"):
            neighbours = [np.nextafter(value, target.dtype.type(end)) for end in (-np.inf, np.inf)]
        for neighbour in neighbours:
            if math.isfinite(neighbour):
                other = abs(Fraction(float(neighbour)) - number)
                even = value.view(f"u{target.itemsize}") % 2 == 0
                assert distance < other or (distance == other and even), number


def test_narrower_floats_round_to_even_and_overflow():
    x = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65519, 65520, -1e30, 2**-25, 3 * 2**-25, np.nan, -0.0], np.float32)
    got = cast(x, DataType.FLOAT16).values
    np.testing.assert_array_equal(
        got, np.array([1, 1 + 2**-9, 65504, np.inf, -np.inf, 0, 2**-23, np.nan, -0.0], np.float16)
    )
    assert np.signbit(got[-1])
    # one rounding, not two: FLOAT32 would round the first to the middle, and the middle to even
    once = np.array([1 + 2**-11 + 2**-40, 1e40], np.float64)
    np.testing.assert_array_equal(cast(once, DataType.FLOAT16).values, [np.float16(1 + 2**-10), np.inf])
    np.testing.assert_array_equal(cast(once, DataType.FLOAT32).values, [np.float32(1 + 2**-11), np.inf])


@pytest.mark.parametrize("source", FLOATS, ids=lambda t: t.name)
def test_wider_floats_are_exact(source):
    raw = np.random.default_rng(0).integers(0, 256, 8 * 64).astype(np.uint8).view(source.dtype)
    np.testing.assert_array_equal(cast(raw, DataType.FLOAT64).values, raw)
    np.testing.assert_array_equal(cast(raw, source).values, raw)
