"""Compares a model with names for sizes with the reference, at both ends of their ranges and at random sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from dml2onnx.checks.resizing import named
from dml2onnx.compiler import compile_graph
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array, OnnxPort
from dml2onnx.passes import PASSES
from dml2onnx.providers.installed import require_providers
from dml2onnx.sizes.named import NamedGraph
from dml2onnx.sizes.ranges import drawn
from dml2onnx.verification.options import VerifyOptions
from dml2onnx.verification.whole import Verification, verify_with


def verify_sizes(
    source: Graph,
    make_inputs: Callable[[Sequence[OnnxPort]], Mapping[str, Array]],
    options: VerifyOptions,
) -> Verification:
    """Compares the model at the first and last sizes, then at random ones, one round each."""
    options = options.checked()
    outputs = [item.name for item in source.results or source.outputs]
    target = require_providers(options.provider).target
    one = compile_graph(source, replace(options.compiling, target=target, feature_level=None), outputs)
    # all passes may run, since nodes are not compared
    at_point = replace(options, rounds=1, compiling=replace(options.compiling, passes=PASSES, propagate=True))
    found: list[Verification] = []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.onnx"
        one.save(path)
        graph = named(source.without_names(), source.named_sizes)
        for number, point in enumerate(_points(graph, one.ranges, max(options.rounds, 2), Random(options.seed))):
            chosen = replace(at_point, seed=options.seed + number)
            result = verify_with(graph.at(point), make_inputs, chosen, against=path)
            text = ", ".join(f"{name}={size}" for name, size in point.items())
            comparisons = tuple(replace(item, round=f"at {text}") for item in result.comparisons)
            found.append(replace(result, comparisons=comparisons))
    comparisons = tuple(item for result in found for item in result.comparisons)
    finished = sum(result.finished for result in found)
    return replace(found[0], comparisons=comparisons, rounds=len(found), finished=finished)


def _points(
    graph: NamedGraph, ranges: Mapping[str, tuple[int, int]], count: int, random: Random
) -> Iterator[dict[str, int]]:
    """Yields the first sizes, the last ones, and random ones."""
    yield {name: low for name, (low, _) in ranges.items()}
    yield {name: high for name, (_, high) in ranges.items()}
    yield from drawn(graph, ranges, count - 2, random)
