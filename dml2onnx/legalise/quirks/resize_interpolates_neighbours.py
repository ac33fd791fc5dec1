"""Resize of mode linear moves two neighbouring axes, which one other may follow, or three last ones (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/upsamplebase.h
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.model import has_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.model.records import Attribute

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2,1,1,2] x) => (float[4,1,1,4] y) <int64[4] s = {4, 1, 1, 4}> { y = Resize <mode = "
        '"linear", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((0, 2, 4, 6),),
        ((0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 4, 5, 6, 6),),
        says="'Linear' mode only supports",
    ),
)


@QUIRK.rule("Resize")
def resize(
    e: Emitter,
    x: Tensor,
    sizes: tuple[int, ...] | None,
    scales: tuple[float, ...] | None,
    **attributes: Attribute,
) -> Tensor | None:
    """One Resize for each run of neighbours, from the last on."""
    if attributes.get("mode") != "linear" or has_unknown(x.shape):
        return None
    given: Sequence[float] = sizes or scales or ()
    unmoved: Sequence[float] = x.shape if sizes else (1.0,) * x.rank
    left = [axis for axis in range(x.rank) if given[axis] != unmoved[axis]]
    while left:
        run = [left.pop()]
        longest = 3 if prod(x.shape[run[0] + 1 :]) == 1 else 2
        while left and left[-1] == run[0] - 1 and len(run) < longest:
            run.insert(0, left.pop())
        x = _run(e, x, run, given, is_sizes=sizes is not None, attributes=attributes)
    return x


def _run(
    e: Emitter,
    x: Tensor,
    run: list[int],
    given: Sequence[float],
    *,
    is_sizes: bool,
    attributes: dict[str, Attribute],
) -> Tensor:
    """Resize of one to three neighbouring axes, what stands before them folded into one, and what stands behind too.

    An axis that keeps its size may only stand where the kernels take a batch or channels: anywhere else they would
    read its next element too, with weight 0, and make NaN of an infinity there.
    """
    first, behind = run[0], run[-1] + 1
    batch, moving, channels = prod(x.shape[:first]), x.shape[first:behind], prod(x.shape[behind:])
    alone = (1,) if len(moving) == 1 else ()
    layout: tuple[int, ...]
    if len(moving) == 2 and (x.rank == 2 or (x.rank == 4 and first == 2)):
        layout, start = x.shape, first
    elif channels > 1:
        layout, start = (batch, *moving, *alone, channels), 1
    else:
        layout = (1, batch, *alone, *moving)
        start = len(layout) - len(moving)
    rows, wanted = e.Reshape(x, layout), given[first:behind]
    end = start + len(moving)
    if is_sizes:
        y = e.Resize(rows, (*layout[:start], *map(int, wanted), *layout[end:]), None, **attributes)
    else:
        ones = (1.0,) * len(layout)
        y = e.Resize(rows, None, (*ones[:start], *wanted, *ones[end:]), **attributes)
    return e.Reshape(y, (*x.shape[:first], *y.shape[start:end], *x.shape[behind:]))
