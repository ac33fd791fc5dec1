"""Rounding and packing of numbers, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.frontends.numbers import Bad, pack_nibbles, round_to_float32, to_array, to_bytes, to_element, to_half
from dml2onnx.ir.tensor import DataType

doubles = st.floats(allow_nan=False)


@given(doubles)
def test_float32(value: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        assert round_to_float32(value) == float(np.float32(value))


@given(doubles)
def test_halves_are_truncated(value: float) -> None:
    """After a conversion to float32, the result is the largest half with no larger magnitude."""
    (half,) = to_half(np.array([value]), truncate=True)
    single = abs(round_to_float32(value))
    if single >= 65536:
        assert np.isinf(half)
        return
    magnitude = abs(float(half))
    assert magnitude <= single
    assert float(np.nextafter(np.abs(half), np.float16(np.inf))) > single
    assert np.signbit(half) == np.signbit(value)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.2, 0x3CCC),
        (3.4, 0x42CC),
        (5.6, 0x4599),
        (1.0009, 0x3C00),
        (2051, 0x6801),
        (65504, 0x7BFF),
        (65535.99, 0x7BFF),
        (65536, 0x7C00),
        (3.0e-8, 0),
        (float("-inf"), 0xFC00),
        (-0.0, 0x8000),
    ],
)
def test_observed_halves(value: float, bits: int) -> None:
    assert to_half(np.array([float(value)]), truncate=True).view(np.uint16)[0] == bits


@given(st.lists(st.integers(-(2**70), 2**70) | doubles | st.sampled_from(["nan", "INF", "x", None, True]), max_size=6))
def test_arrays_agree_with_elements(raw: list[object]) -> None:
    """``to_array`` and ``to_element`` accept the same values, with the same results."""
    for data_type in DataType:
        array = to_array(raw, data_type, truncate=True)
        elements = [to_element(item, data_type, truncate=True) for item in raw]
        bad = next((index for index, item in enumerate(elements) if isinstance(item, Bad)), None)
        if bad is not None:
            assert isinstance(array, tuple)
            assert array[0] == bad
        else:
            assert isinstance(array, np.ndarray)
            np.testing.assert_array_equal(array, np.array(elements, data_type.dtype))


@given(st.lists(st.integers(-8, 7), max_size=9))
def test_nibbles(values: list[int]) -> None:
    packed = pack_nibbles(np.array(values, np.int8))
    assert packed.size == (len(values) + 1) // 2
    for index, value in enumerate(values):
        assert (packed[index // 2] >> 4 * (index % 2)) & 15 == value & 15


def test_bytes_are_little_endian() -> None:
    assert to_bytes(np.array([1, -2], np.int16), DataType.INT16).tobytes() == b"\1\0\xfe\xff"
