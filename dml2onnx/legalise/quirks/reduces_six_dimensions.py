"""Reductions of more than six dimensions are refused when the graph is built (WebNN in Chromium)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.reductions import merged, shrunk
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,1,1,1,2] x) => (float[1,1,1,1,1,1,1] y) <int64[1] a = {6}> { y = ReduceSum (x, a) }",
        ((1.0, 2.0),),
        ((3.0,),),
        says="Failed to allocate tensors",
    ),
)
MOST = 6


def _in_fewer(e: Emitter, operator: str, x: Tensor, axes: tuple[int, ...], **how: bool) -> Tensor | None:
    """Dimensions that are reduced together, or kept together, are one."""
    if x.rank <= MOST or has_unknown(x.shape):
        return None
    e.note("reductions take no more than six dimensions")
    rows, inner = merged(e, x, axes)
    result: Tensor = getattr(e, operator)(rows, inner, **how) if inner else rows
    return e.Reshape(result, shrunk(x, axes))


@QUIRK.rule("ReduceSum")
def reduce_sum(e: Emitter, x: Tensor, axes: tuple[int, ...], *, wraps: bool = False) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceSum", x, axes, wraps=wraps)


@QUIRK.rule("ReduceMax")
def reduce_max(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceMax", x, axes)


@QUIRK.rule("ReduceMin")
def reduce_min(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceMin", x, axes)


@QUIRK.rule("ReduceMean")
def reduce_mean(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceMean", x, axes)


@QUIRK.rule("ReduceProd")
def reduce_prod(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceProd", x, axes)


@QUIRK.rule("ReduceL1")
def reduce_l1(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceL1", x, axes)


@QUIRK.rule("ReduceL2")
def reduce_l2(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceL2", x, axes)


@QUIRK.rule("ReduceSumSquare")
def reduce_sum_square(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceSumSquare", x, axes)


@QUIRK.rule("ReduceLogSum")
def reduce_log_sum(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceLogSum", x, axes)


@QUIRK.rule("ReduceLogSumExp")
def reduce_log_sum_exp(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Of fewer dimensions."""
    return _in_fewer(e, "ReduceLogSumExp", x, axes)
