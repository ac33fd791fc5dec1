"""Findings about a node, one for each mistake, with other places and remedies.

A remedy is tried before it is given: the descriptor is changed and judged again. Where one change does away with
several findings they are one mistake, and the first of them stands for all.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.catalog import enum_schema
from dml2onnx.checks.candidates import Change, inferred
from dml2onnx.checks.counterparts import counterparts
from dml2onnx.checks.other_ends import OtherEnds, of_edge, unread
from dml2onnx.checks.single_edits import OPPOSITE, SLIP
from dml2onnx.checks.solved import SOLVED
from dml2onnx.checks.tensors import strides_in_elements
from dml2onnx.checks.trials import FOLLOWING, best_trials, counted
from dml2onnx.checks.wiring import Wiring
from dml2onnx.codes import checking as codes
from dml2onnx.codes.reading import EDGE_BYTES, UNKNOWN_VALUE
from dml2onnx.diagnostics import Edit, Place, Remedy, Severity, plural, quote
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.findings import at_node, operator_place, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.checks.other_ends import Resized
    from dml2onnx.checks.trials import Trial
    from dml2onnx.diagnostics import Diagnostic, Member
    from dml2onnx.ir.graph import Graph, Node, Read, Value, Write
    from dml2onnx.ir.operator import FieldValue

MOST_NODES = 50
"""Nodes that are looked at: as many findings as people are shown."""
MOST_REMEDIES = 3
MOST_PLACES = 2
MOST_TYPES = 2
"""Other data types that are offered for one tensor."""
_WHY = re.compile(r", as .* has them|, as it follows|: dimensions ")
"""What follows the sizes of a tensor in a remedy, and tells no other remedy."""
_PARAMETERS = {"WindowSize": "window_sizes"}
"""Arguments of the builder that are not called as their fields are."""
CERTAIN = (0, 3)
"""Kinds of candidates that follow from the rest of a node; the others are conventions that may have been followed."""

_OF_SHAPES = frozenset(
    {
        codes.DIFFERENT_DIMENSION_COUNTS,
        codes.WRONG_DIMENSION_COUNT,
        codes.DIMENSION_COUNT_UNSUPPORTED,
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
_OF_TYPES = frozenset(
    {
        codes.DIFFERENT_DATA_TYPES,
        codes.WRONG_DATA_TYPE,
        codes.ACCEPTED_TYPE,
        codes.DATA_TYPE_UNSUPPORTED,
        codes.DATA_TYPE_LEVEL,
    }
)
_OF_OTHERS = _OF_SHAPES | _OF_TYPES
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
    rewired = wiring.instead(node, judge) if wiring is not None and any(map(_is_of_reads, findings)) else []
    if rewired:
        findings = _one_of_reads(findings, {field for field, _ in rewired})
    answered = _OF_SHAPES | _OF_COUNTS | _OF_CHOICES | _OF_VALUES
    of_shapes = [item for item in findings if item.code in answered and not item.is_structural]
    refusing = (lambda changes: wiring and wiring.refusing(node, changes, judge)) if wiring else lambda _: None
    is_stated = wiring is not None and wiring.states_outputs
    is_read = None if wiring is None else (lambda made: not is_stated and refusing(made) is None)
    best = best_trials(node.operator, findings, judge, is_read) if of_shapes else []
    best = [
        trial
        for trial in best
        if trial.candidate.kind not in (OPPOSITE, SOLVED) or not _is_as_written(node, trial, ends)
    ]
    gone = _gone_with_all(findings, best)
    first = _standing_for(findings, gone, best)
    made = []
    for item in findings:
        if item is not first and item.key in gone:
            continue
        diagnostic = at_node(item, node)
        fields = [item.path, *item.related]
        remedies = (
            _remedies(node, best, refusing, editable=editable, in_python=in_python)
            if item is first
            else _of_one_tensor(node, item, editable=editable) or _worded(node.operator, item, in_python=in_python)
        )
        if item.code is codes.DATA_TYPE_UNSUPPORTED:
            remedies = (*_in_another_place(node.operator, item, judge), *remedies)
        if item.code in _OF_TYPES:
            remedies = (*remedies, *_of_other_types(node, item, judge, editable=editable, in_python=in_python))
        if item is first or (not best and item is findings[0]):
            remedies = (*_of_counterparts(node, best, judge, editable=editable), *remedies)
        if item is first:
            fields = [change.path for trial in best for change in trial.candidate.changes] + fields
            remedies = (*remedies, *_whole_sizes(node.operator, item, judge, gone))
        if wiring is not None and item.code in _DEAD:
            remedies = tuple(wiring.readers_for(node, judge))
        if ends is not None and item.is_error and (item is first or item.code is codes.OUT_OF_BOUNDS):
            remedies = (*_of_other_ends(node, item, judge, ends, editable=editable), *remedies)
        if item.code in _OF_OTHERS | _OF_CHOICES:
            stated = _stated(node, best, diagnostic.pointer) if item is first else ()
            places = _places(node, fields, diagnostic.pointer, source)
            diagnostic = replace(diagnostic, places=(*stated, *places)[:MOST_PLACES])
        elif item.code is codes.OUT_OF_BOUNDS:
            places = _places(node, [item.path], diagnostic.pointer, lambda value, _: source(value, None), written=True)
            diagnostic = replace(diagnostic, places=places)
        if item.since and in_python:
            remedies = (*remedies, Remedy(f"GraphBuilder(feature_level={quote(item.since)})"))
        if item.code is codes.OUT_OF_BOUNDS:
            remedies = (*remedies, *_within_buffer(node, item, judge, editable=editable))
        if rewired and _is_of_reads(item):
            remedies = (*[remedy for _, remedy in rewired], *remedies)
        elif wiring is not None and _is_of_reads(item) and len(remedies) < MOST_REMEDIES:
            remedies = (*remedies, *wiring.few(node, {item.field, *item.related}, judge))
        once: dict[str, Remedy] = {}
        for remedy in remedies:
            once.setdefault(_WHY.split(remedy.words)[0], remedy)
        made.append(replace(diagnostic, remedies=tuple(once.values())[:MOST_REMEDIES]))
    return made


_DEAD = frozenset({codes.DEAD_NODE, codes.DEAD_NODE_REFUSED})


def _is_of_reads(item: Diagnostic) -> bool:
    """Whether an error may be one of what a node reads."""
    return item.is_error and item.code in _OF_OTHERS | {codes.CYCLE, codes.OUT_OF_BOUNDS}


def _one_of_reads(findings: Sequence[Diagnostic], fields: Collection[str]) -> list[Diagnostic]:
    """The findings, of those of what a node reads only the first: at one of these fields where there is one."""
    among = [item for item in findings if _is_of_reads(item)]
    first = next((item for item in among if item.field in fields), among[0])
    return [item for item in findings if item is first or not _is_of_reads(item)]


def graph_answers(graph: Graph, found: Iterable[Diagnostic], judge: AnyJudge) -> list[Diagnostic]:
    """The findings about a graph as a whole, with remedies for the first of those about edges and names."""
    made, asked = [], 0
    for item in found:
        if item.code in (EDGE_BYTES, UNKNOWN_VALUE) and asked < MOST_NODES:
            asked += 1
            item = _edge_answer(graph, item, judge) if item.code == EDGE_BYTES else _name_answer(graph, item)
        made.append(item)
    return made


def _edge_answer(graph: Graph, item: Diagnostic, judge: AnyJudge) -> Diagnostic:
    """A finding about an edge between tensors of other bytes, with what either of them would have to be."""
    is_native = graph.format == "native"
    found = [_resized_remedy(resized, editable=is_native) for resized in of_edge(graph, item, judge)]
    if found and "data type" in found[0].words:
        found.append(Remedy("a CAST node between them"))
    return replace(item, remedies=tuple(found[:MOST_REMEDIES])) if found and not item.remedies else item


def _name_answer(graph: Graph, item: Diagnostic) -> Diagnostic:
    """A finding about the name of a value that there is not, with the only value that nothing reads."""
    found = unread(graph, item.node) if item.node and not item.remedies and graph.format == "native" else []
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


def _alike(changes: Sequence[Change]) -> list[Change]:
    """The changes, those of several fields to one and the same as one."""
    if len(changes) < 2 or len({change.words for change in changes}) > 1:
        return list(changes)
    return [changes[0]._replace(field=", ".join(change.path for change in changes), position=None)]


def _of_other_ends(
    node: Node, item: Diagnostic, judge: AnyJudge, ends: OtherEnds, *, editable: bool
) -> Iterator[Remedy]:
    """A tensor of the node as its writer or its readers see it; of one that is too large for its buffer, or these."""
    fields = frozenset({item.field}) if item.code is codes.OUT_OF_BOUNDS else frozenset[str]()
    for resized in ends.resized(node, judge, fields):
        yield _resized_remedy(resized, editable=editable)


def _is_as_written(node: Node, trial: Trial, ends: OtherEnds | None) -> bool:
    """Whether the tensors that would change are those that other nodes write, as these state them."""
    for change in trial.candidate.changes:
        (read, *_), own = node.reads.get(change.field) or (None,), node.operator.find(change.field)
        writer = None if ends is None or read is None else ends.writer(read.value)
        if writer is None or writer.node is None or not isinstance(own, TensorDesc) or writer.desc.sizes != own.sizes:
            return False
    return True


def _within_buffer(node: Node, item: Diagnostic, judge: AnyJudge, *, editable: bool) -> Iterator[Remedy]:
    """A tensor that is too large for its buffer, with sizes that fit: those that follow from the rest, or one smaller.

    Or else a larger buffer.
    """
    writes, old = node.writes.get(item.field, ()), node.operator.find(item.field)
    reads: Sequence[Read | Write] = node.reads.get(item.field, ()) or writes
    right = inferred(node.operator, [item.field]).get(item.field) if len(writes) == 1 else None
    if isinstance(old, TensorDesc) and right is not None and right.sizes != old.sizes:
        fits = writes[0].offset + right.total_bytes <= writes[0].value.nbytes
        if fits:
            change = Change(item.field, right, f"of sizes {list(right.sizes)}, as it follows from the rest")
            yield Remedy(f"{item.field} {change.words}", tuple(_edits(node, change)) if editable else ())
    if len(reads) == 1 and isinstance(old, TensorDesc) and old.strides is None:
        present = reads[0].value.nbytes - reads[0].offset
        for axis, size in enumerate(old.sizes):
            fitting = size * present // old.total_bytes if old.total_bytes else 0
            made = replace(old, sizes=(*old.sizes[:axis], fitting, *old.sizes[axis + 1 :]), total_size=0)
            if 0 < fitting < size and made.total_bytes == present:
                change = Change(item.field, made, f"of sizes {list(made.sizes)}")
                if not any(other.is_error for other in judge(_with(node.operator, item.field, made))):
                    yield Remedy(f"{item.field} {change.words}", tuple(_edits(node, change)) if editable else ())


def _resized_remedy(resized: Resized, *, editable: bool) -> Remedy:
    edits = [edit for change in resized.changes for edit in _edits(resized.node, change)] if editable else []
    return Remedy(resized.words, tuple(edits))


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


def _remedies(
    node: Node,
    best: Sequence[Trial],
    refusing: Callable[[Sequence[Change]], Node | None],
    *,
    editable: bool,
    in_python: bool,
) -> tuple[Remedy, ...]:
    """What would do, last what those who read an output could not read."""
    made, last = [], []
    for trial in best:
        reader = refusing([*trial.candidate.changes, *trial.further])
        changes = counted(trial.candidate)
        words = ", and ".join(
            _in_words(change, in_python=in_python) for change in (changes if in_python else _alike(changes))
        )
        edits: list[Edit] = []
        copied = any(change.is_copied for change in trial.candidate.changes)
        for change in (*trial.candidate.changes, *trial.further) if editable and not copied else ():
            edits += _edits(node, change)
        if reader is not None:
            last.append(Remedy(f"{words}; then {quote(reader.name)}, which reads it, has to change as well"))
        else:
            made.append(Remedy(words, tuple(edits), is_certain=trial.candidate.kind in CERTAIN))
    return (*made, *last)


def _in_words(change: Change, *, in_python: bool) -> str:
    view = change.value
    if not in_python:
        return f"{change.path} {change.words}"
    if not isinstance(view, TensorDesc):
        name = _PARAMETERS.get(change.field) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", change.field).lower()
        return f"{name}={list(view) if isinstance(view, tuple) else view!r}"
    strides = "" if view.strides is None else f", strides={list(view.strides)}"
    call = f"reinterpret(..., sizes={list(view.sizes)}{strides})"
    if change.permutation:
        return f"{change.path} {change.words}; {call}, or numpy's transpose {change.permutation}"
    return f"{change.path} {change.words}: {call}"


def _edits(node: Node, change: Change) -> Iterator[Edit]:
    """A change as edits of the native format."""
    place = pointer(node.source, change.path)
    value, old = change.value, node.operator.get(change.field)
    if value is None:  # what is read by the node, and not a part of its descriptor
        return
    if not isinstance(value, TensorDesc):
        yield Edit(place, _member(value), where_given=change.field in FOLLOWING - {"EndPadding"})
        return
    if change.position is not None and isinstance(old, tuple):  # an array of descriptors is stated as a whole
        whole = [value if index == change.position else item for index, item in enumerate(old)]
        yield Edit(
            pointer(node.source, change.field), [_tensor(item) for item in whole if isinstance(item, TensorDesc)]
        )
        return
    if change.field in {item.name for item in node.operator.schema.output_fields}:
        yield Edit(place, _tensor(value), where_given=True)
    else:
        yield Edit(place, _tensor(value))


def _tensor(desc: TensorDesc) -> dict[str, Member]:
    made: dict[str, Member] = {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    if desc.strides is not None:
        made["Strides"] = list(desc.strides)
    if desc.owned_by_dml:
        made["Flags"] = "OWNED_BY_DML"
    if desc.alignment:
        made["GuaranteedBaseOffsetAlignment"] = desc.alignment
    return made


def _member(value: object) -> Member:
    if isinstance(value, tuple):
        return [_member(item) for item in value]
    assert isinstance(value, (bool, int, float, str))
    return value


def _worded(desc: OperatorDesc, item: Diagnostic, *, in_python: bool) -> tuple[Remedy, ...]:
    """Remedies that take more than an edit."""
    schema = desc.schema
    if item.code is codes.DIFFERENT_DATA_TYPES:
        if not in_python and item.field in {field.name for field in schema.output_fields}:
            return (Remedy(f"{item.field} of data type {item.expected}, and a CAST node makes {item.found} of it"),)
        how = f"cast(..., {quote(str(item.expected))})" if in_python else f"a CAST node makes {item.expected} of it"
        return (Remedy(f"{how}, or weights are stored as {item.expected}"),)
    inputs = [field.name for field in schema.input_fields]
    if item.code in (codes.DATA_TYPE_UNSUPPORTED, codes.DATA_TYPE_LEVEL) and item.field in inputs:
        allowed = str(item.expected).split(", ")
        others = [other.data_type.name for name in inputs if isinstance(other := desc.get(name), TensorDesc)]
        wanted = next((name for name in others if name in allowed), "")  # which another tensor has already
        if not wanted and item.code is codes.DATA_TYPE_LEVEL:  # then the level may be what is wrong
            return ()
        wanted = wanted or allowed[0]
        also = "".join(f", and of {name} as well" for name in item.alike if name in inputs)
        of_it = f"cast(..., {quote(wanted)})" if in_python else f"a CAST node makes {wanted} of it"
        return (Remedy(of_it + also),)
    if item.code is codes.NOT_EQUAL and item.field == _ACTIVATIONS:
        return _usual_activations(desc, item)
    if item.code is codes.NOT_FUSABLE:
        return (Remedy(f"{item.found} as a node of its own, behind this one"),)
    return ()


_ACTIVATIONS = "ActivationDescs"
_USUAL = {"LSTM": ("SIGMOID", "TANH", "TANH"), "GRU": ("SIGMOID", "TANH"), "RNN": ("TANH",)}
"""The activations of the functions of a recurrent operator that almost all networks have."""


def _usual_activations(desc: OperatorDesc, item: Diagnostic) -> tuple[Remedy, ...]:
    """So many activations: those that are stated once more for the other direction, or the usual ones."""
    usual, stated = _USUAL.get(desc.type, ()), desc.get(item.field)
    wanted = int(item.expected) if item.expected.isdigit() else 0
    if not usual or not isinstance(stated, tuple) or wanted % len(usual):
        return ()
    names = [f"ACTIVATION_{name}" for name in usual] * (wanted // len(usual))
    if len(stated) == len(usual):
        names = [other.type for other in stated if isinstance(other, OperatorDesc)] * (wanted // len(usual))
    return (Remedy(f"{item.field} {', '.join(names)}"),)


def _of_counterparts(node: Node, best: Sequence[Trial], judge: AnyJudge, *, editable: bool) -> tuple[Remedy, ...]:
    """Another operator, where nothing better is known than a slip that happens to do."""
    if any(trial.candidate.kind < SLIP for trial in best):
        return ()
    made = []
    for name in counterparts(node.operator, judge)[:1]:
        edits = (Edit(operator_place(node.source), name),) if editable else ()
        made.append(Remedy(f"{name} in the place of {node.operator.type}, which takes it so", edits))
    return tuple(made)


def _in_another_place(desc: OperatorDesc, item: Diagnostic, judge: AnyJudge) -> tuple[Remedy, ...]:
    """An optional input that is left out and takes the tensor as it is, with what then has no tensor set to NONE."""
    stated = desc.find(item.field)
    field = desc.schema.field(item.field)
    if not isinstance(stated, TensorDesc) or field is None or not field.optional:
        return ()
    enums = [(other.name, other.enum) for other in desc.schema.fields if other.enum is not None]
    choices = [name for name, enum in enums if "NONE" in enum_schema(enum).values and desc.get(name) is not None]
    known = {other.key for other in judge(desc) if other.field != item.field}
    made = []
    for other in desc.schema.input_fields:
        if not other.optional or desc.get(other.name) is not None or other.name == item.field:
            continue
        moved = _with(_with(desc, item.field, None), other.name, stated)
        for name in ("", *choices):
            tried = _with(moved, name, "NONE") if name else moved
            if {new.key for new in judge(tried)} <= known:
                words = f", with {name} NONE" if name else ""
                made.append(Remedy(f"it as {other.name}{words}, if that is what it is"))
                break
    return tuple(made)


def _of_other_types(
    node: Node, item: Diagnostic, judge: AnyJudge, *, editable: bool, in_python: bool
) -> tuple[Remedy, ...]:
    """Tensors of another data type, with which nothing is said of types: of that one, or of those it is held against.

    First the types that other tensors have, then the smallest.
    """
    desc, schema = node.operator, node.operator.schema
    outputs = {field.name for field in schema.output_fields}
    is_even = item.code is codes.DIFFERENT_DATA_TYPES and not in_python
    against = [path.partition("/")[0] for path in item.related] if is_even else []
    others = [value.data_type for _, value in desc.items() if isinstance(value, TensorDesc)]
    made: list[Remedy] = []
    for name in dict.fromkeys((item.field, *against)):
        old, found = desc.find(name), 0
        kinds = [*others, *sorted(DataType, key=lambda kind: kind.bits)] if name == item.field else others
        if is_even and name == item.field:  # which has a remedy
            continue
        for kind in dict.fromkeys(kinds):
            if not isinstance(old, TensorDesc) or kind is old.data_type or found == MOST_TYPES:
                continue
            left = judge(_with(desc, name, replace(old, data_type=kind, total_size=0)))
            if any(other.is_error and other.code in _OF_TYPES for other in left):
                continue
            found += 1
            place = f"{pointer(node.source, name)}/DataType"
            if name in outputs:
                edits = (Edit(place, kind.name),) if editable and name == item.field else ()
                made.append(Remedy(f"{name} of data type {kind.name}", edits))
            else:
                cast = f"cast(..., {quote(kind.name)})" if in_python else f"a CAST node makes {kind.name} of"
                made.append(Remedy(cast if in_python else f"{cast} {'it' if name == item.field else name}"))
    return tuple(made)


def _of_one_tensor(node: Node, item: Diagnostic, *, editable: bool) -> tuple[Remedy, ...]:
    """The strides that count elements, of a finding about strides that look like bytes; the bytes of a tensor."""
    if item.code is codes.TOTAL_SIZE_TOO_SMALL and item.expected.isdigit():
        edits = (Edit(pointer(node.source, item.path), int(item.expected)),) if editable else ()
        return (Remedy(f"TotalTensorSizeInBytes {item.expected}", edits, is_certain=True),)
    desc = node.operator.get(item.field) if item.path == f"{item.field}/Strides" and item.field else None
    if item.code is codes.SCALES_ARE_SIZES:
        scales: Member = [float(number) for number in item.expected[1:-1].split(", ")]
        return (
            Remedy(f"Scales {item.expected}", (Edit(pointer(node.source, item.path), scales),) if editable else ()),
        )
    if item.code is codes.OVERLAPPING_OUTPUT:
        packed: Member = [int(step) for step in re.findall(r"\d+", item.expected)]
        return (
            Remedy(f"Strides {item.expected}", (Edit(pointer(node.source, item.path), packed),) if editable else ()),
        )
    if item.code not in (codes.STRIDES_IN_BYTES, codes.OUT_OF_BOUNDS) or not isinstance(desc, TensorDesc):
        return ()
    strides = strides_in_elements(desc)
    if strides is None:
        return ()
    edits = (Edit(pointer(node.source, item.path), _member(strides)),) if editable else ()
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
    if {other.key for other in judge(_with(desc, field, made))} - known:
        return ()
    return (Remedy(f"{field} of sizes {sizes}"),)


def _with(desc: OperatorDesc, field: str, value: FieldValue) -> OperatorDesc:
    values = list(desc.values)
    values[desc.schema.index[field]] = value
    return replace(desc, values=tuple(values))


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
    found: dict[str, Place] = {}
    for trial in best:
        for change in trial.candidate.changes:
            value, place = node.operator.get(change.field), pointer(node.source, change.field)
            is_here = not isinstance(change.value, TensorDesc) or change.field in node.writes
            if is_here and place != own and not own.startswith(f"{place}/"):
                shown = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else value
                found.setdefault(place, Place(place, f"{change.field} is {shown}"))
    return tuple(found.values())
