"""Proves compiled models on other runtimes than the one that they are made for.

    python -m tests.runtimes NAME[:TARGET][=PYTHON] ... [--all] [--only PATTERN] [--changed] [--jobs N]
                             [--results DIRECTORY]

Each NAME is a runtime of ``worker.py``, PYTHON the interpreter that has it. All samples are compiled; of those whose
models differ in nothing but sizes and values, the first is run, or with ``--all`` every one. ``--only`` takes no
samples but those in whose names the pattern, a regular expression, is found. What nothing explains is run once more in
a process of its own; if it is right there, the results say that it was not the first time. With ``--changed``, a model
with inputs that agreed, byte for byte the same, when the results that are checked in were made with the same version of
the runtime, is not run again, but for one in ``STILL_RUN``; of samples that were not the first of their kind then, one
in as many is compiled, unless there are others by now. The exit code is 0 when all that is different or refused is in
the table of ``differences.py``, and all of that table is still so.
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
"""A model that any runtime runs where it runs anything."""


def parse(text: str) -> Runtime:
    """A runtime as the command line names it."""
    what, _, python = text.partition("=")
    name, _, made_for = what.partition(":")
    environment = {}
    if name == "dml" and sys.platform != "win32" and (directml := find()) is not None and directml.provider:
        environment[COMMAND] = json.dumps(directml.provider)
    return Runtime(name, made_for or "cpu", Path(python or sys.executable), environment)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    command = argparse.ArgumentParser(prog="python -m tests.runtimes", description="Proves models on other runtimes.")
    command.add_argument("runtimes", nargs="+", type=parse, metavar="NAME[:TARGET][=PYTHON]")
    command.add_argument("--all", action="store_true", help="run every sample, not one of each kind")
    command.add_argument("--only", default="", help="samples whose names have this regular expression")
    command.add_argument("--changed", action="store_true", help="what agreed before, and is the same, only in part")
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    command.add_argument("--results", type=Path, help="a directory for results, one JSON file for each runtime")
    command.add_argument("--optional", action="append", default=[], help="a runtime that this machine may not have")
    options = command.parse_args(arguments)
    if options.changed and options.results:
        command.error("--changed runs not all that --results would have to tell")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    started = time.perf_counter()
    ok = True
    titles: dict[Runtime, str] = {}
    for runtime in options.runtimes:
        try:
            titles[runtime], healed = examples(runtime)
        except RuntimeError as error:
            print(f"nothing was run on {runtime.name}: {error}")
            ok &= runtime.name in options.optional
        else:
            ok &= not healed
    chosen = Chosen(
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
    """Runs the examples of a runtime's differences; its version, and how many do no longer differ.

    RuntimeError where it cannot be loaded, or has no device to run on.
    """
    worker = Worker(runtime)
    worker.start()
    answer = worker.ask(*FIRST)
    if isinstance(answer, str):
        raise RuntimeError(" ".join(answer.split()))
    healed = 0
    for item in DIFFERENCES:
        if item.runtime != runtime.name or item.shows(answer := worker.ask(*item.example())):
            continue
        if not (item.of_device and item.is_right(answer)):
            print(f"{runtime.name}: no longer, or in another way: {item.title} The example gives {answer}")
            healed += 1
    worker.stop()
    return worker.title, healed


STILL_RUN = 8
"""Of so many models that agreed before one is run nevertheless, and of so many samples left out one is compiled."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which samples are run."""

    everything: bool
    """Whether all of each kind, and not the first alone."""
    only: re.Pattern[str]
    """What is found in their names."""
    known: Mapping[Runtime, results.Known]
    """What came of it before."""

    def passes_over(self, runtime: Runtime, source: str, name: str, drawn: int) -> bool:
        """Whether a sample need not be compiled: of as many that were drawn, another was the first of its kind."""
        known = self.known[runtime]
        digest = digest_of(name)
        return known.drawn.get(source) == drawn and digest not in known.first and int(digest, 16) % STILL_RUN != 0

    def leaves_out(self, runtime: Runtime, digest: str) -> bool:
        """Whether a job agreed before and is none of those that are run nevertheless."""
        return digest in self.known[runtime].agreed and int(digest, 16) % STILL_RUN != 0


def prove(runtimes: Sequence[Runtime], chosen: Chosen, *, jobs: int) -> dict[Runtime, dict[str, results.Tally]]:
    """The samples that are chosen, on the runtimes whose target has models of their opset."""
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
                if chosen.leaves_out(runtime, digest):
                    tally.unchanged += 1
                    continue
                checked = job.check()
                if checked.problem is not None:
                    tally.unexplained.append(checked)
                waiting.append((tally, runtime, job, digest, pool.submit(job, runtime)))
        for tally, runtime, job, digest, future in waiting:
            outcome = future.result()
            if outcome.problem is not None and results.explanation(runtime.name, outcome) is None:
                # OpenVINO was seen to saturate INT8 convolutions in one of some thousand runs, and in no other
                outcome = pool.again(job, runtime, outcome)
            tally.add(runtime.name, outcome, digest)
    finally:
        pool.close()
        shutil.rmtree(place)
    return tallies


def to_compile(
    runtimes: Sequence[Runtime], chosen: Chosen, place: Path, tallies: Mapping[Runtime, dict[str, results.Tally]]
) -> Iterator[tuple[str, samples.Sample, list[Runtime]]]:
    """The samples that are chosen, and for which runtimes each one is compiled; how many there are is counted."""
    left_out = frozenset.intersection(*(runtime.left_out for runtime in runtimes))
    found = []
    # all before any thread, in whose company pytest cannot parse
    for source, sample in drawn(place, left_out):
        if not chosen.only.search(sample.name):
            continue
        able = [r for r in runtimes if source not in r.left_out and sample.opset in target(r.target).opsets]
        found.append((source, sample, able))
        for runtime in able:
            tallies[runtime].setdefault(source, results.Tally()).drawn += 1
    for source, sample, able in found:
        wanted = [
            runtime
            for runtime in able
            if not chosen.passes_over(runtime, source, sample.name, tallies[runtime][source].drawn)
        ]
        if wanted:
            yield source, sample, wanted


def drawn(place: Path, left_out: Collection[str]) -> Iterator[tuple[str, samples.Sample]]:
    """Samples with the name of where they are from; their files lie in a directory until they have been run."""
    directory = shared_directory()
    if directory is None:
        print("no published vectors beside this checkout: the matrix alone is run")
    else:
        for sample in samples.vectors(samples.unpacked(directory / "vectors" / "webnn.tar.xz", place)):
            yield "vectors", sample
    made: dict[str, Callable[[], Iterable[samples.Sample]]] = {
        "matrix": samples.matrix,
        "operators": samples.operators,
        "networks": lambda: samples.networks(directory),
        "networks in FLOAT16": lambda: samples.halves(directory),
    }
    for source in (name for name in made if name not in left_out):
        for sample in made[source]():
            yield source, sample


def show(content: dict[str, object]) -> bool:
    """Prints results; whether all of them are explained."""
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
        print(f"  right in another process only: {item['sample']}: {' '.join(item['problem'].split())[:300]}")
    for item in unexplained:
        print(f"  UNEXPLAINED {item['sample']}: {' '.join(item['problem'].split())[:300]}")
    return ok


if __name__ == "__main__":
    sys.exit(main())
