"""Quantised operators as FLOAT ones between DequantizeLinear and QuantizeLinear: what is called QDQ.

The form is known, and computed in integers, with one zero point for all filters, one scale for all rows of a matrix,
and no scale of a column beside batches. Where that is not so, the integer form is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import FLOAT, DType

NOTE = IN_UNITS


@dataclass(frozen=True, slots=True)
class Steps:
    """A scale and a zero point (``None``: 0), of one element each or of one for each index along an axis."""

    scale: Tensor
    zero_point: Tensor | None

    @property
    def count(self) -> int:
        """For how many indices there are parameters of their own."""
        return max(self.scale.size, 1 if self.zero_point is None else self.zero_point.size)

    @property
    def has_one_zero_point(self) -> bool:
        """Whether all indices are known to have the same."""
        given = self.zero_point
        return given is None or given.size == 1 or (given.value is not None and len(np.unique(given.value)) == 1)

    @property
    def is_constant(self) -> bool:
        """Whether all is known."""
        return self.scale.value is not None and (self.zero_point is None or self.zero_point.value is not None)

    def parameters(self, e: Emitter, dtype: DType) -> tuple[Tensor, Tensor]:
        """Both as scalars, or both as vectors."""
        shape = () if self.count == 1 else (self.count,)
        given = e.constant(np.zeros((1,) * len(shape), dtype)) if self.zero_point is None else self.zero_point
        scale, zero_point = (e.Reshape(item, (item.size,) if shape else ()) for item in (self.scale, given))
        return e.Expand(scale, shape), e.Expand(zero_point, shape)


def fits(e: Emitter, x: Tensor, steps: Steps, axis: int = 0) -> bool:
    """Whether a tensor is dequantised by one DequantizeLinear that says what is meant."""
    if x.dtype.itemsize > 1 or not has_positive_scale(steps) or steps.count not in (1, x.shape[axis]):
        return False
    if steps.count > 1 and (axis != x.rank - 1 and e.quantizes_last_axis_only()):
        return False
    return e.dequantizes(x, known=steps.is_constant)


def numbers(e: Emitter, x: Tensor, steps: Steps, axis: int = 0) -> Tensor:
    """``x`` dequantised; a constant stays as many bytes as it has."""
    scale, zero_point = steps.parameters(e, x.dtype)
    return e.DequantizeLinear(x, scale, zero_point, axis if steps.count > 1 else None, keep=True)


def bias_of(e: Emitter, bias: Tensor | None, x: Steps, w: Steps) -> Tensor | None:
    """An INT32 bias by the product of the scales, as sums of integer products have it."""
    if bias is None:
        return None
    scale = e.Mul(e.Reshape(x.scale, ()), e.Reshape(w.scale, (w.scale.size,) if w.count > 1 else ()))
    flat = e.Reshape(bias, (bias.size,))
    if scale.rank:
        scale = e.Expand(scale, flat.shape)
    if not e.dequantizes(flat, known=flat.value is not None and scale.value is not None):
        return e.Mul(e.Cast(flat, FLOAT), scale)
    return numbers(e, flat, Steps(scale, None))


def quantised(e: Emitter, y: Tensor, steps: Steps, dtype: DType) -> Tensor:
    """What a FLOAT operator between dequantised numbers gives, which is ``y``, in steps."""
    e.note(NOTE)
    y.paired = True
    scale, zero_point = steps.parameters(e, dtype)
    result = e.QuantizeLinear(y, scale, zero_point)
    if e.takes_units():
        result.steps = (scale, zero_point)
    return result


def through(
    e: Emitter, x: Tensor, before: Steps, after: Steps, dtype: DType, compute: Callable[[Tensor], Tensor]
) -> Tensor | None:
    """``compute`` of dequantised numbers, quantised again, where both have one step."""
    if not fits(e, x, before) or max(before.count, after.count) > 1 or not has_positive_scale(after):
        return None
    return quantised(e, compute(numbers(e, x, before)), after, dtype)


def has_positive_scale(steps: Steps) -> bool:
    """Whether a scale that is known is a positive normal number, which those who move quantisations rely on."""
    scale = steps.scale.value
    return scale is None or bool((np.isfinite(scale) & (scale >= np.finfo(np.float32).tiny)).all())
