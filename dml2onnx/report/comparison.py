"""Compares two reports: equal, changed and missing nodes."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from dml2onnx.report.answers import FilesAnswer
from dml2onnx.report.form import ALWAYS, Json, number
from dml2onnx.report.matching import How, match_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dml2onnx.report.records import Access, NodeRecord, PortRecord, Report, TensorRecord, ValueRecord

Aspect: TypeAlias = Literal[
    "operator", "attribute", "tensor", "layout", "source", "constant", "use",
    "onnx", "notes", "findings", "level", "error", "time", "name",
]  # fmt: skip
State: TypeAlias = Literal["same", "changed", "left", "right"]

MEASURED = ("time", "name")
"""Aspects that do not change what is computed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two nodes or ports."""

    aspect: Aspect
    """operator; attribute: a field that is not a tensor; tensor: data type or sizes; layout: strides, offset or flags;
    source: the node or input that it reads; constant: contents; use: whether an output needs it; onnx: its ONNX
    operators; notes: the reasons for them; findings; level: the lowest feature level; error: against the reference;
    time; name."""
    name: str
    """The field, if it is about one."""
    left: Json
    right: Json


@dataclass(frozen=True, slots=True)
class Pair:
    """A node, input or output of both graphs, or of one of them."""

    kind: Literal["node", "input", "output"]
    state: State
    """left and right: in that graph only; changed: other differences than name and time."""
    left: int | None
    """Index in the list of its kind in the left report."""
    right: int | None
    """Index in the right report."""
    matched: Literal["name", "structure", ""] = ""
    """How the two were paired."""
    changes: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over one graph."""

    directml_nodes: int
    directml_operators: Mapping[str, int]
    """The number of nodes of each, the most frequent first."""
    onnx_nodes: int | None
    """null if the graph cannot be compiled."""
    onnx_operators: Mapping[str, int]
    constant_bytes: int
    """The bytes of constants in the DirectML graph."""
    weight_bytes: int | None
    """The bytes of weights in the ONNX model; null if there is none."""
    errors: int
    warnings: int
    wrong_nodes: int | None
    """The number of nodes that differ from the reference; null if not verified."""
    microseconds: float | None
    """The time of a profiled run; null if not profiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonAnswer(FilesAnswer):
    """The answer of ``report --compare``. The diagnostics are in the two reports."""

    command: Literal["report"] = field(default="report", metadata=ALWAYS)
    left_title: str
    """The file of the left graph, or its feature level if the files are the same."""
    right_title: str
    same: int
    """The number of equal nodes; inputs and outputs are not counted."""
    changed: int
    only_left: int
    only_right: int
    pairs: tuple[Pair, ...]
    """Nodes in the order of the left graph, with nodes of the right one after their predecessors; then ports."""
    left_totals: Totals
    right_totals: Totals
    left: Report
    right: Report


def compare(left: Report, right: Report, titles: tuple[str, str]) -> ComparisonAnswer:
    """Compares two reports, also of invalid graphs."""
    nodes = _Nodes(left, right)
    pairs = nodes.pairs()
    counts = Counter(pair.state for pair in pairs)
    ends = [*nodes.ends("input", left.inputs, right.inputs), *nodes.ends("output", left.outputs, right.outputs)]
    return ComparisonAnswer(
        left_title=titles[0],
        right_title=titles[1],
        same=counts["same"],
        changed=counts["changed"],
        only_left=counts["left"],
        only_right=counts["right"],
        pairs=(*pairs, *ends),
        left_totals=_totals(left),
        right_totals=_totals(right),
        left=left,
        right=right,
    )


# --- Pairs ------------------------------------------------------------------------------------------------------------


class _Nodes:
    """The nodes of two reports, and the matches between them."""

    def __init__(self, left: Report, right: Report) -> None:
        self._reports = (left, right)
        self._matches = match_nodes(left, right)
        numbers = ({one: n for n, (one, _, _) in enumerate(self._matches)},
                   {other: n for n, (_, other, _) in enumerate(self._matches)})  # fmt: skip
        self._producers = [_producers(report, known) for report, known in zip(self._reports, numbers, strict=True)]

    def pairs(self) -> list[Pair]:
        """The pairs of all nodes."""
        left, right = self._reports
        partners = {one: (other, how) for one, other, how in self._matches}
        matched = {other for _, other, _ in self._matches}
        rest = deque(place for place in range(len(right.nodes)) if place not in matched)
        pairs: list[Pair] = []
        for place in range(len(left.nodes)):
            if place not in partners:
                pairs.append(Pair("node", "left", place, None))
                continue
            other, how = partners[place]
            while rest and rest[0] < other:
                pairs.append(Pair("node", "right", None, rest.popleft()))
            changes = tuple(self._changes(left.nodes[place], right.nodes[other]))
            pairs.append(_pair("node", place, other, how, changes))
        return pairs + [Pair("node", "right", None, place) for place in rest]

    def ends(
        self, kind: Literal["input", "output"], lefts: Sequence[PortRecord], rights: Sequence[PortRecord]
    ) -> Iterator[Pair]:
        """Yields the pairs of inputs or outputs, by name."""
        places = {port.name: place for place, port in enumerate(rights)}
        for place, port in enumerate(lefts):
            other = places.pop(port.name, None)
            if other is None:
                yield Pair(kind, "left", place, None)
            else:
                has_tensors = port.tensor is not None and rights[other].tensor is not None
                changes = [*self._tensors(port, rights[other])] if has_tensors else []
                if kind == "output":
                    changes += self._sources("", port.value, rights[other].value)
                yield _pair(kind, place, other, "name", tuple(changes))
        yield from (Pair(kind, "right", None, place) for place in places.values())

    def _changes(self, left: NodeRecord, right: NodeRecord) -> Iterator[Difference]:
        """Yields all differences between two nodes."""
        sides = tuple(zip(self._reports, (left, right), strict=True))
        one, other = (report.descriptors[node.descriptor] for report, node in sides)
        yield from _change("operator", "", one.operator, other.operator)
        for name in dict.fromkeys([*one.attributes, *other.attributes]):
            yield from _change("attribute", name, one.attributes.get(name), other.attributes.get(name))
        yield from self._accesses(left.inputs, right.inputs, reads=True)
        yield from self._accesses(left.outputs, right.outputs, reads=False)
        yield from _change("use", "", left.is_live, right.is_live)
        if all(report.onnx is not None for report in self._reports):  # else all nodes would differ
            yield from _change("onnx", "", *(_onnx_operators(report, node) for report, node in sides))
            yield from _change("notes", "", list(left.notes), list(right.notes))
        yield from _change("findings", "", *(_findings(report, node) for report, node in sides))
        yield from _change("level", "", one.level, other.level)
        yield from _errors(left, right)
        if left.microseconds is not None and right.microseconds is not None:
            yield from _change("time", "", left.microseconds, right.microseconds)
        yield from _change("name", "", left.name, right.name)

    def _accesses(self, lefts: Sequence[Access], rights: Sequence[Access], *, reads: bool) -> Iterator[Difference]:
        """Yields differences in the tensors of two nodes, and in their sources."""
        by_field = [{access.field: access for access in accesses} for accesses in (lefts, rights)]
        for name in dict.fromkeys([*by_field[0], *by_field[1]]):
            one, other = by_field[0].get(name), by_field[1].get(name)
            if one is None or other is None:
                yield Difference("tensor", name, _text(self._tensor(0, one)), _text(self._tensor(1, other)))
                continue
            yield from self._tensors(one, other, name)
            yield from _change("layout", f"{name} offset", one.offset, other.offset)
            if reads:
                yield from self._sources(name, one.value, other.value)

    def _tensors(self, left: Access | PortRecord, right: Access | PortRecord, name: str = "") -> Iterator[Difference]:
        one, other = self._tensor(0, left), self._tensor(1, right)
        if one is None or other is None:
            yield from _change("tensor", name, _text(one), _text(other))
            return
        start = f"{name}." if name else ""
        yield from _change("tensor", f"{start}DataType", one.data_type, other.data_type)
        yield from _change("tensor", f"{start}Sizes", list(one.sizes), list(other.sizes))
        if one.sizes == other.sizes or one.layout != other.layout:
            yield from _change("layout", f"{start}Strides", list(one.strides), list(other.strides))
        yield from _change("layout", f"{start}OWNED_BY_DML", one.owned_by_dml, other.owned_by_dml)

    def _tensor(self, side: int, access: Access | PortRecord | None) -> TensorRecord | None:
        place = None if access is None else access.tensor
        return None if place is None else self._reports[side].tensors[place]

    def _sources(self, name: str, left: int, right: int) -> Iterator[Difference]:
        """Yields the difference if two values are not from matching nodes, inputs, or equal constants."""
        one, other = self._reports[0].values[left], self._reports[1].values[right]
        if one.kind == other.kind == "constant":
            if (one.bytes, one.digest) != (other.bytes, other.digest):
                yield Difference("constant", name, _contents(one), _contents(other))
            return
        first, first_name = self._producers[0].get(left, ((one.kind, left), f"{one.kind} {one.name}"))
        second, second_name = self._producers[1].get(right, ((other.kind, right), f"{other.kind} {other.name}"))
        if first != second:
            yield Difference("source", name, first_name, second_name)


def _pair(
    kind: Literal["node", "input", "output"], left: int, right: int, how: How, changes: Sequence[Difference]
) -> Pair:
    # errors depend on the random inputs; only the number of wrong elements is a change
    is_changed = any(
        change.aspect not in MEASURED and (change.aspect != "error" or change.name == "wrong") for change in changes
    )
    return Pair(kind, "changed" if is_changed else "same", left, right, how, tuple(changes))


def _change(aspect: Aspect, name: str, left: Json, right: Json) -> Iterator[Difference]:
    if left != right:
        yield Difference(aspect, name, left, right)


def _producers(report: Report, matches: Mapping[int, int]) -> dict[int, tuple[tuple[object, ...], str]]:
    """For each value a key of its producer, which is equal in both reports for matching nodes, and its name."""
    producers: dict[int, tuple[tuple[object, ...], str]] = {
        port.value: (("input", port.name), f"input {port.name}") for port in report.inputs
    }
    for place, node in enumerate(report.nodes):
        for access in node.outputs:
            key = (matches[place],) if place in matches else (id(report), place)
            producers[access.value] = (("node", *key, access.field), f"{node.name} {access.field}")
    return producers


def _onnx_operators(report: Report, node: NodeRecord) -> Json:
    return [] if report.onnx is None else [report.onnx.nodes[place].operator for place in node.onnx]


def _findings(report: Report, node: NodeRecord) -> Json:
    found = (report.diagnostics[place] for place in node.findings)
    return [f"{item.code}: {item.message}" for item in found]


def _errors(left: NodeRecord, right: NodeRecord) -> Iterator[Difference]:
    if not left.verified or not right.verified:
        return
    yield from _change("error", "wrong", *(sum(item.wrong for item in node.verified) for node in (left, right)))
    worst = (max(float(item.worst_of_bound) for item in node.verified) for node in (left, right))
    yield from _change("error", "of what is allowed", *map(number, worst))


def _text(tensor: TensorRecord | None) -> Json:
    return None if tensor is None else f"{tensor.data_type} {list(tensor.sizes)}"


def _contents(value: ValueRecord) -> Json:
    return f"{value.bytes} bytes {value.digest}".rstrip()


# --- Totals -----------------------------------------------------------------------------------------------------------


def _totals(report: Report) -> Totals:
    onnx = report.onnx
    verified = [node for node in report.nodes if node.verified]
    return Totals(
        directml_nodes=len(report.nodes),
        directml_operators=_counted(report.descriptors[node.descriptor].operator for node in report.nodes),
        onnx_nodes=None if onnx is None else len(onnx.nodes),
        onnx_operators=_counted(() if onnx is None else (node.operator for node in onnx.nodes)),
        constant_bytes=sum(value.bytes for value in report.values if value.kind == "constant"),
        weight_bytes=None if onnx is None else onnx.weight_bytes,
        errors=report.errors,
        warnings=report.warnings,
        wrong_nodes=sum(any(item.wrong for item in node.verified) for node in verified) if verified else None,
        microseconds=None if report.profile is None else report.profile.microseconds,
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())
