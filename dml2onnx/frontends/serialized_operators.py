"""Converts operators of serialized graphs to the JSON from which all descriptors are read.

Tensors are identified by name: an empty name means an absent tensor, and only present tensors have descriptors.
Attributes are identified by position.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, below
from dml2onnx.frontends.descriptors import UNION_MEMBERS
from dml2onnx.frontends.dialects import data_types
from dml2onnx.frontends.findings import quote
from dml2onnx.frontends.flatbuffer import FlatBuffer, Table
from dml2onnx.frontends.flatbuffer_repeats import Element, Pieces, TableCache
from dml2onnx.frontends.members import Json
from dml2onnx.ir.operator import UNREADABLE, FieldValue
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.serialized_schema import (
    ACTIVATION,
    ACTIVATION_ARRAY,
    ALIGNMENTS,
    ARRAY,
    ATTRIBUTE,
    BYTE_ARRAY_CODE,
    ELEMENTS,
    SCALAR,
    SCALAR_BYTES,
    STRUCTS,
    TENSOR,
    AttributeKind,
    attribute_kind,
    may_be_owned,
)

MAX_NESTING = 5
"""The most levels of nested activations that are decoded: enough for the descriptor's reader to reject them."""

_LONGEST_NAME = 200
"""Names of operators and data types are cut to this length, to keep messages and cache keys small."""
_UINTS = "<u4"
_BYTES = struct.Struct(f"<{SCALAR_BYTES}s")
_ARRAYS = (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY)


class Connection(NamedTuple):
    """A present tensor: its field, the name of its value (may be empty), and the index of the name."""

    field: str
    name: str
    position: int


class DecodedOperator(NamedTuple):
    """The fields of an operator as decoded JSON, and the connections of its tensors."""

    fields: Json
    supplied: dict[str, FieldValue]
    """Fields that could not be decoded, each with a problem."""
    inputs: tuple[Connection, ...]
    outputs: tuple[Connection, ...]
    problems: tuple[Diagnostic, ...]
    offsets: dict[str, int]
    """Positions of fields in the file."""


class OperatorDecoder:
    """Decodes the operators of one file; equal tensors and attributes are decoded once."""

    def __init__(self, buffer: FlatBuffer, pieces: Pieces) -> None:
        self.buffer = buffer
        self.tensors = TableCache[Json](buffer, pieces, TENSOR)
        self.attributes = TableCache[object](buffer, pieces, ATTRIBUTE)

    def decode(
        self, schema: OperatorSchema, table: Table, names: tuple[Sequence[str], Sequence[str]], owned: Collection[str]
    ) -> DecodedOperator:
        """Decodes an ``OperatorNodeDesc``.

        ``names`` are the node's input and output names; ``owned`` has the names of all values that DirectML owns.
        """
        decoder = _Decoder(schema, self)
        inputs = decoder.tensors(schema.input_fields, table, "inputs", names[0], owned)
        outputs = decoder.tensors(schema.output_fields, table, "outputs", names[1], ())
        decoder.attributes(table, 0)
        problems = tuple(decoder.problems)
        return DecodedOperator(decoder.raw, decoder.supplied, inputs, outputs, problems, decoder.offsets)


