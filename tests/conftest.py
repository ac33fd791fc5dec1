"""Fixtures shared by all tests."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import onnxruntime
import pytest
from hypothesis import Phase, settings

from tests import replay, selection

# Draw the same examples every time, so that a rare counterexample does not break unrelated work:
# HYPOTHESIS_PROFILE=explore draws new ones, and "hurry" stops at the first failure.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
FIND = (Phase.explicit, Phase.generate)
settings.register_profile("hurry", derandomize=True, deadline=None, phases=FIND, report_multiple_bugs=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parent.parent
SKIPPED_CASES = pytest.StashKey[int]()
USED = pytest.StashKey[float]()
"""CPU seconds at the end of the previous phase of a test."""
STARTED = time.perf_counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "all cases of parametrised tests, or enough to cover each value (tests/selection.py)"
    parser.addoption("--cases", choices=["all", "each"], default="all", help=help_text)
    parser.addoption("--one-in", type=int, default=1, help="run one in N of the selected cases of each function")
    parser.addoption("--record-runs", help="save the results of models in this directory (tests/replay.py)")
    parser.addoption("--record-of", action="append", default=[], help="record tests whose names start like this")
    parser.addoption("--replay-runs", help="compare models with the results saved in this directory first")
    parser.addoption("--leave-out", help="a file with names of functions and files to skip")
    parser.addoption("--within", type=float, default=float("inf"), help="skip the rest after this many seconds")


@pytest.hookimpl(hookwrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    yield
    if metafunc.config.getoption("--cases") == "each":  # early: making a test of each case would take long
        metafunc.config.stash[SKIPPED_CASES] = metafunc.config.stash.get(SKIPPED_CASES, 0) + selection.thin(metafunc)


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    count = config.stash.get(SKIPPED_CASES, 0)
    return f"{count} cases are left out in which no value is new" if count else ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--cases") == "each":
        selection.draw_fewer(items)
    if file := config.getoption("--leave-out"):
        names = frozenset(Path(file).read_text(encoding="utf-8").splitlines())
        items[:], left = selection.without(items, names)
        config.hook.pytest_deselected(items=left)
    if (number := config.getoption("--one-in")) > 1:
        items[:], left = selection.one_in(items, number)
        config.hook.pytest_deselected(items=left)


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of its finished children."""
    return sum(os.times()[:4])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    now = cpu_seconds()
    outcome.get_result().cpu_seconds = now - item.config.stash.get(USED, now)
    item.config.stash[USED] = now


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.perf_counter() - STARTED > item.config.getoption("--within"):
        pytest.skip("is left out for time")


class OneThread(replay.Options):
    """Session options with which ONNX Runtime starts no threads."""

    def __init__(self) -> None:
        super().__init__()
        self.intra_op_num_threads = 1


DEFAULT_THREADS = ("tests.networks", "tests.test_samples", "tests.test_squeezenet")
"""Modules whose sessions use ONNX Runtime's default number of threads."""


DURATIONS = ROOT / "build" / "durations.json"
"""Seconds of each test file for each value of ``--cases``, from which ``scripts/test.py --fast`` plans, and CPU seconds
of each function, for ``tests/slow.txt``."""
SLOW = 30
"""Runs that take more seconds list their slowest files."""


class Durations:
    """Sums the seconds of each test file over all processes, saves them, and lists the slowest."""

    def __init__(self, config: pytest.Config) -> None:
        self.cases: str = config.getoption("--cases")
        self.is_whole = not config.getoption("keyword") and not any("::" in name for name in config.args)
        self.seconds: dict[str, float] = {}
        self.functions: dict[str, float] = {}
        self.replayed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.replayed += report.when == "call" and replay.REPLAYED in map(tuple, report.user_properties)
        self.seconds[file] = self.seconds.get(file, 0) + report.duration
        function = selection.function_of(report.nodeid)
        self.functions[function] = self.functions.get(function, 0) + getattr(report, "cpu_seconds", 0)

    def pytest_sessionfinish(self) -> None:
        if not self.is_whole:
            return
        known = json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}
        known[self.cases] = {**known.get(self.cases, {}), **{file: round(s, 1) for file, s in self.seconds.items()}}
        if self.cases == "each":
            known["functions"] = {**known.get("functions", {}), **{f: round(s, 1) for f, s in self.functions.items()}}
        DURATIONS.parent.mkdir(exist_ok=True)
        DURATIONS.write_text(json.dumps(known, indent=0, sort_keys=True), encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if sum(self.seconds.values()) > SLOW:
            slowest = sorted(self.seconds.items(), key=lambda pair: -pair[1])[:10]
            listed = ", ".join(f"{file} {seconds:.0f}" for file, seconds in slowest)
            terminalreporter.line(f"slowest files, in seconds over all processes: {listed}")
        if self.replayed:
            terminalreporter.line(f"{self.replayed} tests passed as before, since their models give the same bits")


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")  # of pytest-xdist
    if not is_worker:
        config.pluginmanager.register(Durations(config))
    if is_worker or not config.getoption("numprocesses", None):
        replay.configure(config)


@pytest.fixture(scope="session")
def is_exhaustive(request: pytest.FixtureRequest) -> bool:
    """Whether to run all cases, including those that a test loops over."""
    return bool(request.config.getoption("--cases") == "all")


@pytest.fixture(scope="module", autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs the sessions of most modules in the calling thread, as numpy does (``OMP_NUM_THREADS``).

    Most sessions run one node once: starting and ending a thread would take twice as long as all the rest. Programs
    that tests start, such as those of the documents, use ONNX Runtime's threads.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.startswith(DEFAULT_THREADS):
            patch.setattr(onnxruntime, "SessionOptions", OneThread)
        yield


def shared_directory() -> Path | None:
    """Returns the directory beside some checkouts with a real network and published test vectors, or ``None``."""
    directory = Path(os.environ.get("DML2ONNX_SHARED", ROOT.parent / "shared"))
    return directory if (directory / "vectors").is_dir() else None


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Path:
    """The published test vectors; tests must not write to them."""
    return unpacked(shared / "vectors" / "webnn.tar.xz", ROOT / "build" / "vectors") / "corpus"


def unpacked(archive: Path, into: Path) -> Path:
    """Unpacks an archive of thousands of small files once for all processes, and returns the directory."""
    place = into / hashlib.sha256(archive.read_bytes()).hexdigest()
    if not place.is_dir():
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as made, tarfile.open(archive) as packed:
            packed.extractall(Path(made, "all"), filter="data")
            with contextlib.suppress(OSError):  # another process was faster
                Path(made, "all").rename(place)
    return place


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared material; skips the test if there is none."""
    directory = shared_directory()
    if directory is None:
        pytest.skip("no shared material beside this checkout")
    return directory


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Loads a script by name as a new module."""
    scripts = ROOT / "scripts"
    monkeypatch.syspath_prepend(scripts)

    def get(name: str) -> ModuleType:
        # with a prefix, because the standard library has a package "test"
        spec = importlib.util.spec_from_file_location(f"script_{name}", scripts / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return get
