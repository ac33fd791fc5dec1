"""MaxPool, AveragePool and LpPool."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.pools import (
    inside_to_whole,
    is_filtered,
    max_pool_in_float,
    maxima_in_wider_type,
    mean_filter,
    norms,
    searched,
    sliding_maximum,
    whole_to_inside,
)
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.legalise.windows import Pool
from dml2onnx.onnx_model import FLOAT

AVERAGE_POOL_COUNTS_ALL_PADDING = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> (x) }",
        ((4.0, 4.0, 4.0, 4.0),),
        ((4.0, 4.0, 4.0, 4.0),),
    ),
)
"""AveragePool counts padding, whatever count_include_pad says (WebNN of Chromium, on LiteRT).

Padding as TensorFlow Lite's SAME has it comes out right by itself.
"""


@AVERAGE_POOL_COUNTS_ALL_PADDING.rule("AveragePool")
def average_of_real_padding(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean over padding that is real, times how much larger the one without is."""
    pool = Pool.over(x.shape[2:], window)
    if count_include_pad or not pool.is_padded or pool.window.is_dilated:
        return None
    e.note("AveragePool counts what is in the padding")
    e.budget.require(pool.table_size)
    none = (0,) * len(window.shape)
    padded = e.Pad(x, (0, 0, *window.start), (0, 0, *window.end))
    mean = e.AveragePool(padded, window._replace(start=none, end=none), count_include_pad=False)
    return e.Mul(mean, e.constant(whole_to_inside(pool), x.dtype))


AVERAGE_POOL_COUNTS_PADDING_WRONGLY = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x0) => (float[1,1,2,2] y) { y = AveragePool <count_include_pad: int = 1, "
        "kernel_shape: ints = [2, 2], pads: ints = [0, 0, 1, 1]> (x0) }",
        ((1, 2, 3, 4),),
        ((2.5, 1.5, 1.75, 1),),
        versions=((1, 24), (1, 25)),
    ),
)
"""AveragePool counts padding wrongly where it is not the same all around (ONNX Runtime 1.24)."""


@AVERAGE_POOL_COUNTS_PADDING_WRONGLY.rule("AveragePool")
def average_by_right_divisor(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean of the elements inside, and the divisor is corrected."""
    if not count_include_pad or len({*window.start, *window.end}) == 1:
        return None
    pool = Pool.over(x.shape[2:], window)
    if is_filtered(e, x, pool):
        return None
    e.budget.require(pool.table_size)
    e.note("the divisor is corrected: ONNX Runtime 1.24 counts padding wrongly where it is not the same all around")
    mean = e.AveragePool(x, window, count_include_pad=False)
    return e.Mul(mean, e.constant(inside_to_whole(pool), x.dtype))


POOLS_ARE_NOT_DILATED = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,3] x) => (float[1,1,1,1] y) { y = AveragePool <kernel_shape = [1, 2], dilations = [1, 2]> (x) }",
        ((1.0, 5.0, 2.0),),
        ((1.5,),),
        says="doesn't support dilations",
    ),
)
"""Pools have no dilations: with them the graph is not built (WebNN in Chromium)."""


def _dilated(e: Emitter, x: Tensor, window: Window) -> Pool | None:
    pool = Pool.over(x.shape[2:], window)
    if not pool.window.is_dilated:
        return None
    e.note("pools have no dilations")
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    return pool


@POOLS_ARE_NOT_DILATED.rule("AveragePool")
def dilated_average_pool(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """A Conv."""
    pool = _dilated(e, x, window)
    return None if pool is None else mean_filter(e, x, pool, count_include_pad=count_include_pad)


@POOLS_ARE_NOT_DILATED.rule("MaxPool")
def dilated_max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """Max over slices."""
    pool = _dilated(e, x, window)
    return None if pool is None else sliding_maximum(e, x, pool)


@POOLS_ARE_NOT_DILATED.rule("LpPool")
def dilated_lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums between powers."""
    return None if _dilated(e, x, window) is None else norms(e, x, window, p)


LP_POOL_PADS_WITH_MEANS = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
        ((1.0, 1.0, 1.0, 1.0),),
        ((2.0, 2.0, 2.0, 2.0),),
    ),
)
"""LpPool over padding gives more than there is: the mean of what is inside, times the whole window (WebNN)."""


@LP_POOL_PADS_WITH_MEANS.rule("LpPool")
def padded_lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums between powers."""
    if not any((*window.start, *window.end)):
        return None
    e.note("LpPool counts what is in the padding")
    return norms(e, x, window, p)


LP_POOL_ELEMENT_BY_ELEMENT = Quirk(Kind.SPEED)
"""LpPool takes a power of each element of each window by itself."""
LP_POOL_ELEMENT_BY_ELEMENT.rule("LpPool")(norms)


MAX_POOL_GIVES_NO_INDICES = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2] x) => (float[1,1,1] y, int64[1,1,1] i) { y, i = MaxPool <kernel_shape = [2]> (x) }",
        ((1, 2),),
        ((2,), (1,)),
        says="pool.cc",
    ),
)
"""MaxPool has one output; a model that asks for indices is refused when it runs (WebGPU)."""


@MAX_POOL_GIVES_NO_INDICES.rule("MaxPoolWithIndices")
def max_pool_with_indices(e: Emitter, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
    """Windows gathered side by side, and ArgMax over them."""
    return searched(e, x, Pool.over(x.shape[2:], window))


MAX_POOL_IS_FAST_IN_FLOAT = Quirk(Kind.SPEED)
"""MaxPool is fast in FLOAT only."""


@MAX_POOL_IS_FAST_IN_FLOAT.rule("MaxPool")
def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """In FLOAT, or Max over slices for what that cannot hold."""
    return None if x.dtype == FLOAT else max_pool_in_float(e, x, window)


MAX_POOL_IS_FAST_IN_FLOAT.rule("MaxPoolWithIndices")(maxima_in_wider_type)
