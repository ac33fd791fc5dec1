"""The algebra of strided views: how to get from one view of a memory to another.

A producer wrote (or a graph input is) a tensor under some sizes and strides; a consumer reads the same memory
under others. :func:`plan_read` gives the cheapest chain of array steps between the two dense tensors:
nothing, Reshape, Transpose, Slice, Expand, Pad, and Gather along one axis where a view overlaps itself.
:func:`plan_write` says the same of writing. Everything counts in elements of one width. Pure integer algebra: no
ONNX in it; ``apply`` interprets a plan with numpy.

The structured part works on radices. Memory of ``K`` elements is a number system whose digits are the
dimensions; a strided dimension ``(size, stride)`` is a run of whole digits that starts at weight ``stride``,
the topmost possibly a range of one digit, and an offset is a number whose digits are where the ranges start.
So two views are compatible when the union of their weights is a chain in which each divides the next.

What has no number system in common with packed memory is taken level by level, the largest strides first: a level
steps through memory in multiples of a unit, and all below it happens within one unit. Rows that end in a gap, pixels
of four bytes with three in use, windows that slide over an image: each is a Reshape and a Slice per level, a Pad where
the last row lacks its gap, and a Gather where several axes share a level, with as many indices as that level has
places. No step has a table of the size of the tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import gcd, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dml2onnx.ir.tensor import extent, is_dense, packed_strides

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Indices = npt.NDArray[np.int64]


SHORT_ROW = 64
"""Row length up to which the overhead of a copy exceeds the cost of its elements."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes and strides in elements, from an offset in elements."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    def packed(cls, sizes: tuple[int, ...]) -> Layout:
        """A row-major layout from the start."""
        return cls(sizes, packed_strides(sizes))

    @property
    def extent(self) -> int:
        """Elements from the first to the last used."""
        return extent(self.sizes, self.strides)

    @property
    def memory_order(self) -> tuple[int, ...]:
        """Axes from the largest to the smallest stride; axes of size 1 keep their place."""
        moving = [axis for axis, size in enumerate(self.sizes) if size > 1]
        ranked = iter(sorted(moving, key=lambda axis: (-self.strides[axis], axis)))
        return tuple(next(ranked) if size > 1 else axis for axis, size in enumerate(self.sizes))

    @property
    def is_dense(self) -> bool:
        """Whether the elements tile ``[offset, offset + extent)`` once each."""
        return is_dense(self.sizes, self.strides)

    def offsets(self) -> Indices:
        """The memory index of every element, in the shape of the tensor."""
        positions = np.full((1,) * len(self.sizes), self.offset, np.int64)
        for axis, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            steps = np.arange(size, dtype=np.int64) * stride
            positions = positions + steps.reshape([-1 if i == axis else 1 for i in range(len(self.sizes))])
        return positions


