"""Makes a graph smaller while it keeps a property.

This is delta debugging (Zeller and Hildebrandt, 2002) as in C-Reduce: passes for graphs propose smaller candidates, a
test decides which are interesting, and the passes are repeated until none of them helps.
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
class SearchState:
    """The state of the search."""

    graph: Graph
    """The smallest interesting graph so far."""
    tests: int
    """The number of tested graphs."""


def reduced(
    graph: Graph,
    is_interesting: Callable[[Graph], bool],
    on_progress: Callable[[SearchState], object] = lambda progress: None,
) -> Graph:
    """Returns the smallest graph found for which ``is_interesting`` is true; it must be true for ``graph``.

    Candidates with errors that ``graph`` does not have are skipped. ``on_progress`` is called with every smaller graph,
    so that its result survives an interruption.
    """
    return _Search(graph, is_interesting, on_progress).run()


class _Search:
    def __init__(
        self, graph: Graph, is_interesting: Callable[[Graph], bool], on_progress: Callable[[SearchState], object]
    ) -> None:
        self._best = graph
        self._test = is_interesting
        self._on_progress = on_progress
        self._tests = 0
        self._errors = _errors(graph)

    def run(self) -> Graph:
        before = None
        while before is not self._best:
            before = self._best
            for edit, items in edits.PASSES:
                self._apply(edit, items)
            self._shrink_sizes()
        return self._best

    def _apply(self, edit: Edit[Item], items: Callable[[Graph], Sequence[Item]]) -> None:
        """Applies an edit to as many items as possible: first to all at once, then to halves, finally one by one."""
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

    def _shrink_sizes(self) -> None:
        """Replaces each size, from the largest on, by a smaller one in all tensors."""
        for size in edits.sizes(self._best):
            for smaller in _smaller_sizes(size):
                if self._try(edits.resized(self._best, size, smaller)):
                    break

    def _try(self, candidate: Graph | None) -> bool:
        if candidate is None or not candidate.outputs or _errors(candidate) - self._errors:
            return False
        self._tests += 1
        if not self._test(candidate):
            return False
        self._best = replace(candidate, findings=())
        self._on_progress(SearchState(self._best, self._tests))
        return True


def _errors(graph: Graph) -> frozenset[str]:
    return frozenset(item.code for item in check(graph) if item.is_error)


def _smaller_sizes(size: int) -> Iterator[int]:
    """1, 4, 16, ..., and finally half the size: few tests, because most sizes can be 1."""
    step = 1
    while step < size // 2:
        yield step
        step *= 4
    if size > 2:
        yield size // 2
