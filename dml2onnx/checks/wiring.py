"""Remedies that read another value: a copied name, or a node that was left out of the chain.

A value that nothing reads is a symptom of such a mistake if the node is valid with it. Values that others read are
proposed only if few make the node valid.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.catalog import FieldType
from dml2onnx.checks.candidates import Change, changed, with_inferred_outputs
from dml2onnx.checks.consequences import bound_tensors
from dml2onnx.checks.operators import refusing
from dml2onnx.checks.tensors import is_measurable
from dml2onnx.diagnostics import Edit, Remedy, quote
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.ir.graph import Graph, Node, Value
    from dml2onnx.ir.operator import OperatorDesc

    IsWrong = Callable[[OperatorDesc], bool]

MOST_TRIED = 64
"""The most descriptors of values that are tried for one tensor."""
MOST_READ = 16
"""The most tensors of a node of which each is tried."""
MOST_NODES = 256
"""The most nodes of a graph that are tried as readers of a value."""
MOST_ALIKE = 2
"""The most values, or readers of an unread one, that are proposed."""


class TensorReading(NamedTuple):
    """A tensor that a node reads from a whole value."""

    node: Node
    field: str
    position: int | None
    value: Value
    desc: TensorDesc

    @property
    def path(self) -> str:
        """The field in the syntax of a JSON pointer."""
        return self.field if self.position is None else f"{self.field}/{self.position}"


class Wiring:
    """The descriptors, the producers and the readers of a graph's values."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[tuple[Node, bool], list[tuple[TensorReading, Value]]] = {}

    @property
    def states_outputs(self) -> bool:
        """Whether the format always states outputs, so that they are not inferred."""
        return self._graph.format not in ("native", "builder")

    # --- The graph ----------------------------------------------------------------------------------------------------

    @cached_property
    def _words(self) -> dict[Value, str]:
        """The description of each value that a node may read, except of values that the file does not name."""
        graph = self._graph
        found = {item.value: quote(item.name) for item in graph.inputs if item.source}
        is_native = graph.format == "native"
        if is_native:
            found |= {item.value: quote(item.value.name) for item in graph.constants}
        for node in graph.nodes:
            for field, writes in node.writes.items():
                for write in writes:
                    name = write.value.name
                    if not is_native:
                        found[write.value] = f"{field} of {quote(node.name)}"
                    elif name != f"{node.name}.{field}":
                        found[write.value] = quote(name)
        return found

    @cached_property
    def _described(self) -> dict[Value, TensorDesc]:
        """The descriptor of each value at its producer or declaration, in graph order."""
        graph = self._graph
        found = {item.value: item.desc for item in graph.constants if item.desc is not None}
        found |= {item.value: item.desc for item in graph.inputs if item.desc is not None}
        for node in graph.nodes:
            for _, write, desc in bound_tensors(node, node.writes):
                if not write.offset:
                    found[write.value] = desc
        return {value: desc for value, desc in found.items() if value in self._words and is_measurable(desc)}

    @cached_property
    def _read(self) -> set[Value]:
        """The values that something reads; all of them if a node that could not be read may do so."""
        graph = self._graph
        if graph.unread_nodes:
            return {*self._writers, *(item.value for item in graph.inputs), *(item.value for item in graph.constants)}
        return {
            *(value for node in graph.nodes for value in node.sources),
            *(item.value for item in (*graph.outputs, *graph.results)),
        }

    @cached_property
    def _writers(self) -> dict[Value, Node]:
        return self._graph.writers()

    @cached_property
    def _weights(self) -> set[Value]:
        return {item.value for item in self._graph.constants}

    @cached_property
    def _readers(self) -> dict[Value, dict[Node, None]]:
        """The readers of each value, in graph order and without duplicates."""
        found: dict[Value, dict[Node, None]] = {}
        for node in self._graph.nodes:
            for value in node.sources:
                found.setdefault(value, {})[node] = None
        return found

    def _below(self, values: Iterable[Value]) -> set[Value]:
        """The values, and all that depend on them."""
        found: set[Value] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                pending.extend(made for node in self._readers.get(value, ()) for made in node.targets)
        return found

    def _above(self, node: Node) -> set[Value]:
        """All values that a node depends on."""
        found: set[Value] = set()
        pending = list(node.sources)
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                maker = self._writers.get(value)
                pending.extend(maker.sources if maker is not None else ())
        return found

    # --- Another value for a wrong node -------------------------------------------------------------------------------

    def from_unread(self, node: Node, judge: AnyJudge) -> list[tuple[str, Remedy]]:
        """Returns the fields of an invalid node with a value that nothing reads and that makes it valid, if few."""
        found = self._fitting(node, judge, is_read=False)
        if len({value for _, value in found}) > MOST_ALIKE:
            return []
        return [(reading.field, self._remedy(reading, value, ", which nothing reads")) for reading, value in found]

    def from_others(self, node: Node, judge: AnyJudge, fields: Collection[str] = ()) -> list[tuple[str, Remedy]]:
        """Returns the fields, or those among ``fields``, with a value that makes the node valid, if they are few."""
        found = [item for item in self._fitting(node, judge, is_read=True) if not fields or item[0].field in fields]
        made = [(reading.field, self._remedy(reading, value)) for reading, value in found]
        return made if len(made) <= MOST_ALIKE else []

    def exchanged(self, node: Node, judge: AnyJudge) -> list[tuple[str, Remedy]]:
        """Returns the only pair of fields that makes an invalid node valid if their values are exchanged."""
        is_wrong, found = refusing(judge, node.operator.schema), []
        for one, other in combinations(list(_readings(node))[:MOST_READ], 2):
            first, second = self._seen(one, other.value), self._seen(other, one.value)
            if one.value is other.value or first is None or second is None:
                continue
            pairs = ((one, first), (other, second))
            made = changed(
                node.operator, [Change(item.field, seen, "", position=item.position) for item, seen in pairs]
            )
            if any(not is_wrong(desc) for desc in (made, with_inferred_outputs(made, node.operator)[0])):
                remedies = self._remedy(one, other.value), self._remedy(other, one.value)
                words = " and ".join(item.words for item in remedies)
                edits = (*remedies[0].edits, *remedies[1].edits)
                found.append((one.field, Remedy(f"{words}: swapped", edits)))
        return found if len(found) == 1 else []

    @cached_property
    def _alike(self) -> dict[bool, list[list[Value]]]:
        """Values that nothing reads and those that something does, grouped by descriptor."""
        found: dict[tuple[bool, object], list[Value]] = {}
        for value, desc in self._described.items():
            kind = value in self._read, (desc.sizes, desc.strides, desc.data_type, value in self._weights)
            found.setdefault(kind, []).append(value)
        return {is_read: [values for kind, values in found.items() if kind[0] is is_read] for is_read in (False, True)}

    def _fitting(self, node: Node, judge: AnyJudge, *, is_read: bool) -> list[tuple[TensorReading, Value]]:
        """:meth:`_tried_on` with a cache for all findings about a node."""
        if (node, is_read) not in self._found:
            self._found[node, is_read] = self._tried_on(node, self._alike[is_read][:MOST_TRIED], judge)
        return self._found[node, is_read]

    def _tried_on(
        self, node: Node, groups: Sequence[list[Value]], judge: AnyJudge
    ) -> list[tuple[TensorReading, Value]]:
        """Tensors of a node with other values that make it valid, with its outputs as stated, or else as inferred."""
        is_wrong, readings = refusing(judge, node.operator.schema), list(_readings(node))
        for follows in (False, True) if len(readings) <= MOST_READ else ():
            fitting = [
                (reading, values)
                for reading in readings
                for values in groups
                if not self._is_unlikely(reading, values[0]) and self._fits(reading, values[0], is_wrong, follows)
            ]
            hidden = {*node.sources, *self._below(node.targets)} if fitting else set()
            found = [(reading, value) for reading, values in fitting for value in values if value not in hidden]
            if found:
                return found
        return []

    def _is_unlikely(self, reading: TensorReading, value: Value) -> bool:
        """Whether layers would share weights, which is rarely intended."""
        if value not in self._read:
            return False
        if reading.value in self._weights:
            return len(self._readers[reading.value]) < 2
        return value in self._weights

    def _fits(self, reading: TensorReading, value: Value, is_wrong: IsWrong, follows: bool = False) -> bool:
        """Whether a node is valid with another value."""
        seen, made = self._seen(reading, value), reading.node.operator
        if seen is None:
            return False
        made = changed(made, (Change(reading.field, seen, "", position=reading.position),))
        if follows:
            made, further = with_inferred_outputs(made, reading.node.operator)
            if not further:
                return False
        return not is_wrong(made)

    def _seen(self, reading: TensorReading, value: Value) -> TensorDesc | None:
        """The descriptor of another value as a node would read it: its own, or the view that the node states."""
        own, other, written = reading.desc, self._described.get(value), self._described.get(reading.value)
        if other is None:
            return None
        if written is None or not _is_as_stated(own, written):
            return own if other.data_type is own.data_type and value.nbytes >= own.total_bytes else None
        return replace(own, data_type=other.data_type, sizes=other.sizes, strides=other.strides, total_size=0)

    def _remedy(self, reading: TensorReading, value: Value, why: str = "") -> Remedy:
        edits: tuple[Edit, ...] = ()
        if self._graph.format == "native":
            edits = (Edit(_among_inputs(reading), value.name),)
        return Remedy(f"{reading.path} {self._words[value]}{why}", edits)

    # --- Readers of changed outputs -----------------------------------------------------------------------------------

    def refusing(self, node: Node, changes: Sequence[Change], judge: AnyJudge) -> Node | None:
        """A valid node that reads outputs of this one as they are stated, and that these changes make invalid."""
        for change in changes:
            writes, new = node.writes.get(change.field, ()), change.value
            old = node.operator.find(change.field)
            if len(writes) != 1 or not isinstance(old, TensorDesc) or not isinstance(new, TensorDesc):
                continue
            for other in self._readers.get(writes[0].value, ()):
                changed_reads = [
                    Change(
                        reading.field,
                        replace(reading.desc, sizes=new.sizes, data_type=new.data_type, strides=None),
                        "",
                        position=reading.position,
                    )
                    for reading in _readings(other)
                    if reading.value is writes[0].value and _is_as_stated(reading.desc, old)
                ]
                made = with_inferred_outputs(changed(other.operator, changed_reads), other.operator)[0]
                is_wrong = refusing(judge, other.operator.schema)
                if changed_reads and is_wrong(made) and not is_wrong(other.operator):
                    return other
        return None

    def unread(self, node: str) -> list[Value]:
        """The graph inputs and the outputs of other nodes than ``node`` that nothing reads."""
        made = [value for item in self._graph.nodes if item.name != node for value in item.targets]
        inputs = [item.value for item in self._graph.inputs]
        return [value for value in (*inputs, *made) if value not in self._read]

    # --- A reader for a value without one -----------------------------------------------------------------------------

    def outputs_of_all(self) -> list[Remedy]:
        """Outputs that nothing reads, as outputs of a graph that has none."""
        ends = [self._words[value] for value in self._writers if value not in self._read and value in self._words]
        what = "outputs" if len(ends) > 1 else "an output"
        return [Remedy(f"{' and '.join(ends)} as {what} of the graph")] if ends else []

    def readers_for(self, node: Node, judge: AnyJudge) -> list[Remedy]:
        """Proposes readers for what a node writes and nothing reads, instead of what the node is computed from.

        These are outputs of the graph, and nodes that stay valid with it.
        """
        values = [value for value in node.targets if value in self._described]
        if len(values) != 1:
            return []
        (made,), above = values, self._above(node)
        name = self._words[made]
        found = [
            Remedy(f"{name} as an output of the graph instead of {self._words.get(item.value, quote(item.name))}")
            for item in self._graph.outputs
            if item.value in above
        ]
        passing = {other: None for value in node.sources for other in self._readers[value]}
        for other in passing:
            if other is node or not above.isdisjoint(other.targets):
                continue
            is_wrong = refusing(judge, other.operator.schema)
            for reading in _readings(other):
                if reading.value in node.sources and self._fits(reading, made, is_wrong):
                    words = f"{reading.path} of {quote(other.name)} reads {name} instead of "
                    edits = (Edit(_among_inputs(reading), made.name),) if self._graph.format == "native" else ()
                    found.append(Remedy(words + self._words.get(reading.value, quote(reading.value.name)), edits))
        return found if len(found) <= MOST_ALIKE else []

    def places_for(self, value: Value, judge: AnyJudge) -> list[Remedy]:
        """Proposes readers for an unread input or constant: nodes that stay valid with it.

        They read it instead of a value that others read, too, or as an absent optional input.
        """
        found: list[tuple[str, Remedy]] = []
        desc = self._described.get(value)
        for node in self._graph.nodes if desc is not None and len(self._graph.nodes) <= MOST_NODES else ():
            is_wrong, name = refusing(judge, node.operator.schema), self._words[value]
            for reading in _readings(node):
                is_shared = len(self._readers.get(reading.value, ())) > 1 or node.sources.count(reading.value) > 1
                if is_shared and self._fits(reading, value, is_wrong):
                    words = f"{reading.path} of {quote(node.name)} reads {name}"
                    found.append((reading.field, Remedy(words, (Edit(_among_inputs(reading), value.name),))))
            for field in node.operator.schema.input_fields:
                if field.optional and node.operator.get(field.name) is None and field.type is FieldType.TENSOR:
                    made = node.operator.with_values({field.name: desc})
                    if not is_wrong(made):
                        edit = Edit(f"{node.source.rpartition('/')[0]}/inputs/{field.name}", value.name)
                        words = f'"{field.name}": {name} among the inputs of {quote(node.name)}'
                        found.append((field.name, Remedy(words, (edit,))))
        parts = tuple(re.findall("[a-z]+", value.name.lower()))
        named = [item for item in found if item[0].removesuffix("Tensor").lower().startswith(parts)]
        few = named if len(found) > MOST_ALIKE else found
        return [remedy for _, remedy in few] if len(few) <= MOST_ALIKE else []


def _readings(node: Node) -> Iterator[TensorReading]:
    for field, reads in node.reads.items():
        stated = node.operator.find(field)
        tensors = stated if isinstance(stated, tuple) else (stated,)
        for position, (read, desc) in enumerate(zip(reads, tensors, strict=False)):
            if isinstance(desc, TensorDesc) and is_measurable(desc) and not read.offset:
                yield TensorReading(node, field, position if isinstance(stated, tuple) else None, read.value, desc)


def _is_as_stated(desc: TensorDesc, written: TensorDesc) -> bool:
    return (desc.sizes, desc.data_type) == (written.sizes, written.data_type)


def _among_inputs(reading: TensorReading) -> str:
    """The place in the native format that names what a node reads."""
    return f"{reading.node.source.rpartition('/')[0]}/inputs/{reading.path}"
