"""Functions by other operators than their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor


def shrunk(e: Emitter, x: Tensor, bias: float, threshold: float) -> Tensor:
    """``x - bias`` above ``threshold``, else ``x + bias`` below ``-threshold``, else 0."""
    # a sum with the bias is not -0.0, nor is x itself beyond a threshold of 0 or more
    signed = bias != 0 or threshold >= 0
    below, above = e.Less(x, e.constant(-threshold, x.dtype)), e.Greater(x, e.constant(threshold, x.dtype))

    def moved(by: float) -> Tensor:
        return e.Add(x, e.constant(by, x.dtype)) if by else x

    inner = e.Where(below, moved(bias), e.constant(0, x.dtype), no_minus_zero=signed)
    return e.Where(above, moved(-bias), inner, no_minus_zero=signed)


_SUM_IS_X = 2.0**25
"""From here on ``1 + x`` rounds to x."""


def logarithm_of_1_and(e: Emitter, x: Tensor, *, bounded: bool) -> Tensor:
    """``ln(1 + x)`` of FLOAT ``x`` from 0 on, about as accurate as FLOAT is; ``bounded`` says that it is no infinity.

    What rounding loses in the sum is known, and its share of the logarithm is that over the sum, as the slope has it.
    That of huge numbers is nothing.
    """
    one = e.constant(1, x.dtype)
    total = e.Add(x, one)
    near, rounded = x, total
    if not bounded:
        near = e.Clip(x, None, _SUM_IS_X)
        rounded = e.Add(near, one)
    lost = e.Sub(near, e.Sub(rounded, one))
    return e.Add(e.Log(total), e.Div(lost, rounded))
