"""Changes of a graph that must not change its results, and hardly its number of ONNX nodes.

The results of an equivalent graph must be equal bit for bit if the arithmetic and the order of elements are the same,
and otherwise within the reference's error. By default, the number of ONNX nodes may differ by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from dml2onnx import catalog
from dml2onnx.checks import check
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters import export
from dml2onnx.frontends import load
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, Node, Read, Value, Write
from dml2onnx.ir.operator import FieldValue, OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.reference import evaluate_results, memory
from dml2onnx.targets import DEFAULT_OPSET
from dml2onnx.test_cases.runnable import RUNNABLE_OPSETS
from dml2onnx.test_cases.trial import differences, feeds_of
from dml2onnx.verification.nodes import buffer_of, bytes_to

OTHER_OPSETS = tuple(item for item in RUNNABLE_OPSETS if item != DEFAULT_OPSET)
"""Opsets other than the default one."""
LONGEST_WAY = 6
"""ONNX nodes from one view of a buffer to another: Reshape, Transpose, Slice, Expand, Gather, and Reshape."""


# --- Orders and names -------------------------------------------------------------------------------------------------


def renamed(graph: Graph, random: Random) -> Graph:
    """The graph with different node names."""
    names = list(range(len(graph.nodes)))
    random.shuffle(names)
    nodes = tuple(replace(node, name=f"n {names[i]}/é") for i, node in enumerate(graph.nodes))
    return replace(graph, nodes=nodes)


def reordered(graph: Graph, random: Random) -> Graph:
    """The graph with its nodes in a different topological order."""
    waiting: list[Node] = list(graph.nodes)
    available = {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    ordered: list[Node] = []
    while waiting:
        node = random.choice([node for node in waiting if available.issuperset(node.sources)])
        waiting.remove(node)
        ordered.append(node)
        available.update(node.targets)
    return replace(graph, nodes=tuple(ordered))


def reread(graph: Graph, directory: Path, format: str) -> Graph | None:
    """The graph after export and import; ``None`` if the format cannot represent it."""
    path = directory / ("Partition_0.bin" if format == "serialized" else f"{format}.json")
    try:
        export(graph, path, format)
    except DmlError:
        return None
    return load(path)


# --- Nodes ------------------------------------------------------------------------------------------------------------


def with_identity(graph: Graph, random: Random) -> Graph | None:
    """The graph with an ELEMENT_WISE_IDENTITY before an input of a node; ``None`` if no input qualifies.

    Broadcast inputs do not qualify: sums over the copy have more terms and round differently.
    """
    places = [
        (index, name, number)
        for index, node in enumerate(graph.nodes)
        for name, number, _, desc in node.views_in()
        if not desc.data_type.is_packed_nibbles and not _repeats(desc)
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


def _repeats(desc: TensorDesc) -> bool:
    return any(size > 1 and stride == 0 for size, stride in zip(desc.sizes, desc.effective_strides, strict=True))


def with_split_join(graph: Graph, random: Random) -> Graph | None:
    """The graph with a JOIN of several tensors split into two."""
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
        operator=op.with_values({"InputTensors": descs[:count], "InputCount": count, "OutputTensor": packed}),
        reads={"InputTensors": reads[:count]},
        writes={"OutputTensor": (Write(part),)},
    )
    rest = (packed, *descs[count:])
    second = replace(
        node,
        operator=op.with_values({"InputTensors": rest, "InputCount": len(rest)}),
        reads={"InputTensors": (Read(part), *reads[count:])},
    )
    return _valid(replace(graph, nodes=(*graph.nodes[:index], first, second, *graph.nodes[index + 1 :])))


def permuted(graph: Graph, random: Random, *, together: bool = False) -> Graph | None:
    """The graph with permuted dimensions (sizes and strides) of every node that ignores their order.

    Each node has its own permutation. ``together`` uses the same one for equal sizes, and for the inputs and outputs
    that only such nodes use.
    """
    orders: dict[tuple[int, ...], tuple[int, ...]] = {}

    def order(sizes: tuple[int, ...]) -> tuple[int, ...]:
        drawn = tuple(random.sample(range(len(sizes)), len(sizes)))
        return orders.setdefault(sizes, drawn) if together else drawn

    nodes = tuple(_permuted(node, order(_sizes(node))) if _is_without_order(node) else node for node in graph.nodes)
    if nodes == graph.nodes:
        return None
    kept = {
        value
        for before, after in zip(graph.nodes, nodes, strict=True)
        if before is after
        for value in (*before.sources, *before.targets)
    }

    def of(desc: TensorDesc | None, value: Value) -> TensorDesc | None:
        found = None if desc is None or value in kept else orders.get(desc.sizes)
        return desc if desc is None or found is None else _in_order(desc, found)

    inputs = tuple(replace(item, desc=of(item.desc, item.value)) for item in graph.inputs)
    outputs = tuple(replace(item, desc=of(item.desc, item.value) or item.desc) for item in graph.outputs)
    return _valid(replace(graph, nodes=nodes, inputs=inputs, outputs=outputs))


def _sizes(node: Node) -> tuple[int, ...]:
    return next(desc.sizes for item in node.operator.schema.tensor_fields for desc in node.operator.tensors(item.name))


def _is_without_order(node: Node) -> bool:
    """Whether the order of dimensions does not matter to a node."""
    op = node.operator
    alike = {desc.sizes for item in op.schema.tensor_fields for desc in op.tensors(item.name)}
    plain = not any(isinstance(value, tuple) or item.names_axes for item, value in op.items())
    return op.type.startswith("ELEMENT_WISE_") and plain and len(alike) == 1


def _permuted(node: Node, order: tuple[int, ...]) -> Node:
    op = node.operator
    values = tuple(_in_order(value, order) if isinstance(value, TensorDesc) else value for value in op.values)
    return replace(node, operator=OperatorDesc(op.schema, values))


def _in_order(desc: TensorDesc, order: tuple[int, ...]) -> TensorDesc:
    strides = desc.effective_strides
    return replace(
        desc, sizes=tuple(desc.sizes[axis] for axis in order), strides=tuple(strides[axis] for axis in order)
    )


def _with_tensor(op: OperatorDesc, name: str, number: int, desc: TensorDesc) -> OperatorDesc:
    value: FieldValue = desc
    if not isinstance(op.get(name), TensorDesc):
        several = list(op.tensors(name))
        several[number] = desc
        value = tuple(several)
    return op.with_values({name: value})


def _valid(graph: Graph) -> Graph | None:
    """The graph if it has no errors: a few operators require certain layouts."""
    return None if any(item.is_error for item in check(graph, remedies=False)) else graph


# --- Constants and inputs ---------------------------------------------------------------------------------------------


def fed_constants(graph: Graph) -> tuple[Graph, dict[str, Array]]:
    """The graph with its constants as inputs, and their contents."""
    names = {item.value: f"constant {index}" for index, item in enumerate(graph.constants)}
    inputs = tuple(GraphInput(names[item.value], item.value) for item in graph.constants)
    feeds: dict[str, Array] = {names[item.value]: item.data.read() for item in graph.constants}
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=()), feeds


def frozen_inputs(graph: Graph, feeds: Mapping[str, Array]) -> Graph:
    """The graph with its inputs as constants."""
    constants = tuple(
        Constant(item.value, ArrayData.of(buffer_of(feeds[item.name], item.value))) for item in graph.inputs
    )
    return replace(graph, inputs=(), constants=(*graph.constants, *constants))


# --- All of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plain:
    """The unchanged graph with its model, inputs and results."""

    graph: Graph
    model: CompiledModel
    feeds: dict[str, Array]
    results: dict[str, Array]


def relations(graph: Graph, seed: int, random: Random, directory: Path) -> tuple[list[str], list[str]]:
    """The problems of changed graphs, and the names of all changes that were tried."""
    model = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(model, seed)
    plain = _Plain(graph, model, feeds, model.run(feeds))
    tried: list[str] = []
    wrong: list[str] = []
    for name, other, most in _same(graph, random, directory):
        if other is not None and len(other.inputs) == len(graph.inputs):
            tried.append(name)
            found = _unlike(plain, other, most, bit_by_bit=not name.startswith("permuted"))
            wrong += [f"{name}: {item}" for item in found]
    wrong += _other_numbers(plain, random, tried)
    return wrong, tried


def _same(graph: Graph, random: Random, directory: Path) -> Iterator[tuple[str, Graph | None, int | None]]:
    """Yields names, equivalent graphs, and the allowed difference in ONNX nodes, if there is a limit."""
    yield "renamed", renamed(graph, random), 1
    yield "reordered", reordered(graph, random), 1 + _reshapes(graph)
    for format in ("native", "dml_graph", "serialized"):
        yield format, reread(graph, directory, format), 1
    # the identity of a later reader may become the first reader
    yield "identity", with_identity(graph, random), 1 + _reshapes(graph)
    yield "split join", with_split_join(graph, random), 1
    for name, together in (("permuted", False), ("permuted together", True)):
        other = permuted(graph, random, together=together)
        yield name, other, None if other is None else transposed(graph, other)


def transposed(graph: Graph, other: Graph) -> int:
    """The allowed difference in ONNX nodes after permuting dimensions.

    Inputs and outputs have memory order, and need a Transpose for another one. Values between nodes need conversions
    only for views that did not exist before.
    """
    before, after = _views(graph), _views(other)
    more = sum(max(0, len(seen) - len(before[value])) for value, seen in after.items())
    ports = [item.value for item in graph.inputs] + [item.value for item in graph.outputs]
    return 1 + sum(after[value] != before[value] for value in ports) + LONGEST_WAY * more


def _views(graph: Graph) -> dict[Value, set[tuple[int, TensorDesc]]]:
    """The views of each value: byte offsets and descriptors."""
    views: dict[Value, set[tuple[int, TensorDesc]]] = defaultdict(set)

    def add(value: Value, offset: int, desc: TensorDesc) -> None:
        views[value].add((offset, TensorDesc(desc.data_type, desc.sizes, desc.effective_strides)))

    for source in graph.inputs:
        if source.desc is not None:
            add(source.value, 0, source.desc)
    for output in graph.outputs:
        add(output.value, 0, output.desc)
    for node in graph.nodes:
        for _, _, read, desc in node.views_in():
            add(read.value, read.offset, desc)
        for _, _, write, desc in node.views_out():
            add(write.value, write.offset, desc)
    return views


def _reshapes(graph: Graph) -> int:
    """The allowed difference in Reshapes if an input has another first reader.

    An input without a descriptor takes the shape of its first reader; other views need up to two Reshapes.
    """
    views: dict[Value, set[tuple[object, ...]]] = {item.value: set() for item in graph.inputs if item.desc is None}
    for node in graph.nodes:
        for _, _, read, desc in node.views_in():
            if read.value in views:
                views[read.value].add((read.offset, desc.sizes, desc.strides))
    return sum(2 * (len(several) - 1) for several in views.values() if several)


def _unlike(plain: _Plain, other: Graph, most: int | None, *, bit_by_bit: bool) -> Iterator[str]:
    """Yields the differences of an equivalent graph.

    Kernels compute the last few elements of a row differently. If elements have another order (not ``bit_by_bit``),
    unequal numbers must be within the reference's error.
    """
    again = compile_outputs(other, other.outputs)
    if most is not None and abs(again.node_count - plain.model.node_count) > most:
        yield f"{again.node_count} ONNX nodes, not {plain.model.node_count}"
    names = {theirs.name: ours.name for ours, theirs in zip(plain.graph.inputs, other.inputs, strict=True)}
    supplied = {port.name: bytes_to(plain.feeds[names[port.name]], port.dtype, port.shape) for port in again.inputs}
    results = again.run(supplied)
    for ours, theirs in zip(plain.model.outputs, again.outputs, strict=True):
        if not np.array_equal(_memory(plain.results[ours.name], ours.desc), _memory(results[theirs.name], theirs.desc)):
            problem = "" if bit_by_bit else differences(again.outputs, results, evaluate_results(other, supplied))
            if bit_by_bit or problem:
                yield f"different numbers in {ours.name}" + (f": {problem}" if problem else "")


def _memory(array: Array, desc: TensorDesc) -> memory.Bytes:
    """The bytes of a tensor, with zeros in its gaps."""
    data = np.zeros(desc.total_bytes, np.uint8)
    memory.write(data, desc, array)
    return data


def _other_numbers(plain: _Plain, random: Random, tried: list[str]) -> Iterator[str]:
    """Yields problems after changes that affect rounding: constants as inputs, inputs as constants, another opset."""
    graph, feeds = plain.graph, plain.feeds
    want = evaluate_results(graph, feeds)
    fed, constants = fed_constants(graph)
    for name, other, opset in (
        ("constants fed", fed, 21),
        ("inputs frozen", frozen_inputs(graph, feeds), 21),
        ("another opset", graph, random.choice(OTHER_OPSETS)),
    ):
        try:
            again = compile_outputs(other, other.outputs, opset=opset)
        except DmlError:  # some operators need constants
            continue
        tried.append(name)
        everything = {**feeds, **constants}
        supplied = {port.name: bytes_to(everything[port.name], port.dtype, port.shape) for port in again.inputs}
        problem = differences(again.outputs, again.run(supplied), want)
        if problem:
            yield f"{name}: {problem}"
