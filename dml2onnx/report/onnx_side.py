"""The ONNX side of a report: the records of the model, and the ONNX nodes of each DirectML node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.onnx_model import ELEMENT_TYPES, Body, OnnxNode, OnnxValue, size_names
from dml2onnx.report import records
from dml2onnx.report.form import Json, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph, Node
    from dml2onnx.onnx_model.records import Attribute
    from dml2onnx.report.records import Became, OnnxValueKind
    from dml2onnx.runtime import NodeTime


def onnx_side(
    graph: Graph,
    live: Sequence[Node],
    model: CompiledModel,
    times: Mapping[str, NodeTime],
    providers: Mapping[str, str],
    coverage: tuple[records.Coverage, ...],
) -> tuple[records.Onnx, dict[Node, Became]]:
    """The model, and the ONNX nodes of each ``live`` node.

    ``times`` and ``providers`` are those of the profiled run, by the names of ONNX nodes.
    """
    side = _Side(model)
    places = {node: place for place, node in enumerate(graph.nodes)}
    became: dict[Node, Became] = {}
    nodes: list[records.OnnxNodeRecord] = []
    origins = iter(live)
    for origin in model.lowered.origins:
        source = next(origins) if origin.operator else None
        place = None if source is None else places[source]
        first = len(nodes)
        nodes += (side.node(node, place, times.get(node.name), providers.get(node.name, "")) for node in origin.nodes)
        if source is not None:
            measured = [node.microseconds for node in nodes[first:] if node.microseconds is not None]
            indices = tuple(range(first, len(nodes)))
            became[source] = records.Became(indices, origin.notes, sum(measured) if measured else None)
    outputs = tuple(side.indices[port.onnx_name] for port in model.outputs)
    onnx = records.Onnx(
        model.opset,
        model.target,
        model.passes,
        model.weight_bytes,
        tuple(nodes),
        tuple(side.values),
        outputs,
        model.half,
        coverage,
    )
    return onnx, became


class _Side:
    def __init__(self, model: CompiledModel) -> None:
        self.values: list[records.OnnxValueRecord] = []
        self.indices: dict[str, int] = {}
        self._initializers = model.lowered.initializers
        for port in model.inputs:
            self._add(port.onnx_name, ELEMENT_TYPES[port.dtype][1], port.shape, "input")

    def node(self, node: OnnxNode, source: int | None, time: NodeTime | None, provider: str) -> records.OnnxNodeRecord:
        return records.OnnxNodeRecord(
            name=node.name,
            operator=node.op_type,
            inputs=tuple(None if value is None else self._index(value) for value in node.inputs),
            outputs=tuple(None if value is None else self._index(value) for value in node.outputs),
            attributes={name: _attribute(value) for name, value in node.attributes.items()} or None,
            node=source,
            microseconds=None if time is None else time.microseconds,
            provider=provider if time is None else time.provider,
        )

    def _index(self, value: OnnxValue) -> int:
        index = self.indices.get(value.name)
        if index is not None:
            return index
        kind: OnnxValueKind = "initializer" if value.name in self._initializers else "node"
        return self._add(value.name, ELEMENT_TYPES[value.dtype][1], value.shape, kind)

    def _add(self, name: str, data_type: str, shape: tuple[int, ...], kind: OnnxValueKind) -> int:
        self.indices[name] = len(self.values)
        self.values.append(records.OnnxValueRecord(name, data_type, shape, kind, size_names(shape)))
        return self.indices[name]


def _attribute(value: Attribute) -> Json:
    """An attribute for JSON; a graph becomes the list of its operators."""
    if isinstance(value, Body):
        return {"graph": [node.op_type for node in value.nodes]}
    if isinstance(value, tuple):
        return [number(item) if isinstance(item, float) else item for item in value]
    return number(value) if isinstance(value, float) else value