@dataclass(frozen=True, slots=True)
class Reshape:
    """The same elements in the same order, in another shape."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transpose:
    """``numpy.transpose``."""

    permutation: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """Ranges ``[starts, ends)`` of all axes."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Expand:
    """Repetition of axes of size 1."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pad:
    """Padding after the last elements of all axes: zeros, or on the last axis the old memory under ``gap``."""

    ends: tuple[int, ...]
    gap: Layout | None = None


@dataclass(frozen=True, slots=True)
class Gather:
    """Elements of one axis at the positions of ``layout``, in its shape."""

    axis: int
    layout: Layout


@dataclass(frozen=True, slots=True)
class Scatter:
    """Elements of one axis at distinct positions of ``layout``; the others are the old memory under ``gap``, or 0.

    ``gap`` shows all places in the memory written to, those of the elements too.
    """

    axis: int
    layout: Layout
    gap: Layout

    def sources(self) -> Indices:
        """The element index for every position; positions without an element have indices beyond the last element."""
        sources = np.arange(self.layout.extent) + prod(self.layout.sizes)
        sources[self.layout.offsets().reshape(-1)] = np.arange(prod(self.layout.sizes))
        return sources


Step: TypeAlias = Reshape | Transpose | Slice | Expand | Pad | Gather | Scatter
Plan: TypeAlias = tuple[Step, ...]


@lru_cache(maxsize=1 << 14)
def plan_read(source: Layout, target: Layout, *, units: bool = False) -> Plan | None:
    """Steps from the dense tensor of shape ``source.sizes`` to that of ``target``.

    ``source`` must not overlap itself. With ``units``, dimensions of stride 0 come out with size 1 instead of
    being repeated: for consumers that broadcast on their own. ``None`` when the target reads memory that the
    source does not hold: outside of it, or its gaps.
    """
    if source.offset == target.offset and source.strides == target.strides and source.sizes == target.sizes:
        return ()
    shape = tuple(1 if stride == 0 else size for size, stride in zip(target.sizes, target.strides, strict=True))
    core = _read_core(source, Layout(shape, target.strides, target.offset - source.offset))
    if core is None:
        return None
    steps = _tidy(source.sizes, core, shape)
    return steps if units or shape == target.sizes else (*steps, Expand(target.sizes))


def plan_flat(source: Layout) -> Plan:
    """Steps from a dense tensor to its memory as one dimension; the layout must be dense."""
    assert source.is_dense
    order = source.memory_order
    return _tidy(source.sizes, (Transpose(order),), (prod(source.sizes),))


def memory_shape(layout: Layout) -> tuple[int, ...]:
    """The shape in which a buffer of this layout is seen in memory order.

    A packed tensor keeps its sizes, a permuted one is sorted by stride, a broadcast dimension is absent from
    memory and so is 1; what leaves gaps or overlaps is one flat run of elements.
    """
    sizes = tuple(1 if stride == 0 else size for size, stride in zip(layout.sizes, layout.strides, strict=True))
    stored = Layout(sizes, layout.strides)
    if not stored.is_dense:
        return (stored.extent,)
    return tuple(sizes[axis] for axis in stored.memory_order)


@lru_cache(maxsize=1 << 12)
def plan_write(layout: Layout, *, over: bool = False) -> Plan:
    """Steps from a dense tensor to its memory as one dimension, which may extend beyond the layout.

    The layout must not overlap itself. Gaps, and what is behind the last element, are zeros; with ``over`` they are
    what is there already, and the memory ends with the last element.
    """
    if layout.is_dense:
        return plan_flat(layout)
    levels = _levels(layout)
    if not over:
        steps = _padded_axes(layout, levels)
        if steps is not None:
            return steps
    order = tuple(axis for level in levels for axis in level.axes)
    units = tuple(axis for axis in range(len(layout.sizes)) if axis not in order)
    outer, sizes = len(order), [layout.sizes[axis] for axis in order]
    strides = [layout.strides[axis] for axis in order]
    steps = (Transpose(units + order), Reshape((*sizes, 1)))
    length = 1
    for level in reversed(levels):
        if length < level.unit:
            gap = Layout((*sizes[:outer], level.unit - length), (*strides[:outer], 1), length)
            steps += (Pad((*(0 for _ in sizes[:outer]), level.unit - length), gap),)
        elif length > level.unit:
            steps += (_cut_last(sizes[:outer], 0, level.unit),)
        outer -= len(level.axes)
        if len(level.axes) > 1:
            places = _places(layout, level)
            gap = Layout((*sizes[:outer], level.count, level.unit), (*strides[:outer], level.unit, 1))
            steps += (Reshape((*sizes[:outer], prod(places.sizes), level.unit)), Scatter(outer, places, gap))
        length = level.count * level.unit
        steps += (Reshape((*sizes[:outer], length)),)
    return _tidy(layout.sizes, (*steps, Slice((0,), (layout.extent,))), (layout.extent,))


def _padded_axes(layout: Layout, levels: list[_Level]) -> Plan | None:
    """The plan if every stride divides the next: gaps are zero padding of the axes, before the transposition.

    While the fastest axis is last, as it mostly is in the tensor, Pad copies long rows.
    """
    ends = [0] * (1 + len(layout.sizes))
    ends[0] = levels[-1].unit - 1  # an axis of size 1, padded for the gaps between elements
    for outer, level in pairwise(levels):
        (axis, *more) = level.axes
        if more or outer.unit % level.unit or outer.unit < level.count * level.unit:
            return None
        ends[1 + axis] = outer.unit // level.unit - level.count
    if len(levels[0].axes) > 1:
        return None
    order = [1 + level.axes[0] for level in levels]
    # axes of size 1 come first, so that ONNX Runtime recognizes that a single axis moves
    units = [axis for axis in range(1, len(ends)) if axis not in order]
    if ends[0]:
        order.append(0)
    else:
        units.insert(0, 0)
    steps = (Reshape((1, *layout.sizes)), Pad(tuple(ends)), Transpose((*units, *order)))
    return _tidy(layout.sizes, steps, (levels[0].count * levels[0].unit,))


def apply(
    plan: Plan, array: npt.NDArray[np.generic], below: npt.NDArray[np.generic] | None = None
) -> npt.NDArray[np.generic]:
    """Executes a plan with numpy; ``below`` is the memory written to, zero beyond its end."""
    for step in plan:
        match step:
            case Reshape(shape):
                array = array.reshape(shape)
            case Transpose(permutation):
                array = array.transpose(permutation)
            case Slice(starts, ends):
                array = array[tuple(slice(a, b) for a, b in zip(starts, ends, strict=True))]
            case Expand(shape):
                array = np.broadcast_to(array, shape)
            case Pad(ends, gap):
                if below is None or gap is None:
                    array = np.pad(array, [(0, count) for count in ends])
                else:
                    array = np.concatenate([array, _seen(below, gap)], -1)
            case Gather(axis, layout):
                array = np.take(array, layout.offsets(), axis)
            case Scatter(axis, _, gap):
                others = np.zeros(gap.sizes, array.dtype) if below is None else _seen(below, gap)
                array = np.take(np.concatenate([array, others], axis), step.sources(), axis)
    return array


def _seen(memory: npt.NDArray[np.generic], gap: Layout) -> npt.NDArray[np.generic]:
    """The elements of a layout in a memory that continues with zeros."""
    return np.append(memory, np.zeros(gap.offset + gap.extent, memory.dtype))[gap.offsets()]


def _read_core(source: Layout, target: Layout) -> Plan | None:
    """The plan without its last Reshape and Expand; ``target.offset`` counts from the start of the source."""
    if target.offset < 0 or target.offset + target.extent > source.extent:
        return None
    direct = _digits(source, target)
    if direct is not None:
        return direct
    if not source.is_dense:
        return None
    flat = plan_flat(source)
    total = prod(source.sizes)
    for start, length in _windows(target, total):
        window = Layout((length,), (1,))
        inner = _digits(window, Layout(target.sizes, target.strides, target.offset - start))
        if inner is not None:
            cut = () if length == total else (Slice((start,), (start + length,)),)
            return (*flat, *cut, *inner)
    return (*flat, *_by_levels(target, total))


def _windows(target: Layout, total: int) -> list[tuple[int, int]]:
    """(start, length) of parts of memory that may divide evenly if the whole does not."""
    moving = [(s, n) for n, s in zip(target.sizes, target.strides, strict=True) if n > 1]
    if not moving:
        return [(target.offset, 1)]
    stride, size = max(moving)
    length = stride * size
    starts = (0, target.offset // stride * stride, target.offset)
    windows = [(0, total), *((start, length) for start in starts), (target.offset, target.extent)]
    end = target.offset + target.extent
    return [(start, count) for start, count in windows if start <= target.offset and end <= start + count <= total]


@dataclass(frozen=True, slots=True)
class _Level:
    """Axes of a layout whose strides are multiples of one unit, which contains all lower levels."""

    axes: tuple[int, ...]
    unit: int
    count: int
    """Units from the first to the last used."""
    inner: int
    """Elements from the first to the last that lower levels use within a unit."""


def _levels(layout: Layout) -> list[_Level]:
    """The axes larger than 1 of a layout without zero strides, largest strides first."""
    moving = sorted((s, axis) for axis, (n, s) in enumerate(zip(layout.sizes, layout.strides, strict=True)) if n > 1)
    groups: list[_Level] = []
    for stride, axis in moving:
        axes: tuple[int, ...] = (axis,)
        unit, inner = stride, _reach(groups[-1]) if groups else 1
        while groups and unit < inner:
            lower = groups.pop()
            axes, unit, inner = axes + lower.axes, gcd(unit, lower.unit), lower.inner
        touched = sum((layout.sizes[a] - 1) * layout.strides[a] for a in axes)
        groups.append(_Level(tuple(sorted(axes)), unit, touched // unit + 1, inner))
    return groups[::-1]


def _reach(level: _Level) -> int:
    return (level.count - 1) * level.unit + level.inner


def _places(layout: Layout, level: _Level) -> Layout:
    """The axes of a level, in units."""
    sizes = tuple(layout.sizes[axis] for axis in level.axes)
    return Layout(sizes, tuple(layout.strides[axis] // level.unit for axis in level.axes))


def _cut_last(front: Sequence[int], start: int, end: int) -> Slice:
    return Slice((*(0 for _ in front), start), (*front, end))


def _by_levels(target: Layout, total: int) -> Plan:
    """Any view without zero strides of one-dimensional memory of ``total`` elements."""
    levels = _levels(target)
    steps: list[Step] = []
    counts: list[int] = []
    start, length = target.offset, total
    for level in levels:
        needed = level.count * level.unit
        # if memory ends within the last unit, units may begin earlier, in the gap before the elements
        skipped = max(0, start + needed - length)
        if skipped > start or skipped + level.inner > level.unit:
            skipped = 0
        first = start - skipped
        end = min(length, first + needed)
        steps.append(_cut_last(counts, first, end))
        if end - first < needed:
            steps.append(Pad((*(0 for _ in counts), needed - (end - first))))
        counts.append(level.count)
        steps.append(Reshape((*counts, level.unit)))
        start, length = skipped, level.unit
    steps += [_cut_last(counts, start, start + 1), Reshape(tuple(counts))]
    # from the last axis, so that earlier axes keep their numbers
    for axis, level in reversed(list(enumerate(levels))):
        if len(level.axes) > 1:
            steps.append(Gather(axis, _places(target, level)))
    order = [axis for level in levels for axis in level.axes]
    return (*steps, Transpose(tuple(sorted(range(len(order)), key=order.__getitem__))))


def _digits(source: Layout, target: Layout) -> Plan | None:
    """Reshape, Slice and Transpose in a mixed radix that both views share, or ``None`` if there is none."""
    kept = sorted((s, n, axis) for axis, (n, s) in enumerate(zip(source.sizes, source.strides, strict=True)) if n > 1)
    wanted = [(s, n) for n, s in zip(target.sizes, target.strides, strict=True) if n > 1]
    dense = source.is_dense
    top = kept[-1][0] * kept[-1][1] if kept else 1
    weights = {1, top, *(s for s, _, _ in kept), *(s for s, _ in wanted)}
    ends = {s * n for s, n in wanted if s * n < top}
    for candidate in (weights | ends, weights) if dense else (weights,):
        chain = sorted(candidate)
        if chain[-1] == top and all(high % low == 0 for low, high in pairwise(chain)):
            plan = _in_chain(chain, kept, wanted, source, target)
            if plan is not None:
                return plan
    return None


def _in_chain(
    chain: list[int],
    kept: list[tuple[int, int, int]],
    wanted: list[tuple[int, int]],
    source: Layout,
    target: Layout,
) -> Plan | None:
    radix = [high // low for low, high in pairwise(chain)]
    index = {weight: i for i, weight in enumerate(chain)}
    start = [target.offset // low % r for low, r in zip(chain, radix, strict=False)]
    runs = _runs(wanted, index, radix, start)
    digits_of = _split(kept, radix, index)
    if runs is None or digits_of is None:
        return None
    length = {digit: count for run in runs for digit, count in run}
    digit_sizes = _sizes_of_digits(kept, digits_of, radix)
    # digits missing in the source are its gaps: the target may only use 0 there
    if any(start[d] + length.get(d, 1) > digit_sizes.get(d, 1) for d in range(len(radix))):
        return None
    # one column per digit, and one (None) per source axis of size 1, so that no axes are dropped and added again
    columns = [digit for axis in range(len(source.sizes)) for digit in digits_of.get(axis, [None])]
    if len(columns) > len(source.sizes):
        # a Reshape that splits an axis can add the axes of size 1 needed later
        digits = [digit for digit in columns if digit is not None]
        units = max(0, target.sizes.count(1) - sum(digit not in length for digit in digits))
        if columns.count(None) != units:
            columns = [*[None] * units, *digits]
    split = Reshape(tuple(1 if d is None else digit_sizes[d] for d in columns))
    starts = tuple(0 if d is None else start[d] for d in columns)
    cut = Slice(starts, tuple(a + (1 if d is None else length.get(d, 1)) for a, d in zip(starts, columns, strict=True)))
    return (split, cut, Transpose(_arrange(columns, runs, target)))


def _runs(
    wanted: list[tuple[int, int]], index: dict[int, int], radix: list[int], start: list[int]
) -> list[list[tuple[int, int]]] | None:
    """For each target axis larger than 1 its digits, most significant first, and the size of each."""
    runs: list[list[tuple[int, int]]] = []
    taken: set[int] = set()
    for stride, size in wanted:
        digit = index[stride]
        run: list[tuple[int, int]] = []
        while size > 1:
            if digit >= len(radix) or digit in taken:
                return None
            count = min(size, radix[digit])
            if size % count or start[digit] + count > radix[digit]:
                return None
            taken.add(digit)
            run.append((digit, count))
            size //= count
            digit += 1
        runs.append(run[::-1])
    return runs


def _arrange(columns: list[int | None], runs: list[list[tuple[int, int]]], target: Layout) -> tuple[int, ...]:
    """The order of columns that yields the target's axes; columns of one element serve as axes of size 1."""
    place = {digit: i for i, digit in enumerate(columns) if digit is not None}
    moving = {digit for run in runs for digit, _ in run}
    units = [i for i, digit in enumerate(columns) if digit not in moving]
    order: list[int] = []
    remaining = iter(runs)
    for size in target.sizes:
        if size > 1:
            order += [place[digit] for digit, _ in next(remaining)]
        elif units:
            order.append(units.pop(0))
    return (*order, *units)


