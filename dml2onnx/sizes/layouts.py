"""Memory layouts of values with variable sizes, and views of them.

The dimensions of the tensor that was written, in memory order, are the axes of the layout. A view is matched against
them: each of its dimensions covers an axis, several contiguous ones, or a part of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from dml2onnx.sizes.expressions import Size, SymbolKind, as_size, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.sizes.solver import Requirement, Solver


@dataclass(frozen=True, slots=True)
class StridedAxis:
    """A dimension in memory; strides are in bits."""

    size: Size
    stride: Size
    old_stride: int
    index: int = -1
    """The dimension of the tensor that was written."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a value, the innermost first, which is the bits of an element."""

    axes: tuple[StridedAxis, ...]

    @property
    def end(self) -> int:
        """The bits from the first to the last one, in the model."""
        return 1 + sum((int(axis.size) - 1) * axis.old_stride for axis in self.axes)


@dataclass(frozen=True, slots=True)
class Sized:
    """A tensor with variable sizes; ``strides`` are in elements, ``None`` means packed."""

    sizes: tuple[Size, ...]
    strides: tuple[Size | None, ...] | None
    offset: Size = field(default_factory=lambda: Size(0))
    """In bytes."""


# --- Writing --------------------------------------------------------------------------------------------------------


def written(desc: TensorDesc, sizes: Sequence[Size]) -> tuple[Axes, Sized]:
    """Returns the layout of a tensor that fills its buffer, and the tensor with the strides that follow."""
    order = _memory_order(desc)
    bits = desc.data_type.bits
    axes = [StridedAxis(Size(bits), Size(1), 1)]
    steps: list[Size | None] = [None] * desc.rank
    old = desc.effective_strides
    tight, tight_old = Size(1), 1
    for i in order:
        if old[i] == 0 and desc.sizes[i] > 1:
            steps[i] = Size(0)
            continue
        step = _pitch(tight, tight_old, old[i], desc.sizes[i])
        steps[i] = step
        if not (sizes[i].is_constant and desc.sizes[i] == 1):
            axes.append(StridedAxis(sizes[i], step * bits, int(step) * bits, i))
        if desc.sizes[i] > 1 or not sizes[i].is_constant:
            tight, tight_old = sizes[i] * step, max(desc.sizes[i] * int(step), tight_old)
    return Axes(tuple(axes)), Sized(tuple(sizes), None if desc.strides is None else tuple(steps))


def _memory_order(desc: TensorDesc) -> list[int]:
    """Dimensions from the inside out.

    Of two dimensions with one stride, that of size 1 is the inner one. A dimension of size 1 whose stride is
    meaningless lies outside all dimensions after it.
    """
    strides = desc.effective_strides
    known = {stride for stride, size in zip(strides, desc.sizes, strict=True) if size > 1}
    end = max([stride * size for stride, size in zip(strides, desc.sizes, strict=True)] or [1])

    def key(i: int) -> tuple[int, int, int]:
        if desc.sizes[i] > 1:
            return strides[i], 1, -i
        if strides[i] in known or strides[i] >= end:
            return strides[i], 0, -i
        inner = [strides[j] * desc.sizes[j] for j in range(i + 1, desc.rank) if desc.sizes[j] > 1]
        return max(inner, default=1), 0, -i

    return sorted(range(desc.rank), key=key)


