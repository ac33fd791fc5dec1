"""Tests in several processes, which fork from one that has collected them: ``pytest --forks 2``.

Processes that each import and collect everything, and tell a third one of each test, cost a tenth of all. Here a
process is given a file of tests at a time, those with the slowest functions first, so that none waits for another at
the end. A directory whose own session fixtures the tests share is one piece.

Where there is no fork, as on Windows, ``pytest -n`` of pytest-xdist does the same.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import selectors
import socket
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from tests import selection

NAME = "DML2ONNX_TEST_PROCESS"
"""The variable of the environment that names the process, as ``PYTEST_XDIST_WORKER`` does."""


def pieces(items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> list[list[pytest.Item]]:
    """The tests in pieces that a process runs as a whole, those that take longest first; ``seconds`` are of a name."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(_piece_of(item), []).append(item)

    def expected(piece: list[pytest.Item]) -> float:
        names = {selection.function_of(item.nodeid) for item in piece}
        return sum(seconds.get(name, 0) for name in names | {name.partition("::")[0] for name in names})

    return sorted(found.values(), key=expected, reverse=True)


def _piece_of(item: pytest.Item) -> str:
    file = item.nodeid.partition("::")[0]
    fixtures = getattr(item, "_fixtureinfo", None)
    for definitions in fixtures.name2fixturedefs.values() if fixtures else ():
        place = definitions[-1].baseid
        if definitions[-1].scope == "session" and place.count("/") and not place.endswith(".py") and "::" not in place:
            return str(place)
    return file


@dataclass
class Process:
    """A process that runs tests."""

    pid: int
    connection: socket.socket
    given: deque[list[pytest.Item]] = field(default_factory=deque)
    """What it was given and has not said to have ended."""
    running: pytest.Item | None = None
    received: bytearray = field(default_factory=bytearray)

    def messages(self) -> Iterable[tuple[Any, ...]]:
        """What it has said; ends with ``("gone",)`` where it says no more."""
        try:
            data = self.connection.recv(1 << 20)
        except ConnectionResetError:  # it has ended without reading what it was given
            data = b""
        self.received += data
        while len(self.received) >= SIZE:
            end = SIZE + int.from_bytes(self.received[:SIZE], "little")
            if len(self.received) < end:
                break
            message = pickle.loads(self.received[SIZE:end])
            del self.received[:end]
            yield message
        if not data:
            yield ("gone",)


SIZE = 4
"""Bytes before a message that say how many it has."""


def _send(connection: socket.socket, *message: object) -> None:
    packed = pickle.dumps(message)
    connection.sendall(len(packed).to_bytes(SIZE, "little") + packed)


