"""What small files may cost: descriptors of every operator with large numbers in them, in a process with limits.

``check`` and ``compile`` of each take bounded time of the processor and bounded memory, ``verify`` refuses what the
reference implementation cannot compute; each either succeeds or says which node is too large, and for what.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog

SECONDS = 3
"""Of the processor, for one operation on one file; they take some tenths."""
MEMORY = 2 << 30
"""Address space of the process, with what Python and its libraries take of it."""
EVERY = {"all": 11, "each": 31}
"""Of so many variants of an operator one is tried: prime, for each number in turn is made large in six ways."""
SHARES = 2
"""Processes that share the operators, each of which imports the whole package first."""


def reported(seconds: int, share: int, cases: str) -> dict[str, Any]:
    names = catalog.operator_names()[share::SHARES]
    command = [sys.executable, "-m", "tests.costly", str(MEMORY), str(seconds), str(EVERY[cases]), *names]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("share", range(SHARES))
def test_costs(share: int, pytestconfig: pytest.Config) -> None:
    report = reported(SECONDS, share, pytestconfig.getoption("cases"))
    assert report["tried"] > 100
    assert report["compiled"] > 10
    assert report["refused"] > 0
    assert report["problems"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("share", range(SHARES))
def test_the_reference_implementation_does_the_work_that_it_is_measured_by(
    share: int, pytestconfig: pytest.Config
) -> None:
    """Counted: of what it does not refuse, calls of functions and bytes for each element that it says it looks at."""
    report = reported(0, share, pytestconfig.getoption("cases"))
    assert report["computed"] > 10
    assert report["refused"] > 5
    assert report["problems"] == []
