"""Tests whether sums and products of 8-bit numbers are rounded equally by any FLOAT arithmetic.

Between quantizations ONNX Runtime replaces Add and Mul by integer kernels. These scale once, not per quantization, and
add the zero point before they round halves to even.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/qladd.cpp
"""

from __future__ import annotations

from functools import lru_cache
from math import frexp
from typing import Literal, NamedTuple

import numpy as np

_ROUNDINGS = 8
"""Maximal error of both computations in half units in the last place: each has at most four operations."""


class QuantizationParameters(NamedTuple):
    """The parameters of an 8-bit quantization: numbers are ``(q - zero_point) * scale``."""

    data_type: Literal["int8", "uint8"]
    scale: float
    zero_point: int

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest ``q``."""
        return (0, 255) if self.data_type == "uint8" else (-128, 127)


@lru_cache(maxsize=1 << 8)
def has_no_ties(
    operator: Literal["Add", "Mul"],
    a: QuantizationParameters,
    b: QuantizationParameters,
    result: QuantizationParameters,
) -> bool:
    """Whether no pair of operands has a result so close to a tie that rounding errors matter."""
    low, high = result.limits
    x, y = (np.arange(item.limits[0], item.limits[1] + 1) for item in (a, b))
    first, second = (x - a.zero_point)[:, None] * (a.scale / result.scale), (y - b.zero_point) * b.scale
    if operator == "Add":
        second = second / result.scale
        exact = first + second
        # the kernel scales q itself and subtracts all zero points at once
        offset = abs(a.zero_point) * a.scale + abs(b.zero_point) * b.scale
        terms = np.abs(first) + np.abs(second) + offset / result.scale
    else:
        exact = first * second
        terms = np.abs(exact)
    distance = np.abs(exact - np.floor(exact) - 0.5)
    in_range = (exact + result.zero_point > low - 1) & (exact + result.zero_point < high + 1)
    if all(frexp(item.scale)[0] == 0.5 for item in (a, b, result)):  # powers of two: only the result is rounded
        return result.zero_point % 2 == 0 or not bool((in_range & (distance == 0)).any())
    error = _ROUNDINGS * 2.0**-24 * (terms + abs(result.zero_point))
    return not bool((in_range & (distance <= error)).any())
