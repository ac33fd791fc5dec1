"""The workers of a Dask cluster, for models that outgrow one machine.

Each thread of its workers keeps a process of :mod:`dml2onnx.batching.workers`, which alone can be ended for its
time or its memory: Dask ends no task that runs. What ends a worker of the cluster, and be it its machine, costs no
model: Dask gives the tasks to another one, as often as its scheduler has it (distributed.scheduler.allowed-failures).
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from dml2onnx import __version__
from dml2onnx.batching.workers import Ended, Workers
from dml2onnx.codes.running import WORKER_NOT_STARTED
from dml2onnx.diagnostics import DmlError, quote, shortened

try:
    import distributed
except ImportError:
    message = 'a Dask cluster needs a package that is not installed here: pip install "dml2onnx[dask]"'
    raise DmlError(WORKER_NOT_STARTED.at(message, expected="the package distributed", found="none")) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.batching.work import Task

UNDER_WAY = 1000
"""Tasks that the cluster has at once, however large it becomes meanwhile."""
CONNECTING = 5
"""Seconds in which a scheduler answers: who waits longer has mistyped its address."""


async def _reached(address: str) -> None:
    """Connects to a scheduler, and leaves again.

    The timeout of a client is for the connection alone: who takes it and then says nothing is waited for for ever.
    """
    arguments = distributed.Security().get_connection_args("client")
    try:
        async with asyncio.timeout(CONNECTING):
            comm = await distributed.comm.connect(address, timeout=CONNECTING, **arguments)
    except TimeoutError:
        raise OSError(f"what is there does not answer as one within {CONNECTING} s") from None
    comm.abort()


class Cluster:
    """Answers tasks with ``call`` on the cluster whose scheduler is at ``address``, such as tcp://10.0.0.1:8786.

    :class:`DmlError` (DML3036) where there is none, where its workers have another dml2onnx, and when it goes away.
    """

    capacity = UNDER_WAY

    def __init__(
        self,
        call: Callable[[Task], object],
        address: str,
        timeout: float | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self._tasks: dict[str, Task] = {}
        self._futures: dict[str, distributed.Future] = {}
        self._name = f"dml2onnx-{uuid.uuid4().hex}"
        try:
            with ThreadPoolExecutor(1) as thread:  # there may be an event loop in this one
                thread.submit(asyncio.run, _reached(address)).result()
            self._client = distributed.Client(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError) as error:
            text = f"there is no Dask scheduler at {quote(address)}: {shortened(str(error))}"
            raise DmlError(WORKER_NOT_STARTED.at(text, expected="the address of a scheduler", found=address)) from None
        try:
            self._require_version()
            plugin = Processes(self._name, call, timeout, max_bytes, os.getcwd())
            self._client.register_plugin(plugin, name=self._name)
            self._ended = distributed.as_completed(loop=self._client.loop)
        except BaseException:
            self._client.close()
            raise

    def _require_version(self) -> None:
        found = {str(version) for version in self._client.run(version).values()} - {__version__}
        if found:
            text = f"workers of the cluster have dml2onnx {', '.join(sorted(found))}, not {__version__}"
            raise DmlError(WORKER_NOT_STARTED.at(text, expected=__version__, found=", ".join(sorted(found))))

    def start(self, item: Task) -> None:
        """Submits a task."""
        key = f"{self._name}-{uuid.uuid4().hex}"
        self._tasks[key] = item
        self._futures[key] = self._client.submit(answer, self._name, item, key=key, pure=False)
        self._ended.add(self._futures[key])

    def wait(self) -> tuple[Task, object]:
        """The next task that is done, with its answer."""
        future = next(self._ended)
        task = self._tasks.pop(future.key)
        del self._futures[future.key]
        if future.status == "finished":
            return task, future.result()
        if future.status == "cancelled":
            text = "the Dask scheduler has gone"
            raise DmlError(WORKER_NOT_STARTED.at(text, found="no scheduler"))
        error = future.exception()
        if isinstance(error, distributed.KilledWorker):
            return task, Ended("died", "with a worker of the cluster")
        raise error

    def close(self) -> Sequence[Task]:
        """Takes back what is under way, and leaves the cluster as it was."""
        unfinished = list(self._tasks.values())
        with suppress(OSError):  # a scheduler that has gone, which is said of what it was at
            self._client.cancel(list(self._futures.values()), force=True)
            self._client.unregister_worker_plugin(self._name)
        with suppress(OSError):
            self._client.close()
        return unfinished


class Processes(distributed.WorkerPlugin):  # type: ignore[misc]  # it has no types
    """What a worker of the cluster keeps: as many processes as it has had threads at work at once."""

    def __init__(
        self,
        name: str,
        call: Callable[[Task], object],
        timeout: float | None,
        max_bytes: int | None,
        directory: str,
    ) -> None:
        self.name = name
        self._how = (call, 1, timeout, max_bytes, directory)
        self._idle: deque[Workers[Task]] = deque()

    def answer(self, task: Task) -> object:
        """Has the task done by a process of this machine."""
        try:
            workers = self._idle.pop()
        except IndexError:
            workers = Workers(*self._how)
        try:
            workers.start(task)
            _, said = workers.wait()
        except BaseException:
            workers.close()
            raise
        self._idle.append(workers)
        return said

    def teardown(self, worker: object) -> None:
        """Ends the processes."""
        while self._idle:
            self._idle.pop().close()


def answer(name: str, task: Task) -> object:
    """The answer to a task, on a worker of the cluster."""
    plugin = distributed.get_worker().plugins[name]
    return plugin.answer(task)


def version() -> str:
    """That of dml2onnx, on a worker of the cluster."""
    return __version__
