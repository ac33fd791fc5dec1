"""Each distinct thing is lowered once: a node like an earlier one gets a copy of what that one became.

Two nodes are alike when they have equal descriptors, want the same outputs, and read alike: tensors of which the
emitter knows the same, lying alike in memory, the same constants, and one tensor twice where the other does. Nothing
else may decide what a lowering emits. What it did emit refers to the tensors read, to initializers and to itself; so
it can be repeated under other names, and the model is the one that lowering again would give.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.lowering.emitter import Tensor
from dml2onnx.lowering.emitter.control import BRANCHES
from dml2onnx.model import Value as OnnxValue
from dml2onnx.model.records import Body

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from dml2onnx.ir.graph import Node, Value
    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.lowering.buffers import Buffers
    from dml2onnx.lowering.emitter import Emitter
    from dml2onnx.model import Node as OnnxNode
    from dml2onnx.model.records import Attribute

_FIELDS = tuple(item.name for item in fields(Tensor) if item.name != "name")
_all_but_the_name: Callable[[OnnxValue], tuple[object, ...]] = attrgetter(*_FIELDS)
_TOLD = ("value", "stored", "dtype", "shape")
_knowledge: Callable[[Tensor], Hashable] = attrgetter(*(name for name in _FIELDS if name not in _TOLD))
"""All that a lowering may learn from a computed tensor, besides what the descriptor and the layout tell."""

_Place: TypeAlias = "int | OnnxValue | None"
"""Where a value comes from: a number counts what was read and then what was made; or it is an initializer."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One node, without names."""

    op_type: str
    inputs: tuple[_Place, ...]
    outputs: tuple[tuple[object, ...] | None, ...]
    """The fields of each tensor behind its name."""
    attributes: Mapping[str, Attribute]
    branches: Mapping[str, _Recording]
    """Attributes that are graphs."""


@dataclass(frozen=True, slots=True)
class _Recording:
    """What a node became, or a graph within that, without names."""

    steps: tuple[_Step, ...]
    results: tuple[int, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _First:
    """What a node became that no other has been like so far: most are never recorded."""

    tensors: Sequence[Tensor]
    nodes: tuple[OnnxNode, ...]
    results: Sequence[Tensor]
    notes: tuple[str, ...]


class _UnrepeatableError(Exception):
    """What a node became uses what another one would not have."""


class Repeats:
    """What the nodes of one graph became, by what they were."""

    def __init__(self, emitter: Emitter, buffers: Buffers) -> None:
        self._e = emitter
        self._buffers = buffers
        self._recordings: dict[Hashable, _First | _Recording | None] = {}

    def lower(self, node: Node, afresh: Callable[[], Sequence[Tensor]]) -> Sequence[Tensor]:
        """The tensors of all outputs: those of an equal node under new names, or else what ``afresh`` gives."""
        read = self._read(node)
        if read is None:
            return afresh()
        key, tensors = read
        recording = self._recordings.get(key)
        if isinstance(recording, _First):
            recording = self._recordings[key] = self._record(recording)
        if recording is not None:
            return self._repeat(recording, tensors)
        results = afresh()
        if key not in self._recordings:
            self._recordings[key] = _First(tensors, tuple(self._e.emitted), results, tuple(self._e.notes))
        return results

    def _read(self, node: Node) -> tuple[Hashable, list[Tensor]] | None:
        """What two nodes that are alike have in common, and the tensors that they read."""
        parts: list[Hashable] = [node.operator, *node.writes]
        tensors: list[Tensor] = []
        sight = self._buffers.sight
        for name, value, offset, desc in _seen(node):
            seen = sight(value, offset, desc)
            if seen is None:
                return None
            tensor, rest = seen
            parts += (name, rest)
            if tensor is None:
                continue
            if tensor in tensors:
                parts.append(tensors.index(tensor))
            else:
                parts += (_knowledge(tensor), len(tensors))
                tensors.append(tensor)
        return tuple(parts), tensors

    def _record(self, first: _First) -> _Recording | None:
        """What a node became, without names; ``None`` where that cannot be repeated."""
        numbers: dict[OnnxValue, int] = {tensor: number for number, tensor in enumerate(first.tensors)}
        try:
            steps = self._steps(first.nodes, numbers)
        except _UnrepeatableError:
            return None
        if not all(item in numbers for item in first.results):
            return None  # a constant
        return _Recording(steps, tuple([numbers[item] for item in first.results]), first.notes)

    def _steps(self, nodes: Sequence[OnnxNode], numbers: dict[OnnxValue, int]) -> tuple[_Step, ...]:
        """The nodes; ``numbers`` are those of all values so far, in the order in which they were made."""
        steps = []
        for node in nodes:
            inputs: list[_Place] = []
            for value in node.inputs:
                if value is not None and value not in numbers and value.name not in self._e.initializers:
                    raise _UnrepeatableError
                inputs.append(value if value is None else numbers.get(value, value))
            branches = {
                name: self._graph(name, body, numbers)
                for name, body in node.attributes.items()
                if isinstance(body, Body)
            }
            outputs: list[tuple[object, ...] | None] = []
            for value in node.outputs:
                if value is not None:
                    numbers[value] = len(numbers)
                outputs.append(None if value is None else _all_but_the_name(value))
            steps.append(_Step(node.op_type, tuple(inputs), tuple(outputs), node.attributes, branches))
        return tuple(steps)

    def _graph(self, name: str, body: Body, numbers: dict[OnnxValue, int]) -> _Recording:
        if name not in BRANCHES:
            raise _UnrepeatableError
        steps = self._steps(body.nodes, numbers)
        return _Recording(steps, tuple([numbers[item] for item in body.outputs]))

    def _repeat(self, recording: _Recording, values: list[Tensor]) -> list[Tensor]:
        """The results; ``values`` are what the numbers mean, and get what is made here."""
        for step in recording.steps:
            attributes = step.attributes
            if step.branches:
                branches = {
                    name: self._e.branch(name, partial(self._repeat, branch, values))
                    for name, branch in step.branches.items()
                }
                attributes = {**attributes, **branches}
            operands = [values[place] if isinstance(place, int) else place for place in step.inputs]
            values += self._e.again(step.op_type, operands, step.outputs, attributes)
        self._e.notes += recording.notes
        return [values[number] for number in recording.results]


def _seen(node: Node) -> list[tuple[str, Value, int, TensorDesc]]:
    """The field, place and descriptor of all that a node reads, what its outputs hold before included."""
    seen = [(name, read.value, read.offset, desc) for name, _, read, desc in node.views_in()]
    for name, writes in node.writes.items():
        for index, write in enumerate(writes):
            if node.operator.updates(name) and (base := node.before(write)) is not None:
                seen.append((name, base, write.offset, node.operator.tensors(name)[index]))
    return seen