class _Decoder:
    def __init__(self, schema: OperatorSchema, file: OperatorDecoder) -> None:
        self._schema = schema
        self._file = file
        self.raw: Json = {}
        self.supplied: dict[str, FieldValue] = {}
        self.problems: list[Diagnostic] = []
        self.offsets: dict[str, int] = {}

    def _give_up(self, name: str, problem: Diagnostic) -> None:
        self.problems.append(problem)
        self.supplied[name] = UNREADABLE
        self.raw.pop(name, None)

    # --- Tensors ------------------------------------------------------------------------------------------------------

    def tensors(
        self, fields: Sequence[FieldSchema], table: Table, side: str, names: Sequence[str], owned: Collection[str]
    ) -> tuple[Connection, ...]:
        """Pairs fields, names and descriptors of the inputs or outputs.

        If there are more descriptors than names, required tensors without a name take one, too: unread outputs.
        """
        tables = self._file.tensors.elements(table, side, repeat(None))
        connections: list[Connection] = []
        spare = len(tables) - sum(map(bool, names))
        name_index = used = 0
        for item in fields:
            if item.type is FieldType.TENSOR_ARRAY:
                rest = tables[used:]
                described = [name_at(names, name_index + number) for number in range(len(rest))]
                self.raw[item.name] = [
                    self._tensor(element, name in owned and self._may_be_owned(item.name), item.name, number)
                    for number, (element, name) in enumerate(zip(rest, described, strict=True))
                ]
                connections += [
                    Connection(item.name, name, name_index + number) for number, name in enumerate(described)
                ]
                name_index, used = name_index + len(rest), len(tables)
                continue
            name = name_at(names, name_index)
            name_index += 1
            unread = not name and not item.optional and spare > 0
            spare -= unread
            if not name and not unread:
                continue
            if used == len(tables):
                message = f"is connected to {quote(name)}, but has no descriptor"
                self._give_up(item.name, codes.TENSOR_COUNT.of((item.name,), message, "a tensor descriptor"))
                continue
            self.raw[item.name] = self._tensor(tables[used], name in owned and self._may_be_owned(item.name), item.name)
            connections.append(Connection(item.name, name, name_index - 1))
            used += 1
        self._count_tensors(side, len(tables) - used, [name for name in names[name_index:] if name])
        return tuple(connections)

    def _may_be_owned(self, field: str) -> bool:
        """Whether to set the flag: DxDispatch sets it on all tensors that read files, even where DirectML rejects it.

        The file does not have the flag, and ONNX Runtime runs such graphs without it.
        """
        return may_be_owned(self._schema, field)

    def _count_tensors(self, side: str, unused: int, surplus: list[str]) -> None:
        if unused:
            message = f"have {unused} more descriptors than names"
            self.problems.append(codes.TENSOR_COUNT.of((side,), message, "a name for each descriptor"))
        if surplus:
            message = f"have no descriptor for {quote(surplus[0])}"
            self.problems.append(codes.TENSOR_COUNT.of((side,), message, "no further name", quote(surplus[0])))

    def _tensor(self, element: Element[Json], owned: bool, field: str, index: int | None = None) -> Json:
        offset, raw = element
        self.offsets.setdefault(field, offset)
        if isinstance(raw, Table):
            left = self._file.buffer.left
            raw, is_sized = _read_tensor(raw)
            if is_sized:
                self._file.tensors.keep(offset, None, raw, left)
            else:
                path = (field, "TotalTensorSizeInBytes") if index is None else (field, index, "TotalTensorSizeInBytes")
                self.problems.append(codes.FIELD_RANGE.of(path, "is 0", "the bytes of the tensor", "0"))
        return {**raw, "Flags": "OWNED_BY_DML"} if owned else raw

    # --- Attributes ---------------------------------------------------------------------------------------------------

    def attributes(self, table: Table, depth: int) -> None:
        """Decodes all attributes of an operator, or of an activation at a nesting depth."""
        fields = self._schema.attribute_fields
        repeats = self._file.attributes
        keys = _attribute_keys(self._schema, depth)
        elements = repeats.elements(table, "attributes", chain(keys, repeat(None)))
        if len(elements) != len(fields):
            message = f"of {self._schema.short_name} are {len(fields)}; the file has {len(elements)}"
            expected = f"{len(fields)} attributes"
            problem = codes.ATTRIBUTE_COUNT.of(("attributes",), message, expected, str(len(elements)))
            self.problems.append(problem)
            for item in fields[len(elements) :]:
                self.supplied[item.name] = UNREADABLE
        for item, key, (offset, found) in zip(fields, keys, elements, strict=False):
            self.offsets[item.name] = offset
            if not isinstance(found, Table):
                self.raw[item.name] = found
                continue
            left = self._file.buffer.left
            self._attribute(item, found, depth)
            raw = self.raw.get(item.name)
            # scalars and empty arrays depend on other attributes
            if raw is not None and raw != [] and item.type is not FieldType.SCALAR_UNION:
                repeats.keep(offset, key, raw, left)

    def _attribute(self, item: FieldSchema, table: Table, depth: int) -> None:
        name = table.string("name")
        if name and name != item.name:
            message = f"is stored with the name {quote(name)}"
            self._give_up(item.name, codes.ATTRIBUTE_NAME.of((item.name,), message, item.name, quote(name)))
            return
        code, offset = table.union("val")
        if offset is None:
            if item.type in _ARRAYS and self.raw.get(item.count or "") == 0:
                self.raw[item.name] = []  # the API has a null pointer for an empty array
            return
        kind = attribute_kind(self._schema, item)
        if code != kind:
            found = AttributeKind(code).type_name if code in AttributeKind.__members__.values() else f"code {code}"
            self._wrong_kind(item, kind.type_name, found)
        elif kind in STRUCTS:
            numbers = table.structure("val", offset, STRUCTS[kind], ALIGNMENTS[kind])
            self.raw[item.name] = _of_structure(kind, numbers)
        elif kind in ELEMENTS:
            elements = table.member("val", offset, ARRAY).numbers("data", ELEMENTS[kind])
            self.raw[item.name] = [] if elements is None else [_number(value) for value in elements]
        elif kind is AttributeKind.SCALAR_UNION:
            self._scalar(item, table.member("val", offset, SCALAR))
        elif kind is AttributeKind.ACTIVATION:
            self._activation(item, table.member("val", offset, ACTIVATION), depth)
        else:
            operators = table.member("val", offset, ACTIVATION_ARRAY).tables("data", ACTIVATION)
            decoded = [self._nested(item, index, operator, depth) for index, operator in enumerate(operators)]
            if item.name not in self.supplied:
                self.raw[item.name] = decoded

    def _wrong_kind(self, item: FieldSchema, expected: str, found: str) -> None:
        message = f"is stored as {found}, not as {expected}"
        self._give_up(item.name, codes.ATTRIBUTE_KIND.of((item.name,), message, expected, found))

    def _scalar(self, item: FieldSchema, table: Table) -> None:
        """Reads the data type's member from the bytes of a ``DML_SCALAR_UNION``."""
        code, offset = table.union("data")
        if code != BYTE_ARRAY_CODE or offset is None:
            self._wrong_kind(item, "ByteArray", "nothing" if offset is None else f"code {code}")
            return
        (content,) = table.structure("data", offset, _BYTES, 1)
        number = self.raw.get(item.scalar_type or "")
        data_type = data_types(True).get(number) if type(number) is int else None
        # an invalid data type is reported elsewhere
        self.raw[item.name] = {} if data_type is None else _member(data_type, content)  # type: ignore[arg-type]  # bytes

    def _activation(self, item: FieldSchema, table: Table, depth: int) -> None:
        decoded = self._nested(item, None, table, depth)
        if item.name not in self.supplied:
            self.raw[item.name] = decoded

    def _nested(self, item: FieldSchema, index: int | None, table: Table, depth: int) -> Json:
        """Decodes an activation; problems are those of the whole field."""
        name = table.string("type")
        raw: Json = {"Desc": {}}
        if name is not None:
            raw["type"] = name[:_LONGEST_NAME]
        full_name = name if name in catalog.operator_names() else None
        if full_name is None or depth >= MAX_NESTING:
            return raw
        decoder = _Decoder(catalog.operator(full_name), self._file)
        decoder.attributes(table, depth + 1)
        raw["Desc"] = decoder.raw
        for problem in decoder.problems:
            path = (item.name, "Desc") if index is None else (item.name, index, "Desc")
            self._give_up(item.name, below(problem, *path))
        return raw


