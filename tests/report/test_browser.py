"""The page in a headless Chromium: mouse, keyboard, search, and accessibility."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import dml2onnx
from tests.report.browser import ROOT, SIZE, Browser, running
from tests.report.models import HOSTILE, broken
from tests.report.pages import written

AXE = next(iter((ROOT / ".venv-browser").glob("**/axe_playwright_python/axe.min.js")), None)
ENTER, DOWN, UP, RIGHT, HOME = (("Enter", 13), ("ArrowDown", 40), ("ArrowUp", 38), ("ArrowRight", 39), ("Home", 36))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running() as found:
        yield found


@pytest.fixture
def opened(browser: Browser, pages: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Opens a page, which must log no problems and load nothing during the test."""
    marker = request.node.get_closest_marker("parametrize")
    path = pages["small" if marker is None else request.getfixturevalue("name")]
    browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    browser.open(path)
    yield browser
    browser.run("0")  # earlier messages arrive before its answer
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [path.as_uri()]


def title(browser: Browser) -> list[str]:
    """Returns the heading of the details, and the text for screen readers."""
    heading = "document.querySelector('#details h2').textContent"
    return browser.run(f"[{heading}, document.getElementById('status').textContent]")


class Spot(NamedTuple):
    """The middle of a box on its canvas, and half its width."""

    graph: str
    x: float
    y: float
    half: float


def spot(browser: Browser, graph: str, text: str, scene: str = "") -> Spot:
    """Shows the whole graph, and returns the place of the box with this line."""
    browser.click_on(f'[data-map="{graph}"][data-zoom="fit"]')
    return placed(browser, graph, text, scene or graph)


def placed(browser: Browser, graph: str, text: str, *scenes: str) -> Spot:
    """Returns the place of a box of the first scene, at the scale at which all scenes fit."""
    drawn = f"JSON.parse(document.getElementById('data').textContent).maps.{scenes[0]}"
    finder = f"({{boxes, width, height}}) => [boxes.find((box) => box.includes({json.dumps(text)})), width, height]"
    (_, _, x, y, wide, *_), width, height = browser.run(f"({finder})({drawn})")
    host = f"document.getElementById('{graph}')"
    across, along = browser.run(f"[{host}.clientWidth, {host}.clientHeight]")
    maps = "JSON.parse(document.getElementById('data').textContent).maps"
    sizes = browser.run(f"[{', '.join(f'[{maps}.{scene}.width, {maps}.{scene}.height]' for scene in scenes)}]")
    scale = min(1.1, *(part for wide, high in sizes for part in ((across - 32) / wide, (along - 32) / high)))
    return Spot(graph, across / 2 + scale * (x - width / 2), along / 2 + scale * (y - height / 2), scale * wide / 2)


def click(browser: Browser, at: Spot) -> None:
    box = f"document.getElementById('{at.graph}').getBoundingClientRect()"
    left, top = browser.run(f"(({{x, y}}) => [x, y])({box})")
    browser.click(left + at.x, top + at.y)


def colour(browser: Browser, at: Spot) -> list[int]:
    """Returns the colour of a box near its left side."""
    found = browser.run(
        f"""(() => {{
          const copy = new OffscreenCanvas(1, 1).getContext("2d"); // reading the page's own would slow it down
          copy.drawImage(document.querySelector("#{at.graph} canvas"), {at.half - at.x - 4}, {-at.y});
          return [...copy.getImageData(0, 0, 1, 1).data];
        }})()"""
    )
    assert isinstance(found, list)
    return found


def choose(browser: Browser, value: str, list_: str = "colour") -> None:
    """Chooses a value in a list of the page."""
    browser.run(
        f"""(() => {{
          const list = document.getElementById("{list_}");
          list.value = "{value}";
          list.dispatchEvent(new Event("change"));
        }})()"""
    )
    browser.settle()


def search(browser: Browser, text: str) -> None:
    """Shows the first match of a text."""
    browser.run("document.getElementById('search').focus()")
    browser.type(text)
    browser.press(*ENTER)


