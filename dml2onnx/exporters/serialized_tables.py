"""Writes the tables of a serialized graph; FlatBuffers need children before the tables that refer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from flatbuffers import Builder
from flatbuffers.builder import BuilderSizeError as TooLargeError

from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.serialized_schema import (
    ACTIVATION,
    ALIGNMENTS,
    ARRAY,
    ATTRIBUTE,
    BYTE_ARRAY_CODE,
    CONSTANT_CODE,
    CONSTANT_NAME,
    CONSTANT_NODE,
    CONSTANT_RAW_DATA,
    ELEMENTS,
    GRAPH,
    MAX_BYTES,
    NAME_CODE,
    NODE,
    OPERATOR_CODE,
    OPERATOR_NODE,
    RAW_DATA_CODE,
    SCALAR,
    SCALAR_BYTES,
    STRUCTS,
    TENSOR,
    AttributeKind,
    attribute_kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.serialized_schema import TableLayout

__all__ = ["GraphWriter", "TooLargeError"]

_DATA_TYPE_PREFIX = "DML_TENSOR_DATA_TYPE_"


class GraphWriter:
    """Builds one file: nodes in order, then the graph. Raises :class:`TooLargeError` above the limit of FlatBuffers."""

    def __init__(self) -> None:
        self._builder = Builder(1 << 12)
        self._nodes: list[int] = []

    def named_constant(self, name: str, file_name: str, output: str) -> None:
        """Adds a constant whose contents are in a file."""
        detail = self._table(CONSTANT_NAME, name=self._string(file_name))
        self._constant(name, NAME_CODE, detail, output)

    def raw_constant(self, name: str, data: npt.NDArray[np.uint8], output: str) -> None:
        """Adds a constant with its contents."""
        if self._builder.Offset() + data.nbytes > MAX_BYTES:
            raise TooLargeError
        detail = self._table(CONSTANT_RAW_DATA, data=self._builder.CreateByteVector(data.tobytes()))
        self._constant(name, RAW_DATA_CODE, detail, output)

    def _constant(self, name: str, code: int, detail: int, output: str) -> None:
        desc = self._table(CONSTANT_NODE, data_type=code, data=detail)
        self._node(name, CONSTANT_CODE, desc, [], [output])

    def operator(self, name: str, operator: OperatorDesc, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Adds an operator; the names are those of all its tensors, empty for absent ones."""
        schema = operator.schema
        sides = [
            self._tables([self._tensor(desc) for item in fields for desc in operator.tensors(item.name)])
            for fields in (schema.input_fields, schema.output_fields)
        ]
        attributes = self._attributes(operator)
        operator_type = self._string(schema.name)
        desc = self._table(OPERATOR_NODE, type=operator_type, inputs=sides[0], outputs=sides[1], attributes=attributes)
        self._node(name, OPERATOR_CODE, desc, inputs, outputs)

    def _node(self, name: str, code: int, desc: int, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        names = self._strings(inputs), self._strings(outputs)
        own_name = self._string(name)
        self._nodes.append(
            self._table(NODE, desc_type=code, desc=desc, name=own_name, inputNames=names[0], outputNames=names[1])
        )

    def finish(self, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
        """Returns the file."""
        names = self._strings(inputs), self._strings(outputs)
        nodes = self._tables(self._nodes)
        root = self._table(GRAPH, nodes=nodes, graphInputNames=names[0], graphOutputNames=names[1])
        self._builder.Finish(root)
        return bytes(self._builder.Output())

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _table(self, layout: TableLayout, **values: int) -> int:
        """A table of codes of unions (``*_type``), one number, and offsets of written parts."""
        builder = self._builder
        builder.StartObject(len(layout.fields))
        for field, value in values.items():
            if field.endswith("_type"):
                builder.PrependUint8Slot(layout.fields[field], value, 0)
            elif field == "totalTensorSizeInBytes":
                builder.PrependUint64Slot(layout.fields[field], value, 0)
            else:
                builder.PrependUOffsetTRelativeSlot(layout.fields[field], value, 0)
        return int(builder.EndObject())

    def _string(self, text: str) -> int:
        return int(self._builder.CreateString(text))

    def _strings(self, names: Iterable[str]) -> int:
        """Names of values; equal names share one string, as in the files of ONNX Runtime."""
        return self._tables([int(self._builder.CreateSharedString(name)) for name in names])

    def _tables(self, offsets: Sequence[int]) -> int:
        """A vector of offsets of tables or strings."""
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _numbers(self, values: Iterable[int | float], dtype: str) -> int:
        content = np.array(list(values), dtype)
        self._builder.StartVector(content.itemsize, content.size, content.itemsize)
        self._place(content.tobytes())
        return int(self._builder.EndVector())

    def _place(self, content: bytes) -> None:
        """Writes bytes into space that is already reserved."""
        builder = self._builder
        builder.head -= len(content)
        builder.Bytes[builder.head : builder.head + len(content)] = content

    def _structure(self, content: bytes, alignment: int) -> int:
        """A structure outside a table, for a union."""
        self._builder.Prep(alignment, len(content))
        self._place(content)
        return int(self._builder.Offset())

    def _tensor(self, desc: TensorDesc) -> int:
        data_type = self._string(_DATA_TYPE_PREFIX + desc.data_type.name)
        values = {"dataType": data_type, "sizes": self._numbers(desc.sizes, "<u4")}
        if desc.strides is not None:
            values["strides"] = self._numbers(desc.strides, "<u4")
        return self._table(TENSOR, **values, totalTensorSizeInBytes=desc.total_bytes)

    def _attributes(self, operator: OperatorDesc) -> int:
        fields = operator.schema.attribute_fields
        return self._tables([self._attribute(operator, item, operator.get(item.name)) for item in fields])

    def _attribute(self, operator: OperatorDesc, item: FieldSchema, value: FieldValue) -> int:
        kind = attribute_kind(operator.schema, item)
        if value is None:
            return self._table(ATTRIBUTE, val_type=kind)
        content = self._value(kind, item, value)
        return self._table(ATTRIBUTE, name=self._string(item.name), val_type=kind, val=content)

    def _value(self, kind: AttributeKind, item: FieldSchema, value: FieldValue) -> int:
        if kind in STRUCTS:
            return self._structure(STRUCTS[kind].pack(*_members(item, value)), ALIGNMENTS[kind])
        if isinstance(value, Scalar):
            offset = self._structure(_scalar_bytes(value), 1)
            return self._table(SCALAR, data_type=BYTE_ARRAY_CODE, data=offset)
        if isinstance(value, OperatorDesc):
            return self._activation(value)
        assert isinstance(value, tuple), item.name
        if kind in ELEMENTS:
            return self._table(ARRAY, data=self._numbers(value, ELEMENTS[kind]))  # type: ignore[arg-type]  # numbers
        activations = [self._activation(each) for each in value if isinstance(each, OperatorDesc)]
        return self._table(ARRAY, data=self._tables(activations))

    def _activation(self, operator: OperatorDesc) -> int:
        attributes = self._attributes(operator)
        return self._table(ACTIVATION, type=self._string(operator.schema.name), attributes=attributes)


def _members(item: FieldSchema, value: FieldValue) -> tuple[int | float, ...]:
    """The members of the structure of a value."""
    if isinstance(value, ScaleBias):
        return value.scale, value.bias
    if isinstance(value, Size2D):
        return value.width, value.height
    if isinstance(value, str):
        assert item.enum is not None
        return (catalog.enum_schema(item.enum).values[value].value,)
    assert isinstance(value, int | float), item.name
    return (value if item.type is FieldType.FLOAT else int(value),)


def _scalar_bytes(scalar: Scalar) -> bytes:
    """The bytes of the union, padded with zeros."""
    dtype = scalar.data_type.dtype.newbyteorder("<")
    return np.array(scalar.value, dtype).tobytes().ljust(SCALAR_BYTES, b"\0")
