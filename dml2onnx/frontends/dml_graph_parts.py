"""Nodes with numbered inputs and outputs, and edges, of a ``DML_GRAPH_DESC`` that is being read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.frontends.findings import Findings, pointer
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import Data
from dml2onnx.ir.graph import Read, Value
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Unreadable
from dml2onnx.ir.tensor import TensorDesc

_COMMENT = "$comment"


@dataclass(frozen=True, slots=True)
class NodeSlot:
    """A numbered input or output of a node; ``desc`` is ``None`` if the tensor is absent."""

    field: str
    desc: TensorDesc | Unreadable | None


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """An operator, with its connections so far."""

    place: str
    name: str
    operator: OperatorDesc
    inputs: tuple[NodeSlot, ...]
    outputs: tuple[NodeSlot, ...]
    values: tuple[Value, ...]
    """The values of the outputs."""
    reads: dict[int, Read] = field(default_factory=dict)
    """Reads by number of the input."""
    edges: dict[int, Edge] = field(default_factory=dict)
    """The first edge to each input."""


@dataclass(slots=True)
class ConstantNode:
    """Bytes without a descriptor."""

    value: Value
    unsized_file: str = ""
    """The pointer of the name of a file, if its size is not stated."""
    place: str = ""
    """The pointer of ``Data``."""
    data: Data | None = None
    readers: list[TensorDesc] = field(default_factory=list)


Nodes: TypeAlias = Sequence[OperatorNode | ConstantNode | None]
"""The nodes of a graph; ``None`` for those that could not be read."""


@dataclass(slots=True)
class PartialInput:
    """A graph input, as far as known from the edges so far."""

    name: str
    value: Value | None = None
    desc: TensorDesc | None = None
    reader: str = ""
    """The first tensor that reads it, in words."""
    covers_all: bool = True
    """Whether the first reader covers what all other readers read."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of any kind, with the numbers of its structure in order."""

    place: str
    name: str | None
    ends: tuple[int, ...]
    members: tuple[str, ...]

    def at(self, index: int) -> str:
        """Returns the pointer of one of the numbers."""
        return f"{self.place}/{self.members[index]}"


def debug_name(members: Members) -> str | None:
    """Reads an optional name, which may be null."""
    return None if members.raw.get("Name") is None else members.text("Name") or None


def unique_name(stated: str | None, default: str, names: set[str]) -> str:
    """Names a graph input or output after its first edge, or by default if that name is taken."""
    name = default if stated is None or stated in names else stated
    while name in names:
        name += "_"
    names.add(name)
    return name


def slots(operator: OperatorDesc, kind: FieldKind, raw: Json) -> Iterator[NodeSlot]:
    """Yields the inputs or outputs of an operator, by number."""
    for item, value in operator.items():
        if item.kind is not kind:
            continue
        if item.type is FieldType.TENSOR:
            yield NodeSlot(item.name, value if isinstance(value, TensorDesc | Unreadable) else None)
        elif value is UNREADABLE:
            array = raw.get(item.name)
            for _ in array if isinstance(array, list) else ():
                yield NodeSlot(item.name, UNREADABLE)
        else:
            for desc in operator.tensors(item.name):
                yield NodeSlot(item.name, desc)


def size_in_bytes(desc: TensorDesc | Unreadable | None) -> int:
    """Returns the size of a tensor in bytes, or ``UNBOUNDED`` if the descriptor is unreadable."""
    return desc.total_bytes if isinstance(desc, TensorDesc) else UNBOUNDED


def edge_names(root: Json) -> dict[tuple[int, int], str]:
    """Maps (node, output) to the name of its first intermediate edge; invalid edges are reported elsewhere."""
    names: dict[tuple[int, int], str] = {}
    edges = root.get("IntermediateEdges")
    for raw in edges if type(edges) is list else ():
        inner = raw.get("Desc", raw) if type(raw) is dict else None
        if type(inner) is dict:
            node, output, name = (inner.get(key) for key in ("FromNodeIndex", "FromNodeOutputIndex", "Name"))
            if type(node) is int and type(output) is int and type(name) is str:
                names.setdefault((node, output), name)
    return names


def drop_comments(root: Json, findings: Findings) -> None:
    """Removes ``$comment`` from all objects; as in JSON Schema, it must be text."""
    invalid: dict[int, object] = {}
    pending: list[object] = [root]
    while pending:
        item = pending.pop()
        if type(item) is dict:
            if _COMMENT in item and type(comment := item.pop(_COMMENT)) is not str:
                invalid[id(item)] = comment
            pending.extend(item.values())
        elif type(item) is list and item and type(item[0]) in (dict, list):
            pending.extend(item)
    places: list[tuple[str, object]] = [("", root)] if invalid else []
    while places:
        place, item = places.pop()
        if id(item) in invalid:
            wrong_kind(findings, _COMMENT, "text", invalid[id(item)], place + pointer(_COMMENT))
        inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        places.extend([(place + pointer(key), value) for key, value in inner][::-1])
