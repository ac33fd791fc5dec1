"""Pages and drawings are self-contained, escape texts of the model, and contain the whole report."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import dml2onnx
from dml2onnx.report.form import as_json
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.records import Report
from dml2onnx.report.scene import LONGEST, Box, directml_scene, onnx_scene
from dml2onnx.report.svg import drawing
from tests.report.models import HOSTILE, SAMPLES, broken, hostile, small

SVG = "{http://www.w3.org/2000/svg}"


class Elements(HTMLParser):
    """All start tags with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.contents: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.contents.append((self.cdata_elem or "", data))


@pytest.fixture(scope="module", params=[small, hostile, broken], ids=lambda make: make.__name__)
def report(request: pytest.FixtureRequest) -> Report:
    return gather(request.param())


def test_the_page_has_the_report_in_it(report: Report) -> None:
    data = [text for tag, text in Elements(page(report)).contents if tag == "script" and text.startswith("{")]
    assert json.loads("".join(data))["report"] == json.loads(json.dumps(as_json(report)))


def test_the_page_loads_nothing(report: Report) -> None:
    for tag, attributes in Elements(page(report)).tags:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert (attributes.get("href") or "").startswith(("data:", "#")) or "href" not in attributes


def test_the_policy_allows_only_our_scripts_and_styles(report: Report) -> None:
    elements = Elements(page(report))
    (policy,) = (item["content"] for tag, item in elements.tags if item.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    named = re.findall(r"'sha256-([^']+)'", policy)
    texts = {"style": "", "script": ""}
    for tag, text in elements.contents:
        if tag in texts and not text.startswith("{"):
            texts[tag] += text
    found = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts.values()]
    assert named == found


def test_hostile_names_stay_text() -> None:
    report = gather(hostile())
    plain = Elements(page(gather(small())))
    elements = Elements(page(report))
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in plain.tags]
    text = page(report)
    assert "<img" not in text
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert "\\u202egnp.exe" in text.partition("</h1>")[0]  # escaped
    assert json.loads(text.partition('id="data">')[2].partition("</script>")[0])["report"]["name"] == HOSTILE


def test_the_drawing_is_well_formed_and_self_contained(report: Report) -> None:
    text = drawing(report)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    allowed = ("svg", "style", "rect", "line", "text", "g", "path")
    assert {item.tag for item in root.iter()} <= {SVG + tag for tag in allowed}
    assert "url(" not in text
    assert "@import" not in text
    assert not [name for item in root.iter() for name in item.attrib if "href" in name]


def test_the_drawing_has_every_node(report: Report) -> None:
    root = ElementTree.fromstring(drawing(report))
    boxes = [item for item in root.iter(f"{SVG}rect") if "box" in (item.get("class") or "")]
    ends = len(report.inputs) + len(report.outputs)
    onnx = 0 if report.onnx is None else len(report.onnx.nodes) + ends
    assert len(boxes) == len(report.nodes) + ends + onnx
    width, height = (float(root.get(name) or 0) for name in ("width", "height"))
    for group in root.iter(f"{SVG}g"):
        left, top = map(float, (group.get("transform") or "")[len("translate(") : -1].split())
        for item in group.iter(f"{SVG}rect"):
            x, y, wide, high = (float(item.get(name) or 0) for name in ("x", "y", "width", "height"))
            assert 0 <= left + x <= left + x + wide <= width
            assert 0 <= top + y <= top + y + high <= height


def test_nodes_with_findings_are_marked_in_the_drawing() -> None:
    for make, kinds in ((broken, ["box error"] * 4), (small, ["box warning"])):
        root = ElementTree.fromstring(drawing(gather(make())))
        found = [item.get("class") or "" for item in root.iter(f"{SVG}rect")]
        assert [kind for kind in found if kind.endswith(("error", "warning"))] == kinds


def test_scenes_have_the_edges_of_the_graphs() -> None:
    report = gather(small())
    assert report.onnx is not None
    scene = directml_scene(report)
    named = [(scene.boxes[a].lines[:1], scene.boxes[b].lines[:1]) for a, b in scene.edges]
    assert (("convolution",), ("activation_relu",)) in named
    assert (("activation_relu",), ("same",)) in named
    edges = onnx_scene(report, report.onnx)
    kinds = [(edges.boxes[a].title, edges.boxes[b].title) for a, b in edges.edges]
    assert ("Conv", "Relu") in kinds
    assert ("picture", "Conv") in kinds
    assert kinds[-1] == ("Identity", "same")


def test_constants_are_no_boxes() -> None:
    report = gather(dml2onnx.load(SAMPLES / "picture" / "model.json"))
    scene = directml_scene(report)
    for place, node in enumerate(report.nodes):
        box = next(at for at, item in enumerate(scene.boxes) if (item.kind, item.place) == ("node", place))
        reads = {item.value for item in node.inputs} - {
            at for at, item in enumerate(report.values) if item.kind == "constant"
        }
        assert len({a for a, b in scene.edges if b == box}) == len(reads)


def test_long_lines_are_shortened() -> None:
    g = dml2onnx.GraphBuilder()
    graph = g.build({"y" * 500: g.abs(g.input("x" * 500, "INT8", [2]), name="n" * 500)})
    for box in directml_scene(gather(graph)).boxes:
        assert isinstance(box, Box)
        assert all(len(line) <= LONGEST for line in (box.title, *box.lines))


def test_the_library_of_the_page_is_pinned() -> None:
    script = SAMPLES.parent / "scripts" / "fetch_d3.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0
