"""Runs compiled models on other runtimes and verifies their results.

    python -m tests.runtimes NAME[:TARGET][=PYTHON] ... [--all] [--only PATTERN] [--changed] [--jobs N]
                             [--results DIRECTORY]

Each NAME is a runtime of ``worker.py``, PYTHON the interpreter that has it. All samples are compiled; of models that
differ only in sizes and values, only the first runs, or with ``--all`` every one. ``--only`` selects samples by a
regular expression for names. Unexplained failures run once more in a new process; if the second run passes, the results
mark the sample as unsteady.

With ``--changed``, models and inputs that passed, byte for byte, in the checked-in results of the same version of the
runtime are skipped, except one in ``STILL_RUN``. Samples that were not the first of their kind then are not compiled,
except one in as many, unless the samples have changed.

The exit code is 0 if ``differences.py`` explains all differences and refusals, and all of its examples still fail.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import parser

from dml2onnx.directml.installation import find
from dml2onnx.targets import target
from tests.conftest import shared_directory
from tests.runtimes import results, samples
from tests.runtimes.differences import DIFFERENCES
from tests.runtimes.proof import Job, Outcome, Pool, Runtime, Worker, digest_of
from tests.runtimes.worker import COMMAND

FIRST = (
    parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    ).SerializeToString(),
    {"x": np.array([-1, 1], np.float32)},
)
"""A model that every working runtime can run."""


def parse(text: str) -> Runtime:
    """Parses ``NAME[:TARGET][=PYTHON]``."""
    what, _, python = text.partition("=")
    name, _, made_for = what.partition(":")
    environment = {}
    if name == "dml" and sys.platform != "win32" and (directml := find()) is not None and directml.provider:
        environment[COMMAND] = json.dumps(directml.provider)
    return Runtime(name, made_for or "cpu", Path(python or sys.executable), environment)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    command = argparse.ArgumentParser(prog="python -m tests.runtimes", description="Verifies models on other runtimes.")
    command.add_argument("runtimes", nargs="+", type=parse, metavar="NAME[:TARGET][=PYTHON]")
    command.add_argument("--all", action="store_true", help="run every sample rather than one of each kind")
    command.add_argument("--only", default="", help="only samples whose names match this regular expression")
    command.add_argument("--changed", action="store_true", help="skip most unchanged models that passed before")
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    command.add_argument("--results", type=Path, help="a directory for results, one JSON file for each runtime")
    command.add_argument("--optional", action="append", default=[], help="a runtime that this machine may not have")
    options = command.parse_args(arguments)
    if options.changed and options.results:
        command.error("--results needs all models, some of which --changed skips")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    started = time.perf_counter()
    ok = True
    titles: dict[Runtime, str] = {}
    for runtime in options.runtimes:
        try:
            titles[runtime], fixed = examples(runtime)
        except RuntimeError as error:
            print(f"nothing is run on {runtime.name}: {error}")
            ok &= runtime.name in options.optional
        else:
            ok &= not fixed
    chosen = Selection(
        everything=options.all,
        only=re.compile(options.only),
        known={
            runtime: results.known(runtime, title) if options.changed else results.Known()
            for runtime, title in titles.items()
        },
    )
    tallies = prove(list(titles), chosen, jobs=options.jobs) if titles else {}
    for runtime, title in titles.items():
        content = results.record(runtime, title, tallies[runtime])
        ok &= show(content)
        if options.results:
            results.write(options.results / f"{runtime.name}.json", content)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0 if ok else 1


def examples(runtime: Runtime) -> tuple[str, int]:
    """Runs the examples of a runtime's differences; returns its version and the number of fixed differences.

    Raises RuntimeError if the runtime cannot be loaded or has no device.
    """
    worker = Worker(runtime)
    worker.start()
    answer = worker.run(*FIRST)
    if isinstance(answer, str):
        raise RuntimeError(" ".join(answer.split()))
    fixed = 0
    for item in DIFFERENCES:
        if item.runtime != runtime.name or item.shows(answer := worker.run(*item.example())):
            continue
        if not (item.of_device and item.is_right(answer)):
            print(f"{runtime.name}: fixed or changed: {item.title} The example gives {answer}")
            fixed += 1
    worker.stop()
    return worker.title, fixed


STILL_RUN = 8
"""One in this many skipped models still runs, and one in as many skipped samples is still compiled."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which samples run."""

    everything: bool
    """Whether to run all samples of a kind rather than the first."""
    only: re.Pattern[str]
    """A pattern for names."""
    known: Mapping[Runtime, results.Known]
    """Earlier results."""

    def skips_sample(self, runtime: Runtime, source: str, name: str, drawn: int) -> bool:
        """Whether to skip a sample: with as many samples as before, another one was the first of its kind."""
        known = self.known[runtime]
        digest = digest_of(name)
        return known.drawn.get(source) == drawn and digest not in known.first and int(digest, 16) % STILL_RUN != 0

    def skips_job(self, runtime: Runtime, digest: str) -> bool:
        """Whether a job passed before and is not one of those that still run."""
        return digest in self.known[runtime].agreed and int(digest, 16) % STILL_RUN != 0


