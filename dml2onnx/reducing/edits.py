"""Edits that make a graph smaller; ``None`` where one changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dml2onnx.catalog import FieldType
from dml2onnx.ir.data import FillData, MissingData, head
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


# --- Outputs and nodes ------------------------------------------------------------------------------------------------


def outputs(graph: Graph) -> Sequence[GraphOutput]:
    """The outputs, all but one of which may go."""
    return graph.outputs[1:] if len(graph.outputs) > 1 else ()


def without_outputs(graph: Graph, chosen: Sequence[GraphOutput]) -> Graph | None:
    """Without some of the outputs, and what only they need."""
    kept = tuple(item for item in graph.outputs if item not in chosen)
    return live(replace(graph, outputs=kept)) if kept else None


def results(graph: Graph) -> Sequence[object]:
    """What the graph gives beside its outputs: results and commands."""
    return (*graph.results, *graph.effects)


def without_results(graph: Graph, chosen: Sequence[object]) -> Graph | None:
    """Without some results and commands."""
    kept = tuple(item for item in graph.results if item not in chosen)
    effects = tuple(item for item in graph.effects if item not in chosen)
    return live(replace(graph, results=kept, effects=effects))


def ends(graph: Graph) -> Sequence[Value]:
    """Values that nodes make, the first ones first: with one of them as its only output a graph is a beginning."""
    return [value for node in graph.sorted_nodes()[:-1] for value in node.targets]


def ended(graph: Graph, chosen: Sequence[Value]) -> Graph | None:
    """With one value as the only output; of several none is, so that each is tried on its own."""
    (*others, value) = chosen
    descs = _written(graph)
    if others or value not in descs or value not in _made(graph.nodes):
        return None
    if len(graph.outputs) == 1 and graph.outputs[0].value is value:
        return None
    return live(replace(graph, outputs=(GraphOutput("y", value, descs[value]),), results=(), effects=()))


def nodes(graph: Graph) -> Sequence[Node]:
    """The nodes, in the order in which they are executed."""
    return graph.sorted_nodes()


def without_nodes(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """Without some of the nodes: what they made and others need is an input."""
    names = {node.name for node in chosen}
    gone = [node for node in graph.nodes if node in chosen or node.name in names]
    if not gone or len(gone) == len(graph.nodes):
        return None
    kept = tuple(node for node in graph.nodes if node not in gone)
    made = {write.value: desc for node in gone for _, _, write, desc in node.views_out()}
    needed = {value for node in kept for value in node.sources}
    ends = tuple(item for item in graph.outputs if item.value not in made)
    if not ends:
        return None
    runs_alone = all(item.default is not None for item in graph.inputs)
    taken = {item.name for item in graph.inputs}
    inputs = list(graph.inputs)
    for value, desc in made.items():
        if value in needed:
            name = _free(value.name or "x", taken)
            sample = FillData(_one(desc), value.nbytes) if runs_alone else None
            inputs.append(GraphInput(name, value, sample, desc if desc.total_bytes == value.nbytes else None))
    left = replace(graph, nodes=kept, inputs=tuple(inputs), outputs=ends)
    return live(_without_ends(left, frozenset(made)))


def _one(desc: TensorDesc) -> bytes:
    """What new inputs have where the graph runs on its own contents: 1.0, or 0, which is an index of everything."""
    if not desc.data_type.is_float:
        return b"\0"
    return desc.data_type.dtype.type(1).tobytes()


def passed_by(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """With what each of the nodes reads in the place of what it makes, where both are the same tensor."""
    replaced: dict[Value, Value] = {}
    names = {node.name for node in chosen}
    for node in graph.nodes:
        outs = node.views_out()
        if node.name in names and len(outs) == 1 and outs[0][2].base is None and not outs[0][2].offset:
            (_, _, write, desc) = outs[0]
            alike = [read.value for _, _, read, other in node.views_in() if other == desc and not read.offset]
            if alike and alike[0].nbytes == write.value.nbytes:
                replaced[write.value] = alike[0]
    if not replaced:
        return None

    def seen(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    made = _made(graph.nodes)
    if any(seen(item.value) not in made for item in graph.outputs):
        return None  # an output that is an input is another problem
    kept = [_with_values(node, seen) for node in graph.nodes if not set(node.targets) <= set(replaced)]
    outs_ = tuple(replace(item, value=seen(item.value)) for item in graph.outputs)
    return live(_without_ends(replace(graph, nodes=tuple(kept), outputs=outs_), frozenset(replaced)))


def _with_values(node: Node, seen: Callable[[Value], Value]) -> Node:
    """The node with other values in the places of its own."""

    def of(item: Write) -> Write:
        return Write(seen(item.value), item.offset, None if item.base is None else seen(item.base))

    reads = {
        name: tuple(Read(seen(item.value), item.offset) for item in several) for name, several in node.reads.items()
    }
    writes = {name: tuple(map(of, several)) for name, several in node.writes.items()}
    return Node(node.name, node.operator, reads, writes, node.source)


def _made(nodes: Iterable[Node]) -> frozenset[Value]:
    return frozenset(value for node in nodes for value in node.targets)


def _written(graph: Graph) -> dict[Value, TensorDesc]:
    """What nodes write at the beginnings of buffers, by the values."""
    return {write.value: desc for node in graph.nodes for _, _, write, desc in node.views_out() if not write.offset}


def _without_ends(graph: Graph, gone: frozenset[Value]) -> Graph:
    results = tuple(item for item in graph.results if item.value not in gone)
    effects = tuple(item for item in graph.effects if item.output.value not in gone)
    return replace(graph, results=results, effects=effects)


def cut(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """Without some of the nodes, what they read being outputs: both sides of them stand alone."""
    left = without_nodes(graph, chosen)
    if left is None:
        return None
    gone = {node.name for node in chosen}
    descs, made = _written(graph), _made(node for node in graph.nodes if node.name not in gone)
    known = {item.value for item in left.outputs}
    read = dict.fromkeys(value for node in graph.nodes if node.name in gone for value in node.sources)
    more = [value for value in read if value in made and value in descs and value not in known]
    taken = {item.name for item in left.outputs}
    outputs = tuple(GraphOutput(_free(value.name or "y", taken), value, descs[value]) for value in more)
    there = {item.value for item in left.inputs}
    inputs = (*left.inputs, *(item for item in graph.inputs if item.value not in there))
    kept = tuple(node for node in graph.nodes if node.name not in gone)
    whole = replace(left, nodes=kept, inputs=inputs, constants=graph.constants, outputs=(*left.outputs, *outputs))
    return live(whole) if outputs else None


def live(graph: Graph) -> Graph:
    """What contributes to outputs, results and commands."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    nodes = graph.live_nodes(ends)
    used = {value for node in nodes for value in node.sources} | {item.value for item in ends}
    inputs = tuple(item for item in graph.inputs if item.value in used)
    constants = tuple(item for item in graph.constants if item.value in used)
    return replace(graph, nodes=nodes, inputs=inputs, constants=constants)


