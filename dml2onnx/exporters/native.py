"""Writes the native format.

``frontends.native`` reads the same graph back. Names are kept; if several values have one name, all but the first get a
key of their own. The descriptor of an operator's input is omitted if the value has the same one, and a constant has the
descriptor of its first reader. The positions of nodes in their source are not kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldType
from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import quote, raise_errors
from dml2onnx.exporters.descriptors import Json, command, fields, tensor
from dml2onnx.exporters.layout import laid_out
from dml2onnx.exporters.native_contents import Sidecar, contents, is_zero
from dml2onnx.exporters.problems import Problems
from dml2onnx.exporters.references import NO_REFERENCES
from dml2onnx.frontends.contents import buffer_size
from dml2onnx.frontends.native import VERSION
from dml2onnx.frontends.native_values import written_size
from dml2onnx.ir.data import MissingData
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dml2onnx.ir.graph import Constant, Effect, Graph, GraphInput, GraphOutput, Node, Read, Value, Write

_LEVELS = {"inputs": 1, "constants": 1, "nodes": 2, "commands": 1}


def native(graph: Graph, sidecar: str, references: Mapping[Path, str] = NO_REFERENCES) -> tuple[str, Sidecar | None]:
    """Returns the text of a graph, and the contents of the file ``sidecar`` beside it if there are any.

    ``references`` are the names of missing files of constants. Raises :class:`DmlError` with the errors found while the
    graph was read, or with what cannot be written.
    """
    raise_errors(graph.findings)
    return _Export(graph, Sidecar(sidecar), references).run()


class _Export:
    def __init__(self, graph: Graph, sidecar: Sidecar, references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._references = references
        self._sidecar = sidecar
        self._problems = Problems()
        self._keys: dict[Value, str] = {}
        self._descs: dict[Value, TensorDesc | None] = {}
        """The declared descriptor of each value; ``None`` for a buffer without one."""
        self._readers: dict[Value, list[TensorDesc]] = {}
        """The tensors that read each value from its start."""
        self._types: dict[Value, DataType] = {}
        """The data type of the first reader of each value."""
        self._used: set[Value] = set()
        self._sized_inputs = _sized_inputs(graph)
        for node in graph.nodes:
            for _, _, read, desc in node.views_in():
                self._used.add(read.value)
                self._types.setdefault(read.value, desc.data_type)
                if not read.offset:
                    self._readers.setdefault(read.value, []).append(desc)
            self._used.update(base for _, _, write, _ in node.views_out() if (base := write.base) is not None)
        ends = (*graph.outputs, *graph.results, *(effect.output for effect in graph.effects))
        self._used.update(output.value for output in ends)

    def run(self) -> tuple[str, Sidecar | None]:
        graph = self._graph
        self._name_values()
        document: Json = {"dml2onnx": VERSION, "name": graph.name}
        if graph.feature_level is not None:
            document["feature_level"] = graph.feature_level
        names = _size_names(graph, self._sized_inputs)
        if names:
            document["names"] = names
        sections: Json = {  # in this order, because readers omit descriptors that were declared before
            "inputs": {self._keys[item.value]: self._input(item) for item in graph.inputs},
            "constants": {self._keys[item.value]: self._constant(item) for item in graph.constants},
            "nodes": [self._node(node) for node in graph.nodes],
            "outputs": self._outputs("output", graph.outputs),
            "results": self._outputs("result", graph.results),
            "commands": [self._command(effect) for effect in graph.effects],
        }
        required = ("nodes", "outputs")
        document.update({name: item for name, item in sections.items() if item or name in required})
        text = laid_out(document, _LEVELS)
        self._problems.check_strings(text)
        self._problems.raise_found()
        return text, self._sidecar if self._sidecar.nbytes else None

    # --- Names --------------------------------------------------------------------------------------------------------

    def _name_values(self) -> None:
        graph = self._graph
        named = [(item.value, item.name) for item in graph.inputs]
        named += [(item.value, item.value.name) for item in graph.constants]
        for node in graph.nodes:
            for field, _, write, desc in node.views_out():
                self._descs[write.value] = desc
                if not self._is_unused(node, field, write, desc):
                    named.append((write.value, write.value.name))
        taken: set[str] = set()
        names = {name for _, name in named}
        numbers: dict[str, int] = {}
        for value, name in named:
            key, number = name, numbers.get(name, 1)
            while key in taken or (number > 1 and key in names):
                number += 1
                key = f"{name}_{number}"
            taken.add(key)
            numbers[name] = number
            self._keys[value] = key

    def _is_unused(self, node: Node, field: str, write: Write, desc: TensorDesc) -> bool:
        """Whether a null in an array of outputs would be read as this output."""
        is_plain = not write.offset and write.base is None and write.value.nbytes == desc.total_bytes
        is_array = node.operator.schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
        return is_array and is_plain and write.value not in self._used and write.value.name == f"{node.name}.{field}"

    def _key(self, value: Value, what: str) -> str:
        key = self._keys.get(value)
        if key is None:
            message = f"Nothing provides {quote(value.name)}, which {what} uses."
            self._problems.add(codes.NO_SOURCE, message, found=quote(value.name))
            return value.name
        return key

    def _named(self, key: str, name: str) -> Json:
        return {} if key == name else {"name": name}

    # --- Inputs and constants -----------------------------------------------------------------------------------------

    def _input(self, item: GraphInput) -> Json:
        desc = self._descs[item.value] = item.desc
        elements = desc or self._elements(item.value)
        members = self._named(self._keys[item.value], item.name)
        if item.sizes and desc is None:
            desc = self._descs[item.value] = self._sized_inputs[item.name]
        data = {} if item.default is None else contents(item.default, elements, item.value.nbytes, self._sidecar)
        buffer = self._buffer(item.value, desc, elements if data else None)
        if item.sizes:
            buffer["Sizes"] = list(item.sizes)
        return members | buffer | data

    def _constant(self, item: Constant) -> Json:
        value = item.value
        desc = self._descs[value] = self._constant_desc(item)
        elements = desc or self._elements(value)
        members = self._named(self._keys[value], value.name) | self._buffer(value, desc, elements)
        if isinstance(item.data, MissingData):
            return members | {"file": self._references[item.data.path]}
        return members | contents(item.data, elements, value.nbytes, self._sidecar)

    def _constant_desc(self, item: Constant) -> TensorDesc | None:
        """The first tensor that reads all contents of a constant."""
        nbytes = item.value.nbytes
        for desc in self._readers.get(item.value, ()):
            used = desc.data_type.bytes_for(desc.extent)
            if used > nbytes or buffer_size(desc) > nbytes:
                continue
            if isinstance(item.data, MissingData) or is_zero(item.data, used, nbytes):
                return desc
        return None

    def _elements(self, value: Value) -> TensorDesc:
        """A buffer as a row of elements of its first reader's data type, or of UINT8 if these do not fill it."""
        data_type = self._types.get(value, DataType.UINT8)
        if value.nbytes * 8 % data_type.bits:
            data_type = DataType.UINT8
        return TensorDesc(data_type, (value.nbytes * 8 // data_type.bits,))

    def _buffer(self, value: Value, desc: TensorDesc | None, elements: TensorDesc | None) -> Json:
        if desc is not None:
            members = tensor(desc)
            return members if buffer_size(desc) == value.nbytes else members | {"bytes": value.nbytes}
        if elements is None or elements.data_type is DataType.UINT8:
            return {"bytes": value.nbytes}
        return {"DataType": elements.data_type.name, "bytes": value.nbytes}

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> Json:
        schema = node.operator.schema
        known = set()
        inputs: Json = {}
        outputs: Json = {}
        for item in schema.tensor_fields:
            is_array = item.type is FieldType.TENSOR_ARRAY
            if item.name in node.reads:
                reads = node.reads[item.name]
                if reads and all(
                    self._descs.get(read.value) == desc
                    for read, desc in zip(reads, node.operator.tensors(item.name), strict=True)
                ):
                    known.add(item.name)
                sources = [self._source(read, node) for read in reads]
                inputs[item.name] = sources if is_array else sources[0]
            elif item.name in node.writes:
                pairs = zip(node.writes[item.name], node.operator.tensors(item.name), strict=True)
                targets = [self._target(node, write, desc) for write, desc in pairs]
                outputs[item.name] = targets if is_array else targets[0]
        members: Json = {"name": node.name, "type": node.operator.type, "desc": fields(node.operator, known)}
        if inputs:
            members["inputs"] = inputs
        return members | {"outputs": outputs}

    def _source(self, read: Read, node: Node) -> object:
        key = self._key(read.value, f"the node {quote(node.name)}")
        return {"value": key, "offset": read.offset} if read.offset else key

    def _target(self, node: Node, write: Write, desc: TensorDesc) -> object:
        key = self._keys.get(write.value)
        if key is None:
            return None
        members: Json = {"value": key, **self._named(key, write.value.name)}
        if write.offset:
            members["offset"] = write.offset
        if write.base is not None:
            members["base"] = self._key(write.base, f"the node {quote(node.name)}")
        if write.value.nbytes != written_size(desc, write.offset, None if write.base is None else write.base.nbytes):
            members["bytes"] = write.value.nbytes
        return key if len(members) == 1 else members

    # --- Outputs ------------------------------------------------------------------------------------------------------

    def _outputs(self, what: str, outputs: Sequence[GraphOutput]) -> object:
        """A list of keys if these equal the names of all outputs, otherwise an object with the names."""
        names = Counter(item.name for item in outputs)
        for name, times in names.items():
            if times > 1:
                message = f"{times} {what}s are named {quote(name)}."
                self._problems.add(codes.UNSUITABLE_NAME, message, found=quote(name))
        entries = {item.name: self._output(item, f"the {what} {quote(item.name)}") for item in outputs}
        is_list = all(self._keys.get(item.value) == item.name for item in outputs)
        return list(entries.values()) if is_list else entries

    def _output(self, output: GraphOutput, what: str) -> object:
        key = self._key(output.value, what)
        return key if self._descs.get(output.value) == output.desc else {"value": key, **tensor(output.desc)}

    def _command(self, effect: Effect) -> Json:
        key = self._key(effect.output.value, f"the command {effect.kind}")
        members: Json = {"type": effect.kind, "value": key, **self._named(key, effect.output.name)}
        if self._descs.get(effect.output.value) != effect.output.desc:
            members |= tensor(effect.output.desc)
        return members | command(effect)


def _sized_inputs(graph: Graph) -> dict[str, TensorDesc]:
    """The tensors of the inputs with named sizes."""
    if not graph.named_sizes:
        return {}
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    descs = input_descs(graph.inputs, graph.sorted_nodes(), ends)
    return {item.name: desc for item, desc in zip(graph.inputs, descs, strict=True) if item.sizes}


def _size_names(graph: Graph, descs: Mapping[str, TensorDesc]) -> Json:
    """The names of sizes with their current values and ranges."""
    names: Json = {}
    for item in graph.inputs:
        for size, own in zip(item.sizes, descs[item.name].sizes if item.sizes else (), strict=True):
            if isinstance(size, str):
                limits = {"range": list(graph.ranges[size])} if size in graph.ranges else {}
                names[size] = {"size": own, **limits}
    return names
