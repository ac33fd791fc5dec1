"""Runs tests on changed code in forks of a process that has already collected them, for ``mutants.py``.

Each input line is a request in JSON, ``{"path": ..., "before": ..., "after": ..., "seconds": ..., "first": ...}``: a
file, its text, its changed text, the time budget, and the test that failed in an earlier run. Each output line is an
answer: ``{"seen": ..., "test": ..., "failing": [...], "running": ...}``. The ``first`` test runs first, then the cases
that run the changed statement (``_test_lines.py``), then others, nearest first (``_affected.py``).

A change within functions replaces the code of these functions in the fork; subprocesses read the changed file. If that
is not enough, because the changed code ran on import or during collection, a fork of a process that has not imported
the package yet imports everything.
"""

from __future__ import annotations

import contextlib
import cProfile
import functools
import gc
import importlib
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any

import _affected
import pytest
from _test_lines import TestLines

from tests.selection import function_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(ROOT / "dml2onnx") + os.sep
OPTIONS = ("--cases", "each", "-n", "0", "-s", "-p", "no:cacheprovider", "--assert=plain", "--tb=line")
WARM = ("numpy", "onnx.helper", "onnx.reference", "onnxruntime", "hypothesis", "networkx", "flatbuffers", "rich")
"""Imported once, before any fork: dependencies of the tests, nothing of the package."""
MORE = 20
"""CPU seconds beyond the time budget after which a fork ends; the change counts as detected if its last test passes
without it in as many."""
SHORTEST = 0.005
"""Seconds of a test case whose time is unknown or less."""
AROUND = 8
"""Lines before and after a change; test cases whose names share words with them run first."""
SOURCE_TESTS = "tests/test_architecture.py"
"""Tests that read the source instead of running it."""
LONGEST = 300.0
"""A fork counts as failed after this many seconds of wall-clock time."""
Key = tuple[str, str, int]
"""A function: file, qualified name, first line."""


