from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from tests.reference.numbers import INTEGERS, integers, marks, result_of

FLOATS = [t for t in DataType if t.is_float]


def cast(x, data_type):
    found = result_of("CAST", np.zeros(x.shape, data_type.dtype), InputTensor=x)
    assert found.error is None
    return found


@given(st.sampled_from(INTEGERS), st.sampled_from(INTEGERS), st.data())
def test_integers_keep_their_low_bits(source, target, data):
    value = data.draw(integers(source))
    first, last = target.limits
    got = cast(np.array([value], source.dtype), target)
    # narrow types convert by way of 32 bits; the driver decides outside their range
    width = max(target.bits, 32)
    least = -(1 << (width - 1)) if first else 0
    wrapped = (value - least) % (1 << width) + least
    is_inside = first <= wrapped <= last
    assert marks(got) == [not is_inside]
    if is_inside:
        assert int(got.values[0]) == wrapped


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
