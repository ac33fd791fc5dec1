"""The tables of a serialized DirectML graph (``Partition_0.bin``), which ONNX Runtime writes and DxDispatch runs.

A FlatBuffers file of the root table ``dml.ir.DmlGraphDesc``, without file identifier. Its schema, in FlatBuffers' IDL:

.. code-block:: text

    table Activation          { type: string; attributes: [AttributeDesc]; }
    table ActivationArray     { data: [Activation]; }
    table UIntArray           { data: [uint]; }      // IntArray: [int], FloatArray: [float]
    struct UInt32             { data: uint; }        // UInt64, Int32, Float32, Bool, ...: likewise
    struct ScaleBias          { scale: float; bias: float; }
    struct Size2D             { width: uint; height: uint; }
    struct ByteArray          { data: [ubyte:8]; }
    table ScalarUnionData     { data: ScalarVariant; }
    table AttributeDesc       { name: string; val: AttributeFieldVariant; }
    table ConstantRawData     { data: [ubyte]; }
    table ConstantName        { name: string; }
    table ConstantNodeDesc    { data: ConstantNodeDescDetail; }
    table DmlBufferTensorDesc { dataType: string; sizes: [uint]; strides: [uint]; totalTensorSizeInBytes: ulong; }
    table OperatorNodeDesc    { type: string; inputs: [DmlBufferTensorDesc]; outputs: [DmlBufferTensorDesc];
                                attributes: [AttributeDesc]; }
    table DmlGraphNode        { desc: NodeDesc; name: string; inputNames: [string]; outputNames: [string]; }
    table DmlGraphDesc        { nodes: [DmlGraphNode]; graphInputNames: [string]; graphOutputNames: [string]; }

Read and written by the names below. Code that was generated from the schema: ``DmlGraphDesc_generated.h`` and
``OperatorFieldTypes_generated.h`` in https://github.com/microsoft/DirectML/tree/master/DxDispatch/src/dxdispatch.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.catalog import FieldType, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.catalog import FieldSchema, OperatorSchema

MAX_BYTES = (1 << 31) - 1
"""FlatBuffers' own limit for one file: offsets to vtables are signed 32-bit numbers."""

_FIRST_SLOT = 4
"""Bytes of a vtable before its entries: its own size and that of its table."""


@dataclass(frozen=True, slots=True, eq=False)
class TableLayout:
    """A table: the name of its type, and the index of each of its fields; a union has two, its type first."""

    name: str
    fields: Mapping[str, int]

    def slot(self, field: str) -> int:
        """Where the vtable has the place of a field."""
        return _FIRST_SLOT + 2 * self.fields[field]


def _layout(name: str, *fields: str) -> TableLayout:
    return TableLayout(name, MappingProxyType({field: index for index, field in enumerate(fields)}))


GRAPH = _layout("DmlGraphDesc", "nodes", "graphInputNames", "graphOutputNames")
NODE = _layout("DmlGraphNode", "desc_type", "desc", "name", "inputNames", "outputNames")
OPERATOR_NODE = _layout("OperatorNodeDesc", "type", "inputs", "outputs", "attributes")
CONSTANT_NODE = _layout("ConstantNodeDesc", "data_type", "data")
CONSTANT_NAME = _layout("ConstantName", "name")
CONSTANT_RAW_DATA = _layout("ConstantRawData", "data")
TENSOR = _layout("DmlBufferTensorDesc", "dataType", "sizes", "strides", "totalTensorSizeInBytes")
ATTRIBUTE = _layout("AttributeDesc", "name", "val_type", "val")
ACTIVATION = _layout("Activation", "type", "attributes")
ARRAY = _layout("an array", "data")
"""UIntArray, IntArray and FloatArray."""
ACTIVATION_ARRAY = _layout("an array", "data")
SCALAR = _layout("ScalarUnionData", "data_type", "data")

OPERATOR_CODE, CONSTANT_CODE = 1, 2
"""``NodeDesc``"""
NAME_CODE, RAW_DATA_CODE = 1, 2
"""``ConstantNodeDescDetail``"""
BYTE_ARRAY_CODE = 1
"""``ScalarVariant``: the bytes of a ``DML_SCALAR_UNION``; no other member is ever written or read."""
SCALAR_BYTES = 8


class AttributeKind(enum.IntEnum):
    """``AttributeFieldVariant``: how the value of an attribute is stored."""

    ACTIVATION = 1
    ACTIVATION_ARRAY = 2
    UINT32 = 3
    UINT64 = 4
    INT32 = 5
    FLOAT32 = 6
    UINT_ARRAY = 7
    INT_ARRAY = 8
    FLOAT_ARRAY = 9
    SCALE_BIAS = 10
    SIZE_2D = 11
    SCALAR_UNION = 12
    BOOL = 13

    @property
    def type_name(self) -> str:
        """The type's name in the schema."""
        return _KIND_NAMES[self]


_KIND_NAMES = {
    AttributeKind.ACTIVATION: "Activation",
    AttributeKind.ACTIVATION_ARRAY: "ActivationArray",
    AttributeKind.UINT32: "UInt32",
    AttributeKind.UINT64: "UInt64",
    AttributeKind.INT32: "Int32",
    AttributeKind.FLOAT32: "Float32",
    AttributeKind.UINT_ARRAY: "UIntArray",
    AttributeKind.INT_ARRAY: "IntArray",
    AttributeKind.FLOAT_ARRAY: "FloatArray",
    AttributeKind.SCALE_BIAS: "ScaleBias",
    AttributeKind.SIZE_2D: "Size2D",
    AttributeKind.SCALAR_UNION: "ScalarUnionData",
    AttributeKind.BOOL: "Bool",
}

