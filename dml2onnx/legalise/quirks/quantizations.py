"""QuantizeLinear, DequantizeLinear and operators between them."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import MOVES
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import FLOAT, has_unknown

QUANTIZES_ALONG_THE_LAST_AXIS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(uint8[2,2] x, float[2] s, uint8[2] z) => (float[2,2] y) { y = DequantizeLinear <axis = 0> (x, s, z) }",
        ((1, 2, 3, 4), (1, 10), (0, 0)),
        ((1, 2, 30, 40),),
    ),
)
"""QuantizeLinear and DequantizeLinear apply a vector of scales along the last axis, whatever axis is (DirectML).

In opset 21. The model is refused when it is loaded or, if the length fits, computes wrong numbers.
"""
QUANTIZES_ALONG_THE_LAST_AXIS.answers("quantizes_last_axis_only", True)


@QUANTIZES_ALONG_THE_LAST_AXIS.rule("quantizes_along")
def quantizes_along_the_last(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Div and Mul broadcast along other axes."""
    return None if axis == len(shape) - 1 else False


QUANTIZES_DOWN = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[2] x) => (uint8[2] y) <float s = {1}, uint8 z = {0}> { r = Abs (x) y = QuantizeLinear (r, s, z) }",
        ((1.75, 2.25),),
        ((2, 2),),
    ),
)
"""QuantizeLinear rounds down if it runs next to other nodes (QNN).

Magnitudes on the NPU are often one last digit too large, so a negative whole number becomes the next lower one.
"""


@QUANTIZES_DOWN.rule("QuantizeLinear")
def quantize_above(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Rounds first, then adds a quarter, so that rounding down and rounding to nearest give the same result."""
    if scale.value is None or not np.array_equal(scale.value, 1) or x.value is not None or x.dtype != FLOAT:
        return None
    return e.QuantizeLinear(e.Add(e.Round(x), e.constant(0.25, FLOAT)), scale, zero_point, axis)


QUANTIZES_FOUR_DIMENSIONS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(uint8[1,1,1,1,1] x, float s, uint8 z) => (float[1,1,1,1,1] y) { y = DequantizeLinear (x, s, z) }",
        ((7,), (2,), (3,)),
        ((8,),),
        says="80070057",
    ),
)
"""QuantizeLinear and DequantizeLinear of more than four dimensions are refused when the model is loaded (DirectML).

So is DynamicQuantizeLinear.
"""
MOST_DIMENSIONS = 4


@QUANTIZES_FOUR_DIMENSIONS.rule("QuantizeLinear")
def quantize_rows(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Flattens to rows, if scales vary along the last axis at most."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or axis not in (None, x.rank - 1) or are_constant([x, scale]):
        return None
    rows = e.QuantizeLinear(_rows(e, x), scale, zero_point, None if axis is None else 1)
    return e.Reshape(rows, x.shape)


@QUANTIZES_FOUR_DIMENSIONS.rule("DynamicQuantizeLinear")
def dynamic_quantize_rows(e: Emitter, x: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Flattens to rows."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or x.value is not None:
        return None
    rows, scale, zero_point = e.DynamicQuantizeLinear(_rows(e, x))
    return e.Reshape(rows, x.shape), scale, zero_point


@QUANTIZES_FOUR_DIMENSIONS.rule("dequantizes")
def dequantizes_four_dimensions(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """Sub and Mul replace it."""
    return False if x.rank > MOST_DIMENSIONS else None


def _rows(e: Emitter, x: Tensor) -> Tensor:
    """Flatten to rows: ONNX Runtime would move quantization before a Reshape, back to all dimensions."""
    shape = (x.size // x.shape[-1], x.shape[-1])
    return e.emit("Flatten", MOVES, [x], x.dtype, shape, {"axis": x.rank - 1}, lambda a: a.reshape(shape))


QUANTIZES_IN_UNITS = Quirk(RuleKind.SPEED)
"""An operator between DequantizeLinear and QuantizeLinear is one integer kernel (QNN).

Standalone, the two have hardly any kernels, so they are missing from the target's table; parameters must be constant.
"""
QUANTIZES_IN_UNITS.answers("takes_units", True)


@QUANTIZES_IN_UNITS.rule("dequantizes")
def dequantizes_units(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """Inputs, constants and results of other units; QNN refuses units after Cast, Reshape or Slice of integers."""
    return True if known and (x.is_input or x.value is not None or x.steps is not None) else None


@QUANTIZES_IN_UNITS.rule("MaxPool")
def max_pool_in_units(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """A unit of its own, with the same scale: a Cast would separate the next unit from its input."""
    if x.steps is None:
        return None
    e.note(IN_UNITS)
    scale, zero_point = x.steps
    y = e.QuantizeLinear(e.MaxPool(e.DequantizeLinear(x, scale, zero_point), window), scale, zero_point)
    y.steps = x.steps
    return y


QUANTIZES_LONG_RUNS = Quirk(RuleKind.SPEED)
"""QuantizeLinear and DequantizeLinear are slow along an axis with few elements per index."""
SHORTEST_RUN = 64
"""ONNX Runtime is fast with one scale per channel if at least this many adjacent elements share a scale."""


@QUANTIZES_LONG_RUNS.rule("quantizes_along")
def quantizes_along_runs(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Div and Mul for short runs."""
    return None if prod(shape[axis + 1 :]) >= SHORTEST_RUN else False
