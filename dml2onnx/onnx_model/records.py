"""Records of an ONNX model: values, nodes, where they come from, and the ports that callers see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout
from dml2onnx.onnx_model.types import Array, DType, stored_size

Attribute: TypeAlias = "int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Body"
"""INT, FLOAT, STRING, INTS, FLOATS, STRINGS or GRAPH."""


class UnknownSize(int):
    """The size of an axis that is known at run time only; there is one, :data:`UNKNOWN`.

    It is a number, so that it broadcasts and multiplies as sizes do, small enough for products of several. An axis of
    just as many elements is another thing: test for an unknown value by its type, with :func:`is_unknown`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = UnknownSize(4099)


class NamedSize(int):
    """The size of an axis that has a name, or is made of names: ``N``, ``2*H``. As a number it is one of them."""

    text: str
    range: tuple[int, int] | None
    """The first and the last size that a name stands for; ``None`` for what is made of names."""

    def __new__(cls, value: int, text: str, range: tuple[int, int] | None = None) -> NamedSize:
        """The size ``text``, which is ``value`` in the model that this one was made from."""
        made = super().__new__(cls, value)
        made.text = text
        made.range = range
        return made

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[NamedSize], tuple[int, str, tuple[int, int] | None]]:
        return NamedSize, (int(self), self.text, self.range)


def has_names(shape: tuple[int, ...]) -> bool:
    """Whether any size of a shape has a name."""
    return any(type(size) is NamedSize for size in shape)


def size_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """All sizes of a shape that has names, as text; nothing for one of numbers."""
    return tuple(map(str, shape)) if has_names(shape) else ()


def is_unknown(size: int) -> bool:
    """Whether only the run tells this size."""
    return type(size) is UnknownSize


def has_unknown(shape: tuple[int, ...]) -> bool:
    """Whether any size of a shape is unknown."""
    return UNKNOWN in shape and any(map(is_unknown, shape))  # the first is fast, and nearly always all there is


@dataclass(frozen=True, slots=True, eq=False)
class Dequantized:
    """Constant integers with their parameters: scalars, or vectors along the first axis."""

    x: Array
    scale: Array
    zero_point: Array
    label: str
    """The name that the integers have in the graph."""


@dataclass(slots=True, eq=False)
class Value:
    """A value of a model, and what is known of it. Nodes refer to the record itself, so that a new ``name`` reaches all
    its readers.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    cast_from: DType | None = None
    """The type before the Cast that made it, if a Cast did."""
    is_bounded: bool = False
    """Whether it holds nothing but maxima with a finite number: no -inf, nor a NaN to rely on [decision G1]."""
    below: int | None = None
    """The number that its integers, none of them negative, are known to be less than."""
    dequantized: Dequantized | None = None
    """The integers that a constant was dequantised from."""
    paired: bool = False
    """Whether it stands between quantisations of one operator, of which ONNX Runtime may make a kernel of integers."""

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(slots=True, eq=False)
class Node:
    """An ONNX node; ``None`` stands for an input that is left out and for an output that nobody wants.

    No node changes once it is made. It is not frozen, since making one would then take three times as long.
    """

    name: str
    op_type: str
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The graph that a node such as Scan repeats; it may also use whatever the graph around it has."""

    name: str
    nodes: Sequence[Node]
    inputs: Sequence[Value]
    outputs: Sequence[Value]


CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""The operators that have graphs as attributes."""


def bodies(node: Node) -> list[Body]:
    """The graphs inside of a node, and those inside of their nodes."""
    if node.op_type not in CONTROL_FLOW:
        return []
    found: list[Body] = []
    for item in node.attributes.values():
        if isinstance(item, Body):
            found.append(item)
            for inner in item.nodes:
                if inner.op_type in CONTROL_FLOW:
                    found += bodies(inner)
    return found


def with_bodies(nodes: Iterable[Node]) -> Iterator[Node]:
    """Nodes, each before those of the graphs inside of it."""
    for node in nodes:
        yield node
        if node.op_type in CONTROL_FLOW:
            for body in bodies(node):
                yield from body.nodes


class Origin(NamedTuple):
    """What one DirectML node became: the ONNX nodes made for it, and why it became these."""

    node: str
    operator: str
    nodes: Sequence[Node]
    notes: tuple[str, ...] = ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The ONNX operators, in order."""
        return tuple(node.op_type for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Port:
    """A graph input or output: its public name, its name in the ONNX model, and how the caller sees the buffer.

    ``shape`` is that of memory; ``desc`` the descriptor under which it is read or was last written.
    """

    name: str
    onnx_name: str
    dtype: DType
    shape: tuple[int, ...]
    desc: TensorDesc


@dataclass(frozen=True, slots=True, eq=False)
class OnnxGraph:
    """A whole model. Initializers stay arrays, often memory-mapped ones, until they are written.

    Every node belongs to one of ``origins``, which follow one another as the nodes do.
    """

    origins: tuple[Origin, ...]
    initializers: Mapping[str, Array]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    later_opset: int | None = None
    """One in which ONNX has operators for what takes many nodes here, and which the target runs."""

    @property
    def traces(self) -> tuple[Origin, ...]:
        """The origins that are DirectML nodes; what outputs need besides has none."""
        return tuple(origin for origin in self.origins if origin.operator)

    @property
    def nodes(self) -> list[Node]:
        """All nodes, in the order in which they run."""
        return [node for origin in self.origins for node in origin.nodes]

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(len(origin.nodes) for origin in self.origins)

    @property
    def weight_bytes(self) -> int:
        """Bytes of all initializers, as they are written."""
        return sum(stored_size(array.dtype, array.size) for array in self.initializers.values())


def logical(array: Array, port: Port) -> Array:
    """A port's memory-order array in the shape of its descriptor, 4-bit elements one to a byte."""
    if has_names(port.shape):
        order = Layout(port.desc.sizes, port.desc.effective_strides).memory_order
        return np.ascontiguousarray(array.transpose(np.argsort(order)))
    if port.desc.data_type.is_packed_nibbles:
        octets = array.view(np.uint8)
        halves = np.stack((octets & 15, octets >> 4), -1).reshape(-1)
        array = ((halves ^ 8) - 8).view(np.int8) if port.desc.data_type.is_signed else halves
    layout = Layout(port.desc.sizes, port.desc.effective_strides)
    strides = tuple(stride * array.itemsize for stride in layout.strides)
    return np.lib.stride_tricks.as_strided(np.ascontiguousarray(array).reshape(-1), layout.sizes, strides).copy()
