"""Edits that make a graph smaller, for the search; ``None`` if an edit is impossible or changes nothing.

Each pass is an edit, and a function that lists the items to which it can be applied.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dml2onnx.catalog import FieldType
from dml2onnx.ir.data import FillData, MissingData, head
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


# --- Outputs and nodes ------------------------------------------------------------------------------------------------


def outputs(graph: Graph) -> Sequence[GraphOutput]:
    """The outputs that may be removed: all but one."""
    return graph.outputs[1:] if len(graph.outputs) > 1 else ()


def without_outputs(graph: Graph, chosen: Sequence[GraphOutput]) -> Graph | None:
    """Removes outputs, and what only they need."""
    kept = tuple(item for item in graph.outputs if item not in chosen)
    return live(replace(graph, outputs=kept)) if kept else None


def results(graph: Graph) -> Sequence[object]:
    """The results and commands of the graph."""
    return (*graph.results, *graph.effects)


def without_results(graph: Graph, chosen: Sequence[object]) -> Graph | None:
    """Removes results and commands."""
    kept = tuple(item for item in graph.results if item not in chosen)
    effects = tuple(item for item in graph.effects if item not in chosen)
    return live(replace(graph, results=kept, effects=effects))


def intermediates(graph: Graph) -> Sequence[Value]:
    """The values of all nodes but the last, in execution order."""
    return [value for node in graph.sorted_nodes()[:-1] for value in node.targets]


def up_to(graph: Graph, chosen: Sequence[Value]) -> Graph | None:
    """Makes one value the only output; ``None`` for several, so that each is tried by itself."""
    (*others, value) = chosen
    descs = _written(graph)
    if others or value not in descs or value not in _targets(graph.nodes):
        return None
    if len(graph.outputs) == 1 and graph.outputs[0].value is value:
        return None
    return live(replace(graph, outputs=(GraphOutput("y", value, descs[value]),), results=(), effects=()))


def nodes(graph: Graph) -> Sequence[Node]:
    """The nodes in execution order."""
    return graph.sorted_nodes()


def without_nodes(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """Removes nodes; those of their outputs that other nodes read become inputs."""
    names = {node.name for node in chosen}
    removed = [node for node in graph.nodes if node in chosen or node.name in names]
    if not removed or len(removed) == len(graph.nodes):
        return None
    kept = tuple(node for node in graph.nodes if node not in removed)
    descs = {write.value: desc for node in removed for _, _, write, desc in node.views_out()}
    needed = {value for node in kept for value in node.sources}
    outputs = tuple(item for item in graph.outputs if item.value not in descs)
    if not outputs:
        return None
    has_samples = all(item.default is not None for item in graph.inputs)
    taken = {item.name for item in graph.inputs}
    inputs = list(graph.inputs)
    for value, desc in descs.items():
        if value in needed:
            name = _unique(value.name or "x", taken)
            # 1.0, or 0, which is a valid index for any axis
            element = desc.data_type.dtype.type(1).tobytes() if desc.data_type.is_float else b"\0"
            sample = FillData(element, value.nbytes) if has_samples else None
            inputs.append(GraphInput(name, value, sample, desc if desc.total_bytes == value.nbytes else None))
    rest = replace(graph, nodes=kept, inputs=tuple(inputs), outputs=outputs)
    return live(_without_results_of(rest, frozenset(descs)))


def bypassed(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """Removes nodes by giving their readers an input of the node instead, one with the descriptor of its output."""
    replaced: dict[Value, Value] = {}
    names = {node.name for node in chosen}
    for node in graph.nodes:
        outs = node.views_out()
        if node.name in names and len(outs) == 1 and outs[0][2].base is None and not outs[0][2].offset:
            (_, _, write, desc) = outs[0]
            same = [read.value for _, _, read, other in node.views_in() if other == desc and not read.offset]
            if same and same[0].nbytes == write.value.nbytes:
                replaced[write.value] = same[0]
    if not replaced:
        return None

    def source(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    targets = _targets(graph.nodes)
    if any(source(item.value) not in targets for item in graph.outputs):
        return None  # an output that is an input may fail for other reasons
    kept = [_with_values(node, source) for node in graph.nodes if not set(node.targets) <= set(replaced)]
    outputs = tuple(replace(item, value=source(item.value)) for item in graph.outputs)
    return live(_without_results_of(replace(graph, nodes=tuple(kept), outputs=outputs), frozenset(replaced)))


def _with_values(node: Node, new: Callable[[Value], Value]) -> Node:
    """The node with each value replaced by ``new`` of it."""
    reads = {name: tuple(Read(new(item.value), item.offset) for item in reads) for name, reads in node.reads.items()}
    writes = {
        name: tuple(Write(new(item.value), item.offset, item.base and new(item.base)) for item in writes)
        for name, writes in node.writes.items()
    }
    return Node(node.name, node.operator, reads, writes, node.source)


def _targets(nodes: Iterable[Node]) -> frozenset[Value]:
    return frozenset(value for node in nodes for value in node.targets)


def _written(graph: Graph) -> dict[Value, TensorDesc]:
    """The descriptors with which nodes write from the beginning of buffers."""
    return {write.value: desc for node in graph.nodes for _, _, write, desc in node.views_out() if not write.offset}


def _without_results_of(graph: Graph, values: frozenset[Value]) -> Graph:
    results = tuple(item for item in graph.results if item.value not in values)
    effects = tuple(item for item in graph.effects if item.output.value not in values)
    return replace(graph, results=results, effects=effects)


def cut(graph: Graph, chosen: Sequence[Node]) -> Graph | None:
    """Removes nodes, and makes the values that they read outputs: the graph before them and after them stays."""
    rest = without_nodes(graph, chosen)
    if rest is None:
        return None
    removed = {node.name for node in chosen}
    descs, targets = _written(graph), _targets(node for node in graph.nodes if node.name not in removed)
    old = {item.value for item in rest.outputs}
    read = dict.fromkeys(value for node in graph.nodes if node.name in removed for value in node.sources)
    new = [value for value in read if value in targets and value in descs and value not in old]
    taken = {item.name for item in rest.outputs}
    outputs = tuple(GraphOutput(_unique(value.name or "y", taken), value, descs[value]) for value in new)
    inputs_left = {item.value for item in rest.inputs}
    inputs = (*rest.inputs, *(item for item in graph.inputs if item.value not in inputs_left))
    kept = tuple(node for node in graph.nodes if node.name not in removed)
    whole = replace(rest, nodes=kept, inputs=inputs, constants=graph.constants, outputs=(*rest.outputs, *outputs))
    return live(whole) if outputs else None


def live(graph: Graph) -> Graph:
    """Removes what does not contribute to outputs, results or commands."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    nodes = graph.live_nodes(ends)
    used = {value for node in nodes for value in node.sources} | {item.value for item in ends}
    inputs = tuple(item for item in graph.inputs if item.value in used)
    constants = tuple(item for item in graph.constants if item.value in used)
    return replace(graph, nodes=nodes, inputs=inputs, constants=constants)


