"""Tests built pages opened from disk: excerpts of search results, and tables at every width."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import script
from tests.report.browser import SIZE, Browser, running

docs_search = script("_docs_search")
STATIC = Path(__file__).parents[2] / "docs" / "_static"

PAGE = """<!DOCTYPE html><html data-content_root="./"><head><title>t</title><style>p { color: red }</style></head>
<body><nav>strides</nav><article role="main" id="content"><section id="one"><h1>Strides<a class="headerlink"
href="#one">¶</a></h1><p>in elements &lt;4&gt;<br>and bytes</p><script>left()</script><img src="x.png"></section>
<section id="two"><h2>Sizes</h2><ul><li>of all</li><li>dimensions</li></ul></section></article>
<footer>end</footer></body></html>"""


def test_the_main_part_is_kept_with_its_sections() -> None:
    kept = "".join(docs_search.MainPart(PAGE).kept)
    text = " ".join(kept.split())
    assert text == (
        '<div role="main"><div id="one">Strides in elements &lt;4&gt;and bytes </div> '
        '<div id="two">Sizes of all dimensions </div></div>'
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page, two tables, and a search page that fetches the page like Sphinx's."""
    root = tmp_path_factory.mktemp("site")
    (root / "_static").mkdir()
    for name in ("pages.js", "pages.css"):
        (root / "_static" / name).write_bytes((STATIC / name).read_bytes())
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="_static/pages.css"><script src="_static/pages.js"></script>'
    )
    (root / "page.html").write_text(PAGE, encoding="utf-8")
    (root / "search.html").write_text(f'<!DOCTYPE html><html data-content_root="./"><head>{head}</head></html>')
    names = ("DML_CONVOLUTION_OPERATOR_DESC", "DML_TENSOR_DATA_TYPE_FLOAT32", "OutputSequenceTensor", "yes", "")
    row = "".join(f"<td><code>{name}</code></td>" if name else "<td></td>" for name in names)
    titles = "".join(f"<th>{title}</th>" for title in ("operator", "type", "tensor", "optional", "nothing"))
    table = f'<table class="docutils"><thead><tr>{titles}</tr></thead><tbody><tr>{row}</tr></tbody></table>'
    (root / "table.html").write_text(f"<!DOCTYPE html><html><head>{head}</head><body>{table}</body></html>")
    words = '<p style="width: 5ch">In <code><span class="pre">--json</span></code>, a cell has</p>'
    cells = "<td>the FilterChannelCount</td><td>an InputChannelCount</td>"
    table = f'<table class="docutils"><thead><tr><th><p></p></th></tr></thead><tbody><tr>{cells}</tr></tbody></table>'
    (root / "prose.html").write_text(
        f"<!DOCTYPE html><html><head>{head}</head><body><article>{words}{table}</article></body></html>"
    )
    assert docs_search.write(root) == 4
    return root


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running() as found:
        yield found


def test_excerpts_are_read_from_a_disk(browser: Browser, site: Path) -> None:
    browser.open(site / "search.html")
    text = browser.run("fetch('./page.html').then((answer) => answer.text())")
    assert "Strides" in text
    assert "left()" not in text
    found = f"new DOMParser().parseFromString({json.dumps(text)}, 'text/html').querySelector('[role=main] #two')"
    assert browser.run(f"{found}.textContent").strip() == "Sizes of all dimensions"
    assert browser.problems == []
    # other pages are fetched as before, which browsers refuse
    assert browser.run("fetch('./other.html').then(() => 'read', () => 'refused')") == "refused"


@contextlib.contextmanager
def resized(browser: Browser, width: int, *, mobile: bool = False) -> Iterator[None]:
    def resize(width: int, height: int, mobile: bool) -> None:
        browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )

    resize(width, 600, mobile)
    try:
        yield
    finally:
        resize(*SIZE, False)


@pytest.mark.parametrize("width", [390, 820, 1280, 1920])
def test_tables_fit(browser: Browser, site: Path, width: int) -> None:
    with resized(browser, width, mobile=width < 500):
        browser.open(site / "table.html")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        display = browser.run("getComputedStyle(document.querySelectorAll('td')[4]).display")
        assert display == ("none" if width < 700 else "table-cell")
        assert browser.run("document.querySelector('td').innerText") == "DML_CONVOLUTION_OPERATOR_DESC"
        name, long, *short = browser.run(
            "[...document.querySelectorAll('td')].slice(0, 4).map((cell) => cell.getBoundingClientRect().top)"
        )
        assert (name < long < short[0]) == (width < 700)
        assert short[0] == short[1]  # in one row, even on a phone


@pytest.mark.parametrize("width", [200, 1280])
def test_words_of_prose_are_not_broken_if_there_is_space(browser: Browser, site: Path, width: int) -> None:
    with resized(browser, width):
        browser.open(site / "prose.html")
        breaks, height = "document.querySelectorAll('td wbr').length", "document.querySelector('thead').offsetHeight"
        option = "document.querySelector('code').getClientRects().length"
        assert browser.run(f"[{breaks} > 0, {height}, {option}]") == [width < 500, 0, 1]
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
