"""Serialized DirectML graphs: ``Partition_0.bin`` and the files of its constants beside it.

ONNX Runtime's DirectML provider writes them when ``ep.dml.enable_graph_serialization`` is set; DxDispatch runs them:
https://github.com/microsoft/DirectML/blob/master/DxDispatch/doc/Guide.md. The tables are those of
:mod:`dml2onnx.serialized_schema`.

Edges are equal names. An input of a node is an input of the graph of that name or else the output of an earlier node.
It has a descriptor of its own, which may see the bytes in another shape or data type than they were written in. Inputs
of the graph have no description at all: they are seen as their first reader sees them. Constants have neither a data
type nor a shape. Those below 8 bytes lie in the file, others in ``<name>.bin`` in the same directory; tensors that
these are connected to are owned by DirectML. Without its file a constant is as large as what reads it, which is enough
for all but compiling and running.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dml2onnx import catalog
from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends.contents import longest_file
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import OPERATOR_PREFIX, SERIALIZED
from dml2onnx.frontends.files import FileError, MissingFileError, ModelFiles
from dml2onnx.frontends.findings import Findings, at_field, quote
from dml2onnx.frontends.flatbuffer import DamagedError, FlatBuffer
from dml2onnx.frontends.flatbuffer_repeats import Repeats
from dml2onnx.frontends.names import UniqueNames
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.problems import operator_form, report, unknown_operator
from dml2onnx.frontends.serialized_operators import decode_operator, name_at
from dml2onnx.frontends.text import SERIALIZED_SUFFIX
from dml2onnx.frontends.unresolved import UNBOUNDED, Unresolved
from dml2onnx.ir.data import ArrayData, MissingData, padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import UNREADABLE
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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dml2onnx.diagnostics import Code
    from dml2onnx.frontends.flatbuffer import Table
    from dml2onnx.frontends.serialized_operators import Connection
    from dml2onnx.frontends.tensors import Problem
    from dml2onnx.ir.data import Data
    from dml2onnx.ir.operator import OperatorDesc, Unreadable


def read(path: Path, data: bytes, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """The graph of a file, with all that is wrong in it as findings; :class:`UnreadableError` when it is damaged."""
    findings = Findings()
    files = ModelFiles(path.parent, options.allow_paths, options.max_bytes)
    try:
        graph = SerializedReader(data, files, findings).read(path.stem.encode("utf-8", "replace").decode())
    except DamagedError as damage:
        message = f"{quote(str(path))}, byte {damage.offset}: {damage}"
        found = f"byte {damage.offset}"
        raise UnreadableError(unreadable.DAMAGED_FILE.at(message, pointer=damage.place, found=found)) from None
    return replace(graph, findings=findings.all(), sources=(path, *files.found))


def _located(problem: Problem, offset: int) -> Problem:
    """A problem with its place in the file; names of operators are suggested as the file has to have them."""
    guess = problem.guess
    if problem.code is codes.UNKNOWN_OPERATOR and guess is not None:
        guess = OPERATOR_PREFIX + guess[0].removeprefix(OPERATOR_PREFIX), catalog.operator_names()
    return problem._replace(message=f"{problem.message} (at byte {offset})", guess=guess)


class _Tensor(NamedTuple):
    """A tensor of an operator that is present."""

    field: str
    position: int
    """That of its name among those of the inputs or outputs."""
    desc: TensorDesc | None
    """``None`` when the field could not be read."""


class _Operator(NamedTuple):
    """An operator and its tensors, without the names of values."""

    desc: OperatorDesc
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]


@dataclass(frozen=True, slots=True)
class _OperatorNode:
    index: int
    place: str
    name: str
    operator: _Operator
    names: list[str]
    """Those of the inputs."""
    writes: dict[str, tuple[Write, ...]]


class _Made(NamedTuple):
    """A value that a node makes."""

    node: int
    """Its index."""
    value: Value
    desc: TensorDesc | Unreadable | None
    """``None`` for constants."""
    owned: bool = False
    """Whether tensors that are connected to it are owned by DirectML."""


@dataclass(slots=True)
class _File:
    """The file of a constant, and what reads it."""

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
    is_all: bool = True
    """Whether no reader sees more of the buffer than the first does."""
    value: Value | None = field(default=None)


def _tensors(operator: OperatorDesc, connections: tuple[Connection, ...]) -> tuple[_Tensor, ...]:
    """The tensors of one side with their descriptors."""
    numbers: dict[str, int] = {}
    tensors: list[_Tensor] = []
    for name, _, position in connections:
        number = numbers[name] = numbers.get(name, -1) + 1
        desc = None if operator.get(name) is UNREADABLE else operator.tensors(name)[number]
        tensors.append(_Tensor(name, position, desc))
    return tuple(tensors)


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
        self._made: dict[str, _Made] = {}
        self._nodes: list[_OperatorNode] = []
        self._files_read: dict[str, _File] = {}
        """Files of constants, by the names of these."""
        self._names = UniqueNames()
        self._known: list[str] = []
        """Names that can be read, once all nodes are known."""

    def read(self, name: str) -> Graph:
        """The graph, without the findings; :class:`DamagedError` when there is none to be had."""
        buffer = FlatBuffer(self._data)
        self._repeats = Repeats[_Operator](buffer)
        root = buffer.root(GRAPH)
        for index, input_name in enumerate(root.strings("graphInputNames")):
            if input_name:
                self._declare_input(input_name, f"{self._place}{root.at('graphInputNames')}/{index}")
        for index, table in enumerate(root.tables("nodes", NODE)):
            self._read_node(index, table)
        self._known = [*self._inputs, *self._made]
        for node in self._nodes:
            self._measure_sources(node)
        for made_name, file in self._files_read.items():
            self._compare_file(made_name, file)
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
            self._findings.add(
                codes.DUPLICATE_NAME.at(message, pointer=place, expected="a new name", found=quote(name))
            )
        else:
            self._inputs[name] = _Input(place)

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _read_node(self, index: int, table: Table) -> None:
        code, offset = table.union("desc")
        given = table.string("name") or ""
        inputs, outputs = table.strings("inputNames"), table.strings("outputNames")
        place = self._place + table.place
        if not given:
            self._findings.add(
                codes.MISSING_KEY.at("name is missing", pointer=f"{place}/name", expected="the node's name")
            )
        if offset is None or code not in (OPERATOR_CODE, CONSTANT_CODE):
            found = "nothing" if offset is None else f"code {code}"
            message = f"the node is neither an operator nor a constant (at byte {table.offset})"
            expected = "OperatorNodeDesc or ConstantNodeDesc"
            self._findings.add(
                codes.NODE_KIND.at(message, pointer=f"{place}/desc", expected=expected, found=found, node=given)
            )
            self._leave_open(index, inputs, outputs)
        elif code == CONSTANT_CODE:
            self._read_constant(index, table.member("desc", offset, CONSTANT_NODE), given, outputs)
        else:
            self._read_operator(index, table.member("desc", offset, OPERATOR_NODE), given, inputs, outputs)

    def _leave_open(self, index: int, inputs: list[str], outputs: list[str]) -> None:
        """A node that could not be read, which has been reported: what it reads is used, what it makes is unknown."""
        place = self._node_place(index)
        for name in self._inputs.keys() & inputs:
            self._inputs[name].is_read = True
        for number, name in enumerate(outputs):
            if name:
                self._make(
                    name, _Made(index, self._unresolved.value(name), UNREADABLE), f"{place}/outputNames/{number}"
                )

    def _make(self, name: str, made: _Made, place: str) -> None:
        known = self._made.setdefault(name, made)
        if known is not made:
            message = f"{quote(name)} is what node {known.node} makes already"
            self._findings.add(
                codes.DUPLICATE_NAME.at(message, pointer=place, expected="a new name", found=quote(name))
            )

    def _read_constant(self, index: int, table: Table, name: str, outputs: list[str]) -> None:
        name = name or f"constant{index}"
        place = self._place + table.place
        code, offset = table.union("data")
        if offset is None or code not in (NAME_CODE, RAW_DATA_CODE):
            found = "nothing" if offset is None else f"code {code}"
            message = f"the constant has neither a name nor bytes (at byte {table.offset})"
            expected = "ConstantName or ConstantRawData"
            self._findings.add(
                codes.NODE_KIND.at(message, pointer=f"{place}/data", expected=expected, found=found, node=name)
            )
            data: Data | None = None
        elif code == NAME_CODE:
            data = self._named_data(table.member("data", offset, CONSTANT_NAME), name)
        else:
            raw = table.member("data", offset, CONSTANT_RAW_DATA)
            octets = raw.octets("data")
            data = ArrayData(np.empty(0, np.uint8) if octets is None else octets)
        named = [(number, output) for number, output in enumerate(outputs) if output]
        owned = code == NAME_CODE
        is_missing = isinstance(data, MissingData)
        if data is not None and not data.nbytes and not is_missing:
            self._findings.add(codes.NO_DATA.at("the constant has no bytes", pointer=f"{place}/data", node=name))
            data = None
        if data is None:
            value = self._unresolved.value(name)
        else:
            value = Value(name, -(-data.nbytes // 4) * 4)
            if not is_missing:
                self._constants.append(Constant(value, padded(data, value.nbytes)))
        if named:
            made = _Made(index, value, UNREADABLE if data is None else None, owned)
            self._make(named[0][1], made, f"{self._node_place(index)}/outputNames/{named[0][0]}")
            if owned and data is not None and self._made[named[0][1]] is made:
                self._files_read[named[0][1]] = _File(f"{place}/data/name", name, data)
        for number, output in named[1:]:
            message = "a constant has one output"
            at = f"{self._node_place(index)}/outputNames/{number}"
            self._findings.add(
                codes.TENSOR_COUNT.at(message, pointer=at, expected="one name", found=quote(output), node=name)
            )

    def _named_data(self, table: Table, name: str) -> Data | None:
        place = self._place + table.at("name")
        file_name = table.string("name")
        if not file_name:
            self._findings.add(
                codes.MISSING_KEY.at("name is missing", pointer=place, expected="the name of a file", node=name)
            )
            return None
        try:
            return self._files.raw(file_name + SERIALIZED_SUFFIX)
        except MissingFileError as error:
            return MissingData(error.path, 0)
        except FileError as error:
            self._findings.add(
                error.code.at(str(error), pointer=place, expected=error.expected, found=error.found, node=name)
            )
            return None

    def _compare_file(self, made_name: str, file: _File) -> None:
        """A file has the size of the largest tensor that reads it; shorter ones are reported where they are read."""
        made = self._made[made_name]
        if isinstance(file.data, MissingData):
            nbytes = max((desc.total_bytes for desc in file.readers), default=0)
            value = Value(made.value.name, nbytes)
            self._made[made_name] = made._replace(value=value)
            data = MissingData(file.data.path, nbytes)
            if file.readers:
                self._constants.append(Constant(value, data))
            message = f"{quote(data.path.name)} is not there; {quote(file.name)} has {nbytes} bytes"
            self._findings.add(
                codes.MISSING_CONTENTS.at(
                    message, pointer=file.place, expected=f"a file of {nbytes} bytes", found="no file", node=file.name
                )
            )
            return
        most = max((longest_file(desc) for desc in file.readers), default=file.data.nbytes)
        if file.data.nbytes > most:
            message = f"the file of {quote(file.name)} has {file.data.nbytes} bytes, of which {most} are read"
            expected, found = f"{most} bytes", f"{file.data.nbytes} bytes"
            self._findings.add(
                codes.FILE_TOO_LONG.at(message, pointer=file.place, expected=expected, found=found, node=file.name)
            )

    def _read_operator(self, index: int, table: Table, name: str, inputs: list[str], outputs: list[str]) -> None:
        place = self._place + table.place
        beside = (
            tuple([bool(item) and 1 + self._is_owned(item) for item in inputs]),
            tuple([bool(item) for item in outputs]),
        )
        operator = self._repeats.find(table, beside)
        if operator is not None:
            name = self._names.new(name or f"{operator.desc.schema.stem}_{index}")
        else:
            operator_name = table.string("type")
            schema = self._descriptors.schema(operator_name)
            if schema is None:
                self._repeats.keep(table, beside, None)
                form = operator_form({} if operator_name is None else {"type": operator_name})
                report(self._findings, [_located(unknown_operator(form), table.offset)], place, node=name)
                self._leave_open(index, inputs, outputs)
                return
            name = self._names.new(name or f"{schema.stem}_{index}")
            decoded = decode_operator(schema, table, (inputs, outputs), self._is_owned)
            desc, problems = self._descriptors.operator(schema, decoded.fields, decoded.given)
            located = [
                _located(problem, decoded.offsets.get(str(problem.path[0]), table.offset))
                for problem in (*decoded.problems, *problems)
            ]
            report(self._findings, located, place, node=name, schema=schema)
            operator = _Operator(desc, _tensors(desc, decoded.inputs), _tensors(desc, decoded.outputs))
            self._repeats.keep(table, beside, None if located else operator)
        writes = self._write(index, name, operator, outputs)
        self._nodes.append(_OperatorNode(index, place, name, operator, inputs, writes))

    def _is_owned(self, name: str) -> bool:
        """Whether a name is that of a constant in a file of its own, which is bound when the graph is initialized."""
        return name not in self._inputs and name in self._made and self._made[name].owned

    def _write(self, index: int, node: str, operator: _Operator, names: list[str]) -> dict[str, tuple[Write, ...]]:
        """Values for all outputs; those that have names can be read by these."""
        writes: dict[str, list[Write]] = {}
        for field_name, position, desc in operator.outputs:
            name = name_at(names, position)
            if desc is None:
                made = _Made(index, self._unresolved.value(name), UNREADABLE)
            else:
                value = Value(name or f"{node}.{field_name}", desc.total_bytes)
                writes.setdefault(field_name, []).append(Write(value))
                made = _Made(index, value, desc)
            if name:
                self._make(name, made, f"{self._place}/nodes/{index}/outputNames/{position}")
        return {field_name: tuple(items) for field_name, items in writes.items()}

    def _node_place(self, index: int) -> str:
        return f"{self._place}/nodes/{index}"

    # --- Edges --------------------------------------------------------------------------------------------------------

    def _measure_sources(self, node: _OperatorNode) -> None:
        for _, position, desc in node.operator.inputs:
            name = name_at(node.names, position)
            item = self._inputs.get(name)
            if item is not None:
                item.is_read = True
                if desc is not None:
                    item.nbytes = max(item.nbytes, desc.total_bytes)
                    item.desc = item.desc or desc
                    item.is_all = item.is_all and desc.reach <= item.desc.reach
            elif desc is not None and name in self._files_read:
                self._files_read[name].readers.append(desc)

    def _finish_inputs(self) -> Iterator[GraphInput]:
        for name, item in self._inputs.items():
            if not item.is_read:
                message = f"nothing is connected to the graph input {quote(name)}"
                self._findings.add(codes.UNUSED_GRAPH_INPUT.at(message, pointer=item.place, found=quote(name)))
                continue
            item.value = Value(name, item.nbytes or UNBOUNDED)
            yield GraphInput(name, item.value, None, item.desc if item.is_all else None)

    def _finish(self, node: _OperatorNode) -> Node:
        reads: dict[str, list[Read]] = {}
        for tensor in node.operator.inputs:
            if tensor.desc is not None:
                name = name_at(node.names, tensor.position)
                value = self._source(node, tensor, name, tensor.desc) or self._unresolved.value(name)
                reads.setdefault(tensor.field, []).append(Read(value))
        bound = {field_name: tuple(items) for field_name, items in reads.items()}
        return Node(node.name, node.operator.desc, bound, node.writes, node.place)

    def _source(self, node: _OperatorNode, tensor: _Tensor, name: str, desc: TensorDesc) -> Value | None:
        """What an input reads; ``None``, and a finding, when it cannot be connected."""
        item = self._inputs.get(name) if name else None
        if item is not None:
            return item.value
        made = self._made.get(name) if name else None
        if not name:
            code, message, expected = codes.UNCONNECTED_TENSOR, f"nothing is connected to {tensor.field}", "a name"
        elif made is None:
            guess = self._findings.did_you_mean(name, self._known)
            message = f"no input and no node makes {quote(name)}{guess}"
            code, expected = codes.UNKNOWN_VALUE, "an input, or the output of a node"
        elif made.node >= node.index:
            which = "this node itself" if made.node == node.index else f"node {made.node}"
            code, message = codes.NOT_YET_MADE, f"{quote(name)} is made by {which}"
            expected = f"an input, or the output of a node before {node.index}"
        elif made.desc is not UNREADABLE and made.value.nbytes < desc.total_bytes:
            what = "the constant" if made.desc is None else "the output"
            code, expected = codes.EDGE_BYTES, f"{desc.total_bytes} bytes or more"
            message = f"{what} has {made.value.nbytes} bytes, and {tensor.field} reads {desc.total_bytes}"
        else:
            return made.value
        self._report(code, message, node, tensor, expected)
        return None

    def _report(self, code: Code, message: str, node: _OperatorNode, tensor: _Tensor, expected: str) -> None:
        place = f"{self._node_place(node.index)}/inputNames/{tensor.position}"
        schema, found = node.operator.desc.schema, quote(name_at(node.names, tensor.position))
        self._findings.add(
            at_field(code, message, place, node.name, schema, tensor.field, expected=expected, found=found)
        )

    def _read_outputs(self, root: Table) -> Iterator[GraphOutput]:
        seen: set[str] = set()
        for index, name in enumerate(root.strings("graphOutputNames")):
            if not name:
                continue
            place = f"{self._place}{root.at('graphOutputNames')}/{index}"
            made = self._made.get(name)
            if name in seen:
                message = f"{quote(name)} is the name of another output already"
                self._findings.add(
                    codes.DUPLICATE_NAME.at(message, pointer=place, expected="a new name", found=quote(name))
                )
            elif made is None and name in self._inputs:
                message = f"{quote(name)} is an input of the graph, and no node's output"
                self._findings.add(codes.INPUT_AS_OUTPUT.at(message, pointer=place, found=quote(name)))
            elif made is None:
                message = f"no node has an output {quote(name)}{self._findings.did_you_mean(name, self._made)}"
                expected = "the output of a node"
                self._findings.add(codes.UNKNOWN_VALUE.at(message, pointer=place, expected=expected, found=quote(name)))
            elif made.desc is None:
                message = f"{quote(name)} is a constant, which has no descriptor to give to an output"
                self._findings.add(codes.CONSTANT_OUTPUT.at(message, pointer=place, found=quote(name)))
            elif isinstance(made.desc, TensorDesc):
                yield GraphOutput(name, made.value, made.desc)
            seen.add(name)
