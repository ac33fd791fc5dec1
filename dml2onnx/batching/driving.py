"""Distributes models to workers, skips those in the journal, and records failures."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from dml2onnx.batching.journal import Journal, encoded
from dml2onnx.batching.work import SUFFIXES, BatchRequest, Task, digests, is_reusable, record
from dml2onnx.batching.workers import Ended
from dml2onnx.codes.running import MODEL_TIMEOUT, WORKER_DIED
from dml2onnx.files import remove_left_over, remove_unfinished
from dml2onnx.report.batched import Record
from dml2onnx.report.form import Answer, as_json
from dml2onnx.writer import data_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from dml2onnx.batching.models import BatchModel


class WorkerPool(Protocol):
    """Local processes or a cluster."""

    @property
    def capacity(self) -> int:
        """The number of tasks that may run at once."""

    def start(self, item: Task, /) -> None:
        """Starts a task."""

    def wait(self) -> tuple[Task, object]:
        """Returns a finished task with a record, ``None`` if its earlier record is valid, or :class:`Ended`."""

    def close(self) -> Sequence[Task]:
        """Ends the running tasks, and returns them."""


def drive(
    models: Sequence[BatchModel],
    request: BatchRequest,
    output: Path | None,
    journal: Journal | None,
    pool: WorkerPool,
    *,
    again: bool = False,
    retry_failed: bool = False,
) -> Iterator[tuple[Record, bool]]:
    """Yields the record of each model as it ends, and whether it is from an earlier call.

    Records are written to the journal first. The pool is closed at the end.

    Other processes on the machine may kill a worker, and a cluster does not always report the cause. So a model whose
    worker died is tried again, alone and after all others, and fails if its worker dies again.
    """
    work = request.work().work
    waiting = deque(
        _task(model, request, work, output, journal, again=again, retry_failed=retry_failed) for model in models
    )
    remove_left_over((file for task in waiting if not task.known for file in _outputs(task)), time.time())
    suspects: deque[Task] = deque()
    suspected: set[tuple[str, str]] = set()
    running = 0
    try:
        while waiting or suspects or running:
            while waiting and running < pool.capacity:
                pool.start(waiting.popleft())
                running += 1
            if not running:
                pool.start(suspects.popleft())  # nothing else is running
                running = 1
            task, answer = pool.wait()
            running -= 1
            key = task.model.key
            if answer is None:
                assert journal is not None
                yield journal.records[key], True
                continue
            if isinstance(answer, Ended):
                _sweep(task)
                if answer.why == "died" and key not in suspected:
                    suspected.add(key)
                    suspects.append(task)
                    continue
                answer = _ended(task, answer)
            assert isinstance(answer, Record)
            if journal is not None:
                journal.add(encoded(as_json(answer)))
            yield answer, False
    finally:
        for task in pool.close():
            _sweep(task)


def _task(
    model: BatchModel,
    request: BatchRequest,
    work: str,
    output: Path | None,
    journal: Journal | None,
    *,
    again: bool,
    retry_failed: bool,
) -> Task:
    suffix = SUFFIXES.get(request.do)
    file = None
    if suffix is not None:
        assert output is not None
        file = output / model.place.with_name(model.place.name + suffix)
    task = Task(request, work, model, file, sources=journal is not None)
    old = None if journal is None or again else journal.records.get(model.key)
    if old is None or (retry_failed and old.is_failure) or not is_reusable(old, task):
        return task
    return replace(task, known=old.sources)


def _ended(task: Task, ended: Ended) -> Record:
    """The record of a model whose worker died or was killed."""
    if ended.why == "timeout":
        finding = MODEL_TIMEOUT.at(f"the model was not finished after {ended.detail}", found=ended.detail)
    else:
        message = f"two workers died while they processed this model, the second, without other models, {ended.detail}"
        finding = WORKER_DIED.at(message, found=ended.detail)
    answer = Answer(command=task.request.do, diagnostics=(finding,))
    sources = digests([task.model.path]) if task.sources else ()
    return record(task, ended.why, answer, ended.seconds, sources)


def _sweep(task: Task) -> None:
    """Removes partial files of a killed worker."""
    for file in _outputs(task):
        remove_unfinished(file)


def _outputs(task: Task) -> tuple[Path, ...]:
    """The files that a task may write."""
    return () if task.output is None else (task.output, *data_paths(task.output))
