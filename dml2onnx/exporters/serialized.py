"""Graphs as the files that ONNX Runtime's DirectML provider writes and DxDispatch runs.

The conventions are ONNX Runtime's. A constant below 8 bytes lies in the graph's file, others in files of their own
beside it, ``<name>.bin``, padded to 4 bytes; characters that file names cannot have everywhere are replaced by ``_``.
Values have the names of the graph's inputs and outputs, ``nodeIdx:<node>-outputIdx:<output>``, or for constants
``<name>-nodeIdx:<node>-outputIdx:0``. Constants come first, then operators in the order of their execution.

DxDispatch cannot upload constants of 64-bit and 4-bit types from files, and tensors that read from files are owned by
DirectML, which some may not be. Such constants lie in the graph's file, whatever their size.

Not stored are flags and alignments of tensors, sample contents of inputs, the feature level, descriptors of graph
inputs and outputs other than those of their first reader and of their writer, and constants that nothing reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError, quote, raise_errors
from dml2onnx.exporters.serialized_tables import GraphWriter, TooLargeError
from dml2onnx.ir.data import padded
from dml2onnx.serialized_schema import MAX_BYTES, may_be_owned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.diagnostics import Code, Diagnostic
    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Constant, Graph, Node, Read, Value, Write
    from dml2onnx.ir.tensor import TensorDesc

SUFFIX = ".bin"

_INLINE_BELOW = 8
_REPLACED = frozenset('\\/"|<>:?*')
_LONGEST_FILE_NAME = 200
"""Bytes of a file's name before its suffix; file systems have room for 255."""


def serialized(graph: Graph, reserved: Collection[str] = ()) -> tuple[bytes, dict[str, Data]]:
    """The contents of the graph's file, and the constants that lie beside it by the names of their files.

    ``reserved`` are names that these files must not have, such as that of the graph's own. Raises :class:`DmlError`
    with the errors of the graph, or with everything that the format cannot say.
    """
    raise_errors(graph.findings)
    return _Export(graph, reserved).run()


