"""Checks everything: style, types, generated files, and the tests with both ends of ONNX Runtime's range.

    python scripts/test.py           all of it, some half an hour on two cores
    python scripts/test.py --fast    without the second ONNX Runtime, and without other runtimes

    python scripts/test.py --runtimes [--all]   only models on other runtimes, one of each kind or all
    python scripts/test.py --provider NAME      only models on a provider of ONNX Runtime: dml, cpu, coreml, ...

Makes ``.venv`` with pinned packages first, ``.venv-ort124`` for the second ONNX Runtime, ``.venv-browser`` for the
report's page, ``.venv-cpp`` for what is for C++ programs, ``.venv-openvino``, ``.venv-webgpu`` and ``.venv-qnn`` for
other runtimes. The exit code is 0 when all of it passed. What is run on other runtimes, and where results are kept, is
in ``docs/runtimes.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from _environment import (
    ROOT,
    interpreter,
    prepare,
    prepare_browser,
    prepare_compiler,
    prepare_openvino,
    prepare_qnn,
    prepare_webgpu,
    run,
)
from _onnxruntime_headers import fetch

SOURCES = ("dml2onnx", "samples", "scripts", "tests")
RUNTIME_TESTS = (
    "tests/builder",
    "tests/lowering",
    "tests/networks",
    "tests/passes/test_rounding.py",
    "tests/passes/test_signed_weights.py",
    "tests/pydirectml",
    "tests/report/test_gather.py",
    "tests/sizes/test_costs.py",
    "tests/sizes/test_named.py",
    "tests/sizes/test_names.py",
    "tests/test_runtime.py",
    "tests/test_samples.py",
    "tests/test_squeezenet.py",
    "tests/test_vectors.py",
)
"""Tests whose outcome depends on ONNX Runtime."""
WITHOUT_RUNTIME = (
    "tests/builder/test_misuse.py",
    "tests/pydirectml/test_command.py::TestEnding",
    "tests/pydirectml/test_enums.py",
)
"""Those among them in which it has no part."""


class Step(NamedTuple):
    """One thing to check."""

    title: str
    command: list[str | Path]


def steps(python: Path) -> tuple[list[Step], list[Step]]:
    """What is checked besides the tests, in two parts that may be done at once."""
    generators = [*sorted((ROOT / "scripts").glob("generate_*.py")), ROOT / "scripts" / "make_samples.py"]
    module: list[str | Path] = [python, "-m"]
    sources = [
        Step("ruff check", [*module, "ruff", "check", *SOURCES]),
        Step("ruff format", [*module, "ruff", "format", "--check", *SOURCES]),
        Step("mypy", [*module, "mypy"]),
        Step("mypy tests", [*module, "mypy", "tests"]),
        *(Step(f"{path.name} --check", [python, path, "--check"]) for path in generators),
    ]
    products = [
        Step("build_docs.py", [python, ROOT / "scripts" / "build_docs.py"]),
        Step("check_release.py", [python, ROOT / "scripts" / "check_release.py", "--brief"]),
    ]
    return sources, products


def oldest_runtime_step(python: Path) -> Step:
    """The tests that ONNX Runtime decides, once more."""
    title = "pytest with the oldest onnxruntime"
    others = [f"--deselect={name}" for name in WITHOUT_RUNTIME]
    return Step(title, [python, "-m", "pytest", *_parallel(), *others, *RUNTIME_TESTS])


def runtimes_step(python: Path, *options: str | Path) -> Step:
    """Models on ONNX's reference evaluator, and on OpenVINO, WebGPU and QNN's emulator where they are to be had."""
    runtimes = ["evaluator:portable"]
    if prepare_openvino():
        runtimes.append(f"openvino:openvino={interpreter(ROOT / '.venv-openvino')}")
    if not _has_vulkan():
        print("no Vulkan driver, without which nothing was run on WebGPU", flush=True)
    elif prepare_webgpu():
        runtimes.append(f"webgpu:webgpu={interpreter(ROOT / '.venv-webgpu')}")
    if platform.machine().lower() in ("x86_64", "amd64") and prepare_qnn():  # which is what the NPU's emulator is for
        runtimes.append(f"qnn:qnn-npu={interpreter(ROOT / '.venv-qnn')}")
    optional = ["--optional", "webgpu", "--optional", "qnn"]
    return Step("models on other runtimes", [python, "-m", "tests.runtimes", *runtimes, *optional, *options])


def provider_step(python: Path, provider: str, results: Path) -> Step:
    """All models on one provider of ONNX Runtime, compiled for it where it is a target."""
    target = provider if (ROOT / "schemas" / "targets" / f"{provider}.json").exists() else "portable"
    what: list[str | Path] = [f"{provider}:{target}", "--all", "--results", results]
    return Step(f"models on provider {provider}", [python, "-m", "tests.runtimes", *what])


def _has_vulkan() -> bool:
    """Whether WebGPU finds a device here; where the system has another interface to it, it does."""
    if sys.platform != "linux":
        return True
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    places = [Path("/usr/share/vulkan/icd.d"), Path("/etc/vulkan/icd.d"), Path("/usr/local/share/vulkan/icd.d")]
    return bool(named) or any(file for place in places for file in place.glob("*.json"))


def _parallel() -> list[str]:
    # each process begins with a half of the files: what a file needs, such as a C++ program, is then made once
    return ["-n", str(os.cpu_count() or 1), "--dist", "worksteal", "-p", "no:cacheprovider"]


def perform(*parts: list[Step]) -> list[str]:
    """Runs the steps, all of them whatever happens, and returns the titles of those that failed.

    Of several parts each one's steps are run in order, beside those of the others; what a step says is then shown when
    it has ended.
    """
    with ThreadPoolExecutor(max_workers=len(parts)) as pool:
        alone = len(parts) == 1
        failed = pool.map(lambda part: [step.title for step in part if not _passes(step, shown=alone)], parts)
        return [title for titles in failed for title in titles]


def _passes(step: Step, *, shown: bool) -> bool:
    """Whether a step passes; what it says is ``shown`` as it comes, or afterwards."""
    title = f"\n=== {step.title}"
    if shown:
        print(title, flush=True)
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        # one thread for each worker's linear algebra, or they fight over the cores
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        code = run(step.command, threads, None if shown else said)
        seconds = time.perf_counter() - started
        said.seek(0)
        text = "" if shown else f"{title}\n{said.read().decode(errors='replace')}"
    outcome = "passed" if code == 0 else f"FAILED with exit code {code}"
    print(f"{text}--- {step.title}: {outcome} in {seconds:.1f} s", flush=True)
    return code == 0


def test_steps(python: Path, fast: bool) -> tuple[Step, list[list[Step]]]:
    """The tests, and parts that may be done at once after them, in environments of their own, which are made here."""
    prepare_browser()
    if prepare_compiler():
        fetch()
    tests = Step("pytest", [python, "-m", "pytest", *_parallel()])
    if fast:
        return tests, []
    # onnxruntime-directml, which Windows has, comes in one version of the range
    oldest = [oldest_runtime_step(prepare(".venv-ort124", "ort124"))] if sys.platform == "linux" else []
    return tests, [oldest, [runtimes_step(python)]]


def perform_all(options: argparse.Namespace) -> tuple[list[str], int]:
    """What was asked for: the titles of the steps that failed, and how many steps there were."""
    if options.provider:
        results = options.results or ROOT / "tests" / "runtimes" / "results"
        return perform([provider_step(prepare(".venv"), options.provider, results)]), 1
    if options.runtimes:
        arguments = [*(["--all"] if options.all else []), *(("--results", options.results) if options.results else ())]
        return perform([runtimes_step(prepare(".venv"), *arguments)]), 1
    # making an environment keeps one core busy, and so do most of the steps but the tests
    with ThreadPoolExecutor(max_workers=1) as pool:
        making = pool.submit(test_steps, interpreter(ROOT / ".venv"), options.fast)
        first = steps(prepare(".venv"))
        failed = perform(*first)
        tests, last = making.result()
    failed += perform([tests])
    if last:
        failed += perform(*last)
    return failed, 1 + sum(len(part) for part in (*first, *last))


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks everything; exit code 0 when all of it passed.")
    parser.add_argument("--fast", action="store_true", help="without the second ONNX Runtime")
    parser.add_argument("--runtimes", action="store_true", help="only models on other runtimes")
    parser.add_argument("--all", action="store_true", help="with --runtimes: every model, not one of each kind")
    parser.add_argument("--provider", help="only models on a provider of ONNX Runtime, such as dml")
    parser.add_argument("--results", type=Path, help="a directory for what --runtimes or --provider found, as JSON")
    options = parser.parse_args()
    started = time.perf_counter()
    failed, count = perform_all(options)
    seconds = f"{time.perf_counter() - started:.0f} s"
    if failed:
        print(f"\nFAILED: {', '.join(failed)} ({len(failed)} of {count} steps, {seconds})")
        return 1
    print(f"\nall {count} steps passed in {seconds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