def _free(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


# --- Fields -----------------------------------------------------------------------------------------------------------


def options(graph: Graph) -> Sequence[tuple[str, str]]:
    """(node, field) of everything that is optional and there: tensors, fused activations, scales."""
    return [
        (node.name, field.name)
        for node in graph.nodes
        for field, value in node.operator.items()
        if field.optional and value is not None and field.type is not FieldType.TENSOR_ARRAY
    ]


def without_options(graph: Graph, chosen: Sequence[tuple[str, str]]) -> Graph | None:
    """Without some optional fields."""
    gone: dict[str, set[str]] = {}
    for node_name, field in chosen:
        gone.setdefault(node_name, set()).add(field)

    def changed(node: Node) -> Node:
        fields = gone.get(node.name)
        if not fields:
            return node
        desc = node.operator
        values = tuple(None if field.name in fields else value for field, value in desc.items())
        reads = {name: item for name, item in node.reads.items() if name not in fields}
        writes = {name: item for name, item in node.writes.items() if name not in fields}
        return Node(node.name, OperatorDesc(desc.schema, values), reads, writes, node.source)

    nodes = tuple(map(changed, graph.nodes))
    lost = _made(graph.nodes) - _made(nodes)
    if any(value in lost for node in nodes for value in node.sources):
        return None
    kept = tuple(item for item in graph.outputs if item.value not in lost)
    return live(_without_ends(replace(graph, nodes=nodes, outputs=kept), lost))


# --- Contents ---------------------------------------------------------------------------------------------------------


def contents(graph: Graph) -> Sequence[Value]:
    """Constants and samples that are more than one number."""
    constants = [item.value for item in graph.constants if not isinstance(item.data, (FillData, MissingData))]
    samples = [item.value for item in graph.inputs if item.default and not isinstance(item.default, FillData)]
    return [*constants, *samples]


def filled(pattern: Mapping[int, bytes]) -> Callable[[Graph, Sequence[Value]], Graph | None]:
    """Makes all elements of some contents one number, whose bytes ``pattern`` has by the width of an element."""

    def changed(graph: Graph, chosen: Sequence[Value]) -> Graph | None:
        widths: dict[Value, int] = {}
        for node in graph.nodes:
            for _, _, read, desc in node.views_in():
                widths.setdefault(read.value, max(desc.data_type.bits, 8) // 8)

        def fill(value: Value) -> FillData:
            return FillData(pattern[widths.get(value, 1)], value.nbytes)

        constants = tuple(
            Constant(item.value, fill(item.value)) if item.value in chosen else item for item in graph.constants
        )
        inputs = tuple(
            replace(item, default=fill(item.value)) if item.value in chosen else item for item in graph.inputs
        )
        return replace(graph, constants=constants, inputs=inputs)

    return changed


ZERO = {width: bytes(width) for width in (1, 2, 4, 8)}


# --- Sizes ------------------------------------------------------------------------------------------------------------


def sizes(graph: Graph) -> Sequence[int]:
    """Numbers of elements in the dimensions of tensors, the largest first."""
    found = {size for desc in _descs(graph) for size in desc.sizes if size > 1}
    return sorted(found, reverse=True)


def _descs(graph: Graph) -> Iterator[TensorDesc]:
    for node in graph.nodes:
        for field in node.operator.schema.tensor_fields:
            yield from node.operator.tensors(field.name)
    yield from (item.desc for item in graph.inputs if item.desc is not None)
    yield from (item.desc for item in graph.outputs)


def resized(graph: Graph, size: int, smaller: int) -> Graph | None:
    """With ``smaller`` in the place of ``size`` in every packed tensor; contents are cut off.

    ``None`` where views of parts of buffers or strides would need another answer.
    """
    if any(read.offset for node in graph.nodes for reads in node.reads.values() for read in reads):
        return None
    if any(write.offset or write.base for node in graph.nodes for several in node.writes.values() for write in several):
        return None
    if graph.results or graph.effects or any(isinstance(item.data, MissingData) for item in graph.constants):
        return None
    bytes_of: dict[Value, int] = {}
    try:
        nodes = [_resized_node(node, size, smaller, bytes_of) for node in graph.nodes]
        inputs = [None if item.desc is None else _resized(item.desc, size, smaller) for item in graph.inputs]
        outputs = [_resized(item.desc, size, smaller) for item in graph.outputs]
    except ValueError:
        return None
    for item, desc in zip(graph.inputs, inputs, strict=True):
        if desc is not None:
            bytes_of[item.value] = max(desc.total_bytes, bytes_of.get(item.value, 0))
    values = {value: Value(value.name, nbytes) for value, nbytes in bytes_of.items()}
    graph_inputs = tuple(
        GraphInput(
            item.name,
            values.get(item.value, item.value),
            None if item.default is None else head(item.default, values.get(item.value, item.value).nbytes),
            desc,
            item.source,
        )
        for item, desc in zip(graph.inputs, inputs, strict=True)
    )
    return replace(
        graph,
        nodes=tuple(_with_values(node, values.__getitem__) for node in nodes),
        inputs=graph_inputs,
        outputs=tuple(
            GraphOutput(item.name, values.get(item.value, item.value), desc)
            for item, desc in zip(graph.outputs, outputs, strict=True)
        ),
        constants=tuple(
            Constant(values[item.value], head(item.data, values[item.value].nbytes)) if item.value in values else item
            for item in graph.constants
        ),
    )


def _resized(desc: TensorDesc, size: int, smaller: int) -> TensorDesc:
    """ValueError for a tensor that is not packed, apart from dimensions that repeat."""
    if size not in desc.sizes:
        return desc
    if desc.total_size or (desc.strides is not None and any(desc.strides)):
        raise ValueError(desc)
    return replace(desc, sizes=tuple(smaller if item == size else item for item in desc.sizes))


def _resized_node(node: Node, size: int, smaller: int, bytes_of: dict[Value, int]) -> Node:
    desc = node.operator

    def changed(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            return _resized(value, size, smaller)
        is_array = isinstance(value, tuple) and value and isinstance(value[0], TensorDesc)
        return tuple(map(changed, value)) if is_array else value

    made = OperatorDesc(desc.schema, tuple(map(changed, desc.values)))
    again = Node(node.name, made, node.reads, node.writes, node.source)
    seen = [(item.value, tensor) for _, _, item, tensor in again.views_in()]
    seen += [(item.value, tensor) for _, _, item, tensor in again.views_out()]
    for value, tensor in seen:
        bytes_of[value] = max(tensor.total_bytes, bytes_of.get(value, 0))
    return again


PASSES: tuple[tuple[Callable[[Graph, Sequence[Any]], Graph | None], Callable[[Graph], Sequence[Any]]], ...] = (
    (without_results, results),
    (without_outputs, outputs),
    (ended, ends),
    (without_nodes, nodes),
    (passed_by, nodes),
    (cut, nodes),
    (without_outputs, outputs),
    (without_options, options),
    (filled(ZERO), contents),
)
"""Edits and what they are applied to, in the order in which they help most."""
