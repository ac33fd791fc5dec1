"""Tensors, constants, names and nodes: what every ONNX operator's method rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    NodeProto,
    StringStringEntryProto,
    TensorShapeProto,
    TypeProto,
    ValueInfoProto,
)

from dml2onnx.diagnostics import InternalError
from dml2onnx.targets import legal_type, target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from dml2onnx.targets import Target

    Array: TypeAlias = npt.NDArray[np.generic]

DType: TypeAlias = "np.dtype[np.generic]"
Attribute: TypeAlias = "int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]"

BOOL: DType = np.dtype(np.bool_)
FLOAT: DType = np.dtype(np.float32)
FLOAT16: DType = np.dtype(np.float16)
DOUBLE: DType = np.dtype(np.float64)
INT64: DType = np.dtype(np.int64)

ELEMENT_TYPES: dict[DType, tuple[int, str]] = {
    FLOAT: (1, "float"),
    np.dtype(np.uint8): (2, "uint8"),
    np.dtype(np.int8): (3, "int8"),
    np.dtype(np.uint16): (4, "uint16"),
    np.dtype(np.int16): (5, "int16"),
    np.dtype(np.int32): (6, "int32"),
    INT64: (7, "int64"),
    BOOL: (9, "bool"),
    FLOAT16: (10, "float16"),
    DOUBLE: (11, "double"),
    np.dtype(np.uint32): (12, "uint32"),
    np.dtype(np.uint64): (13, "uint64"),
}
"""``TensorProto.DataType`` and its name for every numpy type that appears."""

_DTYPES = {name: dtype for dtype, (_, name) in ELEMENT_TYPES.items()}

SHARED_CONSTANT_BYTES = 1 << 20
"""Constants up to this size are compared by content; larger ones are shared only when they are one array."""

FOLDED_GROWTH_ELEMENTS = 1 << 20
"""Folding never makes a constant larger than its inputs beyond this: Expand is cheaper to run than to store."""


class NoKernelError(InternalError):
    """No type in which the provider could run a node exactly; a lowering should have chosen another form."""


class Keeps(Enum):
    """What a node may be run in when there is no kernel for its own type."""

    VALUE = "value"
    """A wider type: the node computes or compares."""
    BITS = "bits"
    """Also the other integer type of the same width: the node only moves elements."""
    LOW_BITS = "low bits"
    """Any integer type at least as wide: the node computes modulo 2**bits."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Which inputs and whether the output have the element type that the kernel is chosen by."""

    variable: str = "T"
    inputs: tuple[int, ...] | None = None
    """Positions; ``None`` means all."""
    output: bool = True
    keeps: Keeps = Keeps.VALUE


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor of the model being built: its type, its shape and, for constants, its value."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    value: Array | None = None
    label: str = ""
    """The name that a constant gets when it becomes an initializer."""
    node: NodeProto | None = field(default=None, repr=False)
    cast_from: DType | None = None
    """The type before the Cast that made it, if a Cast did."""

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def constant(self) -> Array:
        """The value; asking a computed tensor for it is a defect."""
        assert self.value is not None, f"{self.name} is not a constant"
        return self.value


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """``numpy.broadcast_shapes``; nearly always all shapes are one."""
    first = shapes[0]
    return first if all(shape == first for shape in shapes) else np.broadcast_shapes(*shapes)


def value_info(name: str, dtype: DType, shape: tuple[int, ...]) -> ValueInfoProto:
    """An input or output of a graph."""
    dims = TensorShapeProto(dim=[TensorShapeProto.Dimension(dim_value=size) for size in shape])
    tensor = TypeProto.Tensor(elem_type=ELEMENT_TYPES[dtype][0], shape=dims)
    return ValueInfoProto(name=name, type=TypeProto(tensor_type=tensor))


@cache
def _attribute(name: str, value: Attribute) -> AttributeProto:
    attribute = AttributeProto(name=name)
    match value:
        case bool() | int():
            attribute.type, attribute.i = AttributeProto.INT, int(value)
        case float():
            attribute.type, attribute.f = AttributeProto.FLOAT, value
        case str():
            attribute.type, attribute.s = AttributeProto.STRING, value.encode()
        case tuple() if all(isinstance(item, int) for item in value):
            attribute.type = AttributeProto.INTS
            attribute.ints.extend(value)
        case tuple() if isinstance(value[0], str):
            attribute.type = AttributeProto.STRINGS
            attribute.strings.extend(str(item).encode() for item in value)
        case tuple():
            attribute.type = AttributeProto.FLOATS
            attribute.floats.extend(value)
    return attribute


@cache
def _operator_entry(operator: str) -> StringStringEntryProto:
    return StringStringEntryProto(key="dml_operator", value=operator)


