"""MAX_POOLING, AVERAGE_POOLING and LP_POOLING, all versions: MaxPool, AveragePool and LpPool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.legalise.pools import window_sums
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.pairs import through
from dml2onnx.lowering.quantization import requantized, scale_along, shifted, steps_of, zero_point_along
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT


@lru_cache(maxsize=1024)
def pool_of(op: OperatorDesc, before: str = "InputTensor", after: str = "OutputTensor") -> PoolWindows:
    """Returns the windows over the tensor ``before``, one for each element of ``after``.

    Their end padding is what the output needs: less than EndPadding, or more if the output's size was rounded up
    [decision P2].
    """
    sizes, output = op.tensor(before).sizes[2:], op.tensor(after).sizes[2:]
    strides, shape, start = op.uints("Strides"), op.uints("WindowSize"), op.uints("StartPadding")
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(sizes)
    # normalized for windows of one element, since the form depends on dilations
    dilations = tuple(d if k > 1 else 1 for d, k in zip(dilations, shape, strict=True))
    geometry = zip(output, strides, shape, dilations, sizes, start, strict=True)
    end = tuple(max((m - 1) * s + (k - 1) * d + 1 - n - a, 0) for m, s, k, d, n, a in geometry)
    return PoolWindows(Window(shape, strides, dilations, start, end), sizes, output)


def forward_pool(op: OperatorDesc) -> PoolWindows:
    """Returns the windows of a forward operator, including those that fit but have no output element [decision P2].

    ONNX cannot omit windows that fit into the input; :func:`_cropped` drops their results.
    """
    pool = pool_of(op)
    return PoolWindows.over(pool.sizes, pool.window)


def _cropped(e: Emitter, y: Tensor, node: Operands) -> Tensor:
    """Crops ``y`` to the sizes of the output."""
    return e.Slice(y, (0,) * y.rank, node.output().sizes)


def _pick(e: Emitter, x: Tensor, pool: PoolWindows) -> Tensor:
    """Returns every ``stride``-th element."""
    ends = [(n - 1) * s + 1 for n, s in zip(pool.output, pool.window.strides, strict=True)]
    return e.Slice(x, (0,) * x.rank, (*x.shape[:2], *ends), (1, 1, *pool.window.strides))


# --- maximum ---------------------------------------------------------------------------------------------------------


@lowers("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
def max_pooling(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The largest element of each window, and its index in the whole input: MaxPool.

    Padding never wins; the first of equal elements does [decisions P6 to P9].
    """
    x, pool = e.from_lowest(node.tensor("InputTensor")), forward_pool(node.op)
    if not node.has_output("OutputIndicesTensor"):
        y = _pick(e, x, pool) if pool.picks else e.MaxPool(x, pool.window)
        return {"OutputTensor": _cropped(e, y, node)}
    y, indices = (_cropped(e, item, node) for item in e.MaxPoolWithIndices(x, pool.window))
    return {
        "OutputTensor": y,
        "OutputIndicesTensor": e.Cast(indices, node.output("OutputIndicesTensor").data_type.dtype),
    }


# --- mean ------------------------------------------------------------------------------------------------------------


@lowers("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average_pooling(node: Operands, e: Emitter) -> Tensor:
    """The mean of each window: AveragePool.

    The divisor is the size of the window with IncludePadding, even beyond the padded end, otherwise the number of
    elements inside the input; the mean of none is NaN [decisions P3 to P5].
    """
    return _cropped(e, _mean(node, e, forward_pool(node.op), node.tensor("InputTensor")), node)


def _mean(node: Operands, e: Emitter, pool: PoolWindows, x: Tensor) -> Tensor:
    if pool.picks:
        return _pick(e, x, pool)
    includes = pool.is_padded and node.op.flag("IncludePadding")
    return e.AveragePool(node.widened(x), pool.window, count_include_pad=includes)


# --- norm ------------------------------------------------------------------------------------------------------------


@lowers("LP_POOLING", "LP_POOLING1")
def lp_pooling(node: Operands, e: Emitter) -> Tensor:
    """``(|x1| ** P + ... + |xn| ** P) ** (1 / P)`` of each window; padding adds 0 [decisions P11, P12]: LpPool."""
    x, pool = node.tensor("InputTensor"), forward_pool(node.op)
    y = e.Abs(_pick(e, x, pool)) if pool.picks else e.LpPool(x, pool.window, node.op.uint("P"))
    return _cropped(e, y, node)


# --- quantized -------------------------------------------------------------------------------------------------------


@lowers("QUANTIZED_LINEAR_AVERAGE_POOLING")
def quantized_linear_average_pooling(node: Operands, e: Emitter) -> Tensor:
    """The mean of ``Input - InputZeroPoint`` times InputScale, quantized [decisions P1 to P5, Q15, Q17]."""
    x, pool = node.tensor("InputTensor"), forward_pool(node.op)
    before, after, dtype = steps_of(node, e, "Input"), steps_of(node, e, "Output"), node.output().data_type.dtype
    if not e.rounds_pairs():
        paired = through(e, x, before, after, dtype, lambda numbers: _cropped(e, _mean(node, e, pool, numbers), node))
        if paired is not None:
            return paired
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    sums = window_sums(e, shifted(e, x, zero_point_along(node, e, "Input", x.rank, 1), FLOAT), pool)
    e.budget.require(pool.table_size)
    counts = prod(pool.window.shape) if node.op.flag("IncludePadding") else np.maximum(pool.inside(), 1)[None, None]
    mean = _cropped(e, e.Div(sums, e.constant(counts, FLOAT)), node)
    return requantized(node, e, mean, scale_along(node, e, "Input", x.rank, 1), 1)
