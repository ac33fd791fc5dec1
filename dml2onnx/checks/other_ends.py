"""Remedies from the producers and consumers of a node's tensors, which may describe them differently.

If an input and an output do not match, either may be wrong. If the node is valid with the sizes that the producer of
the input states, the input is the wrong one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.checks.candidates import Change, changed, with_inferred_outputs
from dml2onnx.diagnostics import quote
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.findings import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph, Node, Value
    from dml2onnx.ir.operator import OperatorDesc


class End(NamedTuple):
    """A descriptor of a value: of its producer, a consumer, or the graph."""

    desc: TensorDesc
    words: str
    node: Node | None = None
    field: str = ""


class Resized(NamedTuple):
    """A node that is valid with the sizes or data type that another end of one of its tensors has."""

    node: Node
    changes: tuple[Change, ...]
    """Of that tensor, and of the outputs inferred from it."""
    words: str

    @property
    def is_of_other_type(self) -> bool:
        """Whether it changes a data type."""
        pairs = [(change.value, self.node.operator.find(change.field)) for change in self.changes]
        tensors = [(new, old) for new, old in pairs if isinstance(new, TensorDesc) and isinstance(old, TensorDesc)]
        return any(new.data_type is not old.data_type for new, old in tensors)


class OtherEnds:
    """The producer and the consumers of each value of a graph that is bound to single tensors."""

    def __init__(self, graph: Graph) -> None:
        self._writers: dict[Value, End] = {}
        self._readers: dict[Value, list[End]] = {}
        self._constants = {item.value: End(item.desc, quote(item.value.name)) for item in graph.constants if item.desc}
        for item in graph.inputs:
            if item.desc is not None and item.source:
                self._writers[item.value] = End(item.desc, quote(item.name))
        for node in graph.nodes:
            for field, writes in node.writes.items():
                desc = node.operator.find(field)
                if isinstance(desc, TensorDesc) and len(writes) == 1 and not writes[0].offset:
                    self._writers[writes[0].value] = End(desc, f"{field} of {quote(node.name)}", node, field)
            for field, reads in node.reads.items():
                desc = node.operator.find(field)
                if isinstance(desc, TensorDesc) and len(reads) == 1 and not reads[0].offset:
                    end = End(desc, f"{field} of {quote(node.name)}", node, field)
                    self._readers.setdefault(reads[0].value, []).append(end)

    def writer(self, value: Value) -> End | None:
        """The descriptor that a node writes or the caller binds."""
        return self._writers.get(value)

    def declared(self, value: Value) -> End | None:
        """The descriptor of a constant or an input of the graph."""
        end = self._constants.get(value) or self._writers.get(value)
        return end if end is None or end.node is None else None

    def resized(self, node: Node, judge: AnyJudge, fields: frozenset[str] = frozenset()) -> Iterator[Resized]:
        """Yields the node, or the producer of an input, with one tensor as its other ends have it.

        With ``fields``, only inputs among these are changed.
        """
        for field, reads in node.reads.items():
            value = reads[0].value if len(reads) == 1 and not reads[0].offset else None
            if value is None or (fields and field not in fields):
                continue
            writer = self._writers.get(value)
            if fields and (end := writer or self._constants.get(value)):
                yield from _repeated(node, field, end, judge)
            if writer is None:
                continue
            yield from _resized(node, field, writer, judge)
            desc = node.operator.find(field)
            if fields and writer.node is not None and isinstance(desc, TensorDesc):
                reader = End(desc, f"{field} of {quote(node.name)}")
                yield from _resized(writer.node, writer.field, reader, judge, named=True)
        for field, writes in node.writes.items() if not fields else ():
            readers = self._readers.get(writes[0].value, []) if len(writes) == 1 else []
            if readers and len({end.desc.sizes for end in readers}) == 1:
                yield from _resized(node, field, readers[0], judge)


def _repeated(node: Node, field: str, end: End, judge: AnyJudge) -> Iterator[Resized]:
    """The node with a tensor that broadcasts the other end along its dimensions of 1, if that is valid."""
    own, other = node.operator.find(field), end.desc
    if not isinstance(own, TensorDesc) or own.strides is not None or own.data_type is not other.data_type:
        return
    if own.rank != other.rank or any(b not in (1, a) for a, b in zip(own.sizes, other.sizes, strict=True)):
        return
    pairs = zip(other.sizes, other.effective_strides, strict=True)
    change = Change(field, replace(own, strides=tuple([0 if size == 1 else step for size, step in pairs])), "")
    if not _has_errors(changed(node.operator, (change,)), judge):
        assert isinstance(change.value, TensorDesc)
        words = f"{field} with Strides {list(change.value.strides or ())}, which repeat {end.words}"
        yield Resized(node, (change,), words)


def _resized(node: Node, field: str, end: End, judge: AnyJudge, *, named: bool = False) -> Iterator[Resized]:
    """The node with the sizes that the other end of one tensor has, if that is valid."""
    own = node.operator.find(field)
    if not isinstance(own, TensorDesc) or own.sizes == end.desc.sizes or own.data_type.bits != end.desc.data_type.bits:
        return
    other = replace(own, sizes=end.desc.sizes, strides=end.desc.strides, total_size=0)
    change = Change(field, other, f"of sizes {list(other.sizes)}")
    made = changed(node.operator, (change,))
    outputs, further = (made, ()) if field in node.writes else with_inferred_outputs(made, node.operator)
    for desc, more in ((made, ()), (outputs, further)):
        if not _has_errors(desc, judge):
            also = "".join(f", and {item.field} {item.words}" for item in more)
            whose = f" of {quote(node.name)}" if named else ""
            yield Resized(node, (change, *more), f"{field}{whose} {change.words}, as {end.words} has them{also}")
            return


def _retyped(node: Node, field: str, end: End, judge: AnyJudge) -> Iterator[Resized]:
    """The node with the other end's data type for all tensors of the old type, if that is valid."""
    own = node.operator.find(field)
    if not isinstance(own, TensorDesc) or own.sizes != end.desc.sizes or own.data_type is end.desc.data_type:
        return
    wanted = end.desc.data_type
    changes = tuple(
        [
            Change(name.name, replace(tensor, data_type=wanted, total_size=0), f"of data type {wanted.name}")
            for name, tensor in node.operator.items()
            if isinstance(tensor, TensorDesc) and tensor.data_type is own.data_type
        ]
    )
    if not _has_errors(changed(node.operator, changes), judge):
        fields = " and ".join([change.field for change in changes])
        yield Resized(
            node, changes, f"{fields} of {quote(node.name)} of data type {wanted.name}, as {end.words} has it"
        )


def _has_errors(desc: OperatorDesc, judge: AnyJudge) -> bool:
    return any(item.is_error for item in judge(desc))


def of_edge(graph: Graph, item: Diagnostic, judge: AnyJudge) -> Iterator[Resized]:
    """Yields the changes of either end that resolve an edge between tensors of different byte counts."""
    ends = [(node, field) for place in item.places[:2] for node, field in _at(graph, place.pointer)]
    if len(ends) != 2:
        return
    (writer, written), (reader, read) = ends
    for node, field, other, others in ((reader, read, writer, written), (writer, written, reader, read)):
        desc = other.operator.find(others)
        if isinstance(desc, TensorDesc):
            end = End(desc, f"{others} of {quote(other.name)}")
            yield from _resized(node, field, end, judge, named=node is writer)
            yield from _retyped(node, field, end, judge)


def _at(graph: Graph, place: str) -> Iterator[tuple[Node, str]]:
    for node in graph.nodes:
        if node.source and place.startswith(f"{node.source}/"):
            for field in node.operator.schema.fields:
                if pointer(node.source, field.name) == place:
                    yield node, field.name
