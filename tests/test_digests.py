"""Whether the results for many inputs are those of the last commit."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.digests import DATA, GROUPS, KINDS, digest_of, processor

HEAD, *LINES = DATA.read_text(encoding="utf-8").splitlines()
RECORDED = dict(line.split(" ", 1)[::-1] for line in LINES)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the last digits depend on NumPy's functions")


def unchanged(kind: str) -> Callable[[str], None]:
    """The test of a kind of input."""

    @pytest.mark.parametrize("group", [group for group in GROUPS if group.startswith(f"{kind} ")])
    def test(group: str) -> None:
        assert digest_of(group) == RECORDED[group], f"compare `python -m tests.digests '{group}'` before and after"

    return test


def test_all_groups_are_recorded_and_compared() -> None:
    assert list(RECORDED) == list(GROUPS)
    assert {f"test_{kind}" for kind in KINDS} <= globals().keys()


on_a_like_processor = pytest.mark.skipif(
    not HEAD.endswith(f" {processor()}"), reason="the last digits of folded constants may differ"
)
# one function for each kind, since quick runs choose among functions
test_models = unchanged("models")
test_findings = unchanged("findings")
test_results = unchanged("results")
test_exports = unchanged("exports")
test_sizes = unchanged("sizes")
test_networks = on_a_like_processor(unchanged("networks"))
test_passes = unchanged("passes")
test_files = unchanged("files")
test_newcomers = unchanged("newcomers")
test_members = unchanged("members")
test_slips = unchanged("slips")
test_command = unchanged("command")
