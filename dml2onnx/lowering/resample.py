"""RESAMPLE to RESAMPLE3 and UPSAMPLE_2D: Resize if it is equivalent, else Slice, Gather and weighted sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.legalise.resizing import (
    REMEMBERED,
    Indices,
    ResizeForm,
    Rounding,
    as_slice,
    linear_form,
    nearest_form,
    resized,
    sliced,
)
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.lowering.sampling import SAMPLING_TABLES, SampledAxis, extrapolation, nearest, weights, whole
from dml2onnx.onnx_model import FLOAT

Axes: TypeAlias = "tuple[tuple[int, SampledAxis], ...]"
"""Some axes of a tensor with their indices, in order."""


def _moved(op: OperatorDesc) -> tuple[str, ...]:
    return ("InputTensor",) if op.enum("InterpolationMode") == "NEAREST_NEIGHBOR" else ()


@lowers("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "UPSAMPLE_2D", moves=_moved)
def resample(node: Operands, e: Emitter) -> Tensor:
    """Resizes every axis by its own scale and offsets; an axis of stride 0 has one element.

    RESAMPLE and UPSAMPLE_2D use pixel centres; UPSAMPLE_2D scales the last two axes by the integers of ScaleSize
    [decisions S10 and S11].
    """
    op, x, sizes = node.op, node.broadcastable("InputTensor"), node.output().sizes
    if op.type == "UPSAMPLE_2D":
        factors = op.size_2d("ScaleSize")
        scales = (*(1.0 for _ in sizes[2:]), float(factors.height), float(factors.width))
    else:
        scales = op.floats("Scales")
    if op.type in ("RESAMPLE", "UPSAMPLE_2D"):
        offsets = (0.5,) * len(scales), (-0.5,) * len(scales)
    else:
        offsets = op.floats("InputPixelOffsets"), op.floats("OutputPixelOffsets")
    e.budget.require(SAMPLING_TABLES * sum(n for n in sizes if n > 1))
    is_nearest = op.enum("InterpolationMode") == "NEAREST_NEIGHBOR"
    axes = _axes(x.shape, sizes, scales, *offsets, is_nearest)
    if is_nearest:
        return _nearest(e, x, axes, rounding_of(op))
    return _linear(node, e, x, axes, antialiased=op.type == "RESAMPLE3" and op.flag("Antialiased"))


def rounding_of(op: OperatorDesc) -> Rounding:
    """Returns how NEAREST_NEIGHBOR rounds coordinates [decisions S2 and S3].

    Without RoundingDirection, halves are rounded up, but RESAMPLE and RESAMPLE1 round down for 8-bit integers.
    """
    if op.has("RoundingDirection"):
        return "INCREASING" if op.enum("RoundingDirection") == "INCREASING" else "DECREASING"
    is_first = op.type in ("RESAMPLE", "RESAMPLE1") and not op.tensor("InputTensor").data_type.is_float
    return "DECREASING" if is_first else "HALVES_UP"


@lru_cache(REMEMBERED)
def _axes(
    shape: tuple[int, ...],
    sizes: tuple[int, ...],
    scales: tuple[float, ...],
    input_offsets: tuple[float, ...],
    output_offsets: tuple[float, ...],
    is_nearest: bool,
) -> Axes:
    described = zip(shape, sizes, scales, input_offsets, output_offsets, strict=True)
    return tuple(enumerate(SampledAxis(*values, is_nearest) for values in described))


# --- NEAREST_NEIGHBOR ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Selection:
    """How elements are selected: by one Resize, or by a Slice and then axis by axis; finally by an Expand."""

    moving: dict[int, SampledAxis]
    """The axes that are neither copied nor broadcast."""
    repeated: dict[int, int]
    """The sizes of the broadcast axes."""
    at_once: ResizeForm | None
    slices: dict[int, slice]
    one_by_one: tuple[tuple[int, ResizeForm | None], ...]


@lru_cache(REMEMBERED)
def _selection(axes: Axes, rounding: Rounding, by_resize: bool) -> _Selection:
    repeated = {i: axis.count for i, axis in axes if axis.size == 1}
    places = {i: nearest(axis, rounding) for i, axis in axes if axis.size > 1}
    moving = {i: axis for i, axis in axes if i in places and not _is_copy(places[i], axis)}
    slices = {i: part for i in moving if (part := as_slice(places[i])) is not None}
    irregular = [i for i in moving if i not in slices]
    at_once = None
    if irregular and by_resize:
        at_once = nearest_form(moving.values(), rounding)
    if at_once is not None:
        irregular = []
    irregular.sort(key=lambda i: (moving[i].count / moving[i].size, -i))  # the tensor grows as late as possible
    one_by_one = tuple((i, nearest_form([moving[i]], rounding) if by_resize else None) for i in irregular)
    return _Selection(moving, repeated, at_once, slices, one_by_one)


def _is_copy(places: Indices, axis: SampledAxis) -> bool:
    return axis.count == axis.size and bool((places == np.arange(axis.size)).all())


def _nearest(e: Emitter, x: Tensor, axes: Axes, rounding: Rounding, *, by_resize: bool = True) -> Tensor:
    """One Slice or one Resize for all axes, or else the best form for each axis.

    Constants are not resized but resampled at compile time, by operators that can be folded.
    """
    plan = _selection(axes, rounding, by_resize and x.value is None)
    if plan.at_once is not None:
        x = resized(e, x, plan.moving, plan.at_once, "nearest")
    else:
        x = _one_by_one(e, x, plan, rounding)
    return e.Expand(x, [plan.repeated.get(i, n) for i, n in enumerate(x.shape)])


def _one_by_one(e: Emitter, x: Tensor, plan: _Selection, rounding: Rounding) -> Tensor:
    if plan.slices:
        x = sliced(e, x, plan.slices)
    for i, form in plan.one_by_one:
        if form is not None:
            x = resized(e, x, {i: plan.moving[i]}, form, "nearest")
        else:
            e.note(f"no Resize selects the elements that axis {i} needs: Gather")
            x = e.Gather(x, e.positions(nearest(plan.moving[i], rounding)), i)
    return x


# --- LINEAR ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stage:
    """One step of linear sampling. Axes with whole coordinates only select elements."""

    shrinking: Axes
    """Axes that select elements before the sampling."""
    sampled: Axes
    enlarging: Axes
    """Axes that select elements after it."""


def _linear(node: Operands, e: Emitter, x: Tensor, axes: Axes, *, antialiased: bool) -> Tensor:
    """Linear sampling in FLOAT32 of the axes with fractional coordinates; integers are truncated [decision S7]."""
    stages = _stages(axes, antialiased)
    if not any(stage.sampled for stage in stages):
        if len(stages) != 1:
            return _through(e, x, stages)
        return _nearest(e, x, tuple(sorted((*stages[0].shrinking, *stages[0].enlarging))), "DECREASING")
    is_float = x.dtype.kind == "f"
    wide = node.widened(x) if is_float else e.Cast(x, FLOAT)
    y = _through(e, wide, stages)
    if is_float:
        return y
    if any(extrapolation(axis) is not None for stage in stages for _, axis in stage.sampled):
        limits = np.iinfo(x.dtype.name)
        y = e.Clip(y, float(limits.min), float(limits.max))
    return _truncate(e, y, x.dtype, len(stages[-1].sampled))


def _through(e: Emitter, y: Tensor, stages: Sequence[_Stage]) -> Tensor:
    for stage in stages:
        if stage.shrinking:
            y = _nearest(e, y, stage.shrinking, "DECREASING")
        y = _sample(e, y, stage.sampled)
        if stage.enlarging:
            y = _nearest(e, y, stage.enlarging, "DECREASING")
    return y


@lru_cache(REMEMBERED)
def _stages(axes: Axes, antialiased: bool) -> tuple[_Stage, ...]:
    """Returns one stage, or with antialiasing as many as the axis that shrinks most needs, at least 2 [decision S9].

    Every axis takes part in all stages with its own offsets, which may shift an axis that has its final size.
    """
    if not antialiased or all(axis.scale >= 0.5 for _, axis in axes):
        return (_stage(axes),)
    sizes = {i: _sizes(axis) for i, axis in axes}
    passes = max(2, *map(len, sizes.values()))
    steps = {}
    for i, axis in axes:
        through = [axis.size, *sizes[i], *[axis.count] * (passes - len(sizes[i]))]
        offsets = axis.input_offset, axis.output_offset
        parts = [SampledAxis(before, after, after / before, *offsets) for before, after in pairwise(through)]
        # a single element is broadcast in one step
        steps[i] = [axis] if axis.size == 1 else [part for part in parts if not _stays(part)]
    last = max(map(len, steps.values()))
    aligned = [{i: parts[n - last] for i, parts in steps.items() if n + len(parts) >= last} for n in range(last)]
    return tuple(_stage(tuple(parts.items())) for parts in aligned)


def _stage(axes: Axes) -> _Stage:
    selecting = [(i, axis) for i, axis in axes if _selects(axis)]
    shrinking = tuple((i, axis) for i, axis in selecting if axis.count <= axis.size)
    enlarging = tuple((i, axis) for i, axis in selecting if axis.count > axis.size)
    sampled = tuple((i, axis) for i, axis in axes if not _selects(axis))
    return _Stage(shrinking, sampled, enlarging)


def _stays(axis: SampledAxis) -> bool:
    """Whether LINEAR does not change an axis."""
    return _selects(axis) and _is_copy(nearest(axis, "DECREASING"), axis)


def _selects(axis: SampledAxis) -> bool:
    """Whether LINEAR only selects elements along an axis."""
    return whole(axis) is not None and extrapolation(axis) is None


def _sizes(axis: SampledAxis) -> list[int]:
    """Returns the powers of two between size and count in descending order, and the count; only the count if the axis
    does not shrink below a half."""
    sizes = []
    if axis.size > 2 * axis.count:
        below = 1 << (axis.size - 1).bit_length() - 1
        while below > axis.count:
            sizes.append(below)
            below //= 2
    return [*sizes, axis.count]


def _sample(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """As few Resizes as possible, from the last axis on; a weighted sum of two selections if no Resize fits."""
    left = list(axes)
    while left:
        i, axis = left.pop()
        run = {i: axis}
        form = linear_form([axis]) if x.value is None else None
        if form is None:
            e.note(f"no Resize has the coordinates that axis {i} needs: a weighted sum of two selections")
            x = _weighted_sum(e, x, i, axis)
            continue
        while left:
            wider = linear_form([*run.values(), left[-1][1]])
            if wider is None:
                break
            form = wider
            run.update([left.pop()])
        x = resized(e, x, run, form, "linear")
    return x


def _weighted_sum(e: Emitter, x: Tensor, i: int, axis: SampledAxis) -> Tensor:
    beyond = extrapolation(axis)
    if beyond is None:
        above = weights(axis)
        sides: tuple[Rounding, ...] = ("DECREASING", "INCREASING")
        # not by Resize: optimisers merge it with the following Mul
        low, high = (e.Cast(_nearest(e, x, ((i, axis),), side, by_resize=False), FLOAT) for side in sides)
    else:
        e.note(f"axis {i} is extrapolated beyond its ends, as by DirectML for this InputPixelOffset")
        above = beyond.weight
        low, high = (e.Cast(e.Gather(x, e.positions(at), i), FLOAT) for at in (beyond.low, beyond.high))
    above = above.reshape([-1 if j == i else 1 for j in range(x.rank)])
    return e.Cast(e.Add(e.Mul(low, e.constant(1 - above)), e.Mul(high, e.constant(above))), x.dtype)


def _truncate(e: Emitter, y: Tensor, dtype: np.dtype[np.generic], sampled: int) -> Tensor:
    """Truncates [decision S7], but keeps the value of a constant area.

    Rounding may leave its weighted sum just below the value, by up to 2.5, 4 and 6 units of roundoff for one, two and
    three axes in one Resize. The result is enlarged by as much before it is truncated. (Halving 8-bit integers is
    exact.)
    """
    units = 2 * max(sampled, 2) if sampled else 0
    enlarged = e.Mul(y, e.constant(1 + units * float(np.finfo(np.float32).epsneg), np.float32))
    return e.Cast(enlarged, dtype)
