"""Compares descriptors in memory with the declarations of DirectML.h."""

from __future__ import annotations

import ctypes
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog
from dml2onnx.directml.structures import StructureMemory, _places, operator_type, write_operator
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases import valid
from dml2onnx.test_cases.descriptors import plain, sized

NUMBERS = {
    "UINT": ctypes.c_uint32,
    "INT": ctypes.c_int32,
    "BOOL": ctypes.c_int32,
    "FLOAT": ctypes.c_float,
    "float": ctypes.c_float,
    "UINT64": ctypes.c_uint64,
}
ADDRESS = 0x7F0000000000
"""The assumed address of the memory."""
VALID = valid.descriptors()


class Header:
    """The structures of DirectML.h in ctypes."""

    def __init__(self, path: Path) -> None:
        self.api = json.loads(path.read_text(encoding="utf-8"))

    def fields(self, struct: str) -> list[dict[str, Any]]:
        declared: list[dict[str, Any]] = self.api["structs"][struct]["fields"]
        return declared

    @cache  # noqa: B019  # one header for all tests
    def struct(self, name: str) -> type[ctypes.Structure]:
        members = [(field["name"], self.type(field["type"])) for field in self.fields(name)]
        return type(name, (ctypes.Structure,), {"_fields_": members})

    def type(self, name: str) -> Any:
        if name.endswith("*") or name == "DML_SCALAR_UNION":
            return ctypes.c_uint64
        if name in self.api["structs"]:
            return self.struct(name)
        return ctypes.c_uint32 if name in self.api["enums"] else NUMBERS[name]

    def struct_of(self, op: OperatorDesc) -> str:
        """The name of an operator's structure, which ends in one of two ways."""
        name = f"DML_{op.schema.name.removeprefix('DML_OPERATOR_')}"
        return next(each for each in (f"{name}_OPERATOR_DESC", f"{name}_DESC") if each in self.api["structs"])


class Reader:
    """Follows the pointers of a loaded memory, according to the header."""

    def __init__(self, header: Header, memory: StructureMemory) -> None:
        self.header = header
        self.bytes = bytearray(memory.bytes)
        for place in memory.pointers:
            value = int.from_bytes(self.bytes[place : place + 8], "little") + ADDRESS
            self.bytes[place : place + 8] = value.to_bytes(8, "little")

    def at(self, kind: Any, address: int) -> Any:
        return kind.from_buffer(self.bytes, address - ADDRESS)

    def array(self, kind: Any, address: int, count: int) -> list[Any]:
        return list((kind * count).from_buffer(self.bytes, address - ADDRESS)) if count else []

    def tensor(self, address: int) -> TensorDesc:
        outer = self.at(self.header.struct("DML_TENSOR_DESC"), address)
        assert outer.Type == self.header.api["enums"]["DML_TENSOR_TYPE"]["values"]["DML_TENSOR_TYPE_BUFFER"]["value"]
        inner = self.at(self.header.struct("DML_BUFFER_TENSOR_DESC"), outer.Desc)
        types = self.header.api["enums"]["DML_TENSOR_DATA_TYPE"]["values"]
        name = next(key for key, item in types.items() if item["value"] == inner.DataType)
        return TensorDesc(
            DataType[name.removeprefix("DML_TENSOR_DATA_TYPE_")],
            tuple(self.array(ctypes.c_uint32, inner.Sizes, inner.DimensionCount)),
            tuple(self.array(ctypes.c_uint32, inner.Strides, inner.DimensionCount)) if inner.Strides else None,
            bool(inner.Flags & 1),
            inner.TotalTensorSizeInBytes,
            inner.GuaranteedBaseOffsetAlignment,
        )

    def operator(self, address: int) -> tuple[int, int]:
        outer = self.at(self.header.struct("DML_OPERATOR_DESC"), address)
        return outer.Type, outer.Desc


def same_tensor(got: TensorDesc, want: TensorDesc) -> None:
    explicit = TensorDesc(want.data_type, want.sizes, want.strides, want.owned_by_dml, want.total_bytes, want.alignment)
    assert got == explicit
    assert got.alignment == want.alignment


def compare(reader: Reader, op: OperatorDesc, kind: int, address: int) -> None:
    """Compares every member of an operator's structure, and the structures that it points to."""
    header = reader.header
    assert kind == header.api["enums"]["DML_OPERATOR_TYPE"]["values"][op.schema.name]["value"]
    name = header.struct_of(op)
    found = reader.at(header.struct(name), address)
    declared = {field["name"]: field for field in header.fields(name)}
    assert list(declared) == [field.name for field, _ in op.items()]
    for field, want in op.items():
        compare_member(reader, op, declared[field.name], getattr(found, field.name), want)


