"""The differences between formats in operator descriptors, and the tables that they share."""

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
"""What C++, HLSL and others call data types; none of these is accepted."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How strictly descriptors are read."""

    counts_required: bool
    """Whether count fields must be written; where they may be left out, the arrays say how long they are."""
    null_is_absent: bool
    """Whether an optional field may be null."""
    numbers_for_enums: bool
    """Whether an enumerator may be given by its number, and a BOOL as 0 or 1."""
    truncates_halves: bool
    scalar_strings: bool
    """Whether a scalar without a member name may be ``"inf"``, ``"-inf"`` or ``"nan"``."""
    unknown_field: Code
    nested_tensor: Code
    zero_size_is_absent: bool = False
    """Whether a TotalTensorSizeInBytes of 0 asks for the smallest legal size, as leaving it out does."""
    newer: frozenset[str] = frozenset()
    """Operators and enumerators that the format's own tool does not know."""
    full_names: bool = False
    """Whether operators and data types go by their full names only."""
    union_bytes: bool = False
    """Whether a scalar may be given by the ``Bytes`` of its union."""
    infers_sizes: bool = False
    """Whether the sizes of outputs may be left to be found."""


NATIVE = Dialect(
    counts_required=False,
    null_is_absent=True,
    numbers_for_enums=False,
    truncates_halves=False,
    scalar_strings=True,
    unknown_field=codes.UNKNOWN_FIELD,
    nested_tensor=codes.NESTED_TENSOR,
    infers_sizes=True,
)
"""The native format."""

API = Dialect(
    counts_required=False,
    null_is_absent=True,
    numbers_for_enums=True,
    truncates_halves=False,
    scalar_strings=True,
    unknown_field=codes.UNKNOWN_FIELD,
    nested_tensor=codes.NESTED_TENSOR,
    union_bytes=True,
)
"""The structures of the API written down, as a dump of them does."""

DXDISPATCH = Dialect(
    counts_required=True,
    null_is_absent=False,
    numbers_for_enums=False,
    truncates_halves=True,
    scalar_strings=False,
    unknown_field=codes.IGNORED_FIELD,
    nested_tensor=codes.NESTED_TENSOR_IGNORED,
    zero_size_is_absent=True,
    newer=frozenset(
        {"DML_OPERATOR_RESAMPLE3", "DML_OPERATOR_FOLD", "DML_OPERATOR_UNFOLD", "DML_PADDING_MODE_WRAP"},
    ),
)
"""DxDispatch at the time of DirectML 1.15: feature level 6.3."""

SERIALIZED = Dialect(
    counts_required=True,
    null_is_absent=False,
    numbers_for_enums=True,
    truncates_halves=False,
    scalar_strings=False,
    unknown_field=codes.UNKNOWN_FIELD,
    nested_tensor=codes.NESTED_TENSOR,
    full_names=True,
)
"""What is decoded from a serialized graph, where enumerators are numbers but operators and data types are names."""


@cache
def operators_by_name() -> Mapping[str, str]:
    """Full operator names by every name that is accepted for them: full, short, and the header's second names."""
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
    """Full operator names by their number in ``DML_OPERATOR_TYPE``."""
    types = catalog.enum_schema("DML_OPERATOR_TYPE").by_full_name
    return MappingProxyType({types[name].value: name for name in catalog.operator_names()})


@cache
def enumerators(enum: str, numbers: bool) -> Mapping[object, str]:
    """Short names by all that is accepted for them.

    Lookups must not come with a bool, which Python takes for a number.
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
    """Data types by all that is accepted for them; UNKNOWN is none."""
    table = enumerators("DML_TENSOR_DATA_TYPE", numbers)
    return MappingProxyType({key: DataType[name] for key, name in table.items() if name != "UNKNOWN"})
