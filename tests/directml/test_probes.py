"""Compares ``schemas/decisions.md`` with recorded and current results of DirectML."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from dml2onnx import catalog
from dml2onnx.diagnostics import Severity
from dml2onnx.test_cases.variations import findings
from tests.conftest import ROOT
from tests.directml import probes
from tests.directml.live import installed, needs_directml
from tests.directml.probes import Probe, mismatch, read, run_in_directml, with_answer

CLASSES = ("seen", "left to the driver", "cannot be observed")
EVIDENCE = re.compile(r"(\d+) probes?\b|numbers \(\d+ rows|acceptance|graphs|ONNX Runtime")


@cache
def answers() -> list[Probe]:
    return read()


def test_check_matches_directmls_verdicts() -> None:
    different = []
    for probe in answers():
        refused = isinstance(probe.seen, str) and "CreateOperator" in probe.seen
        wrong = any(item.severity is Severity.ERROR for item in findings(probe.op))
        if wrong != refused:
            different.append((probe.points, probe.what, probe.seen if refused else wrong))
    assert different == []


@needs_directml
def test_directml_reproduces_its_results() -> None:
    """The same shader compiler gives the same bits, except for races."""
    different = []
    for probe, answer in zip(answers(), run_in_directml(answers(), installed()), strict=True):
        if isinstance(answer, str) or not isinstance(probe.seen, dict):
            assert answer == probe.seen, probe.what
        elif "X6" not in probe.points and mismatch(probe, answer, None):
            different.append((probe.points, probe.what))
    assert different == []


def test_every_probe_has_a_result() -> None:
    names = set(points())
    for probe in answers():
        assert probe.seen is not None, probe.what
        assert set(probe.points) <= names, probe.points


WITHOUT_PROBES = {"F22": "tests/directml/test_graphs.py"}
"""Points that need a graph, and the file that tests them in DirectML."""


def test_every_point_has_a_probe_or_a_reason() -> None:
    probed = {point for probe in answers() for point in probe.points}
    for name, body in points().items():
        if name in WITHOUT_PROBES:
            assert WITHOUT_PROBES[name] in body
            assert (ROOT / WITHOUT_PROBES[name]).is_file()
        elif name not in probed:
            why = re.search(r"^- Observed: \*cannot be observed\*: (.+)", body, re.MULTILINE)
            assert why is not None, name
            assert len(why[1]) > 10, name


def test_every_point_has_a_class_and_evidence() -> None:
    """A point that was seen states where, and its number of probes."""
    counted = Counter(point for probe in answers() for point in probe.points)
    for name, body in points().items():
        observed = re.search(r"^- Observed: \*(.+?)\*[:;,.]? ?(.*?)(?=^- |\Z)", body, re.MULTILINE | re.DOTALL)
        assert observed is not None, name
        assert observed[1] in CLASSES, name
        if observed[1] == "seen":
            assert EVIDENCE.search(observed[2]), name
        probed = re.search(r"(\d+) probes?\b", observed[2])
        assert (int(probed[1]) if probed else 0) == counted[name], name


def points() -> dict[str, str]:
    text = (catalog.schemas_directory() / "decisions.md").read_text(encoding="utf-8")
    found = re.findall(r"^\*\*([A-Z]\d+)\. (.*?)(?=^\*\*[A-Z]\d+\. |^## |^---|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(found) == text.count("\n**")
    return dict(found)


def test_probes_are_read_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(probe for probe in answers() if isinstance(probe.seen, dict))
    assert isinstance(first.seen, dict)
    path = tmp_path / "probes.jsonl"
    path.write_text(json.dumps(with_answer(first, first.seen)) + "\n", encoding="utf-8")
    (again,) = read(path)
    assert (again.points, again.what, again.raw) == (first.points, first.what, first.raw)
    assert mismatch(again, first.seen, None) == ""
    other = {name: [array + array.dtype.type(1) for array in several] for name, several in first.seen.items()}
    assert "but DirectML returned" in mismatch(again, other, None)
    monkeypatch.setattr(probes, "read", lambda: [again])
    assert list(probes._chosen(["none"])) == []
    assert list(probes._chosen(again.points)) == [again]