class _Export:
    def __init__(self, graph: Graph, reserved: Collection[str]) -> None:
        self._graph = graph
        self._problems: list[Diagnostic] = []
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._files: dict[str, Data] = {}
        self._file_names = {name.casefold() for name in reserved}
        self._file_numbers: dict[str, int] = {}
        """The last number that was appended to the names of files that would be alike."""
        self._readers: dict[Value, list[tuple[Node, str, TensorDesc]]] = {}
        for node in graph.nodes:
            for field, _, read, desc in node.views_in():
                self._readers.setdefault(read.value, []).append((node, field, desc))

    def run(self) -> tuple[bytes, dict[str, Data]]:
        nodes = self._sorted()
        for node in nodes:
            self._check_node(node)
        self._check_effects()
        self._name_inputs()
        self._name_outputs()
        if self._problems:
            raise DmlError(*self._problems)
        try:
            return self._write(nodes), self._files
        except TooLargeError:
            message = f"The graph with the constants inside of it has more than {MAX_BYTES} bytes."
            raise DmlError(codes.TOO_LARGE_TO_WRITE.at(message, expected=f"at most {MAX_BYTES} bytes")) from None

    def _report(self, code: Code, message: str, node: Node | None = None, field: str = "", found: str = "") -> None:
        self._problems.append(
            code.at(
                message,
                node=node.name if node else "",
                operator=node.operator.type if node else "",
                field=field,
                pointer=node.source if node else "",
                found=found,
            )
        )

    # --- What the format cannot say -----------------------------------------------------------------------------------

    def _sorted(self) -> tuple[Node, ...]:
        graph = self._graph
        try:
            nodes = graph.sorted_nodes()
        except nx.NetworkXUnfeasible:
            message = "The nodes depend on each other in a circle."
            raise DmlError(codes.NOT_SORTABLE.at(message, expected="a graph without cycles")) from None
        made = {item.value for item in graph.inputs} | {item.value for item in graph.constants}
        for node in nodes:
            made.update(node.targets)
        for node in nodes:
            for value in node.sources:
                if value not in made:
                    self._report(codes.NOT_SORTABLE, f"Nothing makes {quote(value.name)}, which is read.", node)
        return nodes

    def _check_node(self, node: Node) -> None:
        for field, _, read, _ in node.views_in():
            if read.offset:
                self._report_offset(node, field, read)
        for field, _, write, desc in node.views_out():
            if write.offset:
                self._report_offset(node, field, write)
            if write.base is not None:
                message = f"{field} keeps what {quote(write.base.name)} has besides the tensor."
                self._report(codes.PARTIAL_WRITE, message, node, field)
            elif not write.offset and write.value.nbytes != desc.total_bytes:
                found = f"{write.value.nbytes} bytes"
                message = f"{field} has {desc.total_bytes} bytes, its buffer {write.value.nbytes}."
                self._report(codes.BUFFER_SIZE, message, node, field, found)

    def _report_offset(self, node: Node, field: str, end: Read | Write) -> None:
        message = f"{field} starts at byte {end.offset} of {quote(end.value.name)}."
        self._report(codes.INNER_OFFSET, message, node, field, f"byte {end.offset}")

    def _check_effects(self) -> None:
        """What a command shows is lost, unless an output of the graph has it in the end."""
        outputs = {output.value for output in self._graph.outputs}
        for effect in self._graph.effects:
            if effect.output.value not in outputs:
                message = f"A command {effect.kind} shows {quote(effect.output.name)} before it is overwritten."
                self._report(codes.EFFECT, message, found=effect.kind)

    def _name_inputs(self) -> None:
        for item in self._graph.inputs:
            self._check_name("input", item.name, self._taken)
            self._names[item.value] = item.name
            sizes = [desc.total_bytes for _, _, desc in self._readers.get(item.value, ())]
            if not sizes:
                self._report(codes.UNREAD_INPUT, f"No node reads the input {quote(item.name)}.")
            elif max(sizes) != item.value.nbytes:
                message = f"The input {quote(item.name)} has {item.value.nbytes} bytes, of which {max(sizes)} are read."
                self._report(codes.BUFFER_SIZE, message, found=f"{item.value.nbytes} bytes")

    def _name_outputs(self) -> None:
        written = {value for node in self._graph.nodes for value in node.targets}
        inputs = {item.name for item in self._graph.inputs}
        names: set[str] = set()
        for output in self._graph.outputs:
            shown = quote(output.name)
            self._check_name("output", output.name, names)
            if output.value not in written:
                self._report(codes.NO_NODE_OUTPUT, f"No node writes the output {shown}.")
            elif output.value in self._names:
                message = f"The output {shown} is the output {quote(self._names[output.value])} as well."
                self._report(codes.TWO_OUTPUTS, message)
            elif output.name in inputs and output.value in self._readers:
                node = self._readers[output.value][0][0]
                message = f"The output {shown} has the name of an input, and is read by {quote(node.name)}."
                self._report(codes.HIDDEN_VALUE, message, node)
            self._names[output.value] = output.name
        self._taken |= names

    def _check_name(self, what: str, name: str, names: set[str]) -> None:
        if not name or not _is_utf8(name) or name in names:
            reason = "is empty" if not name else "is that of another" if name in names else "is not Unicode text"
            self._report(codes.UNSUITABLE_NAME, f"The name of a graph {what} {reason}.", found=quote(name))
        names.add(name)

    # --- Names --------------------------------------------------------------------------------------------------------

    def _new_name(self, value: Value, name: str) -> str:
        """The name of a value that has none from outside."""
        known = self._names.get(value)
        if known is None:
            while name in self._taken:
                name += "'"
            known = self._names[value] = name
            self._taken.add(name)
        return known

    def _file_name(self, name: str) -> str:
        """A new name for the file of a constant, without its suffix."""
        plain = "".join("_" if char in _REPLACED or not char.isprintable() else char for char in name)
        stem = base = plain.encode()[:_LONGEST_FILE_NAME].decode("utf-8", "ignore") or "constant"
        number = self._file_numbers.get(base, 1)
        while f"{stem}{SUFFIX}".casefold() in self._file_names:
            number += 1
            stem = f"{base}_{number}"
        self._file_numbers[base] = number
        self._file_names.add(f"{stem}{SUFFIX}".casefold())
        return stem

    # --- Writing ------------------------------------------------------------------------------------------------------

    def _write(self, nodes: tuple[Node, ...]) -> bytes:
        writer = GraphWriter()
        constants = [item for item in self._graph.constants if item.value in self._readers]
        for index, constant in enumerate(constants):
            self._write_constant(writer, index, constant)
        for index, node in enumerate(nodes, len(constants)):
            inputs = list(self._names_of(node, node.operator.schema.input_fields, node.reads, index))
            outputs = list(self._names_of(node, node.operator.schema.output_fields, node.writes, index))
            name = _utf8(node.name) or f"{node.operator.schema.stem}_{index}"
            writer.operator(name, node.operator, inputs, outputs)
        return writer.finish([item.name for item in self._graph.inputs], [item.name for item in self._graph.outputs])

    def _write_constant(self, writer: GraphWriter, index: int, constant: Constant) -> None:
        name = _utf8(constant.value.name) or f"constant{index}"
        output = self._new_name(constant.value, f"{name}-nodeIdx:{index}-outputIdx:0")
        if self._lies_inside(constant):
            writer.raw_constant(name, constant.data.read(0, constant.value.nbytes), output)
        else:
            stem = self._file_name(name)
            self._files[stem + SUFFIX] = padded(constant.data, -(-constant.data.nbytes // 4) * 4)
            writer.named_constant(name, stem, output)

    def _lies_inside(self, constant: Constant) -> bool:
        if constant.value.nbytes < _INLINE_BELOW:
            return True
        return any(
            desc.data_type.bits in (4, 64) or not may_be_owned(node.operator.schema, field)
            for node, field, desc in self._readers[constant.value]
        )

    def _names_of(
        self,
        node: Node,
        fields: tuple[FieldSchema, ...],
        ends: Mapping[str, tuple[Read, ...]] | Mapping[str, tuple[Write, ...]],
        index: int,
    ) -> Iterator[str]:
        """The names of all tensors of one side, empty for those that are absent."""
        number = 0
        for item in fields:
            for end in ends.get(item.name, ()):
                yield self._new_name(end.value, f"nodeIdx:{index}-outputIdx:{number}")
                number += 1
            if not node.operator.tensors(item.name):
                yield ""
                number += 1


def _is_utf8(text: str) -> bool:
    return _utf8(text) == text


def _utf8(text: str) -> str:
    """The text without what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
