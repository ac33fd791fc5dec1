"""Makes a graph smaller as long as it keeps a property.

This is delta debugging (Zeller and Hildebrandt, 2002) as C-Reduce does it: passes that know the material propose
smaller graphs, a test says which are still of interest, and passes are repeated until none of them helps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from dml2onnx.checks import check
from dml2onnx.reducing import edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dml2onnx.ir.graph import Graph

    Item = TypeVar("Item")
    Edit = Callable[[Graph, Sequence[Item]], Graph | None]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the search is."""

    graph: Graph
    """The smallest graph that is of interest so far."""
    tests: int
    """How many graphs have been tested."""


def reduced(
    graph: Graph, is_interesting: Callable[[Graph], bool], tell: Callable[[Progress], object] = lambda progress: None
) -> Graph:
    """The smallest graph found for which ``is_interesting``, which ``graph`` itself is.

    Only graphs without other errors than those of ``graph`` are tested. ``tell`` hears of every smaller graph at once,
    so that nothing is lost when the search is interrupted.
    """
    return _Search(graph, is_interesting, tell).run()


class _Search:
    def __init__(
        self, graph: Graph, is_interesting: Callable[[Graph], bool], tell: Callable[[Progress], object]
    ) -> None:
        self._best = graph
        self._test = is_interesting
        self._tell = tell
        self._tests = 0
        self._errors = _errors(graph)

    def run(self) -> Graph:
        before = None
        while before is not self._best:
            before = self._best
            for edit, items in edits.PASSES:
                self._without(edit, items)
            self._smaller_sizes()
        return self._best

    def _without(self, edit: Edit[Item], items: Callable[[Graph], Sequence[Item]]) -> None:
        """Applies an edit to as many items as it may be: to all first, then to halves, in the end to single ones."""
        left = list(items(self._best))
        length = len(left)
        while length:
            position = 0
            while position < len(left):
                chosen = left[position : position + length]
                if self._try(edit(self._best, chosen)):
                    del left[position : position + length]
                else:
                    position += length
            length = length // 2 if length > 1 else 0

    def _smaller_sizes(self) -> None:
        """One number of elements after the other made smaller wherever it stands, from the largest on."""
        for size in edits.sizes(self._best):
            for smaller in _smaller(size):
                if self._try(edits.resized(self._best, size, smaller)):
                    break

    def _try(self, candidate: Graph | None) -> bool:
        if candidate is None or not candidate.outputs or _errors(candidate) - self._errors:
            return False
        self._tests += 1
        if not self._test(candidate):
            return False
        self._best = replace(candidate, findings=())
        self._tell(Progress(self._best, self._tests))
        return True


def _errors(graph: Graph) -> frozenset[str]:
    return frozenset(item.code for item in check(graph) if item.is_error)


def _smaller(size: int) -> Iterator[int]:
    """1, 2, 4 and so on, and in the end a half: few tests, and most sizes may be 1."""
    step = 1
    while step < size // 2:
        yield step
        step *= 4
    if size > 2:
        yield size // 2
