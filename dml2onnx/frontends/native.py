"""Reads the native format: a graph of operators with named values, for people to read and edit.

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

``dml2onnx`` (the version), ``nodes`` and ``outputs`` are required. Comments are those of C++: ``//`` and ``/* */``.

* **Values** are buffers with one name space: declared inputs, constants, and outputs of nodes. The order of nodes does
  not matter.
* **inputs** and **constants** are tensor descriptors, with contents for a constant and, as samples, optionally for an
  input: ``values`` (flat in memory order, or nested as ``Sizes``, without leading ones if they are 1), ``fill`` (one
  value for all elements), or ``file`` (a ``.npy`` file, which needs no descriptor, or raw bytes: exactly the tensor's,
  or with ``offset`` or ``length`` a range of the file). 4-bit values are numbers. Files are relative to the directory
  of the model. ``bytes`` is the size of a buffer that is larger than its tensor; with ``bytes`` but without ``Sizes``,
  a buffer has no tensor of its own, its readers need descriptors, and ``DataType`` is that of its contents.
* **A node** has a ``type`` (operator), a ``desc`` (the fields of its structure), ``inputs`` and ``outputs`` (from
  tensor field to value name, or to an array of names for an array field) and, optionally, a ``name``. An input may also
  be ``{"value": name, "offset": bytes}``, to read from the middle of a buffer, and an output
  ``{"value": name, "offset": bytes, "base": other}``, to write there: the value is a new version of ``base``, whose
  other bytes it keeps. Without ``base`` they are 0. ``bytes`` is the size of a value, by default that of its base or
  tensor.
* **Fields** have the names and values of DirectML.h; enumerators may lack their prefix. Optional fields and counts may
  be null or missing. The descriptor of an input defaults to that of the value it reads. The descriptor of an output, or
  its ``Sizes`` (which may be ``"infer"``), default to those inferred from the inputs and the other fields, packed; if
  several are valid, they are those of ``GraphBuilder``. An empty ``desc`` may be missing.
* **outputs** lists the values that the graph returns, or maps public names to them. A value may also be
  ``{"value": name, "DataType": ..., "Sizes": ...}``, to view it through that descriptor. **results**, in the same form,
  are all buffers that a program writes: ``run`` returns these, ``compile`` the outputs.
* **commands** show values when the graph runs, in order, as those of DxDispatch do:
  ``{"type": "print", "value": name, "verbose": true}`` and
  ``{"type": "writeFile", "value": name, "targetPath": file, "dimensions": [...]}``, optionally with a descriptor to
  view the value through, and another ``name`` to show.
* **names** declares names of sizes: ``{"N": {"range": [1, 64]}}``. Inputs and all other descriptors may have them in
  their ``Sizes``: ``["N", 3, 32, 32]``. The model is then for all sizes in the ranges. While it is read, a name has the
  value of its ``size``; by default the number in the range that is divisible by the highest power of two, and without
  a range 16.
* **name**, for an input, a constant, and an output of a node that is an object, is the name of the value if another
  value already has its key as name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dml2onnx.catalog import (
    FeatureLevel,
    FieldKind,
    FieldType,
    OperatorSchema,
    UnknownFeatureLevelError,
    feature_levels,
)
from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Edit, Remedy, UnreadableError
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import FindingDetails, Findings, instead, listing, pointer, quote, show, suggestion
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.native_ends import EndReader
from dml2onnx.frontends.native_forms import Forms, NativeForm, needs_desc
from dml2onnx.frontends.native_names import read_names
from dml2onnx.frontends.native_nodes import MEMBERS as NODE_MEMBERS
from dml2onnx.frontends.native_nodes import collect_stray_fields, reject_name_list, reject_other_operator, unread_values
from dml2onnx.frontends.native_outputs import OutputInference, RawNode
from dml2onnx.frontends.native_values import (
    TARGET_MEMBERS,
    UNKNOWN_EXPECTED,
    VALUE,
    DeclaredReader,
    KnownValue,
    Values,
    WriteTarget,
)
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.problems import OperatorForm, report, unknown_operator
from dml2onnx.frontends.text import Document
from dml2onnx.frontends.unresolved import Unresolved
from dml2onnx.ir.graph import Graph, Node, Read, Value, Write
from dml2onnx.ir.operator import UNREADABLE, FieldValue
from dml2onnx.ir.tensor import TensorDesc

VERSION = 1

ROOT_MEMBERS = (
    "dml2onnx",
    "$schema",
    "name",
    "feature_level",
    "names",
    "inputs",
    "constants",
    "nodes",
    "outputs",
    "results",
    "commands",
)


def read(document: Document, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """Reads a native model, with errors as findings of the graph.

    Raises :class:`~dml2onnx.diagnostics.UnreadableError` for another version of the format.
    """
    version = document.root["dml2onnx"]
    if type(version) is not int or version != VERSION:
        message = f"dml2onnx is {show(version)}; this release reads version {VERSION}"
        raise UnreadableError(
            unreadable.UNKNOWN_VERSION.at(message, pointer="/dml2onnx", expected=VERSION, found=show(version))
        )
    return _NativeReader(document, options).read()


_NODE_MEMBERS = frozenset(NODE_MEMBERS)


class _NativeReader:
    def __init__(self, document: Document, options: LoadOptions) -> None:
        self._document = document
        self._findings = Findings()
        self._files = ModelFiles(document.path.parent, options)
        self._descriptors = DescriptorReader(NATIVE)
        self._forms = Forms(self._descriptors)
        self._values = Values(self._findings)
        self._targets: list[WriteTarget] = []
        self._declared = DeclaredReader(self._values, self._descriptors, self._files, self._findings)
        self._unresolved = Unresolved()
        self._written: set[Value] = set()
        self._unread: list[str] | None = None

    def read(self) -> Graph:
        findings = self._findings
        root = Members(self._document.root, "", findings)
        for place, name in self._document.repeated():
            findings.report(codes.DUPLICATE_KEY, f"the object has {quote(name)} twice", place, found=quote(name))
        root.only(ROOT_MEMBERS, "a model")
        if not root.raw.keys() <= set(ROOT_MEMBERS):
            findings.mark_unreadable(VALUE)
        title = root.text("name") or "graph"
        names = read_names(root, findings)
        for section in ("inputs", "constants"):
            self._declared.read(root, section)
        listed = root.array("nodes", required=True)
        if listed is None:
            findings.mark_unreadable(VALUE)
        raw_nodes = list(self._read_raw_nodes(listed or []))
        OutputInference(self._values, self._descriptors, self._forms, findings).complete(raw_nodes)
        self._values.make(self._targets)
        nodes = tuple([self._read_node(node) for node in raw_nodes])
        ends = EndReader(self._values, self._descriptors, findings)
        return Graph(
            nodes=nodes,
            inputs=names.inputs(self._declared.inputs),
            outputs=tuple(ends.outputs(root, "outputs", required=True)),
            constants=tuple(self._declared.constants),
            results=tuple(ends.outputs(root, "results")),
            effects=tuple(ends.commands(root)),
            name=title,
            feature_level=self._read_feature_level(root),
            findings=findings.all(),
            format="native",
            unresolved=self._find_unresolved(nodes),
            sources=(self._document.path, *self._files.found),
            ranges=names.ranges,
            unread_nodes=len(listed or []) - len(nodes),
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
            self._findings.report(
                codes.UNKNOWN_FEATURE_LEVEL, message, "/feature_level", expected=levels, found=quote(text)
            )
            return None

    def _find_unresolved(self, nodes: tuple[Node, ...]) -> frozenset[Value]:
        """Returns the values without a source, which has been reported."""
        if self._findings:
            declared = self._declared
            provided = {item.value for item in declared.inputs} | {item.value for item in declared.constants}
            for node in nodes:
                for writes in node.writes.values():
                    provided.update(write.value for write in writes)
            self._unresolved.add(known.value for known in self._values.by_name.values() if known.value not in provided)
        return self._unresolved.all()

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _read_raw_nodes(self, nodes: list[object]) -> Iterator[RawNode]:
        """First pass: collects the outputs of all nodes as values, since nodes may be in any order."""
        for index, raw in enumerate(nodes):
            place = f"/nodes/{index}"
            if type(raw) is not dict:
                wrong_kind(self._findings, "a node", "an object", raw, place)
                self._findings.mark_unreadable(VALUE)
                continue
            stated = raw.get("name")
            name = stated if isinstance(stated, str) else f"node {index}"
            members = Members(raw, place, self._findings, name)
            if not _NODE_MEMBERS.issuperset(raw):
                raw = collect_stray_fields(members, self._descriptors.schema(raw.get("type")), self._findings)
            if stated is not None and not isinstance(stated, str):
                members.text("name")
            kind = raw.get("type")
            schema = self._descriptors.schema(kind)
            if "type" not in raw:
                members.required("type", "the name of an operator")
            elif schema is None:
                unknown = unknown_operator(OperatorForm(kind, ("type",), None, (), ()))
                report(self._findings, [unknown], place, node=name)
            elif not isinstance(stated, str):
                name = f"{schema.stem}_{index}"
            members.node = name
            self._values.nodes[place] = name
            desc = raw.get("desc")
            form = None
            if schema is not None and type(desc) is dict:
                form = self._forms.of(schema, desc, raw.get("inputs"), raw.get("outputs"))
            if (
                schema is not None
                and not (form and form.has_only_own_fields)
                and reject_other_operator(raw, schema, members, self._findings)
            ):
                schema = form = None
            needed = schema is not None and needs_desc(schema)
            fields = desc if type(desc) is dict else members.mapping("desc", required=needed)
            if fields is None and not needed and "desc" not in raw:
                fields = {}
            if form is None and schema is not None and fields is not None:
                form = self._forms.of(schema, fields, raw.get("inputs"), raw.get("outputs"))
            outputs = self._read_targets(members, fields or {}, schema, form)
            if form is not None:
                yield RawNode(place, name, raw, form, outputs)

    def _read_targets(
        self, members: Members, fields: Json, schema: OperatorSchema | None, form: NativeForm | None
    ) -> dict[str, list[WriteTarget | None]]:
        outputs = members.raw.get("outputs")
        if type(outputs) is not dict:
            self._findings.mark_unreadable(VALUE)
            fields_of = schema.output_fields if schema else ()
            if not reject_name_list(members, "outputs", fields_of, self._findings):
                outputs = members.mapping("outputs", required=True)
            outputs = outputs if type(outputs) is dict else {}
        targets: dict[str, list[WriteTarget | None]] = {}
        described: Mapping[str, TensorDesc | None] = form.outputs if form else {}
        for field, entry in outputs.items():
            if type(entry) is str and field in described:  # the usual case
                target = WriteTarget(entry, f"{members.place}/outputs/{field}", entry, described[field])
                self._targets.append(target)
                targets[field] = [target]
                continue
            if entry is None:
                continue
            if schema and not self._is_tensor(field, FieldKind.OUTPUT_TENSOR, members, schema):
                self._findings.mark_unreadable(VALUE)
                continue
            place = members.at("outputs", field)
            is_array = schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY if schema else type(entry) is list
            entries = self._entries(entry, is_array, place, members.node, field)
            raw_descs = fields.get(field)
            descs = raw_descs if is_array and type(raw_descs) is list else [raw_descs]
            targets[field] = []
            for index, item in enumerate(entries):
                desc = descs[index] if index < len(descs) else None
                where = f"{place}/{index}" if is_array else place
                targets[field].append(self._read_target(item, desc, where, members))
        return targets

    def _read_target(self, entry: object, raw_desc: object, place: str, members: Members) -> WriteTarget | None:
        if entry is None:
            return None
        found = self._descriptors.tensor(raw_desc, {}, [])
        desc = found if isinstance(found, TensorDesc) else None
        if type(entry) is str:
            target = WriteTarget(entry, place, entry, desc)
        elif type(entry) is dict:
            source = Members(entry, place, self._findings, members.node)
            if "value" in entry:
                source.only(TARGET_MEMBERS, "an output")
            key = source.text("value", required=True)
            offset, base = source.uint("offset") or 0, source.text("base")
            nbytes, name = source.uint("bytes"), source.text("name") or key
            if key is None or name is None:
                self._findings.mark_unreadable(VALUE)
                return None
            target = WriteTarget(key, place, name, desc, offset, base, nbytes)
        else:
            wrong_kind(self._findings, "an output", "the name of a value", entry, place, members.node)
            self._findings.mark_unreadable(VALUE)
            return None
        self._targets.append(target)
        return target

    def _entries(self, entry: object, is_array: bool, place: str, node: str, field: str) -> list[object]:
        if not is_array:
            return [entry]
        if type(entry) is list:
            return entry
        wrong_kind(self._findings, field, "an array, one element for each tensor", entry, place, node)
        self._findings.mark_unreadable(VALUE)
        return []

    def _is_tensor(self, field: str, kind: FieldKind, members: Members, schema: OperatorSchema) -> bool:
        known = schema.fields_by_name.get(field)
        if known is not None and known.kind is kind:
            return True
        is_input = kind is FieldKind.INPUT_TENSOR
        section, what = ("inputs", "input") if is_input else ("outputs", "output")
        fields = schema.input_fields if is_input else schema.output_fields
        names = [item.name for item in fields]
        needed = [item.name for item in fields if not item.optional]
        raw = members.raw.get(section)
        close = self._findings.closest_missing(field, raw if isinstance(raw, dict) else (), names, needed)
        for name in close:
            self._findings.mark_misspelt(members.at(section, name), codes.UNKNOWN_TENSOR, field)
            self._findings.mark_misspelt(members.at("desc", name), codes.UNKNOWN_TENSOR, field)
        attribute = schema.field(field.removesuffix("Tensor"))
        has = "" if close or attribute is None else f"; its {quote(attribute.name)} is a member of desc"
        place, node = members.at(section, field), members.node
        details: FindingDetails = {"expected": listing(names) or "none", "found": quote(field)}
        details["remedies"] = instead(place, close, renamed=True)
        message = f"{schema.short_name} has no {what} {quote(field)}{suggestion(close)}{has}"
        self._findings.report(codes.UNKNOWN_TENSOR, message, place, node=node, schema=schema, field=field, **details)
        return False

    def _read_node(self, node: RawNode) -> Node:
        """Second pass: reads the descriptor, and connects the node to values."""
        sources, stated = self._read_inputs(node)
        operator, problems, tensors = node.form.read_with(stated | node.unknown if node.unknown else stated)
        place = f"{node.place}/desc"
        if problems:
            report(self._findings, problems, place, node=node.name, schema=node.schema)
        reads: dict[str, tuple[Read, ...]] = {}
        writes: dict[str, tuple[Write, ...]] = {}
        for name, is_output, is_stated, descs in tensors:
            if is_output:
                self._connect_output(node, name, descs, writes)
            elif name in sources:
                found = sources[name]
                if found is not None and len(found) != len(descs):
                    self._report_count(node, "inputs", name, len(found), len(descs))
                    found = None
                reads[name] = self._unresolved.reads(descs) if found is None else found
            elif is_stated:
                reads[name] = self._unresolved.reads(descs)
                message = f"{name} is described, but has no entry in inputs"
                expected = "the name of a value in inputs"
                node.report(self._findings, codes.UNCONNECTED_TENSOR, message, name, expected=expected)
        return Node(node.name, operator, reads, writes, place)

    def _read_inputs(self, node: RawNode) -> tuple[dict[str, tuple[Read, ...] | None], dict[str, FieldValue]]:
        """Returns the reads of each input field (``None`` if invalid), and descriptors inherited from their values."""
        form = node.form
        inputs = node.raw.get("inputs")
        stated: dict[str, FieldValue] = {}
        if type(inputs) is not dict:
            members = Members(node.raw, node.place, self._findings, node.name)
            if not reject_name_list(members, "inputs", node.schema.input_fields, self._findings):
                inputs = members.mapping("inputs", required=bool(form.undescribed))
            inputs = inputs if type(inputs) is dict else {}
            stated = dict.fromkeys(form.undescribed, UNREADABLE)
        else:
            for name in form.undescribed:
                if inputs.get(name) is None:
                    self._report_missing_input(node, name)
                    stated[name] = UNREADABLE
        sources: dict[str, tuple[Read, ...] | None] = {}
        named, single = self._values.by_name, form.inputs
        for field, entry in inputs.items():
            known = named.get(entry) if type(entry) is str and field in single else None
            if known is not None:  # the usual case
                sources[field] = known.whole
                if not single[field] and not known.is_buffer:
                    stated[field] = UNREADABLE if known.desc is None else known.desc
                continue
            members = Members(node.raw, node.place, self._findings, node.name)
            if entry is None or not self._is_tensor(field, FieldKind.INPUT_TENSOR, members, node.schema):
                continue
            is_array = node.schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
            described = form.fields.get(field) is not None
            place = members.at("inputs", field) if is_array else ""
            reads: list[Read | None] = []
            descs: list[TensorDesc | None] = []
            is_buffer = False
            entries = self._entries(entry, is_array, place, node.name, field)
            for index, item in enumerate(entries):
                read, source = self._read_source(item, node, field, f"/{index}" if is_array else "")
                reads.append(read)
                descs.append(None if source is None else source.desc)
                is_buffer |= source is not None and source.is_buffer
            complete = [read for read in reads if read is not None]
            is_readable = bool(reads) or entries is entry  # a value that is not a list has been reported
            sources[field] = tuple(complete) if len(complete) == len(reads) and is_readable else None
            if not described and not is_buffer:
                taken = [desc for desc in descs if desc is not None]
                whole = len(taken) == len(reads) and is_readable
                stated[field] = UNREADABLE if not whole else tuple(taken) if is_array else taken[0]
        return sources, stated

    def _report_missing_input(self, node: RawNode, name: str) -> None:
        """Reports a required input without a value and without a descriptor."""
        place = node.place + pointer("inputs", name)
        unread = self._unread_values()
        message, remedies = f"{name} is missing", tuple[Remedy, ...]()
        if len(unread) == 1:
            message += f"; nobody reads {quote(unread[0])}"
            remedies = (Remedy(f"{quote(name)}: {quote(unread[0])}", (Edit(place, unread[0]),)),)
        details: FindingDetails = {"expected": UNKNOWN_EXPECTED, "remedies": remedies}
        node.report(self._findings, codes.MISSING_FIELD, message, name, place, **details)

    def _unread_values(self) -> list[str]:
        """Returns the values that no node and no output reads."""
        if self._unread is None:
            self._unread = unread_values(self._document.root, self._values.by_name)
        return self._unread

    def _read_source(
        self, entry: object, node: RawNode, field: str, suffix: str
    ) -> tuple[Read | None, KnownValue | None]:
        name, offset = entry, 0
        if type(entry) is dict:
            place = node.place + pointer("inputs", field) + suffix
            source = Members(entry, place, self._findings, node.name)
            if "value" in entry:
                source.only(("value", "offset"), "an input")
            name, offset = source.text("value", required=True), source.uint("offset") or 0
            if name is None:
                return None, None
        if type(name) is not str:
            place = node.place + pointer("inputs", field) + suffix
            wrong_kind(self._findings, field, "the name of a value", entry, place, node.name)
            return None, None
        known = self._values.by_name.get(name)
        if known is None:
            place = node.place + pointer("inputs", field) + suffix
            self._values.report_unknown(name, place, node.name, field, node.schema)
            return None, None
        return Read(known.value, offset), known

    def _connect_output(
        self, node: RawNode, field: str, descs: tuple[TensorDesc, ...], writes: dict[str, tuple[Write, ...]]
    ) -> None:
        targets = node.outputs.get(field)
        if not descs:
            if targets:
                message = f"{field} is connected, but has no descriptor; an output's descriptor is always given"
                node.report(self._findings, codes.MISSING_FIELD, message, field, expected="a tensor descriptor")
            return
        if targets is not None and len(targets) != len(descs):
            self._report_count(node, "outputs", field, len(targets), len(descs))
            targets = None
        made: list[Write] = []
        for target, desc in zip(targets or [None] * len(descs), descs, strict=True):
            if target is None or target.value is None:
                made.append(Write(Value(f"{node.name}.{field}", desc.total_bytes)))
            else:
                base = None if target.base is None else self._base(node, field, target)
                made.append(Write(target.value, target.offset, base))
                self._written.add(target.value)
        writes[field] = tuple(made)

    def _base(self, node: RawNode, field: str, target: WriteTarget) -> Value | None:
        """Returns the version of a buffer that an output updates."""
        known = None if target.base is None else self._values.by_name.get(target.base)
        if known is None:
            return None
        own = any(item is not None and item.value is known.value for items in node.outputs.values() for item in items)
        if own and known.value not in self._written:
            message = f"{quote(target.base or '')} is made by this node itself, and not before {field}"
            place = target.place + pointer("base")
            expected = "an existing value"
            node.report(self._findings, codes.NOT_YET_MADE, message, field, place, expected=expected)
            return None
        return known.value

    def _report_count(self, node: RawNode, section: str, field: str, count: int, expected: int) -> None:
        message = f"{field} has {expected} descriptors, but {section} connects {count}"
        place = node.place + pointer(section, field)
        node.report(self._findings, codes.CONNECTION_COUNT, message, field, place, expected=expected, found=count)
