"""Checks everything: style, types, generated files, and the tests with both ends of ONNX Runtime's range.

    python scripts/test.py               style, types, generated files, tests, but slow ones of what was not changed
    python scripts/test.py --all         these as well, the oldest ONNX Runtime, other runtimes, pages and the release
    python scripts/test.py --exhaustive  all of that, and every case of every test
    python scripts/test.py --fast        what concerns the files that were changed, within a minute

    python scripts/test.py --runtimes [--all]   only models on other runtimes, one of each kind or all
    python scripts/test.py --provider NAME      only models on a provider of ONNX Runtime: dml, cpu, coreml, ...

Slow are the functions of ``tests/slow.txt``, a fifteenth of all, which take three quarters of the time. Those run that
the change concerns, the nearest first, for ``SLOW`` CPU seconds (``scripts/_affected.py``).

Tests with many cases run so many that every value of every parameter is met (``tests/selection.py``); ``--exhaustive``
runs every pair and triple of them too, as a release does.
At the end stands how many seconds each step took. The exit code is 0 when all of it passed.

Makes ``.venv`` with pinned packages first, ``.venv-ort124`` and ``.venv-ort132`` for other ONNX Runtimes,
``.venv-browser`` for the report's page, ``.venv-cpp`` for what is for C++ programs, ``.venv-csharp`` for C#,
``.venv-openvino``, ``.venv-webgpu`` and ``.venv-qnn`` for other runtimes. What is run on other runtimes, and where
results are kept, is in ``docs/runtimes.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from _cpp_headers import fetch
from _csharp import fetch_csharp
from _environment import (
    ROOT,
    interpreter,
    prepare,
    prepare_runtime,
    prepare_tool,
    run,
)
from _web import prepare_web
from check_release import BRIEF

SOURCES = ("dml2onnx", "samples", "scripts", "tests")
RUNTIME_TESTS = (
    "tests/optimizer_barriers",
    "tests/legalise/test_behind.py",
    "tests/legalise/test_quirks.py",
    "tests/lowering",
    "tests/memory",
    "tests/networks",
    "tests/passes",
    "tests/pydirectml/test_programs.py",
    "tests/sizes/test_named.py",
    "tests/test_runtime.py",
    "tests/test_samples.py",
    "tests/test_squeezenet.py",
    "tests/test_vectors.py",
)
"""Tests of numbers that ONNX Runtime computes; other tests run models to see that something reaches them."""


TESTS_OF_PAGES = tuple(f"tests/docs/test_pages.py::test_what_a_page_says_is_so[{Path(page).stem}]" for page in BRIEF)
"""Tests of pages that ``check_release.py --brief`` runs as well, with the wheel that is made of the same files."""


class Step(NamedTuple):
    """One thing to check."""

    title: str
    command: list[str | Path]


def types(python: Path) -> list[Step]:
    """Types of the package and of the tests, which have one cache: one after the other."""
    return [Step("mypy", [python, "-m", "mypy"]), Step("mypy tests", [python, "-m", "mypy", "tests"])]


def sources(python: Path) -> list[list[Step]]:
    """What is checked of the sources besides types and tests, in parts that may be done at once."""
    generators = [*sorted((ROOT / "scripts").glob("generate_*.py")), ROOT / "scripts" / "make_samples.py"]
    return [
        [Step("ruff check", [python, "-m", "ruff", "check", *SOURCES])],
        [Step("ruff format", [python, "-m", "ruff", "format", "--check", *SOURCES])],
        *([Step(f"{path.name} --check", [python, path, "--check"])] for path in generators),
    ]


def products(python: Path) -> list[list[Step]]:
    """What is checked of what is made of the sources, in parts that may be done at once."""
    return [
        [Step("build_docs.py", [python, ROOT / "scripts" / "build_docs.py"])],
        [Step("check_release.py", [python, ROOT / "scripts" / "check_release.py", "--brief"])],
    ]


RUNS = ROOT / "build" / "runs"
"""Where the tests keep what the pinned ONNX Runtime gives, which the others are compared with (``tests/replay.py``)."""


ONE_IN = {"oldest": 3, "newest": 4}
"""Of so many cases of a test one is run on the oldest and on the newest release, where the pinned one runs all.

