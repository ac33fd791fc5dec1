"""Whether the results for many inputs are those of the last commit."""

from __future__ import annotations

import sys

import pytest

from tests.digests import DATA, GROUPS, digest_of

RECORDED = dict(line.split(" ", 1)[::-1] for line in DATA.read_text(encoding="utf-8").splitlines()[1:])


def test_groups() -> None:
    assert list(RECORDED) == list(GROUPS)


@pytest.mark.skipif(sys.platform != "linux", reason="the last digits of constants depend on NumPy's functions")
@pytest.mark.parametrize("group", GROUPS)
def test_results_are_the_recorded_ones(group: str) -> None:
    assert digest_of(group) == RECORDED[group], f"compare `python -m tests.digests '{group}'` before and after"
