"""Rewrites a graph to FLOAT16: descriptors, buffers, and casts between FLOAT16 and FLOAT32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dml2onnx import catalog
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.half_precision.choice import Choice, choose
from dml2onnx.half_precision.numbers import ByteRange, half_desc, half_operator, in_half
from dml2onnx.half_precision.shared_memory import BufferVersions
from dml2onnx.ir.data import Data, padded
from dml2onnx.ir.graph import Constant, Graph, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.inputs import in_memory, input_descs, stored_shape
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc


@dataclass(frozen=True, slots=True)
class Halved:
    """A graph in FLOAT16 with unchanged inputs and outputs."""

    graph: Graph
    outputs: tuple[GraphOutput, ...]
    """The requested outputs in the new graph."""
    reasons: Mapping[str, str]
    """The reasons of nodes that stay FLOAT32, by name."""
    casts: frozenset[str]
    """The names of inserted nodes."""
    findings: tuple[Diagnostic, ...]


def halved(graph: Graph, outputs: Sequence[GraphOutput]) -> Halved:
    """Rewrites the part of a checked graph that ``outputs`` need to FLOAT16, as :func:`choose` decides."""
    nodes = graph.live_nodes(tuple(outputs))
    choice = choose(graph, nodes, outputs)
    return _Rewriting(graph, nodes, outputs, choice).result()


@dataclass(slots=True)
class _Rewriting:
    source: Graph
    nodes: Sequence[Node]
    outputs: Sequence[GraphOutput]
    choice: Choice
    memory: BufferVersions = field(init=False)
    new_nodes: list[Node] = field(default_factory=list, init=False)
    constants: list[Constant] = field(default_factory=list, init=False)
    reasons: dict[str, str] = field(default_factory=dict, init=False)
    names: set[str] = field(default_factory=set, init=False)
    casts: set[str] = field(default_factory=set, init=False)
    homes: dict[Value, Value] = field(default_factory=dict, init=False)
    """The FLOAT16 values of the new graph, by value of the source, if nodes write FLOAT16."""
    whole: dict[Value, TensorDesc] = field(default_factory=dict, init=False)
    """A FLOAT32 tensor that covers the whole memory of a value."""
    twins: dict[object, Value] = field(default_factory=dict, init=False)

    known: dict[Value, Data] = field(init=False)
    wanted: frozenset[Value] = field(init=False)

    def __post_init__(self) -> None:
        self.known = {item.value: item.data for item in self.source.constants}
        self.wanted = frozenset(item.value for item in self.outputs)
        self.memory = BufferVersions.of(self.source, self.nodes, self.outputs)
        self.names.update(node.name for node in self.nodes)

    def result(self) -> Halved:
        """Returns the new graph."""
        source = self.source
        descs = input_descs(source.inputs, self.nodes, self.outputs)
        inputs = tuple(replace(item, desc=desc) for item, desc in zip(source.inputs, descs, strict=True))
        for item in inputs:
            assert item.desc is not None  # set by the line above
            self.whole[item.value] = TensorDesc(in_memory(item.desc).data_type, stored_shape(item.desc))
        for node in self.nodes:
            self._node(node)
        outputs = tuple(replace(item, value=self._in_float(item.value)) for item in self.outputs)
        read = {value for node in self.new_nodes for value in node.sources} | {item.value for item in outputs}
        constants = tuple(item for item in (*source.constants, *self.constants) if item.value in read)
        graph = replace(
            source,
            nodes=tuple(self.new_nodes),
            inputs=inputs,
            outputs=outputs,
            constants=constants,
            results=(),
            effects=(),
            feature_level=str(catalog.LATEST),
        )
        return Halved(graph, outputs, self.reasons, frozenset(self.casts), tuple(self.choice.findings))

    # --- Nodes -------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        reason = self.choice.kept.get(node)
        if reason is not None:
            self.reasons[node.name] = reason
        operator = half_operator(node.operator) if reason is None else node.operator
        is_half = operator is not node.operator and operator != node.operator
        self._note_whole(node)
        reads = {name: [*several] for name, several in node.reads.items()}
        writes = {name: [*several] for name, several in node.writes.items()}
        for name, index, read, desc in node.views_in():
            if desc.data_type is DataType.FLOAT32:
                reads[name][index] = (
                    self._read_half(read, desc) if is_half else Read(self._in_float(read.value), read.offset)
                )
        for name, index, write, desc in node.views_out():
            if is_half and desc.data_type is DataType.FLOAT32:
                writes[name][index] = self._write_half(write)
        self.new_nodes.append(
            Node(
                node.name,
                operator,
                {name: tuple(several) for name, several in reads.items()},
                {name: tuple(several) for name, several in writes.items()},
                node.source,
            )
        )

    def _note_whole(self, node: Node) -> None:
        for _, _, write, desc in node.views_out():
            is_all = write.base is None and write.offset == 0 and desc.data_type is DataType.FLOAT32
            if is_all and desc.minimum_bytes >= write.value.nbytes // 4 * 4:
                self.whole[write.value] = TensorDesc(desc.data_type, desc.sizes, desc.strides)

    def _write_half(self, write: Write) -> Write:
        base = None if write.base is None else self._in_half(write.base)
        return Write(self._home(write.value), write.offset // 2, base)

    def _home(self, value: Value) -> Value:
        if value not in self.homes:
            name = f"{value.name}_float16" if value in self.wanted else value.name
            self.homes[value] = Value(name, _half_bytes(value.nbytes))
        return self.homes[value]

    # --- Inputs ------------------------------------------------------------------------------------------------------

    def _read_half(self, read: Read, desc: TensorDesc) -> Read:
        value = read.value
        if value in self.known:
            return Read(self._constant(read, desc))
        if value in self.homes or value not in self.memory.mixed:
            return Read(self._in_half(value), read.offset // 2)
        return Read(self._view_in_half(read, desc))

    def _in_float(self, value: Value) -> Value:
        """The value in FLOAT32."""
        home = self.homes.get(value)
        if home is None:
            return value
        if value not in self.twins:
            desc = self._whole(value)
            self.twins[value] = self._cast(value.name, Read(home), half_desc(desc), desc, value.nbytes)
        return self.twins[value]

    def _in_half(self, value: Value) -> Value:
        """The value in FLOAT16."""
        if value in self.homes:
            return self.homes[value]
        if value not in self.twins:
            desc, name = self._whole(value), f"{value.name}_float16"
            self.twins[value] = self._cast(name, Read(value), desc, half_desc(desc), _half_bytes(value.nbytes))
        return self.twins[value]

    def _whole(self, value: Value) -> TensorDesc:
        """The memory of a value as a tensor: as it was written, or one-dimensional."""
        return self.whole.get(value) or TensorDesc(DataType.FLOAT32, (value.nbytes // 4,))

    def _view_in_half(self, read: Read, desc: TensorDesc) -> Value:
        """Casts the elements of one view of memory that is also read as other types."""
        strides = desc.effective_strides
        once = tuple(1 if stride == 0 else size for size, stride in zip(desc.sizes, strides, strict=True))
        seen = TensorDesc(DataType.FLOAT32, once, strides)
        if seen.is_overlapping:
            seen = TensorDesc(DataType.FLOAT32, (desc.extent,))
        key = (read.value, read.offset, seen)
        if key not in self.twins:
            name, half = f"{read.value.name}_float16", half_desc(seen)
            self.twins[key] = self._cast(name, read, seen, half, half.minimum_bytes)
        return self.twins[key]

    def _constant(self, read: Read, desc: TensorDesc) -> Value:
        """The part of a constant that a view reads, as a separate constant."""
        data = self.known[read.value]
        key = (read.value, read.offset, desc.extent)
        if key not in self.twins:
            value = Value(read.value.name, half_desc(desc).minimum_bytes)
            part = ByteRange.of(data, read.offset, desc.extent * 4)
            self.constants.append(Constant(value, padded(in_half(part), value.nbytes)))
            self.twins[key] = value
        return self.twins[key]

    def _cast(self, name: str, read: Read, source: TensorDesc, target: TensorDesc, nbytes: int) -> Value:
        """Inserts a CAST and returns its output."""
        value = Value(name, nbytes)
        number, node = 1, f"{name}_cast"
        while node in self.names:
            number += 1
            node = f"{name}_cast_{number}"
        self.names.add(node)
        self.casts.add(node)
        operator = OperatorDesc(catalog.operator("DML_OPERATOR_CAST"), (source, target))
        self.new_nodes.append(Node(node, operator, {"InputTensor": (read,)}, {"OutputTensor": (Write(value),)}))
        return value


def _half_bytes(nbytes: int) -> int:
    """Half of a buffer's size, rounded up to a multiple of 4 bytes."""
    return -(-nbytes // 8) * 4
