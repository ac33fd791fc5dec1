"""Checks everything: style, types, generated files, and the tests with both ends of ONNX Runtime's range.

    python scripts/test.py           all of it, some minutes on two cores
    python scripts/test.py --fast    without the second ONNX Runtime

Makes ``.venv`` with pinned packages first, ``.venv-ort124`` for the second ONNX Runtime, ``.venv-browser`` for the
report's page, and ``.venv-cpp`` for what is for C++ programs. The exit code is 0 when all of it passed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from _environment import ROOT, prepare, prepare_browser, prepare_compiler, run
from _onnxruntime_headers import fetch

SOURCES = ("dml2onnx", "samples", "scripts", "tests")
RUNTIME_TESTS = (
    "tests/builder",
    "tests/lowering",
    "tests/networks",
    "tests/pydirectml",
    "tests/report/test_gather.py",
    "tests/test_runtime.py",
    "tests/test_samples.py",
    "tests/test_squeezenet.py",
    "tests/test_vectors.py",
)
"""Tests whose outcome depends on ONNX Runtime."""


class Step(NamedTuple):
    """One thing to check."""

    title: str
    command: list[str | Path]


def steps(python: Path) -> list[Step]:
    """What is checked with the newest ONNX Runtime."""
    generators = [*sorted((ROOT / "scripts").glob("generate_*.py")), ROOT / "scripts" / "make_samples.py"]
    module: list[str | Path] = [python, "-m"]
    return [
        Step("ruff check", [*module, "ruff", "check", *SOURCES]),
        Step("ruff format", [*module, "ruff", "format", "--check", *SOURCES]),
        Step("mypy", [*module, "mypy"]),
        Step("mypy tests", [*module, "mypy", "tests"]),
        *(Step(f"{path.name} --check", [python, path, "--check"]) for path in generators),
        Step("build_docs.py", [python, ROOT / "scripts" / "build_docs.py"]),
        Step("check_release.py", [python, ROOT / "scripts" / "check_release.py", "--brief"]),
        Step("pytest", [*module, "pytest", *_parallel()]),
    ]


def oldest_runtime_step(python: Path) -> Step:
    """The tests that ONNX Runtime decides, once more."""
    title = "pytest with the oldest onnxruntime"
    return Step(title, [python, "-m", "pytest", *_parallel(), *RUNTIME_TESTS])


def _parallel() -> list[str]:
    return ["-n", str(os.cpu_count() or 1), "-p", "no:cacheprovider"]


def perform(chosen: list[Step]) -> list[str]:
    """Runs the steps, all of them whatever happens, and returns the titles of those that failed."""
    failed = []
    for step in chosen:
        print(f"\n=== {step.title}", flush=True)
        started = time.perf_counter()
        # one thread for each worker's linear algebra, or they fight over the cores
        code = run(step.command, {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        outcome = "passed" if code == 0 else f"FAILED with exit code {code}"
        print(f"--- {step.title}: {outcome} in {time.perf_counter() - started:.1f} s", flush=True)
        if code != 0:
            failed.append(step.title)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks everything; exit code 0 when all of it passed.")
    parser.add_argument("--fast", action="store_true", help="without the second ONNX Runtime")
    options = parser.parse_args()
    started = time.perf_counter()
    chosen = steps(prepare(".venv"))
    prepare_browser()
    if prepare_compiler():
        fetch()
    # onnxruntime-directml, which Windows has, comes in one version of the range
    if sys.platform == "linux" and not options.fast:
        chosen.append(oldest_runtime_step(prepare(".venv-ort124", "ort124")))
    failed = perform(chosen)
    seconds = f"{time.perf_counter() - started:.0f} s"
    if failed:
        print(f"\nFAILED: {', '.join(failed)} ({len(failed)} of {len(chosen)} steps, {seconds})")
        return 1
    print(f"\nall {len(chosen)} steps passed in {seconds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
