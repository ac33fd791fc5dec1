"""Distributes the work on all models: skips what the journal has, and records failures."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from dml2onnx.batching.journal import Journal, encoded
from dml2onnx.batching.work import SUFFIXES, Asked, Task, digests, is_last_word, record
from dml2onnx.batching.workers import Ended
from dml2onnx.codes.running import MODEL_TIMEOUT, WORKER_DIED
from dml2onnx.files import remove_left_over, remove_unfinished
from dml2onnx.report.batched import Record, Status
from dml2onnx.report.form import Answer, as_json
from dml2onnx.writer import data_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from dml2onnx.batching.models import Model


class Pool(Protocol):
    """Where the work is done."""

    @property
    def capacity(self) -> int:
        """As many tasks may be under way."""

    def start(self, item: Task, /) -> None:
        """Begins with a task."""

    def wait(self) -> tuple[Task, object]:
        """A task that has ended, with a record, with nothing where its model was done before, or with how it ended."""

    def close(self) -> Sequence[Task]:
        """Ends what is under way, and returns it."""


def drive(
    models: Sequence[Model],
    asked: Asked,
    output: Path | None,
    journal: Journal | None,
    pool: Pool,
    *,
    again: bool = False,
    retry_failed: bool = False,
) -> Iterator[tuple[Record, bool]]:
    """Records of all models as they come, and whether an earlier call has done the model.

    Each is in the journal before it is here. The pool is closed in the end, whatever ends this.

    A worker may die of what others do to its machine, and a cluster does not always know of what: a model whose worker
    has died is tried once more, behind all others and alone. What ends a worker then is put down for it.
    """
    work = asked.work().work
    waiting = deque(
        _task(model, asked, work, output, journal, again=again, retry_failed=retry_failed) for model in models
    )
    remove_left_over((file for task in waiting if not task.known for file in _written(task)), time.time())
    suspects: deque[Task] = deque()
    suspected: set[tuple[str, str]] = set()
    under_way = 0
    try:
        while waiting or suspects or under_way:
            while waiting and under_way < pool.capacity:
                pool.start(waiting.popleft())
                under_way += 1
            if not under_way:
                pool.start(suspects.popleft())  # alone
                under_way = 1
            task, answer = pool.wait()
            under_way -= 1
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
    model: Model,
    asked: Asked,
    work: str,
    output: Path | None,
    journal: Journal | None,
    *,
    again: bool,
    retry_failed: bool,
) -> Task:
    suffix = SUFFIXES.get(asked.do)
    place = None
    if suffix is not None:
        assert output is not None
        place = output / model.place.with_name(model.place.name + suffix)
    task = Task(asked, work, model, place, sources=journal is not None)
    old = None if journal is None or again else journal.records.get(model.key)
    if old is None or (retry_failed and old.is_failure) or not is_last_word(old, task):
        return task
    return replace(task, known=old.sources)


def _ended(task: Task, ended: Ended) -> Record:
    """What is said of a model whose worker has not answered."""
    status: Status = ended.why
    if ended.why == "timeout":
        finding = MODEL_TIMEOUT.at(f"the model was not done after {ended.detail}", found=ended.detail)
    else:
        message = f"two workers have ended while they were at this model, the one that had it alone {ended.detail}"
        finding = WORKER_DIED.at(message, found=ended.detail)
    answer = Answer(command=task.asked.do, diagnostics=(finding,))
    sources = digests([task.model.path]) if task.sources else ()
    return record(task, status, answer, ended.seconds, sources)


def _sweep(task: Task) -> None:
    """Takes away what a worker that was ended has left half-written."""
    for file in _written(task):
        remove_unfinished(file)


def _written(task: Task) -> tuple[Path, ...]:
    """The files that may come of a task."""
    return () if task.output is None else (task.output, *data_paths(task.output))
