"""Whether sums and products of 8-bit steps are rounded alike by whatever arithmetic in FLOAT leads to them.

Between dequantised and quantised numbers ONNX Runtime puts kernels of its own in the place of Add and Mul. They scale
once, not at each quantisation, and add the zero point before they round, halves to the even sum.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/qladd.cpp
"""

from __future__ import annotations

from functools import lru_cache
from math import frexp
from typing import Literal, NamedTuple

import numpy as np

_ROUNDINGS = 8
"""Half units in the last place by which either way may be off, at most: each takes no more than four operations."""


class Steps(NamedTuple):
    """A quantisation to 8 bits: numbers are ``(q - zero_point) * scale``."""

    data_type: Literal["int8", "uint8"]
    scale: float
    zero_point: int

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest ``q``."""
        return (0, 255) if self.data_type == "uint8" else (-128, 127)


@lru_cache(maxsize=1 << 8)
def are_rounded_alike(operator: Literal["Add", "Mul"], a: Steps, b: Steps, result: Steps) -> bool:
    """Whether no pair of steps gives a number so near to the middle of two steps that roundings decide."""
    low, high = result.limits
    x, y = (np.arange(item.limits[0], item.limits[1] + 1) for item in (a, b))
    first, second = (x - a.zero_point)[:, None] * (a.scale / result.scale), (y - b.zero_point) * b.scale
    if operator == "Add":
        second = second / result.scale
        exact = first + second
        # the kernel multiplies the steps themselves, and moves them by all zero points at once
        moved = abs(a.zero_point) * a.scale + abs(b.zero_point) * b.scale
        terms = np.abs(first) + np.abs(second) + moved / result.scale
    else:
        exact = first * second
        terms = np.abs(exact)
    from_middle = np.abs(exact - np.floor(exact) - 0.5)
    kept = (exact + result.zero_point > low - 1) & (exact + result.zero_point < high + 1)
    if all(frexp(item.scale)[0] == 0.5 for item in (a, b, result)):  # nothing is rounded but what comes out
        return result.zero_point % 2 == 0 or not bool((kept & (from_middle == 0)).any())
    error = _ROUNDINGS * 2.0**-24 * (terms + abs(result.zero_point))
    return not bool((kept & (from_middle <= error)).any())
