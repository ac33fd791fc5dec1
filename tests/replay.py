"""Which models a test ran, kept for another release of ONNX Runtime, which needs to run no more than these.

``pytest --record-runs DIRECTORY --record-of tests/lowering`` keeps, for each test there that passes, the models that it
ran, what went in, and a digest of what came out. ``pytest --replay-runs DIRECTORY``, with another release, runs these
models before each test: where every bit is the same, the test passes as it did before, since all else that it looks at
is the same code; any other test is run in full. So are tests of which not all is known: which started processes, ran
models from files, bound memory, looked at profiles, failed on purpose, or ask for the release.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnxruntime
import pytest

MOST_BYTES = 32 << 20
"""What is kept of one test at most."""
IN_FULL = (
    "tests/optimizer_barriers/test_needed.py::test_each_barrier_works_and_is_needed",
    "tests/optimizer_barriers/test_needed.py::test_every_barrier_is_tested",
    "tests/optimizer_barriers/test_needed.py::test_barriers_before_both_transposes",
    "tests/legalise/test_quirks.py::test_installed_runtime_has_the_quirk",
    "tests/legalise/test_quirks.py::test_expected_results_are_computed_by_some_implementation",
    "tests/test_runtime.py",
)
"""Tests that ask for the release, or that are about sessions."""
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec")
"""Audit events of other processes."""
UNKNOWN = ("run_with_iobinding", "run_with_ort_values", "run_async", "io_binding", "end_profiling", "set_providers")
"""What a session does that is not kept."""
SETTINGS = (
    "enable_cpu_mem_arena",
    "enable_mem_pattern",
    "enable_mem_reuse",
    "execution_mode",
    "graph_optimization_level",
    "inter_op_num_threads",
    "intra_op_num_threads",
    "use_deterministic_compute",
)
REPLAYED = ("runs", "replayed")
"""A property of tests that passed because their models give the same bits."""


@dataclass
class Kept:
    """The models that the current test runs, as far as all of it is known."""

    runs: list[bytes] = field(default_factory=list)
    """Each the place of a session in ``sessions``, how it is made where it is a new one, and what it is given."""
    sessions: dict[int, int] = field(default_factory=dict)
    """The places of sessions by their numbers."""
    nbytes: int = 0
    is_all: bool = True

    def add(self, session: int, made: object, run: object = None) -> None:
        """A session was made, or has run."""
        if self.is_all:
            known = session in self.sessions
            place = self.sessions.setdefault(session, len(self.sessions))
            packed = pickle.dumps((place, None if known else made, run), pickle.HIGHEST_PROTOCOL)
            self.nbytes += len(packed)
            self.is_all = self.nbytes <= MOST_BYTES
            self.runs.append(packed)

    def spoil(self) -> None:
        """Something happens that is not kept."""
        self.is_all = False


class Options(onnxruntime.SessionOptions):
    """Options of a session that can be told again."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[tuple[str, str]] = []
        self.is_all = True

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.entries.append((key, value))
        super().add_session_config_entry(key, value)

    def told(self) -> tuple[dict[str, int], list[tuple[str, str]]] | None:
        """All that was set, or ``None`` where it is more than that."""
        if not self.is_all or self.enable_profiling or self.optimized_model_filepath:
            return None
        return {name: int(getattr(self, name)) for name in SETTINGS}, list(self.entries)


def _spoiling(owner: type, name: str) -> Any:
    def method(self: Any, *arguments: Any, **how: Any) -> Any:
        if isinstance(self, Options):
            self.is_all = False
        else:
            self.kept().spoil()
        return getattr(super(owner, self), name)(*arguments, **how)

    return method


for _name in dir(onnxruntime.SessionOptions):
    if _name.startswith(("add_", "register_", "set_")) and _name != "add_session_config_entry":
        setattr(Options, _name, _spoiling(Options, _name))


def options_of(settings: dict[str, int], entries: list[tuple[str, str]]) -> onnxruntime.SessionOptions:
    """Options as they were told."""
    options = PLAIN_OPTIONS()
    for name, value in settings.items():
        setattr(options, name, type(getattr(options, name))(value))
    for key, text in entries:
        options.add_session_config_entry(key, text)
    options.log_severity_level = 4
    return options