def _unique(name: str, taken: set[str]) -> str:
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique


# --- Fields -----------------------------------------------------------------------------------------------------------


def options(graph: Graph) -> Sequence[tuple[str, str]]:
    """The node and field of each present optional value: tensors, fused activations, scales."""
    return [
        (node.name, field.name)
        for node in graph.nodes
        for field, value in node.operator.items()
        if field.optional and value is not None and field.type is not FieldType.TENSOR_ARRAY
    ]


def without_options(graph: Graph, chosen: Sequence[tuple[str, str]]) -> Graph | None:
    """Removes optional fields."""
    removed: dict[str, set[str]] = {}
    for node_name, field in chosen:
        removed.setdefault(node_name, set()).add(field)

    def changed(node: Node) -> Node:
        fields = removed.get(node.name)
        if not fields:
            return node
        desc = node.operator
        values = tuple(None if field.name in fields else value for field, value in desc.items())
        reads = {name: item for name, item in node.reads.items() if name not in fields}
        writes = {name: item for name, item in node.writes.items() if name not in fields}
        return Node(node.name, OperatorDesc(desc.schema, values), reads, writes, node.source)

    nodes = tuple(map(changed, graph.nodes))
    lost = _targets(graph.nodes) - _targets(nodes)
    if any(value in lost for node in nodes for value in node.sources):
        return None
    kept = tuple(item for item in graph.outputs if item.value not in lost)
    return live(_without_results_of(replace(graph, nodes=nodes, outputs=kept), lost))


