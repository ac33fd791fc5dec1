"""Max and Min of integers in more than five dimensions are refused when the model is loaded (QNN).

Other nodes of such tensors run on the CPU, which DML2009 says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.tensor import are_constant, broadcast_shape
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int32[2,2,2,2,2,2] x) => (int32[2,2,2,2,2,2] y) <int32 k = {2}> { y = Min (x, k) }",
        ((3,) * 64,),
        ((2,) * 64,),
        "the process ended",
    ),
)
MOST = 5


@QUIRK.rule("Max")
def max_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Of rows, or by Greater and Where."""
    return _extreme(e, items, e.Max, e.Greater)


@QUIRK.rule("Min")
def min_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Of rows, or by Less and Where."""
    return _extreme(e, items, e.Min, e.Less)


def _extreme(
    e: Emitter, items: tuple[Tensor, ...], extreme: Callable[..., Tensor], wins: Callable[[Tensor, Tensor], Tensor]
) -> Tensor | None:
    shape = broadcast_shape(*(item.shape for item in items))
    if len(shape) <= MOST or items[0].dtype.kind == "f" or len(items) != 2 or are_constant(items):
        return None
    a, b = items
    if has_unknown(shape) or any(item.size > 1 and item.shape != shape for item in items):
        return e.Where(wins(a, b), a, b)
    return e.Reshape(extreme(e.Reshape(a, (a.size,)), e.Reshape(b, (b.size,))), shape)