def name_at(names: Sequence[str], index: int) -> str:
    """Returns a name, or an empty one beyond the end."""
    return names[index] if index < len(names) else ""


@lru_cache(maxsize=1 << 10)
def _attribute_keys(schema: OperatorSchema, depth: int) -> tuple[Hashable, ...]:
    """The contexts of attributes, on which their values depend besides their tables."""
    return tuple([(schema.name, item.name, depth) for item in schema.attribute_fields])


def _read_tensor(table: Table) -> tuple[Json, bool]:
    """Decodes a tensor without its flags, and returns whether its size is not 0."""
    raw: Json = {}
    data_type = table.string("dataType")
    if data_type is not None:
        raw["DataType"] = data_type[:_LONGEST_NAME]
    sizes, strides = table.numbers("sizes", _UINTS), table.numbers("strides", _UINTS)
    raw["Sizes"] = [] if sizes is None else sizes
    if strides is not None:
        raw["Strides"] = strides
    total = table.uint64("totalTensorSizeInBytes")
    if total and total != _smallest_total(raw):
        raw["TotalTensorSizeInBytes"] = total
    return raw, total > 0


def _smallest_total(raw: Json) -> int | None:
    """Returns the smallest valid TotalTensorSizeInBytes, which need not be stored."""
    data_type = data_types(False).get(raw.get("DataType"))
    sizes, strides = raw["Sizes"], raw.get("Strides") or None
    assert isinstance(sizes, list)
    assert strides is None or isinstance(strides, list)
    if data_type is None or not sizes or (strides is not None and len(strides) != len(sizes)):
        return None
    return _minimum(data_type, tuple(sizes), None if strides is None else tuple(strides))


@lru_cache(maxsize=1 << 12)
def _minimum(data_type: DataType, sizes: tuple[int, ...], strides: tuple[int, ...] | None) -> int:
    return TensorDesc(data_type, sizes, strides).minimum_bytes


def _number(value: int | float) -> int | float | str:
    """Converts a number to decoded JSON, where infinities and NaN are strings."""
    if isinstance(value, int) or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _of_structure(kind: AttributeKind, numbers: tuple[int | float, ...]) -> object:
    if kind is AttributeKind.SCALE_BIAS:
        return {"Scale": _number(numbers[0]), "Bias": _number(numbers[1])}
    if kind is AttributeKind.SIZE_2D:
        return {"Width": numbers[0], "Height": numbers[1]}
    return _number(numbers[0])


def _member(data_type: DataType, content: bytes) -> Json:
    if data_type.is_packed_nibbles:
        return {}
    dtype = "<u2" if data_type is DataType.FLOAT16 else data_type.dtype.newbyteorder("<")
    value: int | float = np.frombuffer(content, dtype, 1).item()
    return {UNION_MEMBERS[data_type]: _number(value)}
