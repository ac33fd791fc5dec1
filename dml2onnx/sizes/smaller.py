"""Smaller input sizes, for what takes too long at the model's own."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.inputs import input_descs
from dml2onnx.sizes.named import NamedGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.named import Values

MOST_INPUTS = 8
"""The most inputs that are tried; others are mostly weights."""
PARTS = (0.75, 0.5, 0.25, 0.125, 0.0625)
"""The factors of the sizes that are tried."""


def smaller(
    graph: Graph, is_valid: Callable[[OperatorDesc], bool], fits: Callable[[Graph], bool]
) -> tuple[str, tuple[int, ...]] | None:
    """Returns the first input with the largest tried sizes at which the graph ``fits``, or ``None``.

    Heights and widths of images are reduced first, then their number.
    """
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    descs = input_descs(graph.inputs, graph.sorted_nodes(), ends)
    for item, desc in islice(zip(graph.inputs, descs, strict=True), MOST_INPUTS):
        try:
            named = NamedGraph.of(graph, {item.name: [f"d{i}" for i in range(desc.rank)]}, is_valid)
            found = next((values for values in _tried(named) if fits(named.at(values))), None)
        except DmlError:  # its sizes cannot be named
            continue
        if found is not None:
            return item.name, tuple(found.values())
    return None


def _tried(named: NamedGraph) -> Iterator[Values]:
    """Values of the free dimensions, the largest ones first."""
    free = [name for name in named.names if not named.is_bound(name)]
    spatial = [name for name in free if name in named.names[2:]]
    for chosen in (spatial, free[:1] if free[:1] == list(named.names[:1]) else (), free):
        seen: set[tuple[int, ...]] = set()
        for part in PARTS if chosen else ():
            values = _values(named, chosen, part)
            sizes = tuple(values.values())
            if sizes not in seen and values != named.own_values() and named.is_possible(values):
                seen.add(sizes)
                yield values


def _values(named: NamedGraph, chosen: Sequence[str], part: float) -> Values:
    """The model's sizes with some names reduced to a part, or to the next smaller possible size."""
    values = named.own_values()
    for name in chosen:
        wanted = max(int(values[name] * part), 1)
        values[name] = named.nearest(name, wanted, 1) or values[name]
    return values
