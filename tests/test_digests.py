"""Whether the results for many inputs are those of the last commit."""

from __future__ import annotations

import sys

import pytest

from tests.digests import DATA, GROUPS, KINDS, digest_of, processor

HEAD, *LINES = DATA.read_text(encoding="utf-8").splitlines()
RECORDED = dict(line.split(" ", 1)[::-1] for line in LINES)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the last digits depend on NumPy's functions")


def unchanged(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("group", [group for group in GROUPS if group.startswith(f"{kind} ")])


def compare(group: str) -> None:
    assert digest_of(group) == RECORDED[group], f"compare `python -m tests.digests '{group}'` before and after"


def test_all_groups_are_recorded_and_compared() -> None:
    assert list(RECORDED) == list(GROUPS)
    assert {f"test_{kind}" for kind in KINDS} <= globals().keys()


@unchanged("models")
def test_models(group: str) -> None:
    compare(group)


@unchanged("findings")
def test_findings(group: str) -> None:
    compare(group)


@unchanged("results")
def test_results(group: str) -> None:
    compare(group)


@unchanged("exports")
def test_exports(group: str) -> None:
    compare(group)


@unchanged("sizes")
def test_sizes(group: str) -> None:
    compare(group)


@pytest.mark.skipif(not HEAD.endswith(f" {processor()}"), reason="the last digits of folded constants may differ")
@unchanged("networks")
def test_networks(group: str) -> None:
    compare(group)


@unchanged("passes")
def test_passes(group: str) -> None:
    compare(group)


@unchanged("files")
def test_files(group: str) -> None:
    compare(group)


@unchanged("newcomers")
def test_newcomers(group: str) -> None:
    compare(group)


@unchanged("members")
def test_members(group: str) -> None:
    compare(group)


@unchanged("slips")
def test_slips(group: str) -> None:
    compare(group)


@unchanged("command")
def test_command(group: str) -> None:
    compare(group)
