"""The forty mistakes of people who write their first graphs: all answers are fully right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dml2onnx.checks import check
from dml2onnx.frontends import load_bytes
from tests.newcomers.files import FILES, NETWORK
from tests.newcomers.programs import PROGRAMS
from tests.newcomers.scoring import faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.newcomers.case import Case

CASES = (*FILES, *PROGRAMS)


def test_there_are_forty() -> None:
    assert len(CASES) == 40
    assert not check(load_bytes(NETWORK.encode(), "net.json"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answer(case: Case, tmp_path: Path) -> None:
    assert not faults(case, tmp_path)
