"""Compiles models at as many sizes as needed, and merges them into one for all sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from dml2onnx.diagnostics import DmlError
from dml2onnx.named_sizes.fitting import MissedError
from dml2onnx.named_sizes.merging import difference, merged, other_form, too_few
from dml2onnx.named_sizes.points import points_of
from dml2onnx.onnx_model import OnnxGraph
from dml2onnx.sizes.limits import Limits
from dml2onnx.sizes.named import NamedGraph, Values


class Compiled(Protocol):
    """A model at one size."""

    @property
    def lowered(self) -> OnnxGraph:
        """Its nodes."""


Model = TypeVar("Model", bound=Compiled)

ENOUGH = 4
"""The number of models that are merged."""
FEWEST = 3
"""The fewest models that determine the expressions, unless a range has fewer sizes."""


def one_model(graph: NamedGraph, limits: Limits, compiled: Callable[[Values], Model]) -> tuple[Model, OnnxGraph]:
    """Returns the model at the last size, and the one for all sizes; raises :class:`DmlError` if there is none."""
    making = _Making(graph, limits, compiled)
    making.collect()
    return making.models[0], making.merged()


class _Making(Generic[Model]):
    def __init__(self, graph: NamedGraph, limits: Limits, compiled: Callable[[Values], Model]) -> None:
        self.graph = graph
        self.limits = limits
        self.ranges = limits.ranges
        self.compiled = compiled
        self.points: list[Values] = []
        self.models: list[Model] = []
        self.differing: tuple[str, Values] | None = None
        """The first node that has another form at another size, and that size."""

    def collect(self) -> None:
        """Compiles models of one form at several sizes; a small size may have another form, which is skipped."""
        tried: list[Mapping[str, int]] = []
        for point in points_of(self.graph, self.ranges):
            if len(self.points) >= ENOUGH:
                break
            if point not in tried:
                tried.append(point)
                self._try(point)
        if len(self.points) < min(FEWEST, len(tried)):
            raise other_form(*(self.differing or ("",)))

    def _try(self, point: Values) -> bool:
        try:
            made = self.compiled(point)
        except DmlError:
            if self._is_inside(point):
                raise
            return False  # outside the range
        place = difference(self.models[0].lowered, made.lowered) if self.models else None
        if place is not None:
            self.differing = self.differing or (place, point)
            return False
        self.points.append(point)
        self.models.append(made)
        return True

    def _is_inside(self, point: Values) -> bool:
        return all(low <= point[name] <= high for name, (low, high) in self.ranges.items())

    def merged(self) -> OnnxGraph:
        """Merges the models; if a node does not work at a size, adds the model at that size."""
        while True:
            try:
                return merged(self.graph, self.points, [item.lowered for item in self.models], self.limits)
            except MissedError as missed:
                if missed.point in self.points:
                    raise too_few(missed.node, missed.point) from None
                if not self._try(missed.point):
                    raise other_form(missed.node, missed.point) from None
            except DmlError:  # may be due to constants of one element at the first size
                lowest = {name: low for name, (low, _) in self.ranges.items()}
                if lowest not in self.points or len(self.points) <= FEWEST:
                    raise
                del self.models[self.points.index(lowest)]
                self.points.remove(lowest)
