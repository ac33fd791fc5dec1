"""Compiles or checks a valid model for other sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.arguments import refusal
from dml2onnx.checks.checking import check_graph, level_of
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes.sizing import RANGE
from dml2onnx.diagnostics import DmlError, Remedy, Severity, quote, raise_errors
from dml2onnx.frontends import graph_of
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.size_names import is_size_name
from dml2onnx.sizes import resized
from dml2onnx.sizes.named import NamedGraph
from dml2onnx.sizes.ranges import ranges_of
from dml2onnx.sizes.request import request
from dml2onnx.sizes.solver import Solver

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc

NAMED = "sizes above 0, or names of letters, digits and underscores"
RANGES = 'the first and the last size of names, such as {"N": (1, 64)}'
SIZES = 'sizes by the names of inputs, such as {"picture": (8, 3, 224, 224)}'


def resize(model: Graph | str | os.PathLike[str], sizes: Mapping[str, Sequence[int]]) -> Graph:
    """Returns the same program, as if it had been written for inputs of these sizes.

    ``sizes`` has the sizes of inputs as in their DirectML descriptors. All other sizes are inferred: windows, strides,
    scales, paddings and axes stay, and what covers a whole dimension still covers it. Weights stay, and so do inputs
    without new sizes unless they depend on the others. Contents of inputs that change their size are dropped.
    Raises :class:`DmlError` if the model is invalid at its own sizes, or cannot have these, and names the node that
    prevents it.
    """
    graph = graph_of(model).without_names()
    requested = checked_sizes(sizes)
    raise_errors(check_graph(graph, level_of(graph, None)))
    return resized(graph, requested, judge(graph))


def with_names(
    graph: Graph, sizes: Mapping[str, Sequence[int | str]], ranges: Mapping[str, tuple[int, int]] | None = None
) -> Graph:
    """Returns the graph with these input sizes, some of them names. Raises :class:`DmlError` for other inputs."""
    requested = _names_checked(sizes)
    request(graph, requested, Solver())
    limits = checked_ranges(ranges or {}, {size for own in requested.values() for size in own if isinstance(size, str)})
    inputs = tuple(replace(item, sizes=requested.get(item.name, ())) for item in graph.inputs)
    return replace(graph, inputs=inputs, ranges=limits)


def sized(
    graph: Graph,
    sizes: Mapping[str, Sequence[int | str]] | None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
) -> Graph:
    """Returns the graph at other sizes, some of which may be names, or at its own named sizes."""
    if sizes is None and not ranges:
        return graph
    if sizes is None:
        sizes, ranges = graph.named_sizes, {**graph.ranges, **(ranges or {})}
    if any(isinstance(size, str) for own in _rows(sizes) for size in own):
        return with_names(graph, sizes, ranges)
    if ranges:
        name, first = str(next(iter(ranges))), next((item.name for item in graph.inputs), "INPUT")
        how = f"use it as a size: --size {first}={name},... (sizes= in Python)"
        message = f"{quote(name)} is not the name of a size"
        raise DmlError(RANGE.at(message, expected="a name that occurs in sizes", found=name, remedies=(Remedy(how),)))
    return resize(graph, sizes)  # type: ignore[arg-type]  # there are no names in it


def at_stated_numbers(graph: Graph) -> Graph:
    """Returns the graph resized to the numbers in ``sizes`` of its inputs that are not names."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    sizes: dict[str, tuple[int, ...]] = {}
    for item, desc in zip(graph.inputs, input_descs(graph.inputs, graph.sorted_nodes(), ends), strict=True):
        if item.sizes:
            both = zip(item.sizes, desc.sizes, strict=True)
            stated = tuple(own if isinstance(size, str) else size for size, own in both)
            if stated != desc.sizes:
                sizes[item.name] = stated
    return with_names(resize(graph, sizes), graph.named_sizes, graph.ranges) if sizes else graph


