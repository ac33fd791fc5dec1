"""The mistakes of people who write their first graphs; :mod:`tests.newcomers.case` says when an answer is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dml2onnx.checks import check
from dml2onnx.frontends import load_bytes
from tests.newcomers import networks
from tests.newcomers.build import text_of
from tests.newcomers.scoring import CASES, faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.newcomers.case import Case, Command


def test_the_number_of_cases() -> None:
    assert len(CASES) == 540


@pytest.mark.parametrize("name", [name for name in vars(networks) if name.isupper()])
def test_networks_are_valid(name: str) -> None:
    assert not check(load_bytes(text_of(getattr(networks, name)).encode(), "net.json"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_answer(case: Case | Command, tmp_path: Path) -> None:
    assert not faults(case, tmp_path)
