"""Converts DxDispatch commands, a straight-line program over byte buffers, to static single assignment form.

A dispatch reads the current versions of buffers and writes new ones; one that covers only a part of a buffer is based
on the old version. Version 0 holds the initial contents, and becomes an input or a constant of the graph if it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.contents import max_file_bytes
from dml2onnx.frontends.dx_dispatchables import (
    DISPATCHABLE,
    Bindings,
    BindPoint,
    BoundResource,
    Dispatchable,
    DispatchableReader,
)
from dml2onnx.frontends.dx_resources import Resource, UnusedResources
from dml2onnx.frontends.findings import Findings, instead, listing, pointer, quote, suggestion
from dml2onnx.frontends.members import UINT32, Json, Members, wrong_kind
from dml2onnx.frontends.unresolved import Unresolved
from dml2onnx.ir.graph import Constant, Effect, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc

_DISPATCH_MEMBERS = ("type", "dispatchable", "bindings", "threadGroupCount")
_PRINT_MEMBERS = ("type", "resource", "verbose")
_WRITE_MEMBERS = ("type", "resource", "targetPath", "dimensions")


@dataclass(slots=True)
class _Buffer:
    """The state of a resource."""

    resource: Resource
    initial: Value | None = None
    current: Value | None = None
    """The current version; ``None`` for an unused initial one."""
    whole: tuple[Read, ...] = ()
    """The read of the whole current version, shared by all readers."""
    version: int = 0
    owned: bool = False
    """Whether DirectML captures the initial contents."""
    was_input: bool = False
    """Whether a dispatch reads the initial contents."""
    is_read: bool = False
    """Whether a dispatch reads the current version."""
    written: TensorDesc | None = None
    """The tensor that was written last, if its descriptor is valid."""
    is_whole: bool = False
    """Whether that tensor covers the whole buffer."""


class SymbolicProgram:
    """Runs commands symbolically, and collects the parts of a graph in its attributes."""

    def __init__(
        self,
        resources: Mapping[str, Resource],
        dispatchables: Mapping[str, Dispatchable],
        bindings: Bindings,
        reader: DispatchableReader,
        findings: Findings,
    ) -> None:
        self._resources = resources
        self._dispatchables = dispatchables
        self._bindings = bindings
        self._reader = reader
        self._findings = findings
        self._buffers: dict[str, _Buffer] = {}
        self._names = set(dispatchables)
        self._runs: dict[str, int] = {}
        self._shown_names: dict[str, None] = {}
        self._commands: list[object] = []
        self.unresolved = Unresolved()
        self._owned_at_dispatch = False
        self._filled: dict[TensorDesc, int] = {}
        """Bits of dense tensors; -1 for others."""
        self.constants: dict[Value, Constant] = {}
        """Constants of dispatched graphs."""
        self.nodes: list[Node] = []
        self.effects: list[Effect] = []

    def run(self, commands: list[object]) -> None:
        self._commands = commands
        for index, raw in enumerate(commands):
            place = f"/commands/{index}"
            if type(raw) is not dict:
                wrong_kind(self._findings, "a command", "an object", raw, place)
                continue
            kind = raw.get("type")
            if kind == "dispatch":
                self._dispatch(raw, place)
                continue
            members = Members(raw, place, self._findings)
            name = members.text("type", required=True)
            match name.lower() if name is not None else None:
                case "dispatch":
                    self._dispatch(raw, place)
                case "print":
                    self._print(members)
                case "writefile":
                    self._write_file(members)
                case "printinittemporary" | "printexectemporary":
                    pass  # prints DirectML's temporary memory, or nothing if it needs none
                case None:
                    members.hint(("type",), "a command")
                case _:
                    self._unknown_command(str(name), members)

    def _unknown_command(self, name: str, members: Members) -> None:
        known = ("dispatch", "print", "writeFile")
        message = f"{quote(name)} is no command{self._findings.did_you_mean(name, known)}"
        place = members.at("type")
        remedies = instead(place, self._findings.closest(name, known))
        self._findings.report(
            codes.UNKNOWN_COMMAND, message, place, expected=listing(known), found=quote(name), remedies=remedies
        )

    # --- Buffers ------------------------------------------------------------------------------------------------------

    def _buffer(self, resource: Resource) -> _Buffer:
        buffer = self._buffers.get(resource.name)
        if buffer is None:
            buffer = self._buffers[resource.name] = _Buffer(resource)
        return buffer

    @staticmethod
    def _initial(buffer: _Buffer) -> Value:
        if buffer.initial is None:
            buffer.initial = Value(buffer.resource.name, buffer.resource.nbytes)
        return buffer.initial

    def _current(self, buffer: _Buffer) -> Value:
        if buffer.current is None:
            buffer.current = self._initial(buffer)
        return buffer.current

    def _reads(self, sources: tuple[BoundResource, ...]) -> tuple[Read, ...]:
        """Returns the reads of a tensor field from the current versions."""
        if len(sources) != 1:
            return tuple([self._reads((source,))[0] for source in sources])
        ((resource, offset, _),) = sources
        buffer = self._buffers.get(resource.name) or self._buffer(resource)
        buffer.is_read = True
        if not buffer.version:
            buffer.was_input = True
        if offset:
            return (Read(self._current(buffer), offset),)
        if not buffer.whole:
            buffer.whole = (Read(self._current(buffer)),)
        return buffer.whole

    def _reads_owned(self, sources: tuple[BoundResource, ...]) -> tuple[Read, ...]:
        """Returns the reads of a tensor field that DirectML owns, from the initial contents."""
        buffers = [self._buffers.get(source.resource.name) or self._buffer(source.resource) for source in sources]
        for buffer in buffers:
            buffer.owned = True
        return tuple(
            [Read(self._initial(buffer), source.offset) for buffer, source in zip(buffers, sources, strict=True)]
        )

    def _write(self, source: BoundResource, desc: TensorDesc | None, *, updates: bool = False) -> Write:
        """Makes a new version of a buffer, based on the old one unless the tensor overwrites all of it."""
        resource = source.resource
        buffer = self._buffers.get(resource.name) or self._buffer(resource)
        buffer.written = desc
        buffer.is_whole = desc is not None and self._covers(source, desc)
        base = None if buffer.is_whole and not updates else self._current(buffer)
        if updates and not buffer.version:
            buffer.was_input = True
        buffer.version += 1
        buffer.current = Value(f"{resource.name}#{buffer.version}", resource.nbytes)
        buffer.whole = ()
        buffer.is_read = False
        return Write(buffer.current, source.offset, base)

    def _covers(self, source: BoundResource, desc: TensorDesc) -> bool:
        """Whether a write overwrites all of the old contents, apart from padding."""
        nbytes, initial = source.resource.nbytes, source.resource.initial_bytes
        contents = nbytes if nbytes - initial >= 4 else initial
        filled = self._filled.get(desc)
        if filled is None:
            filled = self._filled[desc] = desc.data_type.bits * desc.extent if desc.is_dense else -1
        return source.offset == 0 and filled >= 8 * contents

    # --- Dispatches ---------------------------------------------------------------------------------------------------

    def _dispatch(self, raw: Json, place: str) -> None:
        name = raw.get("dispatchable")
        target = self._dispatchables.get(name) if type(name) is str else None
        bindings = raw.get("bindings")
        if target is None or type(bindings) is not dict or len(raw) != 3:
            members = Members(raw, place, self._findings)
            self._check_dispatch(members, target)
            if target is None or type(bindings) is not dict:
                return
        if target.operator is None and target.graph is None:
            for field, entry in bindings.items():
                self._bindings.sources(entry, place + pointer("bindings", field))
            return
        reads: dict[str, tuple[Read, ...]] = {}
        writes: dict[str, tuple[Write, ...]] = {}
        outputs: list[tuple[BindPoint, tuple[BoundResource, ...]]] = []
        used = 0
        for port in target.ports:
            field = port.field
            entry = bindings.get(field)
            if entry is None and field not in bindings:
                if port.is_owned_single and (sources := target.owned.get(field)):
                    reads[field] = self._reads_owned(sources)
                elif port.descs:
                    self._unbound(target, port, place, reads, writes)
                continue
            used += 1
            sources = self._bindings.whole(entry) if port.is_single else None
            if sources is None:
                sources = self._bound(target, port, entry, f"{place}/bindings/{field}")
            if sources is None:
                self._bind_placeholder(port, reads, writes)
            elif port.is_output:
                outputs.append((port, sources))
            else:
                reads[field] = self._reads_owned(sources) if port.owned else self._reads(sources)
        if used < len(bindings) or target.graph is not None:  # an input and an output of a graph may have one name
            self._check_others(target, bindings, place)
        if target.operator is None:
            self._inline(target, reads, outputs)
            return
        for port, sources in outputs:
            if port.descs is None:
                self.unresolved.add([self._write(source, None).value for source in sources])
            elif port.is_single:
                writes[port.field] = (self._write(sources[0], port.descs[0], updates=port.updates),)
            else:
                pairs = zip(sources, port.descs, strict=True)
                writes[port.field] = tuple([self._write(*pair, updates=port.updates) for pair in pairs])
        self.nodes.append(Node(self._node_name(target.name), target.operator, reads, writes, target.place))

    def _dispatchable_of(self, name: str) -> tuple[str, ...]:
        """Returns the only dispatchable of the operator with this name, if any."""
        operators = ((key, target.operator) for key, target in self._dispatchables.items())
        found = [key for key, desc in operators if desc is not None and name in (desc.schema.name, desc.type)]
        return tuple(found) if len(found) == 1 else ()

    def _check_dispatch(self, members: Members, target: Dispatchable | None) -> None:
        members.hint(_DISPATCH_MEMBERS, "a dispatch")
        name = members.text("dispatchable", required=True)
        if name is not None and target is None:
            close = self._findings.closest(name, self._dispatchables) or self._dispatchable_of(name)
            message = f"there is no dispatchable {quote(name)}{suggestion(close)}"
            place = members.at("dispatchable")
            remedies = instead(place, close) if self._findings.is_likely_typo(name, self._dispatchables) else ()
            finding = codes.UNKNOWN_DISPATCHABLE.at(
                message, pointer=place, expected="a member of dispatchables", found=quote(name), remedies=remedies
            )
            self._findings.report_unknown(DISPATCHABLE, name, finding)
        members.mapping("bindings", required=True)
        if "threadGroupCount" in members.raw:
            counts = members.raw["threadGroupCount"]
            if (
                not isinstance(counts, list)
                or len(counts) != 3
                or not all(type(count) is int and 0 <= count < UINT32 for count in counts)
            ):
                place = members.at("threadGroupCount")
                wrong_kind(self._findings, "threadGroupCount", "an array of 3 whole numbers", counts, place)

    def _unbound(
        self,
        target: Dispatchable,
        port: BindPoint,
        place: str,
        reads: dict[str, tuple[Read, ...]],
        writes: dict[str, tuple[Write, ...]],
    ) -> None:
        """Handles a tensor without a binding, which is an error unless DirectML owns it."""
        assert port.descs
        if port.owned and not port.is_output:
            sources = target.owned.get(port.field)
            if sources is None:
                message = f"{port.field} is owned by DirectML, but the dispatchable's bindings do not name it"
                where = pointer("dispatchables", target.name, "bindings", port.field)
                self._reader.report(target, codes.OWNED_NOT_BOUND, message, where, port.field, "a resource in bindings")
            if not sources:
                reads[port.field] = self.unresolved.reads(port.descs)
            else:
                reads[port.field] = self._reads_owned(sources)
            return
        if port.field in target.owned:  # the binding at initialization has been refused
            self._bind_placeholder(port, reads, writes)
            return
        message = f"nothing is bound to {port.field}"
        code = codes.UNCONNECTED_TENSOR
        where = place + pointer("bindings", port.field)
        remedies = self._unused_resources.as_binding(where, port.descs)
        self._reader.report(target, code, message, where, port.field, "a resource", remedies=remedies)
        self._bind_placeholder(port, reads, writes)

    @cached_property
    def _unused_resources(self) -> UnusedResources:
        owned = [sources for other in self._dispatchables.values() for sources in other.owned.values()]
        return UnusedResources(self._resources, owned, self._commands)

    def _bind_placeholder(
        self, port: BindPoint, reads: dict[str, tuple[Read, ...]], writes: dict[str, tuple[Write, ...]]
    ) -> None:
        """Makes placeholder values for a bind point whose binding is invalid, which has been reported."""
        if not port.descs:
            return
        if port.is_output:
            writes[port.field] = tuple([Write(Value(port.field, desc.total_bytes)) for desc in port.descs])
        else:
            reads[port.field] = self.unresolved.reads(port.descs)

    def _bound(
        self, target: Dispatchable, port: BindPoint, entry: object, place: str
    ) -> tuple[BoundResource, ...] | None:
        """Reads the sources of a binding; returns ``None`` if they cannot be used."""
        sources = self._bindings.sources(entry, place)
        if port.descs == ():
            self._reader.report_ignored(target, port.field, place, ())
            return None
        if port.owned and not port.is_output:
            if port.field in target.owned:
                message = f"{port.field} is owned by DirectML and bound already: a dispatch must not bind it"
                self._reader.report(target, codes.OWNED_BOUND_TWICE, message, place, port.field, "no binding here")
                return None
            if not self._owned_at_dispatch:
                self._owned_at_dispatch = True  # reported once, since models with this mistake repeat it
                message = f"{port.field} is owned by DirectML: what a dispatch binds to it are its contents"
                expected = "a binding of the dispatchable"
                self._reader.report(target, codes.OWNED_BOUND_AT_DISPATCH, message, place, port.field, expected)
        if sources is None:
            return None
        if port.descs is None:
            return sources if port.is_output else None
        if target.graph is not None:
            count_matches = self._reader.count_matches(target, port, len(sources), place)
            return sources if count_matches and self._reader.can_bind_graph(target, port, sources[0], place) else None
        self._reader.warn_element_count(target, port, sources, place)
        return sources if self._reader.count_matches(target, port, len(sources), place) else None

    def _inline(
        self,
        target: Dispatchable,
        reads: dict[str, tuple[Read, ...]],
        outputs: list[tuple[BindPoint, tuple[BoundResource, ...]]],
    ) -> None:
        """Inlines the nodes of a graph, connected to the bindings of its inputs and outputs.

        Outputs make new versions of their buffers in node order; of two that share a buffer, the later is based on the
        earlier.
        """
        graph = target.graph
        assert graph is not None
        name = self._node_name(target.name)
        values = {item.value: item.value for item in graph.constants}
        self.constants.update({item.value: item for item in graph.constants})
        self.unresolved.add(graph.unresolved)
        for item in graph.inputs:
            bound = reads.get(item.name)
            values[item.value] = bound[0].value if bound else self.unresolved.value(item.name)
        sources = {port.field: bound[0] for port, bound in outputs}
        results = {item.value: sources[item.name] for item in graph.outputs if item.name in sources}
        for node in graph.nodes:
            inner_reads = {
                field: tuple([Read(values.get(read.value, read.value)) for read in items])
                for field, items in node.reads.items()
            }
            writes: dict[str, list[Write]] = {}
            for field, _, write, desc in node.views_out():
                source = results.get(write.value)
                if source is None:
                    write_here = Write(Value(f"{name}.{write.value.name}", write.value.nbytes))
                else:
                    write_here = self._write(source, desc, updates=node.operator.updates(field))
                values[write.value] = write_here.value
                writes.setdefault(field, []).append(write_here)
            inner_writes = {field: tuple(items) for field, items in writes.items()}
            unique = self._inner_name(f"{name}.{node.name}")
            self.nodes.append(Node(unique, node.operator, inner_reads, inner_writes, node.source))

    def _inner_name(self, name: str) -> str:
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name

    def _check_others(self, target: Dispatchable, bindings: Json, place: str) -> None:
        for field, entry in bindings.items():
            if field not in target.by_field and not (target.graph and target.graph.unresolved):
                where = place + pointer("bindings", field)
                self._bindings.sources(entry, where)
                self._reader.report_ignored(target, field, where, bindings)

    def _node_name(self, name: str) -> str:
        if name not in self._runs:
            self._runs[name] = 1
            return name
        run = self._runs[name] = self._runs[name] + 1
        return self._inner_name(f"{name}#{run}")

    # --- Effects ------------------------------------------------------------------------------------------------------

    def _read_resource(self, members: Members) -> Resource | None:
        name = members.text("resource", required=True)
        resource = None if name is None else self._bindings.resource(name, members.at("resource"))
        if resource is not None:
            self._shown_names.setdefault(resource.name)
        return resource

    def _print(self, members: Members) -> None:
        members.hint(_PRINT_MEMBERS, "print")
        verbose = members.flag("verbose")
        resource = self._read_resource(members)
        if resource is None:
            return
        value = self._current(self._buffer(resource))
        if resource.data_type is None:
            self._report_untyped(members, resource, "printed")
            return
        desc = _flat(resource, resource.initial_bytes, in_elements=True)
        self.effects.append(Effect("print", GraphOutput(resource.name, value, desc), verbose=verbose))

    def _report_untyped(self, members: Members, resource: Resource, how: str) -> None:
        if resource.data is not None:
            message = f"{quote(resource.name)} has no data type and cannot be {how}"
            self._findings.report(codes.UNPRINTABLE, message, members.at("resource"), expected="initialValuesDataType")

    def _write_file(self, members: Members) -> None:
        members.hint(_WRITE_MEMBERS, "writeFile")
        target = members.text("targetPath", required=True)
        dimensions = members.dimensions()
        resource = self._read_resource(members)
        if resource is None or target is None:
            return
        value = self._current(self._buffer(resource))
        suffix = PurePosixPath(target.replace("\\", "/")).suffix.lower()
        in_elements = suffix in (".npy", ".png", ".jpg")
        if in_elements:
            if resource.data_type is None:
                self._report_untyped(members, resource, f"written to a {suffix} file")
                return
            if not _dimensions_fit(resource, dimensions, is_image=suffix != ".npy"):
                self._report_dimensions(members, resource, dimensions, suffix)
                return
        desc = _flat(resource, resource.nbytes, in_elements=in_elements)
        output = GraphOutput(resource.name, value, desc)
        self.effects.append(Effect("writeFile", output, target, dimensions))

    def _report_dimensions(
        self, members: Members, resource: Resource, dimensions: tuple[int, ...], suffix: str
    ) -> None:
        if suffix != ".npy" and not _is_image(dimensions):
            message = f"a {suffix} file has dimensions N, C, H and W, with N = 1 and C of 1, 3 or 4"
            expected = "[1, C, H, W] with C of 1, 3 or 4"
        else:
            assert resource.data_type is not None
            size = f"{resource.nbytes} bytes of {quote(resource.name)}"
            message = f"the dimensions do not fit the {size}"
            expected = f"1 to {resource.nbytes * 8 // resource.data_type.bits} elements of {resource.data_type.name}"
        found = "[" + ", ".join([*map(str, dimensions[:8]), *(["..."] if len(dimensions) > 8 else [])]) + "]"
        place = members.at("dimensions")
        self._findings.report(codes.DIMENSIONS_DIFFER, message, place, expected=expected, found=found)

    # --- Parts of the graph -------------------------------------------------------------------------------------------

    def initial_values(self) -> tuple[tuple[GraphInput, ...], tuple[Constant, ...]]:
        """Returns the initial contents that are used: inputs, in the order of the resources, and constants."""
        inputs: list[GraphInput] = []
        constants: list[Constant] = []
        for resource in self._resources.values():
            buffer = self._buffers.get(resource.name)
            if buffer is None or buffer.initial is None:
                continue
            if resource.data is None:
                self.unresolved.add([buffer.initial])
            elif buffer.was_input and not buffer.owned:
                place = pointer("resources", resource.name)
                inputs.append(GraphInput(resource.name, buffer.initial, resource.data, None, place))
            else:
                constants.append(Constant(buffer.initial, resource.data))
        return tuple(inputs), (*constants, *self.constants.values())

    def compare_files(self) -> None:
        """Reports files of which tensors read only the beginning, unless they are printed or partly overwritten."""
        files = {
            buffer.initial: buffer.resource
            for buffer in self._buffers.values()
            if buffer.initial is not None and buffer.resource.file
        }
        ends = dict.fromkeys(files, 0)
        longest: dict[TensorDesc, int] = {}
        for effect in self.effects:
            files.pop(effect.output.value, None)
        for node in self.nodes if files else ():
            if ends.keys().isdisjoint(node.sources):
                continue
            for field, reads in node.reads.items():
                for index, read in enumerate(reads):
                    if read.value in ends:
                        desc = node.operator.tensors(field)[index]
                        if desc not in longest:
                            longest[desc] = max_file_bytes(desc)
                        ends[read.value] = max(ends[read.value], read.offset + longest[desc])
            for writes in node.writes.values():
                for write in writes:
                    if write.base is not None:
                        files.pop(write.base, None)
        for value, resource in files.items():
            if ends[value] < resource.initial_bytes:
                size, most = resource.initial_bytes, ends[value]
                message = f"{quote(resource.file)} has {size} bytes, but no tensor reads more than {most}"
                place = pointer("resources", resource.name, "initialValues", "sourcePath")
                expected, found = f"{most} bytes", f"{size} bytes"
                self._findings.report(codes.FILE_PARTLY_READ, message, place, expected=expected, found=found)

    def results(self) -> tuple[GraphOutput, ...]:
        """Returns the final contents of every buffer that was written, in the order of the resources."""
        written = [self._buffers[name] for name in self._resources if name in self._buffers]
        return tuple([_result(buffer) for buffer in written if buffer.version])

    def outputs(self) -> tuple[GraphOutput, ...]:
        """Returns the results that commands show, in order; if there are none, those that nothing reads."""
        shown = [self._buffers[name] for name in self._shown_names if name in self._buffers]
        written = [buffer for buffer in shown if buffer.version]
        if not written:
            buffers = (self._buffers[name] for name in self._resources if name in self._buffers)
            written = [buffer for buffer in buffers if buffer.version and not buffer.is_read]
        return tuple([_result(buffer) for buffer in written])


def _flat(resource: Resource, nbytes: int, *, in_elements: bool = False) -> TensorDesc:
    """Returns a 1-D view of a buffer in the resource's data type, or in bytes if it has none or does not divide the
    size; ``in_elements`` allows a remainder.
    """
    return _row(resource.data_type, nbytes, in_elements=in_elements) or TensorDesc(DataType.UINT8, (nbytes,))


def _row(data_type: DataType | None, nbytes: int, *, in_elements: bool = False) -> TensorDesc | None:
    count, rest = divmod(nbytes * 8, data_type.bits) if data_type else (0, 0)
    return TensorDesc(data_type, (count,)) if data_type and count and (in_elements or not rest) else None


def _result(buffer: _Buffer) -> GraphOutput:
    """Returns the whole buffer as the tensor written last, if that covers it, else as a 1-D tensor."""
    assert buffer.current is not None
    resource, desc = buffer.resource, buffer.written
    if desc is None or not buffer.is_whole:
        desc = (_row(desc.data_type, resource.nbytes) if desc else None) or _flat(resource, resource.nbytes)
    return GraphOutput(resource.name, buffer.current, desc)


def _is_image(dimensions: tuple[int, ...]) -> bool:
    return len(dimensions) == 4 and dimensions[0] == 1 and dimensions[1] in (1, 3, 4)


def _dimensions_fit(resource: Resource, dimensions: tuple[int, ...], *, is_image: bool) -> bool:
    if is_image and not _is_image(dimensions):
        return False
    if not dimensions:
        return True
    elements = 1
    for size in dimensions:
        elements *= size
        if elements > 8 * resource.nbytes:
            return False
    assert resource.data_type is not None
    return 0 < resource.data_type.bytes_for(elements) <= resource.nbytes
