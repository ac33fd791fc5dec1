"""Findings about a node, one for each mistake, with other places and remedies.

A remedy is tried before it is given: the descriptor is changed and judged again. Where one change does away with
several findings they are one mistake, and the first of them stands for all.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.checks.alternatives import equivalent
from dml2onnx.checks.candidates import Change, in_elements, inferred
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
from dml2onnx.diagnostics import Edit, Place, Remedy, Severity, plural, quote
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import MAX_ELEMENTS, TensorDesc, packed_strides
from dml2onnx.rules.findings import at_node, operator_place, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.checks.trials import Trial
    from dml2onnx.diagnostics import Diagnostic, Member
    from dml2onnx.ir.graph import Graph, Node, Read, Value, Write

MOST_NODES = 50
"""Nodes that are looked at: as many findings as people are shown."""
MOST_UNREAD = 4
"""Values without a reader for which one is looked for."""
MOST_REMEDIES = 3
MOST_PLACES = 2
_WHY = re.compile(r", as .* has them|, (?:as it follows|from which)|: dimensions ")
"""What follows the sizes of a tensor in a remedy, and tells no other remedy."""
_OF_SHAPES = frozenset(
    {
        codes.DIFFERENT_DIMENSION_COUNTS,
        codes.WRONG_DIMENSION_COUNT,
        codes.DIMENSION_COUNT_UNSUPPORTED,
        codes.DIMENSION_COUNT_LEVEL,
        codes.EFFECTIVE_RANK,
        codes.DIFFERENT_SIZES,
        codes.NOT_BROADCASTABLE,
        codes.WRONG_SIZE,
        codes.ELEMENT_COUNT,
        codes.INDIVISIBLE,
        codes.ZERO_SIZE,
        codes.NO_ROOM,
        codes.ACCEPTED_SIZES,
    }
)
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
"""What is wrong with one tensor as seen from another, which may be the wrong one."""


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
                self._places[constant.value] = f"/constants/{_escaped(name)}", quote(name)
        for node in graph.nodes:
            for field, writes in node.writes.items():
                place = pointer(node.source, field), f"{field} of {quote(node.name)}"
                self._places.update((write.value, place) for write in writes)

    def place(self, value: Value, desc: TensorDesc | None) -> Place:
        """Where a value comes from, and what it is, or how long without a descriptor; no pointer where not known."""
        place, name = self._places.get(value, ("", quote(value.name)))
        if desc is None and self._has_resources:  # a version of it
            resource = value.name.rpartition("#")[0] or value.name
            place, name = f"/resources/{_escaped(resource)}", quote(resource)
        if desc is None:
            return Place(place, f"{name} has {plural(value.nbytes, 'byte')}")
        writer = self.ends.writer(value)
        seen = "" if writer is None or writer.desc.sizes == desc.sizes else f", read as {list(desc.sizes)}"
        return Place(place, f"{name} is {desc if not seen or writer is None else writer.desc}{seen}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


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
    """The findings about a node, with their other places and with remedies.

    ``ends`` are those who write and read the tensors of the node, where they describe them by themselves, ``wiring``
    the values that it may read instead;
    ``editable`` where these are edits of a file, ``in_python`` where they are arguments and calls of the builder.
    """
    return _Answering(node, judge, source, ends, wiring, editable=editable, in_python=in_python).of(findings)


class _Answering:
    """What is known of a node whose findings are answered."""

    def __init__(
        self,
        node: Node,
        judge: AnyJudge,
        source: Callable[[Value, TensorDesc | None], Place],
        ends: OtherEnds | None,
        wiring: Wiring | None,
        *,
        editable: bool,
        in_python: bool,
    ) -> None:
        self._node, self._judge, self._source = node, judge, source
        self._ends, self._wiring = ends, wiring
        self._editable, self._in_python = editable, in_python
        self._rewired: list[tuple[str, Remedy]] = []
        self._best: list[Trial] = []
        self._gone: frozenset[tuple[str, str]] = frozenset()

    def of(self, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
        """The findings, one for each mistake."""
        node, judge, wiring = self._node, self._judge, self._wiring
        if wiring is not None and any(map(_is_of_reads, findings)):
            self._rewired = wiring.instead(node, judge)
        if self._rewired:
            findings = _one_of_reads(findings, {field for field, _ in self._rewired})
        if any(item.code in _ANSWERED and not item.is_structural for item in findings):
            is_read = None if wiring is None else self._is_read
            best = best_trials(node.operator, findings, judge, is_read)
            self._best = [trial for trial in best if not self._is_as_written(trial)] or best
        self._gone = _gone_with_all(findings, self._best)
        left = [item for item in findings if _is_of_reads(item)]
        if wiring is not None and len(left) > 1 and any(item.key not in self._gone for item in left):
            self._rewired = self._rewired or wiring.exchanged(node, judge) or wiring.few(node, judge)
            findings = _one_of_reads(findings, {field for field, _ in self._rewired}) if self._rewired else findings
        first = _standing_for(findings, self._gone, self._best)
        made = []
        for item in findings:
            if item is first or item.key not in self._gone:
                is_first = item is first or (not self._best and item is findings[0])
                once: dict[str, Remedy] = {}
                for remedy in self._remedies(item, is_first=is_first, stands=item is first):
                    once.setdefault(_WHY.split(remedy.words)[0], remedy)
                kept = tuple(once.values())[:MOST_REMEDIES]
                made.append(replace(self._placed(item, stands=item is first), remedies=kept))
        return made

    def _is_read(self, changes: Sequence[Change]) -> bool:
        """Whether outputs follow from the rest by themselves, and can be read by those who read them."""
        return self._wiring is None or (not self._wiring.states_outputs and self._refusing(changes) is None)

    def _refusing(self, changes: Sequence[Change]) -> Node | None:
        return None if self._wiring is None else self._wiring.refusing(self._node, changes, self._judge)

    def _is_as_written(self, trial: Trial) -> bool:
        """Whether the tensors that would change are those that other nodes write, as these state them."""
        if trial.candidate.kind not in (OPPOSITE, SOLVED):
            return False
        return all(map(self._is_change_as_written, trial.candidate.changes))

    def _is_change_as_written(self, change: Change) -> bool:
        """Whether a tensor is as a node states it that writes it, and that would be wrong with the change."""
        reads, own = self._node.reads.get(change.field, ()), self._node.operator.find(change.field)
        position = change.position or 0
        own = own[position] if isinstance(own, tuple) else own
        writer = self._ends.writer(reads[position].value) if self._ends is not None and position < len(reads) else None
        if writer is None or writer.node is None or not isinstance(own, TensorDesc) or writer.desc.sizes != own.sizes:
            return False
        sizes = change.value.sizes if isinstance(change.value, TensorDesc) else own.sizes
        made = replace(writer.desc, sizes=sizes, strides=None, total_size=0)
        return any(item.is_error for item in self._judge(writer.node.operator.with_values({writer.field: made})))

    def _remedies(self, item: Diagnostic, *, is_first: bool, stands: bool) -> list[Remedy]:
        """What would do about a finding, the likeliest first; all of the best trials where it ``stands`` for others."""
        node, judge, wiring = self._node, self._judge, self._wiring
        editable, in_python = self._editable, self._in_python
        if item.code in _DEAD:
            return [] if wiring is None else wiring.readers_for(node, judge)
        found = [*item.remedies, *([remedy for _, remedy in self._rewired] if _is_of_reads(item) else [])]
        if self._ends is not None and item.is_error and (stands or item.code is codes.OUT_OF_BOUNDS):
            found += _of_other_ends(node, item, judge, self._ends, editable=editable)
        if is_first:
            found += _of_counterparts(node, self._best, judge, editable=editable)
        if item.code is codes.DATA_TYPE_UNSUPPORTED:
            found += in_another_place(node.operator, item, judge)
        if stands:
            found += remedies_of(node, self._best, self._refusing, editable=editable, in_python=in_python)
        else:
            found += _of_one_tensor(node, item, editable=editable) or worded(node.operator, item, in_python=in_python)
        if item.code in OF_TYPES or (item.code is codes.DATA_TYPE_LEVEL and item.field in node.writes):
            found += of_other_types(node, item, judge, editable=editable, in_python=in_python)
        if stands:
            found += _whole_sizes(node.operator, item, judge, self._gone)
        if item.code is codes.OPERATOR_LEVEL and isinstance(judge, Judge):
            found += [Remedy(words) for words in filter(None, [equivalent(node.operator, judge.level)])]
        if item.since and in_python:
            found.append(Remedy(f"GraphBuilder(feature_level={quote(item.since)})"))
        if item.code is codes.OUT_OF_BOUNDS and self._ends is not None:
            found += _declared_larger(node, item, self._ends)
        if item.code is codes.OUT_OF_BOUNDS:
            found += _within_buffer(node, item, judge, self._source, editable=editable)
        is_known = len(found) >= MOST_REMEDIES or (found and item.code is codes.OUT_OF_BOUNDS)
        if wiring is not None and _is_of_reads(item) and not self._rewired and not is_known:
            fields = {item.field, *item.related}
            found += [remedy for field, remedy in wiring.few(node, judge, fields) if field in fields]
        return found

    def _placed(self, item: Diagnostic, *, stands: bool) -> Diagnostic:
        """A finding at its node, with where the tensors come from that it is about."""
        diagnostic = at_node(item, self._node)
        fields = [change.path for trial in self._best for change in trial.candidate.changes] if stands else []
        if item.code in _OF_OTHERS | _OF_CHOICES:
            stated = _stated(self._node, self._best, diagnostic.pointer) if stands else ()
            places = _places(self._node, [*fields, item.path, *item.related], diagnostic.pointer, self._source)
            return replace(diagnostic, places=(*stated, *places)[:MOST_PLACES])
        if item.code in _OF_COUNTS:
            return replace(diagnostic, places=_members(self._node, item.related, diagnostic.pointer)[:MOST_PLACES])
        if item.code is codes.OUT_OF_BOUNDS:
            places = _places(
                self._node, [item.path], diagnostic.pointer, lambda value, _: self._source(value, None), written=True
            )
            return replace(diagnostic, places=places)
        return diagnostic


_DEAD = frozenset({codes.DEAD_NODE, codes.DEAD_NODE_REFUSED})


def _is_of_reads(item: Diagnostic) -> bool:
    """Whether an error may be one of what a node reads."""
    return item.is_error and item.code in _OF_OTHERS | {codes.CYCLE, codes.OUT_OF_BOUNDS}


def _one_of_reads(findings: Sequence[Diagnostic], fields: Collection[str]) -> list[Diagnostic]:
    """The findings, of those of what a node reads only the first: at one of these fields where there is one."""
    among = [item for item in findings if _is_of_reads(item)]
    first = next((item for item in among if item.field in fields), among[0])
    also = {codes.ACCEPTED_SIZES, codes.SCALES_ARE_SIZES}
    return [item for item in findings if item is first or not (_is_of_reads(item) or item.code in also)]


def graph_answers(graph: Graph, found: Iterable[Diagnostic], judge: AnyJudge) -> list[Diagnostic]:
    """The findings about a graph as a whole, with remedies for the first of those about edges and names."""
    made, asked, wiring = [], 0, Wiring(graph)
    for item in found:
        if item.code is codes.NO_OUTPUTS:
            item = replace(item, remedies=tuple(wiring.outputs_of_all()))
        if item.code in (EDGE_BYTES, UNKNOWN_VALUE) and asked < MOST_NODES:
            asked += 1
            item = _edge_answer(graph, item, judge) if item.code == EDGE_BYTES else _name_answer(graph, item, wiring)
        made.append(item)
    return made


def unread_answers(graph: Graph, found: Sequence[Diagnostic], judge: AnyJudge) -> list[Diagnostic]:
    """What is found of inputs and constants that nothing reads; the first few with nodes that may have to."""
    wiring, made = Wiring(graph), list(found)
    values = {quote(item.name): item.value for item in graph.inputs}
    values |= {quote(item.value.name): item.value for item in graph.constants}
    for index, item in enumerate(found[:MOST_UNREAD]):
        if item.found in values:
            made[index] = replace(item, remedies=tuple(wiring.places_for(values[item.found], judge)))
    return made


def _edge_answer(graph: Graph, item: Diagnostic, judge: AnyJudge) -> Diagnostic:
    """A finding about an edge between tensors of other bytes, with what either of them would have to be."""
    is_native = graph.format == "native"
    fitting = list(of_edge(graph, item, judge))
    found = [resized_remedy(resized, editable=is_native) for resized in fitting]
    if fitting and fitting[0].is_of_other_type:
        found.append(Remedy("a CAST node between them"))
    return replace(item, remedies=tuple(found[:MOST_REMEDIES])) if found and not item.remedies else item


def _name_answer(graph: Graph, item: Diagnostic, wiring: Wiring) -> Diagnostic:
    """A finding about the name of a value that there is not, with the only value that nothing reads."""
    found = wiring.unread(item.node) if item.node and not item.remedies and graph.format == "native" else []
    if len(found) != 1:
        return item
    name = found[0].name
    for node in graph.nodes:
        for field, writes in node.writes.items():
            if writes[:1] and writes[0].value is found[0] and name == f"{node.name}.{field}":  # which has no name
                return replace(
                    item, remedies=(Remedy(f'"{field}": {item.found} among the outputs of {quote(node.name)}'),)
                )
    return replace(item, remedies=(Remedy(f"{quote(name)}, which nothing reads", (Edit(item.pointer, name),)),))


# --- Remedies ---------------------------------------------------------------------------------------------------------


def _of_other_ends(
    node: Node, item: Diagnostic, judge: AnyJudge, ends: OtherEnds, *, editable: bool
) -> Iterator[Remedy]:
    """A tensor of the node as its writer or its readers see it; of one that is too large for its buffer, or these."""
    fields = frozenset({item.field}) if item.code is codes.OUT_OF_BOUNDS else frozenset[str]()
    for resized in ends.resized(node, judge, fields):
        yield resized_remedy(resized, editable=editable)


def _of_resource(
    node: Node, item: Diagnostic, judge: AnyJudge, source: Callable[[Value, TensorDesc | None], Place]
) -> Iterator[Remedy]:
    """A resource of DxDispatch as large as a tensor that is bound to it: by its data type, or its elements."""
    desc = node.operator.find(item.field)
    all_bound: Sequence[Read | Write] = (*node.reads.get(item.field, ()), *node.writes.get(item.field, ()))
    for bound in all_bound:
        resource = source(bound.value, None)
        if isinstance(desc, TensorDesc) and resource.pointer.startswith("/resources/") and not bound.offset:
            name = quote(resource.pointer.removeprefix("/resources/").replace("~1", "/").replace("~0", "~"))
            kind, count = desc.data_type.name, desc.extent
            repeated = node.operator.with_values({item.field: replace(desc, strides=(0,) * desc.rank, total_size=0)})
            if bound.value.nbytes == 4 * max(1, desc.data_type.bits // 32) and not judge(repeated):
                yield Remedy(f"{item.field} with Strides {[0] * desc.rank}, which repeat the one element of {name}")
            if elements_of_other_width(desc, bound.value.nbytes):
                yield Remedy(f"initialValuesDataType {kind} of {name}")
            yield Remedy(f"{name} with {plural(count, 'element')} of {kind}, valueCount {count}")


def _declared_larger(node: Node, item: Diagnostic, ends: OtherEnds) -> Iterator[Remedy]:
    """A constant or an input of the graph as the tensor that is read from it, each element once."""
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
    *,
    editable: bool,
) -> Iterator[Remedy]:
    """A tensor that is too large for its buffer, with the sizes that follow from the rest, if these fit.

    Or else a larger buffer, or one smaller size.
    """
    writes, old = node.writes.get(item.field, ()), node.operator.find(item.field)
    reads: Sequence[Read | Write] = node.reads.get(item.field, ()) or writes
    right = inferred(node.operator, [item.field]).get(item.field) if len(writes) == 1 else None
    if isinstance(old, TensorDesc) and right is not None and right.sizes != old.sizes:
        fits = writes[0].offset + right.total_bytes <= writes[0].value.nbytes
        if fits:
            change = Change(item.field, right, f"of sizes {list(right.sizes)}, as it follows from the rest")
            yield Remedy(f"{item.field} {change.words}", tuple(edits_of(node, change)) if editable else ())
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
                    yield Remedy(f"{item.field} {change.words}", tuple(edits_of(node, change)) if editable else ())


def _gone_with_all(findings: Sequence[Diagnostic], best: Sequence[Trial]) -> frozenset[tuple[str, str]]:
    """What every one of the best candidates does away with."""
    if not best:
        return frozenset()
    return frozenset.intersection(*(trial.gone for trial in best))


def _standing_for(
    findings: Sequence[Diagnostic], gone: frozenset[tuple[str, str]], best: Sequence[Trial]
) -> Diagnostic | None:
    """The finding that is left of those that one change does away with: an error, at what is changed if it can be."""
    fields = {change.field for trial in best for change in trial.candidate.changes}
    among = [item for item in findings if item.key in gone]
    order = {Severity.ERROR: 0, Severity.WARNING: 1}
    first = min(among, key=lambda item: (order[item.severity], item.field not in fields), default=None)
    if first is None:
        return None
    alike = [item for item in among if (item.field, item.severity) == (first.field, first.severity)]
    return max(alike, key=lambda item: item.path.count("/"))  # the one that says which size it is


def _of_counterparts(node: Node, best: Sequence[Trial], judge: AnyJudge, *, editable: bool) -> tuple[Remedy, ...]:
    """Another operator, where nothing better is known than a slip that happens to do."""
    if any(trial.candidate.kind < SLIP and not differs_widely(node.operator, trial) for trial in best):
        return ()
    made = []
    for name in counterparts(node.operator, judge)[:1]:
        edits = (Edit(operator_place(node.source), name),) if editable else ()
        made.append(Remedy(f"{name} in the place of {node.operator.type}, which takes it so", edits))
    return tuple(made)


def _of_one_tensor(node: Node, item: Diagnostic, *, editable: bool) -> tuple[Remedy, ...]:
    """The strides that count elements, of a finding about strides that look like bytes; the bytes of a tensor."""
    if item.code is codes.TOTAL_SIZE_TOO_SMALL and item.expected.isdigit():
        edits = (Edit(pointer(node.source, item.path), int(item.expected)),) if editable else ()
        tensor = node.operator.find(item.field)
        made = in_elements(tensor) if isinstance(tensor, TensorDesc) else None
        if made is None or not isinstance(tensor, TensorDesc) or made.total_bytes > tensor.total_size:
            return (Remedy(f"TotalTensorSizeInBytes {item.expected}", edits, is_certain=True),)
        place = pointer(node.source, item.path.replace("TotalTensorSizeInBytes", "Strides"))
        steps = (Edit(place, as_member(made.effective_strides)),) if editable else ()
        counted = f"Strides {list(made.effective_strides)}, which count elements and not bytes"
        return Remedy(counted, steps), Remedy(f"TotalTensorSizeInBytes {item.expected}", edits)
    desc = node.operator.get(item.field) if item.path == f"{item.field}/Strides" and item.field else None
    if item.code is codes.SCALES_ARE_SIZES:
        scales: Member = [float(number) for number in item.expected[1:-1].split(", ")]
        edits = (Edit(pointer(node.source, item.path), scales),) if editable else ()
        input, stated = node.operator.tensor("InputTensor"), node.operator.get("Scales")
        factors = [item for item in stated if isinstance(item, float)] if isinstance(stated, tuple) else []
        sizes = [size * factor for size, factor in zip(input.sizes, factors, strict=True)]
        is_whole = all(size == int(size) > 0 for size in sizes) and math.prod(sizes) <= MAX_ELEMENTS
        follows = f"OutputTensor of sizes {list(map(int, sizes))}, as it follows from the rest"
        return (Remedy(f"Scales {item.expected}", edits), *([Remedy(follows)] if is_whole else []))
    if item.code is codes.OVERLAPPING_OUTPUT:
        kept = tuple([int(step) for step in re.findall(r"\d+", item.expected)])
        packed = packed_strides(desc.sizes) if isinstance(desc, TensorDesc) else kept
        place = pointer(node.source, item.path)
        return tuple(
            [
                Remedy(f"Strides {list(steps)}", (Edit(place, as_member(steps)),) if editable else ())
                for steps in dict.fromkeys((kept, packed))
            ]
        )
    if item.code not in (codes.STRIDES_IN_BYTES, codes.OUT_OF_BOUNDS) or not isinstance(desc, TensorDesc):
        return ()
    strides = strides_in_elements(desc)
    if strides is None:
        return ()
    edits = (Edit(pointer(node.source, item.path), as_member(strides)),) if editable else ()
    return (Remedy(f"Strides {list(strides)}", edits),)


def _whole_sizes(
    desc: OperatorDesc, item: Diagnostic, judge: AnyJudge, gone: frozenset[tuple[str, str]]
) -> tuple[Remedy, ...]:
    """All sizes of an input of which one is wrong, where with them nothing is left of what is ``gone`` with others."""
    field, _, rest = item.path.partition("/Sizes/")
    tensor = desc.find(field)
    if not rest.isdigit() or not isinstance(tensor, TensorDesc) or not item.expected.isdigit():
        return ()
    if field not in {other.name for other in desc.schema.input_fields}:
        return ()
    sizes = list(tensor.sizes)
    sizes[int(rest)] = int(item.expected)
    made = replace(tensor, sizes=tuple(sizes), strides=None)
    known = {other.key for other in judge(desc)} - gone
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
    """Where the tensors of these fields come from, the nearest first; also those that are ``written``."""
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


def _stated(node: Node, best: Sequence[Trial], own: str) -> tuple[Place, ...]:
    """Where the attributes and outputs stand that would do in another form."""
    changes = [change for trial in best for change in trial.candidate.changes]
    here = [item.field for item in changes if not isinstance(item.value, TensorDesc) or item.field in node.writes]
    return _members(node, here, own)


def _members(node: Node, fields: Iterable[str], own: str) -> tuple[Place, ...]:
    """Where these attributes and outputs stand, and what they are; not what the node reads, nor how long arrays are."""
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
