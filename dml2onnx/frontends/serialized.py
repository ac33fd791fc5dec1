"""Reads serialized DirectML graphs: ``Partition_0.bin`` and the files of its constants in the same directory.

ONNX Runtime's DirectML provider writes them when ``ep.dml.enable_graph_serialization`` is set; DxDispatch runs them:
https://github.com/microsoft/DirectML/blob/master/DxDispatch/doc/Guide.md. The tables are those of
:mod:`dml2onnx.serialized_schema`.

Edges are equal names. An input of a node is an input of the graph of that name or else the output of an earlier node.
It has its own descriptor, which may differ from the producer's in shape and data type. Graph inputs have no descriptor
and take that of their first reader. Constants have neither a data type nor a shape. Constants below 8 bytes are in the
graph's file, others in ``<name>.bin``; DirectML owns the tensors that read the latter. If its file is missing, a
constant has the size of its largest reader, which is enough for everything but compiling and running.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dml2onnx import catalog
from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Diagnostic, UnreadableError
from dml2onnx.frontends.contents import max_file_bytes
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import OPERATOR_PREFIX, SERIALIZED
from dml2onnx.frontends.files import FileError, MissingFileError, ModelFiles
from dml2onnx.frontends.findings import FindingDetails, Findings, quote
from dml2onnx.frontends.flatbuffer import DamagedError, FlatBuffer, Table
from dml2onnx.frontends.flatbuffer_repeats import Pieces, TableCache
from dml2onnx.frontends.names import UniqueNames
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.problems import operator_form, report, unknown_operator
from dml2onnx.frontends.serialized_operators import Connection, OperatorDecoder, name_at
from dml2onnx.frontends.text import SERIALIZED_SUFFIX
from dml2onnx.frontends.unresolved import UNBOUNDED, Unresolved
from dml2onnx.ir.data import ArrayData, Data, MissingData, padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Unreadable
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.serialized_schema import (
    CONSTANT_CODE,
    CONSTANT_NAME,
    CONSTANT_NODE,
    CONSTANT_RAW_DATA,
    GRAPH,
    NAME_CODE,
    NODE,
    OPERATOR_CODE,
    OPERATOR_NODE,
    RAW_DATA_CODE,
)

MAX_NAMED = 3
_NODES_AT_ONCE = 1 << 12
"""The number of nodes whose repeated parts are found together."""


def _partitions_beside(path: Path) -> str:
    """Names ONNX Runtime's graphs in the same directory, in case the file has the weights of one."""
    others = sorted(item.name for item in path.parent.glob("Partition_*.bin") if item.name != path.name)[:MAX_NAMED]
    return (
        f"; the same directory has {' and '.join(map(quote, others))}, which is such a graph by its name"
        if others
        else ""
    )


