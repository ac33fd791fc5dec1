"""Copies move bits: as what a node that only moves elements takes its operands.

A descriptor may call integers floats, and the other way round, as TILE of integers must at feature level 1_0. A node
that moves elements does not look at them, so it takes them as what memory holds, and hands that on; only who computes
with them has them converted, in which no value changes but a NaN becomes the one that arithmetic makes. Where a node
joins what is held as floats with what is held as integers, those who read the result, directly or after more moves,
say what it becomes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lowering.registry import movement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dml2onnx.ir.graph import GraphOutput, Node, Value
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import DataType
    from dml2onnx.lowering.buffers import Buffers


def moved_fields(node: Node) -> tuple[str, ...]:
    """The inputs whose elements the node hands on as they are."""
    moves = movement(node.operator.schema).moves
    return moves(node.operator) if callable(moves) else moves


def wanted_as_bits(nodes: Sequence[Node], outputs: Iterable[GraphOutput]) -> frozenset[Value]:
    """The values of which somebody reads integers, be it after moves. ``nodes`` are in order."""
    found = {output.value for output in outputs if not output.desc.data_type.is_float}
    known: dict[OperatorDesc, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for node in reversed(nodes):
        fields = known.get(node.operator)
        if fields is None:
            fields = known[node.operator] = _fields_of_bits(node)
        always, moved = fields
        if not found and not always:
            continue
        for name in always:
            found.update([read.value for read in node.reads[name]])
        if moved and not found.isdisjoint(node.targets):
            for name in moved:
                found.update([read.value for read in node.reads[name]])
        for writes in node.writes.values():
            for write in writes:
                if write.base is not None and write.value in found:
                    found.add(write.base)
    return frozenset(found)


def _fields_of_bits(node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs that are read as integers, and those that are if the results are."""
    moved = moved_fields(node)
    by_bits = movement(node.operator.schema).by_bits

    def has_integers(name: str) -> bool:
        return any(not desc.data_type.is_float for desc in node.operator.tensors(name))

    always = tuple(name for name in node.reads if name not in moved and (by_bits or has_integers(name)))
    return always, tuple(name for name in node.reads if name in moved)


def moved_type(node: Node, buffers: Buffers, wanted: frozenset[Value]) -> DataType | None:
    """The type as which the moved inputs are read; ``None`` for that of their descriptors."""
    fields = moved_fields(node)
    views = [(read, desc) for name, _, read, desc in node.views_in() if name in fields]
    if not views or views[0][1].data_type.bits < 16:
        return None
    data_type = views[0][1].data_type
    held = {item for read, desc in views for item in buffers.held(read.value, read.offset, desc)}
    floats = {item for item in held if item.is_float}
    integers = held - floats
    if floats and not (integers and any(value in wanted for value in node.targets)):
        return floats.pop()
    if integers and data_type.is_float:
        return min(integers, key=lambda item: item.value)
    return None
