"""What starting costs: processor time of each command against that of Python itself, in one run.

    python scripts/bench_startup.py [--repeat 5]

The smallest of several runs of each command counts, and runs of all commands are interleaved. ``compile`` is compared
with a process that imports ONNX's own package.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

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
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        "python -c 'import onnx'": [sys.executable, "-c", "import onnx"],
        "--version": [*cli, "--version"],
        "--help": [*cli, "--help"],
        "ops": [*cli, "ops"],
        "explain DML1602": [*cli, "explain", "DML1602"],
        "check of one node": [*cli, "check", str(model)],
        "compile of one node": [*cli, "compile", str(model), "-o", str(directory / "model.onnx")],
    }


def processor_time(command: list[str]) -> float:
    """Seconds of processor time, ours and the system's for us."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what starting costs.")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each command (default: 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measured = commands(Path(name))
        best = {title: processor_time(command) for title, command in measured.items()}  # also compiles the modules
        for _ in range(options.repeat):
            best = {title: min(best[title], processor_time(command)) for title, command in measured.items()}
    bare, with_onnx = best["python -c pass"], best["python -c 'import onnx'"]
    print(f"{'':26}{'seconds':>9}{'above Python':>14}{'above import onnx':>19}")
    for title, seconds in best.items():
        print(f"{title:26}{seconds:9.3f}{seconds - bare:14.3f}{seconds - with_onnx:19.3f}")


if __name__ == "__main__":
    main()
