"""Compares the results of the reference and of compiled models with recorded results of DirectML."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.onnx_model import Array
from dml2onnx.reference import Result
from dml2onnx.test_cases.descriptors import plain, sized
from tests.directml import left, numbers
from tests.directml.numbers import CONTENTS, WAYS, Compared, Count, compared, rows
from tests.directml.observed import lines, needs_observations
from tests.directml.test_probes import points

WANTED = {"ordinary": 99.5, "extreme": 93.0}
EVERY = 7
"""One row in seven is compiled."""


def counted(way: str, every: int = 1) -> dict[str, Count]:
    counts = {contents: Count() for contents in CONTENTS}
    for row in rows(every):
        counts[row.contents].add(row.op.type, compared(row, way))
    return counts


@needs_observations
def test_the_reference_matches_directml() -> None:
    """Every difference has a class, and few rows differ only in unspecified elements."""
    for contents, count in counted("reference").items():
        assert count.share >= WANTED[contents], count
        assert 100 * count.agreed_in_all >= (WANTED[contents] - 0.1) * count.rows, count
        assert not [key for key in count.failing if left.UNEXPLAINED in key[1]]


@needs_observations
def test_default_models_match_directml() -> None:
    for contents, count in counted("default", EVERY).items():
        assert count.share >= WANTED[contents], (count, count.failing)
        assert not [key for key in count.failing if left.UNEXPLAINED in key[1]]


@needs_observations
def test_exact_models_match_directml() -> None:
    """Unspecified elements match too, except in the listed rows."""
    known = {row["row"]: row for row in numbers.listed()}
    found = list(numbers.differing("exact", EVERY))
    assert [row for row in found if known.get(row["row"]) != row] == []
    assert not {row["row"] for row in known.values() if row["row"] % EVERY == 0} - {row["row"] for row in found}


@needs_observations
def test_few_rows_of_exact_models_differ_and_each_has_a_reason() -> None:
    """Reasons other than accuracy name the decision that leaves the result open."""
    total = Counter(record["contents"] for record in lines("numbers.jsonl.xz"))
    differing = Counter(row["contents"] for row in numbers.listed())
    for contents, wanted in WANTED.items():
        assert 100 * (total[contents] - differing[contents]) >= wanted * total[contents]
    names = points()
    for row in numbers.listed():
        decision = re.match(r"([A-Z]\d+): ", row["reason"]) or re.search(r"\(([A-Z]\d+)\)$", row["reason"])
        assert row["reason"] == left.OWN or (decision is not None and decision[1] in names), row
    assert {*left.OPEN} <= {row["operator"] for row in numbers.listed()}


def test_unspecified_elements_are_counted_separately() -> None:
    count = Count()
    count.add("A", Compared(4, 1, 0, 1))
    count.add("A", Compared(4, 0, 0, 0))
    count.add("B", Compared(4, 4, 0, 0))
    count.add("B", Compared(4, 0, 2, 2, "problem", ("why",)))
    assert (count.rows, count.agreed, count.agreed_in_all) == (4, 3, 2)
    assert (count.with_unspecified, count.wholly_unspecified, count.unspecified) == (2, 1, 5)
    assert count.failing == {("B", "why"): 1}


@pytest.mark.parametrize(
    ("name", "dtype", "got", "ours", "error", "reason"),
    [
        ("ASIN", np.float32, 6.7e-5, 0.0, 1e-4, left.PROMISED),
        ("TANH", np.float32, 2.944e-5, 2.937e-5, 1e-9, left.OWN),
        ("ASIN", np.float32, 2.0, 1.0, 1e-4, left.UNEXPLAINED),
        ("EXP", np.float16, 0.1943, 0.1946, 0.0, left.ROUNDING),
        ("EXP", np.float16, 0.25, 0.5, 0.0, left.UNEXPLAINED),
    ],
)
def test_differences_are_classified(name: str, dtype: type, got: float, ours: float, error: float, reason: str) -> None:
    desc = sized(1, type=np.dtype(dtype).name.upper())
    op = plain(f"ELEMENT_WISE_{name}", InputTensor=desc, OutputTensor=desc)
    values: Array = np.array([ours], dtype)
    wanted = Result(values, np.array([error]))
    bad: Array = np.array([True])
    assert left.reason(op, DataType[desc.data_type.name], np.array([got], dtype), values, wanted, bad) == reason


@needs_observations
def test_the_command_reports_differences(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["numbers", "--only", "ELEMENT_WISE_ASIN", "--rows"])
    numbers.main()
    text = capsys.readouterr().out
    for way in WAYS:
        assert f"{way}, ordinary: " in text
    assert f"ELEMENT_WISE_ASIN: {left.PROMISED}" in text
    assert "in DirectML" in text
