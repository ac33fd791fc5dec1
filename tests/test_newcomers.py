"""The mistakes of people who write their first graphs: all answers are fully right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dml2onnx.checks import check
from dml2onnx.frontends import load_bytes
from tests.newcomers.files import NETWORK
from tests.newcomers.scoring import CASES, faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.newcomers.case import Case, Command


def test_how_many_there_are() -> None:
    assert len({case.name for case in CASES}) == 589  # a few are made in a file, and in a program, or in two sets
    assert len(CASES) == 596
    assert not check(load_bytes(NETWORK.encode(), "net.json"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answer(case: Case | Command, tmp_path: Path) -> None:
    assert not faults(case, tmp_path)
