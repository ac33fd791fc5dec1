"""Jobs for workers, which other processes import by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from dml2onnx.batching.work import Task, perform
from dml2onnx.report.batched import Record


def by_name(task: Task) -> Record | None:
    """Misbehaves for models named ``dies``, ``fells``, ``hangs``, ``exits`` or ``leaves``, unless already known."""
    if task.known:
        return perform(task)
    name = task.model.path.stem
    if name == "dies":
        os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    if name == "fells":  # kills the parent process
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    if name == "exits":
        os._exit(3)
    if name == "hangs":
        time.sleep(1000)
    if name == "leaves":  # exits while writing
        assert task.output is not None
        task.output.parent.mkdir(parents=True, exist_ok=True)
        task.output.with_name(f".{task.output.name}.0123456789ab.partial").write_bytes(b"half")
        os._exit(4)
    return perform(task)


def slowly(task: Task) -> Record | None:
    """Performs the task after a delay."""
    time.sleep(0.05)
    return perform(task)


def number(item: int) -> int:
    """Returns the process ID; a negative number exits."""
    if item < 0:
        os._exit(-item)
    return os.getpid()


def sleeps(item: int) -> None:
    """Sleeps for this many seconds."""
    time.sleep(item)


def prints(item: int) -> int:
    """Prints to standard output, as libraries do."""
    print("chatter", flush=True)
    return item


class Unready:
    """Exits when it is unpickled in another process."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os._exit, (7,))

    def __call__(self, item: int) -> int:
        return item


def threads_of_sessions(item: int) -> int:
    """Returns the number of threads of a session in a worker."""
    from dml2onnx.runtime.sessions import SMALLEST_MODEL, open_session

    return int(open_session(SMALLEST_MODEL).get_session_options().intra_op_num_threads)


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Waits until a condition holds; fails after a time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
