"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

import functools
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dml2onnx.lowering.bits import comparable
from dml2onnx.lowering.emitter import Emitter
from dml2onnx.lowering.ordering import along
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import INT64
from dml2onnx.targets import Quirk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dml2onnx.lowering.emitter import Tensor
    from dml2onnx.lowering.operands import Operands

    Function: TypeAlias = "Callable[[Emitter, Tensor, Axes], Tensor]"

Axes: TypeAlias = tuple[int, ...]

WORTH_TWO_STEPS = 1 << 14
"""Elements from which on a reduction in two steps gains more than its nodes cost."""
LONGEST_ONES = 1 << 12
"""Constant vectors of ones are kept to this length."""
MOST_LEFT_OVER = 1 << 6
"""Blocks no longer than this would leave too much for the next step: padding is cheaper."""
MOST_PIECES = 8


@lowers("REDUCE")
def reduce(node: Operands, e: Emitter) -> Tensor:
    """``Function`` of the elements along Axes, each of which shrinks to 1: ReduceSum, ReduceMax and their like.

    Over no more than one element a function is a plain formula [decision R5]. Integers wrap [decision R3], which
    ONNX Runtime's reductions no longer do. On the CPU provider norms and logarithms are formulas around ReduceSum.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_reduce_operator_desc
    """
    name, axes = node.op.enum("Function"), tuple(sorted(node.op.uints("Axes")))
    if name in ("ARGMIN", "ARGMAX"):
        return _where(node, e, axes, largest=name == "ARGMAX", last=False)
    # repeated elements do not change these
    x = along(node, e, () if name in ("AVERAGE", "MAX", "MIN") else axes)
    axes = tuple(axis for axis in axes if x.shape[axis] > 1)
    if not axes:
        y = _of_one(node, e, name, x)
    elif x.dtype.kind == "f" and not e.target.has(Quirk.REDUCES_ROWS_ONLY):
        y = _OPERATORS[name](e, x, axes)
    else:
        y = _FUNCTIONS[name](e, node.widened(x), axes)
    return e.Expand(y, node.output().sizes)


def _of_one(node: Operands, e: Emitter, name: str, x: Tensor) -> Tensor:
    """A function of each element alone."""
    if name in ("L1", "L2"):
        return x if x.dtype.kind == "u" else e.Abs(x)
    if name == "SUM_SQUARE":
        wide = node.widened(x)
        return e.Mul(wide, wide)
    return e.Log(node.widened(x)) if name == "LOG_SUM" else x


# --- sums ------------------------------------------------------------------------------------------------------------


def _sum(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    if x.dtype.kind == "f":
        return e.ReduceSum(x, axes)
    if not e.target.has(Quirk.INTEGERS_REDUCED_IN_DOUBLE) and e.has_kernel("ReduceSum", x.dtype):
        return e.ReduceSum(x, axes)
    e.note("integer sums by MatMul with ones, which wraps: the CPU's ReduceSum adds in DOUBLE, and saturates")
    return _fold_axes(e, x, axes, _ones_times)


def _ones_times(e: Emitter, x: Tensor) -> Tensor:
    """Sums over the middle of three axes, in so many steps that no vector of ones gets long."""
    outer, count, inner = x.shape
    if count == 1:
        return x
    width = next((d for d in range(min(count, LONGEST_ONES), MOST_LEFT_OVER, -1) if count % d == 0), count)
    if width > LONGEST_ONES:
        width = LONGEST_ONES
        x = e.Pad(x, (0, 0, 0), (0, -count % width, 0))
    blocks = x.shape[1] // width
    if inner == 1:
        y = e.MatMul(e.Reshape(x, (outer * blocks, width)), e.constant(np.ones((width, 1), x.dtype)))
    else:
        y = e.MatMul(e.constant(np.ones((1, width), x.dtype)), e.Reshape(x, (outer * blocks, width, inner)))
    return _ones_times(e, e.Reshape(y, (outer, blocks, inner)))


def _fold_axes(e: Emitter, x: Tensor, axes: Axes, fold: Callable[[Emitter, Tensor], Tensor]) -> Tensor:
    """``fold`` over the middle of three axes, for one after the other of the merged axes."""
    kept = _shrunk(x, axes)
    y, axes = _merged(e, x, axes)
    for axis in reversed(axes):  # the last first: its elements lie side by side
        sizes = y.shape
        y = fold(e, e.Reshape(y, (prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1 :]))))
        y = e.Reshape(y, (*sizes[:axis], 1, *sizes[axis + 1 :]))
    return e.Reshape(y, kept)


