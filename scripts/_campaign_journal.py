"""Progress and findings of a campaign, and their output."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATUS_SECONDS = 60.0


class Campaign:
    """Counts and findings; ``shrink`` is the time limit for shrinking a finding, in seconds."""

    def __init__(self, journal: Path | None, first_seed: int, shrink: float) -> None:
        self.counts: Counter[str] = Counter()
        self.cells: Counter[tuple[str, int, str]] = Counter()
        self.shrink = shrink
        self.found = 0
        self._journal = journal
        self._first_seed = first_seed
        self._started = time.monotonic()
        self._spent: dict[str, float] = {}
        self._last_seed = first_seed

    def seeds(self, part: str, count: int | None, seconds: float | None) -> Iterator[int]:
        """Yields seeds until the count or the time is reached; prints the progress every minute."""
        began = reported = time.monotonic()
        seed = self._first_seed
        try:
            while count is None or seed < self._first_seed + count:
                now = time.monotonic()
                if seconds is not None and now - began >= seconds:
                    return
                if now - reported >= STATUS_SECONDS:
                    reported = now
                    print(self._status(part, now - began), flush=True)
                yield seed
                seed += 1
        finally:
            self._spent[part] = time.monotonic() - began
            self._last_seed = max(self._last_seed, seed - 1)

    def note(self, part: str, seed: int, what: str, model: object = None) -> None:
        """Prints a finding and appends it to the journal."""
        self.found += 1
        print(f"{part} {seed}: {what}", flush=True)
        self._write({"part": part, "seed": seed, "what": what, "model": model})

    def finish(self, now: float) -> int:
        """Prints the figures and returns the number of cells that have not been reached."""
        import onnxruntime

        from dml2onnx.test_cases.coverage import table, unreached

        version, spent = onnxruntime.__version__, now - self._started
        print(f"\nonnxruntime {version}, seeds {self._first_seed} to {self._last_seed}, {spent:.0f} s")
        for name, count in sorted(self.counts.items()):
            print(f"{count:9}  {name}")
        for part, seconds in self._spent.items():
            print(self._status(part, seconds))
        missing = len(unreached(self.cells)) if self.cells else 0
        if self.cells:
            print("\n".join(table(self.cells)))
        print(f"findings: {self.found}")
        figures = {
            "seed": self._first_seed,
            "last_seed": self._last_seed,
            "seconds": round(spent),
            "counts": self.counts,
            "cells": len(self.cells),
            "cells_missing": missing,
            "found": self.found,
        }
        self._write({"onnxruntime": version, **figures})
        return missing

    def _status(self, part: str, seconds: float) -> str:
        ran = self.counts[f"{part}, run"]
        return f"{part}: {ran:,} in {seconds:.0f} s ({ran / max(seconds, 1e-9):.0f}/s), findings so far: {self.found}"

    def _write(self, record: dict[str, Any]) -> None:
        if self._journal is not None:
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


def as_native(graph: Any) -> object:
    """A graph as native JSON, or the error if it cannot be written."""
    from dml2onnx.diagnostics import DmlError
    from dml2onnx.exporters import export

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        try:
            export(graph, path, "native")
        except DmlError as error:
            return str(error)
        return json.loads(path.read_text(encoding="utf-8"))
