"""Limits of DML_GRAPH_DESC, whose edges connect whole tensors, each in a buffer of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Diagnostic, quote
from dml2onnx.exporters.problems import problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.ir.graph import Graph, Node, Read, Write
    from dml2onnx.ir.tensor import TensorDesc

_MAX_BYTES = (1 << 64) - 1
"""The range of TotalTensorSizeInBytes."""


def obstacles(graph: Graph) -> Iterator[Diagnostic]:
    """Everything in a graph that DML_GRAPH_DESC, serialized graphs and DirectMLX cannot express."""
    written = {value for node in graph.nodes for value in node.targets}
    provided = written | {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    read = set()
    for node in graph.nodes:
        for field, _, source, desc in node.views_in():
            read.add(source.value)
            yield from _end(node, field, source, desc)
            if source.value not in provided:
                message = f"Nothing provides {quote(source.value.name)}, which {field} reads."
                yield problem(codes.NO_SOURCE, message, node, field, quote(source.value.name))
        for field, _, target, desc in node.views_out():
            yield from _end(node, field, target, desc)
            if target.base is not None:
                message = f"{field} is written into a part of {quote(target.base.name)}."
                yield problem(codes.PARTIAL_WRITE, message, node, field)
            elif not target.offset and target.value.nbytes != desc.total_bytes:
                message = f"{field} has {desc.total_bytes} bytes, its buffer {target.value.nbytes}."
                yield problem(codes.BUFFER_SIZE, message, node, field, f"{target.value.nbytes} bytes")
    for item in graph.inputs:
        if item.value not in read:
            found = quote(item.name)
            yield codes.UNREAD_INPUT.at(f"No node reads the input {found}.", found=found)
    for output in graph.outputs:
        if output.value not in written:
            found = quote(output.name)
            yield codes.NO_NODE_OUTPUT.at(f"No node writes the output {found}.", found=found)


def _end(node: Node, field: str, end: Read | Write, desc: TensorDesc) -> Iterator[Diagnostic]:
    if end.offset:
        message = f"{field} starts at byte {end.offset} of {quote(end.value.name)}."
        yield problem(codes.INNER_OFFSET, message, node, field, f"byte {end.offset}")
    if desc.total_bytes > _MAX_BYTES:
        message = f"{field} has {desc.total_bytes} bytes."
        yield problem(codes.TOO_LARGE_TO_WRITE, message, node, field, f"{desc.total_bytes} bytes")


def lost_effects(graph: Graph) -> Iterator[Diagnostic]:
    """Warnings about omitted commands whose values are not inputs, constants or outputs of the graph."""
    known = {item.value for item in graph.outputs} | {item.value for item in graph.inputs}
    known |= {item.value for item in graph.constants}
    for effect in graph.effects:
        if effect.output.value not in known:
            shown = quote(effect.output.name)
            message = f"The command {effect.kind} of {shown}, which is overwritten later, is left out."
            yield codes.EFFECT.at(message, found=effect.kind)
