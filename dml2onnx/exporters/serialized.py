"""Writes serialized graphs, the files that ONNX Runtime's DirectML provider writes and DxDispatch runs.

The conventions are ONNX Runtime's. The file of the graph contains constants below 8 bytes. Others have files of their
own beside it, ``<name>.bin``, padded to 4 bytes; ``_`` replaces characters that are invalid on some file systems.
Values keep their names. A value without a name becomes ``nodeIdx:<node>-outputIdx:<output>``, that of a constant
``<name>-nodeIdx:<node>-outputIdx:0``. Constants come first, then operators in order of execution.

DxDispatch cannot upload constants of 64-bit and 4-bit types from files. DirectML owns tensors that read from files,
which is invalid for some tensors. Such constants are part of the graph's file, whatever their size.

The format does not store flags and alignments of tensors, sample contents of inputs, the feature level, unused
constants and unused bytes after the end of constants, and descriptors of graph inputs and outputs that differ from
those of their first reader or of their writer.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import networkx as nx

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError, quote, raise_errors
from dml2onnx.exporters.problems import Problems, sorted_nodes, utf8
from dml2onnx.exporters.references import NO_REFERENCES
from dml2onnx.exporters.serialized_tables import GraphWriter, TooLargeError
from dml2onnx.exporters.whole_tensors import obstacles
from dml2onnx.frontends.names import no_device
from dml2onnx.ir.data import Data, MissingData, head, padded
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.serialized_schema import MAX_BYTES, may_be_owned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.graph import Constant, Graph, Node, Read, Value, Write

SUFFIX = ".bin"

_INLINE_BELOW = 8
_REPLACED = frozenset('\\/"|<>:?*')
_MAX_FILE_NAME = 200
"""Bytes of a file's name without its suffix; the limit of file systems is 255."""


def serialized(
    graph: Graph, reserved: Collection[str] = (), references: Mapping[Path, str] = NO_REFERENCES
) -> tuple[bytes, dict[str, Data]]:
    """Returns the contents of the graph's file, and those of the files of constants beside it, by name.

    ``reserved`` are invalid names for these files, such as that of the graph's own, and ``references`` the names of
    missing files of constants. Raises :class:`DmlError` with the errors of the graph, or with everything that the
    format cannot express.
    """
    raise_errors(graph.findings)
    return _Export(graph, reserved, references).run()