def compare_member(reader: Reader, op: OperatorDesc, declared: dict[str, Any], got: Any, want: Any) -> None:
    kind = declared["type"]
    match want:
        case None:
            assert got == 0
        case TensorDesc():
            same_tensor(reader.tensor(got), want)
        case OperatorDesc():
            compare(reader, want, *reader.operator(got))
        case ScaleBias():
            assert reader.array(ctypes.c_float, got, 2) == [want.scale, want.bias]
        case Size2D():
            assert (got.Width, got.Height) == (want.width, want.height)
        case Scalar():
            assert got & ((1 << want.data_type.bits) - 1) == bits(want)
        case str():
            assert got == enumerator(reader.header, kind, want)
        case tuple() if kind == "const DML_TENSOR_DESC*":
            for i, tensor in enumerate(want):
                same_tensor(reader.tensor(got + 16 * i), tensor)
        case tuple() if kind == "const DML_OPERATOR_DESC*":
            for i, nested in enumerate(want):
                compare(reader, nested, *reader.operator(got + 16 * i))
        case tuple():
            assert op.uint(declared["count"]) == len(want)
            assert reader.array(NUMBERS[kind.removeprefix("const ").rstrip("*")], got, len(want)) == list(want)
        case _:
            assert got == want


def enumerator(header: Header, enum: str, short: str) -> int:
    values = header.api["enums"][enum]["values"]
    value: int = next(item["value"] for key, item in values.items() if key == f"{enum}_{short}")
    return value


def bits(scalar: Scalar) -> int:
    numpy_scalar = scalar.data_type.dtype.type(scalar.value)
    return int.from_bytes(numpy_scalar.tobytes(), "little")


@pytest.fixture(scope="session")
def header(shared: Path) -> Header:
    return Header(shared / "directml" / "api.json")


@pytest.mark.parametrize("name", sorted(VALID))
def test_structures_match_the_header(name: str, header: Header) -> None:
    for op in VALID[name]:
        memory = StructureMemory()
        place = write_operator(memory, op)
        compare(Reader(header, memory), op, operator_type(op.schema), place + ADDRESS)
        assert _places(op.schema)[1] == ctypes.sizeof(header.struct(header.struct_of(op)))


def test_every_operator_has_a_descriptor() -> None:
    assert {catalog.operator(name).name for name in VALID} == set(catalog.operator_names())


def test_bytes_of_a_small_operator() -> None:
    """Independent of the header."""
    strided = TensorDesc(DataType.FLOAT16, (2, 3), (4, 1), owned_by_dml=True, total_size=16, alignment=32)
    op = plain("ELEMENT_WISE_CLIP", InputTensor=strided, OutputTensor=sized(2, 3, type="FLOAT16"), Min=-1.0, Max=0.5)
    memory = StructureMemory()
    place = write_operator(memory, op)
    raw = bytes(memory.bytes)

    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(raw[at : at + size], "little")

    assert place == 0
    tensor, output, scale_bias = (number(8 * i, 8) for i in range(3))
    assert raw[24:32] == b"\x00\x00\x80\xbf\x00\x00\x00\x3f"
    assert scale_bias == 0
    assert number(tensor) == 1
    buffer = number(tensor + 8, 8)
    assert [number(buffer), number(buffer + 4), number(buffer + 8)] == [2, 1, 2]
    sizes, strides = number(buffer + 16, 8), number(buffer + 24, 8)
    assert [number(sizes), number(sizes + 4)] == [2, 3]
    assert [number(strides), number(strides + 4)] == [4, 1]
    assert (number(buffer + 32, 8), number(buffer + 40)) == (16, 32)
    packed = number(output + 8, 8)
    assert number(packed + 24, 8) == 0
    assert set(memory.pointers) == {0, 8, tensor + 8, output + 8, buffer + 16, buffer + 24, packed + 16}


def test_a_negative_number_and_a_scalar() -> None:
    x = sized(1, 1, 1, 4, type="INT8")
    fill = plain("FILL_VALUE_CONSTANT", OutputTensor=x, ValueDataType="INT8", Value=Scalar(DataType.INT8, -3))
    memory = StructureMemory()
    place = write_operator(memory, fill)
    assert bytes(memory.bytes[place + 16 : place + 24]) == b"\xfd" + bytes(7)


def test_unreadable_fields_are_not_written() -> None:
    x = sized(1, 1, 1, 4)
    op = plain("ACTIVATION_ELU", InputTensor=x, OutputTensor=x)
    broken = OperatorDesc(op.schema, (*op.values[:-1], UNREADABLE))
    with pytest.raises(ValueError, match="Alpha"):
        write_operator(StructureMemory(), broken)
