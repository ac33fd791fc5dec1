"""Writes programs of the DxDispatch tool: a resource for each buffer, a dispatchable and a dispatch for each node.

``frontends.dxdispatch`` reads it. The initial values of inputs are their sample contents, or zeros. Constants are owned
by DirectML, which makes them constants in this format. Long contents are stored in a file each, beside the program.
``print`` commands mark the outputs if nothing else distinguishes them from other buffers.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, raise_errors
from dml2onnx.exporters.descriptors import Json, command, fields, number
from dml2onnx.exporters.dx_buffers import ResourceBuffer, kept, plan
from dml2onnx.exporters.layout import laid_out
from dml2onnx.exporters.native_contents import Sidecar, contents, is_zero, npy_head
from dml2onnx.exporters.problems import Problems, problem
from dml2onnx.exporters.references import NO_REFERENCES
from dml2onnx.frontends.dialects import DXDISPATCH
from dml2onnx.frontends.findings import listing
from dml2onnx.frontends.members import UINT32
from dml2onnx.frontends.names import UniqueNames, file_stem, free_name
from dml2onnx.ir.data import ArrayData, Data, FillData, MissingData
from dml2onnx.ir.graph import Effect, Graph, Node, Read, Value, Write
from dml2onnx.ir.inputs import in_memory, input_descs
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.serialized_schema import may_be_owned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

_LEVELS = {"resources": 1, "dispatchables": 2, "commands": 1}
_ARRAY, _RAW = ".npy", ".bin"
_UNION_MEMBERS = {DataType.FLOAT32: "Float32", DataType.FLOAT64: "Float64"}


def dxdispatch(
    graph: Graph, stem: str, reserved: Collection[str] = (), references: Mapping[Path, str] = NO_REFERENCES
) -> tuple[str, dict[str, Sidecar]]:
    """Returns the text of a program, and the contents of the data files beside it, by name.

    Names of files begin with ``stem`` and are not ``reserved``; ``references`` are the names of missing files of
    constants. Raises :class:`DmlError` with the errors found while the graph was read, or with everything that a
    program cannot express.
    """
    raise_errors([*graph.findings, *_obstacles(graph)])
    return _Export(graph, stem, reserved, references).run()


def _obstacles(graph: Graph) -> Iterator[Diagnostic]:
    """Everything that no program can express."""
    written = {value for node in graph.nodes for value in node.targets}
    provided = written | {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    read = {value for node in graph.nodes for value in node.sources} | {item.output.value for item in graph.effects}
    for node in graph.nodes:
        for value in node.sources:
            if value not in provided:
                found = quote(value.name)
                yield problem(codes.NO_SOURCE, f"Nothing provides {found}.", node, "", found)
    for item in graph.inputs:
        if item.value not in read:
            found = quote(item.name)
            yield codes.UNREAD_INPUT.at(f"No node reads the input {found}.", found=found)
    outputs: dict[Value, str] = {}
    for output in graph.outputs:
        found = quote(output.name)
        if output.value not in written:
            yield codes.NO_NODE_OUTPUT.at(f"No node writes the output {found}.", found=found)
        elif outputs.setdefault(output.value, output.name) != output.name:
            message = f"The output {found} is the output {quote(outputs[output.value])} as well."
            yield codes.TWO_OUTPUTS.at(message, found=found)
    names = [output.name for output in graph.outputs]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield codes.UNSUITABLE_NAME.at(f"Two outputs have the name {quote(name)}.", found=quote(name))
    for effect in graph.effects:
        if effect.output.value not in provided:
            found = quote(effect.output.value.name)
            yield codes.NO_SOURCE.at(f"Nothing provides {found}, which a command prints or writes.", found=found)


class _Export:
    def __init__(self, graph: Graph, stem: str, reserved: Collection[str], references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._stem = stem
        self._references = references
        self._plan = plan(graph)
        self._homes = self._plan.homes
        self._owned = owned_constants(graph)
        self._reserved = {name.casefold() for name in (*reserved, *references.values())}
        self._files: dict[str, Sidecar] = {}
        self._names = UniqueNames()

    def run(self) -> tuple[str, dict[str, Sidecar]]:
        resources: Json = {buffer.name: self._resource(buffer) for buffer in self._plan.buffers}
        dispatchables: Json = {}
        commands: list[Json] = []
        for step in self._plan.steps:
            if isinstance(step, Effect):
                commands.append(self._effect(step))
                continue
            name = self._names.new(step.name or step.operator.schema.stem)
            dispatchables[name] = self._dispatchable(step)
            bindings = dict(self._bindings(step, owned=False))
            commands.append({"type": "dispatch", "dispatchable": name, "bindings": bindings})
        for name in self._unprinted(resources):
            commands.append({"type": "print", "resource": name})
        document: Json = {"resources": resources, "dispatchables": dispatchables, "commands": commands}
        text, problems = laid_out(document, _LEVELS), Problems()
        problems.check_strings(text)
        problems.raise_found()
        return text, self._files

    # --- Resources ----------------------------------------------------------------------------------------------------

    def _resource(self, buffer: ResourceBuffer) -> Json:
        data_type, count = self._row(buffer)
        nbytes = data_type.bytes_for(count)
        values = self._initial_values(buffer, data_type, count)
        members: Json = {"initialValuesDataType": data_type.name, "initialValues": values}
        if -(-nbytes // 4) * 4 != buffer.nbytes:
            members["sizeInBytes"] = buffer.nbytes
        return members

    def _initial_values(self, buffer: ResourceBuffer, data_type: DataType, count: int) -> object:
        nbytes = data_type.bytes_for(count)
        data = buffer.data or FillData(b"\0", nbytes)
        if isinstance(data, MissingData):
            return {"sourcePath": self._references[data.path]}
        if data_type.is_packed_nibbles:
            return self._file(buffer, data, nbytes, None)
        row = TensorDesc(data_type, (count,))
        members = contents(data, row, nbytes, Sidecar(""))
        if "fill" in members:
            if count >= UINT32:
                message = f"{quote(buffer.name)} has {count} elements, but valueCount is less than {UINT32}."
                raise DmlError(codes.TOO_LARGE_TO_WRITE.at(message, expected=f"less than {UINT32}", found=count))
            return {"value": _exact(members["fill"], data_type), "valueCount": count}
        values = members.get("values")
        if isinstance(values, list):
            return [_exact(item, data_type) for item in values]
        return self._file(buffer, data, nbytes, row)

    def _file(self, buffer: ResourceBuffer, data: Data, nbytes: int, row: TensorDesc | None) -> Json:
        """Adds a ``.npy`` file of a row of elements, or a file of raw bytes for types that numpy does not have."""
        suffix = _RAW if row is None else _ARRAY
        base = f"{self._stem}.{file_stem(buffer.name) or 'buffer'}"
        name = free_name(base, lambda stem: f"{stem}{suffix}".casefold() in self._reserved) + suffix
        self._reserved.add(name.casefold())
        file = Sidecar(name)
        if row is not None:
            head = npy_head(row.data_type.dtype, row.sizes)  # its length is a multiple of the alignment
            file.add(ArrayData(np.frombuffer(head, np.uint8)), len(head))
        file.add(data, nbytes)
        self._files[name] = file
        return {"sourcePath": name}

    def _row(self, buffer: ResourceBuffer) -> tuple[DataType, int]:
        """The data type of a resource, and the number of its elements without padding.

        Both are those of a command that prints the resource. Otherwise they are those of a tensor that covers the
        resource, so that a write needs no older contents, or of a row of bytes.
        """
        values = {buffer.initial, *buffer.versions}
        for effect in self._graph.effects:
            if effect.output.value in values and effect.kind == "print":
                desc = effect.output.desc
                return desc.data_type, desc.extent
        types = [effect.output.desc.data_type for effect in self._graph.effects if effect.output.value in values]
        rows = [in_memory(desc) for desc in self._views(values) if -(-desc.reach // 4) * 4 == buffer.nbytes]
        best = min(rows, key=lambda desc: desc.reach, default=None)
        if best is not None and buffer.data is not None and not is_zero(buffer.data, best.reach, buffer.nbytes):
            best = None  # it would lose contents
        if types and (best is None or best.data_type is not types[0]):
            nbytes = buffer.nbytes if best is None else best.reach
            count, rest = divmod(nbytes * 8, types[0].bits)
            if count and not rest:
                return types[0], count
        return (DataType.UINT8, buffer.nbytes) if best is None else (best.data_type, best.extent)

    def _views(self, values: Collection[Value | None]) -> Iterator[TensorDesc]:
        """The tensors that overwrite the values completely or, if there are none, those that read them."""
        whole = [
            desc
            for node in self._graph.nodes
            for name, _, write, desc in node.views_out()
            if write.value in values and not write.offset and desc.is_dense and kept(node, name, write, desc) is None
        ]
        yield from whole
        if not whole:
            for node in self._graph.nodes:
                yield from (desc for _, _, read, desc in node.views_in() if read.value in values and not read.offset)

    # --- Dispatchables and commands -----------------------------------------------------------------------------------

    def _dispatchable(self, node: Node) -> Json:
        desc = operator_json(node.operator)
        for name, index, _, _ in node.views_in():
            tensor = desc[name]
            tensor = tensor[index] if isinstance(tensor, list) else tensor
            assert isinstance(tensor, dict)
            tensor.pop("Flags", None)
            if (node, name) in self._owned:
                tensor["Flags"] = ["OWNED_BY_DML"]
        members: Json = {"type": node.operator.type, "desc": desc}
        bindings = dict(self._bindings(node, owned=True))
        return {**members, "bindings": bindings} if bindings else members

    def _bindings(self, node: Node, *, owned: bool) -> Iterator[tuple[str, object]]:
        """The bindings at initialization (``owned``) or at dispatch."""
        for name, reads in node.reads.items():
            if ((node, name) in self._owned) is owned and reads:
                yield name, self._sources(reads)
        for name, writes in () if owned else node.writes.items():
            if writes:
                yield name, self._sources(writes)

    def _sources(self, ends: tuple[Read, ...] | tuple[Write, ...]) -> object:
        sources = [self._source(end) for end in ends]
        return sources[0] if len(sources) == 1 else sources

    def _source(self, end: Read | Write) -> object:
        name = self._homes[end.value].name
        return {"name": name, "elementOffset": end.offset, "elementSizeInBytes": 1} if end.offset else name

    def _effect(self, effect: Effect) -> Json:
        resource = self._homes[effect.output.value].name
        return {"type": effect.kind, "resource": resource, **command(effect)}

    def _unprinted(self, resources: Collection[str]) -> list[str]:
        """The outputs that need a ``print`` command, because the front end would not detect them otherwise."""
        graph, homes = self._graph, self._homes
        outputs = [homes[item.value].name for item in graph.outputs]
        printed = {homes[effect.output.value].name for effect in graph.effects}
        if printed:
            return [name for name in outputs if name not in printed]
        written = {buffer.name: buffer.versions[-1] for buffer in self._plan.buffers if buffer.versions}
        read = {item.value for node in graph.nodes for _, _, item, _ in node.views_in()}
        detected = [name for name in resources if name in written and written[name] not in read]
        return [] if detected == outputs else outputs


def operator_json(operator: OperatorDesc) -> Json:
    """A structure for DxDispatch: without absent fields, and with non-finite numbers as members of the union."""
    members = fields(operator, whole=True)
    for item, value in operator.items():
        if value is None:
            del members[item.name]
        elif isinstance(value, OperatorDesc):
            members[item.name] = _activation(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], OperatorDesc):
            members[item.name] = [_activation(each) for each in value if isinstance(each, OperatorDesc)]
        elif isinstance(value, Scalar) and value.data_type.is_float:
            text = members[item.name]
            is_finite = math.isfinite(value.value)
            members[item.name] = _exact(text, value.data_type) if is_finite else _union(value, text)
    return members


def _exact(element: object, data_type: DataType) -> object:
    """A FLOAT16 with all of its digits, because DxDispatch truncates numbers where other tools round them."""
    if data_type is not DataType.FLOAT16 or not isinstance(element, float):
        return element
    return number(float(np.float16(element)), DataType.FLOAT64)


def _activation(operator: OperatorDesc) -> Json:
    tensors = {item.name for item in operator.schema.tensor_fields}
    attributes = {name: item for name, item in operator_json(operator).items() if name not in tensors}
    return {"Type": operator.type, "Desc": attributes} if attributes else {"Type": operator.type}


def _union(scalar: Scalar, text: object) -> Json:
    if scalar.data_type is DataType.FLOAT16:
        return {"UInt16": int.from_bytes(struct.pack("<e", scalar.value), "little")}
    return {_UNION_MEMBERS[scalar.data_type]: text}


def owned_constants(graph: Graph) -> set[tuple[Node, str]]:
    """The fields, with their nodes, whose tensors DirectML owns in the program, which makes their resources constants.

    These are the owned tensors of the graph, and for a constant without any, all readers that may be owned.
    """
    fields_of: dict[Value, list[tuple[Node, str]]] = {item.value: [] for item in graph.constants}
    owned: set[tuple[Node, str]] = set()
    for node in graph.nodes:
        for name, reads in node.reads.items():
            if reads and all(read.value in fields_of for read in reads):
                for read in reads:
                    fields_of[read.value].append((node, name))
                if all(desc.owned_by_dml for desc in node.operator.tensors(name)):
                    owned.add((node, name))
    for places in fields_of.values():
        if owned.isdisjoint(places):
            owned.update((node, name) for node, name in places if may_be_owned(node.operator.schema, name))
    return owned


def lost(graph: Graph) -> Iterator[str]:
    """Sentences about everything that a program changes or does not store; "the format dxdispatch" is the subject."""
    if graph.feature_level:
        yield f"does not store the feature level {graph.feature_level}"
    newer = [node.operator.type for node in graph.nodes if node.operator.schema.name in DXDISPATCH.newer]
    if newer:
        names = listing(list(dict.fromkeys(newer)))
        yield f"supports {names} only in newer versions than the released tool"
    empty = [quote(item.name) for item in graph.inputs if item.default is None]
    if empty:
        yield f"has no inputs without contents; zeros are written for {listing(empty)}"
    constants = {item.value for item in graph.constants}
    owned = owned_constants(graph)
    read_as = [
        quote(read.value.name)
        for node in graph.nodes
        for name, reads in node.reads.items()
        for read in reads
        if read.value in constants and (node, name) not in owned
    ]
    captured = {quote(read.value.name) for node, name in owned for read in node.reads[name]}
    others = list(dict.fromkeys(name for name in read_as if name not in captured))
    if others:
        yield f"has no constants that DirectML must not own; inputs with contents replace {listing(others)}"
    flagged = [
        quote(item.name) for item in graph.inputs if any(desc.owned_by_dml for desc in _readers(graph, item.value))
    ]
    if flagged:
        yield f"does not store OWNED_BY_DML of inputs whose contents are unknown at initialization: {listing(flagged)}"
    caches = [
        quote(write.value.name)
        for node in graph.nodes
        for name, _, write, _ in node.views_out()
        if node.operator.updates(name) and write.base is None
    ]
    if caches:
        yield f"has no caches without contents; inputs that contain zeros replace {listing(caches)}"
    bare = [replace(item, desc=None) for item in graph.inputs]
    plain = [
        quote(item.name)
        for item, seen in zip(graph.inputs, input_descs(bare, graph.nodes, graph.outputs), strict=True)
        if item.desc is not None and item.desc.packed() != seen.packed()
    ]
    if plain:
        yield f"does not store the descriptors of {listing(plain)}, which differ from those of the first readers"


def _readers(graph: Graph, value: Value) -> Iterator[TensorDesc]:
    for node in graph.nodes:
        yield from (desc for _, _, read, desc in node.views_in() if read.value is value)