def key_of(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def nested(code: CodeType) -> list[CodeType]:
    """The functions, classes and comprehensions in some code."""
    return [value for value in code.co_consts if isinstance(value, CodeType)]


def own(code: CodeType) -> tuple[object, ...]:
    """The code without that of nested functions, for comparison."""
    constants = tuple(None if isinstance(value, CodeType) else repr(value) for value in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def changed_functions(before: CodeType, after: CodeType, *, within: bool = False) -> dict[Key, CodeType] | None:
    """The changed functions and their new code; ``None`` if code outside functions changed."""
    is_function = within or (bool(before.co_flags & 1) and (before.co_name[0] != "<" or before.co_name == "<lambda>"))
    parts = nested(before), nested(after)
    if own(before) != own(after) or len(parts[0]) != len(parts[1]):
        return {key_of(before): after} if is_function else None
    found: dict[Key, CodeType] = {}
    for pair in zip(*parts, strict=True):
        each = changed_functions(*pair, within=is_function)
        if each is None:
            return None
        found |= each
    return {**found, key_of(before): after} if found and is_function else found


def functions_by_key(within: str = PACKAGE) -> dict[Key, list[FunctionType]]:
    """The functions in this process from files whose paths start so."""
    found: dict[Key, list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(within):
            found.setdefault(key_of(each.__code__), []).append(each)
    return found


def replace_code(functions: dict[Key, list[FunctionType]], changed: dict[Key, CodeType]) -> bool:
    """Replaces the code of changed functions; ``False`` if none of them is in this process."""
    is_done = False
    for key, code in changed.items():
        for function in functions.get(key, ()):
            if len(code.co_freevars) != len(function.__code__.co_freevars):
                return False
            function.__code__ = code
            is_done = True
    return is_done


def called(profile: cProfile.Profile) -> Iterator[Key]:
    """The functions of the package that a profile saw called."""
    for entry in profile.getstats():
        if isinstance(entry.code, CodeType) and entry.code.co_filename.startswith(PACKAGE):
            yield key_of(entry.code)


def words(text: str) -> set[str]:
    return set(re.findall("[a-z]{4,}", text.lower()))


def in_order(
    items: list[pytest.Item], groups: Iterable[Collection[str]], near: Sequence[Container[str]], text: str
) -> list[pytest.Item]:
    """The test cases of some groups, by the first group that has them, then the likeliest to fail for their seconds.

    ``near`` are the files nearest to the change and others that are near. A case is later the longer it and the cases
    of its function before it take, and the farther it is: each doubling counts as much as a step away. Among the cases
    of a function, those come first whose names share words with the ``text`` around the change.
    """
    seconds, cases = _affected.function_seconds(), Counter(function_of(item.nodeid) for item in items)
    ranks: dict[str, int] = {}
    for number, group in enumerate(groups):
        for case in group:
            ranks.setdefault(case, number)
    spent: defaultdict[tuple[int, str], float] = defaultdict(float)
    around = words(text)

    def key(item: pytest.Item) -> tuple[object, ...]:
        rank, function, file = ranks[item.nodeid], function_of(item.nodeid), item.nodeid.partition("::")[0]
        spent[rank, function] += max(seconds.get(function, 0) / cases[function], SHORTEST)
        distance = next((number for number, files in enumerate(near) if file in files), len(near))
        # file by file, to create the fixtures of a file once
        return rank, round(spent[rank, function] / SHORTEST).bit_length() + distance, file

    chosen = [item for item in items if item.nodeid in ranks]
    by_words = sorted(chosen, key=lambda item: -len(around & words(item.nodeid.partition("[")[2])))
    return sorted(by_words, key=key)


class Server:
    """A pytest plugin that answers requests instead of running the collected tests."""

    def __init__(self, requests: IO[str], answers: IO[str], ran: set[Key]) -> None:
        self._requests = requests
        self._answers = answers
        self._ran = ran
        """Functions that ran on import or during collection."""
        self._file: ChangedFile | None = None
        self._passing: set[str] = set()
        self._cases: Counter[str] = Counter()
        self._slow = _affected.slow()
        self._functions: dict[Key, list[FunctionType]] = {}
        self.failing: set[str] = set()
        """Test functions that fail without any change."""
        self.fresh: Callable[[list[pytest.Item], float, object], tuple[bool, str, bool]]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answers requests until the input ends."""
        gc.collect()
        self._functions = functions_by_key()  # now, since the collector does not list frozen objects
        gc.freeze()
        lines = TestLines()
        self._cases = Counter(function_of(item.nodeid) for item in session.items)
        for line in self._requests:
            started = time.perf_counter()
            asked = json.loads(line)
            file = self._file = ChangedFile(asked["path"], asked["after"])
            with file.changed():
                functions = changed_functions(*(compile(asked[n], str(file.file), "exec") for n in ("before", "after")))
                items, running = self._items(session.items, lines, asked, is_in_function=functions is not None)
                generators = [path for path in _affected.affected([asked["path"]]) if path.startswith("scripts/")]
                generators.sort(key=lambda path: path != asked["first"])
                seen, test, how = self._answer(functions, items, generators, asked)
            answer = {"seen": seen, "test": test, "how": how, "running": running, "failing": sorted(self.failing)}
            answer["seconds"] = round(time.perf_counter() - started, 1)
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()
        return True

    def _items(
        self, items: list[pytest.Item], lines: TestLines, asked: dict[str, Any], *, is_in_function: bool
    ) -> tuple[list[pytest.Item], int]:
        """The test cases for a change, the likeliest to fail first, and how many of them run the changed statement."""
        before, after = (asked[name].splitlines() for name in ("before", "after"))
        first = next(number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
        found = lines.cases(asked["path"], asked["before"], first + 1) if is_in_function else set()
        running = {case for case, _ in found}
        # a fixture or cache may run the statement only for the first test of a file that uses it
        sharing = {case.partition("::")[0] for case, _ in found}
        nearness = _affected.Nearness([])
        near = {test for rank in nearness.ranks()[:3] for test in rank(asked["path"])}
        distances = [near, set(nearness.neighbours(asked["path"]))]
        # statements that run on import, such as defaults, are not recorded: tests of the package come first, then those
        # that read the source
        affected = [{SOURCE_TESTS}, *({path} for path in _affected.affected([asked["path"]]))]
        files = [sharing, near] if found else [*distances, *affected]
        loading = set() if found else {case for case, _ in lines.cases(asked["path"], asked["before"], None)}
        of_files = [{item.nodeid for item in items if item.nodeid.partition("::")[0] in paths} for paths in files]
        text = "\n".join(before[max(first - AROUND, 0) : first + AROUND])
        remaining = [item for item in items if not self._is_left_out(item, asked["seconds"])]
        groups = [{asked["first"]}, running, *of_files[:3], loading, *of_files[3:]]
        return in_order(remaining, groups, distances, text), len(running)

    def _is_left_out(self, item: pytest.Item, seconds: float) -> bool:
        """Whether a case fails without any change, or it or the fixtures of its file take too long."""
        function, file = function_of(item.nodeid), item.nodeid.partition("::")[0]
        longest = max(self._slow.get(function, 0) / self._cases[function], self._slow.get(file, 0))
        return function in self.failing or longest > seconds / 2

    def _answer(
        self,
        functions: dict[Key, CodeType] | None,
        items: list[pytest.Item],
        generators: list[str],
        asked: dict[str, Any],
    ) -> tuple[bool, str, str]:
        if asked["first"] in generators and self._generated(generators[:1], 0)[0]:
            return True, asked["first"], "generated"
        for how, run in (("in place", self._forked), ("after import", self.fresh)):
            if how == "in place" and functions is None:
                continue
            seen, test, is_all = run(items, asked["seconds"], functions or {})
            while seen and test and is_all and not self._passes(test, items):
                items = [item for item in items if function_of(item.nodeid) not in self.failing]
                seen, test, is_all = run(items, asked["seconds"], functions or {})
            if seen:
                return True, test, how
            if how == "in place" and is_all and self._ran.isdisjoint(functions or {}):
                break
        return *self._generated(generators, asked["seconds"]), "generated"

    def _passes(self, test: str, items: list[pytest.Item]) -> bool:
        """Whether a test passes without any change; if not, later requests skip it."""
        if test in self._passing:
            return True
        chosen = [item for item in items if item.nodeid == test]
        if chosen:
            with self._file.unchanged() if self._file else contextlib.nullcontext():
                seen, _, _ = self._forked(chosen, MORE, {})
            if seen:
                self.failing.add(test.partition("[")[0])
                return False
        self._passing.add(test)
        return True

    def _generated(self, generators: list[str], seconds: float) -> tuple[bool, str]:
        """Whether a generator that reads the file reports a stale generated file, and which."""
        for path in _affected.within(generators, seconds, 1)[0]:
            done = subprocess.run([sys.executable, path, "--check"], capture_output=True, cwd=ROOT, check=False)
            if done.returncode:
                return True, path
        return False, ""

    def _forked(
        self, items: list[pytest.Item], seconds: float, functions: dict[Key, CodeType]
    ) -> tuple[bool, str, bool]:
        """Whether a test fails with the changed code, which, and whether the code could be replaced."""

        def run(report: Callable[[str], None]) -> None:
            if functions and not replace_code(self._functions, functions):
                report("absent")
                return
            run_tests(items, seconds, Failures(report))

        ended, line = in_fork(run, seconds)
        return not ended or line not in ("", "absent"), "" if line == "absent" else line, line != "absent"


class Failures:
    """Ends the process at the first failing test, or in the one that takes too long, and reports it."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._running = "collection"
        signal.signal(signal.SIGXCPU, self._end)

    def _end(self, *_: object) -> None:
        self._send(self._running)
        os._exit(0)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running = nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._send(report.nodeid)
            os._exit(0)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._send(report.nodeid or "collection")
            os._exit(0)


class ChangedFile:
    """A file whose text is replaced for a while, with a new time stamp so that cached bytecode is not used."""

    _times = 1_000_000_000

    def __init__(self, path: str, text: str) -> None:
        self.file = ROOT / path
        self._text = text
        self._before, self._stat = self.file.read_bytes(), self.file.stat()

    @contextlib.contextmanager
    def changed(self) -> Iterator[None]:
        """Writes the changed text to the file for the duration of the block."""
        self._put()
        try:
            yield
        finally:
            self._take_back()

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Restores the original text for the duration of a block within :meth:`changed`."""
        self._take_back()
        try:
            yield
        finally:
            self._put()

    def _put(self) -> None:
        ChangedFile._times += 1
        self.file.write_text(self._text, encoding="utf-8", newline="\n")
        os.utime(self.file, (ChangedFile._times, ChangedFile._times))

    def _take_back(self) -> None:
        self.file.write_bytes(self._before)
        os.utime(self.file, ns=(self._stat.st_atime_ns, self._stat.st_mtime_ns))


def run_tests(items: list[pytest.Item], seconds: float, plugin: object = None) -> None:
    """Runs tests in this process until the time budget is used up."""
    if items and plugin:
        items[0].config.pluginmanager.register(plugin)
    for item, following in zip(items, [*items[1:], None], strict=True):
        if cpu_seconds() > seconds:
            return
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def cpu_seconds() -> float:
    """CPU time of this process and its finished children."""
    return sum(os.times()[:4])


def in_fork(run: Callable[[Callable[[str], None]], None], seconds: float) -> tuple[bool, str]:
    """Calls ``run`` in a forked process, which may report one line; whether it ended normally, and that line."""
    reading, writing = os.pipe()
    place = tempfile.mkdtemp(prefix="mutant")
    process = os.fork()
    if not process:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + MORE, int(seconds) + 2 * MORE))
            os.environ.update(TMPDIR=place, PYTEST_DEBUG_TEMPROOT=place)
            tempfile.tempdir = place
            with Path(os.devnull).open("r+b") as nothing:
                for number in range(3):
                    os.dup2(nothing.fileno(), number)
            run(lambda line: (os.write(writing, line.encode()), None)[1])
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    line = b""
    ready = select.select([reading], [], [], LONGEST)[0]
    if ready:
        line = os.read(reading, 1 << 16)  # empty if the process reported nothing
    os.close(reading)
    if not ready or line:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with contextlib.suppress(ProcessLookupError):  # and its children
        os.killpg(process, signal.SIGKILL)
    shutil.rmtree(place, ignore_errors=True)
    return bool(line) or code == 0, line.decode()


class InOrder:
    """A pytest plugin that runs only some of the collected tests, in a fixed order."""

    def __init__(self, tests: list[str], seconds: float) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self._seconds = seconds

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = set(map(function_of, self._places))
        items = [item for item in session.items if function_of(item.nodeid) in functions]
        items.sort(key=lambda item: self._places.get(item.nodeid, len(self._places)))
        run_tests(items, self._seconds)
        return True


def run_after_import(tests: list[str], seconds: float, report: Callable[[str], None]) -> None:
    """Runs tests in a process that imports the package first."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    chosen, _ = _affected.within(list(files), 2 * seconds, 1)
    code = pytest.main([*OPTIONS, *chosen], plugins=[Failures(report), InOrder(tests, seconds)])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        report("collection")


def serve_fresh_imports(requests: IO[str], answers: IO[str]) -> None:
    """Answers requests with forks that import the package, until the input ends."""
    for request in requests:
        tests, seconds = json.loads(request)
        ended, line = in_fork(functools.partial(run_after_import, tests, seconds), seconds)
        answers.write(json.dumps([not ended or line != "", line if "::" in line else "", True]) + "\n")
        answers.flush()


class CollectionProfile:
    """A pytest plugin that records which functions of the package run until collection ends."""

    def __init__(self, ran: set[Key]) -> None:
        self._ran = ran
        self._profile = cProfile.Profile(builtins=False)
        self._profile.enable()

    def pytest_collection_finish(self) -> None:
        self._profile.disable()
        self._ran.update(called(self._profile))
        self._profile.clear()


def streams() -> Iterator[IO[str]]:
    """The input and output of this process, hidden from the tests."""
    for number, mode in ((0, "r"), (1, "w")):
        yield os.fdopen(os.dup(number), mode, encoding="utf-8")
    with Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)


def main() -> int:
    requests, answers = list(streams())
    for name in WARM:
        importlib.import_module(name)
    asking, asked = os.pipe()
    answering, answered = os.pipe()
    helper = os.fork()
    if not helper:
        os.close(asked)
        os.close(answering)
        serve_fresh_imports(os.fdopen(asking, encoding="utf-8"), os.fdopen(answered, "w", encoding="utf-8"))
        os._exit(0)
    os.close(asking)
    os.close(answered)
    to_helper, of_helper = os.fdopen(asked, "w", encoding="utf-8"), os.fdopen(answering, encoding="utf-8")

    ran: set[Key] = set()
    server = Server(requests, answers, ran)

    def fresh(items: list[pytest.Item], seconds: float, _: object) -> tuple[bool, str, bool]:
        to_helper.write(json.dumps([[item.nodeid for item in items], seconds]) + "\n")
        to_helper.flush()
        seen, test, is_all = json.loads(of_helper.readline())
        return seen, test, is_all

    server.fresh = fresh
    try:
        return int(pytest.main([*OPTIONS, str(ROOT / "tests")], plugins=[server, CollectionProfile(ran)]))
    finally:
        to_helper.close()
        os.waitpid(helper, 0)


if __name__ == "__main__":
    sys.exit(main())
