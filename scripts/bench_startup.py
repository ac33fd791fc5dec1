"""Startup cost: processor time of each command compared with that of Python itself.

    python scripts/bench_startup.py [--repeat 5] [--json FILE]

Each figure is the minimum of several runs, interleaved with those of the other commands, with bytecode already
compiled. ``compile`` is compared with a process that imports the onnx package. Targets assume an idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from _figures import Figure, add_option, report, write_relu

PYTHON, NUMPY, ONNX = "python -c pass", "python -c 'import numpy'", "python -c 'import onnx'"
VERSION, CHECK = "--version", "check of one node"
TARGETS = {
    "ops": (PYTHON, 0.1, VERSION),
    "explain DML1602": (PYTHON, 0.1, VERSION),
    CHECK: (PYTHON, 0.2, VERSION),
    "compile of one node": (ONNX, 0.1, NUMPY),
}
"""For each command: the baseline, the allowed seconds above it, and a command whose work it includes."""


def commands(directory: Path) -> dict[str, list[str]]:
    model = directory / "model.json"
    write_relu(model, 4)
    cli = [sys.executable, "-m", "dml2onnx"]
    return {
        PYTHON: [sys.executable, "-c", "pass"],
        NUMPY: [sys.executable, "-c", "import numpy"],
        ONNX: [sys.executable, "-c", "import onnx"],
        VERSION: [*cli, "--version"],
        "--help": [*cli, "--help"],
        "ops": [*cli, "ops"],
        "explain DML1602": [*cli, "explain", "DML1602"],
        CHECK: [*cli, "check", str(model)],
        "compile of one node": [*cli, "compile", str(model), "-o", str(directory / "model.onnx")],
    }


def processor_time(command: list[str], environment: Mapping[str, str]) -> float:
    """User and system time in seconds."""
    before = _of_children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return _of_children() - before


def _of_children() -> float:
    try:
        import resource
    except ImportError:
        times = os.times()  # in steps of 10 ms
        return times.children_user + times.children_system
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the startup cost of commands.")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each command (default: 5)")
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measured = commands(Path(name))
        # a private bytecode cache, regardless of the caller's environment
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(name) / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        best = {title: processor_time(command, environment) for title, command in measured.items()}
        for _ in range(options.repeat):
            best = {title: min(best[title], processor_time(cmd, environment)) for title, cmd in measured.items()}
    bare, with_onnx = best[PYTHON], best[ONNX]
    print(f"{'':26}{'seconds':>9}{'above Python':>14}{'above import onnx':>19}")
    for title, seconds in best.items():
        print(f"{title:26}{seconds:9.3f}{seconds - bare:14.3f}{seconds - with_onnx:19.3f}")
    figures = []
    for title, (than, most, part) in TARGETS.items():
        reason = f"{best[title]:.2f} s in total, of which `{part}` takes {best[part]:.2f}"
        figures.append(Figure(title, best[title] - best[than], f"s above `{than}`", most, reason=reason))
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
