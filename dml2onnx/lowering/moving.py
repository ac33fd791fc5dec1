"""Chooses the type in which a node that only moves elements reads its operands.

A descriptor may declare integers as floats or floats as integers, as TILE of integers must at feature level 1_0. A
node that moves elements keeps the type in which they are stored; they are converted at the first node that computes
with them. That conversion changes no value, except which NaN a NaN is. If a node joins stored floats with stored
integers, or with constants that are NaN as floats, the readers of the result, direct or after more moves, decide its
type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dml2onnx.buffer_views.buffers import Buffers
from dml2onnx.ir.graph import GraphOutput, Node, Read, Value
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lowering.registry import movement


def moved_fields(node: Node) -> tuple[str, ...]:
    """Returns the inputs whose elements the node copies unchanged."""
    moves = movement(node.operator.schema).moves
    return moves(node.operator) if callable(moves) else moves


def wanted_as_bits(nodes: Sequence[Node], outputs: Iterable[GraphOutput]) -> frozenset[Value]:
    """Returns the values that are read as integers, directly or after moves. ``nodes`` must be in order."""
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
    """Returns the inputs that are read as integers, and those that are if the results are."""
    moved = moved_fields(node)
    by_bits = movement(node.operator.schema).by_bits

    def has_integers(name: str) -> bool:
        return any(not desc.data_type.is_float for desc in node.operator.tensors(name))

    always = tuple(name for name in node.reads if name not in moved and (by_bits or has_integers(name)))
    return always, tuple(name for name in node.reads if name in moved)


def moved_type(node: Node, buffers: Buffers, wanted: frozenset[Value]) -> DataType | None:
    """Returns the type in which the moved inputs are read; ``None`` for that of their descriptors."""
    fields = moved_fields(node)
    views = [(read, desc) for name, _, read, desc in node.views_in() if name in fields]
    if not views or views[0][1].data_type.bits < 16:
        return None
    data_type = views[0][1].data_type
    stored_types = {item for read, desc in views for item in buffers.stored_types(read.value, read.offset, desc)}
    floats = {item for item in stored_types if item.is_float}
    integers = stored_types - floats
    are_bits = any(value in wanted for value in node.targets)
    if floats and not (are_bits and (integers or _has_nan(node, views, buffers))):
        return floats.pop()
    if data_type.is_float and integers:
        return min(integers, key=lambda item: item.value)
    return DataType(f"uint{data_type.bits}") if data_type.is_float and floats else None


def _has_nan(node: Node, views: Sequence[tuple[Read, TensorDesc]], buffers: Buffers) -> bool:
    """Whether moved constants, tensors or fill values, may be NaN as floats."""
    op = node.operator
    numbers = (op.get(name) for name in ("PaddingValue", "Value") if name in op.schema.index)
    values = [item.value if isinstance(item, Scalar) else item for item in numbers]
    is_float = views[0][1].data_type.is_float
    # any integer but 0 may be the bits of a NaN
    if any(isinstance(item, (int, float)) and (item != item if is_float else item != 0) for item in values):
        return True
    return any(buffers.has_constant_nan(read.value, read.offset, desc) for read, desc in views)
