"""Checks style, types and generated files, and runs the tests.

    python scripts/test.py               style, types, generated files, and tests except unaffected slow ones
    python scripts/test.py --all         also slow tests, other ONNX Runtimes, other runtimes, pages and the release
    python scripts/test.py --exhaustive  as --all, with every case of every test
    python scripts/test.py --fast        only checks that concern changed files, within a minute

    python scripts/test.py --runtimes [--all]   only models on other runtimes, one of each kind or all
    python scripts/test.py --provider NAME      only models on a provider of ONNX Runtime: dml, cpu, coreml, ...

Slow tests are the functions in ``tests/slow.txt``, a fifteenth of all, which take three quarters of the time. Those
affected by the change run, the nearest first, for up to ``SLOW`` CPU seconds (``scripts/_affected.py``).

Tests with many cases run a selection that covers every value of every parameter (``tests/selection.py``);
``--exhaustive`` also covers every pair and triple, as a release does. The time of each step is printed at the end. The
exit code is 0 if everything passed.

Creates ``.venv`` with pinned packages first, ``.venv-ort124`` and ``.venv-ort132`` for other ONNX Runtimes,
``.venv-browser`` for the report's page, ``.venv-cpp`` for C++, ``.venv-csharp`` for C#, and ``.venv-openvino``,
``.venv-webgpu`` and ``.venv-qnn`` for other runtimes. ``docs/runtimes.md`` describes what runs there, and the results.
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
from _environment import ROOT, interpreter, prepare, prepare_runtime, prepare_tool, run
from _web import prepare_web
from check_release import BRIEF

SOURCES = ("dml2onnx", "samples", "scripts", "tests")
RUNTIME_TESTS = (
    "tests/optimizer_barriers",
    "tests/legalise/test_after_passes.py",
    "tests/legalise/test_quirks.py",
    "tests/lowering",
    "tests/buffer_views",
    "tests/networks",
    "tests/passes",
    "tests/pydirectml/test_programs.py",
    "tests/sizes/test_named.py",
    "tests/test_runtime.py",
    "tests/test_samples.py",
    "tests/test_squeezenet.py",
    "tests/test_vectors.py",
)
"""Tests of numeric results of ONNX Runtime; other tests only check that models run."""


TESTS_OF_PAGES = tuple(f"tests/docs/test_pages.py::test_what_a_page_says_is_so[{Path(page).stem}]" for page in BRIEF)
"""Tests of pages that ``check_release.py --brief`` runs too, with a wheel of the same files."""


class Step(NamedTuple):
    """One check."""

    title: str
    command: list[str | Path]


def types(python: Path) -> list[Step]:
    """Type checks of the package and of the tests, in sequence, since they share a cache."""
    return [Step("mypy", [python, "-m", "mypy"]), Step("mypy tests", [python, "-m", "mypy", "tests"])]


def sources(python: Path) -> list[list[Step]]:
    """Checks of the sources besides types and tests, in parts that can run in parallel."""
    generators = [*sorted((ROOT / "scripts").glob("generate_*.py")), ROOT / "scripts" / "make_samples.py"]
    return [
        [Step("ruff check", [python, "-m", "ruff", "check", *SOURCES])],
        [Step("ruff format", [python, "-m", "ruff", "format", "--check", *SOURCES])],
        *([Step(f"{path.name} --check", [python, path, "--check"])] for path in generators),
    ]


def products(python: Path) -> list[list[Step]]:
    """Checks of built products, in parts that can run in parallel."""
    return [
        [Step("build_docs.py", [python, ROOT / "scripts" / "build_docs.py"])],
        [Step("check_release.py", [python, ROOT / "scripts" / "check_release.py", "--brief"])],
    ]


RUNS = ROOT / "build" / "runs"
"""Recorded results of the pinned ONNX Runtime, for comparison with the others (``tests/replay.py``)."""


ONE_IN = {"oldest": 3, "newest": 4}
"""One in this many cases of each test runs on the oldest and on the newest release, which is near the pinned one."""


def other_runtime_step(python: Path, which: str, *, one_in: int = 1) -> Step:
    """``RUNTIME_TESTS`` with the oldest or the newest supported release, one in ``one_in`` cases of each function.

    Tests whose models give other bits than on the pinned release run in full.
    """
    title = f"pytest with the {which} onnxruntime"
    options: list[str | Path] = ["--replay-runs", RUNS, "--cases", "each", "--one-in", str(one_in)]
    return Step(title, [python, "-m", "pytest", *_parallel(), *options, *RUNTIME_TESTS])


def runtimes_step(python: Path, *options: str | Path, browser: bool = False) -> Step:
    """Models on ONNX's reference evaluator, and on OpenVINO, WebGPU and QNN's emulator if available.

    ``browser`` adds ONNX Runtime Web.
    """
    runtimes = ["evaluator:portable"]
    if prepare_tool("openvino"):
        runtimes.append(f"openvino:openvino={interpreter(ROOT / '.venv-openvino')}")
    if not _has_vulkan():
        print("no Vulkan driver: nothing is run on WebGPU", flush=True)
    elif prepare_tool("webgpu"):
        runtimes.append(f"webgpu:webgpu={interpreter(ROOT / '.venv-webgpu')}")
    # the NPU's emulator needs x86-64
    if platform.machine().lower() in ("x86_64", "amd64") and prepare_tool("qnn"):
        runtimes.append(f"qnn:qnn-npu={interpreter(ROOT / '.venv-qnn')}")
    if browser and prepare_web():
        runtimes += ["web:cpu", "web-gpu:webgpu", "webnn:webnn"]
    optional = [part for name in ("webgpu", "qnn", "web", "web-gpu", "webnn") for part in ("--optional", name)]
    return Step("models on other runtimes", [python, "-m", "tests.runtimes", *runtimes, *optional, *options])


def provider_step(python: Path, provider: str, results: Path) -> Step:
    """All models on one provider of ONNX Runtime, compiled for it if it is a target."""
    target = provider if (ROOT / "schemas" / "targets" / f"{provider}.json").exists() else "portable"
    what: list[str | Path] = [f"{provider}:{target}", "--all", "--results", results]
    return Step(f"models on provider {provider}", [python, "-m", "tests.runtimes", *what])


def _has_vulkan() -> bool:
    """Whether WebGPU finds a Vulkan driver; systems other than Linux do not need one."""
    if sys.platform != "linux":
        return True
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    places = [Path("/usr/share/vulkan/icd.d"), Path("/etc/vulkan/icd.d"), Path("/usr/local/share/vulkan/icd.d")]
    return bool(named) or any(file for place in places for file in place.glob("*.json"))


SLOW = 200
"""Budget for affected slow tests in CPU seconds."""


def _parallel() -> list[str]:
    # each process starts with a contiguous share of the files, so that fixtures of a file are created once
    return ["-n", str(os.cpu_count() or 1), "--dist", "worksteal", "-p", "no:cacheprovider"]


class Outcome(NamedTuple):
    """The result of a step."""

    title: str
    passed: bool
    seconds: float


def perform(*parts: list[Step]) -> list[Outcome]:
    """Runs all steps, even after failures.

    Steps of a part run in sequence, parts in parallel on all cores; then the output of a step is shown when it ends.
    """
    alone = len(parts) == 1
    with ThreadPoolExecutor(max_workers=min(len(parts), os.cpu_count() or 1)) as pool:
        outcomes = pool.map(lambda part: [_perform(step, shown=alone) for step in part], parts)
        return [outcome for part in outcomes for outcome in part]


def _perform(step: Step, *, shown: bool) -> Outcome:
    """Runs a step; its output is ``shown`` immediately or at the end."""
    title = f"\n=== {step.title}"
    if shown:
        print(title, flush=True)
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        # one thread for linear algebra in each worker, since workers occupy all cores
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        code = run(step.command, threads, None if shown else output)
        seconds = time.perf_counter() - started
        output.seek(0)
        text = "" if shown else f"{title}\n{output.read().decode(errors='replace')}"
    outcome = "passed" if code == 0 else f"FAILED with exit code {code}"
    print(f"{text}--- {step.title}: {outcome} in {seconds:.1f} s", flush=True)
    return Outcome(step.title, code == 0, seconds)


def test_steps(python: Path, *, thorough: bool, cases: str, since: str | None) -> tuple[Step, list[list[Step]]]:
    """The tests, and parts that can run in parallel after them; creates the environments of all."""
    prepare_tool("browser")
    if prepare_tool("cpp"):
        fetch()
    fetch_csharp()
    # Windows uses onnxruntime-directml, which has only one supported version
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
    """Checks everything, or the default selection if not ``thorough``, in a third of the time."""
    # creating an environment occupies one core, and so does each step but the tests
    with ThreadPoolExecutor(max_workers=1) as beside:
        making = beside.submit(test_steps, interpreter(ROOT / ".venv"), thorough=thorough, cases=cases, since=since)
        python = prepare(".venv")
        outcomes = perform(*(products(python) if thorough else ()), *sources(python))  # the longest first
        tests, last = making.result()
        shutil.rmtree(RUNS, ignore_errors=True)
        # types are checked while processes of the tests are idle
        typed = beside.submit(perform, types(python), [])
        outcomes += perform([tests])
        outcomes += typed.result()
    outcomes += perform(*last) if last else []
    shutil.rmtree(RUNS, ignore_errors=True)
    return outcomes


def perform_fast() -> list[Outcome]:
    """Checks style and types, and runs the tests closest to the changed files that fit into a minute."""
    python = prepare(".venv")
    module: list[str | Path] = [python, "-m"]
    style = [
        Step("ruff check", [*module, "ruff", "check", *SOURCES]),
        Step("ruff format", [*module, "ruff", "format", "--check", *SOURCES]),
        Step("mypy", [*module, "mypy"]),
    ]
    tests = Step("tests that the change concerns", [python, ROOT / "scripts" / "_affected.py", "--within", "45"])
    return perform(style, [tests])


def perform_chosen(options: argparse.Namespace) -> list[Outcome]:
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
    parser = argparse.ArgumentParser(
        description="Checks style, types, generated files and tests; exit code 0 if everything passed."
    )
    parser.add_argument("--all", action="store_true", help="also slow tests, other runtimes, pages and the release")
    parser.add_argument("--exhaustive", action="store_true", help="as --all, with every case of every test")
    parser.add_argument("--fast", action="store_true", help="only checks that concern changed files, within a minute")
    parser.add_argument("--since", help="compare with this commit to find changed files, not with the last one")
    parser.add_argument("--runtimes", action="store_true", help="only models on other runtimes; with --all every model")
    parser.add_argument("--provider", help="only models on a provider of ONNX Runtime, such as dml")
    parser.add_argument("--results", type=Path, help="a directory for the results of --runtimes or --provider, as JSON")
    options = parser.parse_args()
    started = time.perf_counter()
    outcomes = perform_chosen(options)
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
