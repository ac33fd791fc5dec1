"""DxDispatch dispatchables: operators ready to be dispatched, with the tensors that DirectML owns bound to them."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Never

from dml2onnx.catalog import FieldKind, FieldSchema, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import OUT_OF_BOUNDS
from dml2onnx.diagnostics import Code, Diagnostic, Place, Remedy
from dml2onnx.frontends.descriptors import DescriptorReader, Reading
from dml2onnx.frontends.dialects import DXDISPATCH, enumerators
from dml2onnx.frontends.dx_graphs import read_graph
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import Findings, Said, escape, instead, listing, pointer, quote, show, suggestion
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.problems import (
    OperatorForm,
    operator_form,
    other_operator,
    report,
    unknown_operator,
    without_fields,
)
from dml2onnx.frontends.tensors import unknown_enumerator
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.dx_resources import Resource

MEMBERS = ("type", "Type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings")
_USUAL_MEMBERS = frozenset({"type", "desc", "bindings"})
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
"""The kinds of names that are in doubt when the sections that introduce them cannot be read."""
_UNSUPPORTED = {"hlsl": "a shader", "onnx": "an ONNX model"}
_SERIALIZED_GRAPH = "dmlserializedgraph"


class Source(NamedTuple):
    """A resource bound from a byte on."""

    resource: Resource
    offset: int
    stated: int = 0
    """Bytes that ``elementCount`` speaks of, which DirectML operators do not look at; 0 when it is not given."""


class Slot(NamedTuple):
    """A bind point: a tensor field of the operator, or an input or output of the graph."""

    field: str
    is_output: bool
    descs: tuple[TensorDesc, ...] | None
    """The descriptors, none when the tensor is absent; ``None`` when they could not be read."""
    owned: bool
    """Whether DirectML owns the tensor, which is bound at initialization then."""
    is_single: bool = False
    """Whether each dispatch of an operator binds one resource."""
    is_owned_single: bool = False
    """Whether the initialization of an operator binds one resource."""
    updates: bool = False
    """Whether the operator reads what that output holds before, and changes a part of it."""


_NOTHING: Mapping[str, Never] = MappingProxyType({})


class Dispatchable(NamedTuple):
    """An operator, or a graph, as far as it could be read; with neither it cannot be dispatched, which is reported."""

    name: str
    place: str
    operator: OperatorDesc | None = None
    ports: tuple[Slot, ...] = ()
    by_field: Mapping[str, Slot] = _NOTHING
    owned_ports: tuple[Slot, ...] = ()
    owned: Mapping[str, tuple[Source, ...]] = _NOTHING
    """What is bound at initialization; nothing where the binding cannot be used, which has been reported."""
    graph: Graph | None = None
    """A graph instead of an operator: its nodes take the place of one, its inputs and outputs are the ports."""


class Bindings:
    """Reads what is bound to bind points."""

    def __init__(self, resources: Mapping[str, Resource], findings: Findings) -> None:
        self._resources = resources
        self._findings = findings
        self.by_name = {name: (Source(resource, 0),) for name, resource in resources.items()}
        """What the name of each resource stands for."""

    def sources(self, raw: object, place: str) -> tuple[Source, ...] | None:
        """The sources of one bind point; ``None``, and findings, when one of them is none."""
        known = self.whole(raw)
        if known is not None:
            return known
        items = raw if type(raw) is list else [raw]
        sources: list[Source] = []
        for index, item in enumerate(items):
            source = self._source(item, f"{place}/{index}" if items is raw else place)
            if source is not None:
                sources.append(source)
        return tuple(sources) if len(sources) == len(items) else None

    def whole(self, raw: object) -> tuple[Source, ...] | None:
        """The source of one bind point when that is the name of a resource, or an array of one."""
        if type(raw) is list and len(raw) == 1:
            (raw,) = raw
        return self.by_name.get(raw) if type(raw) is str else None

    def resource(self, name: str, place: str) -> Resource | None:
        """A resource by name."""
        resource = self._resources.get(name)
        if resource is None:
            message = f"there is no resource {quote(name)}{self._findings.did_you_mean(name, self._resources)}"
            expected = listing([quote(other) for other in self._resources]) or "a member of resources"
            remedies = instead(place, self._findings.closest(name, self._resources))
            finding = codes.UNKNOWN_RESOURCE.at(
                message, pointer=place, expected=expected, found=quote(name), remedies=remedies
            )
            self._findings.unknown(RESOURCE, name, finding)
        return resource

    def _source(self, raw: object, place: str) -> Source | None:
        if type(raw) is str:
            resource = self.resource(raw, place)
            return None if resource is None else Source(resource, 0)
        if type(raw) is not dict:
            wrong_kind(self._findings, "a binding", "the name of a resource, or an object", raw, place)
            return None
        members = Members(raw, place, self._findings)
        members.hint((*SOURCE_MEMBERS, "elementSize"), "a binding", slips=True)
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
            self._findings.say(
                codes.OFFSET_WITHOUT_SIZE, message, members.at("elementOffset"), expected="elementSizeInBytes"
            )
        if count and elements and resource.nbytes < (elements + count) * size:
            self._too_far(members, resource, elements * size, (elements + count) * size)
            elements = 0
        return Source(resource, elements * size, (count or 0) * size)

    def _too_far(self, members: Members, resource: Resource, first: int, last: int) -> None:
        """A region that ends beyond its buffer."""
        message = f"elementOffset is {first} bytes; the region is bytes {first} to {last} of {quote(resource.name)}"
        present = f"{resource.nbytes} bytes"
        place = Place(pointer("resources", resource.name), f"it has {present}")
        self._findings.say(
            OUT_OF_BOUNDS,
            f"{message}, which has {resource.nbytes}",
            members.at("elementOffset"),
            expected=f"{last} bytes or more",
            found=present,
            places=(place,),
        )


class DispatchableReader:
    """Reads the dispatchables of one model."""

    def __init__(self, bindings: Bindings, files: ModelFiles, findings: Findings) -> None:
        self._bindings = bindings
        self._files = files
        self._findings = findings
        self._descriptors = DescriptorReader(DXDISPATCH)
        self._known: dict[object, tuple[str, Dispatchable]] = {}
        """Operators that nothing is wrong with, by all that is said of them but what is bound to them, and where in
        their dispatchables the fields stand."""

    def read(self, name: str, raw: object, place: str) -> Dispatchable:
        """One dispatchable, with findings for whatever is wrong with it."""
        if type(raw) is not dict:
            wrong_kind(self._findings, quote(name), "an object", raw, place, name)
            return Dispatchable(name, place)
        kind, fields = raw.get("type"), raw.get("desc")
        is_usual = type(kind) is str and type(fields) is dict and raw.keys() <= _USUAL_MEMBERS
        try:
            said = fields if is_usual else {member: value for member, value in raw.items() if member != "bindings"}
            key = (kind if is_usual else None, marshal.dumps(said, 2))
        except ValueError:  # too deep, which has to be said
            key = None
        known = self._known.get(key) if key else None
        if known is None:
            before = len(self._findings)
            read = self._descriptors.read if key else self._descriptors.operator
            like = self._read_usual(name, raw, place, read) if is_usual else None
            like = like or self._read(name, raw, place, read)
            if like.operator is None:
                return like
            path = like.place[len(place) :]
            if key and len(self._findings) == before:
                self._known[key] = path, like
        else:
            path, like = known
        owned: dict[str, tuple[Source, ...]] = {}
        made = Dispatchable(name, place + path, like.operator, like.ports, like.by_field, like.owned_ports, owned)
        self._bind_owned(made, owned, raw, place)
        return made

    def _read_usual(self, name: str, raw: Json, place: str, read: Callable[..., Reading]) -> Dispatchable | None:
        """The same where nothing but fields of an operator is in ``desc``, as nearly always; ``None`` elsewhere."""
        schema, fields = self._descriptors.schema(raw["type"]), raw["desc"]
        assert type(fields) is dict
        if schema is None or schema.name in DXDISPATCH.newer or not schema.index.keys() >= fields.keys():
            return None
        return self._made(name, f"{place}/desc", *read(schema, fields))

    def _read(self, name: str, raw: Json, place: str, read: Callable[..., Reading]) -> Dispatchable:
        """The same without what is bound at initialization."""
        members = Members(raw, place, self._findings, name)
        kind = members.text("type", required=True)
        if kind is not None and kind.lower() in _UNSUPPORTED:
            message = f"{quote(name)} is {_UNSUPPORTED[kind.lower()]}, not a DirectML operator"
            self._findings.say(
                codes.UNSUPPORTED_DISPATCHABLE,
                message,
                members.at("type"),
                expected="an operator",
                found=kind,
                node=name,
                remedies=(Remedy("without it and its dispatches; what it writes is an input of the model then"),),
            )
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
            message = f"the released DxDispatch does not know {schema.short_name}"
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
                message = "with DmlCompileGraph the fields have to stand in desc"
                self._findings.say(codes.COLLAPSED_GRAPH, message, members.place, expected="desc", node=members.node)
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
        """A serialized graph. What is bound at its initialization has to exist, and is without effect."""
        graph = read_graph(members, self._files, self._findings)
        for field_name, entry in (members.mapping("bindings") or {}).items():
            place = members.at("bindings", field_name)
            self._bindings.sources(entry, place)
            message = f"{quote(field_name)} is bound at initialization, which a dmlSerializedGraph does not need"
            self._findings.say(codes.IGNORED_BINDING, message, place, found=quote(field_name), node=name)
        if graph is None:
            return Dispatchable(name, members.place)
        ports = [
            *(Slot(item.name, False, None if item.desc is None else (item.desc,), False) for item in graph.inputs),
            *(Slot(item.name, True, (item.desc,), False) for item in graph.outputs),
        ]
        by_field = {port.field: port for port in ports}
        return Dispatchable(name, members.place, None, tuple(ports), by_field, graph=graph)

    def _read_operator(
        self, name: str, members: Members, form: OperatorForm, schema: OperatorSchema, read: Callable[..., Reading]
    ) -> Dispatchable:
        place = members.place + pointer(*form.fields_path)
        wrong = without_fields(form, schema)
        if wrong is None and type(form.fields) is dict and not schema.index.keys() >= form.fields.keys():
            wrong = other_operator(schema, form.fields.keys() - set(MEMBERS), *form.type_path)
        if wrong is not None:
            report(self._findings, [wrong], members.place, node=name, schema=schema)
            return Dispatchable(name, place)
        if type(form.fields) is not dict:
            wrong_kind(
                self._findings,
                form.fields_path[0] if form.fields_path else "the dispatchable",  # type: ignore[arg-type]  # names only
                "an object with the fields of the operator",
                form.fields,
                place,
                name,
            )
            return Dispatchable(name, place)
        fields: Json = form.fields
        beside = MEMBERS if not form.fields_path else ()
        return self._made(name, place, *read(schema, fields, beside=beside))

    def _made(self, name: str, place: str, operator: OperatorDesc, problems: tuple[Diagnostic, ...]) -> Dispatchable:
        schema = operator.schema
        if problems:
            report(self._findings, problems, place, node=name, schema=schema)
        ports = tuple([_port(operator, item) for item in schema.tensor_fields])
        by_field, owned = {port.field: port for port in ports}, tuple([port for port in ports if port.owned])
        return Dispatchable(name, place, operator, ports, by_field, owned)

    def _bind_owned(
        self, made: Dispatchable, owned: dict[str, tuple[Source, ...]], dispatchable: Json, place: str
    ) -> None:
        """Bindings at initialization: exactly the tensors that DirectML owns."""
        raw = dispatchable.get("bindings")
        if not raw and (type(raw) is dict or "bindings" not in dispatchable) and not made.owned_ports:
            return
        section = f"{place}/bindings"
        if type(raw) is not dict:
            if "bindings" in dispatchable:
                owned.update(dict.fromkeys(self._refuse_bindings(made, raw, section), ()))
            raw = {}
        for field_name, entry in raw.items():
            port = made.by_field.get(field_name)
            sources = self._bindings.whole(entry)
            if sources is not None and port is not None and port.is_owned_single:  # what nearly all are
                owned[field_name] = sources
                continue
            place = f"{section}/{escape(field_name)}"
            sources = sources or self._bindings.sources(entry, place)
            if port is None or port.is_output or port.descs == ():
                self.ignore(made, field_name, place, raw)
            elif port.descs is not None and not port.owned:
                message = f"{field_name} is bound at initialization, but is not owned by DirectML"
                self.report(made, codes.BOUND_AT_INITIALIZATION, message, place, field_name, "the flag OWNED_BY_DML")
                owned[field_name] = ()
            else:
                fits = sources is not None and self.fits(made, port, len(sources), place)
                self.compare_counts(made, port, sources or (), place)
                owned[field_name] = sources if sources is not None and fits else ()
        for port in made.owned_ports:
            if len(port.descs or ()) > 1 and not all(desc.owned_by_dml for desc in port.descs or ()):
                message = f"DirectML owns some tensors of {port.field} and not others, and they are bound together"
                place = f"{made.place}/{port.field}"
                self.report(made, codes.BOUND_AT_INITIALIZATION, message, place, port.field, "the flag on all or none")

    def _refuse_bindings(self, made: Dispatchable, raw: object, place: str) -> list[str]:
        """A finding about bindings that are no object, and the fields for which they were to be."""
        needed = [port.field for port in made.owned_ports if not port.is_output]
        code, ignored = (codes.WRONG_KIND, "") if needed else (codes.IGNORED_KEY, ", and it is ignored")
        message = f"bindings is {show(raw)}, not an object{ignored}"
        self._findings.say(code, message, place, expected="an object", node=made.name)
        return needed

    # --- Findings that dispatches share -------------------------------------------------------------------------------

    def graph_is_bound(self, made: Dispatchable, port: Slot, source: Source, place: str) -> bool:
        """Whether a graph can be bound to a resource: from its start, and to bytes enough for the tensor."""
        if source.offset:
            message = f"{quote(port.field)} is bound from byte {source.offset} on"
            self.report(made, codes.GRAPH_BOUND_WITH_OFFSET, message, place, port.field, "byte 0", str(source.offset))
            return False
        resource = source.resource
        if resource.data is None:
            return True
        bound = source.stated or (resource.initial_bytes if resource.element_size else resource.nbytes)
        bound = -(-bound // 4) * 4
        needed = max((desc.total_bytes for desc in port.descs or ()), default=0)
        if bound < needed:
            message = f"{quote(port.field)} has {needed} bytes, and is bound to {bound} of {quote(resource.name)}"
            expected, found = f"{needed} bytes or more", f"{bound} bytes"
            self.report(made, codes.GRAPH_BOUND_BYTES, message, place, port.field, expected, found)
            return False
        return True

    def fits(self, made: Dispatchable, port: Slot, count: int, place: str) -> bool:
        """Whether as many resources are bound as the field has tensors."""
        if port.descs is None:
            return False
        if len(port.descs) == count:
            return True
        message = f"{port.field} takes {len(port.descs)} resources, and {count} are bound"
        self.report(made, codes.CONNECTION_COUNT, message, place, port.field, str(len(port.descs)), str(count))
        return False

    def compare_counts(self, made: Dispatchable, port: Slot, sources: tuple[Source, ...], place: str) -> None:
        """A warning where ``elementCount`` says less than what the tensor covers all the same."""
        if not any(source.stated for source in sources):
            return
        for source, desc in zip(sources, port.descs or (), strict=False):
            if 0 < source.stated < desc.data_type.bytes_for(desc.extent):
                stated, needed = f"{source.stated} bytes", f"{desc.data_type.bytes_for(desc.extent)} bytes"
                message = f"elementCount stands for {stated}, but {port.field} covers {needed}; elementCount is ignored"
                self.report(made, codes.ELEMENT_COUNT_IGNORED, message, place, port.field, f"{needed} or more", stated)

    def ignore(self, made: Dispatchable, field_name: str, place: str, given: Collection[str]) -> None:
        """A warning about a binding without effect, one of those ``given``."""
        known = [port.field for port in made.ports]
        port = made.by_field.get(field_name)
        if port is None:
            is_owned = place.startswith("/dispatchables/")
            needed = [port.field for port in made.ports if port.descs and port.owned == is_owned]
            close = self._findings.closest_missing(field_name, given, known, needed)
            for name in close:
                self._findings.meant(place.rpartition("/")[0] + pointer(name), codes.IGNORED_BINDING, field_name)
            lacks = f"{made.operator.type} has no tensor" if made.operator else "the graph has no input or output"
            what = f"{lacks} {quote(field_name)}{suggestion(close)}"
        elif port.descs == ():
            what = f"{field_name} has no descriptor and is absent"
        else:
            what = f"{field_name} is an output, and is not bound at initialization"
        self.report(made, codes.IGNORED_BINDING, what, place, field_name, listing(known))

    def report(
        self,
        made: Dispatchable,
        code: Code,
        message: str,
        place: str,
        field_name: str,
        expected: str = "",
        found: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        """A finding about one tensor of a dispatchable."""
        about: Said = {"expected": expected, "found": found, "remedies": remedies}
        schema = made.operator.schema if made.operator else None
        self._findings.say(code, message, place, node=made.name, schema=schema, field=field_name, **about)


def _port(operator: OperatorDesc, item: FieldSchema) -> Slot:
    name, is_output = item.name, item.kind is FieldKind.OUTPUT_TENSOR
    value = operator.get(name)
    if value is UNREADABLE:
        return Slot(name, is_output, None, False)
    if value is None:
        return Slot(name, is_output, (), False)
    descs = operator.tensors(name)
    is_one = len(descs) == 1
    owned = descs[0].owned_by_dml if is_one else any(desc.owned_by_dml for desc in descs)
    updates = is_output and operator.updates(name)
    return Slot(name, is_output, descs, owned, is_one and not owned, is_one and owned and not is_output, updates)