class EmitterCore:
    """Nodes and initializers of one ONNX graph, under construction.

    ``opset`` is the version of the default domain, ``provider`` the kernel table that types are legalised by.
    ``ports`` are names that graph inputs and outputs will have, ``weights`` those that constants may take.
    """

    def __init__(
        self,
        opset: int,
        provider: str = "cpu",
        ports: frozenset[str] = frozenset(),
        weights: frozenset[str] = frozenset(),
    ) -> None:
        self.opset = opset
        self.target: Target = target(provider)
        self.graph = GraphProto()
        self.initializers: dict[str, Array] = {}
        self.notes: list[str] = []
        self._names = {*ports, *weights}
        self._weights = weights
        self._prefix = ""
        self._prefixes: set[str] = set()
        self._roles: dict[str, int] = {}
        self._metadata: list[StringStringEntryProto] = []
        self._shared: dict[object, str] = {}
        self._vectors: dict[tuple[int, ...], Tensor] = {}
        self._legal: dict[tuple[str, DType], DType | None] = {}
        self._zero_padded: set[str] = set()

    # --- scope -------------------------------------------------------------------------------------------------------

    def begin(self, name: str, operator: str) -> None:
        """Everything emitted from here on belongs to the DirectML node ``name``."""
        self._prefix, count = name, 1
        while self._prefix in self._prefixes:  # names of nodes are unique in a checked graph, not in every graph
            count += 1
            self._prefix = f"{name}_{count}"
        self._prefixes.add(self._prefix)
        self._roles = {}
        self._metadata = [StringStringEntryProto(key="dml_node", value=name), _operator_entry(operator)]
        self.notes = []

    def note(self, text: str) -> None:
        """Why this form was chosen; ``dml2onnx explain`` shows it."""
        self.notes.append(text)

    def _unique(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}_{count}"
        return candidate

    def fresh(self, name: str) -> str:
        """``name``, or where it is taken the next one that is free; nothing else gets it."""
        name = self._unique(name)
        self._names.add(name)
        return name

    def _name(self, role: str) -> str:
        count = self._roles.get(role, 0) + 1
        self._roles[role] = count
        name = f"{self._prefix}/{role}" if count == 1 else f"{self._prefix}/{role}_{count}"
        return self.fresh(name)

    # --- constants ---------------------------------------------------------------------------------------------------

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None, label: str = "") -> Tensor:
        """A constant; it becomes an initializer when a node uses it."""
        array = np.asarray(value, dtype)
        return Tensor("", array.dtype, array.shape, array, label)

    def ints(self, values: Sequence[int]) -> Tensor:
        """A constant INT64 vector: shapes, axes, pads. There are few of them, used often."""
        key = tuple(values)
        found = self._vectors.get(key)
        if found is None:
            found = self._vectors[key] = self.constant(np.asarray(key, np.int64).reshape(-1))
        return found

    def initializer(self, tensor: Tensor) -> str:
        """The name of the initializer that holds a constant, made when there is none of this value yet."""
        value = tensor.constant
        key: object
        if value.nbytes <= SHARED_CONSTANT_BYTES:
            content = np.ascontiguousarray(value).tobytes()
            key = (value.dtype, value.shape, content if len(content) <= 64 else blake2b(content).digest())
        else:
            key = (value.__array_interface__["data"], value.dtype, value.shape, value.strides)
        name = self._shared.get(key)
        if name is None:
            if tensor.label in self._weights and tensor.label not in self.initializers:
                name = tensor.label
            else:
                name = self._name(tensor.label.rpartition("/")[2] or "const")
            self._shared[key] = name
            self.initializers[name] = value
        tensor.name = name
        return name

    # --- nodes -------------------------------------------------------------------------------------------------------

    def supports(self, op: str, dtype: DType, variable: str = "T") -> bool:
        """Whether ``op`` can be run exactly on this type, in a wider one if need be."""
        return legal_type(self.target, op, self.opset, variable, ELEMENT_TYPES[dtype][1]) is not None

    def has_kernel(self, op: str, dtype: DType, variable: str = "T") -> bool:
        """Whether the provider runs ``op`` on just this type, without casts."""
        return self.target.supports(op, self.opset, {variable: ELEMENT_TYPES[dtype][1]})

    def legal(self, op: str, traits: Traits, dtype: DType) -> DType:
        """The type in which to run ``op``."""
        key = (op, dtype)
        if key not in self._legal:
            name = legal_type(
                self.target,
                op,
                self.opset,
                traits.variable,
                ELEMENT_TYPES[dtype][1],
                traits.keeps is Keeps.BITS,
                modular=traits.keeps is Keeps.LOW_BITS and dtype.kind in "iu",
            )
            self._legal[key] = None if name is None else _DTYPES[name]
        legal = self._legal[key]
        if legal is None:
            raise NoKernelError(
                op, f"no exact form of {op} for {dtype} (target {self.target.name}, opset {self.opset})"
            )
        return legal

    def emit(
        self,
        op: str,
        traits: Traits,
        inputs: Sequence[Tensor | None],
        dtype: DType,
        shape: tuple[int, ...],
        attributes: Mapping[str, Attribute] | None = None,
        fold: Callable[..., Array] | None = None,
    ) -> Tensor:
        """One node with one output, of ``dtype`` and ``shape``, or its value when all inputs are constants.

        ``fold`` gets the values of the inputs that are present.
        """
        if fold is not None and all(item is None or item.value is not None for item in inputs):
            size = max(FOLDED_GROWTH_ELEMENTS, *(item.size for item in inputs if item is not None))
            if prod(shape) <= size:
                with np.errstate(all="ignore"):
                    value = fold(*(item.constant for item in inputs if item is not None))
                assert value.shape == shape, f"folding {op} gave {value.shape} for {shape}"
                return self.constant(value.astype(dtype, copy=False), label=_derived_label(inputs))
        bound = range(len(inputs)) if traits.inputs is None else traits.inputs
        leading = inputs[bound[0]]
        assert leading is not None
        legal = self.legal(op, traits, leading.dtype)
        if legal is leading.dtype:
            return self.nodes(op, inputs, [(dtype, shape)], attributes)[0]
        wide = [self.Cast(item, legal) if item is not None and i in bound else item for i, item in enumerate(inputs)]
        result = self.nodes(op, wide, [(legal if traits.output else dtype, shape)], attributes)[0]
        return self.Cast(result, dtype)

    def nodes(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[tuple[DType, tuple[int, ...]]],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> list[Tensor]:
        """One node as it is: no folding, no legalisation."""
        names = ["" if item is None else item.name or self.initializer(item) for item in inputs]
        name = self._name(op)
        results = [name if index == 0 else f"{name}:{index}" for index in range(len(outputs))]
        node = self.graph.node.add(
            name=name,
            op_type=op,
            input=names,
            output=results,
            attribute=[_attribute(key, value) for key, value in attributes.items()] if attributes else None,
            metadata_props=self._metadata,
        )
        return [
            Tensor(output, dtype, shape, node=node) for output, (dtype, shape) in zip(results, outputs, strict=True)
        ]

    def rename(self, tensor: Tensor, name: str, start: int) -> None:
        """Gives a computed tensor another name, in its node and in its readers from node ``start`` on."""
        assert tensor.node is not None
        for node in self.graph.node[start:]:
            for names in (node.input, node.output):
                for index, item in enumerate(names):
                    if item == tensor.name:
                        names[index] = name
        tensor.name = name

    def Cast(self, x: Tensor, dtype: DType) -> Tensor:
        """Another element type.

        Integers keep their low bits. A constant is cast by numpy, which agrees with the Cast kernels wherever the
        value is in range. Where ONNX Runtime would merge two, a Reshape, which copies nothing, keeps them apart.
        """
        if x.dtype == dtype:
            return x
        if x.value is not None:
            with np.errstate(all="ignore"):
                return self.constant(x.value.astype(dtype), label=_derived_label([x]))
        if x.cast_from is not None and _is_merged_wrongly(x.cast_from, x.dtype, dtype):
            x = self.nodes("Reshape", [x, self.ints(x.shape)], [(x.dtype, x.shape)])[0]
        result = self.nodes("Cast", [x], [(dtype, x.shape)], {"to": ELEMENT_TYPES[dtype][0]})[0]
        result.cast_from = x.dtype
        if x.name in self._zero_padded:
            self._zero_padded.add(result.name)
        return result


@cache
def _is_merged_wrongly(first: DType, middle: DType, last: DType) -> bool:
    """Whether ONNX Runtime may make one Cast of two and so lose what the first one rounds, wraps or truncates.

    It does so for float to INT64 to INT32, float to FLOAT16 to INT8, INT64 to DOUBLE to FLOAT, integer to integer to
    BOOL; it does not between integers, nor for FLOAT to FLOAT16 and back (ONNX Runtime 1.24 and 1.31).
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/insert_cast_transformer.cc
    """
    if np.can_cast(first, middle) and (first.itemsize < 8 or first.kind == middle.kind):
        return False  # every value survives the first one
    kinds = {first.kind, middle.kind, last.kind}
    among_floats = kinds == {"f"} and np.can_cast(middle, last)
    return not (kinds <= {"i", "u"} or among_floats)


def _derived_label(inputs: Sequence[Tensor | None]) -> str:
    """Constants folded from a weight keep its name, so that a reader of the model recognises them."""
    labels = [item.label for item in inputs if item is not None and item.label]
    return labels[0] if labels else ""
