"""The fields of an operator's structure, and the support tables of its tensors."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dml2onnx.catalog.levels import FeatureLevel


class FieldKind(enum.Enum):
    """What a field is to the operator."""

    INPUT_TENSOR = "input_tensor"
    OUTPUT_TENSOR = "output_tensor"
    ATTRIBUTE = "attribute"


class FieldType(enum.Enum):
    """The type of a field; BOOL is a number in the structure, ENUM a value of `FieldSchema.enum`."""

    TENSOR = "tensor"
    TENSOR_ARRAY = "tensor_array"
    UINT = "uint"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    ENUM = "enum"
    UINT_ARRAY = "uint_array"
    INT_ARRAY = "int_array"
    FLOAT_ARRAY = "float_array"
    SCALE_BIAS = "scale_bias"
    SCALAR_UNION = "scalar_union"
    SIZE_2D = "size_2d"
    OPERATOR = "operator"
    OPERATOR_ARRAY = "operator_array"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSchema:
    """One member of an operator's structure, in the structure's order."""

    name: str
    kind: FieldKind
    type: FieldType
    optional: bool
    enum: str | None
    count: str | None
    scalar_type: str | None
    shape: str | None
    doc: str
    updated_with: str | None = None
    """The optional tensor that the operator uses to update part of this output, which it also reads."""
    dimensions: str = ""
    """``axis`` or ``axes``: it holds dimensions; ``each``: one entry per dimension; ``own``: a tensor unlike others."""

    @property
    def is_tensor(self) -> bool:
        return self.kind is not FieldKind.ATTRIBUTE

    @property
    def names_axes(self) -> bool:
        """Whether it holds indices of dimensions."""
        return self.dimensions in ("axis", "axes")


@dataclasses.dataclass(frozen=True, slots=True)
class TensorSupport:
    """What a row of a support table allows for a tensor; both ends of `dimension_counts` are included."""

    dimension_counts: tuple[int, int]
    data_types: frozenset[str]
    optional: bool

    @property
    def sorted_types(self) -> tuple[str, ...]:
        """Floats, then signed, then unsigned integers, each by their width."""

        def order(name: str) -> tuple[bool, bool, str]:
            return not name.startswith("FLOAT"), name.startswith("U"), name.rjust(8)

        return tuple(sorted(self.data_types, key=order))


@dataclasses.dataclass(frozen=True, slots=True)
class SupportRow:
    """A support table of the documentation; `functions` (short names) is empty if it applies to all of them."""

    level: FeatureLevel
    functions: tuple[str, ...]
    tensors: Mapping[str, TensorSupport]


def read_field(raw: dict[str, Any]) -> FieldSchema:
    """Returns a field from its entry under `fields` in an operator's file."""
    return FieldSchema(
        name=raw["name"],
        kind=FieldKind(raw["kind"]),
        type=FieldType(raw["type"]),
        optional=raw["optional"],
        enum=raw.get("enum"),
        count=raw.get("count"),
        scalar_type=raw.get("scalar_type"),
        shape=raw.get("shape"),
        doc=raw.get("doc", ""),
        updated_with=raw.get("updated_with"),
        dimensions=raw.get("dimensions", ""),
    )


def read_row(raw: dict[str, Any]) -> SupportRow:
    """Returns a support row from its entry under `support` in an operator's file."""
    tensors = {
        name: TensorSupport(
            dimension_counts=(entry["dimension_counts"][0], entry["dimension_counts"][1]),
            data_types=frozenset(entry["data_types"]),
            optional=entry["optional"],
        )
        for name, entry in raw["tensors"].items()
    }
    return SupportRow(FeatureLevel(raw["level"]), tuple(raw.get("functions", ())), MappingProxyType(tensors))
