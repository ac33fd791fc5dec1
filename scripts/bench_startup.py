"""What starting costs: processor time of each command against that of Python itself, in one run.

    python scripts/bench_startup.py [--repeat 5] [--json FILE]

The smallest of several runs of each command counts, and runs of all commands are interleaved; modules are compiled
before. ``compile`` is compared with a process that imports ONNX's own package. The targets are for a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from _figures import Figure, add_option, say

PYTHON, NUMPY, ONNX = "python -c pass", "python -c 'import numpy'", "python -c 'import onnx'"
VERSION, CHECK = "--version", "check of one node"
TARGETS = {
    "ops": (PYTHON, 0.1, VERSION),
    "explain DML1602": (PYTHON, 0.1, VERSION),
    CHECK: (PYTHON, 0.2, VERSION),
    "compile of one node": (ONNX, 0.1, NUMPY),
}
"""Seconds that a command may take above another one, and what is a part of its time."""

TENSOR = {"DataType": "FLOAT32", "Sizes": [4]}
MODEL = {
    "dml2onnx": 1,
    "inputs": {"x": TENSOR},
    "nodes": [
        {
            "type": "ACTIVATION_RELU",
            "desc": {"OutputTensor": TENSOR},
            "inputs": {"InputTensor": "x"},
            "outputs": {"OutputTensor": "y"},
        }
    ],
    "outputs": ["y"],
}


def commands(directory: Path) -> dict[str, list[str]]:
    """What is measured, by name."""
    model = directory / "model.json"
    model.write_text(json.dumps(MODEL), encoding="utf-8")
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
    """Seconds of processor time, ours and the system's for us."""
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
    parser = argparse.ArgumentParser(description="Measures what starting costs.")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each command (default: 5)")
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measured = commands(Path(name))
        # bytecode of our own, which is there whatever the environment says about writing it
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
        reason = f"it takes {best[title]:.2f} s in all, of which `{part}` {best[part]:.2f}"
        figures.append(Figure(title, best[title] - best[than], f"s above `{than}`", most, reason=reason))
    return say(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
