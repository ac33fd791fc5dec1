"""Runs cases in a separate process, since DirectML crashes for some descriptors."""

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
"""Seconds without a result after which the process is killed."""
_FINISHED, _LOST_DEVICE = 0, 20
_CANNOT_START = (10, 11, 12)
"""Exit codes of ``scripts/directml/main.cpp``."""


class StartError(RuntimeError):
    """The program failed to start; the message has its output."""


@dataclass(slots=True)
class _Run:
    """Files of cases and results, and the outcomes so far."""

    installation: Installation
    directory: Path
    patience: float
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    log: str = ""

    def start(self, first: int) -> int:
        """Runs the program from the case ``first``; returns its exit code, negative if it was killed."""
        inside = f"{self.installation.runs_inside}/{self.directory.name}"
        command = [*self.installation.command, "--first", str(first), f"{inside}/cases", f"{inside}/results"]
        with (self.directory / "log").open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
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
        """Reads the results so far."""
        results = self.directory / "results"
        if results.exists():
            self.outcomes.update(decode(results.read_bytes()))


def run(cases: Sequence[Case], installation: Installation, *, patience: float = PATIENCE) -> list[Outcome]:
    """The outcome of each case; :attr:`Outcome.died` if DirectML crashed or hung.

    Several processes may call this at the same time. Raises :class:`StartError` if the program fails to start.
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
    """Kills the process and its children."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