class Forks:
    """A plugin of pytest that runs all tests in forks, and reports what these tell."""

    def __init__(self, config: pytest.Config, number: int, seconds: Mapping[str, float]) -> None:
        self._config = config
        self._number = number
        self._seconds = seconds
        self._waiting: deque[list[pytest.Item]] = deque()
        self._places: dict[pytest.Item, int] = {}
        self._selector = selectors.DefaultSelector()
        self._numbers = iter(range(1 << 30))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or self._config.option.collectonly:
            return None  # which says so
        self._waiting = deque(pieces(session.items, self._seconds))
        self._places = {item: place for place, item in enumerate(session.items)}
        try:
            for _ in range(min(self._number, len(self._waiting))):
                self._start(session)
            while self._selector.get_map():
                for key, _ in self._selector.select():
                    for message in key.data.messages():
                        self._take(session, key.data, message)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        finally:
            for key in list(self._selector.get_map().values()):
                key.data.connection.close()  # at which it ends
        return True

    def _start(self, session: pytest.Session) -> None:
        """Makes one more process."""
        number = next(self._numbers)
        here, there = socket.socketpair()
        if pid := os.fork():
            there.close()
            self._selector.register(here, selectors.EVENT_READ, Process(pid, here))
            return
        here.close()
        for key in self._selector.get_map().values():
            key.data.connection.close()
        _Runner(self._config, session, there, number).run(self)

    def _take(self, session: pytest.Session, process: Process, message: tuple[Any, ...]) -> None:
        """Does what a message asks for."""
        hook = self._config.hook
        match message:
            case ("next",):
                piece = self._waiting.popleft() if self._waiting else []
                process.given.append(piece)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    _send(process.connection, [self._places[item] for item in piece])
            case "start", place:
                process.running = item = session.items[place]
                hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            case "report", data:
                report = hook.pytest_report_from_serializable(config=self._config, data=data)
                hook.pytest_runtest_logreport(report=report)
            case ("finish",) if process.running is not None:
                item, process.running = process.running, None
                hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
                process.given[0].remove(item)
                if not process.given[0]:
                    process.given.popleft()
            case "warning", recorded:
                hook.pytest_warning_recorded.call_historic(kwargs=recorded)
            case ("gone",):
                self._selector.unregister(process.connection)
                process.connection.close()
                _, status = os.waitpid(process.pid, 0)
                self._lost(session, process, os.waitstatus_to_exitcode(status))

    def _lost(self, session: pytest.Session, process: Process, code: int) -> None:
        """What a process leaves that has ended: nothing, if all is well."""
        item = process.running
        if item is not None:
            text = f"the process ended with {code} while it ran {item.nodeid}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
            self._config.hook.pytest_runtest_logreport(report=report)
            process.given[0].remove(item)
        elif code:
            raise RuntimeError(f"a process ended with {code} and ran no test")
        self._waiting.extendleft(piece for piece in process.given if piece)
        if self._waiting:
            self._start(session)


class _Runner:
    """A process that runs what it is given."""

    def __init__(self, config: pytest.Config, session: pytest.Session, connection: socket.socket, number: int) -> None:
        self._config = config
        self._session = session
        self._connection = connection
        self._file = connection.makefile("rb")
        self._places = {item: place for place, item in enumerate(session.items)}
        os.environ[NAME] = f"fork{number}"

    def run(self, parent: Forks) -> NoReturn:
        """Runs tests until there are no more; whoever forked it sees what it says."""
        atexit._clear()
        manager = self._config.pluginmanager
        capture: Any = manager.getplugin("capturemanager")
        capture.suspend_global_capture(in_=True)
        capture.read_global_capture()
        capture.stop_global_capturing()
        for plugin in (parent, manager.getplugin("terminalreporter"), manager.getplugin("durations")):
            if plugin is not None:
                manager.unregister(plugin)
        manager.register(self)
        writer = pytest.TerminalReporter(self._config, sys.stderr)  # of which pytest-timeout asks where to write
        manager.register(SimpleNamespace(_tw=writer._tw), "terminalreporter")
        capture.start_global_capturing()  # into files of its own
        capture.suspend_global_capture(in_=True)
        code = 1
        try:
            self._run()
            code = 0
        except (BrokenPipeError, ConnectionResetError, EOFError):  # the tests were stopped
            pass
        except BaseException:
            capture.suspend_global_capture(in_=True)
            traceback.print_exc()  # and the other process says in which test
        finally:
            atexit._run_exitfuncs()
            # ONNX Runtime's threads are those of the process that forked, which it would wait for
            os._exit(code)

    def _run(self) -> None:
        piece = self._next()
        while piece:
            following: list[pytest.Item] = []
            for item, then in zip(piece, [*piece[1:], None], strict=True):
                if then is None:  # before the last test: fixtures that are needed no more end with it
                    following = self._next()
                    then = following[0] if following else None
                _send(self._connection, "start", self._places[item])
                self._config.hook.pytest_runtest_protocol(item=item, nextitem=then)
                _send(self._connection, "finish")
            piece = following

    def _next(self) -> list[pytest.Item]:
        _send(self._connection, "next")
        size = int.from_bytes(self._file.read(SIZE), "little")
        (places,) = pickle.loads(self._file.read(size))
        return [self._session.items[place] for place in places]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        _send(self._connection, "report", data)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        recorded = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        warning_message.source = None
        with contextlib.suppress(Exception):  # of some there is no more than their text
            _send(self._connection, "warning", recorded)
