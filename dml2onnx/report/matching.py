"""Pairs equal nodes of two graphs, by name or position.

The surest matches come first: nodes that agree in name and descriptor; those below the same graph and above the same
graph, whatever they are called; those that share one of the two with no other node; then from matched nodes along
their edges; and names alone last. Each step looks only at what the steps before have left, so all of it is linear in
nodes and edges but for sorting.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from dml2onnx.report.records import Access, Node, Report

How: TypeAlias = Literal["name", "structure"]
Match: TypeAlias = tuple[int, int, How]


def match_nodes(left: Report, right: Report) -> list[Match]:
    """Places of nodes in both reports, each at most once, and by what they were found to be the same."""
    keys: dict[Hashable, int] = {}
    return _Matching(_Shape(left, keys), _Shape(right, keys)).found()


class _Shape:
    """What the nodes of one report are known by. Equal things of both reports have equal numbers in ``keys``."""

    def __init__(self, report: Report, keys: dict[Hashable, int]) -> None:
        self.nodes = report.nodes
        self._report = report
        self._keys = keys
        self.operators = [report.descriptors[node.descriptor].operator for node in report.nodes]
        self._makers = {
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
        self.above = self._folded(order, self.sources, self._ends)
        self.below = self._folded(order[::-1], self.readers, self._uses())

    def _number(self, *key: Hashable) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def _own(self, node: Node, attributes: Sequence[str]) -> Hashable:
        tensors = self._report.tensors
        return (
            self._report.descriptors[node.descriptor].operator,
            attributes[node.descriptor],
            tuple((item.field, None if item.tensor is None else tensors[item.tensor]) for item in _accesses(node)),
        )

    def _edges(self, node: Node) -> Iterator[tuple[str, int]]:
        """The nodes that a node reads from, with the fields that the edges leave and enter."""
        for access in node.inputs:
            if access.value in self._makers:
                source, field = self._makers[access.value]
                yield f"{field} {access.field}", source

    def _order(self) -> list[int]:
        """Nodes so that each follows what it reads from; those of a cycle at the end."""
        waiting = [len(edges) for edges in self.sources]
        ready = [place for place, count in enumerate(waiting) if not count]
        for place in ready:
            for _, reader in self.readers[place]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
        return ready + [place for place, count in enumerate(waiting) if count]

    def _folded(
        self, order: Sequence[int], edges: Sequence[Sequence[tuple[str, int]]], ends: Callable[[int], Hashable]
    ) -> list[int]:
        """A number for each node and all that can be reached from it along ``edges``."""
        numbers = [-1] * len(self.nodes)
        for place in order:
            reached = tuple(sorted((label, numbers[other]) for label, other in edges[place]))
            numbers[place] = self._number("folded", self.own[place], reached, ends(place))
        return numbers

    def _ends(self, place: int) -> Hashable:
        """What a node reads that no node has made."""
        values = self._report.values
        return tuple(
            (access.field, values[access.value].kind, values[access.value].bytes, values[access.value].digest)
            for access in self.nodes[place].inputs
            if access.value not in self._makers
        )

    def _uses(self) -> Callable[[int], Hashable]:
        """How often a node's values are outputs of the graph."""
        counts = Counter(self._makers[port.value][0] for port in self._report.outputs if port.value in self._makers)
        return lambda place: counts[place]


class _Matching:
    def __init__(self, left: _Shape, right: _Shape) -> None:
        self._sides = (left, right)
        self._rest = ([*range(len(left.nodes))], [*range(len(right.nodes))])
        self._partner: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._how: dict[int, How] = {}

    def found(self) -> list[Match]:
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
        """``None``, which matches nothing, where a node has no name."""
        name = side.nodes[place].name
        return (name, more) if name else None

    def _pair(self, how: How, key: Callable[[_Shape, int], Hashable], *, only_single: bool = False) -> None:
        """Pairs what is left and has equal keys, in order; where there are several, only as many on both sides."""
        groups: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, rest, group in zip(self._sides, self._rest, groups, strict=True):
            for place in rest:
                group[key(side, place)].append(place)
        for known, lefts in groups[0].items():
            rights = groups[1].get(known, [])
            if known is not None and len(lefts) == len(rights) and (len(lefts) == 1 or not only_single):
                for left, right in zip(lefts, rights, strict=True):
                    self._add(left, right, how)
        self._forget()

    def _add(self, left: int, right: int, how: How) -> None:
        self._partner[0][left] = right
        self._partner[1][right] = left
        self._how[left] = how

    def _forget(self) -> None:
        for rest, partner in zip(self._rest, self._partner, strict=True):
            rest[:] = [place for place in rest if place not in partner]

    def _spread(self, key: Callable[[_Shape, int], Hashable]) -> None:
        """Pairs neighbours of pairs that are alike and stand at the same fields, and neighbours of these."""
        left, right = self._sides
        waiting = [*self._partner[0].items()]
        for one, other in waiting:
            for edges, others in ((left.sources[one], right.sources[other]), (left.readers[one], right.readers[other])):
                free: dict[Hashable, list[int]] = defaultdict(list)
                for label, place in others:
                    if place not in self._partner[1]:
                        free[label, key(right, place)].append(place)
                for label, place in edges:
                    alike = free.get((label, key(left, place)), [])
                    if place not in self._partner[0] and alike:
                        chosen = alike.pop(0)
                        if chosen not in self._partner[1]:
                            self._add(place, chosen, "structure")
                            waiting.append((place, chosen))
        self._forget()


def _accesses(node: Node) -> tuple[Access, ...]:
    return (*node.inputs, *node.outputs)
