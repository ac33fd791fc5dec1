"""ONNX operators that move elements: shapes, slices, gathers, pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from dml2onnx.emitter.core import EmitterCore, Keeps, Traits, legalised
from dml2onnx.emitter.tensor import Tensor, broadcast_shape
from dml2onnx.emitter.windows import Window
from dml2onnx.onnx_model import INT64, UNKNOWN, DType, has_unknown
from dml2onnx.onnx_model.records import Attribute

MOVES = Traits(keeps=Keeps.BITS, inputs=(0,))
_VALUE = Traits()
_INT32: DType = np.dtype(np.int32)


def _before_the_first(size: int) -> int:
    """An end before the first element: ONNX's INT_MIN, where that will do: some tools keep 32 bits only."""
    return -max(1 << 31, size + 1)


MANY_ELEMENTS = 1 << 8
"""So many elements are worth more nodes than one."""

STORED = 1 << 10
"""Bytes of one value repeated up to which it is stored as it is."""

SHORT = 1 << 14
"""Bytes up to which a constant in another shape is kept for others: the bias of one convolution is that of many."""

PadMode = Literal["constant", "edge", "reflect", "wrap"]
Reduction = Literal["none", "add"]


class MovementOps(EmitterCore):
    """Methods named as the ONNX operators that they emit."""

    def Identity(self, x: Tensor) -> Tensor:
        """A copy under another name; only graph outputs need one."""
        return self.nodes("Identity", [x], [(x.dtype, x.shape)])[0]

    def Reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """Same elements in another shape."""
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
        """Axes of size 1 put in; unlike a Reshape it also takes what :meth:`Range` has given."""
        shape = list(x.shape)
        for axis in sorted(axes):
            shape.insert(axis, 1)
        return self.emit(
            "Unsqueeze", MOVES, [x, self.ints(axes)], x.dtype, tuple(shape), None, lambda a, _: a.reshape(shape)
        )

    def Range(self, limit: Tensor) -> Tensor:
        """0, 1, .. below ``limit``, a scalar.

        Its size is known at run time only, unless ``limit`` is constant: its shape says :data:`UNKNOWN`. It may be
        broadcast, gathered with, added up along, but not be given another shape.
        """
        size = UNKNOWN if limit.value is None else int(limit.value)
        inputs = [self.constant(0, limit.dtype), limit, self.constant(1, limit.dtype)]
        return self.emit("Range", _VALUE, inputs, limit.dtype, (max(size, 0),), None, np.arange)

    def Flatten(self, x: Tensor) -> Tensor:
        """All elements in one row, however many there are."""
        if not has_unknown(x.shape):
            return self.Reshape(x, (x.size,))
        return self.nodes("Reshape", [x, self.ints((-1,))], [(x.dtype, (UNKNOWN,))])[0]

    def Transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        """``numpy.transpose``; a Reshape where only axes of size 1 move."""
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
        """``x[start:end:step, ...]`` over all axes, ``start`` and ``end`` counted from 0.

        With a negative step an ``end`` of -1 lies in front of the first element. Steps that are all 1 are left out
        unless ``states_steps``.
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
        """The first elements along an axis in reverse, as many as ``lengths`` say, which broadcast to the other axes.

        ReverseSequence wants one axis of lengths next to the axis of time.
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
        """All lengths lie in front of the axis, or it is the first and they lie directly behind it."""
        count, time = lengths.size, x.shape[axis]
        is_first = axis == 0 and count > 1
        sizes = (time, count) if is_first else (count, time)
        rows = x if x.shape[:2] == sizes else self.Reshape(x, (*sizes, x.size // (count * time)))
        y = self.ReverseSequence(rows, self.Reshape(lengths, (count,)), time_axis=0 if is_first else 1)
        return self.Reshape(y, x.shape)

    @legalised
    def ReverseSequence(self, x: Tensor, lengths: Tensor, *, time_axis: int) -> Tensor:
        """The first ``lengths`` (integers, one for each item of the other of the first two axes) elements reversed."""

        def fold(a: np.ndarray, counts: np.ndarray) -> np.ndarray:
            places = np.arange(a.shape[time_axis])[:, None]
            source = np.where(places < counts, counts - 1 - places, places)
            source = source if time_axis == 0 else source.T
            return np.take_along_axis(a, source.reshape(*source.shape, *(1,) * (a.ndim - 2)), time_axis)

        attributes = {"time_axis": time_axis, "batch_axis": 1 - time_axis}
        return self.emit("ReverseSequence", MOVES, [x, self.Cast(lengths, INT64)], x.dtype, x.shape, attributes, fold)

    def Flip(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """The elements of the given axes in reverse order: a Slice with negative steps."""
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
        """Axes of size 1 repeated to ``shape``, which has at least as many axes as ``x``."""
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
        """``x`` with ``updates`` put, or added, along an axis at ``indices``."""

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
        """Channels of an (N, C, H, W) tensor into blocks; DCR undoes :meth:`SpaceToDepth`, CRD counts c first."""
        n, c, height, width = x.shape
        shape = (n, c // block**2, height * block, width * block)
        attributes: dict[str, Attribute] = {"blocksize": block}
        if mode != "DCR":
            attributes["mode"] = mode
        return self.emit("DepthToSpace", MOVES, [x], x.dtype, shape, attributes)

    @legalised
    def Col2Im(self, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor:
        """(N, C * elements of the window, windows) added up in an (N, C, *image) tensor; opset 18's."""
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
        """``x[tuple]`` for the INT64 tuples in the last axis of ``indices``, behind common batch axes."""

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
        """``x`` with ``updates`` put at the INT64 tuples in the last axis of ``indices``."""

        def fold(a: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
            result = a.copy()
            result[tuple(np.moveaxis(i, -1, 0))] = u
            return result

        traits = Traits(keeps=Keeps.BITS, inputs=(0, 2))
        return self.emit("ScatterND", traits, [x, indices, updates], x.dtype, x.shape, None, fold)

    @legalised
    def TensorScatter(self, cache: Tensor, updates: Tensor, first: Tensor) -> Tensor:
        """``cache`` with ``updates`` put from row ``first`` of each item on, along the last axis but one; opset 24."""
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
        """Gather, Scatter or a relative by integers of any type, to which ONNX gives no meaning where they lie outside.

        They count along one axis of ``sizes``, or along one for each of the last axis, and broadcast ``to`` a shape.
        What lies behind the axes matters if memory ``is_packed``. What Gather takes of one element is ``x`` itself.
        """
        if op == "Gather" and tuple(sizes) == (1,):
            return x
        if indices.value is not None:
            given = indices.value.astype(np.int64)
            places = self.positions(np.where(given < 0, given + sizes, given))
        else:
            places = indices if indices.dtype in (_INT32, INT64) else self.Cast(indices, INT64)
        if op.endswith("ND"):
            places = self.Cast(places, INT64)
        made: Tensor = getattr(self, op)(x, places if to is None else self.Expand(places, to), *others)
        return made

    @legalised
    def OneHot(self, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
        """The second of ``values`` where the coordinate along ``axis`` is the index, else the first.

        There is one index along this axis, of any integer type.
        """
        front, behind = indices.shape[:axis], indices.shape[axis + 1 :]
        inputs = [
            self.Reshape(self.Cast(indices, INT64), (*front, *behind)),
            self.constant(np.array(depth, INT64)),
            self.Slice(values, (0,), (2,)),
        ]
        return self.nodes("OneHot", inputs, [(values.dtype, (*front, depth, *behind))], {"axis": axis})[0]

    def Concat(self, items: Sequence[Tensor], axis: int) -> Tensor:
        """The tensors joined along an axis."""
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
        """Elements added at both ends of every axis; ``wrap`` is opset 19's."""
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
            # as of what it surrounds, unless it is infinite
            result.is_bounded = x.is_bounded and bool(np.isfinite(value))
        return result

    def ConstantOfShape(
        self, shape: Sequence[int], value: float | int | np.generic, dtype: np.dtype[np.generic], *, fold: bool = False
    ) -> Tensor:
        """One value everywhere: a constant up to :data:`STORED` bytes, beyond them an Expand of one element.

        The node takes some 150 bytes in the file, and no time when the model runs: runtimes fold it when they load
        the model. But nothing that follows from it is known when compiling, as it is of a small constant. So ``fold``
        says that what it goes into is constant as well: a canvas that is written over is not stored, its result is.
        """
        one, sizes = self.constant(value, dtype), tuple(shape)
        size = prod(sizes)
        if size * one.dtype.itemsize <= STORED:
            return self.constant(np.broadcast_to(one.constant, sizes))
        if fold:
            return self.Expand(one, sizes)
        return self.emit("Expand", MOVES, [one, self.ints(sizes)], one.dtype, sizes)

    def positions(self, values: np.ndarray) -> Tensor:
        """Constant indices for Gather and ScatterElements: INT32 where they fit, which halves them."""
        small = values.size == 0 or (values.min() >= -(1 << 31) and values.max() < 1 << 31)
        return self.constant(values.astype(np.int32 if small else INT64))
