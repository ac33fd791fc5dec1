"""``DML_GRAPH_DESC`` as JSON: the structures of the API with their own names, and edges by index.

https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_graph_desc

.. code-block:: json

    {
      "InputCount": 1,
      "OutputCount": 1,
      "Nodes": [
        {
          "Type": "OPERATOR",
          "Desc": {
            "Name": "abs",
            "Operator": {
              "Type": "ELEMENT_WISE_ABS",
              "Desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}
              }
            }
          }
        }
      ],
      "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": "x"}],
      "OutputEdges": [{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0, "Name": "y"}]
    }

Enumerators are full names, short names or numbers. Edges may be wrapped in ``Type`` and ``Desc``, and a node's ``Desc``
may be the operator itself. Counts are optional. A constant node has ``Data`` (an array of bytes, their base64, or
``{"file": name, "offset": bytes, "length": bytes}``) and optionally ``DataSize``. Without ``offset``, ``length`` and
``DataSize``, a file must be as long as the tensor that reads it. A scalar union is a number, or an object with the
member of its type or the 8 ``Bytes`` of the union. Every object may have text as ``$comment``.

Inputs of a node are numbered over all input tensor fields in struct order, outputs likewise: an array takes one number
per element, an absent optional tensor keeps its number. A graph input or output is named after its first edge, or
``input0``, ``output0``. Names of nodes are for debugging: they may be null, and repeated names get numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

from dml2onnx.catalog import FieldKind
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import READ_AS_OTHER_TYPE
from dml2onnx.diagnostics import Code, Edit, Place, Remedy, plural
from dml2onnx.frontends.contents import looks_wider, max_file_bytes
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import API, enumerators
from dml2onnx.frontends.dml_graph_constants import read_data
from dml2onnx.frontends.dml_graph_parts import (
    ConstantNode,
    Edge,
    NodeSlot,
    OperatorNode,
    PartialInput,
    debug_name,
    drop_comments,
    edge_names,
    size_in_bytes,
    slots,
    unique_name,
)
from dml2onnx.frontends.edge_cycles import break_cycles
from dml2onnx.frontends.edge_remedies import ConnectedPorts, end_places
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import FindingDetails, Findings, at_field, pointer, quote, show
from dml2onnx.frontends.members import UINT32, Members, wrong_kind
from dml2onnx.frontends.names import UniqueNames
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.problems import missing_fields, operator_form, other_operator, report, unknown_operator
from dml2onnx.frontends.text import Document
from dml2onnx.frontends.unresolved import UNBOUNDED, Unresolved
from dml2onnx.ir.data import padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import Unreadable
from dml2onnx.ir.tensor import DataType, TensorDesc

_ARRAYS_BY_COUNT = {
    "NodeCount": "Nodes",
    "InputEdgeCount": "InputEdges",
    "OutputEdgeCount": "OutputEdges",
    "IntermediateEdgeCount": "IntermediateEdges",
}
_ROOT_MEMBERS = ("$schema", "InputCount", "OutputCount", *(name for pair in _ARRAYS_BY_COUNT.items() for name in pair))
_NODE, _CONNECTION, _UNUSED = "node", "connection", "unused input"
"""Kinds of findings that are suppressed when a node or an edge could not be read."""
_INPUT_EDGE = ("GraphInputIndex", "ToNodeIndex", "ToNodeInputIndex")
_OUTPUT_EDGE = ("FromNodeIndex", "FromNodeOutputIndex", "GraphOutputIndex")
_INTERMEDIATE_EDGE = ("FromNodeIndex", "FromNodeOutputIndex", "ToNodeIndex", "ToNodeInputIndex")


def read(document: Document, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """Reads a ``DML_GRAPH_DESC``, with errors as findings of the graph."""
    return _GraphDescReader(document, options).read()


class _GraphDescReader:
    def __init__(self, document: Document, options: LoadOptions) -> None:
        self._document = document
        self._findings = Findings()
        self._files = ModelFiles(document.path.parent, options)
        self._descriptors = DescriptorReader(API)
        self._unresolved = Unresolved()
        self._constants: list[Constant] = []
        self._nodes: list[OperatorNode | ConstantNode | None] = []
        self._edge_names: dict[tuple[int, int], str] = {}
        self._connected = ConnectedPorts({}, ())
        self._names = UniqueNames()

    def read(self) -> Graph:
        findings = self._findings
        drop_comments(self._document.root, findings)
        root = Members(self._document.root, "", findings)
        for place, name in self._document.repeated():
            findings.report(codes.DUPLICATE_KEY, f"the object has {quote(name)} twice", place, found=quote(name))
        root.only(_ROOT_MEMBERS, "DML_GRAPH_DESC")
        if not root.raw.keys() <= set(_ROOT_MEMBERS):
            self._suppress_unconnected()
        self._edge_names = edge_names(self._document.root)
        self._nodes = [self._read_node(index, raw) for index, raw in enumerate(self._array(root, "Nodes"))]
        self._connected = ConnectedPorts(self._document.root, self._nodes)
        input_edges = list(self._read_edges(root, "InputEdges", _INPUT_EDGE))
        output_edges = list(self._read_edges(root, "OutputEdges", _OUTPUT_EDGE))
        for edge in self._read_edges(root, "IntermediateEdges", _INTERMEDIATE_EDGE):
            self._connect_nodes(edge)
        for finding in break_cycles(self._nodes, output_edges, self._unresolved):
            findings.add(finding)
        for count, array in _ARRAYS_BY_COUNT.items():
            self._compare_count(root, count, array)
        for item in self._nodes:
            if isinstance(item, ConstantNode):
                self._compare_file(item)
        inputs = self._connect_inputs(root, input_edges)
        outputs = self._connect_outputs(root, output_edges)
        nodes = tuple([self._finish(node) for node in self._nodes if isinstance(node, OperatorNode)])
        return Graph(
            nodes,
            inputs,
            outputs,
            tuple(self._constants),
            findings=findings.all(),
            format="dml_graph",
            unresolved=self._unresolved.all(),
            sources=(self._document.path, *self._files.found),
            unread_nodes=self._nodes.count(None),
        )

    def _array(self, root: Members, name: str) -> list[object]:
        optional = name in ("InputEdges", "IntermediateEdges")
        array = [] if optional and root.raw.get(name) is None else root.array(name, required=True)
        if array is None:
            self._suppress_unconnected()
            if name == "Nodes":
                self._findings.mark_unreadable(_NODE)
        return array or []

    def _compare_count(self, root: Members, count: str, array: str) -> None:
        stated, values = root.uint(count, UINT32), root.raw.get(array)
        length = len(values) if isinstance(values, list) else 0
        if not isinstance(values, list) and (values is not None or array in ("Nodes", "OutputEdges")):
            return  # the array is missing or invalid, which has been reported
        if stated is not None and stated != length:
            message = f"{count} is {stated}, but {array} has {plural(length, 'element')}"
            self._suppress_unconnected()
            if array == "Nodes" and stated > length:
                self._findings.mark_unreadable(_NODE)
            self._findings.report(codes.COUNT_DIFFERS, message, root.at(count), expected=length, found=stated)

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _read_node(self, index: int, raw: object) -> OperatorNode | ConstantNode | None:
        place = f"/Nodes/{index}"
        members = Members.of(raw, place, self._findings, "a node")
        if members is None:
            return None
        members.only(("Type", "Name", "Desc"), "DML_GRAPH_NODE_DESC")
        kind = members.required("Type", "OPERATOR or CONSTANT")
        table = enumerators("DML_GRAPH_NODE_TYPE", True)
        type_name = table.get(kind) if type(kind) in (str, int) else None
        inner = members.mapping("Desc", required=True)
        if type_name not in ("OPERATOR", "CONSTANT"):
            if "Type" in members.raw:
                message = f"Type is {show(kind)}, not OPERATOR or CONSTANT"
                expected, place = "OPERATOR, CONSTANT", members.at("Type")
                finding = codes.WRONG_KIND.at(message, pointer=place, expected=expected, found=show(kind))
                self._findings.add(replace(finding, remedies=self._wrapping_remedy(kind)))
            return None
        if inner is None:
            return None
        desc = Members(inner, members.at("Desc"), self._findings)
        name = debug_name(desc) or debug_name(members) or ""
        if type_name == "CONSTANT":
            return self._read_constant(desc, name or f"constant{index}")
        return self._read_operator(desc, name, index)

    def _read_operator(self, desc: Members, name: str, index: int) -> OperatorNode | None:
        raw, place = desc.raw, desc.place
        if "Operator" not in raw and raw.keys().isdisjoint(("Type", "type", "Desc", "desc")):
            desc.only(("Operator", "Name"), "DML_OPERATOR_GRAPH_NODE_DESC")
            desc.required("Operator", "an object with Type and Desc")
            return None
        if "Operator" in raw:
            desc.only(("Operator", "Name"), "DML_OPERATOR_GRAPH_NODE_DESC")
            place = desc.at("Operator")
            wrapped = desc.mapping("Operator")
            if wrapped is None:
                return None
            raw = wrapped
        form = operator_form(raw)
        schema = self._descriptors.schema(form.type)
        if schema is None:
            named = form if "type" in raw else form._replace(type_path=("Type",))
            report(self._findings, [unknown_operator(named, raw)], place, node=name)
            return None
        wrong = missing_fields(form, schema)
        if wrong is None and type(form.fields) is dict:
            wrong = other_operator(schema, form.fields.keys() - {*form.extra, "Name"}, *form.type_path)
        if wrong is not None:
            report(self._findings, [wrong], place, node=name, schema=schema)
            return None
        name = self._names.new(name or f"{schema.stem}_{index}")
        fields_place = place + pointer(*form.fields_path)
        if type(form.fields) is not dict:
            expected = "an object with the fields of the operator"
            wrong_kind(self._findings, "Desc", expected, form.fields, fields_place, name)
            return None
        extra = ("Type", "type", "Name") if not form.fields_path else ()
        if form.fields_path:
            allowed = ("Type", "type", "Desc", "desc", *(("Name",) if raw is desc.raw else ()))
            Members(raw, place, self._findings, name).only(allowed, "DML_OPERATOR_DESC")
        operator, problems = self._descriptors.operator(schema, form.fields, extra=extra)
        report(self._findings, problems, fields_place, node=name, schema=schema)
        outputs = tuple(slots(operator, FieldKind.OUTPUT_TENSOR, form.fields))
        return OperatorNode(
            fields_place,
            name,
            operator,
            tuple(slots(operator, FieldKind.INPUT_TENSOR, form.fields)),
            outputs,
            tuple(
                [
                    Value(self._edge_names.get((index, number)) or f"{name}.{slot.field}", size_in_bytes(slot.desc))
                    for number, slot in enumerate(outputs)
                ]
            ),
        )

    def _read_constant(self, desc: Members, name: str) -> ConstantNode:
        desc.only(("Data", "DataSize", "Name"), "DML_CONSTANT_DATA_GRAPH_NODE_DESC")
        data = read_data(desc, name, self._files, self._findings)
        if data is None:
            return ConstantNode(self._unresolved.value(name))
        size = desc.uint("DataSize")
        if size is not None and size != data.nbytes:
            message = f"DataSize is {size}, but Data has {plural(data.nbytes, 'byte')}"
            self._findings.report(
                codes.COUNT_DIFFERS, message, desc.at("DataSize"), expected=data.nbytes, found=size, node=name
            )
        value = Value(name, -(-data.nbytes // 4) * 4)
        self._constants.append(Constant(value, padded(data, value.nbytes)))
        raw = desc.raw["Data"]
        is_whole = size is None and isinstance(raw, dict) and raw.keys().isdisjoint(("offset", "length"))
        return ConstantNode(value, desc.at("Data", "file") if is_whole else "", desc.at("Data"), data)

    def _compare_file(self, node: ConstantNode) -> None:
        """Compares a file of unstated size with the largest tensor that reads it; edges report shorter files.

        A file of exactly twice the size may hold numbers of twice the bits.
        """
        limit = max((max_file_bytes(desc) for desc in node.readers), default=UNBOUNDED)
        if node.unsized_file and node.value.nbytes > limit:
            message = f"the file has {node.value.nbytes} bytes, but no tensor reads more than {limit}"
            found, name = f"{node.value.nbytes} bytes", node.value.name
            self._findings.report(
                codes.FILE_TOO_LONG, message, node.unsized_file, expected=f"{limit} bytes", found=found, node=name
            )
        elif node.value.nbytes == 2 * limit and node.data is not None:
            own = node.readers[0].data_type
            wide = own.name.replace(str(own.bits), str(2 * own.bits))
            if own.bits > 8 and wide in DataType.__members__ and looks_wider(node.data, own):
                message = f"{quote(node.value.name)} has {2 * limit} bytes, but no tensor reads more than {limit}, "
                message += f"as {own.name}; are these {wide}?"
                self._findings.report(READ_AS_OTHER_TYPE, message, node.place, expected=wide, found=own.name)

    # --- Edges --------------------------------------------------------------------------------------------------------

    def _read_edges(self, root: Members, section: str, names: tuple[str, ...]) -> Iterator[Edge]:
        kind = section.removesuffix("Edges").upper()
        for index, raw in enumerate(self._array(root, section)):
            members = Members.of(raw, f"/{section}/{index}", self._findings, "an edge")
            if members is None:
                self._suppress_unconnected()
                continue
            if "Desc" in members.raw or "Type" in members.raw:
                members.only(("Type", "Desc"), "DML_GRAPH_EDGE_DESC")
                stated = members.raw.get("Type", kind)
                table = enumerators("DML_GRAPH_EDGE_TYPE", True)
                if type(stated) not in (str, int) or table.get(stated) != kind:
                    message = f"Type is {show(stated)}, but {section} holds edges of type {kind}"
                    self._findings.report(
                        codes.WRONG_KIND, message, members.at("Type"), expected=kind, found=show(stated)
                    )
                inner = members.mapping("Desc", required=True)
                if inner is None:
                    self._suppress_unconnected()
                    continue
                members = Members(inner, members.at("Desc"), self._findings)
            members.only((*names, "Name"), f"DML_{kind}_GRAPH_EDGE_DESC")
            ends = [members.uint(name, UINT32, required=True) for name in names]
            complete = tuple(end for end in ends if end is not None)
            name = debug_name(members)
            if len(complete) == len(names):
                yield Edge(members.place, name, complete, names)
            else:
                self._suppress_unconnected()

    def _suppress_unconnected(self) -> None:
        """An edge could not be read, so a tensor that seems unconnected may be its end."""
        for kind in (_CONNECTION, _UNUSED):
            self._findings.mark_unreadable(kind)

    def _node(self, edge: Edge, end: int) -> OperatorNode | ConstantNode | None:
        index = edge.ends[end]
        if index < len(self._nodes):
            return self._nodes[index]
        self._suppress_unconnected()
        count = len(self._nodes)
        expected, message = f"a number below {count}" if count else "no edge", f"there is no node {index}"
        is_source = edge.members[end] == "FromNodeIndex"
        remedies = self._connected.other_output(edge) if is_source else self._connected.other_input(edge, end + 1)
        place, found = edge.at(end), str(index)
        finding = codes.EDGE_INDEX.at(message, pointer=place, expected=expected, found=found, remedies=remedies)
        self._findings.report_unknown(_NODE, found, finding)
        return None

    def _report_bad_index(
        self, edge: Edge, end: int, message: str, count: int, remedies: tuple[Remedy, ...] = ()
    ) -> None:
        expected, place = f"a number below {count}" if count else "no edge", edge.at(end)
        self._suppress_unconnected()
        found = edge.ends[end]
        self._findings.report(codes.EDGE_INDEX, message, place, expected=expected, found=found, remedies=remedies)

    def _target(self, edge: Edge, node_end: int) -> tuple[OperatorNode, NodeSlot] | None:
        """Returns the input that an edge leads to, or ``None`` if it cannot be connected."""
        node = self._node(edge, node_end)
        number = edge.ends[node_end + 1]
        if isinstance(node, ConstantNode):
            self._report_bad_index(edge, node_end + 1, f"node {edge.ends[node_end]} is a constant and has no inputs", 0)
        if not isinstance(node, OperatorNode):
            return None
        slot = self._slot(edge, node_end + 1, node, node.inputs, "input")
        if slot is None:
            return None
        if number in node.reads:
            message = f"another edge leads to input {number} ({slot.field}) already"
            self._suppress_unconnected()
            place, first = edge.at(node_end + 1), node.edges.get(number)
            remedies = [item for other in (first, edge) if other for item in self._connected.reversed_edge(other)]
            there = Place(place if first is None else first.at(len(first.ends) - 1), "the first edge to it")
            remedies = remedies or [*self._connected.other_input(edge, node_end + 1)]
            details: FindingDetails = {"expected": "one edge", "places": (there,), "remedies": tuple(remedies)}
            self._report(codes.CONNECTED_TWICE, message, place, node, slot.field, **details)
            return None
        node.edges[number] = edge
        return node, slot

    def _slot(
        self, edge: Edge, end: int, node: OperatorNode, slots: tuple[NodeSlot, ...], what: str
    ) -> NodeSlot | None:
        number = edge.ends[end]
        if number >= len(slots):
            message = (
                f"{node.operator.type} has {plural(len(slots), what)}, numbered from 0; there is no number {number}"
            )
            another = self._connected.other_input(edge, end) if what == "input" else None
            remedies = self._connected.other_output(edge) if another is None else another
            self._report_bad_index(edge, end, message, len(slots), remedies)
            return None
        slot = slots[number]
        if slot.desc is None:
            message = f"number {number} is {slot.field}, which is absent"
            self._suppress_unconnected()
            remedies = self._connected.other_input(edge, end) if what == "input" else ()
            details: FindingDetails = {"expected": "a tensor that is present", "remedies": remedies}
            self._report(codes.ABSENT_TENSOR, message, edge.at(end), node, slot.field, **details)
            return None
        return slot

    def _connect_nodes(self, edge: Edge) -> None:
        source, target = self._node(edge, 0), self._target(edge, 2)
        value: Value | None = None
        desc: TensorDesc | Unreadable | None = None
        if isinstance(source, ConstantNode):
            value = source.value
            if edge.ends[1] != 0:
                self._report_bad_index(edge, 1, "a constant has one output, number 0", 1)
        elif source is not None:
            slot = self._slot(edge, 1, source, source.outputs, "output")
            if slot is not None:
                value, desc = source.values[edge.ends[1]], slot.desc
        if target is None:
            return
        node, end = target
        node.reads[edge.ends[3]] = Read(value or self._unresolved.value())
        if not isinstance(end.desc, TensorDesc) or value is None:
            return
        if end.desc.owned_by_dml:
            message = f"{end.field} is owned by DirectML, but connected to node {edge.ends[0]}"
            expected = "an edge from a graph input"
            self._report(codes.OWNED_NOT_AN_INPUT, message, edge.place, node, end.field, expected=expected)
            node.reads[edge.ends[3]] = Read(self._unresolved.value())
        needed = end.desc.total_bytes
        if isinstance(source, ConstantNode):
            source.readers.append(end.desc)
        if isinstance(desc, TensorDesc) and desc.total_bytes != needed:
            self._sizes_differ(
                edge, node, end.field, "the output", desc.total_bytes, needed, places=end_places(self._nodes, edge)
            )
        elif isinstance(source, ConstantNode) and value.nbytes < needed:
            self._sizes_differ(edge, node, end.field, "the constant", value.nbytes, needed)

    def _wrapping_remedy(self, kind: object) -> tuple[Remedy, ...]:
        """Shows the form of a node whose ``Type`` is the type of an operator."""
        schema = self._descriptors.schema(kind)
        if schema is None:
            return ()
        inner = f'{{"Type": "{schema.short_name}", "Desc": {{...}}}}'
        return (Remedy(f'"Type": "OPERATOR", "Desc": {{"Operator": {inner}}}'),)

    def _sizes_differ(
        self,
        edge: Edge,
        node: OperatorNode,
        field_name: str,
        source: str,
        size: int,
        needed: int,
        **details: Unpack[FindingDetails],
    ) -> None:
        message = f"{source} has {size} bytes, and {field_name} reads {needed}"
        details |= {"expected": f"{size} bytes", "found": f"{needed} bytes"}
        self._report(codes.EDGE_BYTES, message, edge.place, node, field_name, **details)
        node.reads[edge.ends[-1]] = Read(self._unresolved.value())

    def _connect_inputs(self, root: Members, edges: list[Edge]) -> tuple[GraphInput, ...]:
        stated = root.uint("InputCount", UINT32)
        count = stated if stated is not None else max((edge.ends[0] + 1 for edge in edges), default=0)
        inputs: dict[int, PartialInput] = {}
        names: set[str] = set()
        for edge in edges:
            index = edge.ends[0]
            target = self._target(edge, 1)
            if index >= count:
                self._report_bad_index(edge, 0, f"there is no graph input {index}", count)
                if target is not None:
                    target[0].reads[edge.ends[2]] = Read(self._unresolved.value())
                continue
            item = inputs.get(index)
            if item is None:
                item = inputs[index] = PartialInput(unique_name(edge.name, f"input{index}", names))
            if target is not None:
                self._connect_input(edge, item, *target, count)
        if len(inputs) < count:
            last = max(edges, key=lambda edge: edge.ends[0], default=None) if stated is None else None
            self._report_unused(inputs, count, "/InputCount" if last is None else last.at(0))
        return tuple(
            GraphInput(item.name, item.value, None, item.desc if item.covers_all else None)
            for _, item in sorted(inputs.items())
            if item.value is not None
        )

    def _connect_input(self, edge: Edge, item: PartialInput, node: OperatorNode, slot: NodeSlot, count: int) -> None:
        desc = slot.desc
        if item.value is None:
            item.value = Value(item.name, size_in_bytes(desc))
            item.desc = desc if isinstance(desc, TensorDesc) else None
            item.reader = f"{slot.field} of {quote(node.name)}"
        node.reads[edge.ends[2]] = Read(item.value)
        if isinstance(desc, TensorDesc) and item.desc is not None:
            item.covers_all = item.covers_all and desc.reach <= item.desc.reach
            expected, found = item.desc.total_bytes, desc.total_bytes
            if expected != found:
                what = f"{quote(item.name)}, which {item.reader} of sizes {list(item.desc.sizes)} reads,"
                own = (Remedy(f'"GraphInputIndex": {count}, an input of its own'),)
                self._sizes_differ(edge, node, slot.field, what, expected, found, remedies=own)
            if item.desc.owned_by_dml != desc.owned_by_dml:
                message = f"{quote(item.name)} is owned by DirectML at one node and not at another"
                self._suppress_unconnected()
                self._report(codes.OWNED_FLAGS_DIFFER, message, edge.place, node, slot.field)

    def _report_unused(self, inputs: dict[int, PartialInput], count: int, place: str) -> None:
        unused = count - len(inputs)
        first = next(index for index in range(count) if index not in inputs)
        more = f" (and {unused - 1} more)" if unused > 1 else ""
        message = f"nothing is connected to graph input {first}{more}; graph inputs are numbered from 0 on"
        finding = codes.UNUSED_GRAPH_INPUT.at(message, pointer=place, expected=f"an edge from {first}", found=first)
        self._findings.report_unknown(_UNUSED, "input", finding)

    def _connect_outputs(self, root: Members, edges: list[Edge]) -> tuple[GraphOutput, ...]:
        stated = root.uint("OutputCount", UINT32)
        count = stated if stated is not None else max((edge.ends[2] + 1 for edge in edges), default=0)
        outputs: dict[int, GraphOutput | None] = {}
        outputs_at: dict[int, str] = {}
        names: set[str] = set()
        for edge in edges:
            index = edge.ends[2]
            node = self._node(edge, 0)
            slot = None
            if isinstance(node, ConstantNode):
                message = "a constant cannot be a graph output, since it has no descriptor"
                self._findings.report(codes.CONSTANT_OUTPUT, message, edge.place)
            elif node is not None:
                slot = self._slot(edge, 1, node, node.outputs, "output")
            if index >= count:
                self._report_bad_index(edge, 2, f"there is no graph output {index}", count)
                continue
            if index in outputs:
                message = f"another edge leads to graph output {index} already"
                self._suppress_unconnected()
                first_edge = Place(outputs_at[index], "the first edge to it")
                expected = "a number of its own for each output"
                self._findings.report(
                    codes.CONNECTED_TWICE, message, edge.at(2), expected=expected, found=index, places=(first_edge,)
                )
                continue
            outputs[index] = None
            outputs_at[index] = edge.at(2)
            if isinstance(node, OperatorNode) and slot is not None and isinstance(slot.desc, TensorDesc):
                name = unique_name(edge.name, f"output{index}", names)
                outputs[index] = GraphOutput(name, node.values[edge.ends[1]], slot.desc)
        if len(outputs) < count:
            first = next(index for index in range(count) if index not in outputs)
            message = f"nothing is connected to graph output {first}"
            last = max(edges, key=lambda edge: edge.ends[2]).at(2) if stated is None else ""
            remedies = (
                (Remedy(f"GraphOutputIndex {first}", (Edit(last, first),)),) if len(outputs) == 1 and last else ()
            )
            finding = codes.UNFED_GRAPH_OUTPUT.at(
                message, pointer=last or "/OutputCount", expected="an edge", found=str(first), remedies=remedies
            )
            self._findings.report_unknown(_CONNECTION, "output", finding)
        return tuple(item for _, item in sorted(outputs.items()) if item is not None)

    def _finish(self, node: OperatorNode) -> Node:
        """Builds the node with its connections, and reports unconnected inputs."""
        reads: dict[str, list[Read]] = {}
        for number, slot in enumerate(node.inputs):
            if not isinstance(slot.desc, TensorDesc):
                continue
            read = node.reads.get(number)
            if read is None:
                self._findings.mark_unreadable(_UNUSED)
                self._report_unconnected(node, number, slot.field)
                read = Read(self._unresolved.value())
            reads.setdefault(slot.field, []).append(read)
        writes: dict[str, list[Write]] = {}
        for slot, value in zip(node.outputs, node.values, strict=True):
            if isinstance(slot.desc, TensorDesc):
                writes.setdefault(slot.field, []).append(Write(value))
            else:
                self._unresolved.add([value])
        return Node(
            node.name,
            node.operator,
            {name: tuple(items) for name, items in reads.items()},
            {name: tuple(items) for name, items in writes.items()},
            node.place,
        )

    def _report_unconnected(self, node: OperatorNode, number: int, field_name: str) -> None:
        place = node.place + pointer(field_name)
        message = f"nothing is connected to input {number} ({field_name})"
        code, schema = codes.UNCONNECTED_TENSOR, node.operator.schema
        remedies = self._connected.missing_edge(node, number)
        finding = at_field(code, message, place, node.name, schema, field_name, expected="an edge", remedies=remedies)
        self._findings.report_unknown(_CONNECTION, f"{place} {number}", finding)

    def _report(
        self, code: Code, message: str, place: str, node: OperatorNode, field: str, **details: Unpack[FindingDetails]
    ) -> None:
        schema = node.operator.schema
        self._findings.report(code, message, place, node=node.name, schema=schema, field=field, **details)
