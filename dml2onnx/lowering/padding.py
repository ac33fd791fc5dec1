"""PADDING and PADDING1: Pad, or Gather where it has no such mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.lowering.element_wise import fill
from dml2onnx.lowering.registry import lowers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.movement import PadMode
    from dml2onnx.lowering.operands import Operands

    Places = npt.NDArray[np.int64]

_MODES: dict[str, PadMode] = {"EDGE": "edge", "REFLECTION": "reflect", "WRAP": "wrap"}
"""The modes that ONNX Pad has too; SYMMETRIC it has not."""


@lowers("PADDING", "PADDING1", moves=("InputTensor",))
def padding(node: Operands, e: Emitter) -> Tensor:
    """The input with margins at both ends of each axis; an integer PaddingValue wraps [decision D7].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_padding_operator_desc
    """
    if node.op.enum("PaddingMode") != "CONSTANT":
        return _continue(node, e)
    if node.op.type == "PADDING":
        value = fill(node.op.float("PaddingValue"), node.output().data_type.dtype)
    else:
        value = node.op.scalar("PaddingValue").value
    return e.Pad(*_margins(node), "constant", node.as_moved(value))


def _margins(node: Operands) -> tuple[Tensor, tuple[int, ...], tuple[int, ...]]:
    return node.tensor("InputTensor"), node.op.uints("StartPadding"), node.op.uints("EndPadding")


def _continue(node: Operands, e: Emitter) -> Tensor:
    """The other modes: Pad where it has the mode and does not refuse the margins, else a Gather per dimension."""
    x, start, end = _margins(node)
    mode = node.op.enum("PaddingMode")
    if e.has_kernel("Pad", x.dtype) and _pad_takes(mode, x.shape, start, end, e.opset):
        return e.Pad(x, start, end, _MODES[mode])
    e.note(f"Gather: Pad has no {mode} mode, or none for {x.dtype} and these margins")
    for axis in reversed(range(x.rank)):  # what is copied element by element is then still small
        if not (start[axis] or end[axis]):
            continue
        size = x.shape[axis]
        e.budget.require(start[axis] + size + end[axis])
        places = np.arange(-start[axis], size + end[axis])
        x = e.Gather(x, e.positions(_source(mode, places, size)), axis)
    return x


def _pad_takes(mode: str, sizes: Sequence[int], start: Sequence[int], end: Sequence[int], opset: int) -> bool:
    """Whether ONNX Pad has the mode and margins are no wider than ONNX Runtime handles in one period."""
    margins = [(max(a, b), size) for a, b, size in zip(start, end, sizes, strict=True)]
    match mode:
        case "EDGE":
            return True
        case "REFLECTION":
            return all(margin < size for margin, size in margins)
        case "WRAP":
            # beyond the size ONNX Runtime 1.24 is wrong
            return opset >= 19 and all(margin <= size for margin, size in margins)
    return False


def _source(mode: str, places: Places, size: int) -> Places:
    """Which of ``size`` elements each coordinate, inside or not, repeats [decisions D1 to D6]."""
    if mode == "EDGE":
        return np.clip(places, 0, size - 1)
    if mode == "WRAP":
        wrapped: Places = np.remainder(places, size)
        return wrapped
    # the mirrored continuation of REFLECTION does not repeat the border, but it does a single element
    skipped = 0 if mode == "SYMMETRIC" or size == 1 else 1
    folded: Places = np.remainder(places, 2 * (size - skipped))
    return np.minimum(folded, 2 * size - 1 - skipped - folded)