def text_of(browser: Browser, name: str) -> str:
    text = browser.run(f"document.getElementById('{name}').textContent")
    assert isinstance(text, str)
    return text


def background(browser: Browser) -> int:
    """Returns the lightness of the page: the sum of red, green and blue."""
    text = browser.run("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", text)))


def test_a_click_on_a_node_shows_it_on_both_sides(opened: Browser) -> None:
    choose(opened, "findings")
    conv = spot(opened, "onnx", "convolution/Conv")
    before = colour(opened, conv)
    click(opened, spot(opened, "directml", "convolution"))
    assert title(opened) == ["CONVOLUTION", "CONVOLUTION convolution"]
    assert colour(opened, conv) != before  # its ONNX node is marked
    details = text_of(opened, "details")
    for text in ("FilterTensor", "constant", "Strides", "Needs 1_0", "agrees", "GroupCount", "read by activation_relu"):
        assert text in details
    assert opened.run("document.querySelectorAll('#details .tensor svg').length") == 3
    cells = "[...document.querySelectorAll('#details .tensor svg')].map((svg) => svg.querySelectorAll('text').length)"
    assert opened.run(cells) == [16, 9, 4]


def test_tensors_are_drawn_in_memory_order(opened: Browser) -> None:
    """x is 2 by 3 with strides 1 and 2: its columns are contiguous."""
    click(opened, spot(opened, "directml", "block_largest"))
    cells = "document.querySelector('#details .tensor svg').querySelectorAll('text')"
    numbers = f"[...{cells}].map((item) => item.textContent)"
    assert opened.run(numbers) == ["0", "3", "1", "4", "2", "5"]
    assert "permuted" in opened.run("document.querySelector('#details .tensor').textContent")


def test_search_finds_and_shows(opened: Browser) -> None:
    opened.press("/", 191)
    opened.run("document.getElementById('search').focus()")
    opened.type("relu")
    options = "[...document.querySelectorAll('#matches li')].map((item) => item.textContent)"
    found = opened.run(options)
    assert any("ACTIVATION_RELU" in text and text.endswith("DirectML") for text in found)
    assert any(text.startswith("Relu") and text.endswith("ONNX") for text in found)
    assert opened.run("document.getElementById('search').getAttribute('aria-activedescendant')") == "match-0"
    opened.press(*DOWN)
    assert opened.run("document.getElementById('search').getAttribute('aria-activedescendant')") == "match-1"
    opened.press(*UP)
    opened.press(*ENTER)
    assert title(opened)[0] == "ACTIVATION_RELU"
    assert opened.run("document.getElementById('matches').hidden")


def test_the_keyboard_walks_along_edges(opened: Browser) -> None:
    opened.run("document.getElementById('directml').focus()")
    opened.press(*HOME)
    assert title(opened) == ["Graph input", "input x"]
    opened.press(*DOWN)
    first = title(opened)[0]
    assert first in {"ELEMENT_WISE_MAX", "ELEMENT_WISE_ABS"}
    opened.press(*RIGHT if first == "ELEMENT_WISE_MAX" else ("ArrowLeft", 37))
    opened.press(*UP)
    assert title(opened)[0] == "Graph input"
    picture = "document.querySelector('#directml canvas').toDataURL()"
    before = opened.run(picture)
    opened.press("+", 187)
    assert opened.run(picture) != before
    opened.press("0", 48)
    assert opened.run(picture) == before


