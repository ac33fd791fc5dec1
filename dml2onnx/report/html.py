"""Writes a report as a self-contained HTML page, from ``assets/`` and the report's JSON.

Data from the model enters the page in two ways only: as JSON whose characters cannot end its element, and as escaped
text in the heading. The content security policy allows only the scripts and styles of the page itself.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import plural
from dml2onnx.report.comparison import ComparisonAnswer
from dml2onnx.report.form import Json, as_json
from dml2onnx.report.measured import PerfAnswer, panel
from dml2onnx.report.records import MARK, Report
from dml2onnx.report.scene import Scene, directml_scene, onnx_scene, visible
from dml2onnx.report.scopes import scopes_of
from dml2onnx.report.summary import summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHARED = ("words.js", "map.js", "controls.js", "parts.js")
SCRIPTS = ("layout.js", "scopes.js", "details.js", "tables.js", "main.js")
COMPARING = ("pairs.js", "compare.js")
"""The scripts of both kinds of pages, in the order in which they run; they are joined to one script."""
SCOPES_BUTTON = '  <button id="scopes" type="button" hidden>Collapse scopes</button>\n'


def page(report: Report | ComparisonAnswer, perf: PerfAnswer | None = None) -> str:
    """The page of a report, with the figures of ``perf`` if there are any."""
    parts = _of_comparison(report) if isinstance(report, ComparisonAnswer) else _of_report(report)
    names = (*SHARED, *(COMPARING if isinstance(report, ComparisonAnswer) else SCRIPTS))
    script = f'{_asset("d3.min.js")}(() => {{\n"use strict";\n{"".join(map(_asset, names))}}})();\n'
    style = _asset("page.css")
    parts |= {
        "mark": MARK,
        "perf": "" if perf is None else f"{panel(perf)}\n",
        "producer": html.escape(report.producer),
        "policy": f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "style": style,
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))


def is_report(path: Path) -> bool:
    """Whether a file is a page or a drawing of this package, which may be replaced."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(len("<!DOCTYPE html>\n" + MARK))
    except OSError:
        return False


def _of_report(report: Report) -> dict[str, str]:
    name = visible(report.name) or "graph"
    scopes = scopes_of([node.name for node in report.nodes])
    scenes: dict[str, Json] = {"directml": _drawn(directml_scene(report), scopes.of)}
    if report.onnx is not None:
        origins = [-1 if node.node is None else scopes.of[node.node] for node in report.onnx.nodes]
        scenes["onnx"] = _drawn(onnx_scene(report, report.onnx), origins)
    listed: list[Json] = [[visible(title), parent] for title, parent in zip(scopes.titles, scopes.parents, strict=True)]
    return {
        "title": html.escape(f"{name} – DirectML and ONNX"),
        "name": html.escape(name),
        "facts": _facts(report),
        "story": f'<p class="story">{html.escape(" ".join(summary(report)))}</p>',
        "controls": SCOPES_BUTTON,
        "first": "directml",
        "first_title": "DirectML",
        "second": "onnx",
        "second_title": "ONNX",
        "data": _embedded({"report": as_json(report), "maps": scenes, "scopes": listed}),
    }


def _of_comparison(report: ComparisonAnswer) -> dict[str, str]:
    left, right = (visible(title) for title in (report.left_title, report.right_title))
    scenes: dict[str, Json] = {}
    for side, item in (("left", report.left), ("right", report.right)):
        drawn: dict[str, Json] = {"directml": _drawn(directml_scene(item))}
        if item.onnx is not None:
            drawn["onnx"] = _drawn(onnx_scene(item, item.onnx))
        scenes[side] = drawn
    return {
        "title": html.escape(f"{left} and {right}"),
        "name": html.escape(f"{left} and {right}"),
        "facts": _differences(report),
        "story": "",
        "controls": _asset("compare.html"),
        "first": "left",
        "first_title": html.escape(left),
        "second": "right",
        "second_title": html.escape(right),
        "data": _embedded({"comparison": as_json(report), "maps": scenes}),
    }


def _differences(report: ComparisonAnswer) -> str:
    """A line with the number of differences."""
    facts = [f"<b>{plural(report.same, 'node', 'no')}</b> the same"]
    counts = ((report.changed, "warning", "changed"), (report.only_left, "error", "only on the left"))
    for number, tone, words in (*counts, (report.only_right, "good", "only on the right")):
        if number:
            facts.append(f'<b class="{tone}">{number} {words}</b>')
    if len(facts) == 1:
        facts.append('<b class="good">no node differs</b>')
    return " · ".join(facts)


def _asset(name: str) -> str:
    return (files("dml2onnx.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash of a script or a style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _facts(report: Report) -> str:
    """A line with the most important facts."""
    compiled = "cannot be compiled" if report.onnx is None else plural(len(report.onnx.nodes), "ONNX node", "no")
    facts = [f"<b>{plural(len(report.nodes), 'DirectML node', 'no')}</b>", f"<b>{compiled}</b>"]
    level = report.minimum_feature_level
    facts.append("no feature level allows it" if level is None else f"needs feature level <b>{html.escape(level)}</b>")
    counts = ((report.errors, "error"), (report.warnings, "warning"))
    found = [f'<b class="{severity}">{plural(count, severity)}</b>' for count, severity in counts if count]
    facts += found or ['<b class="good">no findings</b>']
    if report.verification is not None:
        passed = report.verification.passed
        verdict = "agrees with the reference" if passed else "differs from the reference"
        facts.append(f'<b class="{"good" if passed else "error"}">{verdict}</b>')
    return " · ".join(facts)


def _embedded(value: dict[str, Json]) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # these characters occur in strings only, where JSON allows escapes
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _drawn(scene: Scene, scopes: Sequence[int] = ()) -> Json:
    """A scene for the page; ``scopes`` has the scope of each node, or -1."""
    layout = scene.layout
    boxes: list[Json] = []
    for box, (x, y) in zip(scene.boxes, layout.centres, strict=True):
        width, height = box.size
        boxes.append([box.kind, box.place, round(x), round(y), round(width), round(height), box.title, *box.lines])
    edges: list[Json] = [
        [source, target, [[round(x), round(y)] for x, y in route]]
        for (source, target), route in zip(scene.edges, layout.routes, strict=True)
    ]
    drawn: dict[str, Json] = {"boxes": boxes, "edges": edges, "width": layout.width, "height": layout.height}
    if scopes:
        drawn["inside"] = [scopes[box.place] if box.kind == "node" else -1 for box in scene.boxes]
    return drawn
