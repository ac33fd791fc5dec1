from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.test_cases.descriptors import plain
from tests.reference.numbers import INTEGERS, integers, marks, result_of


def binary(name, a, b, **values):
    return result_of(f"ELEMENT_WISE_{name}", ATensor=a, BTensor=b, **values)


def unary(name, x, **values):
    return result_of(f"ELEMENT_WISE_{name}", InputTensor=x, **values)


@pytest.mark.parametrize("data_type", INTEGERS, ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["DIVIDE", "MODULUS_FLOOR", "MODULUS_TRUNCATE"])
def test_undefined_quotients_are_unspecified(name, data_type):
    low, high = data_type.limits
    a, b = (np.array(numbers, data_type.dtype) for numbers in ([high, low, low, 7], [0, 0, 3, 2]))
    assert binary(name, a, b).unspecified.tolist() == [True, True, False, False]
    if data_type.is_signed and name == "DIVIDE":
        assert marks(binary(name, a[1:2], np.array([-1], data_type.dtype))) == [True]


def test_bits_of_nan_are_unspecified():
    found = unary("BIT_NOT", np.array([1, np.nan, -0.0, np.inf], np.float32))
    assert found.unspecified.tolist() == [False, True, False, False]


def test_add1_activates_the_unrounded_sum():
    a, b = np.array([2048], np.float16), np.array([1], np.float16)
    fused = plain("ACTIVATION_LINEAR", Beta=-2048.0)
    assert binary("ADD1", a, b, FusedActivation=fused).values[0] == 1


@given(st.sampled_from(INTEGERS), st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24), st.data())
def test_integer_scale_and_bias_are_exact_where_float32_is(data_type, scale, bias, data):
    x = data.draw(integers(data_type))
    got = unary("IDENTITY", np.array([x], data_type.dtype), ScaleBias=(scale, bias))
    want, (low, high) = x * scale + bias, data_type.limits
    is_specified = marks(got) == [False]
    if is_specified:
        assert int(got.values[0]) == want
    assert is_specified == (low <= want <= high) or max(abs(x), abs(x * scale), abs(want)) > 1 << 24