def prove(runtimes: Sequence[Runtime], chosen: Selection, *, jobs: int) -> dict[Runtime, dict[str, results.Tally]]:
    """Runs the selected samples on all runtimes whose target supports their opset."""
    tallies: dict[Runtime, dict[str, results.Tally]] = {runtime: {} for runtime in runtimes}
    pool = Pool(jobs)
    place = Path(tempfile.mkdtemp())
    waiting: list[tuple[results.Tally, Runtime, Job, str, Future[Outcome]]] = []
    kinds: set[tuple[object, ...]] = set()
    try:
        for source, sample, able in to_compile(runtimes, chosen, place, tallies):
            models = {name: Job(sample, sample.compile(name)) for name in {item.target for item in able}}
            for runtime in able:
                job = models[runtime.target]
                tally = tallies[runtime][source]
                kind = (runtime, source, job.kind)
                if kind in kinds and not chosen.everything:
                    continue
                kinds.add(kind)
                tally.first.append(digest_of(sample.name))
                digest = job.digest()
                if chosen.skips_job(runtime, digest):
                    tally.unchanged += 1
                    continue
                checked = job.check()
                if checked.problem is not None:
                    tally.unexplained.append(checked)
                waiting.append((tally, runtime, job, digest, pool.submit(job, runtime)))
        for tally, runtime, job, digest, future in waiting:
            outcome = future.result()
            if outcome.problem is not None and results.explanation(runtime.name, outcome) is None:
                # OpenVINO saturates INT8 convolutions in about one of a thousand runs
                outcome = pool.retry(job, runtime, outcome)
            tally.add(runtime.name, outcome, digest)
    finally:
        pool.close()
        shutil.rmtree(place)
    return tallies


def to_compile(
    runtimes: Sequence[Runtime], chosen: Selection, place: Path, tallies: Mapping[Runtime, dict[str, results.Tally]]
) -> Iterator[tuple[str, samples.Sample, list[Runtime]]]:
    """Yields source, sample and runtimes of each selected sample, and counts all samples in ``tallies``."""
    skipped_sources = frozenset.intersection(*(runtime.skipped_sources for runtime in runtimes))
    found = []
    # drawn before any thread starts, since pytest cannot parse in parallel
    for source, sample in drawn(place, skipped_sources):
        if not chosen.only.search(sample.name):
            continue
        able = [r for r in runtimes if source not in r.skipped_sources and sample.opset in target(r.target).opsets]
        found.append((source, sample, able))
        for runtime in able:
            tallies[runtime].setdefault(source, results.Tally()).drawn += 1
    for source, sample, able in found:
        wanted = [
            runtime
            for runtime in able
            if not chosen.skips_sample(runtime, source, sample.name, tallies[runtime][source].drawn)
        ]
        if wanted:
            yield source, sample, wanted


def drawn(place: Path, skipped_sources: Collection[str]) -> Iterator[tuple[str, samples.Sample]]:
    """Yields samples with their source; files are unpacked into ``place`` and needed until the samples have run."""
    directory = shared_directory()
    if directory is None:
        print("no published vectors next to this checkout: they are skipped")
    else:
        for sample in samples.vectors(samples.unpacked(directory / "vectors" / "webnn.tar.xz", place)):
            yield "vectors", sample
    sources: dict[str, Callable[[], Iterable[samples.Sample]]] = {
        "matrix": samples.matrix,
        "operators": samples.operators,
        "networks": lambda: samples.networks(directory),
        "networks in FLOAT16": lambda: samples.halves(directory),
    }
    for source in (name for name in sources if name not in skipped_sources):
        for sample in sources[source]():
            yield source, sample


def show(content: dict[str, object]) -> bool:
    """Prints results; returns whether all of them are explained."""
    print(f"\n{content['version']}, models for target {content['target']}")
    ok = True
    counts = content["samples"]
    assert isinstance(counts, dict)
    for source, tally in counts.items():
        print(f"  {source}: {', '.join(f'{count:,} {what}' for what, count in tally.items())}")
        ok &= tally["unexplained"] == 0
    explained, unexplained = content["explained"], content["unexplained"]
    assert isinstance(explained, dict)
    assert isinstance(unexplained, list)
    for source, text in results.places(content):
        print(f"  {source}: {text}")
    for title, count in explained.items():
        print(f"  {count:>5,} {title}")
    unsteady = content["unsteady"]
    assert isinstance(unsteady, list)
    for item in unsteady:
        print(f"  passes only in a new process: {item['sample']}: {' '.join(item['problem'].split())[:300]}")
    for item in unexplained:
        print(f"  UNEXPLAINED {item['sample']}: {' '.join(item['problem'].split())[:300]}")
    return ok


if __name__ == "__main__":
    sys.exit(main())
