"""ONNX operators for data movement: shapes, slices, gathers, pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from dml2onnx.emitter.core import EmitterCore, Keeps, Traits, legalised
from dml2onnx.emitter.tensor import Tensor, broadcast_shape
from dml2onnx.emitter.windows import Window
from dml2onnx.onnx_model import INT32, INT64, UNKNOWN, has_unknown
from dml2onnx.onnx_model.records import Attribute

MOVES = Traits(keeps=Keeps.BITS, inputs=(0,))
_VALUE = Traits()


def _before_the_first(size: int) -> int:
    """A Slice end before the first element: INT_MIN if it suffices, since some tools keep only 32 bits."""
    return -max(1 << 31, size + 1)


MANY_ELEMENTS = 1 << 8
"""From this many elements on, additional nodes pay off."""

STORED = 1 << 10
"""A repeated value up to this many bytes is stored in full."""

SHORT = 1 << 14
"""A reshaped constant up to this many bytes is cached: convolutions often share a bias."""

PadMode = Literal["constant", "edge", "reflect", "wrap"]
Reduction = Literal["none", "add"]


class MovementOps(EmitterCore):
    """Methods named as the ONNX operators that they emit."""

    def Identity(self, x: Tensor) -> Tensor:
        """A copy under another name; only graph outputs need one."""
        return self.nodes("Identity", [x], [(x.dtype, x.shape)])[0]

    def Reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """The same elements in another shape."""
        to = tuple(shape)
        assert prod(to) == x.size, f"cannot reshape {x.shape} to {to}"
        if to == x.shape:
            return x
        if x.value is not None:
            result = self._reshaped.get((x, to))
            if result is None:
                result = self.constant(x.value.reshape(to), label=x.label)
                result.dequantized = x.dequantized
                if x.value.nbytes <= SHORT:
                    self._reshaped[x, to] = result
            return result
        return self.emit("Reshape", MOVES, [x, self.ints(to)], x.dtype, to)

    def Unsqueeze(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Inserts axes of size 1; unlike Reshape, also in results of :meth:`Range`."""
        shape = list(x.shape)
        for axis in sorted(axes):
            shape.insert(axis, 1)
        return self.emit(
            "Unsqueeze", MOVES, [x, self.ints(axes)], x.dtype, tuple(shape), None, lambda a, _: a.reshape(shape)
        )

    def Range(self, limit: Tensor) -> Tensor:
        """0, 1, .. below ``limit``, a scalar.

        Unless ``limit`` is constant, the size is :data:`UNKNOWN` before run time. The result can be broadcast, used as
        indices and reduced, but not reshaped.
        """
        size = UNKNOWN if limit.value is None else int(limit.value)
        inputs = [self.constant(0, limit.dtype), limit, self.constant(1, limit.dtype)]
        return self.emit("Range", _VALUE, inputs, limit.dtype, (max(size, 0),), None, np.arange)

    def Flatten(self, x: Tensor) -> Tensor:
        """All elements in one axis, also of unknown size."""
        if not has_unknown(x.shape):
            return self.Reshape(x, (x.size,))
        return self.nodes("Reshape", [x, self.ints((-1,))], [(x.dtype, (UNKNOWN,))])[0]

    def Transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        """``numpy.transpose``; a Reshape if only axes of size 1 move."""
        perm = tuple(permutation)
        shape = tuple(x.shape[axis] for axis in perm)
        moving = [axis for axis in perm if x.shape[axis] > 1]
        if moving == sorted(moving):
            return self.Reshape(x, shape)
        return self.emit("Transpose", MOVES, [x], x.dtype, shape, {"perm": perm}, lambda a: a.transpose(perm))

    @legalised
    def Slice(
        self,
        x: Tensor,
        starts: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int] | None = None,
        *,
        states_steps: bool = False,
    ) -> Tensor:
        """``x[start:end:step, ...]`` over all axes, with ``start`` and ``end`` relative to the first element.

        With a negative step, an ``end`` of -1 is before the first element. Steps that are all 1 are omitted unless
        ``states_steps``.
        """
        step = tuple(steps) if steps is not None else (1,) * x.rank
        shape, axes = list(x.shape), []
        parts = [slice(None)] * x.rank
        for i, (a, b, s, size) in enumerate(zip(starts, ends, step, x.shape, strict=True)):
            if (a, b, s) != (0, size, 1):
                parts[i] = part = slice(a, b if b >= 0 else None, s)
                shape[i] = len(range(*part.indices(size)))
                axes.append(i)
        if not axes:
            return x
        taken = tuple(parts)
        inputs = [
            x,
            self.ints([starts[i] for i in axes]),
            self.ints([ends[i] if ends[i] >= 0 else _before_the_first(x.shape[i]) for i in axes]),
            self.ints(axes),
            *([self.ints([step[i] for i in axes])] if states_steps or any(step[i] != 1 for i in axes) else []),
        ]
        return self.emit("Slice", MOVES, inputs, x.dtype, tuple(shape), None, lambda a, *_: a[taken])

    @legalised
    def Split(self, x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor]:
        """Consecutive pieces of ``sizes`` along an axis."""
        if len(sizes) == 1:
            return [x]
        if x.value is not None:
            pieces = np.split(x.value, np.cumsum(sizes)[:-1], axis)
            return [self.constant(piece, label=x.label) for piece in pieces]
        outputs = [(x.dtype, (*x.shape[:axis], size, *x.shape[axis + 1 :])) for size in sizes]
        return self.nodes("Split", [x, self.ints(sizes)], outputs, {"axis": axis})

    @legalised
    def Tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        """``numpy.tile``, with one repeat for every axis."""
        to = tuple(size * count for size, count in zip(x.shape, repeats, strict=True))
        if to == x.shape:
            return x
        return self.emit("Tile", MOVES, [x, self.ints(repeats)], x.dtype, to, None, lambda a, n: np.tile(a, n))

    @legalised
    def reversed(self, x: Tensor, lengths: Tensor, axis: int) -> Tensor:
        """Reverses the first ``lengths`` elements along an axis; lengths broadcast to the other axes.

        ReverseSequence needs a single axis of lengths next to the time axis.
        """
        batch = [i for i, size in enumerate(lengths.shape) if size > 1]
        if all(i < axis for i in batch):
            lengths = self.Expand(lengths, (*x.shape[:axis], *(1,) * (x.rank - axis)))
            return self._reversed(x, lengths, axis)
        front = [axis, *batch] if axis < batch[0] and prod(x.shape[:axis]) == 1 else [*batch, axis]
        order = [*front, *(i for i in range(x.rank) if i not in front)]
        moved = self._reversed(self.Transpose(x, order), self.Transpose(lengths, order), order.index(axis))
        return self.Transpose(moved, [order.index(i) for i in range(x.rank)])

    def _reversed(self, x: Tensor, lengths: Tensor, axis: int) -> Tensor:
        """All axes of lengths precede ``axis``, or it is the first and they directly follow it."""
        count, time = lengths.size, x.shape[axis]
        is_first = axis == 0 and count > 1
        sizes = (time, count) if is_first else (count, time)
        rows = x if x.shape[:2] == sizes else self.Reshape(x, (*sizes, x.size // (count * time)))
        y = self.ReverseSequence(rows, self.Reshape(lengths, (count,)), time_axis=0 if is_first else 1)
        return self.Reshape(y, x.shape)

    @legalised
    def ReverseSequence(self, x: Tensor, lengths: Tensor, *, time_axis: int) -> Tensor:
        """Reverses the first ``lengths`` elements, one integer per index of the other of the first two axes."""

        def fold(a: np.ndarray, counts: np.ndarray) -> np.ndarray:
            places = np.arange(a.shape[time_axis])[:, None]
            source = np.where(places < counts, counts - 1 - places, places)
            source = source if time_axis == 0 else source.T
            return np.take_along_axis(a, source.reshape(*source.shape, *(1,) * (a.ndim - 2)), time_axis)

        attributes = {"time_axis": time_axis, "batch_axis": 1 - time_axis}
        return self.emit("ReverseSequence", MOVES, [x, self.Cast(lengths, INT64)], x.dtype, x.shape, attributes, fold)

    def Flip(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Reverses the elements along axes: a Slice with negative steps."""
        flipped = [axis for axis in axes if x.shape[axis] > 1]
        if not flipped:
            return x
        inputs = [
            x,
            self.ints([-1] * len(flipped)),
            self.ints([_before_the_first(x.shape[axis]) for axis in flipped]),
            self.ints(flipped),
            self.ints([-1] * len(flipped)),
        ]
        return self.emit("Slice", MOVES, inputs, x.dtype, x.shape, None, lambda a, *_: np.flip(a, tuple(flipped)))

    def Expand(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """Repeats axes of size 1 to ``shape``, which has at least as many axes as ``x``."""
        to = tuple(shape)
        if to == x.shape:
            return x
        assert broadcast_shape(x.shape, to) == to, f"cannot expand {x.shape} to {to}"
        if prod(to) == x.size:
            return self.Reshape(x, to)
        return self.emit("Expand", MOVES, [x, self.ints(to)], x.dtype, to, None, lambda a, _: np.broadcast_to(a, to))

    @legalised
    def Gather(self, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
        """``numpy.take`` along an axis; INT32 or INT64 indices."""
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return self.emit(
            "Gather", MOVES, [x, indices], x.dtype, shape, {"axis": axis}, lambda a, i: np.take(a, i, axis)
        )

    @legalised
    def GatherElements(self, x: Tensor, indices: Tensor, axis: int) -> Tensor:
        """``numpy.take_along_axis``."""
        return self.emit(
            "GatherElements",
            MOVES,
            [x, indices],
            x.dtype,
            indices.shape,
            {"axis": axis},
            lambda a, i: np.take_along_axis(a, i, axis),
        )

    @legalised
    def ScatterElements(
        self, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
    ) -> Tensor:
        """``x`` with ``updates`` written, or added, along an axis at ``indices``."""

        def fold(a: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
            result = a.copy()
            if reduction == "none":
                np.put_along_axis(result, i, u, axis)
            else:
                places: list[np.ndarray] = list(np.indices(i.shape, sparse=True))
                places[axis] = i
                np.add.at(result, tuple(places), u)
            return result

        traits = Traits(keeps=Keeps.BITS, inputs=(0, 2)) if reduction == "none" else Traits(inputs=(0, 2))
        attributes: dict[str, Attribute] = {"axis": axis}
        if reduction != "none":
            attributes["reduction"] = reduction
        return self.emit("ScatterElements", traits, [x, indices, updates], x.dtype, x.shape, attributes, fold)

    @legalised
    def SpaceToDepth(self, x: Tensor, block: int) -> Tensor:
        """Blocks of an (N, C, H, W) tensor into channels ``(by * block + bx) * C + c``."""
        n, c, height, width = x.shape
        shape = (n, c * block**2, height // block, width // block)
        return self.emit("SpaceToDepth", MOVES, [x], x.dtype, shape, {"blocksize": block})

    @legalised
    def DepthToSpace(self, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor:
        """Channels of an (N, C, H, W) tensor into blocks; DCR inverts :meth:`SpaceToDepth`, CRD has ``c`` first."""
        n, c, height, width = x.shape
        shape = (n, c // block**2, height * block, width * block)
        attributes: dict[str, Attribute] = {"blocksize": block}
        if mode != "DCR":
            attributes["mode"] = mode
        return self.emit("DepthToSpace", MOVES, [x], x.dtype, shape, attributes)

    @legalised
    def Col2Im(self, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor:
        """Sums (N, C * elements of the window, windows) into an (N, C, *image) tensor; opset 18."""
        shape = (x.shape[0], x.shape[1] // prod(window.shape), *image)
        attributes: dict[str, Attribute] = {}
        if any(step != 1 for step in window.strides):
            attributes["strides"] = window.strides
        if window.is_dilated:
            attributes["dilations"] = window.dilations
        if any((*window.start, *window.end)):
            attributes["pads"] = window.start + window.end
        inputs = [x, self.ints(image), self.ints(window.shape)]
        return self.emit("Col2Im", Traits(inputs=(0,)), inputs, x.dtype, shape, attributes)

    @legalised
    def GatherND(self, x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
        """``x[tuple]`` for the INT64 tuples in the last axis of ``indices``, after common batch axes."""

        def fold(a: np.ndarray, i: np.ndarray) -> np.ndarray:
            batches = a.shape[:batch_dims]
            inputs, tuples = (item.reshape(-1, *item.shape[batch_dims:]) for item in (a, i))
            rows = [item[tuple(np.moveaxis(index, -1, 0))] for item, index in zip(inputs, tuples, strict=True)]
            return np.stack(rows).reshape((*batches, *rows[0].shape))

        shape = (*indices.shape[:-1], *x.shape[batch_dims + indices.shape[-1] :])
        attributes = {"batch_dims": batch_dims} if batch_dims else {}
        return self.emit("GatherND", MOVES, [x, indices], x.dtype, shape, attributes, fold)

    @legalised
    def ScatterND(self, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        """``x`` with ``updates`` written at the INT64 tuples in the last axis of ``indices``."""

        def fold(a: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
            result = a.copy()
            result[tuple(np.moveaxis(i, -1, 0))] = u
            return result

        traits = Traits(keeps=Keeps.BITS, inputs=(0, 2))
        return self.emit("ScatterND", traits, [x, indices, updates], x.dtype, x.shape, None, fold)

    @legalised
    def TensorScatter(self, cache: Tensor, updates: Tensor, first: Tensor) -> Tensor:
        """``cache`` with ``updates`` written from row ``first`` on, along the second to last axis; opset 24."""
        traits = Traits(keeps=Keeps.BITS, inputs=(0, 1))
        attributes: dict[str, Attribute] = {"axis": -2, "mode": "linear"}
        return self.emit(
            "TensorScatter", traits, [cache, updates, self.Cast(first, INT64)], cache.dtype, cache.shape, attributes
        )

    @legalised
    def by_indices(
        self,
        op: str,
        x: Tensor,
        indices: Tensor,
        *others: Any,
        sizes: Sequence[int],
        to: Sequence[int] | None = None,
        is_packed: bool = True,
    ) -> Tensor:
        """Gather, Scatter or a relative by integers of any type; undefined in ONNX if they are out of range.

        ``sizes`` has one axis for all indices, or one per element of the last axis; indices broadcast ``to`` a shape.
        ``is_packed``: out-of-range reads must return elements of other rows, as in packed memory.
        """
        if op == "Gather" and tuple(sizes) == (1,):
            return x
        if indices.value is not None:
            wide = indices.value.astype(np.int64)
            places = self.positions(np.where(wide < 0, wide + sizes, wide))
        else:
            places = indices if indices.dtype in (INT32, INT64) else self.Cast(indices, INT64)
        if op.endswith("ND"):
            places = self.Cast(places, INT64)
        result: Tensor = getattr(self, op)(x, places if to is None else self.Expand(places, to), *others)
        return result

    @legalised
    def OneHot(self, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
        """``values[1]`` where the coordinate along ``axis`` is the index, else ``values[0]``.

        ``indices`` has size 1 along this axis and any integer type.
        """
        front, rest = indices.shape[:axis], indices.shape[axis + 1 :]
        inputs = [
            self.Reshape(self.Cast(indices, INT64), (*front, *rest)),
            self.constant(np.array(depth, INT64)),
            self.Slice(values, (0,), (2,)),
        ]
        return self.nodes("OneHot", inputs, [(values.dtype, (*front, depth, *rest))], {"axis": axis})[0]

    def Concat(self, items: Sequence[Tensor], axis: int) -> Tensor:
        """Joins tensors along an axis."""
        if len(items) == 1:
            return items[0]
        first = items[0]
        shape = (*first.shape[:axis], sum(item.shape[axis] for item in items), *first.shape[axis + 1 :])
        traits = Traits(keeps=Keeps.BITS)
        return self.emit(
            "Concat", traits, items, first.dtype, shape, {"axis": axis}, lambda *a: np.concatenate(a, axis)
        )

    @legalised
    def Pad(
        self,
        x: Tensor,
        start: Sequence[int],
        end: Sequence[int],
        mode: PadMode = "constant",
        value: float | int | np.generic = 0,
    ) -> Tensor:
        """Adds elements at both ends of every axis; mode ``wrap`` needs opset 19."""
        if not any(start) and not any(end):
            return x
        assert mode != "wrap" or self.opset >= 19
        shape = tuple(a + n + b for a, n, b in zip(start, x.shape, end, strict=True))
        inputs = [x, self.ints([*start, *end])]
        attributes = {} if mode == "constant" else {"mode": mode}
        constant = mode == "constant" and (value != 0 or str(value).startswith("-"))  # -0.0 is not the default
        if constant:
            inputs.append(self.constant(value, x.dtype))
        pads = list(zip(start, end, strict=True))

        def fold(a: np.ndarray, *_: np.ndarray) -> np.ndarray:
            if mode == "constant":
                return np.pad(a, pads, "constant", constant_values=np.asarray(value, x.dtype))
            return np.pad(a, pads, mode)

        traits = Traits(keeps=Keeps.BITS, inputs=(0, 2) if constant else (0,))
        result = self.emit("Pad", traits, inputs, x.dtype, shape, attributes, fold)
        if mode == "constant" and result.value is None:
            result.is_bounded = x.is_bounded and bool(np.isfinite(value))
        return result

    def ConstantOfShape(
        self, shape: Sequence[int], value: float | int | np.generic, dtype: np.dtype[np.generic], *, fold: bool = False
    ) -> Tensor:
        """A repeated value: a constant up to :data:`STORED` bytes, beyond that an Expand of one element.

        The node takes some 150 bytes in the file and no time at run time, since runtimes fold it on loading. But the
        compiler cannot fold its readers. ``fold`` returns a constant instead, for readers that are constant too, such
        as writes to a canvas: only their result is stored.
        """
        one, sizes = self.constant(value, dtype), tuple(shape)
        size = prod(sizes)
        if size * one.dtype.itemsize <= STORED:
            return self.constant(np.broadcast_to(one.constant, sizes))
        if fold:
            return self.Expand(one, sizes)
        return self.emit("Expand", MOVES, [one, self.ints(sizes)], one.dtype, sizes)

    def positions(self, values: np.ndarray) -> Tensor:
        """Constant indices for Gather and ScatterElements: INT32 if they fit, at half the size."""
        small = values.size == 0 or (values.min() >= -(1 << 31) and values.max() < 1 << 31)
        return self.constant(values.astype(np.int32 if small else INT64))