def _split(
    kept: list[tuple[int, int, int]], radix: list[int], index: dict[int, int]
) -> dict[int, list[int | None]] | None:
    """The digits of each source axis, most significant first."""
    result: dict[int, list[int | None]] = {}
    for stride, size, axis in kept:
        first = digit = index[stride]
        covered = 1
        while covered < size and digit < len(radix):
            covered *= radix[digit]
            digit += 1
        # a source with gaps has a part of one digit; a Reshape cannot split a part of several
        if covered < size or (covered != size and digit != first + 1):
            return None
        result[axis] = list(range(digit - 1, first - 1, -1))
    return result


def _sizes_of_digits(
    kept: list[tuple[int, int, int]], digits_of: dict[int, list[int | None]], radix: list[int]
) -> dict[int, int]:
    """The size of each digit in the source."""
    digit_sizes: dict[int, int] = {}
    for _, size, axis in kept:
        digits = digits_of[axis]
        digit_sizes.update((d, size if len(digits) == 1 else radix[d]) for d in digits if d is not None)
    return digit_sizes


def _cuts_short_rows(cut: Slice, shape: tuple[int, ...], permutation: tuple[int, ...]) -> bool:
    """Whether a Slice keeps most of short rows, so that it is faster after a Transpose of all of them."""
    last = len(shape) - 1
    taken = cut.ends[last] - cut.starts[last]
    others = all((a, b) == (0, n) for a, b, n in zip(cut.starts[:-1], cut.ends[:-1], shape[:-1], strict=True))
    return others and permutation[-1] != last and taken < shape[last] <= min(2 * taken, SHORT_ROW)


