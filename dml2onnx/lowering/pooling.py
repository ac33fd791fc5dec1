"""MAX_POOLING, AVERAGE_POOLING and LP_POOLING, all versions: MaxPool and AveragePool, and what they leave out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dml2onnx.lowering.bits import comparable
from dml2onnx.lowering.emitter.neural import Window
from dml2onnx.lowering.integer_products import requantized, scale_along, zero_point_along
from dml2onnx.lowering.pairs import Steps, through
from dml2onnx.lowering.quantization import steps_of
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import DOUBLE, FLOAT, INT64
from dml2onnx.targets import Quirk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands
    from dml2onnx.model import DType

    Counts = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    Ratios = npt.NDArray[np.float64]

MOST_TAPS = 8
"""Windows up to this size are compared element by element; over longer ones the maximum doubles its reach."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The windows of one pooling operator, over spatial ``sizes``, one for each element of ``output``.

    ``window.end`` is what the output's size needs, which may be less than EndPadding, or more, since the output
    may follow the rounded-up division [decision P2].
    """

    window: Window
    sizes: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def is_padded(self) -> bool:
        """Whether any window reaches outside."""
        return any(self.window.start) or any(self.window.end)

    @property
    def is_dilated(self) -> bool:
        """Whether any window skips elements."""
        return any(step != 1 for step in self.window.dilations)

    @property
    def picks(self) -> bool:
        """Whether every window is one element of the input."""
        return not self.is_padded and prod(self.window.shape) == 1

    @property
    def fits(self) -> bool:
        """Whether the pads are smaller than the window, as ONNX Runtime wants them."""
        return all(max(a, b) < k for a, b, k in zip(self.window.start, self.window.end, self.window.shape, strict=True))

    @property
    def is_global(self) -> bool:
        """Whether one window covers everything."""
        reached = all(k - a >= n for k, a, n in zip(self.window.shape, self.window.start, self.sizes, strict=True))
        return prod(self.output) == 1 and reached and not self.is_dilated

    def places(self, axis: int) -> Counts:
        """Input coordinates of the windows' elements, inside or not, of shape (output, window)."""
        w = self.window
        first = np.arange(self.output[axis])[:, None] * w.strides[axis] - w.start[axis]
        return first + np.arange(w.shape[axis]) * w.dilations[axis]

    def reaching(self, axis: int) -> tuple[int, int]:
        """The first window that does not end before the input, and the first after it that begins behind the input."""
        w = self.window
        first = max(0, -(-(w.start[axis] - w.extent(axis) + 1) // w.strides[axis]))
        return first, min(self.output[axis], -(-(w.start[axis] + self.sizes[axis]) // w.strides[axis]))

    @property
    def table_size(self) -> int:
        """Elements of what :meth:`inside` makes."""
        return prod(self.output) + sum(self.output)

    def inside(self) -> Counts:
        """How many elements of each window lie in the input, of shape ``output``."""
        result: Counts = reduce(np.multiply.outer, [self.within(axis, 0, n) for axis, n in enumerate(self.sizes)])
        return result

    def within(self, axis: int, low: int, high: int) -> Counts:
        """How many elements of each window along an axis lie from ``low`` on and before ``high``.

        By arithmetic: windows may be as long as numbers go, whatever the tensors hold.
        """
        w = self.window
        first = np.arange(self.output[axis]) * w.strides[axis] - w.start[axis] - low
        step = w.dilations[axis]
        before = np.maximum(-(first // step), 0)
        to_end = np.minimum((high - low - 1 - first) // step + 1, w.shape[axis])
        counts: Counts = np.maximum(to_end - before, 0)
        return counts

    @property
    def has_empty(self) -> bool:
        """Whether some window lies wholly in padding."""
        return self.may_have_empty and not self.inside().all()

    @property
    def may_have_empty(self) -> bool:
        """Whether :attr:`has_empty` has to look at every window."""
        return self.is_padded and not (self.fits and not self.is_dilated)


@lru_cache(maxsize=1024)
def pool_of(op: OperatorDesc, before: str = "InputTensor", after: str = "OutputTensor") -> Pool:
    """The windows over the tensor ``before``, one for each element of ``after``."""
    sizes, output = op.tensor(before).sizes[2:], op.tensor(after).sizes[2:]
    strides, shape, start = op.uints("Strides"), op.uints("WindowSize"), op.uints("StartPadding")
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(sizes)
    # of a single element they mean nothing, but forms are chosen by them
    dilations = tuple(d if k > 1 else 1 for d, k in zip(dilations, shape, strict=True))
    geometry = zip(output, strides, shape, dilations, sizes, start, strict=True)
    end = tuple(max((m - 1) * s + (k - 1) * d + 1 - n - a, 0) for m, s, k, d, n, a in geometry)
    return Pool(Window(shape, strides, dilations, start, end), sizes, output)


def forward_pool(op: OperatorDesc) -> Pool:
    """The windows of a forward operator, and where more of them fit than the output has, these too [decision P2].

    So no window ends before the input does, as no ONNX operator has it; :func:`_wanted` takes the first ones.
    """
    pool = pool_of(op)
    fitting = pool.window.output_sizes(pool.sizes)
    output = tuple(map(max, pool.output, fitting))
    return pool if output == pool.output else replace(pool, output=output)


def _wanted(e: Emitter, y: Tensor, node: Operands) -> Tensor:
    """As many elements as the output has."""
    return e.Slice(y, (0,) * y.rank, node.output().sizes)


def _pick(e: Emitter, x: Tensor, pool: Pool) -> Tensor:
    """Every ``stride``-th element."""
    ends = [(n - 1) * s + 1 for n, s in zip(pool.output, pool.window.strides, strict=True)]
    return e.Slice(x, (0,) * x.rank, (*x.shape[:2], *ends), (1, 1, *pool.window.strides))


# --- maximum ---------------------------------------------------------------------------------------------------------


@lowers("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
def max_pooling(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The largest element of each window, and its index in the whole input: MaxPool.

    Padding never wins; the first of equal elements does [decisions P6 to P9].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling2_operator_desc
    """
    x, pool = _above_lowest(e, node.tensor("InputTensor")), forward_pool(node.op)
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    if not node.has_output("OutputIndicesTensor"):
        return {"OutputTensor": _wanted(e, _maximum(e, x, pool), node)}
    y, indices = (_wanted(e, item, node) for item in first_maxima(e, x, pool))
    return {
        "OutputTensor": y,
        "OutputIndicesTensor": e.Cast(indices, node.output("OutputIndicesTensor").data_type.dtype),
    }


def first_maxima(e: Emitter, x: Tensor, pool: Pool) -> tuple[Tensor, Tensor]:
    """The first largest element of each window, and its INT64 index in the whole of ``x``, row-major."""
    without = e.target.has(Quirk.MAX_POOL_GIVES_NO_INDICES)
    if not pool.fits or pool.has_empty or x.dtype.itemsize == 8 or without:
        return _searched(e, x, pool)
    if _has_exact_max_pool(e, x.dtype):
        return e.MaxPoolWithIndices(x, pool.window)
    narrow = x.dtype.itemsize <= 2 or (x.dtype.kind == "f" and not e.has_kernel("MaxPool", DOUBLE))
    wide = e.Cast(x, FLOAT if narrow else DOUBLE)
    if e.exact and x.dtype.kind == "f" and wide.dtype != x.dtype and not x.limited:
        # below all numbers of the narrow type: where nothing is above minus infinity ONNX Runtime 1.24 finds no place
        wide = e.Clip(wide, 2 * _lowest(x.dtype), None)
    values, indices = e.MaxPoolWithIndices(wide, pool.window)
    return e.Cast(values, x.dtype), indices


def _has_exact_max_pool(e: Emitter, dtype: DType) -> bool:
    """Whether MaxPool takes this type as it is, and that is its fast kernel."""
    return not e.target.has(Quirk.MAX_POOL_IS_FAST_IN_FLOAT) and e.has_kernel("MaxPool", dtype)


def _above_lowest(e: Emitter, x: Tensor) -> Tensor:
    """What exact maxima are taken of: they begin with the lowest number, and pass over NaN [decisions G1, P7].

    Kernels of ONNX Runtime do so for some shapes, and not for others.
    """
    if not e.exact or x.dtype.kind != "f" or x.limited or x.value is not None:
        return x
    lowest = _lowest(x.dtype)
    above = e.Clip(e.Where(e.IsNaN(x), e.constant(lowest, x.dtype), x), lowest, None)
    above.limited = True
    return above


def _lowest(dtype: DType) -> int | float:
    """What a maximum begins with, and where a window is empty ends [decision P7]."""
    limits = np.finfo(dtype.name) if dtype.kind == "f" else np.iinfo(dtype.name)
    return float(limits.min) if dtype.kind == "f" else int(limits.min)


def _maximum(e: Emitter, x: Tensor, pool: Pool) -> Tensor:
    """MaxPool in FLOAT, by far its fastest kernel, or Max over slices for what FLOAT cannot hold.

    Windows of padding alone are known when compiling.
    """
    if pool.picks:
        return _pick(e, x, pool)
    native = _has_exact_max_pool(e, x.dtype)
    is_float = x.dtype.kind == "f"
    if not native and (is_float or x.dtype.itemsize > 2):
        if not is_float and pool.is_global and e.supports("ReduceMax", x.dtype):
            return e.ReduceMax(x, tuple(range(2, x.rank)))
        if not is_float or pool.has_empty:
            e.note(f"Max over slices: MaxPool has no fast kernel that is exact for {x.dtype} and this padding")
            return _sliding_maximum(e, x, pool)
    wide = x if native else e.Cast(x, FLOAT)
    window = pool.window
    if not pool.fits or pool.has_empty:
        e.note("padded by hand: ONNX Runtime wants pads smaller than the window, and something in each window")
        wide, window = _filled(e, wide, pool, _lowest(x.dtype))
    return e.Cast(e.MaxPool(wide, window), x.dtype)


def _filled(e: Emitter, x: Tensor, pool: Pool, value: int | float) -> tuple[Tensor, Window]:
    """The input with its padding made real, and the window over that."""
    w = pool.window
    none = (0,) * len(w.shape)
    padded = e.Pad(x, (0, 0, *w.start), (0, 0, *w.end), "constant", value)
    return padded, Window(w.shape, w.strides, w.dilations, none, none)


def _sliding_maximum(e: Emitter, x: Tensor, pool: Pool) -> Tensor:
    """One dimension after the other."""
    x, window = _filled(e, x, pool, _lowest(x.dtype))
    for i, count in enumerate(pool.output):
        x = _maximum_along(e, x, i + 2, window.shape[i], window.strides[i], window.dilations[i], count)
    return x


def _maximum_along(e: Emitter, x: Tensor, axis: int, size: int, stride: int, dilation: int, count: int) -> Tensor:
    """``y[i] = max(x[i * stride + j * dilation] for j in range(size))`` along one axis, for ``count`` elements."""

    def part(start: int, length: int, step: int) -> Tensor:
        starts, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        starts[axis], ends[axis], steps[axis] = start, start + (length - 1) * step + 1, step
        return e.Slice(x, starts, ends, steps)

    doublings = max((size - 1).bit_length(), 1)
    if size <= min(2 * stride * doublings, MOST_TAPS):
        return e.Max(*(part(j * dilation, count, stride) for j in range(size)))
    covered = 1
    while covered < size:
        shift = min(covered, size - covered)
        length = x.shape[axis] - shift * dilation
        x = e.Max(part(0, length, 1), part(shift * dilation, length, 1))
        covered += shift
    return part(0, count, stride)


def _searched(e: Emitter, x: Tensor, pool: Pool) -> tuple[Tensor, Tensor]:
    """All windows gathered side by side, and ArgMax over them: any type, any padding."""
    e.note("windows are gathered and searched by ArgMax: MaxPool's indices do not cover this type or padding")
    planes, area, taps, count = prod(x.shape[:2]), prod(pool.sizes), prod(pool.window.shape), prod(pool.output)
    e.budget.require(count * taps + planes)
    table, empty = _window_table(pool)
    flat = e.Reshape(x, (planes, area))
    source = table
    if empty.any():
        flat = e.Concat([flat, e.constant(np.full((planes, 1), _lowest(x.dtype), x.dtype))], 1)
        source = np.where(empty[:, None], area, table)
    candidates = e.Reshape(e.Gather(flat, e.positions(source.reshape(-1)), 1), (planes, count, taps))
    which = e.ArgMax(comparable(e, candidates), 2)
    values = e.GatherElements(candidates, which, 2)
    entry = e.Add(which, e.constant(np.arange(count).reshape(1, count, 1) * taps, INT64))
    place = e.Cast(e.Gather(e.positions(table.reshape(-1)), entry), INT64)
    indices = e.Add(place, e.constant(np.arange(planes).reshape(planes, 1, 1) * area, INT64))
    shape = (*x.shape[:2], *pool.output)
    return e.Reshape(values, shape), e.Reshape(indices, shape)


@lru_cache(maxsize=64)
def _window_table(pool: Pool) -> tuple[Counts, Mask]:
    """Flat spatial indices of every window's elements, row-major, and which windows have none.

    Elements outside are replaced with the window's first inside, which changes neither the maximum nor the first
    place where it is found.
    """
    flat: Counts = np.zeros((1, 1), np.int64)
    inside: Mask = np.ones((1, 1), np.bool_)
    for axis, size in enumerate(pool.sizes):
        places = pool.places(axis)
        rows, columns = flat.shape[0] * places.shape[0], flat.shape[1] * places.shape[1]
        flat = (flat[:, None, :, None] * size + places[None, :, None, :]).reshape(rows, columns)
        inside = inside[:, None, :, None] & ((places >= 0) & (places < size))[None, :, None, :]
        inside = inside.reshape(rows, columns)
    empty = np.logical_not(inside.any(axis=1, keepdims=True))[:, 0]
    first = np.where(empty, 0, flat[np.arange(len(flat)), inside.argmax(1)])
    return np.where(inside, flat, first[:, None]), empty


# --- mean ------------------------------------------------------------------------------------------------------------


@lowers("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average_pooling(node: Operands, e: Emitter) -> Tensor:
    """The mean of each window: AveragePool.

    The divisor is the whole window with IncludePadding, even where it hangs over the padded end, otherwise the
    elements inside; of a window without any the mean is NaN [decisions P3 to P5].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling1_operator_desc
    """
    return _wanted(e, _mean(node, e, forward_pool(node.op), node.tensor("InputTensor")), node)


def _mean(node: Operands, e: Emitter, pool: Pool, x: Tensor) -> Tensor:
    include = node.op.flag("IncludePadding")
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    if pool.picks:
        return _pick(e, x, pool)
    x = node.widened(x)
    if not pool.fits or (pool.is_dilated and e.opset < 19) or e.takes_instead("AveragePool", x.dtype, "Conv", "Mul"):
        e.note("a mean filter: AveragePool wants pads smaller than the window, and has dilations from opset 19 on")
        e.budget.require(pool.table_size if pool.is_padded and not include else 0)
        mean = _filtered(e, x, pool, 1 / prod(pool.window.shape))
        return e.Mul(mean, e.constant(_whole_to_inside(pool), x.dtype)) if pool.is_padded and not include else mean
    if not pool.is_padded or not include:
        return e.AveragePool(x, pool.window, count_include_pad=False)
    if len({*pool.window.start, *pool.window.end}) == 1:
        return e.AveragePool(x, pool.window, count_include_pad=True)
    e.budget.require(pool.table_size)
    e.note("the divisor is corrected: ONNX Runtime 1.24 counts padding wrongly where it is not the same all around")
    mean = e.AveragePool(x, pool.window, count_include_pad=False)
    return e.Mul(mean, e.constant(_inside_to_whole(pool), x.dtype))


@lru_cache(maxsize=64)
def _inside_to_whole(pool: Pool) -> Ratios:
    """What turns means over the elements inside into means over the whole windows."""
    ratios: Ratios = pool.inside()[None, None] / prod(pool.window.shape)
    return ratios


@lru_cache(maxsize=64)
def _whole_to_inside(pool: Pool) -> Ratios:
    """The reverse; NaN for windows without elements inside, of which the mean is 0 / 0 [decision P5]."""
    ratios = _inside_to_whole(pool)
    return np.divide(1, ratios, out=np.full_like(ratios, np.nan), where=ratios != 0)


def _filtered(e: Emitter, x: Tensor, pool: Pool, weight: float) -> Tensor:
    """The sum over each window, times ``weight``: one Conv for all planes, which are its batch."""
    e.budget.require(prod(pool.window.shape))
    weights = e.constant(np.full((1, 1, *pool.window.shape), weight), x.dtype)
    planes = e.Reshape(x, (prod(x.shape[:2]), 1, *pool.sizes))
    return e.Reshape(e.Conv(planes, weights, None, pool.window), (*x.shape[:2], *pool.output))


# --- norm ------------------------------------------------------------------------------------------------------------


@lowers("LP_POOLING", "LP_POOLING1")
def lp_pooling(node: Operands, e: Emitter) -> Tensor:
    """``(|x1| ** P + ... + |xn| ** P) ** (1 / P)`` of each window; padding adds nothing [decisions P11, P12].

    Means times the number of elements, between powers, where LpPool is many times as slow.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_lp_pooling_operator_desc
    """
    return _wanted(e, _norm(node, e, forward_pool(node.op)), node)


def _norm(node: Operands, e: Emitter, pool: Pool) -> Tensor:
    x, p = node.tensor("InputTensor"), node.op.uint("P")
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    if pool.picks:
        return e.Abs(_pick(e, x, pool))
    has_dilations = not pool.is_dilated or e.opset >= 18
    is_slow = e.target.has(Quirk.LP_POOL_ELEMENT_BY_ELEMENT)
    if not is_slow and e.has_kernel("LpPool", x.dtype) and pool.fits and has_dilations:
        return e.LpPool(x, pool.window, p)
    # FLOAT16 as FLOAT, whatever the provider computes in: powers soon overflow
    x = e.Cast(x, FLOAT)
    if p == 2:
        return e.Sqrt(_window_sums(e, e.Mul(x, x), pool))
    magnitude = e.Abs(x)
    if p == 1:
        return _window_sums(e, magnitude, pool)
    total = _window_sums(e, e.Pow(magnitude, e.constant(p, FLOAT)), pool)
    return e.Pow(total, e.constant(1 / p, FLOAT))


def _window_sums(e: Emitter, x: Tensor, pool: Pool) -> Tensor:
    """The sum over each window, 0 where it holds nothing."""
    without = (pool.is_dilated and e.opset < 19) or e.takes_instead("AveragePool", x.dtype, "Conv")
    if not pool.fits or pool.has_empty or without:
        e.note("a filter of ones: AveragePool wants pads smaller than the window, and has dilations from opset 19 on")
        return _filtered(e, x, pool, 1)
    mean = e.AveragePool(x, pool.window, count_include_pad=False)
    e.budget.require(pool.table_size if pool.is_padded else 0)
    counts = pool.inside()[None, None] if pool.is_padded else prod(pool.window.shape)
    return e.Mul(mean, e.constant(counts, x.dtype))


# --- quantized -------------------------------------------------------------------------------------------------------


@lowers("QUANTIZED_LINEAR_AVERAGE_POOLING")
def quantized_linear_average_pooling(node: Operands, e: Emitter) -> Tensor:
    """The mean of ``Input - InputZeroPoint`` times InputScale, quantized [decisions P1 to P5, Q15, Q17].

    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_quantized_linear_average_pooling_operator_desc
    """
    x, pool = node.tensor("InputTensor"), forward_pool(node.op)
    before, after, dtype = steps_of(node, e, "Input"), steps_of(node, e, "Output"), node.output().data_type.dtype
    # ONNX Runtime's kernel has no dilations, and the model that its optimiser makes then does not load
    if not (e.exact or pool.is_dilated) and _averages_steps(before, after, prod(pool.sizes)):
        paired = through(e, x, before, after, dtype, lambda numbers: _wanted(e, _mean(node, e, pool, numbers), node))
        if paired is not None:
            return paired
    x = e.Cast(x, FLOAT)
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    zero_point = zero_point_along(node, e, "Input", x.rank, 1)
    if zero_point is not None:
        x = e.Sub(x, e.Cast(zero_point, FLOAT))
    sums = _window_sums(e, x, pool)
    e.budget.require(pool.table_size)
    counts = prod(pool.window.shape) if node.op.flag("IncludePadding") else np.maximum(pool.inside(), 1)[None, None]
    mean = _wanted(e, e.Div(sums, e.constant(counts, FLOAT)), node)
    return requantized(node, e, mean, scale_along(node, e, "Input", x.rank, 1), 1)


def _averages_steps(before: Steps, after: Steps, elements: int) -> bool:
    """Whether ONNX Runtime's kernel for a mean of all elements takes these scales, which it looks at when it runs.

    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/qlgavgpool.cpp
    """
    given, wanted = before.scale.value, after.scale.value
    if given is None or wanted is None or given.size > 1 or wanted.size > 1 or not wanted.all():
        return False
    return 2.0**-32 <= float(given.item()) / (float(wanted.item()) * elements) < 256
