"""The cost of small files: descriptors of every operator with large numbers, in a process with limits.

``check`` and ``compile`` take bounded CPU time and memory, and ``verify`` refuses what the reference implementation
cannot compute; each succeeds or reports which node is too large, and for what.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")

SECONDS = 3
"""Limit of CPU time for one operation on one file; a few tenths are usual."""
MEMORY = 2 << 30
"""Address space of the process, including Python and its libraries."""
EVERY = {"all": 11, "each": 31}
"""One in so many variants of an operator is tried: prime, because each number is made large in six ways."""
SHARES = 2
"""Processes that share the operators; each first imports the whole package."""


def reported(seconds: int, share: int, cases: str) -> dict[str, Any]:
    names = catalog.operator_names()[share::SHARES]
    command = [sys.executable, "-m", "tests.costly", str(MEMORY), str(seconds), str(EVERY[cases]), *names]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("share", range(SHARES))
def test_costs(share: int, pytestconfig: pytest.Config) -> None:
    report = reported(SECONDS, share, pytestconfig.getoption("cases"))
    assert report["tried"] > 100
    assert report["compiled"] > 10
    assert report["refused"] > 0
    assert report["problems"] == []


@pytest.mark.parametrize("share", range(SHARES))
def test_costs_of_the_reference_implementation(share: int, pytestconfig: pytest.Config) -> None:
    """Function calls and bytes stay within its estimate for all that it does not refuse."""
    report = reported(0, share, pytestconfig.getoption("cases"))
    assert report["computed"] > 10
    assert report["refused"] > 5
    assert report["problems"] == []
