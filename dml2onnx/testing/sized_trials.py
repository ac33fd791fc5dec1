"""Graphs with names for sizes: one model for all sizes against the model of each; what goes wrong is a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.checks import check, level_of, uncompiled
from dml2onnx.checks.resizing import named, resize
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.inputs import input_descs
from dml2onnx.named_sizes import difference, points_of
from dml2onnx.reference import evaluate_results
from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.ranges import drawn
from dml2onnx.testing.trial import differences, feeds_of
from dml2onnx.testing.trial import trial as against_reference
from dml2onnx.verification.indices import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.onnx_model import Array
    from dml2onnx.sizes.named import NamedGraph, Values

Sizes = dict[str, tuple[int | str, ...]]

REFUSED = frozenset({"DML2102", "DML2103", "DML2104", "DML2105"})
"""Sizes that are fixed, tied or do not fit, and ranges for which there is no one model."""
POINTS = 2
"""At how many sizes models are compared, beside the ends of their ranges."""
NAMES = 3
"""Most names of one graph: each may make it three times as large."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a graph: its sizes with names, the code with which they are refused, or what is wrong."""

    sizes: Sizes
    refused: str = ""
    problem: str = ""


def trial(graph: Graph, seed: int) -> Outcome:
    """A graph without findings, with names for some sizes of its inputs, drawn by the seed.

    The model is compared, bit for bit, with those that are compiled for a size, and these with the reference; at one
    of the sizes every value of the model has to have the shape that the model states.
    """
    random = Random(seed)
    sizes = _sizes(graph, random)
    if not sizes:
        return Outcome({}, "no size is free")
    exact = bool(random.getrandbits(1))
    source = named(graph, sizes)
    ranges = _ranges(source, random)
    try:
        model = compile(graph, sizes=sizes, ranges=ranges, exact=exact)
    except DmlError as error:
        codes = {item.code for item in error.diagnostics if item.severity is Severity.ERROR}
        if codes <= REFUSED | _findings(source, ranges):
            return Outcome(sizes, min(codes))
        return Outcome(sizes, problem=f"{sizes} in {ranges}, exact={exact}: {error}")
    for number, values in enumerate(_points(source, ranges, random)):
        problem = _difference(source, sizes, values, model, seed, is_first=number == 0)
        if problem:
            return Outcome(sizes, problem=f"{sizes} in {ranges} at {dict(values)}, exact={exact}: {problem}")
    return Outcome(sizes)


def _sizes(graph: Graph, random: Random) -> Sizes:
    """Names for some of the sizes of one or two inputs that are free; those that are tied have one name."""
    ends = (*graph.outputs, *graph.results)
    descs = {
        item.name: desc
        for item, desc in zip(graph.inputs, input_descs(graph.inputs, graph.sorted_nodes(), ends), strict=True)
    }
    found: Sizes = {}
    first: dict[Expr, str] = {}
    for name in random.sample(list(descs), min(len(descs), random.choice((1, 1, 2)))):
        labels = tuple(f"{chr(65 + len(found))}{i}" for i in range(descs[name].rank))
        source = named(graph, {**found, name: labels})
        solver = source.traced.solver
        own: list[int | str] = []
        for size, label in zip(descs[name].sizes, labels, strict=True):
            expr = solver.resolved(Expr.of(source.asked.names[label]))
            is_named = expr.number is None and (expr in first or (len(first) < NAMES and random.random() < 0.8))
            own.append(first.setdefault(expr, label) if is_named else size)
        if any(isinstance(size, str) for size in own):
            found[name] = tuple(own)
    return found


def _ranges(source: NamedGraph, random: Random) -> dict[str, tuple[int, int]]:
    found = {}
    for name in source.names:
        old = source.old(name)
        low = source.nearest(name, random.randint(1, old), old) or old
        found[name] = low, source.nearest(name, random.randint(old, 3 * old + 2), old) or old
    return found


def _findings(source: NamedGraph, ranges: Mapping[str, tuple[int, int]]) -> set[str]:
    """The codes of what is wrong with the graph at the sizes that a model is made of."""
    points = points_of(source, dict(ranges))
    return {item.code for point in points if not source.problems(point) for item in _wrong(source.at(point))}


def _wrong(graph: Graph) -> list[Diagnostic]:
    """Why no model is made of a graph."""
    findings = check(graph, remedies=False)
    errors = [item for item in findings if item.severity is Severity.ERROR]
    return [*errors, *uncompiled(graph, findings, level_of(graph, None))]


