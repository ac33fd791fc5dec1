"""``DML_GRAPH_DESC`` as JSON, for programs that build their graphs from the structures of the API.

``frontends.dml_graph`` reads it. Every structure is complete: it has all fields and counts, and null for absent ones.
The format does not store the names of the graph and of inner values, the feature level, and sample contents of inputs.
Tensors that read constants lose OWNED_BY_DML, which is valid for graph inputs only; DirectML owns constant nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from dml2onnx.catalog import FieldType
from dml2onnx.diagnostics import raise_errors
from dml2onnx.exporters.descriptors import Json, fields
from dml2onnx.exporters.layout import laid_out
from dml2onnx.exporters.native_contents import Sidecar
from dml2onnx.exporters.problems import Problems
from dml2onnx.exporters.references import NO_REFERENCES
from dml2onnx.exporters.whole_tensors import obstacles
from dml2onnx.ir.data import MissingData

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
    from dml2onnx.ir.tensor import TensorDesc

_LEVELS = {"Nodes": 2, "InputEdges": 1, "OutputEdges": 1, "IntermediateEdges": 1}
_MAX_INLINE_BYTES = 64
"""Longer constants are stored in a file."""
_End = TypeVar("_End", "Read", "Write")


def dml_graph(graph: Graph, sidecar: str, references: Mapping[Path, str] = NO_REFERENCES) -> tuple[str, Sidecar | None]:
    """Returns the text of a graph, and the contents of the file ``sidecar`` beside it if there are any.

    ``references`` are the names of missing files of constants. Raises :class:`DmlError` with the errors found while the
    graph was read, or with everything that the format cannot express.
    """
    raise_errors(graph.findings)
    return _Export(graph, Sidecar(sidecar), references).run()


class _Export:
    def __init__(self, graph: Graph, sidecar: Sidecar, references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._sidecar = sidecar
        self._references = references
        self._problems = Problems(obstacles(graph))
        self._writers: dict[Value, tuple[int, int, TensorDesc | None]] = {}
        """(index of the node, index of its output, descriptor), by value; constants have no descriptor."""
        self._constants = {item.value for item in graph.constants}
        self._readers: dict[Value, list[tuple[int, int, Node, str, TensorDesc]]] = {}
        """(index of the node, index of its input, node, field, descriptor) of all readers, by value."""

    def run(self) -> tuple[str, Sidecar | None]:
        graph = self._graph
        for index, constant in enumerate(graph.constants, len(graph.nodes)):
            self._writers[constant.value] = index, 0, None
        for index, node in enumerate(graph.nodes):
            self._visit(index, node)
        nodes = [self._node(node) for node in graph.nodes] + [self._constant(item) for item in graph.constants]
        inputs = [edge for index, item in enumerate(graph.inputs) for edge in self._input_edges(index, item)]
        outputs = [self._output_edge(index, item) for index, item in enumerate(graph.outputs)]
        inner = list(self._inner_edges())
        document: Json = {
            "InputCount": len(graph.inputs),
            "OutputCount": len(graph.outputs),
            "NodeCount": len(nodes),
            "Nodes": nodes,
            "InputEdgeCount": len(inputs),
            "InputEdges": inputs,
            "OutputEdgeCount": len(outputs),
            "OutputEdges": outputs,
            "IntermediateEdgeCount": len(inner),
            "IntermediateEdges": inner,
        }
        text = "" if self._problems else laid_out(document, _LEVELS)
        self._problems.check_strings(text)
        self._problems.raise_found()
        return text, self._sidecar if self._sidecar.nbytes else None

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _visit(self, index: int, node: Node) -> None:
        """Indexes the inputs and outputs of a node."""
        operator = node.operator
        for number, field, read, desc in _ends(node, operator.schema.input_fields, node.reads):
            self._readers.setdefault(read.value, []).append((index, number, node, field, desc))
        for number, _, write, desc in _ends(node, operator.schema.output_fields, node.writes):
            self._writers[write.value] = index, number, desc

    def _node(self, node: Node) -> Json:
        members = fields(node.operator, whole=True)
        for name, reads in node.reads.items():
            descs = members[name]
            for read, desc in zip(reads, descs if isinstance(descs, list) else [descs], strict=True):
                if read.value in self._constants and isinstance(desc, dict):
                    desc.pop("Flags", None)
        operator: Json = {"Type": node.operator.type, "Desc": members}
        return {"Type": "OPERATOR", "Desc": {"Name": node.name, "Operator": operator}}

    def _constant(self, item: Constant) -> Json:
        nbytes = item.value.nbytes
        data: object
        if isinstance(item.data, MissingData):
            data = {"file": self._references[item.data.path], "length": nbytes}
        elif nbytes <= _MAX_INLINE_BYTES:
            data = [*item.data.read(0, nbytes).tolist(), *[0] * max(0, nbytes - item.data.nbytes)]
        else:
            offset = self._sidecar.add(item.data, nbytes)
            data = {"file": self._sidecar.name, "offset": offset, "length": nbytes}
        return {"Type": "CONSTANT", "Desc": {"Name": item.value.name, "DataSize": nbytes, "Data": data}}

    # --- Edges --------------------------------------------------------------------------------------------------------

    def _input_edges(self, index: int, item: GraphInput) -> Iterator[Json]:
        readers = self._readers.get(item.value, [])
        if readers:
            self._problems.check_view("input", item.name, item.desc, readers[0][-1])
        for target, number, node, field, desc in readers:
            self._problems.check_size(node, field, desc, item.value)
            yield {"GraphInputIndex": index, "ToNodeIndex": target, "ToNodeInputIndex": number, "Name": item.name}

    def _output_edge(self, index: int, item: GraphOutput) -> Json:
        source, number, desc = self._writers.get(item.value, (0, 0, None))
        if desc is not None:
            self._problems.check_view("output", item.name, item.desc, desc)
        return {"FromNodeIndex": source, "FromNodeOutputIndex": number, "GraphOutputIndex": index, "Name": item.name}

    def _inner_edges(self) -> Iterator[Json]:
        inputs = {item.value for item in self._graph.inputs}
        for value, readers in self._readers.items():
            if value in inputs:
                continue
            for target, number, node, field, desc in readers:
                source = self._writers.get(value)
                if source is None:
                    continue  # one of the obstacles
                is_constant = source[2] is None
                if desc.total_bytes > value.nbytes or not is_constant:  # a tensor may be shorter than a constant
                    self._problems.check_size(node, field, desc, value)
                yield {
                    "FromNodeIndex": source[0],
                    "FromNodeOutputIndex": source[1],
                    "ToNodeIndex": target,
                    "ToNodeInputIndex": number,
                }


def _ends(
    node: Node, items: tuple[FieldSchema, ...], ends: Mapping[str, tuple[_End, ...]]
) -> Iterator[tuple[int, str, _End, TensorDesc]]:
    """Yields (index, field, connection, descriptor) of the tensors of one side; absent ones also have an index."""
    number = 0
    for item in items:
        descs = node.operator.tensors(item.name)
        for end, desc in zip(ends.get(item.name, ()), descs, strict=True):
            yield number, item.name, end, desc
            number += 1
        if not descs and item.type is FieldType.TENSOR:
            number += 1
