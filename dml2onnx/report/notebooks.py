"""Notebook output for graphs, models, sessions and verifications: a small drawing, or a table.

The drawing is an image, so that its styles do not affect the notebook.
"""

from __future__ import annotations

import base64
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from dml2onnx.report.gathering import sketch
from dml2onnx.report.scene import Box, Element, Scene, directml_scene, end, scene_of, shortened_lines
from dml2onnx.report.svg import drawn_alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph
    from dml2onnx.onnx_model import OnnxPort
    from dml2onnx.runtime import Session
    from dml2onnx.verification import Verification

MOST_DRAWN = 150
"""The limit for nodes of a drawing; larger graphs have a table."""
MOST_ROWS = 20


def graph_html(graph: Graph) -> str:
    """A drawing of a DirectML graph, or a table of its operators."""
    head = f"DirectML graph <b>{escape(graph.name)}</b>"
    if len(graph.nodes) > MOST_DRAWN:
        return head + _counts("operator", (node.operator.type for node in graph.nodes))
    return head + _image(f"{len(graph.nodes)} nodes", directml_scene(sketch(graph)))


def model_html(model: CompiledModel) -> str:
    """A drawing of an ONNX model, or tables of its ports and operators; and the bytes of its weights."""
    head = f"ONNX model <b>{escape(model.name)}</b>, opset {model.opset}, target {escape(model.target)}, "
    head += "in FLOAT16, " if model.half else ""
    head += f"{model.weight_bytes:,} bytes of weights"
    if model.node_count > MOST_DRAWN:
        nodes = _counts("operator", (node.op_type for node in model.lowered.nodes))
        return head + _ports(model.inputs, model.outputs) + nodes
    return head + _image(f"{model.node_count} nodes", _model_scene(model))


def session_html(session: Session) -> str:
    """The providers, inputs and outputs of a session."""
    head = f"Session on <b>{escape(', '.join(session.providers))}</b>"
    return head + _ports(session.inputs, session.outputs)


def verification_html(verification: Verification) -> str:
    """The verdict, and each output of each round."""
    verdict = '<b style="color:#1a7f37">agrees</b> with'
    if not verification.passed:
        verdict = '<b style="color:#cf222e">differs</b> from'
    head = f"Verification: {verdict} the reference in {verification.finished} of {verification.rounds} rounds"
    first = verification.first_wrong_node
    if first is not None:
        head += f"; the first wrong node is <b>{escape(first.node)}</b> ({escape(first.operator)})"
    rows = [
        (item.output, item.round, f"{item.elements:,}", f"{item.wrong:,}", f"{item.worst:.3g}")
        for item in verification.comparisons
    ]
    return head + _table(("output", "round", "elements", "wrong", "largest difference"), rows)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _image(title: str, scene: Scene) -> str:
    data = base64.b64encode(drawn_alone(title, scene).encode()).decode()
    return f'<br><img alt="{escape(title)}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'


def _model_scene(model: CompiledModel) -> Scene:
    elements: list[Element] = [
        (end("input", place, port.name, _type(port)), (), (port.onnx_name,)) for place, port in enumerate(model.inputs)
    ]
    for place, node in enumerate(model.lowered.nodes):
        box = Box("node", place, node.op_type, shortened_lines([node.name]))
        inputs, outputs = ([item.name for item in items if item] for items in (node.inputs, node.outputs))
        elements.append((box, inputs, outputs))
    for place, port in enumerate(model.outputs):
        elements.append((end("output", place, port.name, _type(port)), (port.onnx_name,), ()))
    return scene_of(elements)


def _type(port: OnnxPort) -> str:
    return f"{port.dtype.name} {'×'.join(map(str, port.shape)) or 'scalar'}"


def _ports(inputs: Sequence[OnnxPort], outputs: Sequence[OnnxPort]) -> str:
    rows = [("input", port.name, _type(port)) for port in inputs]
    rows += [("output", port.name, _type(port)) for port in outputs]
    return _table(("", "name", "type"), rows)


def _counts(title: str, names: Iterable[str]) -> str:
    return _table((title, "nodes"), [(name, f"{count:,}") for name, count in Counter(names).most_common()])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(item)}</th>" for item in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS])
    more = f'<tr><td colspan="{len(columns)}">and {len(rows) - MOST_ROWS} more</td></tr>'
    return f"<table><tr>{head}</tr>{body}{more if len(rows) > MOST_ROWS else ''}</table>"
