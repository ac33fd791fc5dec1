"""The subjects of measurements: ONNX files, with a way to run each, and its inputs."""

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
    """How to compile and run a model."""

    provider: Providers
    target: str
    """The target to compile for; empty for an ONNX file from elsewhere."""
    optimize: int
    threads: int
    """The threads of a session; 0 for ONNX Runtime's default."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredModel:
    """A model to measure in one way."""

    model: str
    """The path of the model on the command line."""
    file: str
    """The path of an ONNX model from elsewhere that replaces it, or ``""``."""
    way: Way
    path: Path
    """The ONNX file to run."""
    feeds: Mapping[str, Array]
    finish: Callable[[Mapping[str, Array]], dict[str, Array]]
    """Converts the outputs of the file by name to those of the graph, in the shapes of its tensors."""
    nodes: int


def of_model(
    graph: Graph,
    name: str,
    way: Way,
    directory: Path,
    supplied: Callable[[CompiledModel], Mapping[str, Array]],
    options: CompileOptions,
) -> MeasuredModel:
    """Compiles a graph for a way of running it, into a new file of the directory."""
    compiled = compile_graph(graph, replace(options, target=way.target, passes=chosen(way.optimize)))
    path = directory / f"{len(list(directory.iterdir()))}.onnx"
    compiled.save(path)
    feeds = supplied(compiled)

    def finish(results: Mapping[str, Array]) -> dict[str, Array]:
        return compiled.finish({port.name: results[port.onnx_name] for port in compiled.outputs})

    fed = {port.onnx_name: feeds[port.name] for port in compiled.inputs}
    return MeasuredModel(name, "", way, path, fed, finish, len(compiled.lowered.nodes))


def of_other(path: Path, name: str, way: Way, compiled: CompiledModel, supplied: Mapping[str, Array]) -> MeasuredModel:
    """An ONNX model from elsewhere that computes the same as a graph."""
    other = OtherModel(path, compiled.inputs, compiled.outputs, way.provider)
    return MeasuredModel(name, str(path), way, path.absolute(), other.feeds(supplied), other.outputs, 0)


def inputs_of(compiled: CompiledModel, supplied: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """The inputs of a model: the supplied arrays, else its sample, else random numbers, and 0 for integers."""
    random = np.random.default_rng(seed)
    known = compiled.complete(supplied)
    feeds: dict[str, Array] = {}
    for port in compiled.inputs:
        array = known.get(port.name)
        if array is None:
            array = random_array(port, random) if port.dtype.kind == "f" else np.zeros(port.shape, port.dtype)
        feeds[port.name] = np.ascontiguousarray(array).reshape(port.shape)
    return feeds
