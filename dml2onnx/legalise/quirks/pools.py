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
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.onnx_model import FLOAT

AVERAGE_POOL_COUNTS_ALL_PADDING = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> (x) }",
        ((4.0, 4.0, 4.0, 4.0),),
        ((4.0, 4.0, 4.0, 4.0),),
    ),
)
"""AveragePool counts padding whatever count_include_pad is (WebNN in Chromium, on LiteRT).

Only padding that matches TensorFlow Lite's SAME is right.
"""


@AVERAGE_POOL_COUNTS_ALL_PADDING.rule("AveragePool")
def average_of_real_padding(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean over an explicitly padded input, corrected by a factor."""
    pool = PoolWindows.over(x.shape[2:], window)
    if count_include_pad or not pool.is_padded or pool.window.is_dilated:
        return None
    e.note("AveragePool counts padding: a factor corrects it")
    e.budget.require(pool.table_size)
    none = (0,) * len(window.shape)
    padded = e.Pad(x, (0, 0, *window.start), (0, 0, *window.end))
    mean = e.AveragePool(padded, window._replace(start=none, end=none), count_include_pad=False)
    return e.Mul(mean, e.constant(whole_to_inside(pool), x.dtype))


AVERAGE_POOL_COUNTS_PADDING_WRONGLY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x0) => (float[1,1,2,2] y) { y = AveragePool <count_include_pad: int = 1, "
        "kernel_shape: ints = [2, 2], pads: ints = [0, 0, 1, 1]> (x0) }",
        ((1, 2, 3, 4),),
        ((2.5, 1.5, 1.75, 1),),
        versions=((1, 24), (1, 25)),
    ),
)
"""AveragePool counts uneven padding wrongly (ONNX Runtime 1.24)."""


@AVERAGE_POOL_COUNTS_PADDING_WRONGLY.rule("AveragePool")
def average_by_right_divisor(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean of the elements inside, with a corrected divisor."""
    if not count_include_pad or len({*window.start, *window.end}) == 1:
        return None
    pool = PoolWindows.over(x.shape[2:], window)
    if is_filtered(e, x, pool):
        return None
    e.budget.require(pool.table_size)
    e.note("the divisor is corrected: ONNX Runtime 1.24 counts uneven padding wrongly")
    mean = e.AveragePool(x, window, count_include_pad=False)
    return e.Mul(mean, e.constant(inside_to_whole(pool), x.dtype))


POOLS_ARE_NOT_DILATED = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,3] x) => (float[1,1,1,1] y) { y = AveragePool <kernel_shape = [1, 2], dilations = [1, 2]> (x) }",
        ((1.0, 5.0, 2.0),),
        ((1.5,),),
        says="doesn't support dilations",
    ),
)
"""Pools with dilations fail to build (WebNN in Chromium)."""


def _dilated(e: Emitter, x: Tensor, window: Window) -> PoolWindows | None:
    pool = PoolWindows.over(x.shape[2:], window)
    if not pool.window.is_dilated:
        return None
    e.note("pools do not support dilations")
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
    """Sums of powers."""
    return None if _dilated(e, x, window) is None else norms(e, x, window, p)


LP_POOL_PADS_WITH_MEANS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
        ((1.0, 1.0, 1.0, 1.0),),
        ((2.0, 2.0, 2.0, 2.0),),
    ),
)
"""LpPool over padding is too large: it multiplies the mean of the elements inside by the whole window (WebNN)."""


@LP_POOL_PADS_WITH_MEANS.rule("LpPool")
def padded_lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums of powers."""
    if not any((*window.start, *window.end)):
        return None
    e.note("LpPool counts padding")
    return norms(e, x, window, p)


LP_POOL_ELEMENT_BY_ELEMENT = Quirk(RuleKind.SPEED)
"""LpPool computes a power per element of each window."""
LP_POOL_ELEMENT_BY_ELEMENT.rule("LpPool")(norms)


MAX_POOL_GIVES_NO_INDICES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,2] x) => (float[1,1,1] y, int64[1,1,1] i) { y, i = MaxPool <kernel_shape = [2]> (x) }",
        ((1, 2),),
        ((2,), (1,)),
        says="pool.cc",
    ),
)
"""MaxPool with the output of indices fails at run time (WebGPU)."""


@MAX_POOL_GIVES_NO_INDICES.rule("MaxPoolWithIndices")
def max_pool_with_indices(e: Emitter, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
    """ArgMax over gathered windows."""
    return searched(e, x, PoolWindows.over(x.shape[2:], window))


MAX_POOL_IS_FAST_IN_FLOAT = Quirk(RuleKind.SPEED)
"""MaxPool is fast in FLOAT only."""


@MAX_POOL_IS_FAST_IN_FLOAT.rule("MaxPool")
def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """MaxPool in FLOAT, or Max over slices for types that FLOAT cannot hold."""
    return None if x.dtype == FLOAT else max_pool_in_float(e, x, window)


MAX_POOL_IS_FAST_IN_FLOAT.rule("MaxPoolWithIndices")(maxima_in_wider_type)
