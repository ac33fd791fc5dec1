"""Runs one command on many models, in several processes, with a journal from which the next call continues.

``models`` finds them and says where results go, ``work`` is what is done to one, ``workers`` are processes that may
die, ``driving`` hands out the work, and ``journal`` keeps what has come of it.
"""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from dml2onnx import arguments
from dml2onnx.batching.driving import Pool, drive
from dml2onnx.batching.journal import Journal
from dml2onnx.batching.models import Model, found, with_unique_names
from dml2onnx.batching.options import WorkOptions, asked_work, paths
from dml2onnx.batching.work import SUFFIXES, Asked, perform
from dml2onnx.batching.workers import Workers
from dml2onnx.options import takes
from dml2onnx.report.batched import ACTIONS, Action, Record

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

__all__ = ["JOURNAL", "Batch", "batch", "default_jobs"]

JOURNAL = "journal.jsonl"
"""Its name in the output directory."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Models that have been found, and what is to be done to them."""

    models: tuple[Model, ...]
    asked: Asked
    output: Path | None
    journal: Path | None
    jobs: int
    dask: str | None = None
    """The address of a scheduler, whose cluster does the work in the place of processes here."""
    model_timeout: float | None = None
    again: bool = False
    retry_failed: bool = False

    def records(self) -> Generator[tuple[Record, bool]]:
        """What has come of each model, in the order in which they end, and whether an earlier call has done it."""
        how = {"again": self.again, "retry_failed": self.retry_failed}
        with nullcontext() if self.journal is None else Journal(self.journal, self.asked.work()) as journal:
            yield from drive(self.models, self.asked, self.output, journal, self._pool(), **how)

    def _pool(self) -> Pool:
        if self.dask is not None:
            from dml2onnx.batching.cluster import Cluster  # needs dml2onnx[dask]

            return Cluster(perform, self.dask, self.model_timeout, self.asked.max_bytes)
        number = max(1, min(self.jobs, len(self.models)))
        return Workers(perform, number, self.model_timeout, self.asked.max_bytes)


def default_jobs() -> int:
    """As many processors as this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@takes(WorkOptions, **{item.name: item.default for item in fields(Asked)} | {"target": None, "provider": "cpu"})
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
    """Checks, compiles, verifies or reports many models in ``jobs`` processes, and gives a record of each as it ends.

    ``models`` are directories, recordings, models, or text files with one of these in each line. Results go below the
    directory ``output``, which ``"compile"`` and ``"report"`` need, in the tree of what was found; beside them lies the
    ``journal``, if no other file is named, and what stands there as done with the same files and the same options is
    not done ``again``, with ``retry_failed`` apart from what failed for reasons other than the model. One model takes
    at most ``model_timeout`` seconds and, on Linux, ``max_bytes`` more memory than a worker has without it; ``None``
    sets no limit. ``dask`` is the address of the scheduler of a Dask cluster that works in the place of processes here,
    on the same files under the same names. ``constants`` are names of inputs, or the file with the contents of each;
    like those of ``constant_directories``, they are meant for every one of the models. The others are as for
    :func:`dml2onnx.load`, :func:`dml2onnx.compile` and :func:`dml2onnx.verify`; ``target`` is by default that of the
    ``provider``.

    What is wrong with a model stands in its record: its ``status``, its ``answer``, which is what the single command
    says as JSON, and its ``diagnostics``. Closing the iterator ends all processes. :class:`dml2onnx.DmlError` is for
    what nobody can mean and lists that cannot be read, before anything is done, and for workers that cannot be had.
    """
    stated = (models,) if isinstance(models, (str, os.PathLike)) else arguments.items(models, "models", "paths")
    names = paths(stated, "models")
    place = _place(output, do)
    asked = asked_work(do, work)
    listed = found(names, place, tuple(map(Path, asked.allow_paths)))
    chosen = Batch(
        tuple(with_unique_names(listed) if do in SUFFIXES else listed),
        asked,
        place,
        arguments.path_of(journal, "journal") if journal is not None else place and place / JOURNAL,
        jobs=default_jobs() if jobs is None else arguments.whole_number(jobs, "jobs", 1),
        model_timeout=None if model_timeout is None else arguments.positive(model_timeout, "model_timeout"),
        dask=None if dask is None else arguments.text(dask, "dask", "the address of a Dask scheduler"),
        again=arguments.flag(again, "again"),
        retry_failed=arguments.flag(retry_failed, "retry_failed"),
    )
    return _without_origin(chosen.records())


def _place(output: str | os.PathLike[str] | None, do: Action) -> Path | None:
    """Where results go, for what has any."""
    if do not in ACTIONS:
        raise arguments.refusal("do", do, f"one of {', '.join(ACTIONS)}")
    if output is None and do in SUFFIXES:
        raise arguments.refusal("output", output, f"a directory, which {do} writes to")
    return None if output is None else arguments.path_of(output, "output")


def _without_origin(records: Generator[tuple[Record, bool]]) -> Iterator[Record]:
    with closing(records):
        for record, _ in records:
            yield record
