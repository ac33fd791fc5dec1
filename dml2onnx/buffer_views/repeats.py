"""Lowers each distinct node once; an equal node later gets a copy of the emitted ONNX nodes.

Two nodes are equal if they have equal descriptors, the same used outputs, and equal inputs: tensors with equal
properties and layouts, the same constants, and the same tensor twice. A lowering may depend on nothing else. The
emitted nodes refer only to the inputs, to initializers and to each other, so a copy with other names is what lowering
would emit again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter

from dml2onnx.buffer_views.buffers import Buffers
from dml2onnx.catalog import OperatorSchema
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.graph import Node, Read, Value
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.onnx_model import OnnxNode, OnnxValue

_OTHER = ("name", "value", "stored", "dtype", "shape")
"""Fields of a tensor that identify it, or that follow from its descriptor and layout."""
_properties: Callable[[Tensor], Hashable] = attrgetter(
    *(item.name for item in fields(Tensor) if item.name not in _OTHER)
)
"""The properties of a computed tensor that a lowering may read, besides descriptor and layout."""


@dataclass(slots=True, eq=False)
class _First:
    """The ONNX nodes of the first of several equal nodes."""

    tensors: Sequence[Tensor]
    """The tensors that the DirectML node reads."""
    nodes: Sequence[OnnxNode]
    results: Sequence[Tensor]
    notes: Sequence[str]
    _repeatable: bool | None = None
    """``None`` until there is a second equal node."""

    def is_repeatable(self, e: Emitter) -> bool:
        """Whether the ONNX nodes refer only to their inputs, initializers and each other."""
        if self._repeatable is None:
            self._repeatable = self._is_self_contained(e)
        return self._repeatable

    def _is_self_contained(self, e: Emitter) -> bool:
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
    """The emitted nodes of one graph, by the properties of the DirectML nodes."""

    def __init__(self, emitter: Emitter, buffers: Buffers, wanted_as_bits: frozenset[Value] = frozenset()) -> None:
        self._e = emitter
        self._buffers = buffers
        self._wanted_as_bits = wanted_as_bits
        self._known: dict[Hashable, _First] = {}

    def lower(self, node: Node, lower_node: Callable[[], Sequence[Tensor]]) -> Sequence[Tensor]:
        """The tensors of all outputs: those of an equal node under new names, or the result of ``lower_node``."""
        read = self._read(node)
        if read is None:
            return lower_node()
        key, tensors = read
        first, e = self._known.get(key), self._e
        if first is None:
            results = lower_node()
            self._known[key] = _First(tensors, tuple(e.emitted), results, tuple(e.notes))
            return results
        if not first.is_repeatable(e):
            return lower_node()
        values: dict[OnnxValue | None, Tensor] = dict(zip(first.tensors, tensors, strict=True))
        e.repeat(first.nodes, values)
        e.notes += first.notes
        return [values[item] for item in first.results]

    def _read(self, node: Node) -> tuple[Hashable, list[Tensor]] | None:
        """The cache key of a node, and the tensors that it reads."""
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
                parts += (name, rest, _properties(tensor), len(tensors))
                tensors.append(tensor)
        return tuple(parts), tensors


def _seen(node: Node) -> list[tuple[str, int, Read, TensorDesc]]:
    """The views of everything that a node reads, including the old contents of its outputs."""
    seen = node.views_in()
    if _may_update(node.operator.schema):
        for name, index, write, desc in node.views_out():
            if node.operator.updates(name) and (base := node.before(write)) is not None:
                seen.append((name, index, Read(base, write.offset), desc))
    return seen


@cache
def _may_update(schema: OperatorSchema) -> bool:
    return any(item.updated_with is not None for item in schema.fields)