@pytest.mark.parametrize("name", ["broken"])
def test_a_finding_leads_to_its_node(opened: Browser, name: str) -> None:
    assert "No ONNX model" in text_of(opened, "onnx-count")
    bar = "document.getElementById('onnx-title').closest('section').getBoundingClientRect()"
    assert opened.run(f"{bar}.height") < 60  # takes no space
    assert "did you mean" in text_of(opened, "panel-findings")
    assert '"REFLECTION"' in opened.run(
        "document.querySelector('#panel-findings tbody tr').lastElementChild.previousSibling.textContent"
    )
    codes = opened.run("[...document.querySelectorAll('#panel-findings tbody button')].map((item) => item.textContent)")

    def cards(code: str) -> list[str]:
        opened.click_on(f"#panel-findings tbody tr:nth-child({codes.index(code) + 1}) button")
        shown = opened.run("[...document.querySelectorAll('#details .finding')].map((item) => item.textContent)")
        assert opened.run("document.querySelectorAll('#panel-findings tr.chosen').length") == len(shown)
        return list(shown)

    (card,) = cards("DML1602")
    assert title(opened) == ["RESAMPLE1", "RESAMPLE1 larger_mask, 1 finding"]
    assert "DML1602" in card
    assert "6_2" in card
    reason = "InputTensor/DataType: FLOAT32 or FLOAT16 instead of INT8"
    assert reason in text_of(opened, "details")
    several = cards("DML1701")
    assert title(opened) == ["CONVOLUTION", "CONVOLUTION features, 2 findings"]
    assert len(several) == 2
    assert any("DML1701" in card and "ACTIVATION_SOFTMAX" in card for card in several)


def test_tables_sort_and_filter(opened: Browser) -> None:
    opened.click_on("#tab-nodes")
    names = "[...document.querySelectorAll('#panel-nodes tbody td:first-child')].map((cell) => cell.textContent)"
    original = opened.run(names)
    opened.click_on("#panel-nodes th:nth-child(1) button")
    assert opened.run(names) == sorted(original)
    assert opened.run("document.querySelector('#panel-nodes th').getAttribute('aria-sort')") == "ascending"
    opened.click_on("#panel-nodes th:nth-child(1) button")
    assert opened.run(names) == sorted(original, reverse=True)
    opened.click_on("#panel-nodes th:nth-child(8) button")  # by time; nodes without times come last
    assert opened.run(names)[0] in {"activation_relu", "block_largest", "convolution"}
    assert opened.run(names)[-1] in {"unused", "same"}
    opened.click_on(".filter")
    opened.type("int16 abs")
    assert opened.run(names) == ["unused"]
    assert text_of(opened, "status") == "1 row"


def test_the_map_is_coloured_by_measurements(opened: Browser) -> None:
    largest, conv = (spot(opened, "directml", name) for name in ("block_largest", "convolution"))
    choose(opened, "findings")
    plain = colour(opened, conv)
    expected = {"level": "1_03_0", "error": "0 %", "time": "µs", "memory": "12 bytes24 bytes"}
    for measure, words in expected.items():
        choose(opened, measure)
        assert words in text_of(opened, "legend")
        assert colour(opened, conv) != colour(opened, largest)
        assert colour(opened, largest) != plain
    choose(opened, "findings")
    assert text_of(opened, "legend") == ""
    assert colour(opened, conv) == plain


@pytest.mark.parametrize("name", ["wrong"])
def test_wrong_nodes_stand_out(opened: Browser, name: str) -> None:
    assert "differs from the reference" in opened.run("document.querySelector('header').textContent")
    assert "The time limit ended after 1 of 3 cases." in text_of(opened, "details")
    choose(opened, "error")
    assert "wrong" in text_of(opened, "legend")
    conv = spot(opened, "directml", "convolution")
    red, green, blue, _ = colour(opened, conv)
    assert red > 2 * max(green, blue)
    click(opened, conv)
    details = text_of(opened, "details")
    for text in ("2 of 4 elements are wrong", "[0, 0, 1, 1], case 1 (ordinary values)", "nan", "± 0.25"):
        assert text in details
    opened.click_on("#tab-verification")
    assert opened.run("document.querySelectorAll('#panel-verification tbody tr').length") == 3


