"""Compares the model of a graph with named sizes with the models of single sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np

from dml2onnx.checks import check, level_of, uncompiled
from dml2onnx.checks.resizing import named, resize
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.inputs import input_descs
from dml2onnx.named_sizes import difference, points_of
from dml2onnx.onnx_model import Array
from dml2onnx.reference import evaluate_results
from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.named import NamedGraph, Values
from dml2onnx.sizes.ranges import drawn
from dml2onnx.test_cases.trial import differences, feeds_of, sentence
from dml2onnx.test_cases.trial import trial as against_reference
from dml2onnx.verification.indices import within

Sizes = dict[str, tuple[int | str, ...]]

REFUSED = frozenset({"DML2102", "DML2103", "DML2104", "DML2105"})
"""Codes for sizes that are fixed, tied or inconsistent, and for ranges without a common model."""
POINTS = 2
"""Number of random sizes to compare, besides the ends of the ranges."""
NAMES = 3
"""Limit of names in one graph; each may triple its size."""


@dataclass(frozen=True, slots=True)
class SizedTrial:
    """The named sizes of a graph, and the code that refuses them or the problem, if any."""

    sizes: Sizes
    refused: str = ""
    problem: str = ""


def trial(graph: Graph, seed: int) -> SizedTrial:
    """Names random sizes of a valid graph's inputs, and tests the model.

    Its results must equal, bit for bit, those of models for single sizes, which must match the reference. At one size,
    every value must have the shape that the model states.
    """
    random = Random(seed)
    sizes = random_sizes(graph, random)
    if not sizes:
        return SizedTrial({}, "no size is free")
    exact = bool(random.getrandbits(1))
    source = named(graph, sizes)
    ranges = random_ranges(source, random)
    try:
        model = compile(graph, sizes=sizes, ranges=ranges, exact=exact)
    except DmlError as error:
        codes = {item.code for item in error.diagnostics if item.severity is Severity.ERROR}
        if codes <= REFUSED | _findings(source, ranges):
            return SizedTrial(sizes, min(codes))
        return SizedTrial(sizes, problem=f"{sizes} in {ranges}, exact={exact}: {error}")
    for number, values in enumerate(_points(source, ranges, random)):
        problem = _difference(source, sizes, values, model, seed, is_first=number == 0)
        if problem:
            return SizedTrial(sizes, problem=f"{sizes} in {ranges} at {dict(values)}, exact={exact}: {problem}")
    return SizedTrial(sizes)


def random_sizes(graph: Graph, random: Random) -> Sizes:
    """Names for some free sizes of one or two inputs; tied sizes share a name."""
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
            expr = solver.resolved(Expr.of(source.requested.names[label]))
            is_named = expr.number is None and (expr in first or (len(first) < NAMES and random.random() < 0.8))
            own.append(first.setdefault(expr, label) if is_named else size)
        if any(isinstance(size, str) for size in own):
            found[name] = tuple(own)
    return found


def random_ranges(source: NamedGraph, random: Random) -> dict[str, tuple[int, int]]:
    """Ranges of the names of a graph that contain its own sizes."""
    found = {}
    for name in source.names:
        old = source.old(name)
        low = source.nearest(name, random.randint(1, old), old) or old
        found[name] = low, source.nearest(name, random.randint(old, 3 * old + 2), old) or old
    return found


def _findings(source: NamedGraph, ranges: Mapping[str, tuple[int, int]]) -> set[str]:
    """The codes of errors of the graph at the sizes from which the model is merged."""
    points = points_of(source, dict(ranges))
    return {item.code for point in points if not source.problems(point) for item in _wrong(source.at(point))}


def _wrong(graph: Graph) -> list[Diagnostic]:
    """The reasons why a graph is not compiled."""
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
    """The problem at one size; ``""`` if there is none."""
    fixed = source.at(values)
    if _wrong(fixed):  # an attribute that is valid for one size only
        return ""
    exact = model.exact
    try:
        static = compile(fixed, exact=exact)
        feeds = feeds_of(static, seed)
        feeds = feeds if exact else within(fixed, feeds)
        own = {port.name: _as_named(feeds[port.name], shape_at(port.shape, values)) for port in model.inputs}
        wanted, found = static.run(feeds), model.run(own)
    except Exception as error:
        return sentence(error)
    for name, array in wanted.items():
        if found[name].shape != array.shape:
            return f"{name} has the shape {found[name].shape}, not {array.shape}"
        if found[name].tobytes() != array.tobytes():
            if _has_other_form(source, static, model):  # may round differently, within the reference's error
                results = evaluate_results(fixed, feeds, exact=exact)
                return differences(model.outputs, found, results, half_accumulation=not exact)
            wrong = int(np.sum(found[name] != array))
            return f"{name} differs from the model of that size ({wrong} of {array.size} numbers)"
    if not is_first:
        return ""
    return (
        _resize_problem(source, sizes, fixed, values)
        or against_reference(fixed, seed, exact=exact)
        or wrong_shapes(model, own, values)
    )


def _as_named(array: Array, shape: tuple[int, ...]) -> Array:
    """A buffer without the padding after an odd number of FLOAT16 elements, which models with names do not have."""
    return array.reshape(-1)[: prod(shape)].reshape(shape)


def _has_other_form(source: NamedGraph, static: CompiledModel, model: CompiledModel) -> bool:
    """Whether the nodes for a size differ from those for the largest, which the model with names uses for all."""
    last = compile(source.at({name: high for name, (_, high) in model.ranges.items()}), exact=model.exact)
    return difference(last.lowered, static.lowered) is not None


def _resize_problem(source: NamedGraph, sizes: Sizes, fixed: Graph, values: Values) -> str:
    """The problem if resizing by numbers instead of names gives a different graph.

    That is valid for names of size 1: a view of [1, 1, 4] does not tell which dimension is the batch.
    """
    if any(source.old(name) == 1 for name in source.names):
        return ""
    numbers = {name: shape_at(own, values) for name, own in sizes.items()}
    other = resize(source.graph, numbers)
    same = [item.desc for item in other.outputs] == [item.desc for item in fixed.outputs]
    return "" if same else f"resized to {numbers} the outputs are {[str(item.desc) for item in other.outputs]}"


def wrong_shapes(model: CompiledModel, feeds: Mapping[str, Array], values: Values) -> str:
    """The first value of a run whose shape differs from the stated one; ``""`` if there is none."""
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
            want = dim.dim_value if dim.HasField("dim_value") else at(dim.dim_param, values) if dim.dim_param else size
            if want != size:
                return f"{name} has the shape {array.shape}, but the model states {dim.dim_param or want}"
    return ""


def at(text: str, values: Values) -> int:
    """Evaluates the text of a size."""
    return int(eval(text.replace("/", "//"), {"__builtins__": {}, "floor": int}, dict(values)))  # written by us


def shape_at(shape: tuple[int | str, ...], values: Values) -> tuple[int, ...]:
    """Evaluates a shape."""
    return tuple(at(str(size), values) for size in shape)
