"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.reductions import merged, shrunk
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.ordering import along
from dml2onnx.lowering.registry import lowers

Function: TypeAlias = "Callable[[Emitter, Tensor, Axes], Tensor]"

Axes: TypeAlias = tuple[int, ...]


@lowers("REDUCE")
def reduce(node: Operands, e: Emitter) -> Tensor:
    """Reduces Axes to size 1 by ``Function``: ReduceSum, ReduceMax and so on.

    For a single element a function is a plain formula [decision R5]. Integers wrap [decision R3].
    """
    name, axes = node.op.enum("Function"), tuple(sorted(node.op.uints("Axes")))
    if name in ("ARGMIN", "ARGMAX"):
        return _index(node, e, axes, largest=name == "ARGMAX", last=False)
    # broadcast elements do not change these
    x = along(node, e, () if name in ("AVERAGE", "MAX", "MIN") else axes)
    axes = tuple(axis for axis in axes if x.shape[axis] > 1)
    if not axes:
        return _of_one(node, e, name, x)
    return _OF_FLOATS[name](e, node.widened(x), axes) if x.dtype.kind == "f" else _OF_INTEGERS[name](e, x, axes)


def _of_one(node: Operands, e: Emitter, name: str, x: Tensor) -> Tensor:
    """Applies a function to each element by itself."""
    if name in ("L1", "L2"):
        return x if x.dtype.kind == "u" else e.Abs(x)
    if name == "SUM_SQUARE":
        wide = node.widened(x)
        return e.Mul(wide, wide)
    return e.Log(node.widened(x)) if name == "LOG_SUM" else x


_OF_FLOATS: Mapping[str, Function] = {
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

_OF_INTEGERS: Mapping[str, Function] = {
    "L1": lambda e, x, axes: e.ReduceSum(x if x.dtype.kind == "u" else e.Abs(x), axes, wraps=True),
    "MAX": Emitter.ReduceMax,
    "MIN": Emitter.ReduceMin,
    "MULTIPLY": Emitter.ReduceProd,
    "SUM": lambda e, x, axes: e.ReduceSum(x, axes, wraps=True),
    "SUM_SQUARE": lambda e, x, axes: e.ReduceSum(e.Mul(x, x), axes, wraps=True),
}

# --- indices ---------------------------------------------------------------------------------------------------------


@lowers("ARGMIN", "ARGMAX")
def arg_extreme(node: Operands, e: Emitter) -> Tensor:
    """The index of the first (with DECREASING: last) smallest or largest element along Axes: ArgMin, ArgMax.

    Indices over several axes are row-major [decisions R9, R10].
    """
    axes = tuple(sorted(node.op.uints("Axes")))
    last = node.op.enum("AxisDirection") == "DECREASING"
    return _index(node, e, axes, largest=node.op.type == "ARGMAX", last=last)


def _index(node: Operands, e: Emitter, axes: Axes, *, largest: bool, last: bool) -> Tensor:
    output = node.output()
    x = along(node, e, axes)
    axes = tuple(axis for axis in axes if x.shape[axis] > 1)
    if not axes:
        return e.ConstantOfShape(output.sizes, 0, output.data_type.dtype)
    y, shape = x, shrunk(x, axes)
    if len(axes) > 1:
        y, axes = merged(e, y, axes)
    if len(axes) > 1:
        e.note("axes are moved next to each other and merged: ArgMax and ArgMin take one axis")
        rest = [axis for axis in range(y.rank) if axis not in axes]
        y, axes = merged(e, e.Transpose(y, (*rest, *axes)), tuple(range(len(rest), y.rank)))
    index = (e.ArgMax if largest else e.ArgMin)(y, axes[0], last=last)
    index.below = y.shape[axes[0]]
    return e.Reshape(index, shape)
