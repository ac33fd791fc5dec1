"""Worker processes, including those that die, hang, or never start."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from dml2onnx.batching.serving import memory_limit
from dml2onnx.batching.workers import START, Ended, Workers
from dml2onnx.codes.running import WORKER_NOT_STARTED
from dml2onnx.diagnostics import quote
from dml2onnx.providers.threads import SESSION_THREADS
from tests.batching import jobs
from tests.refusals import refusal, refused

Answers: TypeAlias = "list[tuple[int, object]]"
linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


def answers(call: Callable[[int], object], count: int, items: list[int], timeout: float | None = None) -> Answers:
    """Works on all items, as many at once as possible; returns the results as they come."""
    workers = Workers(call, count, timeout=timeout)
    waiting, results, running = list(items), [], 0
    try:
        while waiting or running:
            while waiting and running < workers.capacity:
                workers.start(waiting.pop(0))
                running += 1
            results.append(workers.wait())
            running -= 1
    finally:
        workers.close()
    return results


def test_workers_are_reused_and_replaced() -> None:
    results = answers(jobs.number, 1, [1, 2, -5, 3, 4])
    assert [item for item, _ in results] == [1, 2, -5, 3, 4]
    first, second, ended, third, fourth = (result for _, result in results)
    assert isinstance(ended, Ended)
    assert (ended.why, ended.detail) == ("died", "with exit code 5")
    assert first == second != third == fourth
    assert os.getpid() not in (first, third)


def test_output_of_libraries_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert sorted(answers(jobs.prints, 2, [1, 2, 3])) == [(1, 1), (2, 2), (3, 3)]
    out, err = capfd.readouterr()
    assert not out
    assert err.count("chatter") == 3


def test_a_worker_that_cannot_start_does_not_blame_the_item() -> None:
    workers = Workers(jobs.Unready(), 1)
    workers.start(1)
    assert refused(workers.wait) == [WORKER_NOT_STARTED.id]
    assert workers.close() == [1]


def test_errors_of_starting_a_worker_name_the_directory(tmp_path: Path) -> None:
    item = refusal(Workers(jobs.sleeps, 1, directory=str(tmp_path / "gone")).start, 1)
    place = quote(str(tmp_path / "gone"))
    assert item.message == f"a worker process cannot be started in {place}: No such file or directory"


def test_the_timeout_counts_the_item_only() -> None:
    """Starting takes longer than the timeout of an item."""
    results = answers(jobs.sleeps, 1, [0, 30, 0], timeout=0.05)
    assert [item for item, _ in results] == [0, 30, 0]
    assert results[0][1] is results[2][1] is None
    ended = results[1][1]
    assert isinstance(ended, Ended)
    assert (ended.why, ended.detail) == ("timeout", "0.05 seconds")
    assert 0.05 <= ended.seconds < 30


@linux
def test_workers_end_with_their_caller(tmp_path: Path) -> None:
    """Even busy ones, if their caller is killed."""
    child = os.fork()
    if not child:  # a caller that is killed at once
        workers = Workers(jobs.sleeps, 1)
        workers.start(1000)
        (tmp_path / "pid").write_text(str(next(iter(workers._busy))._process.pid))
        time.sleep(1000)
    pid = tmp_path / "pid"
    jobs.wait_until(lambda: pid.exists() and pid.read_text() != "")
    worker = Path("/proc") / pid.read_text()
    os.kill(child, 9)
    os.waitpid(child, 0)
    jobs.wait_until(lambda: not worker.exists() or "zombie" in (worker / "status").read_text())


def test_workers_exit_quietly_without_a_caller() -> None:
    """If the caller exits before they are ready."""
    command = [sys.executable, "-c", f"{START}serving.serve()"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **streams) as process:  # type: ignore[call-overload]
        process.stdout.close()
        process.stdin.write(pickle.dumps(list(sys.path)) + pickle.dumps((jobs.sleeps, None)))
        process.stdin.flush()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


@linux
def test_memory_is_limited_during_an_item() -> None:
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
    """One thread each by default; 0 leaves the choice to ONNX Runtime."""
    monkeypatch.delenv(SESSION_THREADS, raising=False)
    if stated is not None:
        monkeypatch.setenv(SESSION_THREADS, stated)
    assert answers(jobs.threads_of_sessions, 1, [0]) == [(0, number)]