def _rows(sizes: object) -> list[Sequence[object]]:
    rows = sizes.values() if isinstance(sizes, Mapping) else ()
    return [own for own in rows if isinstance(own, Sequence) and not isinstance(own, (str, bytes))]


def checked_ranges(ranges: Mapping[str, Sequence[int]], names: Collection[str]) -> dict[str, tuple[int, int]]:
    """Returns the ranges of these names, validated."""
    if not isinstance(ranges, Mapping):
        raise refusal("ranges", ranges, RANGES)
    found: dict[str, tuple[int, int]] = {}
    for name, own in ranges.items():
        ends = tuple(own) if isinstance(own, Sequence) and not isinstance(own, (str, bytes)) else ()
        is_pair = len(ends) == 2 and all(type(size) is int for size in ends)
        if not is_pair or not 1 <= ends[0] <= ends[1]:
            raise refusal(f"the range of {name}", own, RANGES)
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            message = f"{quote(str(name))} is not the name of a size; the names are: {known}"
            raise DmlError(RANGE.at(message, expected=known, found=name))
        found[name] = ends[0], ends[1]
    return found


def _names_checked(sizes: Mapping[str, Sequence[int | str]]) -> dict[str, tuple[int | str, ...]]:
    """Returns ``sizes`` with names, validated."""
    if len(_rows(sizes)) != len(sizes):
        raise refusal("sizes", sizes, SIZES)
    requested = {name: tuple(own) for name, own in sizes.items()}
    for name, own in requested.items():
        for size in own:
            if (
                isinstance(size, bool)
                or not isinstance(size, (int, str))
                or (isinstance(size, str) and not is_size_name(size))
            ):
                raise refusal(f"the sizes of {name}", size, NAMED)
    return requested


def named(graph: Graph, sizes: Mapping[str, Sequence[int | str]]) -> NamedGraph:
    """Returns a checked graph whose sizes have names."""
    return NamedGraph.of(graph, _names_checked(sizes), judge(graph))


def check_names(graph: Graph, one: Callable[[Graph], list[Diagnostic]]) -> list[Diagnostic]:
    """Returns the findings about a graph with named sizes: at its own sizes, or else at the ends of their ranges."""
    written = graph.without_names()
    found = one(written)

    def is_accepted(other: Graph) -> bool:
        return all(item.severity is not Severity.ERROR for item in one(other))

    if any(item.is_error for item in found):
        return found
    try:
        sized = named(written, graph.named_sizes)
        limits = ranges_of(sized, graph.ranges, lambda values: is_accepted(sized.at(values)))
        for end in (0, 1):
            other = one(sized.at({name: ends[end] for name, ends in limits.items()}))
            found += [item for item in other if item.is_error and item not in found]
    except DmlError as error:
        found += error.diagnostics
    return found


def judge(graph: Graph) -> Callable[[OperatorDesc], bool]:
    """Returns a function that checks whether DirectML accepts an operator at the level of the graph."""
    level = level_of(graph, None)

    def is_accepted(operator: OperatorDesc) -> bool:
        return all(not finding.is_error for finding in findings_of(operator, level))

    return is_accepted


def checked_sizes(sizes: object) -> dict[str, tuple[int, ...]]:
    """Returns ``sizes`` without names, validated."""
    if not isinstance(sizes, Mapping) or not all(isinstance(name, str) for name in sizes):
        raise refusal("sizes", sizes, SIZES)
    requested: dict[str, tuple[int, ...]] = {}
    for name, own in sizes.items():
        if isinstance(own, (str, bytes)) or not isinstance(own, Sequence):
            raise refusal(f"the sizes of {name}", own, SIZES)
        if not all(hasattr(size, "__index__") and not isinstance(size, bool) for size in own):
            raise refusal(f"the sizes of {name}", own, SIZES)
        requested[name] = tuple(size.__index__() for size in own)
    return requested
