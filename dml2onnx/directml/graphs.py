"""Runs graphs with DirectML: compiled as a whole if possible, else node by node.

DirectML's own graphs support neither offsets into buffers nor partial writes; graphs with these run node by node, like
a program that uses DirectML. Constants are bound as inputs, because DirectML 1.15.4 crashes for CONSTANT nodes of 12
bytes or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dml2onnx.directml.cases import UNBOUND, BufferRange, Case, DeviceBuffer, Outcome, Step, When
from dml2onnx.directml.installation import Installation
from dml2onnx.directml.runner import run
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

WHOLE = "as one graph"
NODE_BY_NODE = "node by node"


class NodeFailedError(RuntimeError):
    """DirectML failed to run a node; the message has the node, the step and the HRESULT."""


@dataclass(frozen=True, slots=True)
class TensorSlot:
    """One tensor of an operator, in binding order; ``desc`` is ``None`` if it is absent."""

    field: str
    index: int
    desc: TensorDesc | None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The bytes of the outputs' values, and :data:`WHOLE` or :data:`NODE_BY_NODE`."""

    values: Mapping[Value, bytes]
    way: str


def slots(op: OperatorDesc, *, outputs: bool) -> list[TensorSlot]:
    """The bindings of an operator's inputs or outputs."""
    found: list[TensorSlot] = []
    for field in op.schema.output_fields if outputs else op.schema.input_fields:
        descs = op.tensors(field.name)
        found += [TensorSlot(field.name, index, desc) for index, desc in enumerate(descs)] or [
            TensorSlot(field.name, 0, None)
        ]
    return found


def evaluate(
    graph: Graph, outputs: Sequence[GraphOutput], feeds: Mapping[str, bytes], installation: Installation
) -> Evaluated:
    """Runs a graph in DirectML, for inputs as bytes by name, zero-padded.

    Raises :class:`NodeFailedError` for a node that fails, ``StartError`` if DirectML does not start.
    """
    nodes = graph.live_nodes(tuple(outputs))
    known = {item.value: bytes(item.data.read()) for item in graph.constants}
    for item in graph.inputs:
        if item.name in feeds:
            known[item.value] = feeds[item.name]
        elif item.default is not None:
            known[item.value] = bytes(item.default.read())
    if nodes and _is_plain(nodes, outputs):
        whole = _whole(nodes, outputs, known)
        outcome = run([whole], installation)[0]
        if outcome.dispatched == 0:
            shown = dict.fromkeys(output.value for output in outputs if output.value not in known)
            return Evaluated({**known, **dict(zip(shown, outcome.buffers, strict=True))}, WHOLE)
    return Evaluated(_node_by_node(nodes, known, installation), NODE_BY_NODE)


def _is_plain(nodes: Sequence[Node], outputs: Sequence[GraphOutput]) -> bool:
    """Whether DirectML's graphs can represent the nodes: no offsets, no partial writes, and computed outputs only."""
    computed = {value for node in nodes for value in node.targets}
    reads = (read for node in nodes for several in node.reads.values() for read in several)
    writes = (write for node in nodes for several in node.writes.values() for write in several)
    return (
        all(read.offset == 0 or read.value not in computed for read in reads)
        and all(write.offset == 0 and write.base is None for write in writes)
        and all(output.value in computed for output in outputs)
        and not any(node.operator.updates(field) for node in nodes for field in node.writes)
    )


def _whole(nodes: Sequence[Node], outputs: Sequence[GraphOutput], known: Mapping[Value, bytes]) -> Case:
    """The case of a whole graph; a buffer with several readers is bound several times."""
    sources = {
        write.value: (number, place)
        for number, node in enumerate(nodes)
        for place, (_, write) in enumerate(_writes(node))
        if write is not None
    }
    buffers: list[DeviceBuffer] = []
    inputs: list[BufferRange] = []
    input_edges, inner = [], []
    indices: dict[Value, int] = {}
    for number, node in enumerate(nodes):
        for place, (slot, read) in enumerate(_reads(node)):
            if read is None or slot.desc is None:
                continue
            if read.value in sources:
                inner.append((*sources[read.value], number, place))
                continue
            if read.value not in indices:
                indices[read.value] = len(buffers)
                buffers.append(_buffer(read.value, known))
            input_edges.append((0, len(inputs), number, place))
            inputs.append(_binding(indices[read.value], slot.desc, read.offset, is_input=True))
    shown = dict.fromkeys(output.value for output in outputs)
    output_edges = [(*sources[value], 0, place) for place, value in enumerate(shown)]
    results = []
    for value in shown:
        results.append(BufferRange(len(buffers), value.nbytes))
        buffers.append(DeviceBuffer(value.nbytes, wanted=True))
    return Case(
        tuple(node.operator for node in nodes),
        Step.DISPATCH,
        0,
        tuple(buffers),
        tuple(inputs),
        tuple(results),
        is_graph=True,
        input_edges=tuple(input_edges),
        output_edges=tuple(output_edges),
        intermediate_edges=tuple(inner),
    )