class _Export:
    def __init__(self, graph: Graph, reserved: Collection[str], references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._references = references
        self._problems = Problems(obstacles(graph))
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._files: dict[str, Data] = {}
        self._file_names = {name.casefold() for name in (*reserved, *references.values())}
        self._file_numbers: dict[str, int] = {}
        """The last number that was appended to a name to make it unique."""
        self._readers: dict[Value, list[tuple[Node, str, TensorDesc]]] = {}
        for node in graph.nodes:
            for field, _, read, desc in node.views_in():
                self._readers.setdefault(read.value, []).append((node, field, desc))

    def run(self) -> tuple[bytes, dict[str, Data]]:
        nodes = sorted_nodes(self._graph)
        self._name_inputs()
        self._name_outputs()
        self._problems.raise_found()
        try:
            return self._write(nodes), self._files
        except TooLargeError:
            message = f"The graph with the constants in its file has more than {MAX_BYTES} bytes."
            raise DmlError(codes.TOO_LARGE_TO_WRITE.at(message, expected=f"at most {MAX_BYTES} bytes")) from None

    # --- Names of inputs and outputs ----------------------------------------------------------------------------------

    def _name_inputs(self) -> None:
        for item in self._graph.inputs:
            self._problems.check_name("input", item.name, self._taken)
            self._taken.add(item.name)
            self._names[item.value] = item.name
            readers = self._readers.get(item.value)
            if readers:
                self._problems.check_size(*max(readers, key=lambda reader: reader[2].total_bytes), item.value)

    def _name_outputs(self) -> None:
        inputs = {item.name for item in self._graph.inputs}
        names: set[str] = set()
        accepted: dict[Value, str] = {}
        for output in self._graph.outputs:
            name = quote(output.name)
            self._problems.check_name("output", output.name, names)
            names.add(output.name)
            if output.value in accepted:
                message = f"The output {name} is the output {quote(accepted[output.value])} as well."
                self._problems.add(codes.TWO_OUTPUTS, message)
            elif output.name in inputs and output.value in self._readers:
                node = self._readers[output.value][0][0]
                message = f"The output {name} has the name of an input, but {quote(node.name)} reads it."
                self._problems.add(codes.HIDDEN_VALUE, message, node)
            self._names[output.value] = accepted[output.value] = output.name
        self._taken |= names

    # --- Other names --------------------------------------------------------------------------------------------------

    def _name_of(self, value: Value, default: str) -> str:
        """The name of a value, made unique if the value is not an input or output."""
        if value not in self._names:
            while default in self._taken:
                default += "'"
            self._names[value] = default
            self._taken.add(default)
        return self._names[value]

    def _file_name(self, name: str) -> str:
        """A unique name for the file of a constant, without its suffix."""
        plain = "".join("_" if char in _REPLACED or not char.isprintable() else char for char in name)
        stem = base = no_device(plain.encode()[:_MAX_FILE_NAME].decode("utf-8", "ignore") or "constant")
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
            name = utf8(node.name) or f"{node.operator.schema.stem}_{index}"
            writer.operator(name, node.operator, inputs, outputs)
        return writer.finish([item.name for item in self._graph.inputs], [item.name for item in self._graph.outputs])

    def _write_constant(self, writer: GraphWriter, index: int, constant: Constant) -> None:
        name = utf8(constant.value.name) or f"constant{index}"
        output = self._name_of(constant.value, f"{name}-nodeIdx:{index}-outputIdx:0")
        if isinstance(constant.data, MissingData):
            writer.named_constant(name, self._references[constant.data.path].removesuffix(SUFFIX), output)
        elif self._is_inline(constant):
            writer.raw_constant(name, constant.data.read(0, constant.value.nbytes), output)
        else:
            stem = self._file_name(name)
            used = max(desc.total_bytes for _, _, desc in self._readers[constant.value])
            self._files[stem + SUFFIX] = padded(head(constant.data, used), -(-min(constant.data.nbytes, used) // 4) * 4)
            writer.named_constant(name, stem, output)

    def _is_inline(self, constant: Constant) -> bool:
        return constant.value.nbytes < _INLINE_BELOW or any(
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
        """The names of all tensors of one side; those of absent tensors are empty."""
        number = 0
        for item in fields:
            for end in ends.get(item.name, ()):
                yield self._name_of(end.value, utf8(end.value.name) or f"nodeIdx:{index}-outputIdx:{number}")
                number += 1
            if not node.operator.tensors(item.name):
                yield ""
                number += 1


def lost_descriptors(graph: Graph) -> list[str]:
    """The inputs and outputs whose descriptors differ from that of the first reader or the writer, which is stored."""
    read_as: dict[Value, TensorDesc] = {}
    written: dict[Value, TensorDesc] = {}
    nodes = graph.nodes
    with suppress(nx.NetworkXUnfeasible):
        nodes = graph.sorted_nodes()
    for node in nodes:
        for item in node.operator.schema.input_fields:
            for read, desc in zip(node.reads.get(item.name, ()), node.operator.tensors(item.name), strict=True):
                read_as.setdefault(read.value, desc)
        written.update((write.value, desc) for _, _, write, desc in node.views_out())
    inputs = [
        f"input {quote(item.name)}"
        for item in graph.inputs
        if item.desc is not None and item.value in read_as and item.desc != stored(read_as[item.value])
    ]
    return inputs + [
        f"output {quote(item.name)}"
        for item in graph.outputs
        if item.value in written and item.desc != stored(written[item.value])
    ]


def stored(desc: TensorDesc) -> TensorDesc:
    """The descriptor with the members that the format stores."""
    total = desc.total_size if desc.total_size != desc.minimum_bytes else 0
    return TensorDesc(desc.data_type, desc.sizes, desc.strides, False, total)