def _tidy(shape: tuple[int, ...], steps: Plan, final: tuple[int, ...]) -> Plan:
    """The steps without no-ops, ending in shape ``final``."""
    result: list[Step] = []
    shapes = [shape]

    def reshape(to: tuple[int, ...]) -> None:
        if result and isinstance(result[-1], Reshape):
            result.pop()
            shapes.pop()
        if to != shapes[-1]:
            result.append(Reshape(to))
            shapes.append(to)

    def push(step: Step, to: tuple[int, ...]) -> None:
        result.append(step)
        shapes.append(to)

    for step in steps:
        match step:
            case Reshape(to):
                reshape(to)
            case Transpose(permutation):
                before = shapes[-1]
                permuted = tuple(before[axis] for axis in permutation)
                moving = [axis for axis in permutation if before[axis] > 1]
                if moving == sorted(moving):
                    reshape(permuted)
                elif result and isinstance(result[-1], Slice) and _cuts_short_rows(result[-1], shapes[-2], permutation):
                    whole = result.pop()
                    assert isinstance(whole, Slice)
                    shapes.pop()
                    push(step, tuple(shapes[-1][axis] for axis in permutation))
                    parts = (tuple(part[axis] for axis in permutation) for part in (whole.starts, whole.ends))
                    push(Slice(*parts), permuted)
                else:
                    push(step, permuted)
            case Slice(starts, ends):
                cut = tuple(b - a for a, b in zip(starts, ends, strict=True))
                if cut != shapes[-1]:
                    push(step, cut)
            case Pad(more):
                if any(more):
                    push(step, tuple(n + count for n, count in zip(shapes[-1], more, strict=True)))
            case Gather(axis, layout):
                push(step, (*shapes[-1][:axis], *layout.sizes, *shapes[-1][axis + 1 :]))
            case Scatter(axis, layout):
                push(step, (*shapes[-1][:axis], layout.extent, *shapes[-1][axis + 1 :]))
            case Expand(to):
                push(step, to)
    reshape(final)
    return tuple(result)
