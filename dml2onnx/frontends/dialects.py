"""How formats differ in operator descriptors, and the name tables that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dml2onnx import catalog
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code
from dml2onnx.ir.tensor import DataType

OPERATOR_PREFIX = "DML_OPERATOR_"
DATA_TYPE_PREFIX = "DML_TENSOR_DATA_TYPE_"

DATA_TYPE_ALIASES = MappingProxyType(
    {
        **{
            f"{short}{bits}": DataType[f"{name}{bits}"]
            for short, name, sizes in (
                ("f", "FLOAT", (16, 32, 64)),
                ("i", "INT", (8, 16, 32, 64)),
                ("u", "UINT", (8, 16, 32, 64)),
            )
            for bits in sizes
        },
        **dict.fromkeys(("float", "single"), DataType.FLOAT32),
        "half": DataType.FLOAT16,
        "double": DataType.FLOAT64,
        **dict.fromkeys(("bool", "byte", "uchar"), DataType.UINT8),
        **dict.fromkeys(("char", "sbyte"), DataType.INT8),
        "short": DataType.INT16,
        "ushort": DataType.UINT16,
        "int": DataType.INT32,
        "uint": DataType.UINT32,
        "long": DataType.INT64,
        "ulong": DataType.UINT64,
    }
)
"""Names of data types in C++, HLSL and other languages: none is accepted, all are suggested for."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How strictly descriptors are read."""

    counts_required: bool = False
    """Whether count fields are required; otherwise they default to the lengths of the arrays."""
    null_is_absent: bool = False
    """Whether an optional field may be null."""
    numbers_for_enums: bool = False
    """Whether enumerators may be numbers, and a BOOL 0 or 1."""
    truncates_halves: bool = False
    """Whether FLOAT16 values are truncated, not rounded."""
    scalar_strings: bool = False
    """Whether a plain scalar may be ``"inf"``, ``"-inf"`` or ``"nan"``."""
    unknown_field: Code = codes.UNKNOWN_FIELD
    nested_tensor: Code = codes.NESTED_TENSOR
    zero_size_is_absent: bool = False
    """Whether a TotalTensorSizeInBytes of 0 means the smallest legal size."""
    newer: frozenset[str] = frozenset()
    """Operators and enumerators that the format's own tool does not support."""
    full_names: bool = False
    """Whether operators and data types need their full names."""
    union_bytes: bool = False
    """Whether a scalar may be the ``Bytes`` of its union."""
    infers_sizes: bool = False
    """Whether the sizes of outputs are inferred if left out."""


NATIVE = Dialect(null_is_absent=True, scalar_strings=True, infers_sizes=True)
"""The native format."""

API = Dialect(null_is_absent=True, numbers_for_enums=True, scalar_strings=True, union_bytes=True)
"""The structures of the API as JSON."""

DXDISPATCH = Dialect(
    counts_required=True,
    truncates_halves=True,
    unknown_field=codes.IGNORED_FIELD,
    nested_tensor=codes.NESTED_TENSOR_IGNORED,
    zero_size_is_absent=True,
    newer=frozenset({"DML_OPERATOR_RESAMPLE3", "DML_OPERATOR_FOLD", "DML_OPERATOR_UNFOLD", "DML_PADDING_MODE_WRAP"}),
)
"""DxDispatch at the time of DirectML 1.15: feature level 6.3."""

SERIALIZED = Dialect(counts_required=True, numbers_for_enums=True, full_names=True)
"""Decoded serialized graphs, where enumerators are numbers but operators and data types are names."""


@cache
def operators_by_name() -> Mapping[str, str]:
    """Maps every accepted name of an operator (full, short, aliases of the header) to its full name."""
    names: dict[str, str] = {}
    for name in catalog.operator_names():
        names[name] = names[name.removeprefix(OPERATOR_PREFIX)] = name
    types = catalog.enum_schema("DML_OPERATOR_TYPE")
    known = {types.by_full_name[name].value: name for name in catalog.operator_names()}
    for value in types.values.values():
        if value.value in known:
            names.setdefault(value.full_name, known[value.value])
            names.setdefault(value.name, known[value.value])
    return MappingProxyType(names)


@cache
def operators_by_number() -> Mapping[int, str]:
    """Maps numbers of ``DML_OPERATOR_TYPE`` to full operator names."""
    types = catalog.enum_schema("DML_OPERATOR_TYPE").by_full_name
    return MappingProxyType({types[name].value: name for name in catalog.operator_names()})


@cache
def enumerators(enum: str, numbers: bool) -> Mapping[object, str]:
    """Maps every accepted form of an enumerator to its short name.

    Callers must not look up a bool, which Python treats as a number.
    """
    schema = catalog.enum_schema(enum)
    table: dict[object, str] = {}
    for value in schema.values.values():
        table[value.name] = table[value.full_name] = value.name
        if numbers:
            table.setdefault(value.value, value.name)
    return MappingProxyType(table)


@cache
def data_types(numbers: bool) -> Mapping[object, DataType]:
    """Maps every accepted form of a data type, except UNKNOWN, to the data type."""
    table = enumerators("DML_TENSOR_DATA_TYPE", numbers)
    return MappingProxyType({key: DataType[name] for key, name in table.items() if name != "UNKNOWN"})