def _points(source: NamedGraph, ranges: Mapping[str, tuple[int, int]], random: Random) -> Iterator[Values]:
    yield from drawn(source, ranges, POINTS, random)
    for end in (0, 1):
        yield {name: ends[end] for name, ends in ranges.items()}


def _difference(
    source: NamedGraph, sizes: Sizes, values: Values, model: CompiledModel, seed: int, *, is_first: bool
) -> str:
    """What is wrong at one size; nothing is ``""``."""
    fixed = source.at(values)
    if _wrong(fixed):  # a number that was stated for one size, which check says better than anybody
        return ""
    exact = model.exact
    try:
        static = compile(fixed, exact=exact)
        feeds = feeds_of(static, seed)
        feeds = feeds if exact else within(fixed, feeds)
        own = {port.name: _as_named(feeds[port.name], shape_at(port.shape, values)) for port in model.inputs}
        wanted, found = static.run(feeds), model.run(own)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    for name, array in wanted.items():
        if found[name].shape != array.shape:
            return f"{name} has the shape {found[name].shape}, not {array.shape}"
        if found[name].tobytes() != array.tobytes():
            if _has_other_form(source, static, model):  # which may round otherwise, as far as the reference lets it
                return differences(
                    model.outputs, found, evaluate_results(fixed, feeds, exact=exact), half_accumulation=not exact
                )
            wrong = int(np.sum(found[name] != array))
            return f"{name} has other numbers ({wrong} of {array.size}) than the model of that size"
    if not is_first:
        return ""
    return (
        _resized_otherwise(source, sizes, fixed, values)
        or against_reference(fixed, seed, exact=exact)
        or wrong_shapes(model, own, values)
    )


def _as_named(array: Array, shape: tuple[int, ...]) -> Array:
    """A buffer as a model with names takes it: it has no bytes behind an odd number of FLOAT16 elements."""
    return array.reshape(-1)[: prod(shape)].reshape(shape)


def _has_other_form(source: NamedGraph, static: CompiledModel, model: CompiledModel) -> bool:
    """Whether a size has another form than the last one, which a model with names has at all sizes."""
    last = compile(source.at({name: high for name, (_, high) in model.ranges.items()}), exact=model.exact)
    return difference(last.lowered, static.lowered) is not None


def _resized_otherwise(source: NamedGraph, sizes: Sizes, fixed: Graph, values: Values) -> str:
    """Whether numbers in the place of names make another graph.

    Where names stand for one element they may: a view of [1, 1, 4] does not say which of its dimensions is the batch.
    """
    if any(source.old(name) == 1 for name in source.names):
        return ""
    numbers = {name: shape_at(own, values) for name, own in sizes.items()}
    other = resize(source.graph, numbers)
    same = [item.desc for item in other.outputs] == [item.desc for item in fixed.outputs]
    return "" if same else f"resized to {numbers} the outputs are {[str(item.desc) for item in other.outputs]}"


def wrong_shapes(model: CompiledModel, feeds: Mapping[str, Array], values: Values) -> str:
    """The first value of a run whose shape is not the stated one; nothing is ``""``."""
    import onnxruntime

    proto = type(model.model_proto).FromString(model.serialize())
    stated = {item.name: item.type.tensor_type.shape.dim for item in (*proto.graph.value_info, *proto.graph.output)}
    own = [item.name for item in proto.graph.output]
    proto.graph.output.extend(item for item in proto.graph.value_info)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [*own, *(item.name for item in proto.graph.value_info)]
    arrays = session.run(names, {port.onnx_name: feeds[port.name] for port in model.inputs})
    for name, array in zip(names, arrays, strict=True):
        for dim, size in zip(stated[name], array.shape, strict=True):
            said = dim.dim_value if dim.HasField("dim_value") else at(dim.dim_param, values) if dim.dim_param else size
            if said != size:
                return f"{name} has the shape {array.shape}, and the model says {dim.dim_param or said}"
    return ""


def at(text: str, values: Values) -> int:
    """What the text of a size is where names stand for these sizes."""
    return int(eval(text.replace("/", "//"), {"__builtins__": {}, "floor": int}, dict(values)))  # of our own


def shape_at(shape: tuple[int | str, ...], values: Values) -> tuple[int, ...]:
    """A shape where names stand for these sizes."""
    return tuple(at(str(size), values) for size in shape)
