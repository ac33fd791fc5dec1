"""Tracks buffers during lowering: which tensors were written to them, and how to read them under other descriptors.

The memory of a value is a stack of layers: constant bytes or a graph input at the bottom, and above them the tensors
that operators wrote, each in its logical shape with its strides. A reader with the same strides gets the tensor
unchanged, so a permuted layout that two operators share costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dml2onnx.buffer_views.bits import packed, reinterpret, unpacked
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import MANY_ELEMENTS
from dml2onnx.ir.data import Data, FillData, PaddedData, stored_bytes
from dml2onnx.ir.graph import Graph, Node, Value, Write
from dml2onnx.ir.inputs import in_memory, stored_shape
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.ir.view import (
    Expand,
    Gather,
    Layout,
    Pad,
    Plan,
    Reshape,
    Scatter,
    Slice,
    Transpose,
    plan_read,
    plan_write,
)
from dml2onnx.onnx_model import DType

MATERIALISED_FILL_ELEMENTS = 1 << 20
"""Larger fills are computed by Expand instead of being stored in the model."""

WIDEST = 8
"""Bytes of the widest element type that constants are converted to."""

STORED_POSITIONS = 1 << 14
"""Larger tables of indices are computed by the model."""

SLICED_ROWS = 16
"""At most this many long rows are read by Slice, without indices."""


_View: TypeAlias = "tuple[Value, int, tuple[int, ...], tuple[int, ...] | None]"
"""A value, a byte offset, sizes and strides."""


class WrittenTensor(NamedTuple):
    """A dense tensor and its layout in the buffer, in elements of its type."""

    tensor: Tensor
    layout: Layout
    start: int
    """First byte."""
    end: int
    """End, exclusive."""
    desc: TensorDesc | None = None
    """The descriptor that it was written with."""

    def is_seen_as(self, desc: TensorDesc, offset: int) -> bool:
        """Whether a reader with this descriptor gets the tensor unchanged."""
        if self.start != offset or self.tensor.dtype != desc.data_type.dtype:
            return False
        if self.desc is desc:  # the usual case: front ends share equal descriptors
            return True
        return self.layout.sizes == desc.sizes and self.layout.strides == desc.effective_strides

    @classmethod
    def packed(cls, tensor: Tensor) -> WrittenTensor:
        """A row-major tensor at the start of its buffer."""
        return cls(tensor, Layout.packed(tensor.shape), 0, tensor.size * tensor.dtype.itemsize)


@dataclass(frozen=True, slots=True)
class ConstantBytes:
    """Constant bytes of a whole buffer."""

    data: Data
    label: str

    @property
    def start(self) -> int:
        """First byte."""
        return 0

    @property
    def end(self) -> int:
        """End, exclusive; bytes beyond the data read as 0."""
        return 1 << 63


Layer: TypeAlias = WrittenTensor | ConstantBytes

_HELD_TYPES = {item.dtype: item for item in DataType if not item.is_packed_nibbles}

ZEROS = ConstantBytes(FillData(b"\0", 1 << 62), "")
"""The bottom layer of a buffer without initial contents."""


@lru_cache(maxsize=1 << 14)
def layout_of(desc: TensorDesc, offset: int = 0) -> Layout:
    """The view of a descriptor, ``offset`` elements into the buffer."""
    return Layout(desc.sizes, desc.effective_strides, offset)


@lru_cache(maxsize=1 << 14)
def is_permuted(layout: Layout) -> bool:
    """Whether the dimensions are not in memory order."""
    order = [axis for axis, size in zip(layout.memory_order, layout.sizes, strict=True) if size > 1]
    return order != sorted(order)


def take(e: Emitter, plan: Plan, tensor: Tensor, below: Tensor | None = None) -> Tensor:
    """Emits the steps of a plan as ONNX nodes; ``below`` is the memory written to, zero beyond its end."""
    for step in plan:
        match step:
            case Reshape(shape):
                tensor = e.Reshape(tensor, shape)
            case Transpose(permutation):
                tensor = e.Transpose(tensor, permutation)
            case Slice(starts, ends):
                tensor = e.Slice(tensor, starts, ends)
            case Expand(shape):
                tensor = e.Expand(tensor, shape)
            case Pad(ends, gap):
                if below is None or gap is None:
                    tensor = e.Pad(tensor, (0,) * tensor.rank, ends)
                else:
                    tensor = e.Concat([tensor, _seen(e, below, gap)], tensor.rank - 1)
            case Gather(axis, layout):
                e.note(
                    "the strides are those of no Slice, Transpose or Expand: a Gather takes elements by their places"
                )
                tensor = _gathered(e, tensor, axis, layout)
            case Scatter(axis, layout, gap):
                e.note("the strides leave gaps or mix dimensions: a Gather puts elements in their places")
                e.budget.require(2 * layout.extent)
                sources, count = step.sources(), tensor.shape[axis]
                if below is None:
                    one = tuple(int(i == axis) for i in range(tensor.rank))
                    whole, sources = e.Pad(tensor, (0,) * tensor.rank, one), np.minimum(sources, count)
                else:
                    whole = e.Concat([tensor, _seen(e, below, gap)], axis)
                tensor = e.Gather(whole, e.positions(sources), axis)
    return tensor


def _seen(e: Emitter, below: Tensor, gap: Layout) -> Tensor:
    """The old contents of the memory that is written to."""
    below = e.Pad(below, (0,), (max(gap.offset + gap.extent - below.size, 0),))
    plan = plan_read(Layout.packed(below.shape), gap)
    assert plan is not None, f"{gap} lies outside of {below.shape}"
    return take(e, plan, below)


def _gathered(e: Emitter, x: Tensor, axis: int, layout: Layout) -> Tensor:
    """The elements of one axis at the positions of ``layout``.

    Large tables of indices are computed as a sum of one vector per axis; a few long rows are Slices.
    """
    count, rows, behind = prod(layout.sizes), prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    # single elements of many rows would need one index each
    if count <= STORED_POSITIONS and (behind > 1 or rows == 1 or count * rows < MANY_ELEMENTS):
        return e.Gather(x, e.positions(layout.offsets()), axis)
    rank = len(layout.sizes)
    longest = max(range(rank), key=layout.sizes.__getitem__)
    if prod(layout.sizes) // layout.sizes[longest] <= SLICED_ROWS:
        return _sliced(e, x, axis, layout, longest)
    dtype = np.dtype(np.int32 if layout.extent < 1 << 31 else np.int64)
    total: Tensor | None = None
    for index, (size, stride) in enumerate(zip(layout.sizes, layout.strides, strict=True)):
        shape = [size if i == index else 1 for i in range(rank)]
        vector = e.constant((np.arange(size, dtype=np.int64) * stride).reshape(shape), dtype)
        # not folded, which would make the table that this avoids
        sizes = (*layout.sizes[: index + 1], *shape[index + 1 :])
        total = vector if total is None else e.nodes("Add", [total, vector], [(dtype, sizes)])[0]
    assert total is not None
    return e.Gather(x, total, axis)


def _sliced(e: Emitter, x: Tensor, axis: int, layout: Layout, longest: int) -> Tensor:
    """:func:`_gathered` along the longest axis of ``layout``, for each position in the others."""
    count, step = layout.sizes[longest], layout.strides[longest]
    others = [i for i in range(len(layout.sizes)) if i != longest]
    rows = Layout(tuple(layout.sizes[i] for i in others), tuple(layout.strides[i] for i in others))
    front, back = x.shape[:axis], x.shape[axis + 1 :]
    steps = (*(1 for _ in front), step, *(1 for _ in back))
    parts = []
    for first in rows.offsets().reshape(-1).tolist():
        starts = (*(0 for _ in front), first, *(0 for _ in back))
        part = e.Slice(x, starts, (*front, first + (count - 1) * step + 1, *back), steps)
        parts.append(e.Reshape(part, (*front, 1, count, *back)))
    whole = e.Reshape(e.Concat(parts, axis), (*front, *rows.sizes, count, *back))
    order = sorted(range(len(layout.sizes)), key=[*others, longest].__getitem__)
    behind = range(axis + len(order), whole.rank)
    return e.Transpose(whole, (*range(axis), *(axis + i for i in order), *behind))


class Buffers:
    """The memory of every value of one graph."""

    def __init__(self, emitter: Emitter, graph: Graph) -> None:
        self._e = emitter
        self._memory: dict[Value, tuple[Layer, ...]] = {
            item.value: (ConstantBytes(item.data, item.value.name),) for item in graph.constants
        }
        self.permuted: set[Value] = set()
        """Values stored in an order other than memory order."""
        self._flat: dict[tuple[Value, DType], Tensor] = {}
        self._constants: dict[tuple[Value, int, TensorDesc, bool], Tensor] = {}
        self._views: dict[tuple[Tensor, DType], Tensor] = {}
        self._shared: frozenset[_View] = frozenset()
        self._read_once: dict[tuple[Value, int, TensorDesc, bool], Tensor] = {}

    def share(self, nodes: Iterable[Node], values: Set[Value]) -> None:
        """Registers the views that several of ``nodes`` share of ``values``, to emit each once."""
        seen = Counter(
            (read.value, read.offset, desc.sizes, desc.strides)
            for node in nodes
            if not values.isdisjoint(node.sources)
            for _, _, read, desc in node.views_in()
            if read.value in values
        )
        self._shared = frozenset(view_key for view_key, count in seen.items() if count > 1)

    def bind(self, value: Value, tensor: Tensor) -> None:
        """Defines a graph input: ``tensor`` is the start of the buffer, in memory order."""
        self._memory[value] = (WrittenTensor.packed(tensor),)

    def write(self, value: Value, offset: int, desc: TensorDesc, tensor: Tensor, base: Value | None) -> None:
        """Writes ``tensor``, of the sizes of ``desc``, to ``value``; other bytes are those of ``base``, or 0."""
        if desc.data_type.is_packed_nibbles:
            tensor, desc = self._packed(offset, desc, tensor, base), in_memory(desc)
        width = tensor.dtype.itemsize
        top = WrittenTensor(tensor, layout_of(desc, offset // width), offset, offset + desc.extent * width, desc)
        if desc.strides is not None and is_permuted(top.layout):
            self.permuted.add(value)
        if base is None:
            self._memory[value] = (top,)
            return
        covers = top.layout.is_dense
        below = self._memory[base]
        kept = [layer for layer in below if not (covers and top.start <= layer.start and layer.end <= top.end)]
        self._memory[value] = (*kept, top)

    def read(self, value: Value, offset: int, desc: TensorDesc, *, units: bool = False) -> Tensor:
        """The dense tensor of ``desc`` at ``offset`` bytes into ``value``, of shape ``desc.sizes``.

        With ``units``, broadcast dimensions have size 1.
        """
        if desc.data_type.is_packed_nibbles:
            nibbles = self._unpacked(value, offset, desc)
            plan = plan_read(Layout.packed(nibbles.shape), layout_of(desc), units=units)
            assert plan is not None, f"{value.name} cannot be read as {desc}"
            return take(self._e, plan, nibbles)
        last = self._memory[value][-1]
        if isinstance(last, WrittenTensor):
            if last.is_seen_as(desc, offset):
                return last.tensor  # the usual case
            if (value, offset, desc.sizes, desc.strides) in self._shared:
                known = (value, offset, desc, units and desc.is_broadcast)
                if known not in self._read_once:
                    self._read_once[known] = self._made(value, offset, desc, units)
                return self._read_once[known]
        return self._made(value, offset, desc, units)

    def _made(self, value: Value, offset: int, desc: TensorDesc, units: bool) -> Tensor:
        """:meth:`read` of a view that was not read before."""
        key = (value, offset, desc, units)
        found = self._constants.get(key)
        if found is not None:
            return found
        dtype, layers = desc.data_type.dtype, self._memory[value]
        end = offset + desc.extent * dtype.itemsize
        top = next((layer for layer in reversed(layers) if layer.start < end and offset < layer.end), ZEROS)
        if isinstance(top, ConstantBytes):
            found = self._constants[key] = self._known(top, offset, desc, units)
            return found
        if top.start <= offset and end <= top.end:
            found = self._direct(top, offset, desc, units)
            if found is not None:
                return found
        flat = self._flatten(value, layers, dtype)
        found = self._direct(WrittenTensor.packed(flat), offset, desc, units)
        assert found is not None, f"{value.name} cannot be read as {desc}"
        return found

    def stored_types(self, value: Value, offset: int, desc: TensorDesc) -> set[DataType]:
        """The data types, of the element width of ``desc``, of the tensors that it covers; constants fit any type."""
        data_type = desc.data_type
        end = offset + desc.extent * data_type.itemsize
        found = set()
        for layer in self._memory[value]:
            if (
                isinstance(layer, WrittenTensor)
                and layer.start < end
                and offset < layer.end
                and layer.tensor.value is None
            ):
                stored_types = _HELD_TYPES[layer.tensor.dtype]
                # elements of another width are split or joined, as integers
                found.add(stored_types if stored_types.bits == data_type.bits else DataType(f"uint{data_type.bits}"))
        return found

    def has_constant_nan(self, value: Value, offset: int, desc: TensorDesc) -> bool:
        """Whether constants under ``desc`` are NaN as floats of its width, whose payloads must be kept."""
        width = desc.data_type.itemsize
        length = desc.extent * width
        for layer in self._memory[value]:
            if layer.start >= offset + length or offset >= layer.end:
                continue
            if isinstance(layer, ConstantBytes):
                raw = layer.data.read(offset, width if isinstance(layer.data, FillData) else length)
            elif layer.tensor.value is not None:
                raw = np.ascontiguousarray(layer.tensor.value).reshape(-1).view(np.uint8)
            else:
                continue
            floats = raw[: raw.size // width * width].view(f"f{width}")
            if np.isnan(floats).any():
                return True
        return False

    def _as(self, tensor: Tensor, dtype: DType) -> Tensor:
        """:func:`reinterpret`, cached for all readers of a tensor."""
        if tensor.dtype == dtype:
            return tensor
        key = (tensor, dtype)
        if key not in self._views:
            self._views[key] = reinterpret(self._e, tensor, dtype)
        return self._views[key]

    def view_key(self, value: Value, offset: int, desc: TensorDesc) -> tuple[Tensor | None, Hashable] | None:
        """The inputs of :meth:`read`, as a cache key: the computed tensor that it reads, if any, and the rest.

        ``None`` if it depends on more, or if the nodes that it emits are cached for other readers.
        """
        layers = self._memory[value]
        layer = layers[-1]
        if len(layers) > 1 or desc.data_type.is_packed_nibbles:
            return None
        if isinstance(layer, ConstantBytes):
            return None, (value, offset)
        tensor, layout = layer.tensor, layer.layout
        if layer.is_seen_as(desc, offset):
            if tensor.value is None:
                return tensor, offset  # with the layout of the descriptor
        else:
            dtype = desc.data_type.dtype
            if tensor.dtype != dtype:
                return None
            if (value, offset, desc.sizes, desc.strides) in self._shared:
                return None
            inside = layer.start <= offset and offset + desc.extent * dtype.itemsize <= layer.end
            if (
                not inside
                or offset % dtype.itemsize
                or plan_read(layout, layout_of(desc, offset // dtype.itemsize)) is None
            ):
                return None
        if tensor.value is not None:
            return None, (tensor, layout, layer.start, offset)
        return tensor, (layout, layer.start, offset)

    def layout(self, value: Value, offset: int, desc: TensorDesc) -> Layout | None:
        """The layout, from offset 0, of the one computed tensor that ``desc`` covers exactly; ``None`` otherwise."""
        layer, width = self._memory[value][-1], desc.data_type.itemsize
        if isinstance(layer, ConstantBytes) or layer.tensor.value is not None or layer.tensor.dtype.itemsize != width:
            return None
        is_whole = layer.layout.is_dense and (layer.start, layer.end) == (offset, offset + desc.extent * width)
        return Layout(layer.layout.sizes, layer.layout.strides) if is_whole else None

    def before(self, base: Value, write: Write, desc: TensorDesc) -> Tensor:
        """The contents under ``desc`` before a write; 0 beyond the end of a smaller ``base``."""
        if base.nbytes < write.value.nbytes:
            layers = self._memory[base]
            base = Value(base.name, write.value.nbytes)
            self._memory[base] = layers
        return self.read(base, write.offset, desc)

    def memory_order(self, value: Value, desc: TensorDesc) -> Tensor:
        """The value in memory order, for a caller that binds it as ``desc``."""
        desc = in_memory(desc)
        shape = stored_shape(desc)
        return self.read(value, 0, TensorDesc(desc.data_type, shape))

    def _unpacked(self, value: Value, offset: int, desc: TensorDesc) -> Tensor:
        """The 4-bit elements of the bytes that ``desc`` spans, one to a byte."""
        return unpacked(self._e, self.read(value, offset, in_memory(desc)), signed=desc.data_type.is_signed)

    def _packed(self, offset: int, desc: TensorDesc, tensor: Tensor, base: Value | None) -> Tensor:
        """The bytes that ``desc`` spans, with ``tensor`` written; gaps and a last half byte are from ``base``, or 0."""
        e, layout = self._e, layout_of(desc)
        size = 2 * desc.data_type.bytes_for(desc.extent)
        below = None if base is None else self._unpacked(base, offset, desc)
        flat = take(e, plan_write(layout, over=below is not None), tensor, below)
        if below is None:
            flat = e.Pad(e.Slice(flat, [0], [size]), (0,), (max(size - flat.size, 0),))
        elif flat.size < size:
            flat = e.Concat([flat, e.Slice(below, [flat.size], [size])], 0)
        return packed(e, flat)

    def _direct(self, layer: WrittenTensor, offset: int, desc: TensorDesc, units: bool) -> Tensor | None:
        dtype = desc.data_type.dtype
        if layer.tensor.dtype.itemsize != dtype.itemsize or offset % dtype.itemsize:
            return None
        plan = plan_read(layer.layout, layout_of(desc, offset // dtype.itemsize), units=units)
        if plan is None:
            return None
        # reinterpret first, so that a value with many views is converted once
        return take(self._e, plan, self._as(layer.tensor, dtype))

    def _known(self, layer: ConstantBytes, offset: int, desc: TensorDesc, units: bool) -> Tensor:
        """Constant bytes as a strided numpy view; copied only if needed."""
        dtype = desc.data_type.dtype
        sizes = tuple(1 if s == 0 else n for n, s in zip(desc.sizes, desc.effective_strides, strict=True))
        length = desc.extent * dtype.itemsize
        budget = self._e.budget
        element = self._repeated(layer.data, offset, length, prod(sizes), dtype)
        if element is not None:
            return self._e.ConstantOfShape(sizes if units else desc.sizes, element, dtype)
        # bytes that are not in the input model: fills, zero padding, and broadcast elements, in the widest type they
        # may be converted to
        made = max(length, prod(sizes) * dtype.itemsize) - min(length, stored_bytes(layer.data))
        budget.spend(max(made, WIDEST * (prod(sizes) - desc.extent)))
        raw = layer.data.read(offset, length)
        if len(raw) < length:
            raw = np.concatenate([raw, np.zeros(length - len(raw), np.uint8)])
        elements = raw.view(dtype) if raw.ctypes.data % dtype.alignment == 0 else raw.copy().view(dtype)
        if desc.strides is None:
            array = elements.reshape(sizes)
        else:
            strides = tuple(stride * dtype.itemsize for stride in desc.strides)
            array = as_strided(elements, sizes, strides, writeable=False)
        tensor = self._e.constant(array, label=layer.label)
        return tensor if units else self._e.Expand(tensor, desc.sizes)

    def _repeated(self, data: Data, offset: int, length: int, count: int, dtype: DType) -> int | float | None:
        """The element that ``data`` repeats in ``length`` bytes from ``offset``, if these are too many to store."""
        if not isinstance(data, FillData) or dtype.itemsize % len(data.pattern) or data.nbytes < offset + length:
            return None
        if count <= MATERIALISED_FILL_ELEMENTS and self._e.budget.affords(count * dtype.itemsize):
            return None
        element: int | float = data.read(offset, dtype.itemsize).view(dtype)[0]
        return element

    def _row(self, layer: ConstantBytes, count: int, dtype: DType) -> Tensor:
        """The first ``count`` elements of constant bytes, zero beyond their end, with few of them stored."""
        e, data, width = self._e, layer.data, dtype.itemsize
        if isinstance(data, PaddedData) and (count * width - data.head.nbytes) // width > MATERIALISED_FILL_ELEMENTS:
            head = -(-data.head.nbytes // width)
            zeros = e.ConstantOfShape((count - head,), 0, dtype)
            return e.Concat([self._row(ConstantBytes(data.head, layer.label), head, dtype), zeros], 0)
        return self._known(layer, 0, TensorDesc(_HELD_TYPES[dtype], (count,)), True)

    def _flatten(self, value: Value, layers: tuple[Layer, ...], dtype: DType) -> Tensor:
        """The whole buffer as one dimension of ``dtype``."""
        key = (value, dtype)
        if key not in self._flat:
            written = [layer for layer in layers if isinstance(layer, WrittenTensor)]
            unit = gcd(dtype.itemsize, *(gcd(layer.start, layer.tensor.dtype.itemsize) for layer in written))
            work = dtype if unit == dtype.itemsize else np.dtype(f"uint{8 * unit}")
            # the size need not be a multiple of the reader's element, and covers everything written
            nbytes = max(value.nbytes, *(layer.end for layer in written))
            flat = self._stacked(layers, -(-nbytes // unit), work)
            ratio = dtype.itemsize // unit
            flat = self._e.Slice(flat, [0], [flat.size // ratio * ratio])
            self._flat[key] = reinterpret(self._e, flat, dtype)
        return self._flat[key]

    def _stacked(self, layers: tuple[Layer, ...], count: int, dtype: DType) -> Tensor:
        """At least ``count`` elements, padded with zeros."""
        e, width = self._e, dtype.itemsize
        flat: Tensor | None = None  # zeros
        for layer in layers:
            if isinstance(layer, ConstantBytes):
                is_zero = isinstance(layer.data, FillData) and not any(layer.data.pattern)
                flat = None if is_zero else self._row(layer, count, dtype)
                continue
            elements, layout = layer.tensor, layer.layout
            ratio = elements.dtype.itemsize // width
            if elements.dtype != dtype:
                elements = reinterpret(e, e.Reshape(elements, (*elements.shape, 1)), dtype)
                layout = Layout((*layout.sizes, ratio), (*(ratio * stride for stride in layout.strides), 1))
            first, last = layer.start // width, layer.end // width
            if flat is None:
                dense = take(e, plan_write(layout), elements)
                flat = e.Pad(dense, (first,), (max(count - first - dense.size, 0),))
            else:
                below = e.Slice(flat, [first], [last])
                dense = take(e, plan_write(layout, over=True), elements, below)
                parts = [e.Slice(flat, [0], [first]), dense, e.Slice(flat, [last], [flat.size])]
                flat = e.Concat([part for part in parts if part.size], 0)
        assert flat is not None
        return flat
