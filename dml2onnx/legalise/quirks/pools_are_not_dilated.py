"""Pools have no dilations: with them the graph is not built (WebNN in Chromium)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import mean_filter, norms, sliding_maximum
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.legalise.windows import Pool

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,3] x) => (float[1,1,1,1] y) { y = AveragePool <kernel_shape = [1, 2], dilations = [1, 2]> (x) }",
        ((1.0, 5.0, 2.0),),
        ((1.5,),),
        says="doesn't support dilations",
    ),
)


def _dilated(e: Emitter, x: Tensor, window: Window) -> Pool | None:
    pool = Pool.over(x.shape[2:], window)
    if not pool.window.is_dilated:
        return None
    e.note("pools have no dilations")
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    return pool


@QUIRK.rule("AveragePool")
def average_pool(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """A Conv."""
    pool = _dilated(e, x, window)
    return None if pool is None else mean_filter(e, x, pool, count_include_pad=count_include_pad)


@QUIRK.rule("MaxPool")
def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """Max over slices."""
    pool = _dilated(e, x, window)
    return None if pool is None else sliding_maximum(e, x, pool)


@QUIRK.rule("LpPool")
def lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums between powers."""
    return None if _dilated(e, x, window) is None else norms(e, x, window, p)
