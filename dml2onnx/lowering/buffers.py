"""Buffers while a graph is lowered: who wrote which bytes, and how to read them as somebody else's tensor.

The memory of a value is a stack of layers. At the bottom lie constant bytes or a graph input, above them the
tensors that operators wrote, each still in its logical shape together with the strides that say where its elements
lie. So a reader with the same strides takes the tensor as it is, and permuted layouts between two operators that
agree on them cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dml2onnx.ir.data import FillData
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.ir.view import (
    Expand,
    Gather,
    Layout,
    Reshape,
    Slice,
    Transpose,
    memory_shape,
    plan_flat,
    plan_read,
    scatter_indices,
)
from dml2onnx.lowering.bits import packed, reinterpret, unpacked

if TYPE_CHECKING:
    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Graph, Value
    from dml2onnx.ir.view import Plan
    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.emitter.core import DType

MATERIALISED_FILL_ELEMENTS = 1 << 20
"""Larger fills are made by Expand when the model runs instead of being stored in it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A dense tensor and where its elements lie, in elements of its type."""

    tensor: Tensor
    layout: Layout
    start: int
    """First byte."""
    end: int
    """Behind the last byte."""

    @classmethod
    def packed(cls, tensor: Tensor) -> Written:
        """A tensor that lies row-major at the start of its buffer."""
        return cls(tensor, Layout.packed(tensor.shape), 0, tensor.size * tensor.dtype.itemsize)


@dataclass(frozen=True, slots=True)
class Known:
    """Bytes known when compiling, over the whole of a buffer."""

    data: Data
    label: str

    @property
    def start(self) -> int:
        """First byte."""
        return 0

    @property
    def end(self) -> int:
        """Behind the last byte; what lies past the data reads as 0."""
        return 1 << 63


Layer: TypeAlias = Written | Known

ZEROS = Known(FillData(b"\0", 1 << 62), "")
"""What lies below all layers: bytes that nobody wrote."""


@lru_cache(maxsize=1 << 14)
def layout_of(desc: TensorDesc, offset: int = 0) -> Layout:
    """The view of a descriptor, ``offset`` elements into the buffer."""
    return Layout(desc.sizes, desc.effective_strides, offset)


def in_memory(desc: TensorDesc) -> TensorDesc:
    """A descriptor whose elements can be addressed: two 4-bit elements are a byte, and lie there flat."""
    if not desc.data_type.is_packed_nibbles:
        return desc
    return TensorDesc(DataType.UINT8, (desc.data_type.bytes_for(desc.extent),))


def take(e: Emitter, plan: Plan, tensor: Tensor) -> Tensor:
    """The steps of a plan as ONNX nodes."""
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
            case Gather(layout):
                tensor = e.Gather(tensor, e.positions(layout.offsets()))
    return tensor


class Buffers:
    """The memory of every value of one graph."""

    def __init__(self, emitter: Emitter, graph: Graph) -> None:
        self._e = emitter
        self._memory: dict[Value, tuple[Layer, ...]] = {
            item.value: (Known(item.data, item.value.name),) for item in graph.constants
        }
        self._flat: dict[tuple[Value, DType], Tensor] = {}
        self._constants: dict[tuple[Value, int, TensorDesc, bool], Tensor] = {}

    def bind(self, value: Value, tensor: Tensor) -> None:
        """A graph input: ``tensor`` holds the buffer from its start, in memory order."""
        self._memory[value] = (Written.packed(tensor),)

    def write(self, value: Value, offset: int, desc: TensorDesc, tensor: Tensor, base: Value | None) -> None:
        """``tensor``, of the sizes of ``desc``, becomes part of ``value``; the rest is ``base``, or 0."""
        if desc.data_type.is_packed_nibbles:
            tensor, desc = self._packed(offset, desc, tensor, base), in_memory(desc)
        width = tensor.dtype.itemsize
        top = Written(tensor, layout_of(desc, offset // width), offset, offset + desc.extent * width)
        if base is None:
            self._memory[value] = (top,)
            return
        covers = top.layout.is_dense
        below = self._memory[base]
        kept = [layer for layer in below if not (covers and top.start <= layer.start and layer.end <= top.end)]
        self._memory[value] = (*kept, top)

    def read(self, value: Value, offset: int, desc: TensorDesc, *, units: bool = False) -> Tensor:
        """The dense tensor that ``desc`` sees ``offset`` bytes into ``value``, of shape ``desc.sizes``.

        With ``units`` broadcast dimensions have size 1.
        """
        if desc.data_type.is_packed_nibbles:
            nibbles = self._unpacked(value, offset, desc)
            plan = plan_read(Layout.packed(nibbles.shape), layout_of(desc), units=units)
            assert plan is not None, f"{value.name} cannot be read as {desc}"
            return take(self._e, plan, nibbles)
        dtype = desc.data_type.dtype
        layers = self._memory[value]
        last = layers[-1]
        if (
            isinstance(last, Written)
            and (last.tensor.dtype, last.start, last.layout.sizes) == (dtype, offset, desc.sizes)
            and last.layout.strides == desc.effective_strides
        ):
            return last.tensor  # how nearly all operators hand on their results
        end = offset + desc.extent * dtype.itemsize
        top = next((layer for layer in reversed(layers) if layer.start < end and offset < layer.end), ZEROS)
        if isinstance(top, Known):
            key = (value, offset, desc, units)
            found = self._constants.get(key)
            if found is None:
                found = self._constants[key] = self._known(top, offset, desc, units)
            return found
        if top.start <= offset and end <= top.end:
            found = self._direct(top, offset, desc, units)
            if found is not None:
                return found
        flat = self._flatten(value, layers, dtype)
        found = self._direct(Written.packed(flat), offset, desc, units)
        assert found is not None, f"{value.name} cannot be read as {desc}"
        return found

    def memory_order(self, value: Value, desc: TensorDesc) -> Tensor:
        """The value from its start, as a caller sees it who knows it as ``desc``: in memory order."""
        desc = in_memory(desc)
        shape = memory_shape(layout_of(desc))
        return self.read(value, 0, TensorDesc(desc.data_type, shape))

    def _unpacked(self, value: Value, offset: int, desc: TensorDesc) -> Tensor:
        """The 4-bit elements of the bytes that ``desc`` spans, one to a byte."""
        return unpacked(self._e, self.read(value, offset, in_memory(desc)), signed=desc.data_type.is_signed)

    def _packed(self, offset: int, desc: TensorDesc, tensor: Tensor, base: Value | None) -> Tensor:
        """The bytes that ``desc`` spans, and ``tensor`` in them; gaps and the last half are those of ``base``, or 0."""
        e, layout = self._e, layout_of(desc)
        size = 2 * desc.data_type.bytes_for(desc.extent)
        if base is None:
            below = e.constant(np.zeros(size, tensor.dtype))
        else:
            below = self._unpacked(base, offset, desc)
        if not layout.is_dense:
            flat = e.Reshape(tensor, (tensor.size,))
            return packed(e, e.ScatterElements(below, e.positions(scatter_indices(layout)), flat, 0))
        flat = take(e, plan_flat(layout), tensor)
        if flat.size < size:
            flat = e.Concat([flat, e.Slice(below, [size - 1], [size])], 0)
        return packed(e, flat)

    def _direct(self, layer: Written, offset: int, desc: TensorDesc, units: bool) -> Tensor | None:
        dtype = desc.data_type.dtype
        if layer.tensor.dtype.itemsize != dtype.itemsize or offset % dtype.itemsize:
            return None
        plan = plan_read(layer.layout, layout_of(desc, offset // dtype.itemsize), units=units)
        if plan is None:
            return None
        # Reinterpreted first: a shared value is then converted once, however many views read it.
        return take(self._e, plan, reinterpret(self._e, layer.tensor, dtype))

    def _known(self, layer: Known, offset: int, desc: TensorDesc, units: bool) -> Tensor:
        """Constant bytes, seen through strides by numpy; nothing is copied where the memory allows it."""
        dtype = desc.data_type.dtype
        sizes = tuple(1 if s == 0 else n for n, s in zip(desc.sizes, desc.effective_strides, strict=True))
        if isinstance(layer.data, FillData) and prod(sizes) > MATERIALISED_FILL_ELEMENTS:
            element = layer.data.read(offset, dtype.itemsize).view(dtype)
            if len(layer.data.pattern) == dtype.itemsize or layer.data.pattern == b"\0":
                return self._e.ConstantOfShape(sizes if units else desc.sizes, element[0], dtype)
        length = desc.extent * dtype.itemsize
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

    def _flatten(self, value: Value, layers: tuple[Layer, ...], dtype: DType) -> Tensor:
        """The whole buffer as one dimension of ``dtype``, whatever wrote its parts."""
        key = (value, dtype)
        if key not in self._flat:
            unit = gcd(
                dtype.itemsize, *(gcd(w.start, w.tensor.dtype.itemsize) for w in layers if isinstance(w, Written))
            )
            work = dtype if unit == dtype.itemsize else np.dtype(f"uint{8 * unit}")
            flat = self._stacked(layers, value.nbytes // dtype.itemsize * dtype.itemsize, work)
            self._flat[key] = reinterpret(self._e, flat, dtype)
        return self._flat[key]

    def _stacked(self, layers: tuple[Layer, ...], nbytes: int, dtype: DType) -> Tensor:
        e, width = self._e, dtype.itemsize
        count = nbytes // width
        flat = e.constant(np.zeros(count, dtype))
        for layer in layers:
            if isinstance(layer, Known):
                raw = layer.data.read(0, nbytes)
                raw = np.concatenate([raw, np.zeros(nbytes - len(raw), np.uint8)])
                flat = e.constant(raw.view(dtype), label=layer.label)
                continue
            first, last = layer.start // width, min(layer.end // width, count)
            if layer.layout.is_dense:
                dense = reinterpret(e, take(e, plan_flat(layer.layout), layer.tensor), dtype)
                dense = e.Slice(dense, [0], [last - first])
                parts = [e.Slice(flat, [0], [first]), dense, e.Slice(flat, [last], [count])]
                flat = e.Concat([part for part in parts if part.size], 0)
            else:
                elements = reinterpret(e, e.Reshape(layer.tensor, (layer.tensor.size,)), dtype)
                ratio = elements.size // layer.tensor.size
                positions = scatter_indices(layer.layout)[:, None] * ratio + np.arange(ratio)
                flat = e.ScatterElements(flat, e.positions(positions.reshape(-1)), elements)
        return flat
