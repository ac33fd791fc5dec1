"""The QDQ form of quantized operators: FLOAT operators between DequantizeLinear and QuantizeLinear.

Runtimes recognise the form and compute in integers if all filters share a zero point, all rows of a matrix share a
scale, and columns have scales of their own only without batches. Otherwise lowerings emit the integer form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import FLOAT, DType


@dataclass(frozen=True, slots=True)
class QuantizationSteps:
    """A scale and a zero point (``None``: 0), each with one element, or one for each index along an axis."""

    scale: Tensor
    zero_point: Tensor | None

    @property
    def count(self) -> int:
        """The number of indices with separate parameters."""
        return max(self.scale.size, 1 if self.zero_point is None else self.zero_point.size)

    @property
    def has_one_zero_point(self) -> bool:
        """Whether all indices are known to have the same zero point."""
        points = self.zero_point
        return points is None or points.size == 1 or (points.value is not None and len(np.unique(points.value)) == 1)

    @property
    def is_constant(self) -> bool:
        """Whether scale and zero point are constants."""
        return self.scale.value is not None and (self.zero_point is None or self.zero_point.value is not None)

    def parameters(self, e: Emitter, dtype: DType) -> tuple[Tensor, Tensor]:
        """Returns scale and zero point, both as scalars or both as vectors."""
        shape = () if self.count == 1 else (self.count,)
        points = e.constant(np.zeros((1,) * len(shape), dtype)) if self.zero_point is None else self.zero_point
        scale, zero_point = (e.Reshape(item, (item.size,) if shape else ()) for item in (self.scale, points))
        return e.Expand(scale, shape), e.Expand(zero_point, shape)


def fits(e: Emitter, x: Tensor, steps: QuantizationSteps, axis: int = 0) -> bool:
    """Whether one DequantizeLinear computes the same as DirectML."""
    if x.dtype.itemsize > 1 or not has_positive_scale(steps) or steps.count not in (1, x.shape[axis]):
        return False
    if steps.count > 1 and (axis != x.rank - 1 and e.quantizes_last_axis_only()):
        return False
    return e.dequantizes(x, known=steps.is_constant)


def numbers(e: Emitter, x: Tensor, steps: QuantizationSteps, axis: int = 0) -> Tensor:
    """Dequantises ``x``; a constant stays quantised in the model."""
    scale, zero_point = steps.parameters(e, x.dtype)
    return e.DequantizeLinear(x, scale, zero_point, axis if steps.count > 1 else None, keep=True)


def bias_of(e: Emitter, bias: Tensor | None, x: QuantizationSteps, w: QuantizationSteps) -> Tensor | None:
    """Dequantises an INT32 bias by the product of the scales of ``x`` and ``w``."""
    if bias is None:
        return None
    scale = e.Mul(e.Reshape(x.scale, ()), e.Reshape(w.scale, (w.scale.size,) if w.count > 1 else ()))
    flat = e.Reshape(bias, (bias.size,))
    if scale.rank:
        scale = e.Expand(scale, flat.shape)
    if not e.dequantizes(flat, known=flat.value is not None and scale.value is not None):
        return e.Mul(e.Cast(flat, FLOAT), scale)
    return numbers(e, flat, QuantizationSteps(scale, None))


def quantised(e: Emitter, y: Tensor, steps: QuantizationSteps, dtype: DType) -> Tensor:
    """Quantises the result ``y`` of a FLOAT operator on dequantised inputs."""
    e.note(IN_UNITS)
    y.paired = True
    scale, zero_point = steps.parameters(e, dtype)
    result = e.QuantizeLinear(y, scale, zero_point)
    if e.takes_units():
        result.steps = (scale, zero_point)
    return result


def through(
    e: Emitter,
    x: Tensor,
    before: QuantizationSteps,
    after: QuantizationSteps,
    dtype: DType,
    compute: Callable[[Tensor], Tensor],
) -> Tensor | None:
    """Dequantises ``x``, calls ``compute`` and quantises; ``None`` unless both sides have a single scale."""
    if not fits(e, x, before) or max(before.count, after.count) > 1 or not has_positive_scale(after):
        return None
    return quantised(e, compute(numbers(e, x, before)), after, dtype)


def has_positive_scale(steps: QuantizationSteps) -> bool:
    """Whether a constant scale is a positive normal number, which optimisers that move quantisations assume."""
    scale = steps.scale.value
    return scale is None or bool((np.isfinite(scale) & (scale >= np.finfo(np.float32).tiny)).all())
