"""One graph, once: compiled, run, and compared with the reference; what goes wrong comes back as a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.compiler import compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters import export
from dml2onnx.frontends import load
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput
from dml2onnx.reference import disagreements, evaluate_results
from dml2onnx.verification.contents import random_array
from dml2onnx.verification.nodes import bytes_to
from dml2onnx.verification.whole import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from random import Random

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Node
    from dml2onnx.model import Array, Port
    from dml2onnx.reference import Result

EXTREME_EVERY = 4
"""One seed in as many has extreme contents."""


def feeds_of(model: CompiledModel, seed: int) -> dict[str, Array]:
    """Contents of all inputs."""
    return feeds_of_ports(model.inputs, seed)


def feeds_of_ports(ports: Sequence[Port], seed: int) -> dict[str, Array]:
    """Contents of some inputs."""
    random = np.random.default_rng(seed)
    extremes = seed % EXTREME_EVERY == EXTREME_EVERY - 1
    return {port.name: random_array(port, random, extremes=extremes) for port in ports}


def trial(graph: Graph, seed: int, opset: int = 21) -> str:
    """What is wrong with what a graph without findings computes; nothing is ``""``."""
    try:
        model = compile_outputs(graph, graph.outputs, opset=opset)
        feeds = feeds_of(model, seed)
        got = model.run(feeds)
        want = evaluate_results(graph, feeds)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return differences(model.outputs, got, want)


def differences(ports: Sequence[Port], got: Mapping[str, Array], want: Mapping[str, Result]) -> str:
    """What is wrong with the first output that is; nothing is ``""``."""
    for port in ports:
        wrong = disagreements(got[port.name], want[port.name], port.desc.data_type)
        if wrong.any():
            at = tuple(int(axis[0]) for axis in np.nonzero(wrong))
            expected = want[port.name].values[at]
            return f"{port.name}{list(at)} is {got[port.name][at]}, not {expected} ({wrong.sum()} of {wrong.size})"
    return ""


# --- What makes no difference -----------------------------------------------------------------------------------------


def renamed(graph: Graph, random: Random) -> Graph:
    """The graph with other names of its nodes."""
    names = list(range(len(graph.nodes)))
    random.shuffle(names)
    nodes = tuple(replace(node, name=f"n {names[i]}/é") for i, node in enumerate(graph.nodes))
    return replace(graph, nodes=nodes)


def reordered(graph: Graph, random: Random) -> Graph:
    """The graph with its nodes in another order, in which each still follows those that it reads from."""
    waiting: list[Node] = list(graph.nodes)
    made = {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    ordered: list[Node] = []
    while waiting:
        node = random.choice([node for node in waiting if made.issuperset(node.sources)])
        waiting.remove(node)
        ordered.append(node)
        made.update(node.targets)
    return replace(graph, nodes=tuple(ordered))


def reread(graph: Graph, directory: Path, format: str) -> Graph | None:
    """The graph written and read by another front end; ``None`` where the format cannot say it."""
    path = directory / ("Partition_0.bin" if format == "serialized" else f"{format}.json")
    try:
        export(graph, path, format)
    except DmlError:
        return None
    return load(path)


def fed_constants(graph: Graph) -> tuple[Graph, dict[str, Array]]:
    """The graph with its constants among the inputs, and what those are."""
    names = {item.value: f"constant {index}" for index, item in enumerate(graph.constants)}
    inputs = tuple(GraphInput(names[item.value], item.value) for item in graph.constants)
    feeds: dict[str, Array] = {names[item.value]: item.data.read() for item in graph.constants}
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=()), feeds


def frozen_inputs(graph: Graph, feeds: Mapping[str, Array]) -> Graph:
    """The graph with its inputs among the constants."""
    constants = tuple(
        Constant(item.value, ArrayData.of(_filled(feeds[item.name], item.value.nbytes))) for item in graph.inputs
    )
    return replace(graph, inputs=(), constants=(*graph.constants, *constants))


def _filled(array: Array, nbytes: int) -> Array:
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)[:nbytes]
    return np.concatenate([flat, np.zeros(nbytes - flat.size, np.uint8)])


def relations(graph: Graph, seed: int, random: Random, directory: Path) -> list[str]:
    """What makes a difference that must not.

    Other names, another order and another file give the same numbers bit by bit, from a model that has at most one
    node more or less. Constants that are fed, inputs that are constants, and other opsets give what is allowed.
    """
    model = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(model, seed)
    plain = model.run(feeds)
    wrong: list[str] = []
    same: dict[str, Graph | None] = {
        "renamed": renamed(graph, random),
        "reordered": reordered(graph, random),
        "native": reread(graph, directory, "native"),
        "dml_graph": reread(graph, directory, "dml_graph"),
    }
    for name, other in same.items():
        if other is None or len(other.inputs) != len(graph.inputs):
            continue
        again = compile_outputs(other, other.outputs)
        if abs(again.node_count - model.node_count) > 1:
            wrong.append(f"{name}: {again.node_count} ONNX nodes, not {model.node_count}")
        names = {theirs.name: ours.name for ours, theirs in zip(graph.inputs, other.inputs, strict=True)}
        given = {port.name: bytes_to(feeds[names[port.name]], port.dtype, port.shape) for port in again.inputs}
        for (label, before), after in zip(plain.items(), again.run(given).values(), strict=True):
            if before.tobytes() != after.tobytes():
                wrong.append(f"{name}: other numbers in {label}")
    want = evaluate_results(graph, feeds)
    fed, constants = fed_constants(graph)
    for name, other, opset in (
        ("constants fed", fed, 21),
        ("inputs frozen", frozen_inputs(graph, feeds), 21),
        ("another opset", graph, random.choice([17, 18, 19, 20, 22, 23])),
    ):
        try:
            again = compile_outputs(other, other.outputs, opset=opset)
        except DmlError:  # some operators need constants
            continue
        everything = {**feeds, **constants}
        given = {port.name: bytes_to(everything[port.name], port.dtype, port.shape) for port in again.inputs}
        got = again.run(given)
        for port in again.outputs:
            if compare(port, got[port.name], want[port.name], "").wrong:
                wrong.append(f"{name}: wrong numbers in {port.name}")
    return wrong
