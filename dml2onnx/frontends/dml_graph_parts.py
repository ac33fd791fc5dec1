"""Nodes with numbered inputs and outputs, and edges, while a ``DML_GRAPH_DESC`` is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.frontends.findings import Findings, pointer
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import Data
from dml2onnx.ir.graph import Read, Value
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc, Unreadable
from dml2onnx.ir.tensor import TensorDesc

_COMMENT = "$comment"


@dataclass(frozen=True, slots=True)
class Slot:
    """An input or output of a node, by its number; ``desc`` is ``None`` when the tensor is absent."""

    field: str
    desc: TensorDesc | Unreadable | None


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """An operator, with what is connected to it so far."""

    place: str
    name: str
    operator: OperatorDesc
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    values: tuple[Value, ...]
    """What the outputs write."""
    reads: dict[int, Read] = field(default_factory=dict)
    """What is connected to the inputs so far."""
    edges: dict[int, Edge] = field(default_factory=dict)
    """The first edge to each input."""


@dataclass(slots=True)
class ConstantNode:
    """Bytes without a descriptor."""

    value: Value
    file_place: str = ""
    """Where a file is named whose size nothing says."""
    place: str = ""
    """Where its bytes stand."""
    data: Data | None = None
    readers: list[TensorDesc] = field(default_factory=list)


@dataclass(slots=True)
class InputSoFar:
    """What is known of a graph input from the edges seen so far."""

    name: str
    value: Value | None = None
    desc: TensorDesc | None = None
    reader: str = ""
    """The tensor that was the first to read it, in words."""
    is_all: bool = True
    """Whether no reader sees more of the buffer than the first does."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of any kind: the numbers of its ends, in the order of its structure."""

    place: str
    name: str | None
    ends: tuple[int, ...]
    members: tuple[str, ...]

    def at(self, index: int) -> str:
        """The pointer of one of the numbers."""
        return f"{self.place}/{self.members[index]}"


def debug_name(members: Members) -> str | None:
    """A name; null is what C++ has for none."""
    return None if members.raw.get("Name") is None else members.text("Name") or None


def new_name(stated: str | None, default: str, names: set[str]) -> str:
    """The name of a graph input or output: that of its first edge, unless another has it."""
    name = default if stated is None or stated in names else stated
    while name in names:
        name += "_"
    names.add(name)
    return name


def slots(operator: OperatorDesc, kind: FieldKind, raw: Json) -> Iterator[Slot]:
    """The inputs or outputs of an operator in the order of their numbers."""
    for item, value in operator.items():
        if item.kind is not kind:
            continue
        if item.type is FieldType.TENSOR:
            yield Slot(item.name, _tensor_of(value))
        elif value is UNREADABLE:
            array = raw.get(item.name)
            for _ in array if isinstance(array, list) else ():
                yield Slot(item.name, UNREADABLE)
        else:
            for desc in operator.tensors(item.name):
                yield Slot(item.name, desc)


def _tensor_of(value: FieldValue) -> TensorDesc | Unreadable | None:
    return value if isinstance(value, TensorDesc | Unreadable) else None


def bytes_of(desc: TensorDesc | Unreadable | None) -> int:
    """Bytes of a tensor, enough for every reader where they could not be read."""
    return desc.total_bytes if isinstance(desc, TensorDesc) else UNBOUNDED


def names_of_edges(root: Json) -> dict[tuple[int, int], str]:
    """What intermediate edges call the values that they carry, by node and output; what is wrong is said elsewhere."""
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
    """Takes ``$comment`` out of all objects: JSON has no other place for what a program wants to say.

    As JSON Schema has it, a comment is text.
    """
    others: dict[int, object] = {}
    pending: list[object] = [root]
    while pending:
        item = pending.pop()
        if type(item) is dict:
            if _COMMENT in item and type(comment := item.pop(_COMMENT)) is not str:
                others[id(item)] = comment
            pending.extend(item.values())
        elif type(item) is list and item and type(item[0]) in (dict, list):
            pending.extend(item)
    places: list[tuple[str, object]] = [("", root)] if others else []  # which are asked for when there is one to tell
    while places:
        place, item = places.pop()
        if id(item) in others:
            wrong_kind(findings, _COMMENT, "text", others[id(item)], place + pointer(_COMMENT))
        inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        places.extend([(place + pointer(key), value) for key, value in inner][::-1])