def test_light_and_dark(opened: Browser) -> None:
    conv = spot(opened, "directml", "convolution")
    light = colour(opened, conv)
    assert background(opened) > 600
    opened.prefer(prefers_color_scheme="dark")
    assert background(opened) < 150
    dark = colour(opened, conv)
    assert dark != light
    opened.click_on("#theme")
    assert background(opened) > 600
    assert colour(opened, conv) == light
    opened.click_on("#theme")
    opened.prefer(prefers_color_scheme="light")
    assert background(opened) < 150
    assert colour(opened, conv) == dark


def test_canvases_are_visible(opened: Browser) -> None:
    """Canvases are visible: edges, text and boxes in many shades."""
    from PIL import Image

    picture = Image.open(io.BytesIO(opened.screenshot())).convert("RGB")
    assert picture.size == SIZE
    for left in (0, 520):
        seen = picture.crop((left, 110, left + 480, 540)).getcolors(1 << 16)
        assert seen is not None
        assert len(seen) > 30


@pytest.mark.parametrize("name", ["hostile"])
def test_hostile_names_are_text_everywhere(opened: Browser, name: str) -> None:
    search(opened, "abs")
    opened.click_on("#tab-onnx")
    shown = opened.run("document.body.innerText")
    assert "\u202e" not in shown
    assert HOSTILE.replace("\u202e", "\\u202e").replace("\u2028", "\\u2028") in shown
    assert opened.run("document.querySelectorAll('img').length") == 0
    assert opened.run("document.title").startswith("</script><img")


@pytest.mark.parametrize("name", ["large"])
def test_only_visible_nodes_are_drawn(opened: Browser, name: str) -> None:
    opened.run(
        """const prototype = CanvasRenderingContext2D.prototype;
        for (const name of ["fillText", "roundRect", "fill", "stroke"]) {
          const original = prototype[name];
          prototype[name] = function (...args) { window.calls += 1; return original.apply(this, args); };
        }"""
    )

    def calls(zoom: str) -> int:
        opened.run("window.calls = 0")
        opened.click_on(f'[data-map="directml"][data-zoom="{zoom}"]')
        found = opened.run("window.calls")
        assert isinstance(found, int)
        return found

    assert 10 < calls("in") < 300
    assert 2 <= calls("fit") < 300  # all 5,000, at once
    rows = "document.querySelectorAll('#panel-nodes tbody tr').length"
    assert opened.run(rows) == 200
    opened.click_on("#panel-nodes .more")
    assert opened.run(rows) == 1200
    search(opened, "n4321")
    assert title(opened)[1] == "ACTIVATION_RELU n4321"


# --- Two graphs -------------------------------------------------------------------------------------------------------

ROWS = "[...document.querySelectorAll('.panel:not([hidden]) tbody tr')].map((row) => row.innerText)"


@pytest.mark.parametrize("name", ["compared"])
def test_keys_visit_all_differences(opened: Browser, name: str) -> None:
    assert text_of(opened, "position") == "6 differences"
    seen = []
    for number in range(1, 7):
        opened.type("n")
        assert text_of(opened, "position") == f"{number} of 6"
        seen.append(text_of(opened, "status"))
    assert seen[0].startswith("ELEMENT_WISE_MAX block_largest, changed: ATensor.Strides")
    assert "ELEMENT_WISE_ABS unused, only in one" in seen
    assert "ELEMENT_WISE_ABS added, only in two" in seen
    opened.type("n")
    assert text_of(opened, "status") == seen[0]  # starts again
    opened.type("p")
    assert text_of(opened, "status") == seen[-1]
    opened.click_on("#previous")
    assert text_of(opened, "status") == seen[-2]
    opened.click_on("#next")
    assert text_of(opened, "status") == seen[-1]
    opened.run("document.getElementById('search').focus()")
    opened.type("n")  # a letter in the search field
    assert text_of(opened, "position") == "6 of 6"


