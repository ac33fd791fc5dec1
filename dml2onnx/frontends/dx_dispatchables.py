"""Reads DxDispatch dispatchables: operators or graphs, with the bindings of the tensors that DirectML owns."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Never

from dml2onnx.catalog import FieldKind, FieldSchema, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import OUT_OF_BOUNDS
from dml2onnx.diagnostics import Code, Diagnostic, Place, Remedy
from dml2onnx.frontends.descriptors import DescriptorReader, DescriptorReading
from dml2onnx.frontends.dialects import DXDISPATCH, enumerators
from dml2onnx.frontends.dx_graphs import read_graph
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import (
    FindingDetails,
    Findings,
    escape,
    instead,
    listing,
    pointer,
    quote,
    show,
    suggestion,
)
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.problems import (
    OperatorForm,
    missing_fields,
    operator_form,
    other_operator,
    report,
    unknown_operator,
)
from dml2onnx.frontends.tensors import unknown_enumerator
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.dx_resources import Resource

MEMBERS = ("type", "Type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings")
_SIMPLE_MEMBERS = frozenset({"type", "desc", "bindings"})
SOURCE_MEMBERS = (
    "name",
    "elementOffset",
    "elementSizeInBytes",
    "elementCount",
    "format",
    "shape",
    "counter",
    "counterOffsetBytes",
)
RESOURCE, DISPATCHABLE = "resource", "dispatchable"
"""Kinds of names: unknown ones are not reported if the section that defines them could not be read."""
_UNSUPPORTED = {"hlsl": "a shader", "onnx": "an ONNX model"}
_SERIALIZED_GRAPH = "dmlserializedgraph"


class BoundResource(NamedTuple):
    """A resource that is bound from a byte offset on."""

    resource: Resource
    offset: int
    stated_bytes: int = 0
    """The size of ``elementCount`` elements, which DirectML operators ignore; 0 if it is missing."""


class BindPoint(NamedTuple):
    """A bind point: a tensor field of the operator, or an input or output of the graph."""

    field: str
    is_output: bool
    descs: tuple[TensorDesc, ...] | None
    """The descriptors, empty if the tensor is absent; ``None`` if they could not be read."""
    owned: bool
    """Whether DirectML owns the tensor, which is then bound at initialization."""
    is_single: bool = False
    """Whether each dispatch binds one resource."""
    is_owned_single: bool = False
    """Whether the initialization binds one resource."""
    updates: bool = False
    """Whether the operator updates a part of this output in place."""


_EMPTY: Mapping[str, Never] = MappingProxyType({})


class Dispatchable(NamedTuple):
    """An operator or a graph; neither if it could not be read, which has been reported."""

    name: str
    place: str
    operator: OperatorDesc | None = None
    ports: tuple[BindPoint, ...] = ()
    by_field: Mapping[str, BindPoint] = _EMPTY
    owned_ports: tuple[BindPoint, ...] = ()
    owned: Mapping[str, tuple[BoundResource, ...]] = _EMPTY
    """Bindings at initialization; empty for an invalid binding, which has been reported."""
    graph: Graph | None = None
    """The graph, whose inputs and outputs are the ports."""


class Bindings:
    """Reads the bindings of bind points."""

    def __init__(self, resources: Mapping[str, Resource], findings: Findings) -> None:
        self._resources = resources
        self._findings = findings
        self.whole_by_name = {name: (BoundResource(resource, 0),) for name, resource in resources.items()}
        """The binding of each whole resource."""

    def sources(self, raw: object, place: str) -> tuple[BoundResource, ...] | None:
        """Reads the sources of one bind point; returns ``None``, with findings, if one is invalid."""
        known = self.whole(raw)
        if known is not None:
            return known
        items = raw if type(raw) is list else [raw]
        sources: list[BoundResource] = []
        for index, item in enumerate(items):
            source = self._source(item, f"{place}/{index}" if items is raw else place)
            if source is not None:
                sources.append(source)
        return tuple(sources) if len(sources) == len(items) else None

    def whole(self, raw: object) -> tuple[BoundResource, ...] | None:
        """Returns the source of a bind point that is the name of a resource, or an array of one name."""
        if type(raw) is list and len(raw) == 1:
            (raw,) = raw
        return self.whole_by_name.get(raw) if type(raw) is str else None

    def resource(self, name: str, place: str) -> Resource | None:
        resource = self._resources.get(name)
        if resource is None:
            message = f"there is no resource {quote(name)}{self._findings.did_you_mean(name, self._resources)}"
            expected = listing([quote(other) for other in self._resources]) or "a member of resources"
            remedies = instead(place, self._findings.closest(name, self._resources))
            finding = codes.UNKNOWN_RESOURCE.at(
                message, pointer=place, expected=expected, found=quote(name), remedies=remedies
            )
            self._findings.report_unknown(RESOURCE, name, finding)
        return resource

    def _source(self, raw: object, place: str) -> BoundResource | None:
        if type(raw) is str:
            resource = self.resource(raw, place)
            return None if resource is None else BoundResource(resource, 0)
        if type(raw) is not dict:
            wrong_kind(self._findings, "a binding", "the name of a resource, or an object", raw, place)
            return None
        members = Members(raw, place, self._findings)
        members.hint((*SOURCE_MEMBERS, "elementSize"), "a binding", typos=True)
        name = members.text("name", required=True)
        offset, element_size = members.uint("elementOffset"), members.uint("elementSizeInBytes")
        count = members.uint("elementCount")
        members.uint("counterOffsetBytes")
        members.text("format")
        members.array("shape")
        counter = members.text("counter")
        if counter is not None:
            self.resource(counter, members.at("counter"))
        resource = self.resource(name, members.at("name")) if name is not None else None
        if resource is None:
            return None
        elements, size = offset or 0, element_size or resource.element_size
        if elements and not size:
            message = f"elementOffset is {elements}, but elements of {quote(resource.name)} have no size"
            self._findings.report(
                codes.OFFSET_WITHOUT_SIZE, message, members.at("elementOffset"), expected="elementSizeInBytes"
            )
        if count and elements and resource.nbytes < (elements + count) * size:
            self._report_out_of_bounds(members, resource, elements * size, (elements + count) * size)
            elements = 0
        return BoundResource(resource, elements * size, (count or 0) * size)

    def _report_out_of_bounds(self, members: Members, resource: Resource, first: int, last: int) -> None:
        """Reports a region that ends beyond its buffer."""
        message = f"elementOffset is {first} bytes; the region is bytes {first} to {last} of {quote(resource.name)}"
        present = f"{resource.nbytes} bytes"
        place = Place(pointer("resources", resource.name), f"it has {present}")
        message, offset = f"{message}, which has {resource.nbytes}", members.at("elementOffset")
        expected = f"{last} bytes or more"
        self._findings.report(OUT_OF_BOUNDS, message, offset, expected=expected, found=present, places=(place,))


class DispatchableReader:
    """Reads the dispatchables of one model."""

    def __init__(self, bindings: Bindings, files: ModelFiles, findings: Findings) -> None:
        self._bindings = bindings
        self._files = files
        self._findings = findings
        self._descriptors = DescriptorReader(DXDISPATCH)
        self._known: dict[object, tuple[str, Dispatchable]] = {}
        """Valid operators without their bindings, and the paths of their fields, by the content of the dispatchable."""

    def read(self, name: str, raw: object, place: str) -> Dispatchable:
        if type(raw) is not dict:
            wrong_kind(self._findings, quote(name), "an object", raw, place, name)
            return Dispatchable(name, place)
        kind, fields = raw.get("type"), raw.get("desc")
        is_simple = type(kind) is str and type(fields) is dict and _SIMPLE_MEMBERS.issuperset(raw)
        try:
            content = fields if is_simple else {member: value for member, value in raw.items() if member != "bindings"}
            key = (kind if is_simple else None, marshal.dumps(content, 2))
        except ValueError:  # nested too deep, which is reported below
            key = None
        known = self._known.get(key) if key else None
        if known is None:
            before = len(self._findings)
            read = self._descriptors.read if key else self._descriptors.operator
            parsed = self._read_simple(name, raw, place, read) if is_simple else None
            parsed = parsed or self._read(name, raw, place, read)
            if parsed.operator is None:
                return parsed
            path = parsed.place[len(place) :]
            if key and len(self._findings) == before:
                self._known[key] = path, parsed
        else:
            path, parsed = known
        owned: dict[str, tuple[BoundResource, ...]] = {}
        target = Dispatchable(
            name, place + path, parsed.operator, parsed.ports, parsed.by_field, parsed.owned_ports, owned
        )
        self._bind_owned(target, owned, raw, place)
        return target

    def _read_simple(
        self, name: str, raw: Json, place: str, read: Callable[..., DescriptorReading]
    ) -> Dispatchable | None:
        """Fast path of :meth:`_read` for a ``desc`` with fields of the operator only; ``None`` for others."""
        schema, fields = self._descriptors.schema(raw["type"]), raw["desc"]
        assert type(fields) is dict
        if schema is None or schema.name in DXDISPATCH.newer or not schema.index.keys() >= fields.keys():
            return None
        return self._build(name, f"{place}/desc", *read(schema, fields))

    def _read(self, name: str, raw: Json, place: str, read: Callable[..., DescriptorReading]) -> Dispatchable:
        """Reads a dispatchable without its bindings."""
        members = Members(raw, place, self._findings, name)
        kind = members.text("type", required=True)
        if kind is not None and kind.lower() in _UNSUPPORTED:
            message = f"{quote(name)} is {_UNSUPPORTED[kind.lower()]}, not a DirectML operator"
            remedies = (Remedy("without it and its dispatches; what it writes is an input of the model then"),)
            details: FindingDetails = {"expected": "an operator", "found": kind, "remedies": remedies}
            code = codes.UNSUPPORTED_DISPATCHABLE
            self._findings.report(code, message, members.at("type"), node=name, **details)
            return Dispatchable(name, place)
        self._read_flags(members)
        if kind is not None and kind.lower() == _SERIALIZED_GRAPH:
            return self._read_graph(name, members)
        self._read_execution(members)
        form = operator_form(members.raw)
        if kind is None and "Type" not in members.raw:
            return Dispatchable(name, place)
        schema = self._descriptors.schema(form.type)
        if schema is None:
            report(self._findings, [unknown_operator(form)], place, node=name)
            return Dispatchable(name, place)
        if schema.name in DXDISPATCH.newer:
            message = f"the released DxDispatch does not support {schema.short_name}"
            type_place = place + pointer(*form.type_path)
            newer = codes.NEWER_THAN_DXDISPATCH
            self._findings.add(newer.at(message, pointer=type_place, node=name, operator=schema.short_name))
        return self._read_operator(name, members, form, schema, read)

    def _read_execution(self, members: Members) -> None:
        compile_type = members.text("dmlCompileType", "DmlCompileOp")
        if compile_type not in ("DmlCompileOp", "DmlCompileGraph", None):
            expected = "DmlCompileOp or DmlCompileGraph"
            wrong_kind(
                self._findings, "dmlCompileType", expected, compile_type, members.at("dmlCompileType"), members.node
            )
        if "Desc" not in members.raw and "desc" not in members.raw:
            if compile_type == "DmlCompileGraph":
                message = "DmlCompileGraph requires the fields in desc"
                self._findings.report(codes.COLLAPSED_GRAPH, message, members.place, expected="desc", node=members.node)
        else:
            members.hint(MEMBERS, "a dispatchable")

    def _read_flags(self, members: Members) -> None:
        if "executionFlags" in members.raw:
            raw = members.raw["executionFlags"]
            table = enumerators("DML_EXECUTION_FLAGS", False)
            names = list(dict.fromkeys(table.values()))
            items = raw if isinstance(raw, list) else [raw]
            for index, item in enumerate(items):
                if not isinstance(item, str) or item not in table:
                    path = ("executionFlags", index) if items is raw else ("executionFlags",)
                    problem = unknown_enumerator(item, names, "execution flag", *path)
                    report(self._findings, [problem], members.place, node=members.node)

    def _read_graph(self, name: str, members: Members) -> Dispatchable:
        """Reads a serialized graph. Bindings at its initialization must exist, but have no effect."""
        graph = read_graph(members, self._files, self._findings)
        for field_name, entry in (members.mapping("bindings") or {}).items():
            place = members.at("bindings", field_name)
            self._bindings.sources(entry, place)
            message = f"{quote(field_name)} is bound at initialization, which a dmlSerializedGraph does not need"
            self._findings.report(codes.IGNORED_BINDING, message, place, found=quote(field_name), node=name)
        if graph is None:
            return Dispatchable(name, members.place)
        ports = [
            *(BindPoint(item.name, False, None if item.desc is None else (item.desc,), False) for item in graph.inputs),
            *(BindPoint(item.name, True, (item.desc,), False) for item in graph.outputs),
        ]
        by_field = {port.field: port for port in ports}
        return Dispatchable(name, members.place, None, tuple(ports), by_field, graph=graph)

    def _read_operator(
        self,
        name: str,
        members: Members,
        form: OperatorForm,
        schema: OperatorSchema,
        read: Callable[..., DescriptorReading],
    ) -> Dispatchable:
        place = members.place + pointer(*form.fields_path)
        wrong = missing_fields(form, schema)
        if wrong is None and type(form.fields) is dict and not schema.index.keys() >= form.fields.keys():
            wrong = other_operator(schema, form.fields.keys() - set(MEMBERS), *form.type_path)
        if wrong is not None:
            report(self._findings, [wrong], members.place, node=name, schema=schema)
            return Dispatchable(name, place)
        if type(form.fields) is not dict:
            what = str(form.fields_path[0]) if form.fields_path else "the dispatchable"
            wrong_kind(self._findings, what, "an object with the fields of the operator", form.fields, place, name)
            return Dispatchable(name, place)
        fields: Json = form.fields
        extra = MEMBERS if not form.fields_path else ()
        return self._build(name, place, *read(schema, fields, extra=extra))

    def _build(self, name: str, place: str, operator: OperatorDesc, problems: tuple[Diagnostic, ...]) -> Dispatchable:
        schema = operator.schema
        if problems:
            report(self._findings, problems, place, node=name, schema=schema)
        ports = tuple([_port(operator, item) for item in schema.tensor_fields])
        by_field, owned = {port.field: port for port in ports}, tuple([port for port in ports if port.owned])
        return Dispatchable(name, place, operator, ports, by_field, owned)

    def _bind_owned(
        self, target: Dispatchable, owned: dict[str, tuple[BoundResource, ...]], dispatchable: Json, place: str
    ) -> None:
        """Reads the bindings at initialization, which must be the tensors that DirectML owns."""
        raw = dispatchable.get("bindings")
        if not raw and (type(raw) is dict or "bindings" not in dispatchable) and not target.owned_ports:
            return
        section = f"{place}/bindings"
        if type(raw) is not dict:
            if "bindings" in dispatchable:
                owned.update(dict.fromkeys(self._report_bindings_kind(target, raw, section), ()))
            raw = {}
        for field_name, entry in raw.items():
            port = target.by_field.get(field_name)
            sources = self._bindings.whole(entry)
            if sources is not None and port is not None and port.is_owned_single:  # the usual case, without checks
                owned[field_name] = sources
                continue
            place = f"{section}/{escape(field_name)}"
            sources = sources or self._bindings.sources(entry, place)
            if port is None or port.is_output or port.descs == ():
                self.report_ignored(target, field_name, place, raw)
            elif port.descs is not None and not port.owned:
                message = f"{field_name} is bound at initialization, but is not owned by DirectML"
                self.report(target, codes.BOUND_AT_INITIALIZATION, message, place, field_name, "the flag OWNED_BY_DML")
                owned[field_name] = ()
            else:
                fits = sources is not None and self.count_matches(target, port, len(sources), place)
                self.warn_element_count(target, port, sources or (), place)
                owned[field_name] = sources if sources is not None and fits else ()
        for port in target.owned_ports:
            if not all(desc.owned_by_dml for desc in port.descs or ()):
                message = f"DirectML owns some tensors of {port.field} and not others, and they are bound together"
                place = f"{target.place}/{port.field}"
                self.report(
                    target, codes.BOUND_AT_INITIALIZATION, message, place, port.field, "the flag on all or none"
                )

    def _report_bindings_kind(self, target: Dispatchable, raw: object, place: str) -> list[str]:
        """Reports bindings that are not an object, and returns the owned fields that lack one."""
        needed = [port.field for port in target.owned_ports if not port.is_output]
        code, ignored = (codes.WRONG_KIND, "") if needed else (codes.IGNORED_KEY, ", and it is ignored")
        message = f"bindings is {show(raw)}, not an object{ignored}"
        self._findings.report(code, message, place, expected="an object", node=target.name)
        return needed

    # --- Checks shared with dispatches --------------------------------------------------------------------------------

    def can_bind_graph(self, target: Dispatchable, port: BindPoint, source: BoundResource, place: str) -> bool:
        """Whether a graph can be bound to a resource: from its start, with enough bytes for the tensor."""
        if source.offset:
            message = f"{quote(port.field)} is bound from byte {source.offset} on"
            self.report(target, codes.GRAPH_BOUND_WITH_OFFSET, message, place, port.field, "byte 0", str(source.offset))
            return False
        resource = source.resource
        if resource.data is None:
            return True
        bound = source.stated_bytes or (resource.initial_bytes if resource.element_size else resource.nbytes)
        bound = -(-bound // 4) * 4
        needed = max((desc.total_bytes for desc in port.descs or ()), default=0)
        if bound < needed:
            message = f"{quote(port.field)} has {needed} bytes, and is bound to {bound} of {quote(resource.name)}"
            expected, found = f"{needed} bytes or more", f"{bound} bytes"
            self.report(target, codes.GRAPH_BOUND_BYTES, message, place, port.field, expected, found)
            return False
        return True

    def count_matches(self, target: Dispatchable, port: BindPoint, count: int, place: str) -> bool:
        """Whether the number of bound resources matches the number of tensors."""
        if port.descs is None:
            return False
        if len(port.descs) == count:
            return True
        message = f"{port.field} takes {len(port.descs)} resources, and {count} are bound"
        self.report(target, codes.CONNECTION_COUNT, message, place, port.field, str(len(port.descs)), str(count))
        return False

    def warn_element_count(
        self, target: Dispatchable, port: BindPoint, sources: tuple[BoundResource, ...], place: str
    ) -> None:
        """Warns about an ``elementCount`` that is smaller than the tensor, which is bound nevertheless."""
        if not any(source.stated_bytes for source in sources):
            return
        for source, desc in zip(sources, port.descs or (), strict=False):
            if 0 < source.stated_bytes < desc.data_type.bytes_for(desc.extent):
                stated_bytes, needed = f"{source.stated_bytes} bytes", f"{desc.data_type.bytes_for(desc.extent)} bytes"
                message = (
                    f"elementCount means {stated_bytes}, but {port.field} covers {needed}; elementCount is ignored"
                )
                self.report(
                    target, codes.ELEMENT_COUNT_IGNORED, message, place, port.field, f"{needed} or more", stated_bytes
                )

    def report_ignored(self, target: Dispatchable, field_name: str, place: str, bound: Collection[str]) -> None:
        """Warns about a binding without effect; ``bound`` are the names of all bindings."""
        known = [port.field for port in target.ports]
        port = target.by_field.get(field_name)
        if port is None:
            is_owned = place.startswith("/dispatchables/")
            needed = [port.field for port in target.ports if port.descs and port.owned == is_owned]
            close = self._findings.closest_missing(field_name, bound, known, needed)
            for name in close:
                self._findings.mark_misspelt(
                    place.rpartition("/")[0] + pointer(name), codes.IGNORED_BINDING, field_name
                )
            lacks = f"{target.operator.type} has no tensor" if target.operator else "the graph has no input or output"
            what = f"{lacks} {quote(field_name)}{suggestion(close)}"
        elif port.descs == ():
            what = f"{field_name} has no descriptor and is absent"
        else:
            what = f"{field_name} is an output, and is not bound at initialization"
        self.report(target, codes.IGNORED_BINDING, what, place, field_name, listing(known))

    def report(
        self,
        target: Dispatchable,
        code: Code,
        message: str,
        place: str,
        field_name: str,
        expected: str = "",
        found: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        """Reports a finding about a tensor of a dispatchable."""
        details: FindingDetails = {"expected": expected, "found": found, "remedies": remedies}
        schema = target.operator.schema if target.operator else None
        self._findings.report(code, message, place, node=target.name, schema=schema, field=field_name, **details)


def _port(operator: OperatorDesc, item: FieldSchema) -> BindPoint:
    name, is_output = item.name, item.kind is FieldKind.OUTPUT_TENSOR
    value = operator.get(name)
    if value is UNREADABLE:
        return BindPoint(name, is_output, None, False)
    if value is None:
        return BindPoint(name, is_output, (), False)
    descs = operator.tensors(name)
    is_one = len(descs) == 1
    owned = descs[0].owned_by_dml if is_one else any(desc.owned_by_dml for desc in descs)
    updates = is_output and operator.updates(name)
    return BindPoint(name, is_output, descs, owned, is_one and not owned, is_one and owned and not is_output, updates)
