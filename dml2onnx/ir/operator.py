"""Operator descriptors: a catalogue entry and the values of its fields."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dml2onnx.catalog import FieldSchema, OperatorSchema
from dml2onnx.ir.tensor import DataType, TensorDesc


@dataclass(frozen=True, slots=True)
class ScaleBias:
    """``DML_SCALE_BIAS``: the operator computes ``f(x * scale + bias)``; both are FLOAT32 values."""

    scale: float
    bias: float


@dataclass(frozen=True, slots=True)
class Size2D:
    """``DML_SIZE_2D``."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """``DML_SCALAR_UNION`` read as ``data_type``: a whole number for integers, a float otherwise."""

    data_type: DataType
    value: int | float


class Unreadable:
    """The value of a field that could not be read, as a diagnostic reports."""

    _instance: Unreadable | None = None

    def __new__(cls) -> Unreadable:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "UNREADABLE"


UNREADABLE = Unreadable()


FieldValue: TypeAlias = (
    "bool | int | float | str | tuple[int, ...] | tuple[float, ...] | TensorDesc | tuple[TensorDesc, ...]"
    " | ScaleBias | Size2D | Scalar | OperatorDesc | tuple[OperatorDesc, ...] | Unreadable | None"
)
"""The value of a field. Enumerators are their short names (``"CROSS_CORRELATION"``), FLOAT attributes are
Python floats that a float32 holds exactly, and an absent optional field is ``None``."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatorDesc:
    """``DML_OPERATOR_DESC``: the operator, and a value for every field of its struct.

    Compares and hashes by content, so that what is found out about one descriptor serves all equal ones.
    The typed accessors name the field as DirectML does and assert its kind: what the front ends have read
    by the catalogue is not doubted again.
    """

    schema: OperatorSchema
    values: tuple[FieldValue, ...]
    """One per field of ``schema.fields``, in struct order."""
    _hash: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.schema.name, self.values)))

    def __reduce__(self) -> tuple[type[OperatorDesc], tuple[OperatorSchema, tuple[FieldValue, ...]]]:
        """Pickles without the hash, which differs between processes."""
        return OperatorDesc, (self.schema, self.values)

    def __repr__(self) -> str:
        stated = ", ".join(f"{field.name}={value!r}" for field, value in self.items() if value is not None)
        return f"OperatorDesc({self.type}: {stated})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, OperatorDesc)
            and self._hash == other._hash
            and self.schema is other.schema
            and self.values == other.values
        )

    @property
    def type(self) -> str:
        """The operator without its prefix: ``"PADDING1"``."""
        return self.schema.short_name

    @property
    def is_readable(self) -> bool:
        """Whether every field (those of nested operators too) could be read."""
        for value in self.values:
            if value is UNREADABLE:
                return False
            nested = value if isinstance(value, tuple) else (value,)
            if any(isinstance(item, OperatorDesc) and not item.is_readable for item in nested):
                return False
        return True

    def get(self, name: str) -> FieldValue:
        """A field by name; ``KeyError`` if the operator has no such field."""
        return self.values[self.schema.index[name]]

    def find(self, name: str) -> FieldValue:
        """A field by name; ``None`` if it is absent or the operator has no such field."""
        index = self.schema.index.get(name)
        return None if index is None else self.values[index]

    def with_values(self, changes: Mapping[str, FieldValue]) -> OperatorDesc:
        """The descriptor with some fields replaced."""
        if not changes:
            return self
        values = list(self.values)
        for name, value in changes.items():
            values[self.schema.index[name]] = value
        return OperatorDesc(self.schema, tuple(values))

    def has(self, name: str) -> bool:
        """Whether the operator has the field and it is not absent."""
        index = self.schema.index.get(name)
        return index is not None and self.values[index] is not None

    def updates(self, name: str) -> bool:
        """Whether the operator updates a part of this output, and so reads its old contents."""
        switch = self.schema.fields_by_name[name].updated_with
        return switch is not None and self.has(switch)

    def items(self) -> Iterator[tuple[FieldSchema, FieldValue]]:
        """Fields with their values, in struct order."""
        return zip(self.schema.fields, self.values, strict=True)

    def tensors(self, name: str) -> tuple[TensorDesc, ...]:
        """The descriptors of a tensor field: none when absent, one, or those of an array."""
        value = self.get(name)
        if value is None:
            return ()
        if isinstance(value, TensorDesc):
            return (value,)
        assert isinstance(value, tuple), name
        return value  # type: ignore[return-value]  # the schema says it is an array of tensors

    def tensor(self, name: str) -> TensorDesc:
        """A required tensor field."""
        value = self.get(name)
        assert isinstance(value, TensorDesc), name
        return value

    def uint(self, name: str) -> int:
        """A UINT or INT field."""
        value = self.get(name)
        assert isinstance(value, int), name
        return value

    def uints(self, name: str) -> tuple[int, ...]:
        """A UINT or INT array."""
        value = self.get(name)
        assert isinstance(value, tuple), name
        return value  # type: ignore[return-value]  # the reader has checked the elements

    def float(self, name: str) -> builtins.float:
        """A FLOAT field, the float32 value as a Python float."""
        value = self.get(name)
        assert isinstance(value, float), name
        return value

    def floats(self, name: str) -> tuple[builtins.float, ...]:
        """A FLOAT array."""
        value = self.get(name)
        assert isinstance(value, tuple), name
        return value  # type: ignore[return-value]  # the reader has checked the elements

    def flag(self, name: str) -> bool:
        """A BOOL field."""
        value = self.get(name)
        assert isinstance(value, bool), name
        return value

    def enum(self, name: str) -> str:
        """An enumerator's short name."""
        value = self.get(name)
        assert isinstance(value, str), name
        return value

    def scalar(self, name: str) -> Scalar:
        """A scalar union, read by its sibling data type."""
        value = self.get(name)
        assert isinstance(value, Scalar), name
        return value

    def scale_bias(self, name: str = "ScaleBias") -> ScaleBias | None:
        """The optional scale and bias."""
        value = self.get(name)
        assert value is None or isinstance(value, ScaleBias), name
        return value

    def size_2d(self, name: str) -> Size2D:
        """A width and a height."""
        value = self.get(name)
        assert isinstance(value, Size2D), name
        return value

    def activation(self, name: str = "FusedActivation") -> OperatorDesc | None:
        """The optional nested activation."""
        value = self.get(name)
        assert value is None or isinstance(value, OperatorDesc), name
        return value

    def activations(self, name: str = "ActivationDescs") -> tuple[OperatorDesc, ...]:
        """A list of nested activations."""
        value = self.get(name)
        assert isinstance(value, tuple), name
        return value  # type: ignore[return-value]  # the schema says it is an array of operators
