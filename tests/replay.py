"""Records the models that tests run, so that another release of ONNX Runtime need run only the models.

``pytest --record-runs DIRECTORY --record-of tests/lowering`` records, for each test there that passes, its models,
their inputs, and a digest of their outputs. ``pytest --replay-runs DIRECTORY``, with another release, runs these models
before each test: if every bit is the same, the test passes, since the rest of it is the same code; otherwise the test
is run in full. So are tests that cannot be recorded completely: they start processes, load models from files, bind
memory, read profiles, fail on purpose, or depend on the release.
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
"""The most that is recorded of one test."""
IN_FULL = (
    "tests/optimizer_barriers/test_needed.py::test_each_barrier_works_and_is_needed",
    "tests/optimizer_barriers/test_needed.py::test_every_barrier_is_tested",
    "tests/optimizer_barriers/test_needed.py::test_barriers_before_both_transposes",
    "tests/legalise/test_quirks.py::test_installed_runtime_has_the_quirk",
    "tests/legalise/test_quirks.py::test_expected_results_are_computed_by_some_implementation",
    "tests/test_runtime.py",
)
"""Tests that depend on the release, or that are about sessions."""
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec")
"""Audit events of starting a process."""
NOT_RECORDED = (
    *("run_with_iobinding", "run_with_ort_values", "run_async"),
    *("io_binding", "end_profiling", "set_providers"),
)
"""Methods of sessions that are not recorded."""
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
class Recording:
    """The models that the current test runs."""

    runs: list[bytes] = field(default_factory=list)
    """Each has the index of a session in ``sessions``, the arguments that make it if it is new, and its inputs."""
    sessions: dict[int, int] = field(default_factory=dict)
    """The indices of sessions by their numbers."""
    nbytes: int = 0
    is_complete: bool = True

    def add(self, session: int, arguments: object, run: object = None) -> None:
        """Adds a new session, or a run of one."""
        if self.is_complete:
            is_known = session in self.sessions
            index = self.sessions.setdefault(session, len(self.sessions))
            packed = pickle.dumps((index, None if is_known else arguments, run), pickle.HIGHEST_PROTOCOL)
            self.nbytes += len(packed)
            self.is_complete = self.nbytes <= MOST_BYTES
            self.runs.append(packed)

    def spoil(self) -> None:
        """Marks the recording as incomplete."""
        self.is_complete = False


class Options(onnxruntime.SessionOptions):
    """Session options that can be recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[tuple[str, str]] = []
        self.is_complete = True

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.entries.append((key, value))
        super().add_session_config_entry(key, value)

    def settings(self) -> tuple[dict[str, int], list[tuple[str, str]]] | None:
        """Returns all settings, or ``None`` if some are not recorded."""
        if not self.is_complete or self.enable_profiling or self.optimized_model_filepath:
            return None
        return {name: int(getattr(self, name)) for name in SETTINGS}, list(self.entries)


def _spoiling(owner: type, name: str) -> Any:
    def method(self: Any, *arguments: Any, **how: Any) -> Any:
        if isinstance(self, Options):
            self.is_complete = False
        else:
            self.recording().spoil()
        return getattr(super(owner, self), name)(*arguments, **how)

    return method


for _name in dir(onnxruntime.SessionOptions):
    if _name.startswith(("add_", "register_", "set_")) and _name != "add_session_config_entry":
        setattr(Options, _name, _spoiling(Options, _name))


def options_of(settings: dict[str, int], entries: list[tuple[str, str]]) -> onnxruntime.SessionOptions:
    """Returns options with recorded settings."""
    options = PLAIN_OPTIONS()
    for name, value in settings.items():
        setattr(options, name, type(getattr(options, name))(value))
    for key, text in entries:
        options.add_session_config_entry(key, text)
    options.log_severity_level = 4
    return options