def digest(results: list[Any]) -> bytes | None:
    """Stands for all bits of results; ``None`` where they are not all arrays of numbers."""
    total = hashlib.blake2b(digest_size=16)
    for array in results:
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            return None
        total.update(f"{array.dtype.str} {array.shape} ".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.digest()


PLAIN = onnxruntime.InferenceSession
PLAIN_OPTIONS = onnxruntime.SessionOptions
NUMBERS = itertools.count()


class Recorder:
    """A plugin of pytest that keeps the runs of tests."""

    def __init__(self, file: BinaryIO, of: tuple[str, ...]) -> None:
        self._file = file
        self._of = of
        self._kept = Kept()
        self._elsewhere: set[str] = set()
        """Files whose fixtures run models, of which tests then judge that did not run them."""
        onnxruntime.SessionOptions = Options
        onnxruntime.InferenceSession = self._session_class()
        sys.addaudithook(lambda event, _: self._kept.spoil() if event in STARTS else None)

    def _session_class(self) -> type:
        def kept() -> Kept:
            return self._kept

        class Session(PLAIN):  # type: ignore[misc, valid-type]
            """A session whose runs are kept."""

            def __init__(self, model: Any, sess_options: Any = None, providers: Any = None, *more: Any, **how: Any):
                self.told: tuple[Any, ...] | None = None
                self.number = next(NUMBERS)
                options = Options() if sess_options is None else sess_options
                if isinstance(model, bytes) and isinstance(options, Options) and (told := options.told()):
                    self.told = (model, told, providers, more, how)
                try:
                    super().__init__(model, sess_options, providers, *more, **how)
                except BaseException:
                    kept().spoil()
                    raise
                if self.told is None:
                    kept().spoil()
                else:
                    kept().add(self.number, self.told)

            def run(self, output_names: Any, input_feed: Any, run_options: Any = None) -> Any:
                try:
                    if self.told is None or run_options is not None:
                        raise TypeError("not all of it is known")
                    before = pickle.dumps((output_names, input_feed), pickle.HIGHEST_PROTOCOL)
                except Exception:  # among inputs may be what cannot be kept
                    kept().spoil()
                    return super().run(output_names, input_feed, run_options)
                try:
                    results = super().run(output_names, input_feed)
                except BaseException:
                    kept().spoil()
                    raise
                if (found := digest(results)) is None:
                    kept().spoil()
                else:
                    kept().add(self.number, self.told, (before, found))
                return results

        Session.kept = staticmethod(kept)
        for name in UNKNOWN:
            setattr(Session, name, _spoiling(Session, name))
        return Session

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._kept = Kept()
        yield
        self._kept = Kept()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if self._kept.runs or not self._kept.is_all:  # of a fixture, which other tests may share
            self._elsewhere.add(item.nodeid.partition("::")[0])
        outcome: Any = yield
        file = item.nodeid.partition("::")[0]
        known = self._kept.is_all and file not in self._elsewhere and not item.nodeid.startswith(IN_FULL)
        if known and outcome.excinfo is None and item.nodeid.startswith(self._of):
            runs = pickle.dumps(self._kept.runs)
            pickle.dump((item.nodeid, len(runs)), self._file)
            self._file.write(runs)

    def pytest_sessionfinish(self) -> None:
        self._file.close()


class Replayer:
    """A plugin of pytest for which a test passes whose models give the same bits as before."""

    def __init__(self, directory: Path) -> None:
        self._places = {
            nodeid: (path, place) for file in sorted(directory.glob("*.pickle")) for nodeid, path, place in kept(file)
        }

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        place = self._places.get(pyfuncitem.nodeid)
        if place is None or not is_same(runs_at(*place)):
            return None
        pyfuncitem.user_properties.append(REPLAYED)
        return True


def kept(path: Path) -> Iterator[tuple[str, Path, int]]:
    """The tests of which a file has the runs, and where in it."""
    with path.open("rb") as file:
        while file.peek(1):
            nodeid, size = pickle.load(file)
            yield nodeid, path, file.tell()
            file.seek(size, os.SEEK_CUR)


def runs_at(path: Path, place: int) -> list[bytes]:
    """The runs of a test."""
    with path.open("rb") as file:
        file.seek(place)
        runs: list[bytes] = pickle.load(file)
    return runs


def is_same(runs: list[bytes]) -> bool:
    """Whether models give the same bits here as they gave there.

    A session ends with its last run: the threads of hundreds, which wait for work in loops, would fight over the cores.
    """
    sessions: dict[int, Any] = {}
    unpacked = [pickle.loads(packed) for packed in runs]
    last = {place: number for number, (place, _, _) in enumerate(unpacked)}
    try:
        for number, (place, made, run) in enumerate(unpacked):
            if made is not None:
                model, options, providers, more, how = made
                sessions[place] = PLAIN(model, options_of(*options), providers, *more, **how)
            if run is not None:
                given, wanted = run
                if digest(sessions[place].run(*pickle.loads(given))) != wanted:
                    return False
            if number == last[place]:
                del sessions[place]
    except Exception:  # of which the test itself will tell
        return False
    return True


def configure(config: pytest.Config) -> None:
    """Makes the plugin that a process that runs tests was asked for."""
    into, kept = config.getoption("--record-runs"), config.getoption("--replay-runs")
    if into is not None:
        path = Path(into, f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.pickle")
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(path.open("wb"), tuple(config.getoption("--record-of"))))
    if kept is not None:
        config.pluginmanager.register(Replayer(Path(kept)))
