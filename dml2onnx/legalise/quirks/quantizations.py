"""QuantizeLinear, DequantizeLinear and what stands between them."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import MOVES
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import FLOAT, has_unknown

DEQUANTIZES_FROM_A_POINT = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[2] x) => (float[2] y) <float s = {0.5}> { y = DequantizeLinear (x, s) }",
        ((3, 200),),
        ((1.5, 100.0),),
        says="scale and zero point must be the same",
    ),
)
"""DequantizeLinear wants a zero point: without one the graph is not built (ONNX Runtime Web's WebNN)."""


@DEQUANTIZES_FROM_A_POINT.rule("DequantizeLinear")
def dequantize_linear(
    e: Emitter,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    axis: int | None = None,
    *,
    keep: bool = False,
) -> Tensor | None:
    """That of 0."""
    if zero_point is not None or x.value is not None:
        return None
    e.note("DequantizeLinear wants a zero point: 0")
    return e.DequantizeLinear(x, scale, e.constant(np.zeros(scale.shape), x.dtype), axis, keep=keep)


QUANTIZES_ALONG_THE_LAST_AXIS = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[2,2] x, float[2] s, uint8[2] z) => (float[2,2] y) { y = DequantizeLinear <axis = 0> (x, s, z) }",
        ((1, 2, 3, 4), (1, 10), (0, 0)),
        ((1, 2, 30, 40),),
    ),
)
"""QuantizeLinear and DequantizeLinear take a vector of scales along the last axis, whatever axis says (DirectML).

Of opset 21: it is refused when the model is loaded, or multiplies other numbers where its length fits.
"""
QUANTIZES_ALONG_THE_LAST_AXIS.answers("quantizes_last_axis_only", True)


@QUANTIZES_ALONG_THE_LAST_AXIS.rule("quantizes_along")
def quantizes_along_the_last(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Other axes are broadcast by Div and Mul."""
    return None if axis == len(shape) - 1 else False


QUANTIZES_DOWN = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2] x) => (uint8[2] y) <float s = {1}, uint8 z = {0}> { r = Abs (x) y = QuantizeLinear (r, s, z) }",
        ((1.75, 2.25),),
        ((2, 2),),
    ),
)
"""QuantizeLinear rounds down where it runs beside other nodes (QNN).

Numbers on the NPU are often a last digit too large, so that one below 0 that is whole becomes the next lower one.
"""


@QUANTIZES_DOWN.rule("QuantizeLinear")
def quantize_above(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Of a number a quarter above the whole one, which becomes that one whichever way it is rounded."""
    if scale.value is None or not np.array_equal(scale.value, 1) or x.value is not None or x.dtype != FLOAT:
        return None
    return e.QuantizeLinear(e.Add(e.Round(x), e.constant(0.25, FLOAT)), scale, zero_point, axis)


QUANTIZES_FOUR_DIMENSIONS = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[1,1,1,1,1] x, float s, uint8 z) => (float[1,1,1,1,1] y) { y = DequantizeLinear (x, s, z) }",
        ((7,), (2,), (3,)),
        ((8,),),
        says="80070057",
    ),
)
"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of more than four dimensions are refused (DirectML).

When the model is loaded.
"""
MOST_DIMENSIONS = 4


@QUANTIZES_FOUR_DIMENSIONS.rule("QuantizeLinear")
def quantize_rows(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Of rows, where one scale does for each of their elements."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or axis not in (None, x.rank - 1) or are_constant([x, scale]):
        return None
    rows = e.QuantizeLinear(_rows(e, x), scale, zero_point, None if axis is None else 1)
    return e.Reshape(rows, x.shape)


@QUANTIZES_FOUR_DIMENSIONS.rule("DynamicQuantizeLinear")
def dynamic_quantize_rows(e: Emitter, x: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Of rows."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or x.value is not None:
        return None
    rows, scale, zero_point = e.DynamicQuantizeLinear(_rows(e, x))
    return e.Reshape(rows, x.shape), scale, zero_point


@QUANTIZES_FOUR_DIMENSIONS.rule("dequantizes")
def dequantizes_four_dimensions(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """A difference and a product take its place."""
    return False if x.rank > MOST_DIMENSIONS else None


def _rows(e: Emitter, x: Tensor) -> Tensor:
    """A Flatten: ONNX Runtime moves quantisations to the front of a Reshape, and so back into all dimensions."""
    shape = (x.size // x.shape[-1], x.shape[-1])
    return e.emit("Flatten", MOVES, [x], x.dtype, shape, {"axis": x.rank - 1}, lambda a: a.reshape(shape))


QUANTIZES_IN_UNITS = Quirk(Kind.SPEED)
"""An operator between DequantizeLinear and QuantizeLinear is one kernel of integers (QNN).

By themselves the two have hardly any kernels, so the table of the target is without them; parameters are constants.
"""
QUANTIZES_IN_UNITS.answers("takes_units", True)


@QUANTIZES_IN_UNITS.rule("dequantizes")
def dequantizes_units(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """Inputs, constants, and what another unit gives; QDQ behind a Cast, Reshape or Slice of integers is refused."""
    return True if known and (x.is_input or x.value is not None or x.steps is not None) else None


@QUANTIZES_IN_UNITS.rule("MaxPool")
def max_pool_in_units(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """Between two units, of the same numbers: a Cast would part the second one from its input."""
    if x.steps is None:
        return None
    e.note(IN_UNITS)
    scale, zero_point = x.steps
    y = e.QuantizeLinear(e.MaxPool(e.DequantizeLinear(x, scale, zero_point), window), scale, zero_point)
    y.steps = x.steps
    return y


QUANTIZES_LONG_RUNS = Quirk(Kind.SPEED)
"""QuantizeLinear and DequantizeLinear are slow along an axis that few elements lie behind."""
SHORTEST_RUN = 64
"""Elements that share a scale and lie together, from which on ONNX Runtime is fast with one scale per channel."""


@QUANTIZES_LONG_RUNS.rule("quantizes_along")
def quantizes_along_runs(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Short runs are broadcast by Div and Mul."""
    return None if prod(shape[axis + 1 :]) >= SHORTEST_RUN else False
