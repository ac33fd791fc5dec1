"""Worker processes that handle one model after another; if one dies or takes too long, one model fails.

Pools such as pebble's can also end a worker after a timeout, but do not report which item a worker had or its exit
code, and count the imports of a new worker as time of its first item. The workers are not ``multiprocessing`` children:
those would import the caller's main module again, and daemonic processes, such as Dask's workers, may not start any.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from dml2onnx.batching.serving import READY
from dml2onnx.codes.running import WORKER_NOT_STARTED
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.providers.threads import SESSION_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    Message = tuple["_Worker", object]

START = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from dml2onnx.batching import serving; "
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", SESSION_THREADS)
"""Environment variables that default to 1 in workers, because there are as many workers as cores."""
GONE = object()
"""The last message of a worker: its process has ended."""
POLL = 0.2
"""Seconds between checks for timeouts and for signals, which do not interrupt a wait on every system."""
PATIENCE = 5.0
"""How many seconds an idle worker has to exit before it is killed."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker that ended without an answer."""

    why: Literal["died", "timeout"]
    detail: str
    seconds: float = 0.0
    """The time that it spent on the item."""


class Workers(Generic[Item]):
    """At most ``number`` processes that run ``call``, a picklable function, for one item at a time.

    Each item may take ``timeout`` seconds and ``max_bytes`` of memory (see :mod:`dml2onnx.batching.serving`);
    ``directory`` is the current directory of the processes.
    """

    def __init__(
        self,
        call: Callable[[Item], object],
        number: int,
        timeout: float | None = None,
        max_bytes: int | None = None,
        directory: str | None = None,
    ) -> None:
        self.capacity = number
        self._directory = directory
        self._setup = pickle.dumps(list(sys.path)) + pickle.dumps((call, max_bytes))
        self._timeout = timeout
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, Item] = {}
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def start(self, item: Item) -> None:
        """Gives an item to an idle or a new worker."""
        assert len(self._busy) < self.capacity
        worker = self._idle.pop() if self._idle else _Worker(self._setup, self._messages, self._directory)
        self._busy[worker] = item
        if worker.is_ready:
            self._send(worker, item)

    def _send(self, worker: _Worker, item: Item) -> None:
        worker.began = time.monotonic()
        worker.deadline = None if self._timeout is None else worker.began + self._timeout
        worker.send(item)

    def wait(self) -> tuple[Item, object]:
        """The next item with its answer, or with :class:`Ended`.

        Raises :class:`DmlError` (DML3036) if a worker exits before it is ready.
        """
        while True:
            late = next((item for item in self._busy if item.is_late), None)
            if late is not None:
                late.kill()
                return self._busy.pop(late), Ended("timeout", f"{self._timeout:g} seconds", late.seconds)
            try:
                worker, answer = self._messages.get(timeout=POLL)
            except queue.Empty:
                continue
            if worker not in self._busy:
                continue  # a late message of a killed worker
            if answer == READY and not worker.is_ready:
                worker.is_ready = True
                self._send(worker, self._busy[worker])
            elif answer is GONE:
                code = worker.kill()
                detail = f"by signal {-code}" if code < 0 else f"with exit code {code}"
                if not worker.is_ready:
                    message = f"a worker process ended before it was ready, {detail}"
                    raise DmlError(WORKER_NOT_STARTED.at(message, found=detail))
                return self._busy.pop(worker), Ended("died", detail, worker.seconds)
            else:
                worker.deadline = None
                self._idle.append(worker)
                return self._busy.pop(worker), answer

    def close(self) -> list[Item]:
        """Ends all workers, and returns their unfinished items."""
        unfinished = list(self._busy.values())
        for worker in self._busy:
            worker.kill()
        for worker in self._idle:
            worker.shut_down()
        self._busy, self._idle = {}, []
        return unfinished


class _Worker:
    """A process, and the thread that reads its messages."""

    def __init__(self, setup: bytes, messages: queue.SimpleQueue[Message], directory: str | None) -> None:
        self.is_ready = False
        self.began = 0.0
        self.deadline: float | None = None
        self._messages = messages
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{START}serving.serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=directory,
                env=dict.fromkeys(THREADS, "1") | os.environ,
                start_new_session=True,  # only the caller handles interrupts from the terminal
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            message = f"a worker process cannot be started in {quote(directory or os.getcwd())}: {error.strerror}"
            raise DmlError(WORKER_NOT_STARTED.at(message, found=str(error.strerror))) from None
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.write(setup)
            self._process.stdin.flush()
        Thread(target=self._listen, daemon=True).start()

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def send(self, item: object) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # the worker has died, which _listen reports
            pickle.dump(item, self._process.stdin)
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                self._messages.put((self, pickle.load(self._process.stdout)))
        self._messages.put((self, GONE))

    def kill(self) -> int:
        """Kills the process, and returns its exit code."""
        self._process.kill()
        return self._wait()

    def shut_down(self) -> None:
        """Lets an idle process exit."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._wait()

    def _wait(self) -> int:
        code = self._process.wait()
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        return code
