"""What to time: an ONNX model in a file, a way to run it, and its inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.compiler import CompiledModel, compile_graph
from dml2onnx.passes import chosen
from dml2onnx.verification.against import OtherModel
from dml2onnx.verification.contents import random_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dml2onnx.ir.graph import Graph
    from dml2onnx.onnx_model import Array
    from dml2onnx.options import CompileOptions
    from dml2onnx.providers.choice import Providers


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is made and run."""

    provider: Providers
    target: str
    """Of the compiled model; empty for one that is measured as it is."""
    optimize: int
    threads: int
    """Of a session; 0 leaves it to ONNX Runtime."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One thing that is measured."""

    model: str
    """The model that it computes, as the user calls it."""
    file: str
    """What is measured in its place, for an ONNX model that somebody else has made."""
    way: Way
    path: Path
    """The ONNX file that is run."""
    feeds: Mapping[str, Array]
    finish: Callable[[Mapping[str, Array]], dict[str, Array]]
    """The outputs in the shapes of the graph's tensors, of those of the file by their names."""
    nodes: int


def of_model(
    graph: Graph,
    name: str,
    way: Way,
    directory: Path,
    supplied: Callable[[CompiledModel], Mapping[str, Array]],
    options: CompileOptions,
) -> Subject:
    """A graph, compiled for a way of running it, in a file of the directory."""
    compiled = compile_graph(graph, replace(options, target=way.target, passes=chosen(way.optimize)))
    path = directory / f"{len(list(directory.iterdir()))}.onnx"
    compiled.save(path)
    feeds = supplied(compiled)

    def finish(results: Mapping[str, Array]) -> dict[str, Array]:
        return compiled.finish({port.name: results[port.onnx_name] for port in compiled.outputs})

    fed = {port.onnx_name: feeds[port.name] for port in compiled.inputs}
    return Subject(name, "", way, path, fed, finish, len(compiled.lowered.nodes))


def of_other(path: Path, name: str, way: Way, compiled: CompiledModel, supplied: Mapping[str, Array]) -> Subject:
    """An ONNX model that somebody else has made, which computes what a graph does."""
    other = OtherModel(path, compiled.inputs, compiled.outputs, way.provider)
    return Subject(name, str(path), way, path.absolute(), other.feeds(supplied), other.outputs, 0)


def inputs_of(compiled: CompiledModel, supplied: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """What a model gets: what was given, else its sample, else ordinary random numbers."""
    random = np.random.default_rng(seed)
    known = compiled.complete(supplied)
    made: dict[str, Array] = {}
    for port in compiled.inputs:
        array = known.get(port.name)
        if array is None:
            made[port.name] = random_array(port, random) if port.dtype.kind == "f" else np.zeros(port.shape, port.dtype)
        else:
            made[port.name] = np.ascontiguousarray(np.asarray(array).reshape(port.shape))
    return made
