"""Worker processes that handle one model after another; if one dies or takes too long, one model fails.

They are made with the standard library alone. Pools that end a worker after some time are to be had (pebble), but this
one has to know more: which model each worker is at, with which code it ended, and that it is there and has imported
everything before the time of its model begins. The workers are no children of ``multiprocessing``, so that neither a
caller's main module is imported once more nor a daemonic process, as Dask's workers are, is denied them.
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
"""One each where nothing else is said: there are as many workers as cores."""
GONE = object()
SLICE = 0.2
"""Seconds in which a signal is noticed on systems where waiting is not interrupted."""
PATIENCE = 5.0
"""Seconds that an idle worker has to end itself."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker that ended without an answer."""

    why: Literal["died", "timeout"]
    detail: str
    seconds: float = 0.0
    """That it has spent with the item."""


class Workers(Generic[Item]):
    """At most ``number`` processes that answer items with ``call``, one item at a time.

    ``call`` is found by its name in the worker, as pickle does. ``timeout`` are the seconds for an item, ``max_bytes``
    what an item may take of memory (see :mod:`dml2onnx.batching.serving`), and ``directory`` is where they work.
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
        self._begin = [pickle.dumps(list(sys.path)), pickle.dumps((call, max_bytes))]
        self._timeout = timeout
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, Item] = {}
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def start(self, item: Item) -> None:
        """Gives an item to an idle worker, or to a new one."""
        assert len(self._busy) < self.capacity
        worker = self._idle.pop() if self._idle else _Worker(self._begin, self._messages, self._directory)
        self._busy[worker] = item
        if worker.is_ready:
            self._give(worker, item)

    def _give(self, worker: _Worker, item: Item) -> None:
        worker.began = time.monotonic()
        worker.deadline = None if self._timeout is None else worker.began + self._timeout
        worker.send(item)

    def wait(self) -> tuple[Item, object]:
        """The next item with its answer, or with :class:`Ended`.

        :class:`DmlError` (DML3036) when workers end before they have begun.
        """
        while True:
            late = next((item for item in self._busy if item.is_late), None)
            if late is not None:
                late.end()
                return self._busy.pop(late), Ended("timeout", f"{self._timeout:g} seconds", late.seconds)
            try:
                worker, answer = self._messages.get(timeout=SLICE)
            except queue.Empty:
                continue
            if worker not in self._busy:
                continue  # it was ended, and this is the end of what it had to say
            if answer == READY and not worker.is_ready:
                worker.is_ready = True
                self._give(worker, self._busy[worker])
            elif answer is GONE:
                code = worker.end()
                if not worker.is_ready:
                    message = f"a worker process has ended before it was ready, {_how(code)}"
                    raise DmlError(WORKER_NOT_STARTED.at(message, found=_how(code)))
                return self._busy.pop(worker), Ended("died", _how(code), worker.seconds)
            else:
                worker.deadline = None
                self._idle.append(worker)
                return self._busy.pop(worker), answer

    def close(self) -> list[Item]:
        """Ends all workers, and returns the items that they were at."""
        unfinished = list(self._busy.values())
        for worker in self._busy:
            worker.end()
        for worker in self._idle:
            worker.dismiss()
        self._busy, self._idle = {}, []
        return unfinished


class _Worker:
    """A process, and the thread that hears what it says."""

    def __init__(self, begin: list[bytes], messages: queue.SimpleQueue[Message], directory: str | None) -> None:
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
                # interruptions of the terminal are the caller's
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            message = f"a worker process cannot be started in {quote(directory or os.getcwd())}: {error.strerror}"
            raise DmlError(WORKER_NOT_STARTED.at(message, found=str(error.strerror))) from None
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.write(b"".join(begin))
            self._process.stdin.flush()
        Thread(target=self._listen, daemon=True).start()

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def send(self, item: object) -> None:
        """What cannot be sent any more is not missed: the end of the worker will be heard."""
        assert self._process.stdin is not None
        with suppress(OSError):
            pickle.dump(item, self._process.stdin)
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                self._messages.put((self, pickle.load(self._process.stdout)))
        self._messages.put((self, GONE))

    def end(self) -> int:
        """Ends the process at once, and returns its exit code."""
        self._process.kill()
        return self._gone()

    def dismiss(self) -> None:
        """Lets an idle process end itself."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._gone()

    def _gone(self) -> int:
        code = self._process.wait()
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        return code


def _how(code: int) -> str:
    """An exit code in words."""
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
