"""Pairs equal nodes of two graphs, by name or structure.

The most certain matches come first: nodes with the same name and descriptor; nodes with the same graph above and below
them, whatever their names; nodes with the same graph above or below, if that is unique; neighbours of matched nodes;
and finally nodes with only the name in common. Each step considers only the nodes that previous steps have left, so
that all steps except sorting are linear in nodes and edges.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from dml2onnx.report.records import NodeRecord, Report

How: TypeAlias = Literal["name", "structure"]
Match: TypeAlias = tuple[int, int, How]


def match_nodes(left: Report, right: Report) -> list[Match]:
    """Pairs of indices of nodes in both reports, each at most once, and how each pair was found."""
    keys: dict[Hashable, int] = {}
    return _Matching(_Shape(left, keys), _Shape(right, keys)).matches()


class _Shape:
    """The keys by which the nodes of a report are matched; ``keys`` has one number for equal keys of both reports."""

    def __init__(self, report: Report, keys: dict[Hashable, int]) -> None:
        self.nodes = report.nodes
        self._report = report
        self._keys = keys
        self.operators = [report.descriptors[node.descriptor].operator for node in report.nodes]
        self._producers = {
            access.value: (place, access.field) for place, node in enumerate(report.nodes) for access in node.outputs
        }
        attributes = [json.dumps(item.attributes, sort_keys=True, default=dict) for item in report.descriptors]
        self.own = [self._number("own", self._own(node, attributes)) for node in report.nodes]
        self.sources = [list(self._edges(node)) for node in report.nodes]
        self.readers: list[list[tuple[str, int]]] = [[] for _ in report.nodes]
        for place, edges in enumerate(self.sources):
            for label, source in edges:
                self.readers[source].append((label, place))
        order = self._order()
        self.above = self._numbers(order, self.sources, self._graph_sources)
        uses = Counter(self._producers[port.value][0] for port in report.outputs if port.value in self._producers)
        self.below = self._numbers(order[::-1], self.readers, uses.__getitem__)

    def _number(self, *key: Hashable) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def _own(self, node: NodeRecord, attributes: Sequence[str]) -> Hashable:
        tensors = self._report.tensors
        return (
            self._report.descriptors[node.descriptor].operator,
            attributes[node.descriptor],
            tuple(
                (item.field, None if item.tensor is None else tensors[item.tensor])
                for item in (*node.inputs, *node.outputs)
            ),
        )

    def _edges(self, node: NodeRecord) -> Iterator[tuple[str, int]]:
        """Yields each incoming edge: the fields at its two ends, and the source node."""
        for access in node.inputs:
            if access.value in self._producers:
                source, field = self._producers[access.value]
                yield f"{field} {access.field}", source

    def _order(self) -> list[int]:
        """The nodes in topological order, with those of cycles at the end."""
        waiting = [len(edges) for edges in self.sources]
        ready = [place for place, count in enumerate(waiting) if not count]
        for place in ready:
            for _, reader in self.readers[place]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
        return ready + [place for place, count in enumerate(waiting) if count]

    def _numbers(
        self, order: Sequence[int], edges: Sequence[Sequence[tuple[str, int]]], ends: Callable[[int], Hashable]
    ) -> list[int]:
        """A number for each node, equal for nodes that reach equal subgraphs along ``edges``, with equal ``ends``."""
        numbers = [-1] * len(self.nodes)
        for place in order:
            reached = tuple(sorted((label, numbers[other]) for label, other in edges[place]))
            numbers[place] = self._number("subgraph", self.own[place], reached, ends(place))
        return numbers

    def _graph_sources(self, place: int) -> Hashable:
        """The inputs and constants that a node reads."""
        values = self._report.values
        return tuple(
            (access.field, values[access.value].kind, values[access.value].bytes, values[access.value].digest)
            for access in self.nodes[place].inputs
            if access.value not in self._producers
        )


class _Matching:
    def __init__(self, left: _Shape, right: _Shape) -> None:
        self._sides = (left, right)
        self._unmatched = ([*range(len(left.nodes))], [*range(len(right.nodes))])
        self._partner: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._how: dict[int, How] = {}

    def matches(self) -> list[Match]:
        """All matches, in the order of the left nodes."""
        self._pair("name", lambda side, place: self._named(side, place, side.own[place]))
        self._pair("structure", lambda side, place: (side.above[place], side.below[place]))
        self._pair("structure", lambda side, place: side.above[place], only_single=True)
        self._pair("structure", lambda side, place: side.below[place], only_single=True)
        self._spread(lambda side, place: side.own[place])
        self._pair("name", lambda side, place: self._named(side, place, side.operators[place]))
        self._spread(lambda side, place: side.operators[place])
        self._pair("name", lambda side, place: self._named(side, place, ""))
        return [(left, right, self._how[left]) for left, right in sorted(self._partner[0].items())]

    @staticmethod
    def _named(side: _Shape, place: int, more: Hashable) -> Hashable:
        """A key with the name of a node; ``None``, which matches nothing, if it has no name."""
        name = side.nodes[place].name
        return (name, more) if name else None

    def _pair(self, how: How, key: Callable[[_Shape, int], Hashable], *, only_single: bool = False) -> None:
        """Pairs unmatched nodes with equal keys, in order, if there are as many on both sides."""
        groups: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, unmatched, group in zip(self._sides, self._unmatched, groups, strict=True):
            for place in unmatched:
                group[key(side, place)].append(place)
        for shared, lefts in groups[0].items():
            rights = groups[1].get(shared, [])
            if shared is not None and len(lefts) == len(rights) and (len(lefts) == 1 or not only_single):
                for left, right in zip(lefts, rights, strict=True):
                    self._add(left, right, how)
        self._update_unmatched()

    def _add(self, left: int, right: int, how: How) -> None:
        self._partner[0][left] = right
        self._partner[1][right] = left
        self._how[left] = how

    def _update_unmatched(self) -> None:
        for unmatched, partner in zip(self._unmatched, self._partner, strict=True):
            unmatched[:] = [place for place in unmatched if place not in partner]

    def _spread(self, key: Callable[[_Shape, int], Hashable]) -> None:
        """Pairs neighbours of pairs with equal keys at the same fields, and their neighbours in turn."""
        left, right = self._sides
        pending = [*self._partner[0].items()]
        for one, other in pending:
            for edges, others in ((left.sources[one], right.sources[other]), (left.readers[one], right.readers[other])):
                free: dict[Hashable, list[int]] = defaultdict(list)
                for label, place in others:
                    if place not in self._partner[1]:
                        free[label, key(right, place)].append(place)
                for label, place in edges:
                    candidates = free.get((label, key(left, place)), [])
                    if place not in self._partner[0] and candidates:
                        chosen = candidates.pop(0)
                        if chosen not in self._partner[1]:
                            self._add(place, chosen, "structure")
                            pending.append((place, chosen))
        self._update_unmatched()
