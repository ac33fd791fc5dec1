"""The native format: a graph of operators with named values, written to be read and edited.

.. code-block:: json

    {
      "dml2onnx": 1,
      "name": "tiny",
      "feature_level": "5_0",
      "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
      "constants": {
        "w": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3], "file": "weights.bin", "offset": 64},
        "b": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "values": [0.5, -1, 0, "inf"]}
      },
      "nodes": [
        {
          "name": "conv1",
          "type": "CONVOLUTION",
          "desc": {
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 6, 6]},
            "Mode": "CROSS_CORRELATION",
            "Direction": "FORWARD",
            "Strides": [1, 1],
            "Dilations": [1, 1],
            "StartPadding": [0, 0],
            "EndPadding": [0, 0],
            "OutputPadding": [0, 0],
            "GroupCount": 1,
            "FusedActivation": {"type": "ACTIVATION_RELU"}
          },
          "inputs": {"InputTensor": "x", "FilterTensor": "w", "BiasTensor": "b"},
          "outputs": {"OutputTensor": "h"}
        }
      ],
      "outputs": ["h"]
    }

``dml2onnx`` (the version), ``nodes`` and ``outputs`` are required.

* **Values** have one name space: declared inputs, constants, and what nodes write. Nodes stand in any order.
* **inputs** and **constants** are tensor descriptors, with contents for a constant and, as samples, optionally for an
  input: ``values`` (flat in memory order, or nested as ``Sizes``, where leading ones may be left out), ``fill`` (one
  value for all elements), or ``file`` (a ``.npy`` file, which needs no descriptor, or raw bytes from ``offset``).
  4-bit values are written as numbers. Files lie in the directory of the model.
* **A node** has a ``type`` (operator), a ``desc`` (the fields of its structure), ``inputs`` and ``outputs`` (tensor
  field to value name; an array of them where the field is an array) and, optionally, a ``name``. An input may also be
  ``{"value": name, "offset": bytes}``, to read from the middle of a buffer.
* **Fields** are named and valued as in DirectML.h; enumerators with or without their prefix. Optional fields may be
  null or left out, and so may counts. An input's descriptor left out is that of the value it reads.
* **outputs** lists the values that the graph gives, or maps public names to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dml2onnx.catalog import FeatureLevel, FieldKind, FieldType, UnknownFeatureLevelError, feature_levels
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import DIMENSION_COUNT_LIMIT, ZERO_SIZE
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends import contents
from dml2onnx.frontends.descriptors import DescriptorReader, OperatorForm, report, unknown_operator
from dml2onnx.frontends.dialects import NATIVE
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import Findings, listing, pointer, quote, show
from dml2onnx.frontends.members import Members, wrong_kind
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.unresolved import UNBOUNDED, Unresolved
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import MAX_DIMENSIONS, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.diagnostics import Code
    from dml2onnx.frontends.members import Json
    from dml2onnx.frontends.tensors import Problem
    from dml2onnx.frontends.text import Document
    from dml2onnx.ir.operator import FieldValue

VERSION = 1

ROOT_MEMBERS = ("dml2onnx", "$schema", "name", "feature_level", "inputs", "constants", "nodes", "outputs")
NODE_MEMBERS = ("name", "type", "desc", "inputs", "outputs")
_NODE_MEMBERS = frozenset(NODE_MEMBERS)


def read(document: Document, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """The graph of a native model, with all that is wrong in it as findings.

    :class:`~dml2onnx.diagnostics.UnreadableError` when the model is of another version of the format.
    """
    version = document.root["dml2onnx"]
    if type(version) is not int or version != VERSION:
        message = f"dml2onnx is {show(version)}; this release reads version {VERSION}"
        raise UnreadableError(
            codes.UNKNOWN_VERSION.at(message, pointer="/dml2onnx", expected=VERSION, found=show(version))
        )
    return _NativeReader(document, options).read()


@cache
def _single_inputs(schema: OperatorSchema) -> frozenset[str]:
    """Input fields that hold one tensor."""
    return frozenset(field.name for field in schema.input_fields if field.type is FieldType.TENSOR)


@dataclass(frozen=True, slots=True)
class _Known:
    """A value that has a name; without ``desc`` it could not be read, and that has been reported."""

    value: Value
    desc: TensorDesc | None


@dataclass(frozen=True, slots=True)
class _RawNode:
    """A node whose outputs have become values."""

    place: str
    name: str
    raw: Json
    fields: Json
    schema: OperatorSchema
    outputs: dict[str, list[Value | None]]


class _NativeReader:
    def __init__(self, document: Document, options: LoadOptions) -> None:
        self._document = document
        self._options = options
        self._findings = Findings()
        self._files = ModelFiles(document.path.parent, options.allow_paths)
        self._descriptors = DescriptorReader(NATIVE)
        self._values: dict[str, _Known] = {}
        self._places: dict[str, str] = {}
        self._unresolved = Unresolved()
        self._inputs: list[GraphInput] = []
        self._constants: list[Constant] = []

    def read(self) -> Graph:
        findings = self._findings
        root = Members(self._document.root, "", findings)
        for place, name in self._document.repeated():
            findings.add(codes.DUPLICATE_KEY, f"{quote(name)} is given twice", place, found=quote(name))
        root.only(ROOT_MEMBERS, "a model")
        title = root.text("name") or "graph"
        self._read_declared(root, "inputs")
        self._read_declared(root, "constants")
        self._check_options()
        raw_nodes = list(self._read_outputs_of_nodes(root.array("nodes", required=True) or []))
        nodes = tuple([self._read_node(node) for node in raw_nodes])
        return Graph(
            nodes=nodes,
            inputs=tuple(self._inputs),
            outputs=tuple(self._read_outputs(root)),
            constants=tuple(self._constants),
            name=title,
            feature_level=self._read_feature_level(root),
            findings=findings.all(),
            format="native",
            unresolved=self._find_unresolved(nodes),
        )

    def _read_feature_level(self, root: Members) -> str | None:
        text = root.text("feature_level")
        if text is None:
            return None
        try:
            return FeatureLevel.parse(text).name
        except UnknownFeatureLevelError:
            levels = listing([level.name for level in feature_levels()])
            message = f"{quote(text)} is no feature level"
            self._findings.add(
                codes.UNKNOWN_FEATURE_LEVEL, message, "/feature_level", expected=levels, found=quote(text)
            )
            return None

    def _find_unresolved(self, nodes: tuple[Node, ...]) -> frozenset[Value]:
        """The named values that nothing provides, for a reason that has been reported, and those without a name."""
        if self._findings:
            provided = {item.value for item in self._inputs} | {item.value for item in self._constants}
            for node in nodes:
                for writes in node.writes.values():
                    provided.update(write.value for write in writes)
            self._unresolved.add(known.value for known in self._values.values() if known.value not in provided)
        return self._unresolved.all()

    # --- Inputs and constants -----------------------------------------------------------------------------------------

    def _read_declared(self, root: Members, section: str) -> None:
        for name, raw in (root.mapping(section) or {}).items():
            place = pointer(section, name)
            members = Members.of(raw, place, self._findings, quote(name))
            known = _Known(Value(name, UNBOUNDED), None)
            if members is not None:
                known = self._declare(name, members, constant=section == "constants")
            self._add_value(name, known, place)

    def _declare(self, name: str, members: Members, *, constant: bool) -> _Known:
        findings = self._findings
        desc: TensorDesc | None = None
        has_file = str(members.raw.get("file", "")).lower().endswith(".npy")
        if not has_file or "DataType" in members.raw or "Sizes" in members.raw:
            fields = {key: value for key, value in members.raw.items() if key not in contents.MEMBERS}
            problems: list[Problem] = []
            found = self._descriptors.tensor(fields, fields, problems)
            report(findings, problems, members.place)
            desc = found if isinstance(found, TensorDesc) and self._has_elements(found, members) else None
        filled = None
        if constant or not contents.MEMBERS.isdisjoint(members.raw):
            filled = contents.read_contents(members, desc, self._files, findings)
            desc = filled.desc if filled else None
        if desc is None:
            return _Known(Value(name, UNBOUNDED), None)
        value = Value(name, contents.buffer_size(desc))
        if filled and (constant or desc.owned_by_dml or self._options.is_constant(name)):
            self._constants.append(Constant(value, filled.data))
        else:
            self._inputs.append(GraphInput(name, value, filled.data if filled else None, desc))
        return _Known(value, desc)

    def _has_elements(self, desc: TensorDesc, members: Members) -> bool:
        """Whether a declared tensor has dimensions, all of them of a size; said here once, not for each reader."""
        if not desc.sizes:
            message, expected = f"a tensor has 1 to {MAX_DIMENSIONS} dimensions", f"1 to {MAX_DIMENSIONS} sizes"
            self._findings.add(DIMENSION_COUNT_LIMIT, message, members.at("Sizes"), expected=expected, found="none")
        for index, size in enumerate(desc.sizes):
            if size < 1:
                message = f"Sizes[{index}] is {size}; every size is at least 1"
                place = members.at("Sizes", index)
                self._findings.add(ZERO_SIZE, message, place, expected="at least 1", found=size)
        return bool(desc.sizes) and min(desc.sizes) > 0

    def _add_value(self, name: str, known: _Known, place: str) -> None:
        if name in self._values:
            message = f"{quote(name)} is the name of another value already, at {quote(self._places[name])}"
            self._findings.add(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(name))
        else:
            self._values[name] = known
            self._places[name] = place

    def _check_options(self) -> None:
        inputs, constants = self._document_names("inputs"), self._document_names("constants")
        names = [quote(name) for name in inputs]
        for name in sorted(self._options.constants | self._options.inputs):
            if name in inputs or (name in constants and name not in self._options.inputs):
                continue
            if name in constants:
                message = f"{quote(name)} is a constant of the model, and cannot become an input"
            else:
                message = f"the model has no input {quote(name)}{self._findings.did_you_mean(name, inputs)}"
            expected = listing(names) or "no name"
            self._findings.add(codes.UNKNOWN_OPTION_NAME, message, expected=expected, found=quote(name))
        for item in self._inputs:
            if item.name in self._options.constants and item.default is None:
                message = f"{quote(item.name)} cannot become a constant, since the model gives no contents for it"
                self._findings.add(codes.NO_CONTENTS, message, pointer("inputs", item.name), expected="contents")

    def _document_names(self, section: str) -> list[str]:
        raw = self._document.root.get(section)
        return list(raw) if isinstance(raw, dict) else []

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _read_outputs_of_nodes(self, nodes: list[object]) -> Iterator[_RawNode]:
        """First pass: whatever a node writes becomes a value, so that nodes may stand in any order."""
        for index, raw in enumerate(nodes):
            place = f"/nodes/{index}"
            if type(raw) is not dict:
                wrong_kind(self._findings, "a node", "an object", raw, place)
                continue
            given = raw.get("name")
            name = given if isinstance(given, str) else f"node {index}"
            members = Members(raw, place, self._findings, name)
            if not _NODE_MEMBERS.issuperset(raw):
                members.only(NODE_MEMBERS, "a node")
            if given is not None and not isinstance(given, str):
                members.text("name")
            form = OperatorForm(raw.get("type"), ("type",), None, (), ())
            schema = self._descriptors.schema(form.type)
            if "type" not in raw:
                members.required("type", "the name of an operator")
            elif schema is None:
                report(self._findings, [unknown_operator(form)], place, node=name)
            elif not isinstance(given, str):
                name = f"{schema.stem}_{index}"
            members.node = name
            desc = raw.get("desc")
            fields = desc if type(desc) is dict else members.mapping("desc", required=schema is not None)
            outputs = self._name_outputs(members, fields or {}, schema)
            if schema is not None and fields is not None:
                yield _RawNode(place, name, raw, fields, schema, outputs)

    def _name_outputs(
        self, members: Members, fields: Json, schema: OperatorSchema | None
    ) -> dict[str, list[Value | None]]:
        outputs = members.raw.get("outputs")
        if type(outputs) is not dict:
            outputs = members.mapping("outputs", required=True) or {}
        values: dict[str, list[Value | None]] = {}
        for field, entry in outputs.items():
            if entry is None or (schema and not self._is_tensor(field, FieldKind.OUTPUT_TENSOR, members, schema)):
                continue
            place = members.at("outputs", field)
            is_array = schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY if schema else type(entry) is list
            entries = self._entries(entry, is_array, place, members.node, field)
            raw_descs = fields.get(field)
            descs = raw_descs if is_array and type(raw_descs) is list else [raw_descs]
            values[field] = []
            for index, item in enumerate(entries):
                desc = descs[index] if index < len(descs) else None
                where = f"{place}/{index}" if is_array else place
                values[field].append(self._name_output(item, desc, where, members))
        return values

    def _name_output(self, entry: object, raw_desc: object, place: str, members: Members) -> Value | None:
        if type(entry) is not str:
            if entry is not None:
                wrong_kind(self._findings, "an output", "the name of a value", entry, place, members.node)
            return None
        found = self._descriptors.tensor(raw_desc, {}, [])
        desc = found if isinstance(found, TensorDesc) else None
        value = Value(entry, desc.total_bytes if desc else UNBOUNDED)
        self._add_value(entry, _Known(value, desc), place)
        return value

    def _entries(self, entry: object, is_array: bool, place: str, node: str, field: str) -> list[object]:
        if not is_array:
            return [entry]
        if type(entry) is list:
            return entry
        wrong_kind(self._findings, field, "an array, one element for each tensor", entry, place, node)
        return []

    def _is_tensor(self, field: str, kind: FieldKind, members: Members, schema: OperatorSchema) -> bool:
        known = schema.fields_by_name.get(field)
        if known is not None and known.kind is kind:
            return True
        is_input = kind is FieldKind.INPUT_TENSOR
        section, what = ("inputs", "input") if is_input else ("outputs", "output")
        names = [item.name for item in (schema.input_fields if is_input else schema.output_fields)]
        self._findings.add(
            codes.UNKNOWN_TENSOR,
            f"{schema.short_name} has no {what} {quote(field)}{self._findings.did_you_mean(field, names)}",
            members.at(section, field),
            expected=listing(names) or "none",
            found=quote(field),
            node=members.node,
            operator=schema.short_name,
            field=field,
            documentation=schema.doc,
        )
        return False

    def _read_node(self, node: _RawNode) -> Node:
        """Second pass: descriptors, and connections to the values that are all known now."""
        members = Members(node.raw, node.place, self._findings, node.name)
        sources, given = self._read_inputs(node, members)
        operator, problems = self._descriptors.operator(node.schema, node.fields, given)
        place = node.place + "/desc"
        if problems:
            report(self._findings, problems, place, node=node.name, schema=node.schema)
        reads: dict[str, tuple[Read, ...]] = {}
        writes: dict[str, tuple[Write, ...]] = {}
        for item in node.schema.tensor_fields:
            value = operator.get(item.name)
            if value is UNREADABLE:
                continue
            if item.kind is FieldKind.OUTPUT_TENSOR:
                self._connect_output(node, item.name, operator, writes)
            elif item.name in sources:
                found = sources[item.name]
                if found is None or not self._fits(node, "inputs", item.name, len(found), operator):
                    found = self._unresolved.reads(operator.tensors(item.name))
                reads[item.name] = found
            elif value is not None:
                reads[item.name] = self._unresolved.reads(operator.tensors(item.name))
                self._report(
                    node,
                    item.name,
                    codes.UNCONNECTED_TENSOR,
                    f"{item.name} is described, but inputs does not say what it reads",
                    expected="the name of a value in inputs",
                )
        return Node(node.name, operator, reads, writes, place)

    def _read_inputs(
        self, node: _RawNode, members: Members
    ) -> tuple[dict[str, tuple[Read, ...] | None], dict[str, FieldValue]]:
        """What each input field reads (``None`` where that is unknown), and descriptors taken from there."""
        inputs = node.raw.get("inputs")
        if type(inputs) is not dict:
            inputs = members.mapping("inputs") or {}
        sources: dict[str, tuple[Read, ...] | None] = {}
        given: dict[str, FieldValue] = {}
        fields = node.fields
        single = _single_inputs(node.schema)
        for field, entry in inputs.items():
            known = self._values.get(entry) if type(entry) is str and field in single else None
            if known is not None:  # what nearly all entries are
                sources[field] = (Read(known.value),)
                if fields.get(field) is None:
                    given[field] = UNREADABLE if known.desc is None else known.desc
                continue
            if entry is None or not self._is_tensor(field, FieldKind.INPUT_TENSOR, members, node.schema):
                continue
            is_array = node.schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
            described = fields.get(field) is not None
            place = members.at("inputs", field) if is_array else ""
            reads: list[Read | None] = []
            descs: list[TensorDesc | None] = []
            for index, item in enumerate(self._entries(entry, is_array, place, node.name, field)):
                read, desc = self._read_source(item, node, field, f"/{index}" if is_array else "")
                reads.append(read)
                descs.append(desc)
            complete = [read for read in reads if read is not None]
            sources[field] = tuple(complete) if len(complete) == len(reads) and reads else None
            if not described:
                taken = [desc for desc in descs if desc is not None]
                whole = len(taken) == len(reads) and bool(reads)
                given[field] = UNREADABLE if not whole else tuple(taken) if is_array else taken[0]
        return sources, given

    def _read_source(
        self, entry: object, node: _RawNode, field: str, suffix: str
    ) -> tuple[Read | None, TensorDesc | None]:
        name, offset = entry, 0
        if type(entry) is dict:
            place = node.place + pointer("inputs", field) + suffix
            source = Members(entry, place, self._findings, node.name)
            source.only(("value", "offset"), "an input")
            name, offset = source.text("value", required=True), source.uint("offset") or 0
            if name is None:
                return None, None
        if type(name) is not str:
            place = node.place + pointer("inputs", field) + suffix
            wrong_kind(self._findings, field, "the name of a value", entry, place, node.name)
            return None, None
        known = self._values.get(name)
        if known is None:
            self._report(
                node,
                field,
                codes.UNKNOWN_VALUE,
                f"there is no value {quote(name)}{self._findings.did_you_mean(name, self._values)}",
                expected="the name of an input, a constant or a node's output",
                found=quote(name),
                place=node.place + pointer("inputs", field) + suffix,
            )
            return None, None
        return Read(known.value, offset), known.desc

    def _connect_output(
        self, node: _RawNode, field: str, operator: OperatorDesc, writes: dict[str, tuple[Write, ...]]
    ) -> None:
        descs = operator.tensors(field)
        values = node.outputs.get(field)
        if not descs:
            if values:
                message = f"{field} is connected, but has no descriptor; an output's descriptor is always given"
                self._report(node, field, codes.MISSING_FIELD, message, expected="a tensor descriptor")
            return
        if values is None or not self._fits(node, "outputs", field, len(values), operator):
            values = [None] * len(descs)
        writes[field] = tuple(
            Write(value or Value(f"{node.name}.{field}", desc.total_bytes))
            for value, desc in zip(values, descs, strict=True)
        )

    def _fits(self, node: _RawNode, section: str, field: str, count: int, operator: OperatorDesc) -> bool:
        expected = len(operator.tensors(field))
        if count == expected:
            return True
        message = f"{field} has {expected} descriptors, but {section} connects {count}"
        self._report(
            node,
            field,
            codes.CONNECTION_COUNT,
            message,
            expected=str(expected),
            found=str(count),
            place=node.place + pointer(section, field),
        )
        return False

    def _report(
        self,
        node: _RawNode,
        field: str,
        code: Code,
        message: str,
        expected: str = "",
        found: str = "",
        place: str = "",
    ) -> None:
        self._findings.add(
            code,
            message,
            place or node.place + pointer("desc", field),
            expected=expected,
            found=found,
            node=node.name,
            operator=node.schema.short_name,
            field=field,
            documentation=node.schema.doc,
        )

    # --- Outputs ------------------------------------------------------------------------------------------------------

    def _read_outputs(self, root: Members) -> Iterator[GraphOutput]:
        raw = root.required("outputs", "an array of value names")
        pairs: list[tuple[object, object, str]]
        if isinstance(raw, list):
            pairs = [(name, name, f"/outputs/{index}") for index, name in enumerate(raw)]
        elif isinstance(raw, dict):
            pairs = [(public, name, pointer("outputs", public)) for public, name in raw.items()]
        else:
            if "outputs" in root.raw:
                wrong_kind(self._findings, "outputs", "an array of value names", raw, "/outputs")
            return
        seen: dict[str, str] = {}
        for public, name, place in pairs:
            if not isinstance(public, str) or not isinstance(name, str):
                wrong_kind(self._findings, "an output", "the name of a value", name, place)
            elif public in seen:
                message = f"{quote(public)} is an output already, at {quote(seen[public])}"
                self._findings.add(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(public))
            elif name not in self._values:
                guess = self._findings.did_you_mean(name, self._values)
                message = f"there is no value {quote(name)}{guess}"
                expected = "the name of an input, a constant or a node's output"
                self._findings.add(codes.UNKNOWN_VALUE, message, place, expected=expected, found=quote(name))
            else:
                seen[public] = place
                known = self._values[name]
                if known.desc is not None:
                    yield GraphOutput(public, known.value, known.desc)
