"""Mutated models of all formats: a diagnostic or a model that runs, within limits.

``python -m tests.test_mutations FIRST LAST`` tries the seeds of a range; ``tests/mutations.py`` makes the models.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MEMORY = 4 << 30
"""Address space of the process, including Python and its libraries."""
SECONDS = 15
"""Limit of CPU time for one model; a few hundredths are usual."""
BATCH = 400


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("batch", range(2))
def test_mutations(batch: int) -> None:
    command = [sys.executable, "-m", "tests.test_mutations", str(batch * BATCH), str((batch + 1) * BATCH)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["problems"] == []
    assert report["stages"]["done"] > BATCH // 20
    assert report["stages"]["check"] > BATCH // 4


def main(first: int, last: int) -> None:
    import resource

    from tests.mutations import campaign, sources

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS + last - first, 3 * SECONDS + last - first))
    print(json.dumps(campaign(sources(ROOT / "samples"), range(first, last), SECONDS), indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