def _node_by_node(nodes: Sequence[Node], known: dict[Value, bytes], installation: Installation) -> dict[Value, bytes]:
    """Computes all values; each run executes the nodes whose sources are available."""
    values = dict(known)
    waiting = list(nodes)
    while waiting:
        ready = [node for node in waiting if all(value in values for value in node.sources)]
        cases = [single(node, values) for node in ready]
        for node, case, outcome in zip(ready, cases, run(cases, installation), strict=True):
            if outcome.dispatched != 0:
                raise NodeFailedError(f"node {node.name} ({node.operator.type}): {failure(outcome)}")
            values.update(written(node, case, outcome))
        waiting = [node for node in waiting if node not in ready]
    return values


def single(node: Node, values: Mapping[Value, bytes]) -> Case:
    """The case of one node; outputs that write to one buffer share it."""
    buffers: list[DeviceBuffer] = []
    places: dict[Value, int] = {}
    inputs, outputs = [], []
    for slot, read in _reads(node):
        if read is None or slot.desc is None:
            inputs.append(UNBOUND)
            continue
        if read.value not in places:
            places[read.value] = len(buffers)
            buffers.append(_buffer(read.value, values))
        inputs.append(_binding(places[read.value], slot.desc, read.offset, is_input=True))
    for slot, write in _writes(node):
        if write is None or slot.desc is None:
            outputs.append(UNBOUND)
            continue
        if write.base in places and write.base in node.targets:
            places[write.value] = places[write.base]
        else:
            places[write.value] = len(buffers)
            before = node.before(write)
            content = b"" if before is None else values[before]
            buffers.append(DeviceBuffer(write.value.nbytes, content[: write.value.nbytes], wanted=True))
        outputs.append(_binding(places[write.value], slot.desc, write.offset, is_input=False))
    return Case((node.operator,), Step.DISPATCH, 0, tuple(buffers), tuple(inputs), tuple(outputs))


def written(node: Node, case: Case, outcome: Outcome) -> dict[Value, bytes]:
    """The values that a node wrote; those in one buffer are equal, with all writes applied."""
    wanted = [place for place, buffer in enumerate(case.buffers) if buffer.wanted]
    content = dict(zip(wanted, outcome.buffers, strict=True))
    bound = [write for _, write in _writes(node)]
    return {
        write.value: content[binding.buffer]
        for write, binding in zip(bound, case.outputs, strict=True)
        if write is not None
    }


def _reads(node: Node) -> list[tuple[TensorSlot, Read | None]]:
    """The inputs with their bindings."""
    found = slots(node.operator, outputs=False)
    return [(slot, None if slot.desc is None else node.reads[slot.field][slot.index]) for slot in found]


def _writes(node: Node) -> list[tuple[TensorSlot, Write | None]]:
    """The outputs with their bindings."""
    found = slots(node.operator, outputs=True)
    return [(slot, None if slot.desc is None else node.writes[slot.field][slot.index]) for slot in found]


def _buffer(value: Value, values: Mapping[Value, bytes]) -> DeviceBuffer:
    return DeviceBuffer(value.nbytes, values[value][: value.nbytes])


def _binding(buffer: int, desc: TensorDesc, offset: int, *, is_input: bool) -> BufferRange:
    binding = BufferRange(buffer, desc.total_bytes, offset)
    return replace(binding, when=When.INITIALIZATION) if is_input and desc.owned_by_dml else binding


def failure(outcome: Outcome) -> str:
    """The reason why a case was not dispatched, as recorded in ``tests/directml/probes.jsonl``."""
    if outcome.died:
        return f"DirectML ended the process ({outcome.step})"
    code = next(code for code in (outcome.created, outcome.compiled, outcome.dispatched) if code)
    return f"{outcome.step} gives {code:#010x}"