@pytest.mark.parametrize("name", ["compared"])
def test_a_click_shows_both_sides_of_a_pair(opened: Browser, name: str) -> None:
    there = spot(opened, "right", "rectified", "right.directml")
    click(opened, spot(opened, "left", "activation_relu", "left.directml"))
    assert title(opened) == ["ACTIVATION_RELU", "ACTIVATION_RELU activation_relu → rectified, the same: name"]
    assert "found by its place in the graph" in text_of(opened, "details")
    click(opened, spot(opened, "left", "convolution", "left.directml"))
    assert "contents FilterTensor" in opened.run("document.querySelector('#details tr.differs').innerText")
    click(opened, there)
    assert title(opened)[0] == "ACTIVATION_RELU"
    click(opened, spot(opened, "left", "block_largest", "left.directml"))
    text = text_of(opened, "details")
    assert "[1, 2]" in text
    assert "[3, 1]" in text
    numbers = "[...document.querySelectorAll('#details svg')].map((svg) => svg.textContent.match(/\\d+$/)[0])"
    assert opened.run(numbers)[:2] == ["031425", "012345"]  # the memory order of both


@pytest.mark.parametrize("name", ["compared"])
def test_two_graphs_start_whole_at_one_scale(opened: Browser, name: str) -> None:
    """Also if both are smaller than a single graph would be."""
    scenes = ("right.directml", "left.directml")
    opened.resize(1280, 620)
    try:
        opened.settle()
        for graph, text, own in (("right", "same", scenes), ("left", "unused", scenes[::-1])):
            click(opened, placed(opened, graph, text, *own))
            assert title(opened)[1].startswith("ELEMENT_WISE_")
            assert text in title(opened)[1]
    finally:
        opened.resize(*SIZE)


@pytest.mark.parametrize("name", ["compared"])
def test_search_finds_pairs_by_either_name(opened: Browser, name: str) -> None:
    opened.press("/", 191)
    search(opened, "rectified")
    assert title(opened)[0] == "ACTIVATION_RELU"


@pytest.mark.parametrize("name", ["compared"])
def test_tables_of_two_graphs(opened: Browser, name: str) -> None:
    assert len(opened.run(ROWS)) == 6
    opened.click_on("#panel-differences tbody tr:nth-child(2) button")
    assert title(opened)[0] == "ELEMENT_WISE_ABS"
    opened.click_on("#tab-totals")
    (abs_nodes,) = (row for row in opened.run(ROWS) if row.startswith("ONNX Abs"))
    assert abs_nodes.split("\t")[1:] == ["0", "1", "+1"]
    opened.click_on("#tab-nodes")
    assert len(opened.run(ROWS)) == 6
    opened.click_on(".filter")
    opened.type("only in")
    assert len(opened.run(ROWS)) == 2


@pytest.mark.parametrize("name", ["compared"])
def test_the_onnx_graphs_side_by_side(opened: Browser, name: str) -> None:
    choose(opened, "onnx", "graphs")
    added = spot(opened, "right", "added/Abs", "right.onnx")
    plain = colour(opened, added)
    click(opened, added)
    assert title(opened) == ["ELEMENT_WISE_ABS", "ELEMENT_WISE_ABS added, only in two"]
    choose(opened, "memory")
    assert "bytes" in text_of(opened, "legend")
    assert colour(opened, added) != plain


@pytest.mark.parametrize("name", ["levels"])
def test_two_levels_side_by_side(opened: Browser, name: str) -> None:
    opened.type("n")
    assert title(opened)[0] == "ACTIVATION_GELU"
    assert "not compiled" in text_of(opened, "details")
    assert opened.run("document.querySelectorAll('#details .finding').length") == 1


