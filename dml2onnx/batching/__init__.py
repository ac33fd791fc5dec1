"""Runs one command on many models, in several processes, with a journal from which the next call continues.

``models`` finds the models and names their results, ``work`` processes one model, ``workers`` manages processes that
may die, ``driving`` distributes the work, and ``journal`` stores the records.
"""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from dml2onnx import arguments
from dml2onnx.batching.driving import WorkerPool, drive
from dml2onnx.batching.journal import Journal
from dml2onnx.batching.models import BatchModel, collect_models, with_unique_names
from dml2onnx.batching.options import WorkOptions, batch_request, paths
from dml2onnx.batching.work import SUFFIXES, BatchRequest, perform
from dml2onnx.batching.workers import Workers
from dml2onnx.options import takes
from dml2onnx.report.batched import ACTIONS, Action, Record

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

__all__ = ["JOURNAL", "Batch", "batch", "default_jobs"]

JOURNAL = "journal.jsonl"
"""The journal's name in the output directory."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The models, and the request for each."""

    models: tuple[BatchModel, ...]
    request: BatchRequest
    output: Path | None
    journal: Path | None
    jobs: int
    dask: str | None = None
    """The address of the scheduler of a cluster, which replaces local processes."""
    model_timeout: float | None = None
    again: bool = False
    retry_failed: bool = False

    def records(self) -> Generator[tuple[Record, bool]]:
        """Yields the record of each model as it ends, and whether it is from an earlier call."""
        repeats = {"again": self.again, "retry_failed": self.retry_failed}
        with nullcontext() if self.journal is None else Journal(self.journal, self.request.work()) as journal:
            yield from drive(self.models, self.request, self.output, journal, self._pool(), **repeats)

    def _pool(self) -> WorkerPool:
        if self.dask is not None:
            from dml2onnx.batching.cluster import Cluster  # needs dml2onnx[dask]

            return Cluster(perform, self.dask, self.model_timeout, self.request.max_bytes)
        number = max(1, min(self.jobs, len(self.models)))
        return Workers(perform, number, self.model_timeout, self.request.max_bytes)


def default_jobs() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@takes(WorkOptions, **{item.name: item.default for item in fields(BatchRequest)} | {"target": None, "provider": "cpu"})
def batch(
    models: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    do: Action = "check",
    output: str | os.PathLike[str] | None = None,
    *,
    journal: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    again: bool = False,
    retry_failed: bool = False,
    model_timeout: float | None = None,
    **work: Unpack[WorkOptions],
) -> Iterator[Record]:
    """Checks, compiles, verifies or reports many models in ``jobs`` processes, and yields a record of each as it ends.

    ``models`` are directories, recordings, models, or text files with one of these in each line. Results go to the
    directory ``output``, which ``"compile"`` and ``"report"`` require, in the same tree as the models. The ``journal``
    is in the same directory by default. Models that it lists as done, with the same files and the same options, are
    not done ``again``; ``retry_failed`` repeats those that failed for other reasons than the model. Each model may take
    ``model_timeout`` seconds and, on Linux, ``max_bytes`` of memory beyond that of an idle worker; ``None`` sets no
    limit. ``dask`` is the address of the scheduler of a Dask cluster, which replaces the local processes and reads the
    same files under the same names. ``constants`` are names of inputs, or map them to files with their contents; like
    ``constant_directories``, they apply to all models. The other options are those of :func:`dml2onnx.load`,
    :func:`dml2onnx.compile` and :func:`dml2onnx.verify`; the default ``target`` is that of the ``provider``.

    A record has the ``status`` of a model, the ``answer`` that the single command prints as JSON, and the
    ``diagnostics`` in it. Closing the iterator ends all processes. Raises :class:`dml2onnx.DmlError` for wrong
    arguments and unreadable lists, before any work is done, and for workers that cannot be started.
    """
    listed = (models,) if isinstance(models, (str, os.PathLike)) else arguments.items(models, "models", "paths")
    names = paths(listed, "models")
    directory = _output_directory(output, do)
    request = batch_request(do, work)
    found = collect_models(names, directory, tuple(map(Path, request.allow_paths)))
    batch = Batch(
        tuple(with_unique_names(found) if do in SUFFIXES else found),
        request,
        directory,
        arguments.path_of(journal, "journal") if journal is not None else directory and directory / JOURNAL,
        jobs=default_jobs() if jobs is None else arguments.whole_number(jobs, "jobs", 1),
        model_timeout=None if model_timeout is None else arguments.positive(model_timeout, "model_timeout"),
        dask=None if dask is None else arguments.text(dask, "dask", "the address of a Dask scheduler"),
        again=arguments.flag(again, "again"),
        retry_failed=arguments.flag(retry_failed, "retry_failed"),
    )
    return _without_origin(batch.records())


def _output_directory(output: str | os.PathLike[str] | None, do: Action) -> Path | None:
    if do not in ACTIONS:
        raise arguments.refusal("do", do, f"one of {', '.join(ACTIONS)}")
    if output is None and do in SUFFIXES:
        raise arguments.refusal("output", output, f"a directory, which {do} writes to")
    return None if output is None else arguments.path_of(output, "output")


def _without_origin(records: Generator[tuple[Record, bool]]) -> Iterator[Record]:
    with closing(records):
        for record, _ in records:
            yield record
