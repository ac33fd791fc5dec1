"""Runs tests on changed code in forks of a process that has imported and collected all of them: for ``mutants.py``.

Each line of the input is a request, ``{"path": ..., "before": ..., "after": ..., "seconds": ...}`` in JSON: a file,
its text, the text that it has instead, and for how long tests may start. Each line of the output is an answer:
``{"seen": ..., "test": ..., "failing": [...]}``. The tests that concern the file come first, in the order of
``_affected.py``.

A change within functions is made in the functions of the fork, whose programs find it in the file. Where that would
not do, because code runs that a module or the collection has run already, a fork of a process that has imported
nothing of the package imports all anew.
"""

from __future__ import annotations

import contextlib
import cProfile
import functools
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any

import _affected
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(ROOT / "dml2onnx") + os.sep
OPTIONS = ("--cases", "each", "-n", "0", "-s", "-p", "no:cacheprovider")
WARM = ("numpy", "onnx.helper", "onnx.reference", "onnxruntime", "hypothesis", "networkx", "flatbuffers", "rich")
"""What the tests import besides the package."""
MORE = 60
"""CPU seconds that a fork has besides those in which tests may start: what has not ended then counts as seen."""
LONGEST = 900.0
"""So do seconds of any kind, in which a fork waits for something."""
Key = tuple[str, str, int]
"""A function: its file, its name, its first line."""


def key_of(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def nested(code: CodeType) -> list[CodeType]:
    """The functions, classes and comprehensions in some code."""
    return [value for value in code.co_consts if isinstance(value, CodeType)]


def own(code: CodeType) -> tuple[object, ...]:
    """What some code does by itself."""
    constants = tuple(None if isinstance(value, CodeType) else repr(value) for value in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def changed_functions(before: CodeType, after: CodeType, *, within: bool = False) -> dict[Key, CodeType] | None:
    """The functions that have other code, and that code; ``None`` where code outside of functions has."""
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


def put_in(changed: dict[Key, CodeType]) -> bool:
    """Gives the functions of this process their other code; ``False`` where there is none of the outermost of them."""
    done = set()
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        code = changed.get(key_of(function.__code__))
        if code is not None:
            done.add(key_of(function.__code__))
            if len(code.co_freevars) != len(function.__code__.co_freevars):
                return False
            function.__code__ = code
    return bool(done)


class Server:
    """What has collected the tests, and answers."""

    def __init__(self, requests: IO[str], answers: IO[str], ran: set[Key]) -> None:
        self._requests = requests
        self._answers = answers
        self._ran = ran
        """The functions that imports and the collection have called."""
        self._file: ChangedFile | None = None
        self._passing: set[str] = set()
        self.failing: set[str] = set()
        """Functions of tests that fail without any change."""
        self.anew: Callable[[list[str], float], tuple[bool, str]] = lambda tests, seconds: (False, "")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answers all requests, instead of running tests."""
        gc.collect()
        gc.freeze()
        files: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        slow = _affected.slow()
        for line in self._requests:
            started = time.perf_counter()
            asked = json.loads(line)
            near = _affected.affected([asked["path"]])
            items = [item for file in near for item in files.get(file, ()) if not self._is_left_out(item, slow, asked)]
            file = self._file = ChangedFile(asked["path"], asked["after"])
            with file.changed():
                code = [compile(asked[name], str(file.file), "exec") for name in ("before", "after")]
                seen, test, how = self._answer(changed_functions(*code), items, near, asked["seconds"])
            answer = {"seen": seen, "test": test, "how": how, "failing": sorted(self.failing)}
            answer["seconds"] = round(time.perf_counter() - started, 1)
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()
        return True

    def _is_left_out(self, item: pytest.Item, slow: dict[str, float], asked: dict[str, Any]) -> bool:
        file, _, _ = item.nodeid.partition("::")
        function = item.nodeid.partition("[")[0]
        longest = max(slow.get(function, 0), slow.get(file, 0))
        return function in self.failing or longest > asked["seconds"] / 2

    def _answer(
        self, functions: dict[Key, CodeType] | None, items: list[pytest.Item], near: list[str], seconds: float
    ) -> tuple[bool, str, str]:
        how = "anew"
        if functions is not None:
            while True:
                seen, test, is_in = self._forked(items, seconds, functions)
                if not is_in or not test or self._passes(test, items):
                    break
                items = [item for item in items if item.nodeid.partition("[")[0] not in self.failing]
            how = "in place"
            if seen or (is_in and self._ran.isdisjoint(functions)):
                return (True, test, how) if seen else (*self._generated(near, seconds), "generated")
        tests = [file for file in near if file.startswith("tests/")]
        while True:
            seen, test = self.anew(tests, seconds)
            if not seen or not test or self._passes(test, items):
                return (True, test, how) if seen else (*self._generated(near, seconds), "generated")

    def _passes(self, test: str, items: list[pytest.Item]) -> bool:
        """Whether a test passes without any change; else it is left out from now on."""
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

    def _generated(self, near: list[str], seconds: float) -> tuple[bool, str]:
        """Whether a generator that concerns the file says that what it writes is another."""
        chosen, _ = _affected.within(near, seconds, 1)
        for path in chosen:
            if path.startswith("scripts/"):
                done = subprocess.run([sys.executable, path, "--check"], capture_output=True, cwd=ROOT, check=False)
                if done.returncode:
                    return True, path
        return False, ""

    def _forked(
        self, items: list[pytest.Item], seconds: float, functions: dict[Key, CodeType]
    ) -> tuple[bool, str, bool]:
        """Whether a test fails with other code, which, and whether that code could be put in."""

        def run(say: Callable[[str], None]) -> None:
            if functions and not put_in(functions):
                say("absent")
                return
            config = items[0].config if items else None
            if config is not None:
                config.pluginmanager.register(Failures(say))
            for item, following in zip(items, [*items[1:], None], strict=True):
                if cpu_seconds() > seconds:
                    return
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

        ended, said = in_fork(run, seconds)
        return not ended or said not in ("", "absent"), "" if said == "absent" else said, said != "absent"


class Failures:
    """Ends the process at the first test that fails, and says which."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._say(report.nodeid)
            os._exit(0)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(report.nodeid or "collection")
            os._exit(0)


class ChangedFile:
    """A file that has another text for a while, and a time of its own, or compiled modules are taken for it."""

    _times = 1_000_000_000

    def __init__(self, path: str, text: str) -> None:
        self.file = ROOT / path
        self._text = text
        self._before, self._stat = self.file.read_bytes(), self.file.stat()

    @contextlib.contextmanager
    def changed(self) -> Iterator[None]:
        """With the other text."""
        self._put()
        try:
            yield
        finally:
            self._take_back()

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """With its own text again, inside of :meth:`changed`."""
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


def cpu_seconds() -> float:
    """What this process has used, and those that it started and that have ended."""
    return sum(os.times()[:4])


def in_fork(run: Callable[[Callable[[str], None]], None], seconds: float) -> tuple[bool, str]:
    """Does something in a process of its own, which may say one line; whether it ended in time, and that line."""
    reading, writing = os.pipe()
    place = tempfile.mkdtemp(prefix="mutant")
    process = os.fork()
    if not process:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + MORE, int(seconds) + MORE))
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
    said = b""
    ready = select.select([reading], [], [], LONGEST)[0]
    if ready:
        said = os.read(reading, 1 << 16)  # nothing at the end of the process
    os.close(reading)
    if not ready or said:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with contextlib.suppress(ProcessLookupError):  # what it started, too
        os.killpg(process, signal.SIGKILL)
    shutil.rmtree(place, ignore_errors=True)
    return bool(said) or code == 0, said.decode()


