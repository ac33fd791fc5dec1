"""The messages of an ONNX model in protobuf's wire format, straight from the records.

Building a ``NodeProto`` costs ten times what its bytes do. The few messages that a model consists of are written here
field by field, in the order of their numbers: the bytes are those that ``SerializeToString(deterministic=True)`` gives.

https://protobuf.dev/programming-guides/encoding/ and https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from dml2onnx.model import ELEMENT_TYPES, stored_size
from dml2onnx.model.records import Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dml2onnx.model import DType, Node
    from dml2onnx.model.records import Attribute

_FLOAT, _INT, _STRING, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 5, 6, 7, 8
"""``AttributeProto.AttributeType``."""
EXTERNAL = 1
"""``TensorProto.DataLocation``."""


_SMALL = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """Seven bits a byte, the low ones first; a negative number is what its 64 bits are unsigned."""
    if 0 <= value < 0x80:
        return _SMALL[value]
    if 0 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    value &= 0xFFFF_FFFF_FFFF_FFFF
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


def number(field: int, value: int) -> bytes:
    """A field of an integer or enumeration type."""
    return varint(field << 3) + varint(value)


def sized(field: int, content: bytes) -> bytes:
    """A field that holds bytes, a string or a message."""
    return b"".join((varint(field << 3 | 2), varint(len(content)), content))


def text(field: int, value: str) -> bytes:
    """A string field."""
    return varint(field << 3 | 2) + _string(value)


def property_entry(field: int, key: str, value: str) -> bytes:
    """A ``StringStringEntryProto``."""
    return sized(field, text(1, key) + text(2, value))


@cache
def _type(dtype: DType, shape: tuple[int | None, ...]) -> bytes:
    dims = b"".join([sized(1, b"" if size is None else number(1, size)) for size in shape])
    return sized(2, sized(1, number(1, ELEMENT_TYPES[dtype][0]) + sized(2, dims)))


def value_info(field: int, name: str, dtype: DType, shape: tuple[int | None, ...]) -> bytes:
    """A ``ValueInfoProto`` in ``GraphProto.input`` (11), ``output`` (12) or ``value_info`` (13)."""
    content = b"".join((b"\x0a", _string(name), _type(dtype, shape)))
    return b"".join((_SMALL[field << 3 | 2], varint(len(content)), content))


def origin(node: str, operator: str) -> bytes:
    """``NodeProto.metadata_props``: the DirectML node that an ONNX node comes from."""
    return property_entry(9, "dml_node", node) + _operator_entry(operator)


@cache
def _operator_entry(operator: str) -> bytes:
    return property_entry(9, "dml_operator", operator)


def nodes(items: Sequence[Node], metadata: bytes = b"") -> list[bytes]:
    """The nodes of a graph. ``metadata`` are their properties, and those of the nodes of their bodies."""
    messages: list[bytes] = []
    for node in items:
        parts: list[bytes] = []
        for value in node.inputs:
            parts += (b"\x0a", _string(value.name) if value is not None else b"\0")
        for value in node.outputs:
            parts += (b"\x12", _string(value.name) if value is not None else b"\0")
        parts += (b"\x1a", _string(node.name), _operator(node.op_type))
        for key, attribute in node.attributes.items():
            parts.append(_attribute(key, attribute, metadata))
        parts.append(metadata)
        content = b"".join(parts)
        messages += (b"\x0a", varint(len(content)), content)
    return messages


def _string(value: str) -> bytes:
    content = value.encode()
    size = len(content)
    return _SMALL[size] + content if size < 0x80 else varint(size) + content


@cache
def _operator(name: str) -> bytes:
    return text(4, name)


def _attribute(name: str, value: Attribute, metadata: bytes) -> bytes:
    if isinstance(value, Body):
        return sized(5, text(1, name) + sized(6, b"".join(_body(value, metadata))) + number(20, _GRAPH))
    return _plain_attribute(name, value, repr(value))


@cache
def _plain_attribute(name: str, value: Attribute, spelling: str) -> bytes:
    # the spelling tells 1 from 1.0 and 0.0 from -0.0, which are equal keys otherwise
    match value:
        case int():
            content, kind = number(3, value), _INT
        case float():
            content, kind = b"\x15" + struct.pack("<f", value), _FLOAT
        case str():
            content, kind = text(4, value), _STRING
        case tuple() if all(isinstance(item, int) for item in value):
            content, kind = b"".join([number(8, int(item)) for item in value]), _INTS
        case tuple() if isinstance(value[0], str):
            content, kind = b"".join([text(9, str(item)) for item in value]), _STRINGS
        case tuple():
            content, kind = b"".join([b"\x3d" + struct.pack("<f", item) for item in value]), _FLOATS
        case _:
            raise AssertionError(value)
    return sized(5, text(1, name) + content + number(20, kind))


def _body(body: Body, metadata: bytes) -> Iterator[bytes]:
    yield from nodes(body.nodes, metadata)
    yield graph_name(body.name)
    for field, values in ((11, body.inputs), (12, body.outputs)):
        for value in values:
            yield value_info(field, value.name, value.dtype, value.shape)


def tensor(name: str, dtype: DType, shape: tuple[int, ...], external: Mapping[str, str] | None = None) -> bytes:
    """A ``TensorProto`` in ``GraphProto.initializer``, up to its data, which has to follow at once.

    With ``external`` the data lie elsewhere, these entries say where, and nothing follows.
    """
    head = b"".join([number(1, size) for size in shape]) + number(2, ELEMENT_TYPES[dtype][0]) + text(8, name)
    if external is not None:
        head += b"".join([property_entry(13, key, value) for key, value in external.items()]) + number(14, EXTERNAL)
        return sized(5, head)
    size = stored_size(dtype, prod(shape))
    head += varint(9 << 3 | 2) + varint(size)
    return varint(5 << 3 | 2) + varint(len(head) + size) + head


def graph_name(name: str) -> bytes:
    """``GraphProto.name``."""
    return text(2, name)


def model(
    ir_version: int, producer: tuple[str, str], graph_size: int, opset: int, metadata: Mapping[str, str]
) -> tuple[bytes, bytes]:
    """What comes before the bytes of a ``ModelProto``'s graph, and what comes behind them."""
    head = number(1, ir_version) + text(2, producer[0]) + text(3, producer[1])
    head += varint(7 << 3 | 2) + varint(graph_size)
    tail = sized(8, text(1, "") + number(2, opset))
    return head, tail + b"".join([property_entry(14, key, metadata[key]) for key in sorted(metadata)])