def read(path: Path, data: bytes, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """Reads a file, with errors as findings of the graph; raises :class:`UnreadableError` if it is damaged."""
    findings = Findings()
    files = ModelFiles(path.parent, options)
    try:
        graph = SerializedReader(data, files, findings).read(path.stem.encode("utf-8", "replace").decode())
    except DamagedError as damage:
        message = f"{quote(str(path))}, byte {damage.offset}: {damage}{_partitions_beside(path)}"
        found = f"byte {damage.offset}"
        raise UnreadableError(unreadable.DAMAGED_FILE.at(message, pointer=damage.place, found=found)) from None
    return replace(graph, findings=findings.all(), sources=(path, *files.found))


def _located(problem: Diagnostic, offset: int) -> Diagnostic:
    """Adds the position in the file to a problem, and suggests full names of operators."""
    guess = problem.guess
    if problem.code is codes.UNKNOWN_OPERATOR and guess is not None:
        guess = OPERATOR_PREFIX + guess[0].removeprefix(OPERATOR_PREFIX), catalog.operator_names()
    return replace(problem, message=f"{problem.message} (at byte {offset})", guess=guess)


class _Tensor(NamedTuple):
    """A present tensor of an operator."""

    position: int
    """Index of its name in the names of the inputs or outputs."""
    desc: TensorDesc | None
    """``None`` if the field could not be read."""
    nbytes: int


class _Operator(NamedTuple):
    """An operator and the tensors of its fields, without the names of values."""

    desc: OperatorDesc
    inputs: Mapping[str, tuple[_Tensor, ...]]
    outputs: Mapping[str, tuple[_Tensor, ...]]


class _OperatorNode(NamedTuple):
    number: int
    """Its index among all nodes."""
    name: str
    operator: _Operator
    names: list[str]
    """Names of the inputs."""
    writes: dict[str, tuple[Write, ...]]


class _Output(NamedTuple):
    """An output of a node."""

    node: int
    """The index of the node."""
    value: Value
    desc: TensorDesc | Unreadable | None
    """``None`` for constants."""


@dataclass(slots=True)
class _File:
    """The file of a constant, and its readers."""

    place: str
    name: str
    data: Data
    readers: list[TensorDesc] = field(default_factory=list)


@dataclass(slots=True)
class _Input:
    """A graph input, as far as it is known from its readers."""

    place: str
    nbytes: int = 0
    is_read: bool = False
    desc: TensorDesc | None = None
    covers_all: bool = True
    """Whether the first reader covers what all other readers read."""
    value: Value | None = None


def _tensors(operator: OperatorDesc, connections: tuple[Connection, ...]) -> dict[str, tuple[_Tensor, ...]]:
    """Returns the tensors of inputs or outputs by field."""
    tensors: dict[str, list[_Tensor]] = {}
    for name, _, position in connections:
        found = tensors.setdefault(name, [])
        desc = None if operator.get(name) is UNREADABLE else operator.tensors(name)[len(found)]
        found.append(_Tensor(position, desc, 0 if desc is None else desc.total_bytes))
    return {name: tuple(found) for name, found in tensors.items()}


class SerializedReader:
    """Reads one file; findings are placed below ``place``."""

    def __init__(self, data: bytes, files: ModelFiles, findings: Findings, place: str = "") -> None:
        self._data = data
        self._files = files
        self._findings = findings
        self._place = place
        self._descriptors = DescriptorReader(SERIALIZED)
        self._unresolved = Unresolved()
        self._constants: list[Constant] = []
        self._inputs: dict[str, _Input] = {}
        self._outputs: dict[str, _Output] = {}
        self._nodes: list[_OperatorNode] = []
        self._files_read: dict[str, _File] = {}
        """Files of constants, by the name of the constant."""
        self._names = UniqueNames()
        self._known: list[str] = []
        """All names of inputs and outputs."""
        self._owned: set[str] = set()
        """Names of constants in files, which are bound when the graph is initialized."""

    def read(self, name: str) -> Graph:
        """Reads the graph without its findings; raises :class:`DamagedError`."""
        buffer = FlatBuffer(self._data)
        self._pieces = Pieces(buffer)
        self._repeats = TableCache[_Operator](buffer, self._pieces, OPERATOR_NODE)
        self._decoder = OperatorDecoder(buffer, self._pieces)
        self._buffer = buffer
        root = buffer.root(GRAPH)
        for index, input_name in enumerate(root.strings("graphInputNames")):
            if input_name:
                self._declare_input(input_name, f"{self._place}{root.at('graphInputNames')}/{index}")
        tables = root.tables("nodes", NODE)
        for index, table in enumerate(tables):
            if not index % _NODES_AT_ONCE:
                self._pieces.find(NODE, [other.offset for other in tables[index : index + _NODES_AT_ONCE]])
            self._read_node(index, table)
        self._known = [*self._inputs, *self._outputs]
        for node in self._nodes:
            self._note_readers(node)
        for output_name, file in self._files_read.items():
            self._compare_file(output_name, file)
        inputs = tuple(self._finish_inputs())
        nodes = tuple([self._finish(node) for node in self._nodes])
        return Graph(
            nodes,
            inputs,
            tuple(self._read_outputs(root)),
            tuple(self._constants),
            name=name,
            format="serialized",
            unresolved=self._unresolved.all(),
        )

    def _declare_input(self, name: str, place: str) -> None:
        if name in self._inputs:
            message = f"{quote(name)} is the name of another input already, at {self._inputs[name].place}"
            self._findings.report(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(name))
        else:
            self._inputs[name] = _Input(place)

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _read_node(self, index: int, table: Table) -> None:
        code, offset = table.union("desc")
        supplied = table.string("name") or ""
        inputs, outputs = table.strings("inputNames"), table.strings("outputNames")
        place = self._node_place(index)
        if not supplied:
            self._findings.report(codes.MISSING_KEY, "name is missing", f"{place}/name", expected="the node's name")
        if offset is None or code not in (OPERATOR_CODE, CONSTANT_CODE):
            found = "nothing" if offset is None else f"code {code}"
            message = f"the node is neither an operator nor a constant (at byte {table.offset})"
            expected = "OperatorNodeDesc or ConstantNodeDesc"
            self._findings.report(
                codes.NODE_KIND, message, f"{place}/desc", expected=expected, found=found, node=supplied
            )
            self._skip_node(index, inputs, outputs)
        elif code == CONSTANT_CODE:
            self._read_constant(index, table.member("desc", offset, CONSTANT_NODE), supplied, outputs)
        else:
            self._read_operator(index, table, offset, supplied, inputs, outputs)

    def _skip_node(self, index: int, inputs: list[str], outputs: list[str]) -> None:
        """Marks the inputs of an unreadable node as used, and its outputs as unreadable."""
        for name in self._inputs.keys() & inputs:
            self._inputs[name].is_read = True
        for number, name in enumerate(outputs):
            if name:
                self._add_output(name, _Output(index, self._unresolved.value(name), UNREADABLE), number)

    def _add_output(self, name: str, output: _Output, number: int) -> None:
        """Adds an output of a node by its name, and reports duplicates."""
        known = self._outputs.setdefault(name, output)
        if known is not output:
            place = f"{self._node_place(output.node)}/outputNames/{number}"
            message = f"{quote(name)} is already an output of node {known.node}"
            self._findings.report(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(name))

    def _read_constant(self, index: int, table: Table, name: str, outputs: list[str]) -> None:
        name = name or f"constant{index}"
        place = self._place + table.place
        code, offset = table.union("data")
        if offset is None or code not in (NAME_CODE, RAW_DATA_CODE):
            found = "nothing" if offset is None else f"code {code}"
            message = f"the constant has neither a name nor bytes (at byte {table.offset})"
            expected = "ConstantName or ConstantRawData"
            self._findings.report(codes.NODE_KIND, message, f"{place}/data", expected=expected, found=found, node=name)
            data: Data | None = None
        elif code == NAME_CODE:
            data = self._named_data(table.member("data", offset, CONSTANT_NAME), name)
        else:
            raw = table.member("data", offset, CONSTANT_RAW_DATA)
            octets = raw.octets("data")
            data = ArrayData(np.empty(0, np.uint8) if octets is None else octets)
        named = [(number, output_name) for number, output_name in enumerate(outputs) if output_name]
        is_missing = isinstance(data, MissingData)
        if data is not None and not data.nbytes and not is_missing:
            self._findings.report(codes.NO_DATA, "the constant has no bytes", f"{place}/data", node=name)
            data = None
        if data is None:
            value = self._unresolved.value(name)
        else:
            value = Value(name, -(-data.nbytes // 4) * 4)
            if not is_missing:
                self._constants.append(Constant(value, padded(data, value.nbytes)))
        if named:
            number, output_name = named[0]
            output = _Output(index, value, UNREADABLE if data is None else None)
            self._add_output(output_name, output, number)
            if code == NAME_CODE and self._outputs[output_name] is output:
                if output_name not in self._inputs:
                    self._owned.add(output_name)
                if data is not None:
                    self._files_read[output_name] = _File(f"{place}/data/name", name, data)
        for number, output_name in named[1:]:
            message = "a constant has one output"
            at = f"{self._node_place(index)}/outputNames/{number}"
            self._findings.report(
                codes.TENSOR_COUNT, message, at, expected="one name", found=quote(output_name), node=name
            )

    def _named_data(self, table: Table, name: str) -> Data | None:
        place = self._place + table.at("name")
        file_name = table.string("name")
        if not file_name:
            self._findings.report(codes.MISSING_KEY, "name is missing", place, expected="the name of a file", node=name)
            return None
        try:
            return self._files.raw(file_name + SERIALIZED_SUFFIX)
        except MissingFileError as error:
            return MissingData(error.path, 0)
        except FileError as error:
            self._findings.report(error.code, str(error), place, expected=error.expected, found=error.found, node=name)
            return None

    def _compare_file(self, output_name: str, file: _File) -> None:
        """Compares a file with the largest tensor that reads it; readers report shorter files."""
        output = self._outputs[output_name]
        if isinstance(file.data, MissingData):
            nbytes = max((desc.total_bytes for desc in file.readers), default=0)
            value = Value(output.value.name, nbytes)
            self._outputs[output_name] = output._replace(value=value)
            data = MissingData(file.data.path, nbytes)
            if file.readers:
                self._constants.append(Constant(value, data))
            message = f"{quote(data.path.name)} is not there; {quote(file.name)} has {nbytes} bytes"
            details: FindingDetails = {"expected": f"a file of {nbytes} bytes", "found": "no file"}
            self._findings.report(codes.MISSING_CONTENTS, message, file.place, node=file.name, **details)
            return
        most = max((max_file_bytes(desc) for desc in file.readers), default=file.data.nbytes)
        if file.data.nbytes > most:
            message = f"the file of {quote(file.name)} has {file.data.nbytes} bytes, but only {most} are read"
            expected, found = f"{most} bytes", f"{file.data.nbytes} bytes"
            self._findings.report(
                codes.FILE_TOO_LONG, message, file.place, expected=expected, found=found, node=file.name
            )

    def _read_operator(
        self, index: int, node: Table, offset: int, name: str, inputs: list[str], outputs: list[str]
    ) -> None:
        beside = (
            tuple([bool(item) and 1 + (item in self._owned) for item in inputs]),
            tuple([bool(item) for item in outputs]),
        )
        left = self._buffer.left
        operator = self._repeats.find((node, "desc", ""), offset, beside)
        if operator is not None:
            name = self._names.new(name or f"{operator.desc.schema.stem}_{index}")
        else:
            table = node.member("desc", offset, OPERATOR_NODE)
            operator_name = table.string("type")
            schema = self._descriptors.schema(operator_name)
            if schema is None:
                form = operator_form({} if operator_name is None else {"type": operator_name})
                place = f"{self._node_place(index)}/desc"
                report(self._findings, [_located(unknown_operator(form), table.offset)], place, node=name)
                self._skip_node(index, inputs, outputs)
                return
            name = self._names.new(name or f"{schema.stem}_{index}")
            decoded = self._decoder.decode(schema, table, (inputs, outputs), self._owned)
            desc, problems = self._descriptors.operator(schema, decoded.fields, decoded.supplied)
            located = [
                _located(problem, decoded.offsets.get(problem.path.partition("/")[0], table.offset))
                for problem in (*decoded.problems, *problems)
            ]
            report(self._findings, located, f"{self._node_place(index)}/desc", node=name, schema=schema)
            operator = _Operator(desc, _tensors(desc, decoded.inputs), _tensors(desc, decoded.outputs))
            if not located:
                self._repeats.keep(offset, beside, operator, left)
        writes = self._write(index, name, operator, outputs)
        self._nodes.append(_OperatorNode(index, name, operator, inputs, writes))

    def _write(self, index: int, node: str, operator: _Operator, names: list[str]) -> dict[str, tuple[Write, ...]]:
        writes: dict[str, tuple[Write, ...]] = {}
        for field_name, tensors in operator.outputs.items():
            written: list[Write] = []
            for position, desc, nbytes in tensors:
                name = name_at(names, position)
                if desc is None:
                    output = _Output(index, self._unresolved.value(name), UNREADABLE)
                else:
                    value = Value(name or f"{node}.{field_name}", nbytes)
                    written.append(Write(value))
                    output = _Output(index, value, desc)
                if name:
                    self._add_output(name, output, position)
            if written:
                writes[field_name] = tuple(written)
        return writes

    def _node_place(self, index: int) -> str:
        return f"{self._place}/nodes/{index}"

    # --- Edges --------------------------------------------------------------------------------------------------------

    def _note_readers(self, node: _OperatorNode) -> None:
        for position, desc, nbytes in chain.from_iterable(node.operator.inputs.values()):
            name = name_at(node.names, position)
            item = self._inputs.get(name)
            if item is not None:
                item.is_read = True
                if desc is not None:
                    item.nbytes = max(item.nbytes, nbytes)
                    item.desc = item.desc or desc
                    item.covers_all = item.covers_all and desc.reach <= item.desc.reach
            elif desc is not None and name in self._files_read:
                self._files_read[name].readers.append(desc)

    def _finish_inputs(self) -> Iterator[GraphInput]:
        for name, item in self._inputs.items():
            if not item.is_read:
                message = f"nothing is connected to the graph input {quote(name)}"
                self._findings.report(codes.UNUSED_GRAPH_INPUT, message, item.place, found=quote(name))
                continue
            item.value = Value(name, item.nbytes or UNBOUNDED)
            yield GraphInput(name, item.value, None, item.desc if item.covers_all else None)

    def _finish(self, node: _OperatorNode) -> Node:
        reads: dict[str, tuple[Read, ...]] = {}
        for field_name, tensors in node.operator.inputs.items():
            read = [Read(self._source(node, field_name, tensor)) for tensor in tensors if tensor.desc is not None]
            if read:
                reads[field_name] = tuple(read)
        return Node(node.name, node.operator.desc, reads, node.writes, f"{self._node_place(node.number)}/desc")

    def _source(self, node: _OperatorNode, field_name: str, tensor: _Tensor) -> Value:
        """Returns the value that an input reads, or a placeholder, with a finding, if it cannot be connected."""
        name = name_at(node.names, tensor.position)
        item = self._inputs.get(name) if name else None
        if item is not None and item.value is not None:
            return item.value
        output, found = self._outputs.get(name) if name else None, ""
        if not name:
            code, message, expected = codes.UNCONNECTED_TENSOR, f"nothing is connected to {field_name}", "a name"
        elif output is None:
            guess = self._findings.did_you_mean(name, self._known)
            message = f"no input and no node makes {quote(name)}{guess}"
            code, expected = codes.UNKNOWN_VALUE, "an input, or the output of a node"
        elif output.node >= node.number:
            which = "this node itself" if output.node == node.number else f"node {output.node}"
            code, message = codes.NOT_YET_MADE, f"{quote(name)} is made by {which}"
            expected = f"an input, or the output of a node before {node.number}"
        elif output.desc is not UNREADABLE and output.value.nbytes < tensor.nbytes:
            file = self._files_read.get(name)
            path = getattr(file.data, "path", None) if file is not None else None
            what = "the constant" if output.desc is None else "the output"
            what = what if path is None else f"the file {quote(path.name)}"
            found = f"{output.value.nbytes} bytes"
            code, expected = codes.EDGE_BYTES, f"{tensor.nbytes} bytes or more"
            message = f"{what} has {output.value.nbytes} bytes, and {field_name} reads {tensor.nbytes}"
        else:
            return output.value
        place = f"{self._node_place(node.number)}/inputNames/{tensor.position}"
        schema, found = node.operator.desc.schema, found or quote(name)
        details: FindingDetails = {"expected": expected, "found": found}
        self._findings.report(code, message, place, node=node.name, schema=schema, field=field_name, **details)
        return self._unresolved.value(name)

    def _read_outputs(self, root: Table) -> Iterator[GraphOutput]:
        seen: set[str] = set()
        for index, name in enumerate(root.strings("graphOutputNames")):
            if not name:
                continue
            place = f"{self._place}{root.at('graphOutputNames')}/{index}"
            output = self._outputs.get(name)
            if name in seen:
                message = f"{quote(name)} is the name of another output already"
                self._findings.report(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(name))
            elif output is None and name in self._inputs:
                message = f"{quote(name)} is an input of the graph, and no node's output"
                self._findings.report(codes.INPUT_AS_OUTPUT, message, place, found=quote(name))
            elif output is None:
                message = f"no node has an output {quote(name)}{self._findings.did_you_mean(name, self._outputs)}"
                expected = "the output of a node"
                self._findings.report(codes.UNKNOWN_VALUE, message, place, expected=expected, found=quote(name))
            elif output.desc is None:
                message = f"{quote(name)} is a constant, which has no descriptor to give to an output"
                self._findings.report(codes.CONSTANT_OUTPUT, message, place, found=quote(name))
            elif isinstance(output.desc, TensorDesc):
                yield GraphOutput(name, output.value, output.desc)
            seen.add(name)
