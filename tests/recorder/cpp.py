"""Writes C++ that fills the structures of DirectML.h from descriptors."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType
from dml2onnx.frontends.descriptors import UNION_MEMBERS
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

PROLOGUE = """\
#include <cstdint>
#include <cstring>

template <typename Float, typename Bits>
Float OfBits(Bits bits) {
  static_assert(sizeof(Float) == sizeof(Bits), "a pattern of that many bits");
  Float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
"""


class Function:
    """The statements that build one descriptor."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def descriptor(self, operator: OperatorDesc) -> str:
        """Adds a ``DML_OPERATOR_DESC``; returns its name."""
        members = []
        for field, value in operator.items():
            if value is not None:
                members += [f"{field.name}{member} = {text};" for member, text in self._values(field, value)]
        desc = self._new(f"{operator.schema.struct} %s{{}};")
        self.lines += [f"{desc}.{member}" for member in members]
        return self._new(f"DML_OPERATOR_DESC %s{{{operator.schema.name}, &{desc}}};")

    def tensor(self, desc: TensorDesc) -> str:
        """Adds a ``DML_TENSOR_DESC``; returns its name."""
        sizes = self._array("UINT", [f"{size}u" for size in desc.sizes])
        strides = self._array("UINT", [f"{s}u" for s in desc.strides]) if desc.strides is not None else "nullptr"
        flags = "DML_TENSOR_FLAG_OWNED_BY_DML" if desc.owned_by_dml else "DML_TENSOR_FLAG_NONE"
        members = f"DML_TENSOR_DATA_TYPE_{desc.data_type.name}, {flags}, {len(desc.sizes)}u, {sizes}, {strides}"
        buffer = self._new(f"DML_BUFFER_TENSOR_DESC %s{{{members}, {desc.total_size}ull, {desc.alignment}u}};")
        return self._new(f"DML_TENSOR_DESC %s{{DML_TENSOR_TYPE_BUFFER, &{buffer}}};")

    def _new(self, line: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(line % name)
        return name

    def _array(self, kind: str, values: Sequence[str]) -> str:
        return self._new(f"const {kind} %s[] = {{{', '.join(values)}}};")

    def _values(self, field: FieldSchema, value: object) -> list[tuple[str, str]]:
        """The assignments to a field, as pairs of member and expression."""
        match value:
            case Scalar(data_type, number):
                return [(f".{UNION_MEMBERS[data_type]}", _number(number, data_type))]
            case Size2D(width, height):
                return [(".Width", f"{width}u"), (".Height", f"{height}u")]
        return [("", self._value(field, value))]

    def _value(self, field: FieldSchema, value: object) -> str:
        match value:
            case TensorDesc():
                return f"&{self.tensor(value)}"
            case OperatorDesc():
                return f"&{self.descriptor(value)}"
            case ScaleBias(scale, bias):
                return f"&{self._new(f'DML_SCALE_BIAS %s{{{_single(scale)}, {_single(bias)}}};')}"
            case tuple():
                return self._elements(field, value)
            case bool():
                return "TRUE" if value else "FALSE"
            case str():
                assert field.enum is not None
                return catalog.enum_schema(field.enum).values[value].full_name
            case float():
                return _single(value)
        assert isinstance(value, int)
        return _number(value, DataType.INT32 if field.type is FieldType.INT else DataType.UINT32)

    def _elements(self, field: FieldSchema, values: tuple[object, ...]) -> str:
        if field.type is FieldType.TENSOR_ARRAY:
            tensors = [self.tensor(item) for item in values if isinstance(item, TensorDesc)]
            return self._array("DML_TENSOR_DESC", tensors)
        if field.type is FieldType.OPERATOR_ARRAY:
            names = [self.descriptor(item) for item in values if isinstance(item, OperatorDesc)]
            return self._array("DML_OPERATOR_DESC", names)
        kind = {FieldType.UINT_ARRAY: "UINT", FieldType.INT_ARRAY: "INT", FieldType.FLOAT_ARRAY: "FLOAT"}[field.type]
        data_type = {"UINT": DataType.UINT32, "INT": DataType.INT32, "FLOAT": DataType.FLOAT32}[kind]
        return self._array(kind, [_number(item, data_type) for item in values if isinstance(item, int | float)])


def _single(value: float) -> str:
    return f"OfBits<FLOAT>({int.from_bytes(struct.pack('<f', value), 'little')}u)"


def _number(value: float, data_type: DataType) -> str:
    if data_type is DataType.FLOAT32:
        return _single(value)
    if data_type is DataType.FLOAT16:  # C++ has no such type
        return f"{int.from_bytes(struct.pack('<e', value), 'little')}u"
    if data_type is DataType.FLOAT64:
        bits = int.from_bytes(struct.pack("<d", value), "little")
        return f"OfBits<DOUBLE>(static_cast<std::uint64_t>({bits}ull))"
    assert isinstance(value, int)
    if not data_type.is_signed:
        return f"{value}ull" if data_type is DataType.UINT64 else f"{value}u"
    if value == data_type.limits[0]:  # its magnitude exceeds the range of literals
        return f"static_cast<{data_type.name}>({value + 1}{'ll' if data_type is DataType.INT64 else ''} - 1)"
    return f"{value}ll" if data_type is DataType.INT64 else str(value)
