"""Checks that a graph is valid: one source for each value, no cycles, tensors inside their buffers.

https://learn.microsoft.com/windows/ai/directml/dml-binding
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dml2onnx.checks.doubts import activation_of, doubts
from dml2onnx.checks.tensors import DOCUMENTATION, MINIMUM_ALIGNMENT, is_measurable, strides_in_elements
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, Place, placed, plural, quote, route
from dml2onnx.frontends.findings import escape as escaped
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import MAX_ELEMENTS, TensorDesc
from dml2onnx.rules.findings import name_place, pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dml2onnx.diagnostics import Code
    from dml2onnx.ir.graph import Graph, Node, Read, Value, Write
    from dml2onnx.ir.tensor import DataType

_Bound = TypeVar("_Bound", "Read", "Write")

BINDING = "https://learn.microsoft.com/windows/ai/directml/dml-binding"
GRAPH = "https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_graph_desc"


_REFUSING_DEAD_NODES = frozenset({"dml_graph", "serialized"})
"""Formats that represent a DML_GRAPH_DESC, which DirectML checks itself."""
_DESCRIBING_INPUTS = frozenset({"native", "builder"})
"""Formats in which inputs have their own descriptors, and not those of their readers."""


@dataclass(slots=True)
class StructureFindings:
    """Findings about the whole graph, and those about its nodes by position."""

    of_graph: list[Diagnostic] = field(default_factory=list)
    unread: list[Diagnostic] = field(default_factory=list)
    """Unread inputs and constants, which may be symptoms of another error."""
    of_nodes: defaultdict[int, list[Diagnostic]] = field(default_factory=lambda: defaultdict(list))


def check_structure(graph: Graph) -> StructureFindings:
    """Returns all findings about nodes, values and buffers, in time linear in the size of the graph."""
    result = StructureFindings()
    available = {item.value for item in graph.inputs} | {item.value for item in graph.constants} | graph.unresolved
    sources = _sources(graph, available, result)
    _names(graph, result)
    _outputs(graph, sources, available, result)
    regions = _Regions(graph)
    for position, node in enumerate(graph.nodes):
        if _is_usual(node, sources, available, regions):
            continue
        findings = [*_bindings(node), *_reads(node, sources, available, regions), *_writes(node, regions)]
        findings += doubts(node, graph, sources, regions.types)
        if findings:
            result.of_nodes[position].extend(findings)
    _cycles(graph, result)
    _dead_nodes(graph, sources, result)
    _unread(graph, result)
    _strides_in_bytes(graph, result)
    return result


def _finding(
    code: Code, path: str, message: str, expected: object = "", found: object = "", documentation: str = BINDING
) -> Diagnostic:
    return code.of(path, message, expected, found, documentation=documentation, is_structural=True)


# --- Values and names -----------------------------------------------------------------------------------------------


def _sources(graph: Graph, available: set[Value], result: StructureFindings) -> dict[Value, int]:
    """The position of the node that writes each value."""
    sources: dict[Value, int] = {}
    for position, node in enumerate(graph.nodes):
        if len(node.targets) == 1:
            (target,) = node.targets
            if target not in available and sources.setdefault(target, position) == position:
                continue
        times = Counter(node.targets)
        for name, writes in node.writes.items():
            for write in writes:
                value = write.value
                first = sources.setdefault(value, position)
                if value in available:
                    message = f"The value {quote(value.name)} is a graph input or constant and cannot be written."
                elif first != position or times[value] > 1:
                    first_node = quote(graph.nodes[first].name)
                    message = f"The value {quote(value.name)} is written by node {first_node} already."
                else:
                    continue
                result.of_nodes[position].append(_finding(codes.VALUE_WRITTEN_TWICE, name, message))
    return sources


def _names(graph: Graph, result: StructureFindings) -> None:
    seen: dict[str, int] = {}
    for position, node in enumerate(graph.nodes):
        first = seen.setdefault(node.name, position)
        if first != position:
            schema, other = node.operator.schema, graph.nodes[first]
            finding = codes.DUPLICATE_NODE_NAME.at(
                f"Another node, number {first}, is named {quote(node.name)} as well.",
                node=node.name,
                operator=schema.short_name,
                pointer=name_place(node.source),
                expected="a new name",
                found=quote(node.name),
                documentation=BINDING,
                places=(Place(name_place(other.source), "the first of that name"),) if other.source else (),
            )
            result.of_graph.append(finding)
    _binding_names("inputs", (item.name for item in graph.inputs), result)
    _binding_names("outputs", (item.name for item in graph.outputs), result)


def _binding_names(kind: str, names: Iterable[str], result: StructureFindings) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} graph {kind} are named {quote(name)}."
            result.of_graph.append(codes.DUPLICATE_BINDING_NAME.at(message, found=quote(name), documentation=GRAPH))


def _outputs(graph: Graph, sources: dict[Value, int], available: set[Value], result: StructureFindings) -> None:
    # a reader that found errors may have dropped the outputs that have them
    if not graph.outputs and not any(item.is_error for item in graph.findings):
        message = "The graph has no outputs."
        result.of_graph.append(codes.NO_OUTPUTS.at(message, expected="an output", documentation=GRAPH))
    for output in graph.outputs:
        if output.value not in sources and output.value not in available:
            message = f"Nothing writes the graph output {quote(output.name)}."
            found = quote(output.name)
            result.of_graph.append(codes.OUTPUT_WITHOUT_SOURCE.at(message, found=found, documentation=GRAPH))
        elif is_measurable(output.desc) and _shown_bytes(output.desc) > output.value.nbytes:
            nbytes = _shown_bytes(output.desc)
            message = (
                f"The graph output {quote(output.name)} is {output.desc}, {nbytes} bytes; "
                f"its buffer has {output.value.nbytes}."
            )
            needed, present = f"{nbytes} bytes or more", f"{output.value.nbytes} bytes"
            result.of_graph.append(
                codes.OUT_OF_BOUNDS.at(message, expected=needed, found=present, documentation=BINDING)
            )
    shown = {item.desc: item for item in (*graph.outputs, *graph.results, *(item.output for item in graph.effects))}
    shaped = [item for desc, item in shown.items() if desc.strides is None or len(desc.strides) == desc.rank]
    large = [item for item in shaped if item.desc.extent > MAX_ELEMENTS and item.value.nbytes < UNBOUNDED]
    own = {desc for node in graph.nodes for name in node.writes for desc in _described(node, name)} if large else set()
    for item in large:
        if item.desc not in own:  # else it is reported at the node
            count = item.desc.extent
            message = f"The output {quote(item.name)} has {count} elements; the limit is {MAX_ELEMENTS}."
            result.of_graph.append(
                codes.TOO_MANY_ELEMENTS.at(message, expected=MAX_ELEMENTS, found=count, documentation=GRAPH)
            )


def _shown_bytes(desc: TensorDesc) -> int:
    """The bytes of its buffer that an output covers; a buffer of a program may end at any byte."""
    return desc.total_size or desc.data_type.bytes_for(desc.extent)


# --- Bindings and regions -------------------------------------------------------------------------------------------


def _bindings(node: Node) -> Iterator[Diagnostic]:
    """Checks that every tensor of the descriptor has its buffers, and every buffer its tensor."""
    desc = node.operator
    values, index = desc.values, desc.schema.index
    for fields, bound in ((desc.schema.input_fields, node.reads), (desc.schema.output_fields, node.writes)):
        surplus = len(bound)
        for item in fields:
            name = item.name
            value = values[index[name]]
            count = len(bound.get(name, ()))
            surplus -= name in bound
            if value is UNREADABLE:
                continue
            wanted = 1 if isinstance(value, TensorDesc) else len(value) if isinstance(value, tuple) else 0
            if count < wanted:
                path = name if isinstance(value, TensorDesc) else f"{name}/{count}"
                message = f"{path} has a descriptor but is bound to no buffer."
                yield _finding(codes.UNBOUND_TENSOR, path, message, wanted, count)
            elif count > wanted:
                tensors = plural(wanted, "tensor", "no")
                message = f"{name} is bound to {plural(count, 'buffer')}; the descriptor has {tensors}."
                yield _finding(codes.BOUND_WITHOUT_TENSOR, name, message, wanted, count)
        if surplus:
            names = {item.name for item in fields}
            for name in bound:
                if name not in names:
                    message = f"{desc.type} has no such tensor as {name}."
                    yield _finding(codes.BOUND_WITHOUT_TENSOR, name, message, ", ".join(sorted(names)), name)


def _is_usual(node: Node, sources: dict[Value, int], available: set[Value], regions: _Regions) -> bool:
    """Whether a node reads and writes whole buffers that are large enough: a fast path for almost all nodes."""
    needed = regions.needed(node.operator)
    if needed is None or len(needed.reads) != len(node.reads) or len(needed.writes) != len(node.writes):
        return False
    types, (_, _, owned, activation, makes) = regions.types, needed
    for name, reads in node.reads.items():
        tensors = needed.reads.get(name, ())
        if len(tensors) != len(reads):
            return False
        for i, read in enumerate(reads):
            value, (nbytes, kind) = read.value, tensors[i]
            if read.offset or nbytes > value.nbytes:
                return False
            known = types.get(value)
            if known is None:
                if value not in available and (value not in sources or name in owned):
                    return False
            elif known is not kind or (name in owned and value in sources):
                return False
            if activation and regions.activations.get(value) == activation:
                return False
    for name, writes in node.writes.items():
        tensors = needed.writes.get(name, ())
        if len(tensors) != len(writes):
            return False
        for i, write in enumerate(writes):
            nbytes, types[write.value] = tensors[i]
            if write.offset or write.base is not None or nbytes > write.value.nbytes:
                return False
            if makes:
                regions.activations[write.value] = makes
    return True


class _Needed(NamedTuple):
    """The byte count and the data type of each tensor, by field."""

    reads: dict[str, list[tuple[int, DataType]]]
    writes: dict[str, list[tuple[int, DataType]]]
    owned: set[str]
    """The fields with tensors owned by DirectML, which no node may compute."""
    activation: str
    """The name of the activation that the operator is, or an empty string."""
    makes: str
    """The name of the activation that was applied to its outputs, or an empty string."""


class _Regions:
    """The byte ranges of tensors, cached by descriptor."""

    __slots__ = ("_bytes", "_has_versions", "_needed", "_origins", "_reported", "activations", "types")

    def __init__(self, graph: Graph) -> None:
        self._has_versions = graph.format == "dxdispatch"
        self.types = {item.value: item.desc.data_type for item in graph.constants if item.desc is not None}
        self.types |= {item.value: item.desc.data_type for item in graph.inputs if item.desc is not None}
        self.activations: dict[Value, str] = {}
        self._bytes: dict[TensorDesc, int] = {}
        self._needed: dict[OperatorDesc, _Needed | None] = {}
        self._origins: dict[Value, Value] = {}
        self._reported: dict[Value, int] = {}

    def name(self, value: Value) -> str:
        """The name of a buffer in the model, without the version number that DxDispatch commands add."""
        name, mark, version = value.name.rpartition("#")
        return name if mark and version.isdecimal() and self._has_versions else value.name

    def nbytes(self, tensor: TensorDesc) -> int:
        """The bytes that a tensor covers from its offset on; 0 if it is invalid."""
        nbytes = self._bytes.get(tensor)
        if nbytes is None:
            nbytes = self._bytes[tensor] = tensor.total_bytes if is_measurable(tensor) else 0
        return nbytes

    def needed(self, desc: OperatorDesc) -> _Needed | None:
        """What an operator has to be bound to; ``None`` if a tensor is unreadable."""
        known = self._needed.get(desc)
        if known is None and desc not in self._needed:
            known = self._needed[desc] = self._all_needed(desc)
        return known

    def _all_needed(self, desc: OperatorDesc) -> _Needed | None:
        index = desc.schema.index
        fused = desc.find("FusedActivation")
        own = activation_of(desc.schema, fused=True)
        makes = (
            activation_of(fused.schema, fused=True) if isinstance(fused, OperatorDesc) else activation_of(desc.schema)
        )
        needed = _Needed({}, {}, set(), own, makes)
        for fields, of in ((desc.schema.input_fields, needed.reads), (desc.schema.output_fields, needed.writes)):
            for item in fields:
                value = desc.values[index[item.name]]
                if value is None:
                    continue
                tensors = value if isinstance(value, tuple) else (value,)
                for tensor in tensors:
                    if not isinstance(tensor, TensorDesc):
                        return None
                    if tensor.owned_by_dml:
                        needed.owned.add(item.name)
                    of.setdefault(item.name, []).append((self.nbytes(tensor), tensor.data_type))
        return needed

    def derive(self, write: Write) -> None:
        """Records that a new version of a buffer occupies the same bytes as its base."""
        if write.base is not None:
            self._origins[write.value] = self._origins.get(write.base, write.base)

    def is_new(self, value: Value, end: int) -> bool:
        """Whether no earlier finding covers a tensor that exceeds a buffer, in any of its versions, up to ``end``."""
        origin = self._origins.get(value, value)
        known = self._reported.setdefault(origin, 0)
        self._reported[origin] = max(known, end)
        return end > known


def _described(node: Node, name: str) -> tuple[TensorDesc | None, ...]:
    """The descriptors of a tensor field, with ``None`` for invalid ones."""
    value = node.operator.find(name)
    if isinstance(value, TensorDesc):
        return (value,)
    if isinstance(value, tuple):
        return tuple(item if isinstance(item, TensorDesc) else None for item in value)
    return ()


def _placed(node: Node, name: str, bound: tuple[_Bound, ...]) -> list[tuple[str, _Bound, TensorDesc | None]]:
    """The path, the buffer and the tensor (or ``None``) of each binding of a field."""
    tensors = _described(node, name)
    if len(bound) == 1:
        return [(name, bound[0], tensors[0] if tensors else None)]
    count = len(tensors)
    return [(f"{name}/{i}", item, tensors[i] if i < count else None) for i, item in enumerate(bound)]


def _reads(node: Node, sources: dict[Value, int], available: set[Value], regions: _Regions) -> Iterator[Diagnostic]:
    for name, reads in node.reads.items():
        for path, read, tensor in _placed(node, name, reads):
            computed = read.value in sources
            if not computed and read.value not in available:
                message = f"Nothing provides the value {quote(read.value.name)} that {path} reads."
                yield _finding(codes.UNKNOWN_VALUE, path, message, found=quote(read.value.name))
            if tensor is None:
                continue
            yield from _region(path, read, tensor, regions)
            if computed and tensor.owned_by_dml:
                message = f"{path} is OWNED_BY_DML and reads {quote(read.value.name)}, which a node computes."
                yield _finding(codes.OWNED_INTERMEDIATE, f"{path}/Flags", message, "NONE", "OWNED_BY_DML")


def elements_of_other_width(tensor: TensorDesc, present: int) -> str:
    """A note, or an empty string, on a buffer with the right number of elements of fewer bits."""
    count, bits = tensor.extent, tensor.data_type.bits
    if present <= 4 or present * 8 % count or present * 8 // count not in (8, 16, 32) or present * 8 // count >= bits:
        return ""
    return f", as many as {plural(count, 'element')} of {plural(present // count, 'byte')}"


def _region(path: str, bound: Read | Write, tensor: TensorDesc, regions: _Regions) -> Iterator[Diagnostic]:
    """Checks that the tensor lies inside its buffer, at an offset that DirectML accepts."""
    offset, nbytes, present = bound.offset, regions.nbytes(tensor), bound.value.nbytes
    if nbytes and (offset < 0 or offset + nbytes > present) and regions.is_new(bound.value, offset + nbytes):
        name = quote(regions.name(bound.value))
        message = f"{path} needs bytes {offset} to {offset + nbytes} of {name}, which has {present}"
        message += f"{elements_of_other_width(tensor, present)}."
        yield _finding(codes.OUT_OF_BOUNDS, path, message, f"{offset + nbytes} bytes or more", f"{present} bytes")
    if not offset:
        return
    if offset % MINIMUM_ALIGNMENT:
        message = f"{path} starts at byte {offset}; offsets are multiples of {MINIMUM_ALIGNMENT}."
        yield _finding(codes.MISALIGNED_OFFSET, path, message, f"a multiple of {MINIMUM_ALIGNMENT}", offset)
    elif tensor.alignment > 0 and offset % tensor.alignment:
        message = f"{path} starts at byte {offset}; GuaranteedBaseOffsetAlignment promises {tensor.alignment}."
        yield _finding(codes.BROKEN_ALIGNMENT_PROMISE, path, message, f"a multiple of {tensor.alignment}", offset)


def _writes(node: Node, regions: _Regions) -> Iterator[Diagnostic]:
    partial: list[tuple[str, Write, TensorDesc]] = []
    bases = {write.base for writes in node.writes.values() for write in writes}
    for name, writes in node.writes.items():
        for path, write, tensor in _placed(node, name, writes):
            if tensor is None:
                continue
            if write.base is not None:
                regions.derive(write)
            yield from _region(path, write, tensor, regions)
            if write.base is not None or write.value in bases:
                partial.append((path, write, tensor))
    if partial:
        yield from _aliases(node, partial, regions)


def _overlap(a: int, a_bytes: int, b: int, b_bytes: int) -> bool:
    return a < b + b_bytes and b < a + a_bytes


class _Place(NamedTuple):
    """A range of bytes that an output is written to, in the previous version of its buffer."""

    path: str
    base: Value
    offset: int
    nbytes: int
    tensor: TensorDesc


def _aliases(node: Node, written: list[tuple[str, Write, TensorDesc]], regions: _Regions) -> Iterator[Diagnostic]:
    """Checks the overlaps of outputs that are written into part of a buffer with each other and with inputs."""
    # Several outputs in one buffer are a chain of versions, each based on the previous one.
    origin: dict[Value, Value] = {}
    placed: list[_Place] = []
    for path, write, tensor in written:
        start = write.value if write.base is None else write.base
        base = origin.get(start, start)
        origin[write.value] = base
        placed.append(_Place(path, base, write.offset, regions.nbytes(tensor), tensor))
    yield from _overlaps(placed)
    for name, reads in node.reads.items():
        for i, (read, view) in enumerate(zip(reads, _described(node, name), strict=False)):
            if view is None:
                continue
            source = name if len(reads) == 1 else f"{name}/{i}"
            for path, base, offset, nbytes, tensor in placed:
                if read.value is base and _overlap(offset, nbytes, read.offset, regions.nbytes(view)):
                    same_bytes = offset == read.offset and nbytes == regions.nbytes(view)
                    same_layout = view.sizes == tensor.sizes and view.strides == tensor.strides
                    yield from _alias(node, path, source, same_bytes, same_layout)


def _overlaps(placed: list[_Place]) -> Iterator[Diagnostic]:
    """Yields at most one finding for each output, because thousands may share the same bytes."""
    reaching: dict[Value, int] = {}
    """By buffer, the earlier output that ends last."""
    found: list[tuple[int, int]] = []
    for later in sorted(range(len(placed)), key=lambda index: (placed[index].offset, index)):
        place = placed[later]
        earlier = reaching.setdefault(place.base, later)
        if earlier != later and _overlap(place.offset, place.nbytes, placed[earlier].offset, placed[earlier].nbytes):
            found.append((max(earlier, later), min(earlier, later)))
        if place.offset + place.nbytes > placed[earlier].offset + placed[earlier].nbytes:
            reaching[place.base] = later
    for later, earlier in sorted(found):
        path, base, offset, _, _ = placed[later]
        message = f"{path} and {placed[earlier].path} are written to the same bytes of {quote(base.name)}."
        yield _finding(codes.OVERLAPPING_WRITES, path, message, "separate bytes", f"byte {offset}")


def _alias(node: Node, path: str, source: str, same_bytes: bool, same_layout: bool) -> Iterator[Diagnostic]:
    if not same_bytes:
        message = f"{path} overwrites a part of what {source} reads."
        yield _finding(codes.PARTIAL_OVERLAP, path, message, "the same bytes, or none of them")
    elif not node.operator.schema.in_place:
        message = f"{path} overwrites {source}; {node.operator.type} is not documented to run in place."
        yield _finding(codes.NOT_IN_PLACE, path, message)
    elif not same_layout:
        message = f"{path} overwrites {source} in another layout; in place, both have the same sizes and strides."
        yield _finding(codes.NOT_IN_PLACE, path, message)


# --- Topology -------------------------------------------------------------------------------------------------------


def _cycles(graph: Graph, result: StructureFindings) -> None:
    if graph.is_in_order():
        return
    import networkx as nx  # slow to import, and rarely needed

    digraph = graph.dependencies()
    position = {node: i for i, node in enumerate(graph.nodes)}
    for component in nx.strongly_connected_components(digraph):
        first = min(component, key=position.__getitem__)
        if len(component) == 1 and not digraph.has_edge(first, first):
            continue
        members = digraph.subgraph(component)
        edges = [(source, target) for source, target, *_ in nx.find_cycle(members, first)]
        producer, reader = max(edges, key=lambda edge: position[edge[0]] - position[edge[1]])
        reads = [(name, read.value) for name, reads in reader.reads.items() for read in reads]
        field, read = next(((name, value) for name, value in reads if value in producer.targets), ("", None))
        message = f"The graph has a cycle: {route([source.name for source, _ in edges])}"
        message += "." if read is None else f"; {field} reads {quote(read.name)}, which depends on this node's output."
        result.of_nodes[position[reader]].append(
            _finding(codes.CYCLE, field, message, "an acyclic graph", f"{len(component)} nodes", GRAPH)
        )


def _unread(graph: Graph, result: StructureFindings) -> None:
    """Inputs and constants without a reader; in formats with edges, the frontend reports them."""
    if graph.format in _REFUSING_DEAD_NODES or any(item.is_error for item in graph.findings):
        return
    read = {value for node in graph.nodes for value in node.sources}
    read |= {item.value for item in (*graph.outputs, *graph.results, *(effect.output for effect in graph.effects))}
    for item in graph.inputs:
        if item.value not in read:
            message = f"No node reads the graph input {quote(item.name)}."
            result.unread.append(
                codes.UNREAD_INPUT.at(message, pointer=item.source, found=quote(item.name), documentation=GRAPH)
            )
    for constant in graph.constants:
        if constant.value not in read:
            name = constant.value.name
            place = f"/constants/{escaped(name)}" if graph.format == "native" else ""
            message = f"No node reads the constant {quote(name)}."
            result.unread.append(
                codes.UNREAD_CONSTANT.at(message, pointer=place, found=quote(name), documentation=GRAPH)
            )


def _strides_in_bytes(graph: Graph, result: StructureFindings) -> None:
    """Strides that are those of packed memory times the bytes of an element, reported once for each descriptor."""
    reported: set[TensorDesc] = set()

    def finding(path: str, desc: TensorDesc, packed: tuple[int, ...]) -> Diagnostic:
        strides = list(desc.effective_strides)
        message = f"Strides {strides} look like bytes; they count elements: {list(packed)} for packed memory."
        return _finding(codes.STRIDES_IN_BYTES, path, message, list(packed), strides, DOCUMENTATION)

    for item in graph.inputs if graph.format in _DESCRIBING_INPUTS else ():
        desc = item.desc
        if desc is not None and desc.strides is not None and (packed := strides_in_elements(desc)) is not None:
            reported.add(desc)
            place = pointer(item.source, "Strides")
            result.of_graph.append(placed(finding("", desc, packed), place))
    seen: set[OperatorDesc] = set()  # nodes of networks are often equal
    for position, node in enumerate(graph.nodes):
        if node.operator in seen:
            continue
        seen.add(node.operator)
        for name in node.reads:
            for path, desc in _strided(node, name):
                if desc not in reported and (packed := strides_in_elements(desc)) is not None:
                    reported.add(desc)
                    result.of_nodes[position].append(finding(f"{path}/Strides", desc, packed))


def _strided(node: Node, name: str) -> Iterator[tuple[str, TensorDesc]]:
    value = node.operator.find(name)
    tensors = {f"{name}/{i}": item for i, item in enumerate(value)} if isinstance(value, tuple) else {name: value}
    for path, tensor in tensors.items():
        if isinstance(tensor, TensorDesc) and tensor.strides is not None:
            yield path, tensor


def _dead_nodes(graph: Graph, sources: dict[Value, int], result: StructureFindings) -> None:
    if any(item.is_error for item in graph.findings):
        return  # the unreadable parts may use them
    wanted = [output.value for output in (*graph.outputs, *graph.results)]
    wanted.extend(effect.output.value for effect in graph.effects)
    if not wanted:
        return
    live: set[int] = set()
    while wanted:
        position = sources.get(wanted.pop())
        if position is None or position in live:
            continue
        live.add(position)
        wanted.extend(graph.nodes[position].sources)
    dead = [position for position in range(len(graph.nodes)) if position not in live]
    followed = {value for position in dead for value in graph.nodes[position].sources}
    for position in dead:
        if followed.isdisjoint(graph.nodes[position].targets):  # report only the last node of a dead chain
            code, message = codes.DEAD_NODE, "No output depends on this node."
            if graph.format in _REFUSING_DEAD_NODES:
                code = codes.DEAD_NODE_REFUSED
                message = "No output depends on this node; DirectML does not compile such a graph."
            result.of_nodes[position].append(_finding(code, "", message, documentation=GRAPH))
