"""C++ literals of numbers, enumerators and structures of DirectML."""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType
from dml2onnx.codes.exporting import NOT_EXPRESSIBLE
from dml2onnx.diagnostics import DmlError
from dml2onnx.frontends.descriptors import UNION_MEMBERS
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.text import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ARRAYS = {FieldType.UINT_ARRAY: "UINT", FieldType.INT_ARRAY: "INT", FieldType.FLOAT_ARRAY: "FLOAT"}


def single(value: float) -> str:
    """A FLOAT32."""
    if math.isnan(value):
        if struct.pack("<d", value) != struct.pack("<d", math.nan):
            message = f"a NaN with the bits {struct.pack('>d', value).hex()} has no literal"
            raise DmlError(NOT_EXPRESSIBLE.at(message, expected="the default NaN"))
        return "std::numeric_limits<float>::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<float>::infinity()"
    return f"{number(value)}f"


def array(values: Iterable[int]) -> str:
    """Whole numbers in braces."""
    return f"{{{', '.join(map(str, values))}}}"


def enumerator(desc: OperatorDesc, field: str) -> str:
    """The full name of a field's enumerator."""
    enum = desc.schema.fields_by_name[field].enum
    assert enum is not None
    return catalog.enum_schema(enum).values[desc.enum(field)].full_name


def tensor_desc(desc: TensorDesc) -> str:
    """A ``dml::TensorDesc``; that of a packed tensor has fewer arguments."""
    kind = f"DML_TENSOR_DATA_TYPE_{desc.data_type.name}"
    flags = "DML_TENSOR_FLAG_OWNED_BY_DML" if desc.owned_by_dml else "DML_TENSOR_FLAG_NONE"
    sizes = f"dml::TensorDimensions{array(desc.sizes)}"
    if desc.strides is None and not desc.total_size and not desc.alignment:
        return (
            f"dml::TensorDesc({kind}, {flags}, {sizes})" if desc.owned_by_dml else f"dml::TensorDesc({kind}, {sizes})"
        )
    strides = "dml::NullOpt" if desc.strides is None else f"dml::TensorStrides{array(desc.strides)}"
    return f"dml::TensorDesc({kind}, {flags}, {sizes}, {strides}, {desc.total_bytes}, {desc.alignment})"