def run_anew(tests: list[str], seconds: float, failing: list[str], say: Callable[[str], None]) -> None:
    """Runs test files, with all that they import."""
    chosen, _ = _affected.within(tests, seconds, 1)
    left_out = [f"--deselect={test}" for test in failing]
    more = [_affected.leave_out(_affected.longer_than(seconds / 2))]
    code = pytest.main([*OPTIONS, "-x", *left_out, *more, *chosen], plugins=[Failures(say)])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        say("collection")


def imports_anew(asking: IO[str], answering: IO[str]) -> None:
    """Runs test files in forks that import the package, until the input ends."""
    for line in asking:
        tests, seconds, failing = json.loads(line)
        ended, said = in_fork(functools.partial(run_anew, tests, seconds, failing), seconds)
        answering.write(json.dumps([not ended or said != "", said if "::" in said else ""]) + "\n")
        answering.flush()


class Calls:
    """Notes the functions of the package that are called until all tests are collected."""

    def __init__(self, ran: set[Key]) -> None:
        self._ran = ran
        self._profile = cProfile.Profile(builtins=False)
        self._profile.enable()

    def pytest_collection_finish(self) -> None:
        self._profile.disable()
        codes = [entry.code for entry in self._profile.getstats() if isinstance(entry.code, CodeType)]
        self._ran.update(key_of(code) for code in codes if code.co_filename.startswith(PACKAGE))
        self._profile.clear()


def streams() -> Iterator[IO[str]]:
    """The input and the output of this process, of which tests then see neither."""
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
        imports_anew(os.fdopen(asking, encoding="utf-8"), os.fdopen(answered, "w", encoding="utf-8"))
        os._exit(0)
    os.close(asking)
    os.close(answered)
    to_helper, of_helper = os.fdopen(asked, "w", encoding="utf-8"), os.fdopen(answering, encoding="utf-8")

    ran: set[Key] = set()
    server = Server(requests, answers, ran)

    def anew(tests: list[str], seconds: float) -> tuple[bool, str]:
        to_helper.write(json.dumps([tests, seconds, sorted(server.failing)]) + "\n")
        to_helper.flush()
        seen, test = json.loads(of_helper.readline())
        return seen, test

    server.anew = anew
    try:
        return int(pytest.main([*OPTIONS, str(ROOT / "tests")], plugins=[server, Calls(ran)]))
    finally:
        to_helper.close()
        os.waitpid(helper, 0)


if __name__ == "__main__":
    sys.exit(main())
