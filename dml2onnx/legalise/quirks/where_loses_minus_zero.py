"""Where takes y wherever the x that it has chosen equals 0, and has made y 0 there before: -0.0 becomes 0.0.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/where_op.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.emitter.core import Keeps, Traits, as_it_is
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(bool[1] x0, float[1] x1, float[1] x2) => (float[1] y) { y = Where (x0, x1, x2) }",
        ((True,), (-0.0,), (1,)),
        ((-0.0,),),
    ),
)


@QUIRK.rule("Where")
def where(e: Emitter, condition: Tensor, x: Tensor, y: Tensor, *, no_minus_zero: bool = False) -> Tensor | None:
    """What may be -0.0 stands at the place of ``y``; of two such tensors each is selected by itself.

    Each among numbers below which nothing is, and the larger is taken.
    """
    if x.dtype.kind != "f" or no_minus_zero or x.is_never_minus_zero:
        return None
    # not by Not, which ONNX Runtime takes away again, exchanging the two
    otherwise = e.Equal(condition, e.constant(False))
    if y.is_never_minus_zero:
        return e.Where(otherwise, y, x)
    wide = e.legal("Where", Traits(keeps=Keeps.BITS), x.dtype)
    lowest = e.constant(-np.inf, wide)
    mine, others = (e.Cast(item, wide) for item in (x, y))
    return e.Cast(e.Max(e.Where(otherwise, lowest, mine), e.Where(condition, lowest, others)), x.dtype)


@QUIRK.rule("Max")
def max_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Max is made of Where for want of a kernel only where no -0.0 is at stake, since Where is made of it here."""
    return as_it_is(e.Max, *items) if _are_at_stake(items) else None


@QUIRK.rule("Min")
def min_(e: Emitter, *items: Tensor) -> Tensor | None:
    """As :func:`max_`."""
    return as_it_is(e.Min, *items) if _are_at_stake(items) else None


def _are_at_stake(items: tuple[Tensor, ...]) -> bool:
    if items[0].dtype.kind != "f":
        return False
    return len(items) != 2 or not any(item.value is not None and item.is_never_minus_zero for item in items)
