"""Models per second: ``dml2onnx batch`` compared with one command per model.

    python scripts/bench_batch.py [--models 300] [--calls 12] [--jobs 2] [--vectors DIR] [--json FILE]

The models are graphs of one node, so that the cost of a call dominates, or those below DIR. Single commands are timed
for only ``--calls`` models, since each call costs the same. Both sides are measured in the same run.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _figures import Figure, add_option, report, write_relu

from dml2onnx.batching import default_jobs

TARGET = 10.0
"""Required speedup over single commands with the same number of processes."""
WORK = ("check", "compile", "verify")


def write_models(directory: Path, number: int) -> None:
    """Writes distinct graphs of one node."""
    directory.mkdir()
    for index in range(number):
        write_relu(directory / f"{index:05}.json", index + 1)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def run(command: list[str]) -> None:
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1):  # models may have errors
        sys.exit(f"{' '.join(command)} ended with exit code {code}")


def single(do: str, files: list[Path], jobs: int, out: Path) -> None:
    """Runs one command per model, ``jobs`` at a time, like ``xargs -P``."""
    output = ["-o", str(out / "model.onnx")] if do == "compile" and jobs == 1 else []
    waiting, running = list(files), list[subprocess.Popen[bytes]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            command = [sys.executable, "-m", "dml2onnx", do, str(waiting.pop()), *output]
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        running.pop(0).wait()


def batch(do: str, models: Path, jobs: int, out: Path) -> None:
    command = [sys.executable, "-m", "dml2onnx", "batch", str(models), "--do", do, "--jobs", str(jobs)]
    run([*command, "-o", str(out), "--quiet"])


def measure(do: str, models: Path, number: int, calls: int, jobs: int) -> float:
    """Prints the rates for one command, and returns the speedup of the batch over single commands."""
    out = models.with_name("out")
    files = sorted(path for path in models.rglob("*.json"))[:calls]
    rates = {
        "a shell's loop": len(files) / seconds(lambda: single(do, files, 1, models)),
        f"xargs -P {jobs}": len(files) / seconds(lambda: single(do, files, jobs, models)),
    }
    for count in sorted({1, jobs}):
        shutil.rmtree(out, ignore_errors=True)
        rates[f"batch --jobs {count}"] = number / seconds(partial(batch, do, models, count, out))
    rates["batch, all done before"] = number / seconds(lambda: batch(do, models, jobs, out))
    first = rates["a shell's loop"]
    for name, rate in rates.items():
        print(f"{do:8} {name:24} {rate:10.1f} models/s {rate / first:8.1f}x", flush=True)
    return rates[f"batch --jobs {jobs}"] / rates[f"xargs -P {jobs}"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures models per second.")
    parser.add_argument("--models", type=int, default=300, metavar="N", help="models of a batch (default: 300)")
    parser.add_argument("--calls", type=int, default=12, metavar="N", help="single commands (default: 12)")
    parser.add_argument("--jobs", type=int, default=default_jobs(), metavar="N", help="processes (default: one a core)")
    parser.add_argument("--vectors", type=Path, metavar="DIR", help="models to take instead")
    add_option(parser)
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        models = Path(name) / "models"
        if options.vectors is None:
            write_models(models, options.models)
        else:
            shutil.copytree(options.vectors, models)
        number = len(list(models.rglob("*.json")))
        for do in WORK:
            times = measure(do, models, number, options.calls, options.jobs)
            figures.append(Figure(do, times, "times as many models per second as single commands", least=TARGET))
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