def digest(results: list[Any]) -> bytes | None:
    """Returns a hash of all bits of results, or ``None`` if they are not all arrays of numbers."""
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
    """A pytest plugin that records the runs of tests."""

    def __init__(self, file: BinaryIO, prefixes: tuple[str, ...]) -> None:
        self._file = file
        self._prefixes = prefixes
        self._recording = Recording()
        self._files_with_fixtures: set[str] = set()
        """Files whose fixtures run models: their tests depend on models that they do not run themselves."""
        onnxruntime.SessionOptions = Options
        onnxruntime.InferenceSession = self._session_class()
        sys.addaudithook(lambda event, _: self._recording.spoil() if event in STARTS else None)

    def _session_class(self) -> type:
        def recording() -> Recording:
            return self._recording

        class Session(PLAIN):  # type: ignore[misc, valid-type]
            """A session whose runs are recorded."""

            def __init__(self, model: Any, sess_options: Any = None, providers: Any = None, *more: Any, **how: Any):
                self.arguments: tuple[Any, ...] | None = None
                self.number = next(NUMBERS)
                options = Options() if sess_options is None else sess_options
                if isinstance(model, bytes) and isinstance(options, Options) and (settings := options.settings()):
                    self.arguments = (model, settings, providers, more, how)
                try:
                    super().__init__(model, sess_options, providers, *more, **how)
                except BaseException:
                    recording().spoil()
                    raise
                if self.arguments is None:
                    recording().spoil()
                else:
                    recording().add(self.number, self.arguments)

            def run(self, output_names: Any, input_feed: Any, run_options: Any = None) -> Any:
                try:
                    if self.arguments is None or run_options is not None:
                        raise TypeError("cannot be recorded")
                    inputs = pickle.dumps((output_names, input_feed), pickle.HIGHEST_PROTOCOL)
                except Exception:  # also for inputs that cannot be pickled
                    recording().spoil()
                    return super().run(output_names, input_feed, run_options)
                try:
                    results = super().run(output_names, input_feed)
                except BaseException:
                    recording().spoil()
                    raise
                if (found := digest(results)) is None:
                    recording().spoil()
                else:
                    recording().add(self.number, self.arguments, (inputs, found))
                return results

        Session.recording = staticmethod(recording)
        for name in NOT_RECORDED:
            setattr(Session, name, _spoiling(Session, name))
        return Session

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._recording = Recording()
        yield
        self._recording = Recording()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if self._recording.runs or not self._recording.is_complete:  # from a fixture that other tests may share
            self._files_with_fixtures.add(file)
        outcome: Any = yield
        is_whole = self._recording.is_complete and file not in self._files_with_fixtures
        is_wanted = item.nodeid.startswith(self._prefixes) and not item.nodeid.startswith(IN_FULL)
        if is_whole and is_wanted and outcome.excinfo is None:
            runs = pickle.dumps(self._recording.runs)
            pickle.dump((item.nodeid, len(runs)), self._file)
            self._file.write(runs)

    def pytest_sessionfinish(self) -> None:
        self._file.close()


class Replayer:
    """A pytest plugin that lets a test pass if its models give the same bits as before."""

    def __init__(self, directory: Path) -> None:
        files = sorted(directory.glob("*.pickle"))
        self._places = {nodeid: (path, place) for file in files for nodeid, path, place in recorded(file)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        place = self._places.get(pyfuncitem.nodeid)
        if place is None or not is_same(runs_at(*place)):
            return None
        pyfuncitem.user_properties.append(REPLAYED)
        return True


def recorded(path: Path) -> Iterator[tuple[str, Path, int]]:
    """Yields the tests that a file has the runs of, and their offsets."""
    with path.open("rb") as file:
        while file.peek(1):
            nodeid, size = pickle.load(file)
            yield nodeid, path, file.tell()
            file.seek(size, os.SEEK_CUR)


def runs_at(path: Path, place: int) -> list[bytes]:
    """Reads the runs of a test."""
    with path.open("rb") as file:
        file.seek(place)
        runs: list[bytes] = pickle.load(file)
    return runs


def is_same(runs: list[bytes]) -> bool:
    """Returns whether models give the recorded bits here.

    Each session ends after its last run: idle threads of hundreds of sessions would spin on the cores.
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
    except Exception:  # the test itself will report it
        return False
    return True


def configure(config: pytest.Config) -> None:
    """Registers the plugin that the options of this process select."""
    into, recorded = config.getoption("--record-runs"), config.getoption("--replay-runs")
    if into is not None:
        path = Path(into, f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.pickle")
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(path.open("wb"), tuple(config.getoption("--record-of"))))
    if recorded is not None:
        config.pluginmanager.register(Replayer(Path(recorded)))