@pytest.mark.parametrize("name", ["other errors"])
def test_a_graph_with_errors_beside_another(opened: Browser, name: str) -> None:
    opened.click_on("#tab-findings")
    assert len(opened.run(ROWS)) == 1 + len(dml2onnx.check(broken()))
    opened.click_on("#panel-findings tbody tr:last-child button")
    assert opened.run("document.querySelectorAll('#details .finding').length") >= 1
    assert "\u202e" not in opened.run("document.body.innerText")
    assert opened.run("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("name", ["large pair"])
def test_two_graphs_of_many_nodes(opened: Browser, name: str) -> None:
    assert opened.run("document.getElementById('next').disabled")
    search(opened, "n4321")
    assert title(opened)[1] == "ACTIVATION_RELU n4321, the same"


@pytest.mark.skipif(AXE is None, reason="axe-core comes with .venv-browser, which scripts/test.py makes")
@pytest.mark.parametrize("name", ["small", "broken", "hostile", "compared", "other errors"])
def test_accessibility(opened: Browser, name: str) -> None:
    """The rules of axe-core, in the light theme without a selection, and in the dark theme with a node."""
    assert AXE is not None
    opened.run(AXE.read_text(encoding="utf-8") + "; 0")
    rules = """axe.run().then(({violations}) => violations.map((item) =>
      [item.id, item.help, item.nodes.map((node) => node.html).slice(0, 3)]))"""
    assert opened.run(rules) == []
    opened.prefer(prefers_color_scheme="dark")
    opened.click_on("#tab-nodes")
    opened.click_on("#panel-nodes tbody button")
    assert opened.run("document.querySelectorAll('#panel-nodes tr.chosen').length") == 1
    assert opened.run(rules) == []


def test_the_map_is_coloured_by_classes_of_operators(opened: Browser) -> None:
    """The legend names the classes in use; both graphs have the same colours."""
    choose(opened, "kind")
    chips = "[...document.querySelectorAll('#legend .class')].map((item) => item.textContent)"
    assert "convolution" in opened.run(chips)
    assert "recurrent" not in opened.run(chips)
    conv, onnx = spot(opened, "directml", "convolution"), spot(opened, "onnx", "convolution/Conv")
    one, same = colour(opened, conv), colour(opened, onnx)
    other = colour(opened, spot(opened, "directml", "block_largest"))
    assert max(abs(a - b) for a, b in zip(one, same, strict=True)) < 12  # antialiased with the border
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) > 12


def test_the_whole_graph_stays_in_view_when_the_page_is_resized(opened: Browser) -> None:
    """Unless another part of it was shown."""
    seen = "document.querySelector('#directml canvas').toDataURL()"
    spot(opened, "directml", "convolution")  # shows the whole graph
    before = opened.run(seen)
    opened.run("document.querySelector('header').style.paddingBottom = '120px'")
    opened.settle()
    moved = opened.run(seen)
    spot(opened, "directml", "convolution")
    opened.settle()
    assert before != moved == opened.run(seen)


def test_a_graph_of_many_layers_starts_at_full_width(opened: Browser) -> None:
    """If it is readable at that scale: it is drawn between margins of 16 pixels, 16 from the top."""
    scene = "JSON.parse(document.getElementById('data').textContent).maps.directml"
    wide, high, boxes = opened.run(f"(({{width, height, boxes}}) => [width, height, boxes])({scene})")
    host, seen = "document.getElementById('directml')", (round(0.7 * wide) + 32, round(0.4 * high))
    opened.run(f"{host}.style.cssText = 'flex: none; width: {seen[0]}px; height: {seen[1]}px'")
    opened.wait(f"{host}.querySelector('canvas').height === {seen[1]}")
    opened.settle()
    left, top = opened.run(f"(({{x, y}}) => [x, y])({host}.getBoundingClientRect())")
    in_view = [box for box in boxes if 0.7 * box[3] + 16 < seen[1] - 8]
    outermost = max(in_view, key=lambda box: abs(box[2] - boxes[0][2]))
    end = 1 if outermost[2] > boxes[0][2] else -1
    opened.click(left + 16 + 0.7 * (outermost[2] + end * (outermost[4] / 2 - 3)), top + 16 + 0.7 * outermost[3])
    assert outermost[6] in " ".join(title(opened))


# --- Scopes -----------------------------------------------------------------------------------------------------------

SCOPES = "document.getElementById('scopes')"


