"""Results of benchmarks: figures with their targets, and the reasons for missed targets.

``bench_*.py --json FILE`` stores the figures of a run in FILE with machine, date and versions;
``generate_benchmarks.py`` writes the table in README.md from it.
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
"""Packages whose versions are recorded."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement and its target."""

    what: str
    value: float
    unit: str
    """The text after the number, such as "times cp"."""
    most: float | None = None
    """Upper limit, or None."""
    least: float | None = None
    """Lower limit, or None."""
    reason: str = ""
    """Why a missed target is missed."""

    @property
    def is_met(self) -> bool:
        """Whether the figure meets its target, if it has one."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def goal(self) -> str:
        """The target as text, or an empty text."""
        if self.most is not None:
            return f"at most {self.most:g}"
        return "" if self.least is None else f"at least {self.least:g}"

    def __str__(self) -> str:
        missed = f"missed: {self.reason}" if self.reason else "missed"
        behind = f" (target: {self.goal}, {'met' if self.is_met else missed})" if self.goal else ""
        return f"{self.what}: {number(self.value)} {self.unit}{behind}"


def number(value: float) -> str:
    """The number with about three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one script."""

    figures: tuple[Figure, ...]
    day: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date().isoformat())
    machine: str = field(default_factory=lambda: machine())
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    load: float | None = field(default_factory=lambda: load())
    """Load average during the run: times are unreliable if it exceeds the number of cores."""


def machine() -> str:
    return f"{platform.system()} on {_processor()}, {os.cpu_count()} cores"


def load() -> float | None:
    """The five-minute load average, or None if the system has none."""
    return round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """The versions of Python and of the installed packages."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def add_option(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="store the figures there, replacing earlier ones")


def report(figures: list[Figure], file: Path | None) -> int:
    """Prints figures with their targets and stores them in ``file``; returns 1 if a target is missed."""
    for item in figures:
        print(item)
    if file is not None:
        keep(file, Path(sys.argv[0]).name, Run(tuple(figures)))
    return int(not all(item.is_met for item in figures))


def keep(file: Path, script: str, run: Run) -> None:
    """Stores the figures of a script in the file, keeping those of other scripts."""
    runs = read(file) if file.exists() else {}
    runs[script] = run
    text = json.dumps({name: asdict(runs[name]) for name in sorted(runs)}, indent=2)
    file.write_text(text + "\n", encoding="utf-8", newline="\n")


def read(file: Path) -> dict[str, Run]:
    """The figures in the file by script."""
    runs = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: Run(**{"load": None, **run, "figures": tuple(Figure(**item) for item in run["figures"])})
        for name, run in runs.items()
    }


def write_relu(path: Path, size: int) -> None:
    """Writes a native model with one ACTIVATION_RELU of ``size`` elements."""
    tensor = {"DataType": "FLOAT32", "Sizes": [size]}
    node = {
        "type": "ACTIVATION_RELU",
        "desc": {"OutputTensor": tensor},
        "inputs": {"InputTensor": "x"},
        "outputs": {"OutputTensor": "y"},
    }
    model = {"dml2onnx": 1, "inputs": {"x": tensor}, "nodes": [node], "outputs": ["y"]}
    path.write_text(json.dumps(model), encoding="utf-8")


def interleaved(runs: Mapping[str, Callable[[], object]], seconds: float = 0, least: int = 1) -> dict[str, list[float]]:
    """Times the functions in rounds of random order, so that all see the same load; returns the seconds of each run.

    Stops after ``seconds``, but not before ``least`` rounds.
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
