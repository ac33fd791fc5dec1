"""Draws a report as SVG: the DirectML graph beside the ONNX graph, or beside another graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from dml2onnx.diagnostics import plural
from dml2onnx.report.comparison import ComparisonAnswer
from dml2onnx.report.records import MARK, NodeRecord, Report
from dml2onnx.report.scene import LINE, TEXT_SIZE, TITLE_SIZE, directml_scene, onnx_scene, text_width, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dml2onnx.report.layout import Point
    from dml2onnx.report.scene import Box, Scene

MARGIN = 24.0
BETWEEN = 72.0
HEADING = 36.0
STYLE = """
  .back { fill: #ffffff; } .rule { stroke: #dfe1e4; }
  .box { fill: #ffffff; stroke: #8d96a3; } .end { fill: #eef0f2; } .error { stroke: #b3261e; stroke-width: 2; }
  .warning, .changed { stroke: #a86b00; stroke-width: 2; }
  .left { stroke: #b3261e; stroke-width: 2; stroke-dasharray: 5 3; } .right { stroke: #1a6b3c; stroke-width: 2; }
  .edge { fill: none; stroke: #a9b0ba; stroke-width: 1.2; }
  text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; text-anchor: middle; fill: #57606d; }
  .title { font-weight: 600; fill: #1b1f26; } .heading { font-weight: 600; fill: #1b1f26; text-anchor: start; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #14171c; } .rule { stroke: #30353e; }
    .box { fill: #1d2128; stroke: #6b7482; } .end { fill: #2a2f38; } .error { stroke: #ff9a90; }
    .warning, .changed { stroke: #f0bd5e; } .left { stroke: #ff9a90; } .right { stroke: #7bd3a0; }
    .edge { stroke: #59616e; } text { fill: #a3abb7; } .title, .heading { fill: #e7e9ed; }
  }
"""


class _Part(NamedTuple):
    """A graph of the drawing: its title, its scene, and the CSS classes of highlighted nodes by index."""

    title: str
    scene: Scene
    marks: Mapping[int, str]


def drawing(report: Report | ComparisonAnswer) -> str:
    """A self-contained SVG document, whose colours follow the reader's light or dark theme."""
    parts = _compared(report) if isinstance(report, ComparisonAnswer) else _single(report)
    name = report.left.name if isinstance(report, ComparisonAnswer) else report.name
    return _drawn(name, parts)


def drawn_alone(title: str, scene: Scene) -> str:
    """An SVG document with one graph."""
    return _drawn(title, [_Part(title, scene, {})])


def _drawn(name: str, parts: Sequence[_Part]) -> str:
    widths = [max(part.scene.layout.width, text_width(part.title, 15, bold=True)) for part in parts]
    width = 2 * MARGIN + sum(widths) + BETWEEN * (len(parts) - 1)
    height = 2 * MARGIN + HEADING + max(part.scene.layout.height for part in parts)
    drawn: list[str] = []
    left = MARGIN
    for number, ((title, scene, marks), own) in enumerate(zip(parts, widths, strict=True)):
        if number:
            x = _number(left - BETWEEN / 2)
            drawn.append(f'<line class="rule" x1="{x}" y1="{MARGIN:g}" x2="{x}" y2="{_number(height - MARGIN)}"/>')
        at = f'x="{_number(left)}" y="{MARGIN + 12:g}"'
        drawn.append(f'<text class="heading" {at} font-size="15">{_xml(escape(visible(title)))}</text>')
        offset = left + (own - scene.layout.width) / 2
        drawn.append(f'<g transform="translate({_number(offset)} {MARGIN + HEADING:g})">')
        drawn += _edges(scene)
        drawn += _boxes(scene, marks)
        drawn.append("</g>")
        left += own + BETWEEN
    size = f'width="{_number(width)}" height="{_number(height)}" viewBox="0 0 {_number(width)} {_number(height)}"'
    label = escape(f"The graph {name}: {', '.join(part.title for part in parts)}", {'"': "&quot;"})
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{_xml(label)}">'
    back = '<rect class="back" width="100%" height="100%" rx="8"/>'
    return "\n".join([MARK, head, f"<style>{STYLE}</style>", back, *drawn, "</svg>", ""])


def _single(report: Report) -> list[_Part]:
    """The DirectML graph and the ONNX graph."""
    marks = {place: mark for place, node in enumerate(report.nodes) if (mark := _mark(report, node))}
    parts = [_Part(f"DirectML, {plural(len(report.nodes), 'node')}", directml_scene(report), marks)]
    if report.onnx is not None:
        parts.append(_Part(f"ONNX, {plural(len(report.onnx.nodes), 'node')}", onnx_scene(report, report.onnx), {}))
    return parts


def _compared(report: ComparisonAnswer) -> list[_Part]:
    """Both DirectML graphs, with their differences highlighted."""
    nodes = [pair for pair in report.pairs if pair.kind == "node" and pair.state != "same"]
    left = {pair.left: pair.state for pair in nodes if pair.left is not None}
    right = {pair.right: pair.state for pair in nodes if pair.right is not None}
    sides = ((report.left_title, report.left, left), (report.right_title, report.right, right))
    return [
        _Part(f"{title}, {plural(len(side.nodes), 'node')}", directml_scene(side), marks)
        for title, side, marks in sides
    ]


def _edges(scene: Scene) -> Iterator[str]:
    for route in scene.layout.routes:
        if route:
            yield f'<path class="edge" d="{_path(route)}"/>'


def _path(route: Sequence[Point]) -> str:
    """A path of curves with vertical ends."""
    x, y = route[0]
    steps = [f"M{_number(x)} {_number(y)}"]
    for next_x, next_y in route[1:]:
        middle = _number((y + next_y) / 2)
        end = f"{_number(next_x)} {_number(next_y)}"
        steps.append(f"L{end}" if x == next_x else f"C{_number(x)} {middle} {_number(next_x)} {middle} {end}")
        x, y = next_x, next_y
    return "".join(steps)


def _mark(report: Report, node: NodeRecord) -> str:
    """The highest severity of a node's findings, or ``""``."""
    found = {report.diagnostics[place].severity for place in node.findings}
    return "error" if "error" in found else "warning" if found else ""


def _boxes(scene: Scene, marks: Mapping[int, str]) -> Iterator[str]:
    for box, (x, y) in zip(scene.boxes, scene.layout.centres, strict=True):
        kind = "box" if box.kind == "node" else "box end"
        if box.kind == "node" and box.place in marks:
            kind += f" {marks[box.place]}"
        yield _box(box, kind, x, y)


def _box(box: Box, kind: str, x: float, y: float) -> str:
    width, height = box.size
    radius = 6.0 if box.kind == "node" else height / 2.4
    place = f'x="{_number(x - width / 2)}" y="{_number(y - height / 2)}"'
    size = f'width="{_number(width)}" height="{_number(height)}" rx="{_number(radius)}"'
    parts = [f'<rect class="{kind}" {place} {size}/>']
    baseline = y - LINE * len(box.lines) / 2 + TITLE_SIZE / 3
    for number, line in enumerate((box.title, *box.lines)):
        style = f'class="title" font-size="{TITLE_SIZE:g}"' if number == 0 else f'font-size="{TEXT_SIZE:g}"'
        at = f'x="{_number(x)}" y="{_number(baseline + LINE * number)}"'
        parts.append(f"<text {style} {at}>{_xml(escape(line))}</text>")
    return "".join(parts)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _xml(text: str) -> str:
    """Replaces characters that XML does not allow, which names may still contain, by question marks."""
    return "".join(char if char.isprintable() else "?" for char in text)