The newest is next to the pinned one.
"""


def other_runtime_step(python: Path, which: str, *, one_in: int = 1) -> Step:
    """The tests that ONNX Runtime decides, with the oldest release that the project accepts, or the newest.

    Tests whose models do not give the same bits run in full. ``one_in`` is of how many cases of a function one is run.
    """
    title = f"pytest with the {which} onnxruntime"
    options: list[str | Path] = ["--replay-runs", RUNS, "--cases", "each", "--one-in", str(one_in)]
    return Step(title, [python, "-m", "pytest", *_parallel(), *options, *RUNTIME_TESTS])


def runtimes_step(python: Path, *options: str | Path, browser: bool = False) -> Step:
    """Models on ONNX's reference evaluator, and on OpenVINO, WebGPU and QNN's emulator where they are to be had.

    With ``browser`` on ONNX Runtime Web as well, which takes some minutes more.
    """
    runtimes = ["evaluator:portable"]
    if prepare_tool("openvino"):
        runtimes.append(f"openvino:openvino={interpreter(ROOT / '.venv-openvino')}")
    if not _has_vulkan():
        print("no Vulkan driver, without which nothing was run on WebGPU", flush=True)
    elif prepare_tool("webgpu"):
        runtimes.append(f"webgpu:webgpu={interpreter(ROOT / '.venv-webgpu')}")
    # which is what the NPU's emulator is for
    if platform.machine().lower() in ("x86_64", "amd64") and prepare_tool("qnn"):
        runtimes.append(f"qnn:qnn-npu={interpreter(ROOT / '.venv-qnn')}")
    if browser and prepare_web():
        runtimes += ["web:cpu", "web-gpu:webgpu", "webnn:webnn"]
    optional = [part for name in ("webgpu", "qnn", "web", "web-gpu", "webnn") for part in ("--optional", name)]
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


SLOW = 200
"""CPU seconds of slow tests that a change may take, where not all are run."""


def _parallel() -> list[str]:
    # each process begins with a half of the files: what a file needs, such as a C++ program, is then made once
    return ["-n", str(os.cpu_count() or 1), "--dist", "worksteal", "-p", "no:cacheprovider"]


class Outcome(NamedTuple):
    """How a step ended."""

    title: str
    passed: bool
    seconds: float


def perform(*parts: list[Step]) -> list[Outcome]:
    """Runs the steps, all of them whatever happens.

    Of several parts each one's steps are run in order, beside those of the others, as many at a time as there are
    cores; what a step says is then shown when it has ended.
    """
    alone = len(parts) == 1
    with ThreadPoolExecutor(max_workers=min(len(parts), os.cpu_count() or 1)) as pool:
        outcomes = pool.map(lambda part: [_perform(step, shown=alone) for step in part], parts)
        return [outcome for part in outcomes for outcome in part]


def _perform(step: Step, *, shown: bool) -> Outcome:
    """Runs a step; what it says is ``shown`` as it comes, or afterwards."""
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
    return Outcome(step.title, code == 0, seconds)


def test_steps(python: Path, *, thorough: bool, cases: str, since: str | None) -> tuple[Step, list[list[Step]]]:
    """The tests, and parts that may be done at once after them, in environments of their own, which are made here."""
    prepare_tool("browser")
    if prepare_tool("cpp"):
        fetch()
    fetch_csharp()
    # onnxruntime-directml, which Windows has, comes in one version of the range
    ends = (("oldest", "ort124"), ("newest", "ort132")) if thorough and sys.platform == "linux" else ()
    kept = ["--record-runs", RUNS, *(part for name in RUNTIME_TESTS for part in ("--record-of", name))]
    run_twice = TESTS_OF_PAGES if thorough and os.name != "nt" else ()
    options: list[str | Path] = [
        *(kept if ends else ()),
        *(part for name in run_twice for part in ("--deselect", name)),
    ]
    affected: list[str | Path] = [ROOT / "scripts" / "_affected.py", *(["--since", since] if since else [])]
    run: list[str | Path] = ["-m", "pytest"] if thorough else [*affected, "--slow", str(SLOW)]
    tests = Step("pytest", [python, *run, *_parallel(), *options, "--cases", cases])
    parts = {"oldest": 1, "newest": 1} if cases == "all" else ONE_IN
    others = [other_runtime_step(prepare_runtime(lock), which, one_in=parts[which]) for which, lock in ends]
    return tests, [others, [runtimes_step(python, *([] if cases == "all" else ["--changed"]))]] if thorough else []


def perform_all(*, thorough: bool, cases: str = "each", since: str | None = None) -> list[Outcome]:
    """Checks everything, or what is not ``thorough`` and takes a third of the time."""
    # making an environment keeps one core busy, and so does each step but the tests
    with ThreadPoolExecutor(max_workers=1) as beside:
        making = beside.submit(test_steps, interpreter(ROOT / ".venv"), thorough=thorough, cases=cases, since=since)
        python = prepare(".venv")
        outcomes = perform(*(products(python) if thorough else ()), *sources(python))  # what takes longest comes first
        tests, last = making.result()
        shutil.rmtree(RUNS, ignore_errors=True)
        # while a process of the tests waits, or has nothing left to do
        typed = beside.submit(perform, types(python), [])
        outcomes += perform([tests])
        outcomes += typed.result()
    outcomes += perform(*last) if last else []
    shutil.rmtree(RUNS, ignore_errors=True)
    return outcomes


def perform_fast() -> list[Outcome]:
    """What concerns changed files: their style, all types, and the tests nearest to them that fit into a minute."""
    python = prepare(".venv")
    module: list[str | Path] = [python, "-m"]
    style = [
        Step("ruff check", [*module, "ruff", "check", *SOURCES]),
        Step("ruff format", [*module, "ruff", "format", "--check", *SOURCES]),
        Step("mypy", [*module, "mypy"]),
    ]
    tests = Step("tests that the change concerns", [python, ROOT / "scripts" / "_affected.py", "--within", "45"])
    return perform(style, [tests])


def chosen(options: argparse.Namespace) -> list[Outcome]:
    """Does what was asked for."""
    if options.provider:
        results = options.results or ROOT / "tests" / "runtimes" / "results"
        return perform([provider_step(prepare(".venv"), options.provider, results)])
    if options.runtimes:
        arguments = [*(["--all"] if options.all else []), *(("--results", options.results) if options.results else ())]
        return perform([runtimes_step(prepare(".venv"), *arguments, browser=True)])
    if options.exhaustive:
        return perform_all(thorough=True, cases="all")
    return perform_fast() if options.fast else perform_all(thorough=options.all, since=options.since)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks everything; exit code 0 when all of it passed.")
    parser.add_argument("--all", action="store_true", help="the oldest and other runtimes, pages, release as well")
    parser.add_argument("--exhaustive", action="store_true", help="as --all, with every case of every test")
    parser.add_argument("--fast", action="store_true", help="only what concerns changed files, within a minute")
    parser.add_argument("--since", help="a commit: what differs from it was changed, not what is not committed yet")
    parser.add_argument("--runtimes", action="store_true", help="only models on other runtimes; with --all every model")
    parser.add_argument("--provider", help="only models on a provider of ONNX Runtime, such as dml")
    parser.add_argument("--results", type=Path, help="a directory for what --runtimes or --provider found, as JSON")
    options = parser.parse_args()
    started = time.perf_counter()
    outcomes = chosen(options)
    print("\nseconds of each step")
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.seconds):
        print(f"{outcome.seconds:8.1f}  {outcome.title}{'' if outcome.passed else '  FAILED'}")
    failed = [outcome.title for outcome in outcomes if not outcome.passed]
    seconds = f"{time.perf_counter() - started:.0f} s"
    if failed:
        print(f"\nFAILED: {', '.join(failed)} ({len(failed)} of {len(outcomes)} steps, {seconds})")
        return 1
    print(f"\nall {len(outcomes)} steps passed in {seconds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
