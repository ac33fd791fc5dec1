"""Request for workers, told by the name of the model; found by name in other processes."""

from __future__ import annotations

import os
import signal
import time

from dml2onnx.batching.work import Task, perform
from dml2onnx.report.batched import Record


def by_name(task: Task) -> Record | None:
    """Models called ``dies``, ``fells``, ``hangs``, ``exits`` or ``leaves`` do so; others are worked on.

    So are those that are known from an earlier call.
    """
    if task.known:
        return perform(task)
    name = task.model.path.stem
    if name == "dies":
        os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    if name == "fells":  # whoever has started this process
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    if name == "exits":
        os._exit(3)
    if name == "hangs":
        time.sleep(1000)
    if name == "leaves":  # in the midst of writing
        assert task.output is not None
        task.output.parent.mkdir(parents=True, exist_ok=True)
        task.output.with_name(f".{task.output.name}.0123456789ab.partial").write_bytes(b"half")
        os._exit(4)
    return perform(task)


def slowly(task: Task) -> Record | None:
    """As always, but not at once."""
    time.sleep(0.05)
    return perform(task)


def number(item: int) -> int:
    """The process that is asked; a negative number ends it."""
    if item < 0:
        os._exit(-item)
    return os.getpid()


def sleeps(item: int) -> None:
    """For so many seconds."""
    time.sleep(item)


def prints(item: int) -> int:
    """Says something on standard output, as libraries do."""
    print("chatter", flush=True)
    return item


class Unready:
    """What cannot be found in another process."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os._exit, (7,))

    def __call__(self, item: int) -> int:
        return item


def threads_of_sessions(item: int) -> int:
    """How many threads a session has in a worker."""
    from dml2onnx.runtime.sessions import SMALLEST_MODEL, open_session

    return int(open_session(SMALLEST_MODEL).get_session_options().intra_op_num_threads)
