"""What must make no difference to what a graph computes, and little to what it is compiled to.

Each change gives another graph of the same meaning. Numbers are the same bit by bit where the same arithmetic has to
come out, and else what is allowed; a model has at most one ONNX node more or less, where nothing says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import catalog
from dml2onnx.checks import check
from dml2onnx.compiler import compile_outputs
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.exporters import export
from dml2onnx.frontends import load
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference import evaluate_results
from dml2onnx.verification.nodes import bytes_to
from dml2onnx.verification.trial import differences, feeds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from random import Random

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.operator import FieldValue
    from dml2onnx.model import Array

OPSETS = (17, 18, 19, 20, 22, 23)
"""Opsets beside the usual one."""


# --- Orders and names -------------------------------------------------------------------------------------------------


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


# --- Nodes ------------------------------------------------------------------------------------------------------------


def with_identity(graph: Graph, random: Random) -> Graph | None:
    """The graph with an ELEMENT_WISE_IDENTITY in front of one of the tensors that a node reads."""
    places = [
        (index, name, number)
        for index, node in enumerate(graph.nodes)
        for name, number, _, desc in node.views_in()
        if not desc.data_type.is_packed_nibbles
    ]
    if not places:
        return None
    index, name, number = random.choice(places)
    node = graph.nodes[index]
    desc, read = node.operator.tensors(name)[number], node.reads[name][number]
    packed = TensorDesc(desc.data_type, desc.sizes)
    copy = Value("copy of " + read.value.name, packed.total_bytes)
    fields = {"InputTensor": desc, "OutputTensor": packed}
    schema = catalog.operator("ELEMENT_WISE_IDENTITY")
    identity = OperatorDesc(schema, tuple(fields.get(item.name) for item in schema.fields))
    before = Node("identity of " + node.name, identity, {"InputTensor": (read,)}, {"OutputTensor": (Write(copy),)})
    reads = list(node.reads[name])
    reads[number] = Read(copy)
    operator = _with_tensor(node.operator, name, number, packed)
    after = replace(node, operator=operator, reads={**node.reads, name: tuple(reads)})
    return _valid(replace(graph, nodes=(*graph.nodes[:index], before, after, *graph.nodes[index + 1 :])))


def with_split_join(graph: Graph, random: Random) -> Graph | None:
    """The graph with a JOIN of several tensors made of two."""
    places = [
        index
        for index, node in enumerate(graph.nodes)
        if node.operator.type == "JOIN" and len(node.reads["InputTensors"]) > 2
    ]
    if not places:
        return None
    index = random.choice(places)
    node = graph.nodes[index]
    op, reads = node.operator, node.reads["InputTensors"]
    descs, axis = op.tensors("InputTensors"), op.uint("Axis")
    count = random.randrange(2, len(reads))
    sizes = list(descs[0].sizes)
    sizes[axis] = sum(desc.sizes[axis] for desc in descs[:count])
    packed = TensorDesc(descs[0].data_type, tuple(sizes))
    part = Value("part of " + node.name, packed.total_bytes)
    first = replace(
        node,
        name="first part of " + node.name,
        operator=_with_fields(op, InputTensors=descs[:count], InputCount=count, OutputTensor=packed),
        reads={"InputTensors": reads[:count]},
        writes={"OutputTensor": (Write(part),)},
    )
    rest = (packed, *descs[count:])
    second = replace(
        node,
        operator=_with_fields(op, InputTensors=rest, InputCount=len(rest)),
        reads={"InputTensors": (Read(part), *reads[count:])},
    )
    return _valid(replace(graph, nodes=(*graph.nodes[:index], first, second, *graph.nodes[index + 1 :])))


def permuted(graph: Graph, random: Random) -> Graph | None:
    """The graph with the dimensions of every node without a sense of them in another order, sizes and strides alike."""
    nodes = tuple(_permuted(node, random) for node in graph.nodes)
    return None if nodes == graph.nodes else _valid(replace(graph, nodes=nodes))


def _permuted(node: Node, random: Random) -> Node:
    op = node.operator
    descs = [desc for item in op.schema.tensor_fields for desc in op.tensors(item.name)]
    alike = {desc.sizes for desc in descs}
    plain = not any(isinstance(value, tuple) or "Axis" in item.name for item, value in op.items())
    if not (op.type.startswith("ELEMENT_WISE_") and plain and len(alike) == 1):
        return node
    order = list(range(descs[0].rank))
    random.shuffle(order)

    def of(value: FieldValue) -> FieldValue:
        if not isinstance(value, TensorDesc):
            return value
        strides = value.effective_strides
        return replace(
            value, sizes=tuple(value.sizes[axis] for axis in order), strides=tuple(strides[axis] for axis in order)
        )

    return replace(node, operator=OperatorDesc(op.schema, tuple(of(value) for value in op.values)))


def _with_tensor(op: OperatorDesc, name: str, number: int, desc: TensorDesc) -> OperatorDesc:
    value: FieldValue = desc
    if not isinstance(op.get(name), TensorDesc):
        several = list(op.tensors(name))
        several[number] = desc
        value = tuple(several)
    return _with_fields(op, **{name: value})


def _with_fields(op: OperatorDesc, **fields: FieldValue) -> OperatorDesc:
    return OperatorDesc(op.schema, tuple(fields.get(item.name, value) for item, value in op.items()))


def _valid(graph: Graph) -> Graph | None:
    """A graph that the checks have nothing against: a few operators want the layouts that they have."""
    return None if any(item.severity is Severity.ERROR for item in check(graph)) else graph


# --- Constants and inputs ---------------------------------------------------------------------------------------------


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


# --- All of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plain:
    """The graph as it is: what it became, what it was fed, what came out."""

    graph: Graph
    model: CompiledModel
    feeds: dict[str, Array]
    results: dict[str, Array]


def relations(graph: Graph, seed: int, random: Random, directory: Path) -> tuple[list[str], list[str]]:
    """What makes a difference that must not, and the names of all that was tried."""
    model = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(model, seed)
    plain = _Plain(graph, model, feeds, model.run(feeds))
    tried: list[str] = []
    wrong: list[str] = []
    for name, other, most in _same(graph, random, directory):
        if other is not None and len(other.inputs) == len(graph.inputs):
            tried.append(name)
            wrong += [f"{name}: {found}" for found in _unlike(plain, other, most)]
    wrong += _other_numbers(plain, random, tried)
    return wrong, tried


def _same(graph: Graph, random: Random, directory: Path) -> Iterator[tuple[str, Graph | None, int | None]]:
    """Names, graphs that have to compute the same bits, and by how many ONNX nodes they may differ, if it matters."""
    yield "renamed", renamed(graph, random), 1
    yield "reordered", reordered(graph, random), 1 + _reshapes(graph)
    for format in ("native", "dml_graph", "serialized"):
        yield format, reread(graph, directory, format), 1
    yield "identity", with_identity(graph, random), 1
    yield "split join", with_split_join(graph, random), 1
    # what comes from outside, or from a node that keeps its order, is transposed to and fro
    yield "permuted", permuted(graph, random), None


def _reshapes(graph: Graph) -> int:
    """What another order may cost: an input that says nothing of itself has the shape that its first reader sees.

    Who sees it otherwise reshapes it, before and behind what it takes of it.
    """
    views: dict[Value, set[tuple[object, ...]]] = {item.value: set() for item in graph.inputs if item.desc is None}
    for node in graph.nodes:
        for _, _, read, desc in node.views_in():
            if read.value in views:
                views[read.value].add((read.offset, desc.sizes, desc.strides))
    return sum(2 * (len(several) - 1) for several in views.values() if several)


def _unlike(plain: _Plain, other: Graph, most: int | None) -> Iterator[str]:
    again = compile_outputs(other, other.outputs)
    if most is not None and abs(again.node_count - plain.model.node_count) > most:
        yield f"{again.node_count} ONNX nodes, not {plain.model.node_count}"
    names = {theirs.name: ours.name for ours, theirs in zip(plain.graph.inputs, other.inputs, strict=True)}
    given = {port.name: bytes_to(plain.feeds[names[port.name]], port.dtype, port.shape) for port in again.inputs}
    for (label, before), after in zip(plain.results.items(), again.run(given).values(), strict=True):
        if before.tobytes() != after.tobytes():
            yield f"other numbers in {label}"


def _other_numbers(plain: _Plain, random: Random, tried: list[str]) -> Iterator[str]:
    """Changes that let ONNX Runtime, or folding, compute in another way."""
    graph, feeds = plain.graph, plain.feeds
    want = evaluate_results(graph, feeds)
    fed, constants = fed_constants(graph)
    for name, other, opset in (
        ("constants fed", fed, 21),
        ("inputs frozen", frozen_inputs(graph, feeds), 21),
        ("another opset", graph, random.choice(OPSETS)),
    ):
        try:
            again = compile_outputs(other, other.outputs, opset=opset)
        except DmlError:  # some operators need constants
            continue
        tried.append(name)
        everything = {**feeds, **constants}
        given = {port.name: bytes_to(everything[port.name], port.dtype, port.shape) for port in again.inputs}
        problem = differences(again.outputs, again.run(given), want)
        if problem:
            yield f"{name}: {problem}"
