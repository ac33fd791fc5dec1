"""A report as a page of its own: one file that loads nothing, made of ``assets/`` and the report's JSON.

What comes from the model enters the page in two ways only: as JSON in which no character can end its element, and as
escaped text in the heading. The page's policy lets no script or style run but those that it was made with.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from dml2onnx.report.form import as_json
from dml2onnx.report.records import MARK
from dml2onnx.report.scene import directml_scene, onnx_scene, visible

if TYPE_CHECKING:
    from dml2onnx.report.form import Json
    from dml2onnx.report.records import Report
    from dml2onnx.report.scene import Scene

SCRIPTS = ("d3.min.js", "words.js", "map.js", "details.js", "tables.js", "main.js")
"""In the order in which they run; all but the first are parts of one script."""


def page(report: Report) -> str:
    """The whole page."""
    library, *own = (_asset(name) for name in SCRIPTS)
    script = f'{library}(() => {{\n"use strict";\n{"".join(own)}}})();\n'
    style = _asset("page.css")
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    name = visible(report.name) or "graph"
    parts = {
        "mark": MARK,
        "title": html.escape(f"{name} – DirectML and ONNX"),
        "name": html.escape(name),
        "facts": _facts(report),
        "producer": html.escape(report.producer),
        "policy": policy,
        "style": style,
        "script": script,
        "data": _embedded(report),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return (files("dml2onnx.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a content security policy names a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _facts(report: Report) -> str:
    """One line for what matters most."""
    compiled = "cannot be compiled" if report.onnx is None else f"{_count(len(report.onnx.nodes), 'ONNX node')}"
    facts = [f"<b>{_count(len(report.nodes), 'DirectML node')}</b>", f"<b>{compiled}</b>"]
    level = report.minimum_feature_level
    facts.append("no feature level admits it" if level is None else f"needs feature level <b>{html.escape(level)}</b>")
    counts = ((report.errors, "error"), (report.warnings, "warning"))
    found = [f'<b class="{severity}">{_count(count, severity)}</b>' for count, severity in counts if count]
    facts += found or ['<b class="good">no findings</b>']
    if report.verification is not None:
        passed = report.verification.passed
        verdict = "agrees with the reference" if passed else "differs from the reference"
        facts.append(f'<b class="{"good" if passed else "error"}">{verdict}</b>')
    return " · ".join(facts)


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _embedded(report: Report) -> str:
    scenes = {"directml": _drawn(directml_scene(report))}
    if report.onnx is not None:
        scenes["onnx"] = _drawn(onnx_scene(report, report.onnx))
    text = json.dumps({"report": as_json(report), "maps": scenes}, separators=(",", ":"), allow_nan=False)
    # inside of strings only, where JSON takes an escape for every character
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _drawn(scene: Scene) -> dict[str, Json]:
    layout = scene.layout
    boxes: list[Json] = []
    for box, (x, y) in zip(scene.boxes, layout.centres, strict=True):
        width, height = box.size
        boxes.append([box.kind, box.place, round(x), round(y), round(width), round(height), box.title, *box.lines])
    edges: list[Json] = [
        [source, target, [[round(x), round(y)] for x, y in route]]
        for (source, target), route in zip(scene.edges, layout.routes, strict=True)
    ]
    return {"boxes": boxes, "edges": edges, "width": layout.width, "height": layout.height}
