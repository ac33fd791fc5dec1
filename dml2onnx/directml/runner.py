"""Runs cases in a process that may die: DirectML ends it for some descriptors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dml2onnx.directml.cases import DIED, Case, Outcome, decode, encode
from dml2onnx.directml.installation import Installation

PATIENCE = 180.0
"""Seconds without a result after which a case is given up."""
_FINISHED, _LOST_DEVICE = 0, 20
_CANNOT_START = (10, 11, 12)
"""Exit codes of ``scripts/directml/main.cpp``."""


class StartError(RuntimeError):
    """The program does not come up: the message has what it said."""


@dataclass(slots=True)
class _Run:
    """Files of cases and results, and what is known so far."""

    installation: Installation
    directory: Path
    patience: float
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    log: str = ""

    def start(self, first: int) -> int:
        """The exit code of a process that began with the case ``first``; negative where it was ended for silence."""
        inside = f"{self.installation.runs_inside}/{self.directory.name}"
        command = [*self.installation.command, "--first", str(first), f"{inside}/cases", f"{inside}/results"]
        with (self.directory / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                code = self._wait(process)
            except BaseException:
                _end(process)
                raise
        self.log = (self.directory / "log").read_text(encoding="utf-8", errors="replace")
        return code

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        size, since = -1, time.monotonic()
        while True:
            try:
                return process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                pass
            now = self._written()
            if now != size:
                size, since = now, time.monotonic()
            if time.monotonic() - since > self.patience:
                _end(process)
                return -1

    def _written(self) -> int:
        results = self.directory / "results"
        return results.stat().st_size if results.exists() else 0

    def collect(self) -> None:
        """Takes the results that are there."""
        results = self.directory / "results"
        if results.exists():
            self.outcomes.update(decode(results.read_bytes()))


def run(cases: Sequence[Case], installation: Installation, *, patience: float = PATIENCE) -> list[Outcome]:
    """What becomes of each case. One at which DirectML ends the process has :attr:`Outcome.died`.

    Several processes may do this at a time. Raises :class:`StartError` when the program does not come up.
    """
    if not cases:
        return []
    with tempfile.TemporaryDirectory(dir=installation.runs, prefix="run") as directory:
        work = _Run(installation, Path(directory), patience)
        (work.directory / "cases").write_bytes(encode(cases))
        first = 0
        while first < len(cases):
            code = work.start(first)
            work.collect()
            reached = max(work.outcomes, default=-1) + 1
            if code == _FINISHED and reached == len(cases):
                break
            if code in _CANNOT_START:
                raise StartError(f"exit code {code}: {work.log.strip()[-1000:]}")
            if code == _LOST_DEVICE and reached > first:
                first = reached
                continue
            if "\nexception" not in f"\n{work.log}" and code >= 0 and reached == 0:
                raise StartError(f"exit code {code}: {work.log.strip()[-1000:]}")
            first = max(reached, first)
            work.outcomes[first] = Outcome(DIED, step="no answer" if code < 0 else work.log.strip()[-200:])
            first += 1
        return [work.outcomes[i] for i in range(len(cases))]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
