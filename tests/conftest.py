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

# The same examples every time, so that a rare counterexample stops whoever looks for it and nobody else:
# HYPOTHESIS_PROFILE=explore draws new ones, and "hurry" ends at the first.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
FIND = (Phase.explicit, Phase.generate)
settings.register_profile("hurry", derandomize=True, deadline=None, phases=FIND, report_multiple_bugs=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parent.parent
LEFT_OUT = pytest.StashKey[int]()
"""How many cases were left out."""
USED = pytest.StashKey[float]()
"""CPU seconds when the last part of a test had ended."""
STARTED = time.perf_counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "all cases of parametrised tests, or so many that each value is met (tests/selection.py)"
    parser.addoption("--cases", choices=["all", "each"], default="all", help=help_text)
    parser.addoption("--one-in", type=int, default=1, help="of these, one case in so many of each function")
    parser.addoption("--record-runs", help="keep what models gave in this directory (tests/replay.py)")
    parser.addoption("--record-of", action="append", default=[], help="the tests of which that is kept")
    parser.addoption("--replay-runs", help="compare with what is kept in this directory first")
    parser.addoption("--leave-out", help="a file with names of functions and files that are not run")
    parser.addoption("--within", type=float, default=float("inf"), help="seconds after which the rest is skipped")


@pytest.hookimpl(hookwrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    yield
    if metafunc.config.getoption("--cases") == "each":  # before a test is made of each case, most of which are left out
        metafunc.config.stash[LEFT_OUT] = metafunc.config.stash.get(LEFT_OUT, 0) + selection.thin(metafunc)


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    left = config.stash.get(LEFT_OUT, 0)
    return f"{left} cases are left out in which no value is new" if left else ""


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
    """What this process and those that it has started and that have ended have used."""
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
    """Options of a session that starts no threads of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.intra_op_num_threads = 1


AS_USERS_HAVE_IT = ("tests.networks", "tests.test_samples", "tests.test_squeezenet")
"""Modules whose sessions have as many threads as ONNX Runtime wants."""


DURATIONS = ROOT / "build" / "durations.json"
"""Seconds that each file of tests took with each choice of cases, for ``scripts/test.py --fast`` to know what fits, and
CPU seconds of each function, for ``tests/slow.txt``."""
SLOW = 30
"""Seconds of a run that says where they went."""


class Durations:
    """Adds up the seconds of each file of tests, of all processes, and keeps and shows them."""

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
            said = ", ".join(f"{file} {seconds:.0f}" for file, seconds in slowest)
            terminalreporter.line(f"most seconds of all processes together: {said}")
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
    """Whether all cases are wanted, also those that a test goes through by itself."""
    return bool(request.config.getoption("--cases") == "all")


@pytest.fixture(scope="module", autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Sessions of most modules compute in the thread that runs them, as numpy does (``OMP_NUM_THREADS``).

    Most of them run one node once: to start, spin and end a thread takes twice as long as all the rest. Programs that
    tests start, those of the documents among them, have ONNX Runtime's threads too.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.startswith(AS_USERS_HAVE_IT):
            patch.setattr(onnxruntime, "SessionOptions", OneThread)
        yield


def shared_directory() -> Path | None:
    """Material that lies beside some checkouts: a real network and published test vectors; ``None`` elsewhere."""
    directory = Path(os.environ.get("DML2ONNX_SHARED", ROOT.parent / "shared"))
    return directory if (directory / "vectors").is_dir() else None


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Path:
    """The published test vectors, which tests only read."""
    return unpacked(shared / "vectors" / "webnn.tar.xz", ROOT / "build" / "vectors") / "corpus"


def unpacked(archive: Path, into: Path) -> Path:
    """What an archive holds, unpacked once for all processes and releases of ONNX Runtime: thousands of small files."""
    place = into / hashlib.sha256(archive.read_bytes()).hexdigest()
    if not place.is_dir():
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as made, tarfile.open(archive) as packed:
            packed.extractall(Path(made, "all"), filter="data")
            with contextlib.suppress(OSError):  # another process has been faster
                Path(made, "all").rename(place)
    return place


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared material; tests that need it are skipped where it is not there."""
    directory = shared_directory()
    if directory is None:
        pytest.skip("no shared material beside this checkout")
    return directory


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Loads a script by its name, as a module that is not kept."""
    scripts = ROOT / "scripts"
    monkeypatch.syspath_prepend(scripts)

    def get(name: str) -> ModuleType:
        # under another name, because the standard library has a package "test"
        spec = importlib.util.spec_from_file_location(f"script_{name}", scripts / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return get
