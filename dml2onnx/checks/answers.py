"""Adds places and remedies to the findings about a node, and merges those with one cause.

Remedies are verified: the descriptor is changed and checked again. If one change resolves several findings, they are
one mistake, and one of them represents all.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dml2onnx.checks.alternatives import equivalent
from dml2onnx.checks.candidates import Change, in_elements, inferred
from dml2onnx.checks.consequences import SHAPE_CODES
from dml2onnx.checks.counterparts import counterparts
from dml2onnx.checks.operators import Judge
from dml2onnx.checks.other_ends import OtherEnds, of_edge
from dml2onnx.checks.other_types import OF_TYPES, in_another_place, of_other_types, worded
from dml2onnx.checks.single_edits import OPPOSITE, SLIP
from dml2onnx.checks.solved import SOLVED
from dml2onnx.checks.structure import elements_of_other_width
from dml2onnx.checks.tensors import is_measurable, strides_in_elements
from dml2onnx.checks.trials import best_trials, differs_widely
from dml2onnx.checks.wiring import Wiring
from dml2onnx.checks.wording import as_member, edits_of, remedies_of, resized_remedy
from dml2onnx.codes import checking as codes
from dml2onnx.codes.reading import EDGE_BYTES, UNKNOWN_VALUE
from dml2onnx.diagnostics import Edit, Place, Remedy, Severity, escape, plural, quote, unescape
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import MAX_ELEMENTS, TensorDesc, packed_strides
from dml2onnx.rules.findings import at_node, operator_place, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.checks.trials import CandidateTrial
    from dml2onnx.diagnostics import Diagnostic, Member
    from dml2onnx.ir.graph import Graph, Node, Read, Value, Write

MOST_NODES = 50
"""The most nodes that get remedies: as many findings as are printed."""
MOST_UNREAD = 4
"""The most values without a reader for which one is proposed."""
MOST_REMEDIES = 3
MOST_PLACES = 2
_EXPLANATION = re.compile(r", as .* has them|, (?:inferred from|from which)|: dimensions ")
"""Where a remedy stops to describe the change and begins to explain it."""
_OF_SHAPES = SHAPE_CODES | {codes.INDIVISIBLE, codes.ZERO_SIZE, codes.WINDOW_TOO_LARGE, codes.ACCEPTED_SIZES}
_OF_COUNTS = frozenset({codes.NOT_EQUAL})
_OF_CHOICES = frozenset(
    {codes.EXACTLY_ONE, codes.AT_LEAST_ONE, codes.ALL_OR_NONE, codes.REQUIRED_HERE, codes.OUT_OF_WINDOW}
)
_OF_VALUES = frozenset(
    {
        codes.ARRAY_LENGTH,
        codes.OUT_OF_RANGE,
        codes.ZERO_ATTRIBUTE,
        codes.REPEATED_ENTRY,
        codes.ACCEPTED_VALUE,
    }
)
_ANSWERED = _OF_SHAPES | _OF_COUNTS | _OF_CHOICES | _OF_VALUES
_OF_OTHERS = _OF_SHAPES | OF_TYPES
"""Findings that compare a tensor with another one, either of which may be wrong."""


class Sources:
    """Where the values of a graph are declared or computed."""

    def __init__(self, graph: Graph) -> None:
        self.ends = OtherEnds(graph)
        self.wiring = Wiring(graph)
        self._places: dict[Value, tuple[str, str]] = {}
        self._has_resources = graph.format == "dxdispatch"
        for item in graph.inputs:
            self._places[item.value] = item.source, quote(item.name)
        if graph.format == "native":
            for constant in graph.constants:
                name = constant.value.name
                self._places[constant.value] = f"/constants/{escape(name)}", quote(name)
        for node in graph.nodes:
            for field, writes in node.writes.items():
                place = pointer(node.source, field), f"{field} of {quote(node.name)}"
                self._places.update((write.value, place) for write in writes)

    def place(self, value: Value, desc: TensorDesc | None) -> Place:
        """Where a value comes from, with its descriptor or its size in bytes; no pointer if the place is unknown."""
        place, name = self._places.get(value, ("", quote(value.name)))
        if desc is None and self._has_resources:  # a version of it
            resource = value.name.rpartition("#")[0] or value.name
            place, name = f"/resources/{escape(resource)}", quote(resource)
        if desc is None:
            return Place(place, f"{name} has {plural(value.nbytes, 'byte')}")
        writer = self.ends.writer(value)
        seen = "" if writer is None or writer.desc.sizes == desc.sizes else f", read as {list(desc.sizes)}"
        return Place(place, f"{name} is {desc if not seen or writer is None else writer.desc}{seen}")


def answers(
    node: Node,
    findings: Sequence[Diagnostic],
    judge: AnyJudge,
    source: Callable[[Value, TensorDesc | None], Place],
    *,
    ends: OtherEnds | None = None,
    wiring: Wiring | None = None,
    editable: bool = True,
    in_python: bool = False,
) -> list[Diagnostic]:
    """Returns the findings about a node with their other places and with remedies.

    ``ends`` are the producers and consumers of the node's tensors if the format describes them separately, ``wiring``
    the values that the node may read instead. Remedies are edits of a file if ``editable``, and arguments and calls of
    the builder if ``in_python``.
    """
    return _NodeAnswers(node, judge, source, ends, wiring, editable, in_python).of(findings)


@dataclass(slots=True)
class _NodeAnswers:
    """A node with findings, and what was found out about their causes."""

    node: Node
    judge: AnyJudge
    source: Callable[[Value, TensorDesc | None], Place]
    ends: OtherEnds | None
    wiring: Wiring | None
    editable: bool
    in_python: bool
    rewired: Sequence[tuple[str, Remedy]] = ()
    best: Sequence[CandidateTrial] = ()
    resolved: frozenset[tuple[str, str]] = frozenset()

    def of(self, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
        """The findings, one for each mistake."""
        node, judge, wiring = self.node, self.judge, self.wiring
        if wiring is not None and any(map(_is_of_reads, findings)):
            self.rewired = wiring.from_unread(node, judge)
        if self.rewired:
            findings = _one_of_reads(findings, {field for field, _ in self.rewired})
        if any(item.code in _ANSWERED and not item.is_structural for item in findings):
            is_read = None if wiring is None else self._is_read
            best = best_trials(node.operator, findings, judge, is_read)
            self.best = [trial for trial in best if not self._is_as_written(trial)] or best
        self.resolved = _resolved_by_all(self.best)
        left = [item for item in findings if _is_of_reads(item)]
        if wiring is not None and len(left) > 1 and any(item.key not in self.resolved for item in left):
            self.rewired = self.rewired or wiring.exchanged(node, judge) or wiring.from_others(node, judge)
            findings = _one_of_reads(findings, {field for field, _ in self.rewired}) if self.rewired else findings
        first = _representative(findings, self.resolved, self.best)
        made = []
        for item in findings:
            if item is first or item.key not in self.resolved:
                is_first = item is first or (not self.best and item is findings[0])
                once: dict[str, Remedy] = {}
                for remedy in self._remedies(item, is_first=is_first, represents=item is first):
                    once.setdefault(_EXPLANATION.split(remedy.words)[0], remedy)
                kept = _first(once.values(), editable=self.editable)
                made.append(replace(self._placed(item, represents=item is first), remedies=kept))
        return made

    def _is_read(self, changes: Sequence[Change]) -> bool:
        """Whether the consumers of inferred outputs can read them with these changes."""
        return self.wiring is None or (not self.wiring.states_outputs and self._refusing(changes) is None)

    def _refusing(self, changes: Sequence[Change]) -> Node | None:
        return None if self.wiring is None else self.wiring.refusing(self.node, changes, self.judge)

    def _is_as_written(self, trial: CandidateTrial) -> bool:
        """Whether all changed tensors are exactly as their producers state them."""
        if trial.candidate.kind not in (OPPOSITE, SOLVED):
            return False
        return all(map(self._is_change_as_written, trial.candidate.changes))

    def _is_change_as_written(self, change: Change) -> bool:
        """Whether a tensor matches its producer, which would be invalid with the change."""
        reads, own = self.node.reads.get(change.field, ()), self.node.operator.find(change.field)
        position = change.position or 0
        own = own[position] if isinstance(own, tuple) else own
        writer = self.ends.writer(reads[position].value) if self.ends is not None and position < len(reads) else None
        if writer is None or writer.node is None or not isinstance(own, TensorDesc) or writer.desc.sizes != own.sizes:
            return False
        sizes = change.value.sizes if isinstance(change.value, TensorDesc) else own.sizes
        made = replace(writer.desc, sizes=sizes, strides=None, total_size=0)
        return any(item.is_error for item in self.judge(writer.node.operator.with_values({writer.field: made})))

    def _remedies(self, item: Diagnostic, *, is_first: bool, represents: bool) -> list[Remedy]:
        """Remedies of a finding, the likeliest first; with those of the best trials if it ``represents`` others."""
        node, judge, wiring = self.node, self.judge, self.wiring
        in_python = self.in_python
        if item.code in _DEAD:
            return [] if wiring is None else wiring.readers_for(node, judge)
        found = [*item.remedies, *([remedy for _, remedy in self.rewired] if _is_of_reads(item) else [])]
        if self.ends is not None and item.is_error and (represents or item.code is codes.OUT_OF_BOUNDS):
            found += _of_other_ends(node, item, judge, self.ends)
        if is_first:
            found += _of_counterparts(node, self.best, judge)
        if item.code is codes.DATA_TYPE_UNSUPPORTED:
            found += in_another_place(node.operator, item, judge)
        if represents:
            found += remedies_of(node, self.best, self._refusing, in_python=in_python)
        else:
            found += _of_one_tensor(node, item) or worded(node.operator, item, in_python=in_python)
        if item.code in OF_TYPES or (item.code is codes.DATA_TYPE_LEVEL and item.field in node.writes):
            found += of_other_types(node, item, judge, in_python=in_python)
        if represents:
            found += _whole_sizes(node.operator, item, judge, self.resolved)
        if item.code is codes.OPERATOR_LEVEL and isinstance(judge, Judge):
            found += [Remedy(words) for words in filter(None, [equivalent(node.operator, judge.level)])]
        if item.since and in_python:
            found.append(Remedy(f"GraphBuilder(feature_level={quote(item.since)})"))
        if item.code is codes.OUT_OF_BOUNDS and self.ends is not None:
            found += _declared_larger(node, item, self.ends)
        if item.code is codes.OUT_OF_BOUNDS:
            found += _within_buffer(node, item, judge, self.source)
        is_known = len(found) >= MOST_REMEDIES or (found and item.code is codes.OUT_OF_BOUNDS)
        if wiring is not None and _is_of_reads(item) and not self.rewired and not is_known:
            fields = {item.field, *item.related}
            found += [remedy for field, remedy in wiring.from_others(node, judge, fields) if field in fields]
        return found

    def _placed(self, item: Diagnostic, *, represents: bool) -> Diagnostic:
        """The finding at its node, with the places of the related tensors."""
        diagnostic = at_node(item, self.node)
        fields = [change.path for trial in self.best for change in trial.candidate.changes] if represents else []
        if item.code in _OF_OTHERS | _OF_CHOICES:
            stated = _stated(self.node, self.best, diagnostic.pointer) if represents else ()
            places = _places(self.node, [*fields, item.path, *item.related], diagnostic.pointer, self.source)
            return replace(diagnostic, places=(*stated, *places)[:MOST_PLACES])
        if item.code in _OF_COUNTS:
            return replace(diagnostic, places=_members(self.node, item.related, diagnostic.pointer)[:MOST_PLACES])
        if item.code is codes.OUT_OF_BOUNDS:
            places = _places(
                self.node, [item.path], diagnostic.pointer, lambda value, _: self.source(value, None), written=True
            )
            return replace(diagnostic, places=places)
        return diagnostic


_DEAD = frozenset({codes.DEAD_NODE, codes.DEAD_NODE_REFUSED})


def _is_of_reads(item: Diagnostic) -> bool:
    """Whether an error may come from reading the wrong value."""
    return item.is_error and item.code in _OF_OTHERS | {codes.CYCLE, codes.OUT_OF_BOUNDS}


def _one_of_reads(findings: Sequence[Diagnostic], fields: Collection[str]) -> list[Diagnostic]:
    """The findings with only the first of those about reads: one about ``fields`` if there is one."""
    among = [item for item in findings if _is_of_reads(item)]
    first = next((item for item in among if item.field in fields), among[0])
    also = {codes.ACCEPTED_SIZES, codes.SCALES_ARE_SIZES}
    return [item for item in findings if item is first or not (_is_of_reads(item) or item.code in also)]


def graph_answers(graph: Graph, found: Iterable[Diagnostic], judge: AnyJudge) -> list[Diagnostic]:
    """Returns the findings about the whole graph, with remedies for the first ones about edges and names."""
    made, answered, wiring = [], 0, Wiring(graph)
    for item in found:
        if item.code is codes.NO_OUTPUTS:
            item = replace(item, remedies=tuple(wiring.outputs_of_all()))
        if item.code in (EDGE_BYTES, UNKNOWN_VALUE) and answered < MOST_NODES:
            answered += 1
            item = _edge_answer(graph, item, judge) if item.code == EDGE_BYTES else _name_answer(graph, item, wiring)
        made.append(item)
    return made


def unread_answers(graph: Graph, found: Sequence[Diagnostic], judge: AnyJudge) -> list[Diagnostic]:
    """Returns the findings about unread inputs and constants; the first few with nodes that may have to read them."""
    wiring, made = Wiring(graph), list(found)
    values = {quote(item.name): item.value for item in graph.inputs}
    values |= {quote(item.value.name): item.value for item in graph.constants}
    for index, item in enumerate(found[:MOST_UNREAD]):
        if item.found in values:
            made[index] = replace(item, remedies=tuple(wiring.places_for(values[item.found], judge)))
    return made


def _edge_answer(graph: Graph, item: Diagnostic, judge: AnyJudge) -> Diagnostic:
    """A finding about an edge between tensors of different byte counts, with the change that either needs."""
    fitting = list(of_edge(graph, item, judge))
    found = [resized_remedy(resized) for resized in fitting]
    if fitting and fitting[0].is_of_other_type:
        found.append(Remedy("a CAST node between them"))
    remedies = item.remedies or _first(found, editable=graph.format == "native")
    return replace(item, remedies=remedies)


def _name_answer(graph: Graph, item: Diagnostic, wiring: Wiring) -> Diagnostic:
    """A finding about an unknown value name, with the only value that nothing reads."""
    found = wiring.unread(item.node) if item.node and not item.remedies and graph.format == "native" else []
    if len(found) != 1:
        return item
    name = found[0].name
    for node in graph.nodes:
        for field, writes in node.writes.items():
            if writes[:1] and writes[0].value is found[0] and name == f"{node.name}.{field}":  # a default name
                return replace(
                    item, remedies=(Remedy(f'"{field}": {item.found} among the outputs of {quote(node.name)}'),)
                )
    return replace(item, remedies=(Remedy(f"{quote(name)}, which nothing reads", (Edit(item.pointer, name),)),))


def _first(remedies: Iterable[Remedy], *, editable: bool) -> tuple[Remedy, ...]:
    """The first few remedies; without edits if the format cannot be edited."""
    first = tuple(remedies)[:MOST_REMEDIES]
    return first if editable else tuple([replace(remedy, edits=()) for remedy in first])


# --- Remedies ---------------------------------------------------------------------------------------------------------


def _of_other_ends(node: Node, item: Diagnostic, judge: AnyJudge, ends: OtherEnds) -> Iterator[Remedy]:
    """A tensor with the sizes of its producer or consumers; if it exceeds its buffer, also one of these changed."""
    fields = frozenset({item.field}) if item.code is codes.OUT_OF_BOUNDS else frozenset[str]()
    for resized in ends.resized(node, judge, fields):
        yield resized_remedy(resized)


def _of_resource(
    node: Node, item: Diagnostic, judge: AnyJudge, source: Callable[[Value, TensorDesc | None], Place]
) -> Iterator[Remedy]:
    """A DxDispatch resource that is large enough for the tensor bound to it: another data type, or more elements."""
    desc = node.operator.find(item.field)
    all_bound: Sequence[Read | Write] = (*node.reads.get(item.field, ()), *node.writes.get(item.field, ()))
    for bound in all_bound:
        resource = source(bound.value, None)
        if isinstance(desc, TensorDesc) and resource.pointer.startswith("/resources/") and not bound.offset:
            name = quote(unescape(resource.pointer.removeprefix("/resources/")))
            kind, count = desc.data_type.name, desc.extent
            repeated = node.operator.with_values({item.field: replace(desc, strides=(0,) * desc.rank, total_size=0)})
            if bound.value.nbytes == 4 * max(1, desc.data_type.bits // 32) and not judge(repeated):
                yield Remedy(f"{item.field} with Strides {[0] * desc.rank}, which repeat the one element of {name}")
            if elements_of_other_width(desc, bound.value.nbytes):
                yield Remedy(f"initialValuesDataType {kind} of {name}")
            yield Remedy(f"{name} with {plural(count, 'element')} of {kind}, valueCount {count}")


def _declared_larger(node: Node, item: Diagnostic, ends: OtherEnds) -> Iterator[Remedy]:
    """A constant or an input of the graph that is declared as large as the tensor that reads it."""
    desc, reads = node.operator.find(item.field), node.reads.get(item.field, ())
    end = ends.declared(reads[0].value) if len(reads) == 1 and not reads[0].offset else None
    if end is None or not isinstance(desc, TensorDesc) or not is_measurable(desc):
        return
    steps = zip(desc.sizes, desc.effective_strides, strict=True)
    sizes = tuple([size if step else 1 for size, step in steps])
    if replace(desc, sizes=sizes, strides=None, total_size=0).total_bytes == desc.total_bytes:
        of_type = "" if end.desc.data_type is desc.data_type else f"of data type {desc.data_type.name}"
        of_sizes = "" if end.desc.sizes == sizes else f"of sizes {list(sizes)}"
        yield Remedy(f"{end.words} {' and '.join(filter(None, (of_type, of_sizes)))}")


def _within_buffer(
    node: Node,
    item: Diagnostic,
    judge: AnyJudge,
    source: Callable[[Value, TensorDesc | None], Place],
) -> Iterator[Remedy]:
    """A tensor that exceeds its buffer, with inferred sizes that fit; otherwise a larger buffer or a smaller size."""
    writes, old = node.writes.get(item.field, ()), node.operator.find(item.field)
    reads: Sequence[Read | Write] = node.reads.get(item.field, ()) or writes
    right = inferred(node.operator, [item.field]).get(item.field) if len(writes) == 1 else None
    if isinstance(old, TensorDesc) and right is not None and right.sizes != old.sizes:
        fits = writes[0].offset + right.total_bytes <= writes[0].value.nbytes
        if fits:
            change = Change(item.field, right, f"of sizes {list(right.sizes)}, inferred from the other fields")
            yield Remedy(f"{item.field} {change.words}", tuple(edits_of(node, change)))
            return
    yield from _of_resource(node, item, judge, source)
    if len(reads) == 1 and isinstance(old, TensorDesc) and old.strides is None:
        present = reads[0].value.nbytes - reads[0].offset
        for axis, size in enumerate(old.sizes):
            fitting = size * present // old.total_bytes if old.total_bytes else 0
            made = replace(old, sizes=(*old.sizes[:axis], fitting, *old.sizes[axis + 1 :]), total_size=0)
            if 0 < fitting < size and made.total_bytes == present:
                change = Change(item.field, made, f"of sizes {list(made.sizes)}")
                if not any(other.is_error for other in judge(node.operator.with_values({item.field: made}))):
                    yield Remedy(f"{item.field} {change.words}", tuple(edits_of(node, change)))


def _resolved_by_all(best: Sequence[CandidateTrial]) -> frozenset[tuple[str, str]]:
    """The findings that every one of the best trials resolves."""
    return frozenset.intersection(*(trial.resolved for trial in best)) if best else frozenset()


def _representative(
    findings: Sequence[Diagnostic], resolved: frozenset[tuple[str, str]], best: Sequence[CandidateTrial]
) -> Diagnostic | None:
    """The finding that stays of those that one change resolves: an error, if possible about the changed field."""
    fields = {change.field for trial in best for change in trial.candidate.changes}
    among = [item for item in findings if item.key in resolved]
    order = {Severity.ERROR: 0, Severity.WARNING: 1}
    first = min(among, key=lambda item: (order[item.severity], item.field not in fields), default=None)
    if first is None:
        return None
    alike = [item for item in among if (item.field, item.severity) == (first.field, first.severity)]
    return max(alike, key=lambda item: item.path.count("/"))  # the most specific one


def _of_counterparts(node: Node, best: Sequence[CandidateTrial], judge: AnyJudge) -> tuple[Remedy, ...]:
    """Another operator that accepts the fields, unless there is a more specific remedy than a slip."""
    if any(trial.candidate.kind < SLIP and not differs_widely(node.operator, trial) for trial in best):
        return ()
    made = []
    for name in counterparts(node.operator, judge)[:1]:
        edit = Edit(operator_place(node.source), name)
        made.append(Remedy(f"{name}, which accepts this, instead of {node.operator.type}", (edit,)))
    return tuple(made)


def _of_one_tensor(node: Node, item: Diagnostic) -> tuple[Remedy, ...]:
    """Remedies within one tensor: strides in elements, strides without overlap, the byte count, or the scales."""

    def edits(value: Member, path: str = item.path) -> tuple[Edit, ...]:
        return (Edit(pointer(node.source, path), value),)

    desc = node.operator.find(item.field)
    if item.code is codes.TOTAL_SIZE_TOO_SMALL and item.expected.isdigit():
        larger = Remedy(f"TotalTensorSizeInBytes {item.expected}", edits(int(item.expected)))
        dense = in_elements(desc) if isinstance(desc, TensorDesc) else None
        if dense is None or not isinstance(desc, TensorDesc) or dense.total_bytes > desc.total_size:
            return (replace(larger, is_certain=True),)
        steps, path = dense.effective_strides, item.path.replace("TotalTensorSizeInBytes", "Strides")
        words = f"Strides {list(steps)}, which count elements and not bytes"
        return Remedy(words, edits(as_member(steps), path)), larger
    if item.code is codes.SCALES_ARE_SIZES:
        scales = [float(number) for number in item.expected[1:-1].split(", ")]
        input, stated = node.operator.tensor("InputTensor"), node.operator.get("Scales")
        factors = [item for item in stated if isinstance(item, float)] if isinstance(stated, tuple) else []
        sizes = [size * factor for size, factor in zip(input.sizes, factors, strict=True)]
        is_whole = all(size == int(size) > 0 for size in sizes) and math.prod(sizes) <= MAX_ELEMENTS
        follows = f"OutputTensor of sizes {list(map(int, sizes))}, inferred from the other fields"
        remedy = Remedy(f"Scales {item.expected}", edits([*scales]))
        return (remedy, *([Remedy(follows)] if is_whole else []))
    desc = desc if item.path == f"{item.field}/Strides" else None
    if item.code is codes.OVERLAPPING_OUTPUT:
        kept = tuple([int(step) for step in re.findall(r"\d+", item.expected)])
        packed = packed_strides(desc.sizes) if isinstance(desc, TensorDesc) else kept
        choices = dict.fromkeys((kept, packed))
        return tuple([Remedy(f"Strides {list(steps)}", edits(as_member(steps))) for steps in choices])
    if item.code not in (codes.STRIDES_IN_BYTES, codes.OUT_OF_BOUNDS) or not isinstance(desc, TensorDesc):
        return ()
    strides = strides_in_elements(desc)
    return () if strides is None else (Remedy(f"Strides {list(strides)}", edits(as_member(strides))),)


def _whole_sizes(
    desc: OperatorDesc, item: Diagnostic, judge: AnyJudge, resolved: frozenset[tuple[str, str]]
) -> tuple[Remedy, ...]:
    """All sizes of an input with one wrong size, if they resolve as much as the best trials."""
    field, _, rest = item.path.partition("/Sizes/")
    tensor = desc.find(field)
    if not rest.isdigit() or not isinstance(tensor, TensorDesc) or not item.expected.isdigit():
        return ()
    if field not in {other.name for other in desc.schema.input_fields}:
        return ()
    sizes = list(tensor.sizes)
    sizes[int(rest)] = int(item.expected)
    made = replace(tensor, sizes=tuple(sizes), strides=None)
    known = {other.key for other in judge(desc)} - resolved
    if {other.key for other in judge(desc.with_values({field: made}))} - known:
        return ()
    return (Remedy(f"{field} of sizes {sizes}"),)


# --- Places -----------------------------------------------------------------------------------------------------------


def _places(
    node: Node,
    paths: Iterable[str],
    own: str,
    source: Callable[[Value, TensorDesc | None], Place],
    *,
    written: bool = False,
) -> tuple[Place, ...]:
    """The places of the tensors of these fields, the nearest first; with ``written``, of outputs as well."""
    found: dict[str, Place] = {}
    for path in paths:
        field, _, rest = path.partition("/")
        reads: Sequence[Read | Write] = node.reads.get(field, ()) or (node.writes.get(field, ()) if written else ())
        if field not in node.operator.schema.index or not reads:
            continue
        index = int(rest.partition("/")[0]) if rest.partition("/")[0].isdigit() else 0
        tensors = node.operator.get(field)
        array = tensors if isinstance(tensors, tuple) else (tensors,)
        if index < min(len(reads), len(array)) and isinstance(desc := array[index], TensorDesc):
            place = source(reads[index].value, desc)
            if place.pointer not in ("", own):
                found.setdefault(place.pointer, place)
    return tuple(found.values())


def _stated(node: Node, best: Sequence[CandidateTrial], own: str) -> tuple[Place, ...]:
    """The places of the attributes and outputs that the best trials change."""
    changes = [change for trial in best for change in trial.candidate.changes]
    here = [item.field for item in changes if not isinstance(item.value, TensorDesc) or item.field in node.writes]
    return _members(node, here, own)


def _members(node: Node, fields: Iterable[str], own: str) -> tuple[Place, ...]:
    """The places and values of these attributes and outputs, without inputs and array lengths."""
    found: dict[str, Place] = {}
    schema = node.operator.schema
    lengths = {item.count for item in schema.fields}
    for field in fields:
        if field not in schema.index or field in node.reads or field in lengths:
            continue
        value, place = node.operator.get(field), pointer(node.source, field)
        if place != own and not own.startswith(f"{place}/"):
            shown = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else value
            found.setdefault(place, Place(place, f"{field} is {shown}"))
    return tuple(found.values())
