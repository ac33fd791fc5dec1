"""Tests pages that are generated from data, and the check of links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dml2onnx import catalog
from dml2onnx.codes import all_codes
from tests.docs import SCRIPTS, script

links = script("_docs_links")
markdown = script("_docs_markdown")
operators = script("_docs_operators")
reference = script("_docs_reference")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {**operators.operator_pages(), **reference.reference_pages()}


def test_every_operator_has_a_page_with_all_that_is_known(pages: dict[str, str]) -> None:
    points = operators.decisions()
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        page = pages[f"operators/{schema.stem}.md"]
        assert f"# {schema.short_name}\n" in page
        assert schema.doc in page
        for field in schema.fields:
            assert f"| `{field.name}` |" in page
        for row in schema.support:
            assert re.search(rf"^\| {row.level} \|", page, re.MULTILINE)
        # the example has ONNX's text format of a real model
        assert re.search(r"^```text\n\(.*\) => \(.*\)", page, re.MULTILINE | re.DOTALL), name
        assert f'"type": "{schema.short_name}"' in page
        text = (catalog.schemas_directory() / "operators" / f"{schema.stem}.json").read_text(encoding="utf-8")
        for point in operators.named(text):
            assert f"**[{point}](../decisions.md#{point.lower()})** {markdown.prose(points[point].title)}" in page


def test_every_decision_is_read_whole() -> None:
    points = operators.decisions()
    assert len(points) == (catalog.schemas_directory() / "decisions.md").read_text(encoding="utf-8").count("\n**")
    assert points["G4"].confidence == "proven.\n\n"
    assert "TF/dml_cwise_ops.cc" in points["G4"].evidence
    assert [point.name for point in points.values() if "CONFIDENCE:" in point.evidence + point.decision] == []


def test_the_kind_of_an_observation_is_emphasised(pages: dict[str, str]) -> None:
    observed = [line for page in pages.values() for line in page.splitlines() if line.startswith("- Observed: ")]
    assert observed
    assert [line for line in observed if not re.match(r"- Observed: \*[a-z ]+\*: ", line)] == []


def test_no_title_has_an_option_that_is_no_code(pages: dict[str, str]) -> None:
    titles = [line for page in pages.values() for line in page.splitlines() if line.startswith("# ")]
    assert [title for title in titles if re.search(r"(?<!`)--\w", title)] == []  # typography turns these into dashes


def test_every_code_has_its_place(pages: dict[str, str]) -> None:
    assert set(reference.AREAS) == {code[:5] for code in all_codes()}
    for code, found in all_codes().items():
        page = pages[f"diagnostics/{code[:5].lower()}.md"]
        assert f"({code.lower()})=\n## {code}: {markdown.prose(found.summary)}\n" in page
        assert markdown.prose(found.explanation) in page
        assert f"[{code}]({code[:5].lower()}.md#{code.lower()})" in pages["diagnostics/index.md"]


def test_forms_of_json_have_all_their_members(pages: dict[str, str]) -> None:
    assert "| `feature_level` |" in pages["native-schema.md"]
    assert "| array of [node](#gra-node) | yes |" in pages["native-schema.md"]
    assert "| `minimum_feature_level` | string or null | yes |" in pages["report-schema.md"]
    assert "[CheckAnswer](#rep-checkanswer) or " in pages["report-schema.md"]


def test_the_same_sources_every_time(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command: list[str | Path] = [sys.executable, SCRIPTS / "_docs_pages.py", tmp_path / seed]
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": seed, "PATH": ""})
    first, second = (
        {
            path.relative_to(tmp_path / seed): path.read_bytes()
            for path in (tmp_path / seed).rglob("*")
            if path.is_file()
        }
        for seed in ("1", "2")
    )
    assert len(first) > 200
    assert first == second


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a * b_c | <d> [e] {f}", r"a \* b\_c \| \<d\> \[e\] \{f\}"),
        ("one\n  two", "one two"),
        ("in `since_it`, or ``a_b``.", "in `since_it`, or `a_b`."),
        ("`a|b`", r"`a\|b`"),
    ],
)
def test_text_is_no_markup(text: str, wanted: str) -> None:
    assert markdown.prose(text) == wanted


class TestLinks:
    def broken(self, tmp_path: Path, **pages: str) -> list[str]:
        for name, text in pages.items():
            (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        found: list[str] = links.broken(tmp_path)
        return found

    def test_right(self, tmp_path: Path) -> None:
        one = '<a href="two.html#here">x</a><a href="#own">y</a><p id="own"><a href="https://example.org/x#y">z</a>'
        assert self.broken(tmp_path, one=one, two='<h1 id="here"><a href="one.html">x</a>') == []

    @pytest.mark.parametrize(
        ("link", "what"),
        [
            ("three.html", "no such file"),
            ("two.html#there", "no such anchor in the page"),
            ("#nowhere", "no such anchor in the page"),
            ("http://example.org", "not a complete https address"),
            ("https://example", "not a complete https address"),
        ],
    )
    def test_wrong(self, tmp_path: Path, link: str, what: str) -> None:
        one = f'<a href="{link}">x</a><a href="two.html">y</a>'
        found = self.broken(tmp_path, one=one, two='<h1 id="here"><a href="one.html">x</a>')
        assert found == [f"one.html: {link}: {what}"]

    def test_a_page_without_links_to_it(self, tmp_path: Path) -> None:
        assert self.broken(tmp_path, one='<a href="one.html">x</a>', two="") == ["two.html: no page links to it"]

    def test_pictures_and_styles(self, tmp_path: Path) -> None:
        text = '<a href="one.html">x</a><img src="a.png"><link href="b.css"><script src="c.js"></script>'
        assert len(self.broken(tmp_path, one=text)) == 3
