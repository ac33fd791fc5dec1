"""RESAMPLE_GRAD and RESAMPLE_GRAD1: Gather of all elements that contribute to each place, and ReduceSum."""

from __future__ import annotations

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.resizing import Floats, Indices, Rounding, remembered
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.lowering.resample import rounding_of
from dml2onnx.lowering.sampling import SAMPLING_TABLES, SampledAxis, nearest, weights, whole
from dml2onnx.onnx_model import FLOAT

WASTE = 4
"""The largest ratio of gathered elements to contributing ones; beyond it, elements are scattered."""


@lowers("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
def resample_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradients of RESAMPLE1 and RESAMPLE2, axis by axis, shrinking axes first, with swapped offsets
    [decisions S12 to S15].
    """
    op, x = node.op, e.Cast(node.tensor("InputGradientTensor"), FLOAT)
    sizes = node.output("OutputGradientTensor").sizes
    fields = (op.floats("Scales"), op.floats("OutputPixelOffsets"), op.floats("InputPixelOffsets"))
    e.budget.require(SAMPLING_TABLES * sum(n for n in (*sizes, *x.shape) if n > 1))
    axes = [SampledAxis(*values) for values in zip(sizes, x.shape, *fields, strict=True)]
    is_linear = op.enum("InterpolationMode") == "LINEAR"
    for i in sorted(range(x.rank), key=lambda i: (axes[i].size / axes[i].count, -i)):
        shares = _linear_shares(axes[i]) if is_linear else _nearest_shares(axes[i], rounding_of(op))
        x = _accumulated(e, x, i, *shares, sizes[i])
    return x


@remembered
def _nearest_shares(axis: SampledAxis, rounding: Rounding) -> tuple[Indices, Indices, Floats | None]:
    """Returns elements, the places that they are added to, and their weights (``None``: 1)."""
    return np.arange(axis.count), nearest(axis, rounding), None


@remembered
def _linear_shares(axis: SampledAxis) -> tuple[Indices, Indices, Floats | None]:
    """The same for LINEAR; an element with a whole coordinate has one place only, not a second one with weight 0."""
    every, only = np.arange(axis.count), whole(axis)
    if only is not None:
        return every, only, None
    low, high, above = nearest(axis, "DECREASING"), nearest(axis, "INCREASING"), weights(axis)
    split = low != high
    elements = np.concatenate([every, every[split]])
    places = np.concatenate([low, high[split]])
    shares = np.concatenate([np.where(split, 1 - above, np.float32(1)), above[split]])
    return elements, places, shares


def _accumulated(
    e: Emitter, x: Tensor, i: int, elements: Indices, places: Indices, shares: Floats | None, size: int
) -> Tensor:
    """``y[places] += shares * x[elements]`` along axis ``i``, which gets ``size`` elements."""
    count = x.shape[i]
    if shares is None and count == size and bool((places == elements).all()):
        return x
    order = np.argsort(places, kind="stable")
    elements, places = elements[order], places[order]
    shares = None if shares is None else shares[order]
    first = np.searchsorted(places, np.arange(size))
    row = np.arange(len(places)) - first[places]
    most = int(row.max()) + 1
    if most * size > WASTE * len(places) + WASTE:
        return _scattered(e, x, i, elements, places, shares, size)
    # unused entries of the table refer to a 0 after the last element
    table, factors = np.full((size, most), count), np.zeros((size, most), np.float32)
    table[places, row] = elements
    factors[places, row] = 1 if shares is None else shares
    if (table == count).any():
        x = e.Pad(x, (0,) * x.rank, [int(axis == i) for axis in range(x.rank)])
    if np.array_equal(table.reshape(-1), np.arange(x.shape[i])):
        y = e.Reshape(x, (*x.shape[:i], *table.shape, *x.shape[i + 1 :]))
    else:
        y = e.Gather(x, e.positions(table), i)
    if shares is not None:
        y = e.Mul(y, e.constant(factors.reshape(*factors.shape, *(1,) * (x.rank - i - 1)), x.dtype))
    total = e.ReduceSum(y, (i + 1,)) if most > 1 else y
    return e.Reshape(total, (*x.shape[:i], size, *x.shape[i + 1 :]))


def _scattered(
    e: Emitter, x: Tensor, i: int, elements: Indices, places: Indices, shares: Floats | None, size: int
) -> Tensor:
    """The same by ScatterElements."""
    e.note(f"ScatterElements: the number of elements per place varies too much along axis {i} for a Gather")
    column = (-1, *(1,) * (x.rank - i - 1))
    updates = x
    if shares is not None:
        updates = e.Mul(e.Gather(x, e.positions(elements), i), e.constant(shares.reshape(column), x.dtype))
    zeros = e.ConstantOfShape((*x.shape[:i], size, *x.shape[i + 1 :]), 0, x.dtype, fold=x.value is not None)
    where = e.Expand(e.positions(places.reshape(column)), updates.shape)
    return e.ScatterElements(zeros, where, updates, i, reduction="add")
