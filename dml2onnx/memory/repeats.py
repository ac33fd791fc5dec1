"""Each distinct thing is lowered once: a node like an earlier one gets a copy of what that one became.

Two nodes are alike when they have equal descriptors, want the same outputs, and read alike: tensors of which the
emitter knows the same, lying alike in memory, the same constants, and one tensor twice where the other does. Nothing
else may decide what a lowering emits. What it did emit refers to the tensors read, to initializers and to itself; so
it can be repeated under other names, and the model is the one that lowering again would give.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter

from dml2onnx.catalog import OperatorSchema
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.graph import Node, Read, Value
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.memory.buffers import Buffers
from dml2onnx.onnx_model import Node as OnnxNode
from dml2onnx.onnx_model import Value as OnnxValue

_TOLD = ("name", "value", "stored", "dtype", "shape")
_knowledge: Callable[[Tensor], Hashable] = attrgetter(*(item.name for item in fields(Tensor) if item.name not in _TOLD))
"""All that a lowering may learn from a computed tensor, besides what the descriptor and the layout tell."""


@dataclass(slots=True, eq=False)
class _First:
    """What the first node of those that are alike became."""

    tensors: Sequence[Tensor]
    """What it read."""
    nodes: Sequence[OnnxNode]
    results: Sequence[Tensor]
    notes: Sequence[str]
    can_be_repeated: bool | None = None
    """``None`` until there is a second one: most have none."""

    def is_repeatable(self, e: Emitter) -> bool:
        """Whether it uses nothing that another one would not have."""
        if self.can_be_repeated is None:
            self.can_be_repeated = self._looked_at(e)
        return self.can_be_repeated

    def _looked_at(self, e: Emitter) -> bool:
        known: set[OnnxValue | None] = {None, *self.tensors}
        for node in self.nodes:
            known.update(node.outputs)
        for node in self.nodes:
            if node.op_type == "Scan":
                return False
            for item in node.inputs:
                if item is not None and item not in known and item.name not in e.initializers:
                    return False
        return known.issuperset(self.results)  # not a constant


class Repeats:
    """What the nodes of one graph became, by what they were."""

    def __init__(self, emitter: Emitter, buffers: Buffers, wanted_as_bits: frozenset[Value] = frozenset()) -> None:
        self._e = emitter
        self._buffers = buffers
        self._wanted_as_bits = wanted_as_bits
        self._known: dict[Hashable, _First] = {}

    def lower(self, node: Node, lower_anew: Callable[[], Sequence[Tensor]]) -> Sequence[Tensor]:
        """The tensors of all outputs: those of an equal node under new names, or else what ``lower_anew`` gives."""
        read = self._read(node)
        if read is None:
            return lower_anew()
        key, tensors = read
        first, e = self._known.get(key), self._e
        if first is None:
            results = lower_anew()
            self._known[key] = _First(tensors, tuple(e.emitted), results, tuple(e.notes))
            return results
        if not first.is_repeatable(e):
            return lower_anew()
        values: dict[OnnxValue | None, Tensor] = dict(zip(first.tensors, tensors, strict=True))
        e.repeat(first.nodes, values)
        e.notes += first.notes
        return [values[item] for item in first.results]

    def _read(self, node: Node) -> tuple[Hashable, list[Tensor]] | None:
        """What two nodes that are alike have in common, and the tensors that they read."""
        parts: list[Hashable] = [node.operator, *node.writes, not self._wanted_as_bits.isdisjoint(node.targets)]
        tensors: list[Tensor] = []
        view_key = self._buffers.view_key
        for name, _, read, desc in _seen(node):
            seen = view_key(read.value, read.offset, desc)
            if seen is None:
                return None
            tensor, rest = seen
            if tensor is None:
                parts += (name, rest)
            elif tensor in tensors:
                parts += (name, rest, tensors.index(tensor))
            else:
                parts += (name, rest, _knowledge(tensor), len(tensors))
                tensors.append(tensor)
        return tuple(parts), tensors


def _seen(node: Node) -> list[tuple[str, int, Read, TensorDesc]]:
    """The views of all that a node reads, what its outputs hold before included."""
    seen = node.views_in()
    if _may_update(node.operator.schema):
        for name, index, write, desc in node.views_out():
            if node.operator.updates(name) and (base := node.before(write)) is not None:
                seen.append((name, index, Read(base, write.offset), desc))
    return seen


@cache
def _may_update(schema: OperatorSchema) -> bool:
    return any(item.updated_with is not None for item in schema.fields)