STRUCTS: Mapping[AttributeKind, struct.Struct] = MappingProxyType(
    {
        AttributeKind.UINT32: struct.Struct("<I"),
        AttributeKind.UINT64: struct.Struct("<Q"),
        AttributeKind.INT32: struct.Struct("<i"),
        AttributeKind.FLOAT32: struct.Struct("<f"),
        AttributeKind.SCALE_BIAS: struct.Struct("<ff"),
        AttributeKind.SIZE_2D: struct.Struct("<II"),
        AttributeKind.BOOL: struct.Struct("<B"),
    }
)
"""Kinds that are structures: what the union's offset leads to are these bytes, without a vtable."""

ALIGNMENTS: Mapping[AttributeKind, int] = MappingProxyType(
    {kind: {AttributeKind.UINT64: 8, AttributeKind.BOOL: 1}.get(kind, 4) for kind in STRUCTS}
)

ELEMENTS: Mapping[AttributeKind, str] = MappingProxyType(
    {AttributeKind.UINT_ARRAY: "<u4", AttributeKind.INT_ARRAY: "<i4", AttributeKind.FLOAT_ARRAY: "<f4"}
)
"""Kinds that are arrays of numbers, with the numpy type of an element."""


class OffsetTarget(NamedTuple):
    """What the offset in a field leads to: tables of a layout, or bytes; one, or a vector of them."""

    layout: TableLayout | None = None
    nbytes: int = 4
    """Those of an element; of tables they are offsets."""
    is_vector: bool = False
    ending: int = 0
    """Bytes behind all elements."""


_STRING = OffsetTarget(nbytes=1, is_vector=True, ending=1)
_NUMBERS = OffsetTarget(is_vector=True)
_ATTRIBUTES = OffsetTarget(ATTRIBUTE, is_vector=True)
_VALUES: Mapping[int, OffsetTarget] = MappingProxyType(
    {
        **{kind: OffsetTarget(nbytes=form.size) for kind, form in STRUCTS.items()},
        **{kind: OffsetTarget(ARRAY) for kind in ELEMENTS},
        AttributeKind.ACTIVATION: OffsetTarget(ACTIVATION),
        AttributeKind.ACTIVATION_ARRAY: OffsetTarget(ACTIVATION_ARRAY),
        AttributeKind.SCALAR_UNION: OffsetTarget(SCALAR),
    }
)
PARTS: Mapping[TableLayout, Mapping[str, OffsetTarget | Mapping[int, OffsetTarget]]] = MappingProxyType(
    {
        NODE: {"desc": {OPERATOR_CODE: OffsetTarget(OPERATOR_NODE)}},
        OPERATOR_NODE: {
            "type": _STRING,
            "inputs": OffsetTarget(TENSOR, is_vector=True),
            "outputs": OffsetTarget(TENSOR, is_vector=True),
            "attributes": _ATTRIBUTES,
        },
        TENSOR: {"dataType": _STRING, "sizes": _NUMBERS, "strides": _NUMBERS},
        ATTRIBUTE: {"name": _STRING, "val": _VALUES},
        ARRAY: {"data": _NUMBERS},
        ACTIVATION: {"type": _STRING, "attributes": _ATTRIBUTES},
        ACTIVATION_ARRAY: {"data": OffsetTarget(ACTIVATION, is_vector=True)},
        SCALAR: {"data": {BYTE_ARRAY_CODE: OffsetTarget(nbytes=SCALAR_BYTES)}},
    }
)
"""What operators consist of: the fields of each table that lead to more; by their codes for unions."""

_KINDS: Mapping[FieldType, AttributeKind] = MappingProxyType(
    {
        FieldType.UINT: AttributeKind.UINT32,
        FieldType.ENUM: AttributeKind.UINT32,
        FieldType.BOOL: AttributeKind.UINT32,
        FieldType.INT: AttributeKind.INT32,
        FieldType.FLOAT: AttributeKind.FLOAT32,
        FieldType.UINT_ARRAY: AttributeKind.UINT_ARRAY,
        FieldType.INT_ARRAY: AttributeKind.INT_ARRAY,
        FieldType.FLOAT_ARRAY: AttributeKind.FLOAT_ARRAY,
        FieldType.SCALE_BIAS: AttributeKind.SCALE_BIAS,
        FieldType.SIZE_2D: AttributeKind.SIZE_2D,
        FieldType.SCALAR_UNION: AttributeKind.SCALAR_UNION,
        FieldType.OPERATOR: AttributeKind.ACTIVATION,
        FieldType.OPERATOR_ARRAY: AttributeKind.ACTIVATION_ARRAY,
    }
)
_STORED_AS_BOOL = ("DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD", "CrossChannel")
"""The one BOOL field that DirectML's own tables call one; all others are UINT there, enumerators too."""


def attribute_kind(schema: OperatorSchema, item: FieldSchema) -> AttributeKind:
    """How an attribute of an operator is stored."""
    return AttributeKind.BOOL if (schema.name, item.name) == _STORED_AS_BOOL else _KINDS[item.type]


@cache
def may_be_owned(schema: OperatorSchema, field: str) -> bool:
    """Whether DirectML may own the contents of a tensor, as it does of constants in files of their own."""
    return not any(
        rule.rule is Rule.NOT_OWNED_BY_DML and field in (rule.tensor, *rule.tensors) for rule in schema.constraints
    )
