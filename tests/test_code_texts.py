"""Titles and explanations of all codes are those that a review saw; ``scripts/generate_findings.py`` writes them."""

from pathlib import Path

import pytest

from dml2onnx.codes import (
    all_codes,
    building,
    checking,
    compiling,
    exporting,
    reading,
    recordings,
    results,
    running,
    sizing,
    unreadable,
)
from dml2onnx.diagnostics import Code

MODULES = (building, checking, compiling, exporting, reading, recordings, results, running, sizing, unreadable)
LINES = set(Path(__file__).with_name("data").joinpath("findings.txt").read_text(encoding="utf-8").splitlines())
CODES = {item.id: item for module in MODULES for item in vars(module).values() if isinstance(item, Code)}


def test_no_module_is_forgotten() -> None:
    assert set(CODES) == {code.id for code in all_codes().values()}


@pytest.mark.parametrize("name", sorted(CODES))
def test_title_and_explanation(name: str) -> None:
    code = CODES[name]
    said = f"{code.id}, {code.summary}: {code.explanation}"
    assert said in LINES, f"{said} is not in tests/data/findings.txt: run python scripts/generate_findings.py"
