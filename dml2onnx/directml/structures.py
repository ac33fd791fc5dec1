"""Writes operator descriptors in the memory layout of DirectML.h on 64-bit Windows.

The catalogue defines members, their order and their types. Pointers are offsets in the same memory; the loader adds its
address to each (:attr:`StructureMemory.pointers`).

https://learn.microsoft.com/windows/win32/api/directml/
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema, enum_schema
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import TensorDesc

_UINT_MASK = 0xFFFFFFFF
_UINT64_MASK = 0xFFFFFFFFFFFFFFFF
_POINTER = (8, 8)
_NUMBER = (4, 4)
_LAYOUTS = {
    FieldType.UINT: _NUMBER,
    FieldType.INT: _NUMBER,
    FieldType.FLOAT: _NUMBER,
    FieldType.BOOL: _NUMBER,
    FieldType.ENUM: _NUMBER,
    FieldType.SCALAR_UNION: (8, 8),
    FieldType.SIZE_2D: (8, 4),
}
"""Size and alignment of a member in bytes; other members are pointers."""
_BUFFER_TENSOR = 1
"""``DML_TENSOR_TYPE_BUFFER``."""
_TENSOR_DESC_BYTES = 16
_BUFFER_TENSOR_DESC_BYTES = 48
_OPERATOR_DESC_BYTES = 16


class StructureMemory:
    """Structures with pointers to each other."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.pointers: list[int] = []
        """Offsets of non-null pointers."""

    def reserve(self, size: int) -> int:
        """Appends ``size`` zeros, and returns their offset, a multiple of 8."""
        place = (len(self.bytes) + 7) // 8 * 8
        self.bytes.extend(bytes(place + size - len(self.bytes)))
        return place

    def put(self, place: int, layout: str, *values: float) -> None:
        """Writes numbers in ``struct``'s ``layout``, little-endian."""
        struct.pack_into("<" + layout, self.bytes, place, *values)

    def point(self, place: int, target: int) -> None:
        """Writes a pointer at ``place`` to ``target``."""
        self.put(place, "Q", target)
        self.pointers.append(place)

    def array(self, layout: str, values: Sequence[float]) -> int:
        """Appends an array, and returns its offset, which is unique even for an empty array."""
        place = self.reserve(max(len(values), 1) * 4)
        self.put(place, f"{len(values)}{layout}", *values)
        return place

    def data(self, content: bytes) -> int:
        """Appends bytes, and returns their offset."""
        place = self.reserve(len(content))
        self.bytes[place : place + len(content)] = content
        return place


def operator_type(schema: OperatorSchema) -> int:
    """The value of ``DML_OPERATOR_TYPE``."""
    return enum_schema("DML_OPERATOR_TYPE").by_full_name[schema.name].value


def write_operator(memory: StructureMemory, op: OperatorDesc) -> int:
    """Appends an operator's structure, such as ``DML_PADDING_OPERATOR_DESC``, and returns its offset.

    Raises ``ValueError`` for a field that could not be read.
    """
    places, size = _places(op.schema)
    base = memory.reserve(size)
    for (field, value), place in zip(op.items(), places, strict=True):
        if value is not None:
            _write_field(memory, base + place, field, value)
    return base


def _places(schema: OperatorSchema) -> tuple[list[int], int]:
    """The offset of each member, and the total size."""
    places = []
    end = 0
    for field in schema.fields:
        size, alignment = _LAYOUTS.get(field.type, _POINTER)
        end = (end + alignment - 1) // alignment * alignment
        places.append(end)
        end += size
    return places, (end + 7) // 8 * 8


def _write_field(memory: StructureMemory, place: int, field: FieldSchema, value: FieldValue) -> None:
    match value:
        case TensorDesc():
            memory.point(place, _write_tensors(memory, (value,)))
        case OperatorDesc():
            memory.point(place, _write_operators(memory, (value,)))
        case ScaleBias():
            memory.point(place, memory.array("f", (value.scale, value.bias)))
        case Size2D():
            memory.put(place, "II", value.width & _UINT_MASK, value.height & _UINT_MASK)
        case Scalar():
            memory.put(place, "Q", _scalar_bits(value))
        case tuple():
            memory.point(place, _write_array(memory, field, value))
        case str():
            assert field.enum is not None, field.name
            memory.put(place, "I", enum_schema(field.enum).values[value].value)
        case float():
            memory.put(place, "f", value)
        case int():
            memory.put(place, "I", value & _UINT_MASK)
        case _:
            raise ValueError(f"{field.name} could not be read")


def _write_array(memory: StructureMemory, field: FieldSchema, values: tuple[object, ...]) -> int:
    match field.type:
        case FieldType.TENSOR_ARRAY:
            return _write_tensors(memory, values)  # type: ignore[arg-type]  # the schema defines their types
        case FieldType.OPERATOR_ARRAY:
            return _write_operators(memory, values)  # type: ignore[arg-type]  # as above
        case FieldType.FLOAT_ARRAY:
            return memory.array("f", values)  # type: ignore[arg-type]  # as above
        case _:
            return memory.array("I", [value & _UINT_MASK for value in values])  # type: ignore[operator]  # as above


def _write_tensors(memory: StructureMemory, tensors: Sequence[TensorDesc]) -> int:
    """An array of ``DML_TENSOR_DESC``."""
    base = memory.reserve(_TENSOR_DESC_BYTES * max(len(tensors), 1))
    for i, tensor in enumerate(tensors):
        place = base + _TENSOR_DESC_BYTES * i
        memory.put(place, "I", _BUFFER_TENSOR)
        memory.point(place + 8, _write_buffer_tensor(memory, tensor))
    return base


def _write_buffer_tensor(memory: StructureMemory, tensor: TensorDesc) -> int:
    """``DML_BUFFER_TENSOR_DESC``; its one flag is ``DML_TENSOR_FLAG_OWNED_BY_DML``."""
    base = memory.reserve(_BUFFER_TENSOR_DESC_BYTES)
    data_type = enum_schema("DML_TENSOR_DATA_TYPE").values[tensor.data_type.name].value
    memory.put(base, "III", data_type, int(tensor.owned_by_dml), tensor.rank)
    memory.point(base + 16, memory.array("I", [size & _UINT_MASK for size in tensor.sizes]))
    if tensor.strides is not None:
        memory.point(base + 24, memory.array("I", [stride & _UINT_MASK for stride in tensor.strides]))
    memory.put(base + 32, "QI", tensor.total_bytes & _UINT64_MASK, tensor.alignment & _UINT_MASK)
    return base


def _write_operators(memory: StructureMemory, operators: Sequence[OperatorDesc]) -> int:
    """An array of ``DML_OPERATOR_DESC``."""
    base = memory.reserve(_OPERATOR_DESC_BYTES * max(len(operators), 1))
    for i, op in enumerate(operators):
        place = base + _OPERATOR_DESC_BYTES * i
        memory.put(place, "I", operator_type(op.schema))
        memory.point(place + 8, write_operator(memory, op))
    return base


def _scalar_bits(scalar: Scalar) -> int:
    """The eight bytes of ``DML_SCALAR_UNION``, zero-padded."""
    if scalar.data_type.is_float:
        return int.from_bytes(np.array(scalar.value, scalar.data_type.dtype).tobytes(), "little")
    width = max(scalar.data_type.bits, 8)
    return int(scalar.value) & ((1 << width) - 1)