class StructureStatements:
    """The statements that fill the structure of an operator, for a block of their own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._taken: set[str] = set()

    def fill(self, name: str, desc: OperatorDesc) -> None:
        """Declares a variable and assigns the fields that are not ``None``."""
        members = []
        for field, value in desc.items():
            if value is not None:
                members += [f"{name}.{field.name}{member} = {text};" for member, text in self._values(field, value)]
        self.lines.append(f"{desc.schema.struct} {name} = {{}};")
        self.lines += members

    def tensor(self, name: str, desc: TensorDesc) -> str:
        """Declares a ``dml::TensorDesc``; returns the name of the variable."""
        variable = self._name(name)
        self.lines.append(f"dml::TensorDesc {variable} = {tensor_desc(desc)};")
        return variable

    def _name(self, base: str) -> str:
        """An unused name in camel case."""
        base = base[:1].lower() + base[1:]
        name, index = base, 1
        while name in self._taken:
            index += 1
            name = f"{base}{index}"
        self._taken.add(name)
        return name

    def _values(self, field: FieldSchema, value: object) -> list[tuple[str, str]]:
        """The assignments to a field, as pairs of member and expression."""
        match value:
            case Scalar(data_type, number_):
                return [(f".{UNION_MEMBERS[data_type]}", scalar(number_, data_type))]
            case Size2D(width, height):
                return [(".Width", str(width)), (".Height", str(height))]
        return [("", self._value(field, value))]

    def _value(self, field: FieldSchema, value: object) -> str:
        match value:
            case TensorDesc():
                return f"{self.tensor(field.name, value)}.AsPtr<DML_TENSOR_DESC>()"
            case OperatorDesc():
                return f"&{self._nested(field.name, value)}"
            case ScaleBias(scale, bias):
                name = self._name(field.name)
                self.lines.append(f"const DML_SCALE_BIAS {name} = {{{single(scale)}, {single(bias)}}};")
                return f"&{name}"
            case tuple():
                return self._array(field, value)
            case bool():
                return "TRUE" if value else "FALSE"
            case str():
                assert field.enum is not None
                return catalog.enum_schema(field.enum).values[value].full_name
            case float():
                return single(value)
        return f"{value}u" if field.type is FieldType.UINT else str(value)

    def _nested(self, name: str, desc: OperatorDesc) -> str:
        fields = self._name(f"{name}Fields")
        self.fill(fields, desc)
        variable = self._name(name)
        self.lines.append(f"const DML_OPERATOR_DESC {variable} = {{{desc.schema.name}, &{fields}}};")
        return variable

    def _array(self, field: FieldSchema, values: Sequence[object]) -> str:
        if field.type is FieldType.TENSOR_ARRAY:
            names = [self.tensor(field.name.removesuffix("s"), item) for item in values if isinstance(item, TensorDesc)]
            texts, kind = [f"*{name}.AsPtr<DML_TENSOR_DESC>()" for name in names], "const DML_TENSOR_DESC"
        elif field.type is FieldType.OPERATOR_ARRAY:
            texts = [
                self._nested(field.name.removesuffix("s"), item) for item in values if isinstance(item, OperatorDesc)
            ]
            kind = "const DML_OPERATOR_DESC"
        elif field.type is FieldType.FLOAT_ARRAY:
            texts, kind = [single(item) for item in values if isinstance(item, float)], "const FLOAT"
        else:
            texts, kind = list(map(str, values)), f"const {_ARRAYS[field.type]}"
        name = self._name(field.name)
        self.lines.append(f"{kind} {name}[] = {{{', '.join(texts)}}};")
        return name


def scalar(value: float, data_type: DataType) -> str:
    """The literal of a number for the member of ``DML_SCALAR_UNION`` with that type."""
    if data_type is DataType.FLOAT32:
        return single(value)
    if data_type is DataType.FLOAT16:  # has no type in C++
        return f"{int.from_bytes(struct.pack('<e', value), 'little'):#06x}"
    if data_type is DataType.FLOAT64:
        return single(value).replace("<float>", "<double>") if not math.isfinite(value) else repr(value)
    assert isinstance(value, int)
    if data_type is DataType.INT64:
        return f"{value + 1}ll - 1" if value == data_type.limits[0] else f"{value}ll"
    if data_type is DataType.INT32 and value == data_type.limits[0]:
        return f"{value + 1} - 1"
    return (
        f"{value}ull" if data_type is DataType.UINT64 else f"{value}u" if data_type is DataType.UINT32 else str(value)
    )


_PLACES = r"(?=\.(?!Impl|AsPtr|Compile)[A-Z]\w+\()"
BREAKS = (re.compile(rf"(?<=,) (?![^{{]*\}})|{_PLACES}"), re.compile(rf"(?<=,) |{_PLACES}"))
"""Line breaks after commas outside braces (first choice) or anywhere, and before the methods of a builder."""
_WIDTH = 100


def wrapped(statement: str, indent: str) -> list[str]:
    """The lines of a statement."""
    lines = _split(statement, indent, BREAKS[0])
    return lines if max(map(len, lines)) <= _WIDTH else _split(statement, indent, BREAKS[1])


def _split(statement: str, indent: str, breaks: re.Pattern[str]) -> list[str]:
    lines, line = [], indent
    for position, part in enumerate(breaks.split(statement)):
        joined = f"{line}{part}" if part.startswith(".") or not position else f"{line} {part}"
        if position and len(joined) > _WIDTH:
            lines.append(line)
            line = f"{indent}    {part}"
        else:
            line = joined
    return [*lines, line]