def middle(browser: Browser, graph: str) -> tuple[float, float]:
    """Returns the middle of a map."""
    box = f"document.getElementById('{graph}').getBoundingClientRect()"
    x, y = browser.run(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")
    return x, y


@pytest.mark.parametrize("name", ["scoped"])
def test_scopes_collapse_and_expand_in_both_graphs(opened: Browser, name: str) -> None:
    """The graph is x, first, body, last, y, so the scope is in its middle."""
    seen = "['directml', 'onnx'].map((name) => document.querySelector(`#${name} canvas`).toDataURL())"
    assert text_of(opened, "scopes") == "Collapse scopes"
    before = opened.run(seen)
    opened.click_on("#scopes")
    assert text_of(opened, "scopes") == "Expand scopes"
    after = opened.run(seen)
    assert before[0] != after[0]
    assert before[1] != after[1]
    opened.click_on('[data-map="directml"][data-zoom="fit"]')
    x, y = middle(opened, "directml")
    opened.click(x - 12, y)
    assert "Scope body of 9 DirectML nodes" in text_of(opened, "details")
    assert "3 × ELEMENT_WISE_NEGATE" in text_of(opened, "details")
    assert "time" in text_of(opened, "details")
    opened.click_on("#details .chip")
    assert text_of(opened, "status") == "body opened"
    assert opened.run("document.querySelector('#details .chip').textContent") == "Collapse"
    opened.click_on("#scopes")
    assert text_of(opened, "scopes") == "Collapse scopes"


@pytest.mark.parametrize("name", ["scoped"])
def test_scopes_open_and_close_by_mouse_and_keyboard(opened: Browser, name: str) -> None:
    """The right end of a closed scope opens it; Enter opens and closes."""
    opened.click_on("#scopes")
    opened.click_on('[data-map="directml"][data-zoom="fit"]')
    x, y = middle(opened, "directml")
    opened.click(x, y)
    assert text_of(opened, "status") == "scope body, closed"
    opened.press(*ENTER)  # the focus is on the map
    assert text_of(opened, "status") == "body opened"
    opened.press(*ENTER)
    assert text_of(opened, "status") != "body closed"  # no box in it is selected


@pytest.mark.parametrize("name", ["scoped large"])
def test_large_graphs_start_collapsed_and_search_expands_them(opened: Browser, name: str) -> None:
    assert text_of(opened, "scopes") == "Expand scopes"
    search(opened, "body/block123/relu")
    assert title(opened)[1] == "ACTIVATION_RELU body/block123/relu"
    assert text_of(opened, "scopes") == "Expand scopes"  # the other blocks are closed
    opened.click_on("#scopes")
    opened.click_on("#scopes")
    assert title(opened)[1] == "ACTIVATION_RELU body/block123/relu"


def test_without_scopes_there_is_no_button(opened: Browser) -> None:
    assert opened.run(SCOPES + ".hidden")


@pytest.mark.parametrize("name", ["small", "broken", "scoped", "long names", "compared"])
def test_nothing_is_clipped_at_any_width(opened: Browser, name: str) -> None:
    """Neither the page nor a table nor the row of tabs is wider than the window."""
    try:
        for width in (390, 820, 1024, 1280, 1440, 1920):
            opened.resize(width, 900, mobile=width < 500)
            opened.settle()
            for tab in opened.run("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"):
                opened.run(f"document.getElementById('{tab}').click()")
                opened.settle()
                assert fits(opened, "document.querySelector('.panel:not([hidden])')"), (width, tab)
            assert fits(opened, "document.querySelector('[role=tablist]')"), width
            wide, seen = opened.run("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen, width
    finally:
        opened.resize(*SIZE)


def fits(browser: Browser, element: str) -> bool:
    """Returns whether an element does not scroll sideways."""
    wide, seen = browser.run(f"(({{scrollWidth, clientWidth}}) => [scrollWidth, clientWidth])({element})")
    return bool(wide <= seen)
