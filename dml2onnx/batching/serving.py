"""The worker process of :mod:`dml2onnx.batching.workers`: reads items from standard input, writes answers.

A worker exits as soon as its caller has exited, even in the middle of an item.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

READY = "ready"
"""The first message, after all imports."""
OOM_SCORE = "500"
"""Makes Linux kill a worker before its caller when memory runs out: https://man7.org/linux/man-pages/man5/proc.5.html"""


def serve() -> None:
    """Answers items until the caller exits."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print to standard error
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE, encoding="ascii")
    call, max_bytes = pickle.load(requests)
    items: queue.SimpleQueue[object] = queue.SimpleQueue()
    Thread(target=_listen, args=(requests, items), daemon=True).start()
    _send(answers, READY)
    while True:
        item = items.get()
        with memory_limit(max_bytes):
            answer = call(item)
        _send(answers, answer)


def _listen(requests: BinaryIO, items: queue.SimpleQueue[object]) -> None:
    with suppress(EOFError, OSError):
        while True:
            items.put(pickle.load(requests))
    os._exit(0)


def _send(answers: BinaryIO, answer: object) -> None:
    try:
        pickle.dump(answer, answers)
        answers.flush()
    except BrokenPipeError:
        os._exit(0)  # sys.exit would wait for the thread that reads


@contextmanager
def memory_limit(max_bytes: int | None) -> Iterator[None]:
    """On Linux, raises MemoryError if this process allocates ``max_bytes`` more than it has now.

    The limit counts private writable memory (RLIMIT_DATA), not mapped files.
    """
    if max_bytes is None or sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _data_bytes() + max_bytes
    if before[1] != resource.RLIM_INFINITY:
        limit = min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _data_bytes() -> int:
    """The bytes that RLIMIT_DATA counts now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0
