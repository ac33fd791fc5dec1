"""What the points of ``schemas/decisions.md`` say is what DirectML answered when it was asked, and asked again."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from dml2onnx import catalog
from dml2onnx.diagnostics import Severity
from dml2onnx.testing.variations import findings
from tests.conftest import ROOT
from tests.directml import left, probes
from tests.directml.live import installed, needs_directml
from tests.directml.probes import NOT_COMPUTED, Probe, against_reference, asked, read, unlike, with_answer

CLASSES = ("seen", "left to the driver", "cannot be observed")
EVIDENCE = re.compile(r"(\d+) probes?\b|numbers \(\d+ rows|acceptance|graphs|ONNX Runtime")

KNOWN = {
    ("G12", "acosh"): left.PROMISED,
    ("G12", "asinh"): left.PROMISED,
    ("G13", "ASINH big"): left.PROMISED,
    ("E5", "modfloor f"): "a - b * floor(a / b) has no digits left where a / b has them all",
    ("E5", "modtrunc f"): "a - b * trunc(a / b) has no digits left where a / b has them all",
    ("E10", "cast f32->INT64"): "negative numbers go through 32 bits on this driver",
    ("E10", "cast f32->FLOAT16"): left.ROUNDING,
    ("E12", "cast f32->f16"): left.ROUNDING,
    ("Q16", "accumulate"): "the integers are multiplied as FLOAT32, scales and all",
    ("G5", "f16 mvn"): "the variance is stored as FLOAT16, which does not hold it",
    (
        "F4",
        "a sum of FLOAT16 before a threshold",
    ): "rounded to FLOAT16 before the activation, which the reference does not",
    (
        "X9",
        "values whose last size is 1, and its stride another than that of the second one",
    ): "DirectML reads the second one a step of the last stride behind the first, whatever lies there",
    ("H4", "a filter beyond FLOAT16"): "a conversion out of range, left to the driver",
    ("H4", "a filter within FLOAT16"): left.ROUNDING,
}
"""Answers that nobody has to give."""


@cache
def answers() -> list[Probe]:
    return read()


def test_the_reference_gives_directmls_answers() -> None:
    different = {}
    for probe in answers():
        said = against_reference(probe)
        if said and said != NOT_COMPUTED:
            different[probe.points[0], probe.what] = said
    assert different.keys() == KNOWN.keys(), {key: said for key, said in different.items() if key not in KNOWN}


def test_check_gives_directmls_verdicts() -> None:
    """An error where CreateOperator refuses, and nowhere else."""
    different = []
    for probe in answers():
        refused = isinstance(probe.seen, str) and "CreateOperator" in probe.seen
        wrong = any(item.severity is Severity.ERROR for item in findings(probe.op))
        if wrong != refused:
            different.append((probe.points, probe.what, probe.seen if refused else wrong))
    assert different == []


@needs_directml
def test_directml_gives_its_answers_again() -> None:
    """On the same translation of shaders bits are the same; a race has several winners."""
    different = []
    for probe, answer in zip(answers(), asked(answers(), installed()), strict=True):
        if isinstance(answer, str) or not isinstance(probe.seen, dict):
            assert answer == probe.seen, probe.what
        elif "X6" not in probe.points and unlike(probe, answer, None):
            different.append((probe.points, probe.what))
    assert different == []


def test_every_question_has_an_answer() -> None:
    names = set(points())
    for probe in answers():
        assert probe.seen is not None, probe.what
        assert set(probe.points) <= names, probe.points


WITHOUT_PROBES = {"F22": "tests/directml/test_graphs.py"}
"""Points that no single operator shows, and where DirectML is asked about them."""


def test_every_point_has_a_probe_or_says_why_not() -> None:
    probed = {point for probe in answers() for point in probe.points}
    for name, body in points().items():
        if name in WITHOUT_PROBES:
            assert WITHOUT_PROBES[name] in body
            assert (ROOT / WITHOUT_PROBES[name]).is_file()
        elif name not in probed:
            why = re.search(r"^- Observed: \*cannot be observed\*: (.+)", body, re.MULTILINE)
            assert why is not None, name
            assert len(why[1]) > 10, name


def test_every_point_has_a_class_and_its_evidence() -> None:
    """A point that was seen says where, and how many probes it has."""
    counted: dict[str, int] = {}
    for probe in answers():
        for point in probe.points:
            counted[point] = counted.get(point, 0) + 1
    for name, body in points().items():
        observed = re.search(r"^- Observed: \*(.+?)\*[:;,.]? ?(.*?)(?=^- |\Z)", body, re.MULTILINE | re.DOTALL)
        assert observed is not None, name
        assert observed[1] in CLASSES, name
        if observed[1] == "seen":
            assert EVIDENCE.search(observed[2]), name
        probed = re.search(r"(\d+) probes?\b", observed[2])
        assert (int(probed[1]) if probed else 0) == counted.get(name, 0), name


def points() -> dict[str, str]:
    text = (catalog.schemas_directory() / "decisions.md").read_text(encoding="utf-8")
    found = re.findall(r"^\*\*([A-Z]\d+)\. (.*?)(?=^\*\*[A-Z]\d+\. |^## |^---|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(found) == text.count("\n**")
    return dict(found)


def test_questions_are_read_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(probe for probe in answers() if isinstance(probe.seen, dict))
    assert isinstance(first.seen, dict)
    path = tmp_path / "probes.jsonl"
    path.write_text(json.dumps(with_answer(first, first.seen)) + "\n", encoding="utf-8")
    (again,) = read(path)
    assert (again.points, again.what, again.raw) == (first.points, first.what, first.raw)
    assert unlike(again, first.seen, None) == ""
    other = {name: [array + array.dtype.type(1) for array in several] for name, several in first.seen.items()}
    assert "where DirectML gave" in unlike(again, other, None)
    monkeypatch.setattr(probes, "read", lambda: [again])
    assert list(probes._chosen(["none"])) == []
    assert list(probes._chosen(again.points)) == [again]