# --- Contents ---------------------------------------------------------------------------------------------------------


def contents(graph: Graph) -> Sequence[Value]:
    """The constants and samples that are not filled with one number."""
    constants = [item.value for item in graph.constants if not isinstance(item.data, (FillData, MissingData))]
    samples = [item.value for item in graph.inputs if item.default and not isinstance(item.default, FillData)]
    return [*constants, *samples]


def zeroed(graph: Graph, chosen: Sequence[Value]) -> Graph:
    """Replaces the contents of constants and samples by zeros."""
    widths: dict[Value, int] = {}
    for node in graph.nodes:
        for _, _, read, desc in node.views_in():
            widths.setdefault(read.value, max(desc.data_type.bits, 8) // 8)

    def zeros(value: Value) -> FillData:
        return FillData(bytes(widths.get(value, 1)), value.nbytes)

    constants = tuple(
        Constant(item.value, zeros(item.value)) if item.value in chosen else item for item in graph.constants
    )
    inputs = tuple(replace(item, default=zeros(item.value)) if item.value in chosen else item for item in graph.inputs)
    return replace(graph, constants=constants, inputs=inputs)


# --- Sizes ------------------------------------------------------------------------------------------------------------


def sizes(graph: Graph) -> Sequence[int]:
    """The sizes of tensors above 1, from the largest on."""
    found = {size for desc in _descs(graph) for size in desc.sizes if size > 1}
    return sorted(found, reverse=True)


def _descs(graph: Graph) -> Iterator[TensorDesc]:
    for node in graph.nodes:
        for field in node.operator.schema.tensor_fields:
            yield from node.operator.tensors(field.name)
    yield from (item.desc for item in graph.inputs if item.desc is not None)
    yield from (item.desc for item in graph.outputs)


def resized(graph: Graph, size: int, smaller: int) -> Graph | None:
    """Replaces ``size`` by ``smaller`` in all tensors, and truncates contents.

    ``None`` for graphs with strides, views of parts of buffers, results, or commands.
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
    """The descriptor with the smaller size; raises ValueError if it has to change but is not packed."""
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

    operator = OperatorDesc(desc.schema, tuple(map(changed, desc.values)))
    resized = Node(node.name, operator, node.reads, node.writes, node.source)
    views = [(item.value, tensor) for _, _, item, tensor in resized.views_in()]
    views += [(item.value, tensor) for _, _, item, tensor in resized.views_out()]
    for value, tensor in views:
        bytes_of[value] = max(tensor.total_bytes, bytes_of.get(value, 0))
    return resized


PASSES: tuple[tuple[Callable[[Graph, Sequence[Any]], Graph | None], Callable[[Graph], Sequence[Any]]], ...] = (
    (without_results, results),
    (without_outputs, outputs),
    (up_to, intermediates),
    (without_nodes, nodes),
    (bypassed, nodes),
    (cut, nodes),
    (without_outputs, outputs),
    (without_options, options),
    (zeroed, contents),
)
"""The passes, those that usually remove most first. Outputs come twice, because ``cut`` adds some."""
