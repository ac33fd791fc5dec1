"""What a benchmark has found: each figure beside its target, with what stands in the way where that is missed.

``bench_*.py --json FILE`` keeps the figures of a run in FILE, with the machine, the day and the versions that they are
of; ``generate_benchmarks.py`` makes the table of the README of them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path

PACKAGES = ("numpy", "onnx", "onnxruntime", "onnxruntime-directml")
"""Whose versions matter."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, and what it should be."""

    what: str
    value: float
    unit: str
    """What stands behind the number, such as "times cp"."""
    most: float | None = None
    """The target, where less is better."""
    least: float | None = None
    """The target, where more is better."""
    reason: str = ""
    """What stands in the way, said where the target is missed."""

    @property
    def is_met(self) -> bool:
        """Whether there is no target, or the figure reaches it."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def goal(self) -> str:
        """The target; nothing where there is none."""
        if self.most is not None:
            return f"at most {self.most:g}"
        return "" if self.least is None else f"at least {self.least:g}"

    def __str__(self) -> str:
        missed = f"missed: {self.reason}" if self.reason else "missed"
        behind = f" (target: {self.goal}, {'met' if self.is_met else missed})" if self.goal else ""
        return f"{self.what}: {number(self.value)} {self.unit}{behind}"


def number(value: float) -> str:
    """With as many digits as anybody wants to read."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one script."""

    figures: tuple[Figure, ...]
    day: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date().isoformat())
    machine: str = field(default_factory=lambda: machine())
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    load: float | None = field(default_factory=lambda: load())
    """What wanted a processor meanwhile, on average: with more than there are, times are those of a crowd."""


def machine() -> str:
    """This machine, in a few words."""
    return f"{platform.system()} on {_processor()}, {os.cpu_count()} cores"


def load() -> float | None:
    """Processes that have wanted a processor in the last five minutes, where the system counts them."""
    return round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Of Python and of the packages that are there."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def add_option(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep the figures there, in the place of earlier ones"
    )


def say(figures: list[Figure], file: Path | None) -> int:
    """Prints figures with their targets, and keeps them where that is asked for; 1 where a target is missed."""
    for item in figures:
        print(item)
    if file is not None:
        keep(file, Path(sys.argv[0]).name, Run(tuple(figures)))
    return int(not all(item.is_met for item in figures))


def keep(file: Path, script: str, run: Run) -> None:
    """Puts the figures of a script into the file, which has those of others too."""
    runs = read(file) if file.exists() else {}
    runs[script] = run
    text = json.dumps({name: asdict(runs[name]) for name in sorted(runs)}, indent=2)
    file.write_text(text + "\n", encoding="utf-8", newline="\n")


def read(file: Path) -> dict[str, Run]:
    """The figures of each script that the file has some of."""
    runs = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: Run(**{"load": None, **run, "figures": tuple(Figure(**item) for item in run["figures"])})
        for name, run in runs.items()
    }


def in_turns(runs: Mapping[str, Callable[[], object]], seconds: float = 0, least: int = 1) -> dict[str, list[float]]:
    """Seconds of each run of each, one of each at a time in an order that is drawn, so that all see the same machine.

    For so long, and so often at least.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or rounds < least:
        rounds += 1
        for name in random.sample(list(runs), len(runs)):
            started = time.perf_counter()
            runs[name]()
            times[name].append(time.perf_counter() - started)
    return times
