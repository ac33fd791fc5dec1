"""Records of an ONNX model: values, nodes with their origins, and the ports for callers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout
from dml2onnx.onnx_model.types import Array, DType, stored_size

if TYPE_CHECKING:
    from dml2onnx.sizes.expressions import Expr
    from dml2onnx.sizes.limits import Limits

Attribute: TypeAlias = "int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Body"
"""INT, FLOAT, STRING, INTS, FLOATS, STRINGS or GRAPH."""


class UnknownSize(int):
    """The size of an axis that is known at run time only; there is one, :data:`UNKNOWN`.

    It is a number, so that it broadcasts and multiplies as sizes do, small enough for products of several. An axis may
    have this number of elements, so test for it with :func:`is_unknown`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = UnknownSize(4099)


class NamedSize(int):
    """A named size, or an expression of names: ``N``, ``2*H``. Its number is the value in one model."""

    text: str
    expr: Expr
    """The expression; its symbols are names."""
    limits: Limits
    """The values that the names may have."""

    def __new__(cls, value: int, text: str, expr: Expr, limits: Limits) -> NamedSize:
        """The size ``text``, with the number ``value`` in the model that this one was made from."""
        made = super().__new__(cls, value)
        made.text = text
        made.expr = expr
        made.limits = limits
        return made

    def at(self, values: Mapping[str, int]) -> int:
        """The number at these values of names; the size itself if one of its names is missing."""
        if any(symbol.name not in values for symbol in self.expr.symbols()):
            return self
        return self.expr.at(lambda symbol: values[symbol.name])

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[NamedSize], tuple[int, str, Expr, Limits]]:
        return NamedSize, (int(self), self.text, self.expr, self.limits)


def has_names(shape: tuple[int, ...]) -> bool:
    """Whether any size of a shape is named."""
    return any(type(size) is NamedSize for size in shape)


def size_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """The sizes of a shape with named sizes, as text; empty for a shape of numbers."""
    return tuple(map(str, shape)) if has_names(shape) else ()


def is_unknown(size: int) -> bool:
    """Whether the size is known at run time only."""
    return type(size) is UnknownSize


def has_unknown(shape: tuple[int, ...]) -> bool:
    """Whether any size of a shape is unknown."""
    return UNKNOWN in shape and any(map(is_unknown, shape))  # the first test is fast and usually false


@dataclass(frozen=True, slots=True, eq=False)
class Dequantized:
    """Constant integers with their parameters: scalars, or vectors along the first axis."""

    x: Array
    scale: Array
    zero_point: Array
    label: str
    """The initializer's name."""


@dataclass(slots=True, eq=False)
class OnnxValue:
    """A value of a model and its known properties. Nodes refer to the record, so renaming it renames it everywhere."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    cast_from: DType | None = None
    """The input type of the Cast that made it, if any."""
    is_bounded: bool = False
    """Whether all elements are maxima with a finite number: never -inf, NaN unspecified [decision G1]."""
    below: int | None = None
    """An exclusive upper bound of its integers, which are then not negative."""
    dequantized: Dequantized | None = None
    """The integers that a constant was dequantized from."""
    paired: bool = False
    """Whether it is inside a QDQ group, which ONNX Runtime may fuse to an integer kernel."""

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(slots=True, eq=False)
class OnnxNode:
    """An ONNX node; ``None`` stands for a missing input or an unused output.

    Nodes are never modified. The class is not frozen because creation would take three times as long.
    """

    name: str
    op_type: str
    inputs: tuple[OnnxValue | None, ...]
    outputs: tuple[OnnxValue | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The body of a node such as Scan; it may use values of the enclosing graph."""

    name: str
    nodes: Sequence[OnnxNode]
    inputs: Sequence[OnnxValue]
    outputs: Sequence[OnnxValue]


CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""Operators with graph attributes."""


def bodies(node: OnnxNode) -> list[Body]:
    """The bodies of a node, including nested ones."""
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


def with_bodies(nodes: Iterable[OnnxNode]) -> Iterator[OnnxNode]:
    """Nodes, each followed by those of its bodies."""
    for node in nodes:
        yield node
        if node.op_type in CONTROL_FLOW:
            for body in bodies(node):
                yield from body.nodes


class Origin(NamedTuple):
    """The ONNX nodes made for one DirectML node, with notes that explain the choice."""

    node: str
    operator: str
    nodes: Sequence[OnnxNode]
    notes: tuple[str, ...] = ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The ONNX operators, in order."""
        return tuple(node.op_type for node in self.nodes)


@dataclass(frozen=True, slots=True)
class OnnxPort:
    """A graph input or output: its public name, its name in the ONNX model, and the caller's view of the buffer.

    ``shape`` is in memory order; ``desc`` is the descriptor that reads it or wrote it last.
    """

    name: str
    onnx_name: str
    dtype: DType
    shape: tuple[int, ...]
    desc: TensorDesc


@dataclass(frozen=True, slots=True, eq=False)
class OnnxGraph:
    """A whole model. Initializers are arrays, often memory-mapped, until they are written.

    Every node belongs to one of ``origins``, which are in the order of the nodes.
    """

    origins: tuple[Origin, ...]
    initializers: Mapping[str, Array]
    inputs: tuple[OnnxPort, ...]
    outputs: tuple[OnnxPort, ...]
    later_opset: int | None = None
    """A later opset that the target supports and that would need fewer nodes, if any."""

    @property
    def traces(self) -> tuple[Origin, ...]:
        """The origins that are DirectML nodes; nodes for outputs have none."""
        return tuple(origin for origin in self.origins if origin.operator)

    @property
    def nodes(self) -> list[OnnxNode]:
        """All nodes, in topological order."""
        return [node for origin in self.origins for node in origin.nodes]

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(len(origin.nodes) for origin in self.origins)

    @property
    def weight_bytes(self) -> int:
        """Bytes of all initializers, as stored."""
        return sum(stored_size(array.dtype, array.size) for array in self.initializers.values())


def logical(array: Array, port: OnnxPort) -> Array:
    """A port's memory-order array in the shape of its descriptor; 4-bit elements one per byte."""
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
