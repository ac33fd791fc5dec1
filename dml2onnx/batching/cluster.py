"""Processes models on the workers of a Dask cluster.

Each thread of a Dask worker has a process of :mod:`dml2onnx.batching.workers`, because Dask cannot end a running task
for its time or its memory. If a worker of the cluster dies, even with its machine, no model is lost: Dask gives its
tasks to another one, up to ``distributed.scheduler.allowed-failures`` times.
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
    message = 'a Dask cluster needs a package that is not installed: pip install "dml2onnx[dask]"'
    raise DmlError(WORKER_NOT_STARTED.at(message, expected="the package distributed", found="none")) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.batching.work import Task

MOST_TASKS = 1000
"""The limit for tasks in the cluster at once; its size may change."""
CONNECTING = 5
"""Seconds for a scheduler to answer; after that its address is probably wrong."""


async def _connect(address: str) -> None:
    """Connects to a scheduler and disconnects.

    The timeout of a client is for the connection only: it waits forever for a server that accepts and never answers.
    """
    arguments = distributed.Security().get_connection_args("client")
    try:
        async with asyncio.timeout(CONNECTING):
            comm = await distributed.comm.connect(address, timeout=CONNECTING, **arguments)
    except TimeoutError:
        raise OSError(f"no answer of a scheduler within {CONNECTING} s") from None
    comm.abort()


class Cluster:
    """Runs ``call`` for tasks on the cluster whose scheduler is at ``address``, such as tcp://10.0.0.1:8786.

    Raises :class:`DmlError` (DML3036) if there is no scheduler, its workers have another version, or it exits.
    """

    capacity = MOST_TASKS

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
            with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop
                thread.submit(asyncio.run, _connect(address)).result()
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
        """The next finished task, with its answer."""
        future = next(self._ended)
        task = self._tasks.pop(future.key)
        del self._futures[future.key]
        if future.status == "finished":
            return task, future.result()
        if future.status == "cancelled":
            raise DmlError(WORKER_NOT_STARTED.at("the Dask scheduler has exited", found="no scheduler"))
        error = future.exception()
        if isinstance(error, distributed.KilledWorker):
            return task, Ended("died", "with a worker of the cluster")
        raise error

    def close(self) -> Sequence[Task]:
        """Cancels the running tasks and returns them, and cleans up the cluster."""
        unfinished = list(self._tasks.values())
        with suppress(OSError):  # the scheduler has exited, which other errors report
            self._client.cancel(list(self._futures.values()), force=True)
            self._client.unregister_worker_plugin(self._name)
        with suppress(OSError):
            self._client.close()
        return unfinished


class Processes(distributed.WorkerPlugin):  # type: ignore[misc]  # it has no types
    """The processes of a worker of the cluster, as many as it has used threads at once."""

    def __init__(
        self,
        name: str,
        call: Callable[[Task], object],
        timeout: float | None,
        max_bytes: int | None,
        directory: str,
    ) -> None:
        self.name = name
        self._arguments = (call, 1, timeout, max_bytes, directory)
        self._idle: deque[Workers[Task]] = deque()

    def answer(self, task: Task) -> object:
        """Runs the task in a process of this machine."""
        try:
            workers = self._idle.pop()
        except IndexError:
            workers = Workers(*self._arguments)
        try:
            workers.start(task)
            _, result = workers.wait()
        except BaseException:
            workers.close()
            raise
        self._idle.append(workers)
        return result

    def teardown(self, worker: object) -> None:
        """Ends the processes."""
        while self._idle:
            self._idle.pop().close()


def answer(name: str, task: Task) -> object:
    """Runs a task on a worker of the cluster."""
    plugin = distributed.get_worker().plugins[name]
    return plugin.answer(task)


def version() -> str:
    """The version of dml2onnx on a worker of the cluster."""
    return __version__