def _pieces(e: Emitter, x: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """``combine`` over the middle of three axes: of a few long pieces first, then of what is left."""
    count = x.shape[1]
    if count == 1:
        return x
    pieces = min(count, MOST_PIECES)
    sizes, rest = (count // pieces,) * pieces, count % pieces
    parts = e.Split(x, (*sizes, rest) if rest else sizes, 1)
    y = functools.reduce(combine, parts[:pieces])
    return _pieces(e, e.Concat([y, *parts[pieces:]], 1), combine)


def _shrunk(x: Tensor, axes: Axes) -> tuple[int, ...]:
    return tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))


def _starts_with(x: Tensor, axes: Axes) -> bool:
    """Whether the first axis that matters is among ``axes``, and not all that matter are, in a large tensor."""
    matter = [axis for axis, size in enumerate(x.shape) if size > 1]
    return x.size >= WORTH_TWO_STEPS and matter[0] in axes and len(matter) > len(axes)


def _l1(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    return _sum(e, x if x.dtype.kind == "u" else e.Abs(x), axes)


def _sum_square(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    return _sum(e, e.Mul(x, x), axes)


def _log_sum_exp(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The maximum is subtracted first [decision R2], as a finite number: of infinities the difference would be NaN."""
    limit = float(np.finfo(x.dtype).max)  # type: ignore[type-var]
    top = e.Clip(_maximum(e, x, axes), -limit, limit)
    total = e.ReduceSum(e.Exp(e.Sub(x, top)), axes)
    return e.Add(e.Log(total), top)


def _multiply(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    is_float = x.dtype.kind == "f"
    quirk = Quirk.REDUCES_ROWS_ONLY if is_float else Quirk.INTEGERS_REDUCED_IN_DOUBLE
    native = not e.target.has(quirk) and e.has_kernel("ReduceProd", x.dtype)
    if native or (is_float and not _starts_with(x, axes)):
        return e.ReduceProd(x, axes)
    why = "is slow over the first axis" if is_float else "multiplies integers in DOUBLE, and saturates"
    e.note(f"products by Mul of pieces: the CPU's ReduceProd {why}")
    return _fold_axes(e, x, axes, lambda e, x: _pieces(e, x, e.Mul))


# --- extremes --------------------------------------------------------------------------------------------------------


def _maximum(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    return _extreme(e, x, axes, e.ReduceMax, e.Max)


def _minimum(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    return _extreme(e, x, axes, e.ReduceMin, e.Min)


def _extreme(
    e: Emitter,
    x: Tensor,
    axes: Axes,
    over: Callable[[Tensor, Axes], Tensor],
    combine: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """ReduceMax or ReduceMin, whose CPU kernels compare INT64 wrongly, lack UINT64 and are slow over the first axis."""
    if x.dtype == np.uint64 and not e.has_kernel("ReduceMax", x.dtype):
        e.note("Max or Min of pieces: ReduceMax and ReduceMin have no kernel for UINT64")
        return _fold_axes(e, x, axes, lambda e, x: _pieces(e, x, combine))
    if x.dtype == INT64:
        e.note("found by ArgMax or ArgMin: the kernels of ReduceMax and ReduceMin compare INT64 wrongly")
        y, merged = _merged(e, x, axes)
        return e.Reshape(over(y, merged), _shrunk(x, axes))
    if not e.target.has(Quirk.REDUCES_ROWS_ONLY) or not _starts_with(x, axes):
        return over(x, axes)
    y, merged = _merged(e, x, axes)
    block = next((d for d in range(MOST_LEFT_OVER << 1, 7, -1) if y.shape[0] % d == 0 and d < y.shape[0]), 0)
    if block == 0:
        return over(x, axes)
    e.note("in two steps, since the kernels are fast only over what is not the first axis")
    blocks = e.Reshape(y, (y.shape[0] // block, block, *y.shape[1:]))
    y = over(blocks, tuple(axis + 1 for axis in merged))
    return e.Reshape(over(y, (0,)), _shrunk(x, axes))


_OPERATORS: Mapping[str, Function] = {
    "AVERAGE": Emitter.ReduceMean,
    "L1": Emitter.ReduceL1,
    "L2": Emitter.ReduceL2,
    "LOG_SUM": Emitter.ReduceLogSum,
    "LOG_SUM_EXP": Emitter.ReduceLogSumExp,
    "MAX": Emitter.ReduceMax,
    "MIN": Emitter.ReduceMin,
    "MULTIPLY": Emitter.ReduceProd,
    "SUM": Emitter.ReduceSum,
    "SUM_SQUARE": Emitter.ReduceSumSquare,
}
"""ONNX's own operators, for floats."""

_FUNCTIONS: Mapping[str, Function] = {
    "AVERAGE": lambda e, x, axes: e.ReduceMean(x, axes),
    "L1": _l1,
    "L2": lambda e, x, axes: e.Sqrt(_sum_square(e, x, axes)),
    "LOG_SUM": lambda e, x, axes: e.Log(_sum(e, x, axes)),
    "LOG_SUM_EXP": _log_sum_exp,
    "MAX": _maximum,
    "MIN": _minimum,
    "MULTIPLY": _multiply,
    "SUM": _sum,
    "SUM_SQUARE": _sum_square,
}


# --- indices ---------------------------------------------------------------------------------------------------------


@lowers("ARGMIN", "ARGMAX")
def arg_extreme(node: Operands, e: Emitter) -> Tensor:
    """Where the smallest or largest element along Axes is, the first such or with DECREASING the last: ArgMin, ArgMax.

    Several axes count in row-major order [decisions R9, R10].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_argmax_operator_desc
    """
    axes = tuple(sorted(node.op.uints("Axes")))
    last = node.op.enum("AxisDirection") == "DECREASING"
    return _where(node, e, axes, largest=node.op.type == "ARGMAX", last=last)


def _where(node: Operands, e: Emitter, axes: Axes, *, largest: bool, last: bool) -> Tensor:
    """Row-major indices over ``axes``.

    The kernels go from element to element, some eight times as slow along the last axis as numpy's vectorised search;
    comparing with the extreme, which is found faster, and searching for the first hit takes as long.
    """
    output = node.output()
    x = along(node, e, axes)
    axes = tuple(axis for axis in axes if x.shape[axis] > 1)
    if not axes:
        return e.ConstantOfShape(output.sizes, 0, output.data_type.dtype)
    kept = _shrunk(x, axes)
    find = e.ArgMax if largest else e.ArgMin
    y = x if e.has_kernel("ArgMax", x.dtype) else comparable(e, x)
    if len(axes) > 1:
        y, axes = _merged(e, y, axes)
    if len(axes) > 1:
        e.note("axes moved next to each other: ArgMax and ArgMin have one")
        rest = [axis for axis in range(y.rank) if axis not in axes]
        y, axes = _merged(e, e.Transpose(y, (*rest, *axes)), tuple(range(len(rest), y.rank)))
    index = find(y, axes[0], last=last)
    return e.Expand(e.Cast(e.Reshape(index, kept), output.data_type.dtype), output.sizes)


def _merged(e: Emitter, x: Tensor, axes: Axes) -> tuple[Tensor, Axes]:
    """``x`` without axes of size 1, neighbours that are both reduced or both kept made one, and the axes in that."""
    sizes: list[int] = []
    reduced: list[bool] = []
    for axis, size in enumerate(x.shape):
        if size == 1:
            continue
        if reduced and reduced[-1] == (axis in axes):
            sizes[-1] *= size
        else:
            sizes.append(size)
            reduced.append(axis in axes)
    return e.Reshape(x, sizes), tuple(i for i, is_reduced in enumerate(reduced) if is_reduced)