def _pitch(tight: Size, tight_old: int, old: int, size: int) -> Size:
    """The stride of a dimension given the size of the inner ones: as dense, as padded or as aligned as the old one."""
    if old == tight_old or size == 1:
        return tight
    if tight.is_constant:
        return Size(old)
    alignment = old & -old
    while alignment > 1 and -(-tight_old // alignment) * alignment != old:
        alignment //= 2
    if alignment > 1:
        return as_size((tight + (alignment - 1)) // alignment) * alignment
    return tight + (old - tight_old)


# --- Reading --------------------------------------------------------------------------------------------------------


AS_WRITTEN, INSIDE = -1, -2
"""Preferences for dimensions of size 1 that may be placed at several positions: see :meth:`Match._single_for`."""


class UnmatchedError(Exception):
    """A view covers variable dimensions in a way that has no counterpart at other sizes; with the reason."""


@dataclass
class _Segment:
    """A part of an axis between two factors, with a stride of ``step`` bits."""

    size: Size
    step: Size
    old_step: int
    dimension: int | None = None
    position: int = 0
    index: int = -1


class Match:
    """Matches a view with a layout: which parts of which axes each dimension covers."""

    def __init__(
        self, layout: Axes, desc: TensorDesc, offset: int, solver: Solver, place: Requirement, preference: int
    ) -> None:
        self.preference = preference
        self.is_ambiguous = False
        self.layout = layout
        self.desc = desc
        self.solver = solver
        self.place = place
        self.bits = desc.data_type.bits
        strides = [stride * self.bits for stride in desc.effective_strides]
        self.dimensions = [*zip(desc.sizes, strides, strict=True), (self.bits, 1)]
        self.covered: list[list[_Segment]] = [[] for _ in self.dimensions]
        self.segments: list[list[_Segment]] = []
        self.offset = offset * 8

    def view(self) -> Sized:
        """Returns the view with variable sizes."""
        if self.offset + self._end() > self.layout.end:
            raise UnmatchedError("it reads beyond what was written there")
        cuts = self._cuts()
        for number, axis in enumerate(self.layout.axes):
            self.segments.append(self._split(axis, sorted(cuts[number])))
        for dimension in range(len(self.dimensions)):
            self._cover(dimension)
        offset = self._offset()
        self._place_single()
        sizes = [self._size(dimension) for dimension in range(self.desc.rank)]
        return Sized(tuple(sizes), self._strides(sizes), offset)

    def _end(self) -> int:
        return 1 + sum((size - 1) * stride for size, stride in self.dimensions)

    # --- Cutting axes into the parts that dimensions cover ---

    def _axis_of(self, stride: int) -> int:
        """The axis in which a dimension of this stride starts: the outermost one whose stride divides it."""
        found = -1
        for number, axis in enumerate(self.layout.axes):
            if int(axis.size) > 1 and stride % axis.old_stride == 0 and stride < axis.old_stride * int(axis.size):
                found = number
        if found < 0:
            raise UnmatchedError("its strides are not multiples of those that it was written with")
        return found

    def _cuts(self) -> list[set[int]]:
        """The factors of each axis at which a dimension starts or ends."""
        cuts: list[set[int]] = [{1, int(axis.size)} for axis in self.layout.axes]
        for size, stride in self.dimensions:
            if size == 1 or stride == 0:
                continue
            number = self._axis_of(stride)
            factor = stride // self.layout.axes[number].old_stride
            while True:
                axis = self.layout.axes[number]
                if int(axis.size) % factor:
                    raise UnmatchedError(f"it takes steps of {factor} in a dimension of {int(axis.size)}")
                cuts[number].add(factor)
                left = int(axis.size) // factor
                if size <= left:
                    if left % size == 0:
                        cuts[number].add(factor * size)
                    break
                following = self._outer(number)
                if size % left or following is None:
                    raise UnmatchedError(f"it takes {size} elements of rows of {left}")
                size, number, factor = size // left, following, 1
        return cuts

    def _outer(self, number: int) -> int | None:
        """The next outer axis, if there is no gap between them."""
        axis = self.layout.axes[number]
        for outer in range(number + 1, len(self.layout.axes)):
            if int(self.layout.axes[outer].size) > 1:
                dense = self.layout.axes[outer].old_stride == axis.old_stride * int(axis.size)
                return outer if dense else None
        return None

    def _split(self, axis: StridedAxis, cuts: list[int]) -> list[_Segment]:
        """The parts of an axis, the innermost first."""
        if len(cuts) <= 2:
            return [_Segment(axis.size, axis.stride, axis.old_stride, index=axis.index)]
        for low, high in pairwise(cuts):
            if high % low:
                raise UnmatchedError(f"it cuts a dimension of {int(axis.size)} at {low} and at {high}")
        sizes = self._parts(axis.size, cuts)
        if sizes is None:
            inner = [Size(high // low) for low, high in pairwise(cuts[:-1])]
            sizes = [*inner, self.solver.quotient(axis.size, cuts[-2], self.place)]
        segments, step, old = [], axis.stride, axis.old_stride
        for size in sizes:
            segments.append(_Segment(size, step, old))
            step, old = step * size, old * int(size)
        return segments

    def _parts(self, size: Size, cuts: list[int]) -> list[Size] | None:
        """The factors of a merged size grouped by the cuts; ``None`` if they do not match."""
        factors = [self.solver.size(part) for part in reversed(size.factors)]
        if self.solver.is_constant(size):
            return [Size(high // low) for low, high in pairwise(cuts)]
        groups: list[Size] = []
        for low, high in pairwise(cuts):
            group: list[Size] = []
            while factors and int(product(group)) * int(factors[0]) <= high // low:
                if int(product(group)) == high // low and int(factors[0]) > 1:
                    break
                group.append(factors.pop(0))
            if int(product(group)) != high // low:
                return None
            groups.append(product(reversed(group)))
        return groups if not factors else None

    # --- Giving the parts to dimensions ---

    def _cover(self, dimension: int) -> None:
        size, stride = self.dimensions[dimension]
        if size == 1 or stride == 0:
            return
        row = [segment for segments in self.segments for segment in segments]
        start = next(i for i, item in enumerate(row) if item.old_step == stride and int(item.size) > 1)
        for segment in row[start:]:
            if size == 1:
                break
            if int(segment.size) > 1:
                if segment.old_step != stride:
                    break
                if segment.dimension is not None:
                    raise UnmatchedError("two of its dimensions read the same elements")
            segment.dimension = dimension
            self.covered[dimension].append(segment)
            if size < int(segment.size):
                size = 0
                break
            size //= int(segment.size)
            stride *= int(segment.size)
        if size > 1:
            raise UnmatchedError("it reads rows that are not contiguous")

    def _offset(self) -> Size:
        """The offset in bytes, which also gives each part of an axis its position."""
        left, bits = self.offset, Size(0)
        row = [segment for segments in self.segments for segment in segments]
        for segment in reversed(row):
            if int(segment.size) == 1:
                continue
            segment.position = min(left // segment.old_step, int(segment.size) - 1)
            left -= segment.position * segment.old_step
            bits = bits + segment.step * segment.position
            self._check_window(segment)
        return as_size((bits + left) // 8)

    def _check_window(self, segment: _Segment) -> None:
        """Keeps a view of a part of a dimension in place, unless that is ambiguous."""
        if self.solver.is_constant(segment.size):
            return
        covered = 1
        if segment.dimension is not None:
            own = self.covered[segment.dimension]
            covered = self.dimensions[segment.dimension][0]
            for inner in own[: own.index(segment)]:
                covered //= int(inner.size)
            covered = min(covered, int(segment.size))
        if covered == int(segment.size):
            return
        if segment.position + covered == int(segment.size):
            raise UnmatchedError(
                f"it reads the last {covered} of {int(segment.size)} elements, and it is ambiguous whether they are "
                "counted from the front or from the end"
            )

    def _place_single(self) -> None:
        """Assigns variable dimensions of size 1 in memory to dimensions of size 1 of the view."""
        row = [segment for segments in self.segments for segment in segments]
        ones = [i for i, (size, _) in enumerate(self.dimensions[:-1]) if size == 1]
        for position, segment in reversed(list(enumerate(row))):
            if int(segment.size) > 1 or self.solver.is_constant(segment.size) or segment.dimension is not None:
                continue
            free = [i for i in ones if not self.covered[i]]
            chosen = self._single_for(position, row, free)
            if chosen is None:
                self._merge(position, row)
            else:
                segment.dimension = chosen
                self.covered[chosen].append(segment)

    def _single_for(self, position: int, row: list[_Segment], free: list[int]) -> int | None:
        """The dimension for the part at ``position``, by the preference.

        ``AS_WRITTEN`` is the dimension that it was written with, or that of the graph's input, ``INSIDE`` the last one
        before all inner parts, and a number is that dimension.
        """
        if not free:
            return None
        self.is_ambiguous = self.is_ambiguous or len(free) > 1
        if self.preference in free:
            return self.preference
        if self.preference != INSIDE:
            symbol = row[position].size.expr.symbol
            for wanted in (row[position].index, -1 if symbol is None else self.solver.homes.get(symbol, -1)):
                if wanted in free:
                    return wanted
        inner = [item.dimension for item in row[:position] if item.dimension is not None]
        outer = [item.dimension for item in row[position + 1 :] if item.dimension is not None and int(item.size) > 1]
        inner = [i for i in inner if i < self.desc.rank]
        before = [i for i in free if all(i < j for j in inner) and all(i > j for j in outer)]
        if before:
            return self._aligned(position, row, before)
        before = [i for i in free if all(i < j for j in inner)] or free
        return before[-1]

    def _aligned(self, position: int, row: list[_Segment], free: list[int]) -> int:
        """The last one that leaves enough dimensions for the other inner parts of size 1."""
        waiting = sum(
            1
            for item in row[:position]
            if int(item.size) == 1 and not self.solver.is_constant(item.size) and item.dimension is None
        )
        return free[max(len(free) - 1 - waiting, 0)]

    def _merge(self, position: int, row: list[_Segment]) -> None:
        """Merges a part without a dimension of its own into the dimension that covers the next inner one."""
        segment = row[position]
        inner = next((item for item in reversed(row[:position]) if int(item.size) > 1), None)
        if inner is not None and inner.dimension is not None and inner.dimension < self.desc.rank:
            own = self.covered[inner.dimension]
            if own[-1] is inner or row.index(own[own.index(inner) + 1]) > position:
                segment.dimension = inner.dimension
                own.insert(own.index(inner) + 1, segment)
                return
        raise UnmatchedError("it has no dimension for one of size 1")

    # --- Result ---

    def _size(self, dimension: int) -> Size:
        size, _ = self.dimensions[dimension]
        own = self.covered[dimension]
        if not own:
            return Size(size)
        covered = product(segment.size for segment in reversed(own))
        if int(covered) == size:
            return covered
        if not all(self.solver.is_constant(segment.size) for segment in own[:-1]):
            raise UnmatchedError("it reads a part of contiguous rows")
        return Size(size)

    def _strides(self, sizes: list[Size]) -> tuple[Size | None, ...]:
        """The stride of each dimension in elements, ``None`` for dimensions of one element."""
        strides: list[Size | None] = []
        for dimension in range(self.desc.rank):
            own, (_, stride) = self.covered[dimension], self.dimensions[dimension]
            if own:
                strides.append(as_size(own[0].step // self.bits))
            else:
                strides.append(Size(stride // self.bits) if self.dimensions[dimension][0] > 1 and stride else None)
        return tuple(strides)


def repeated(sized: Sized, desc: TensorDesc, solver: Solver, name: str, kept: frozenset[int]) -> Sized:
    """Returns the view with variable sizes for dimensions that are or can be repeated, except those ``kept``."""
    sizes = list(sized.sizes)
    for i, size in enumerate(sizes):
        if not size.is_constant or i in kept:
            continue
        if desc.sizes[i] == 1:
            sizes[i] = solver.symbol(f"{name}[{i}]", 1, SymbolKind.REPEATED)
        elif desc.strides is not None and desc.strides[i] == 0:
            sizes[i] = solver.symbol(f"{name}[{i}]", desc.sizes[i], SymbolKind.GENERATED)
    return Sized(tuple(sizes), sized.strides, sized.offset)
