"""Processes that work: what becomes of those that die, hang, or never begin."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dml2onnx.batching.serving import memory_limit
from dml2onnx.batching.workers import START, Ended, Workers
from dml2onnx.codes.running import WORKER_NOT_STARTED
from dml2onnx.diagnostics import quote
from dml2onnx.providers.threads import SESSION_THREADS
from tests.batching import jobs
from tests.refusals import refusal, refused

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


def answers(workers: Workers[int], items: list[int]) -> list[tuple[int, object]]:
    """What comes of all items, with as many at once as may be."""
    waiting, came, running = list(items), [], 0
    while waiting or running:
        while waiting and running < workers.capacity:
            workers.start(waiting.pop(0))
            running += 1
        came.append(workers.wait())
        running -= 1
    return came


def test_workers_are_used_again_and_replaced() -> None:
    workers = Workers(jobs.number, 1)
    try:
        came = answers(workers, [1, 2, -5, 3, 4])
    finally:
        workers.close()
    items, said = zip(*came, strict=True)
    assert items == (1, 2, -5, 3, 4)
    first, second, ended, third, fourth = said
    assert isinstance(ended, Ended)
    assert (ended.why, ended.detail) == ("died", "with exit code 5")
    assert first == second != third == fourth
    assert os.getpid() not in (first, third)


def test_what_libraries_print_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    workers = Workers(jobs.prints, 2)
    try:
        assert sorted(answers(workers, [1, 2, 3])) == [(1, 1), (2, 2), (3, 3)]
    finally:
        workers.close()
    out, err = capfd.readouterr()
    assert not out
    assert err.count("chatter") == 3


def test_a_worker_that_cannot_begin_is_no_fault_of_an_item() -> None:
    workers = Workers(jobs.Unready(), 1)
    workers.start(1)
    assert refused(workers.wait) == [WORKER_NOT_STARTED.id]
    assert workers.close() == [1]


def test_a_worker_that_cannot_be_started_says_where(tmp_path: Path) -> None:
    item = refusal(Workers(jobs.sleeps, 1, directory=str(tmp_path / "gone")).start, 1)
    place = quote(str(tmp_path / "gone"))
    assert item.message == f"a worker process cannot be started in {place}: No such file or directory"


def test_time_is_that_of_the_item() -> None:
    """Starting takes longer than the items may."""
    workers = Workers(jobs.sleeps, 1, timeout=0.05)
    try:
        came = answers(workers, [0, 30, 0])
    finally:
        workers.close()
    assert [item for item, _ in came] == [0, 30, 0]
    assert came[0][1] is came[2][1] is None
    ended = came[1][1]
    assert isinstance(ended, Ended)
    assert (ended.why, ended.detail) == ("timeout", "0.05 seconds")
    assert 0.05 <= ended.seconds < 30


@linux
def test_workers_end_with_their_caller(tmp_path: Path) -> None:
    """Also those that are at work, when nobody is left to end them."""
    child = os.fork()
    if not child:  # a caller that is killed at once
        workers = Workers(jobs.sleeps, 1)
        workers.start(1000)
        (tmp_path / "pid").write_text(str(next(iter(workers._busy))._process.pid))
        time.sleep(1000)
    pid = tmp_path / "pid"
    _until(lambda: pid.exists() and pid.read_text() != "")
    worker = Path("/proc") / pid.read_text()
    os.kill(child, 9)
    os.waitpid(child, 0)
    _until(lambda: not worker.exists() or "zombie" in (worker / "status").read_text())


def test_workers_end_quietly_where_nobody_hears_them() -> None:
    """A caller that has gone before they are ready."""
    command = [sys.executable, "-c", f"{START}serving.serve()"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **streams) as process:  # type: ignore[call-overload]
        process.stdout.close()
        process.stdin.write(pickle.dumps(list(sys.path)) + pickle.dumps((jobs.sleeps, None)))
        process.stdin.flush()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


def _until(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@linux
def test_memory_is_limited_while_an_item_is_worked_on() -> None:
    import numpy as np

    with memory_limit(1 << 24), pytest.raises(MemoryError):
        np.zeros(1 << 28, np.uint8)
    assert np.zeros(1 << 26, np.uint8).size == 1 << 26
    with memory_limit(None):
        assert np.zeros(1 << 26, np.uint8).size == 1 << 26


@pytest.mark.parametrize(("stated", "number"), [(None, 1), ("3", 3), ("many", 0)])
def test_sessions_of_workers_share_the_machine(
    monkeypatch: pytest.MonkeyPatch, stated: str | None, number: int
) -> None:
    """One thread each, if nothing else is said; 0 leaves it to ONNX Runtime."""
    monkeypatch.delenv(SESSION_THREADS, raising=False)
    if stated is not None:
        monkeypatch.setenv(SESSION_THREADS, stated)
    workers = Workers(jobs.threads_of_sessions, 1)
    workers.start(0)
    assert workers.wait() == (0, number)
    workers.close()
