"""Encodes the records of an ONNX model in protobuf's wire format.

Building a ``NodeProto`` costs ten times what its bytes do. The few messages that a model consists of are written here
field by field, in the order of their numbers: the bytes are those that ``SerializeToString(deterministic=True)`` gives.

https://protobuf.dev/programming-guides/encoding/ and https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from dml2onnx.onnx_model import ELEMENT_TYPES, DType, OnnxNode, stored_size
from dml2onnx.onnx_model.records import Attribute, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FLOAT, _INT, _STRING, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 5, 6, 7, 8
"""``AttributeProto.AttributeType``."""
EXTERNAL = 1
"""``TensorProto.DataLocation``."""


_SMALL = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """A varint: seven bits per byte, low ones first. Negative numbers are encoded as unsigned 64-bit ones."""
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
    return sized(field, value.encode())


_USUAL_SIZE = 1 << 12
"""Larger than most nodes and names."""


class _Head(dict[int, bytes]):
    """The tag and length before the content of a field, cached for the usual lengths."""

    def __init__(self, field: int) -> None:
        super().__init__()
        self._field = varint(field << 3 | 2)

    def __missing__(self, size: int) -> bytes:
        head = self._field + varint(size)
        if size < _USUAL_SIZE:
            self[size] = head
        return head


_NODE, _INPUT, _OUTPUT, _NAME = (_Head(field) for field in (1, 1, 2, 3))
_INFOS = {field: _Head(field) for field in (11, 12, 13)}
_PROPERTY, _VALUE = _Head(9), _Head(2)
_ORIGIN = text(1, "dml_node")


def property_entry(field: int, key: str, value: str) -> bytes:
    """A ``StringStringEntryProto``."""
    return sized(field, text(1, key) + text(2, value))


@cache
def _type(dtype: DType, shape: tuple[int | str | None, ...]) -> bytes:
    dims = b"".join([sized(1, _dimension(size)) for size in shape])
    return sized(2, sized(1, number(1, ELEMENT_TYPES[dtype][0]) + sized(2, dims)))


def _dimension(size: int | str | None) -> bytes:
    """``TensorShapeProto.Dimension``: a number, a name, or nothing."""
    if size is None:
        return b""
    return text(2, size) if isinstance(size, str) else number(1, size)


def value_info(field: int, name: str, dtype: DType, shape: tuple[int | str | None, ...]) -> bytes:
    """A ``ValueInfoProto`` in ``GraphProto.input`` (11), ``output`` (12) or ``value_info`` (13)."""
    written, described = name.encode(), _type(dtype, shape)
    head = _INPUT[len(written)]
    return b"".join((_INFOS[field][len(head) + len(written) + len(described)], head, written, described))


def origin(node: str, operator: str) -> bytes:
    """``NodeProto.metadata_props``: the DirectML node that an ONNX node comes from."""
    name = node.encode()
    head = _VALUE[len(name)]
    size = len(_ORIGIN) + len(head) + len(name)
    return b"".join((_PROPERTY[size], _ORIGIN, head, name, _operator_entry(operator)))


@cache
def _operator_entry(operator: str) -> bytes:
    return property_entry(9, "dml_operator", operator)


class Nodes:
    """Encodes the nodes of one model. Parts that nodes share are encoded once."""

    def __init__(self) -> None:
        self._attributes: dict[int, bytes] = {}
        """Encoded parts by the identity of the objects, which the model keeps alive."""

    def messages(self, nodes: Sequence[OnnxNode], metadata: bytes = b"") -> list[bytes]:
        """The nodes of a graph. ``metadata`` is added to them and to the nodes of their bodies."""
        known = self._attributes
        messages: list[bytes] = []
        for node in nodes:
            parts: list[bytes] = []
            for value in node.inputs:
                name = value.name.encode() if value is not None else b""
                parts += (_INPUT[len(name)], name)
            for value in node.outputs:
                name = value.name.encode() if value is not None else b""
                parts += (_OUTPUT[len(name)], name)
            name = node.name.encode()
            parts += (_NAME[len(name)], name, _operator(node.op_type))
            attributes = node.attributes
            if attributes:
                written = known.get(id(attributes))
                parts.append(self._written(attributes, metadata) if written is None else written)
            parts.append(metadata)
            content = b"".join(parts)
            messages += (_NODE[len(content)], content)
        return messages

    def _written(self, attributes: Mapping[str, Attribute], metadata: bytes) -> bytes:
        messages, has_bodies = [], False
        for name, value in attributes.items():
            if isinstance(value, Body):
                body = b"".join(self._body(value, metadata))
                messages.append(sized(5, text(1, name) + sized(6, body) + number(20, _GRAPH)))
                has_bodies = True
            else:
                messages.append(_plain_attribute(name, value, repr(value)))
        written = b"".join(messages)
        if not has_bodies:  # whose nodes have the metadata of this node
            self._attributes[id(attributes)] = written
        return written

    def _body(self, body: Body, metadata: bytes) -> Iterator[bytes]:
        yield from self.messages(body.nodes, metadata)
        yield graph_name(body.name)
        for field, values in ((11, body.inputs), (12, body.outputs)):
            for value in values:
                yield value_info(field, value.name, value.dtype, value.shape)


@cache
def _operator(name: str) -> bytes:
    return text(4, name)


@cache
def _plain_attribute(name: str, value: Attribute, spelling: str) -> bytes:
    # repr distinguishes 1 from 1.0 and 0.0 from -0.0, which are equal as keys
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


def tensor(name: str, dtype: DType, shape: tuple[int, ...], external: Mapping[str, str] | None = None) -> bytes:
    """A ``TensorProto`` in ``GraphProto.initializer``, without its data, which must follow.

    With ``external``, the entries of ``external_data``, no data follow.
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
    """The bytes of a ``ModelProto`` before and after those of its graph."""
    head = number(1, ir_version) + text(2, producer[0]) + text(3, producer[1])
    head += varint(7 << 3 | 2) + varint(graph_size)
    tail = sized(8, text(1, "") + number(2, opset))
    return head, tail + b"".join([property_entry(14, key, metadata[key]) for key in sorted(metadata)])
