"""Looks for graphs that go wrong, for as long as one likes.

    python scripts/campaign.py descriptors --count 100000 --seed 7
    python scripts/campaign.py graphs --time 600
    python scripts/campaign.py relations files --time 3600 --journal found.jsonl

descriptors: one operator, many changes away from one that the tests know. What the checks let pass compiles, runs and
equals the reference; what one change spoils has a finding, counted by whether it names the field that was changed.
graphs: random graphs of ``tests/random_graphs``. relations: what must make no difference to them. files: models of all
formats with something changed in them, within limits of memory and time.

Run it with the interpreter whose ONNX Runtime is meant. Every case has a seed of its own, from ``--seed`` on; the
journal has a line for each finding, a smallest model of it as native JSON in it, and the figures at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PARTS = ("descriptors", "graphs", "relations", "files")
MEMORY = 4 << 30
"""Address space of a process that reads changed files."""
SECONDS = 15.0
"""Of the processor, for one changed file."""


@dataclass
class Campaign:
    """What has been tried so far."""

    journal: Path | None
    counts: Counter[str] = field(default_factory=Counter)
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    found: int = 0

    def note(self, part: str, seed: int, what: str, model: object = None) -> None:
        """A finding, to the screen and into the journal."""
        self.found += 1
        print(f"{part} {seed}: {what}", flush=True)
        self.write({"part": part, "seed": seed, "what": what, "model": model})

    def write(self, record: dict[str, object]) -> None:
        if self.journal is not None:
            with self.journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


def seeds(first: int, count: int | None, seconds: float | None) -> Iterator[int]:
    """One after another, until there have been enough or the time is up."""
    end = None if seconds is None else time.monotonic() + seconds
    seed = first
    while (count is None or seed < first + count) and (end is None or time.monotonic() < end):
        yield seed
        seed += 1


def as_native(graph: Any) -> object:
    """A graph as native JSON, or why it cannot be written."""
    from dml2onnx.diagnostics import DmlError
    from dml2onnx.exporters import export

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        try:
            export(graph, path, "native")
        except DmlError as error:
            return str(error)
        return json.loads(path.read_text(encoding="utf-8"))


# --- Descriptors ------------------------------------------------------------------------------------------------------


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """One operator each."""
    from dml2onnx.verification import descriptor_trials, variations
    from dml2onnx.verification.lone import lone_node

    known = import_module("tests.checks.valid").descriptors()
    bases = [descriptor_trials.normal(op) for several in known.values() for op in several]
    for seed in chosen:
        walk = descriptor_trials.walk(bases, seed)
        campaign.counts["descriptors, run"] += len(walk.trials)
        for kind, count in walk.mutants.items():
            campaign.counts[f"descriptors, {kind}"] += count
        for failure in walk.failures:
            campaign.note("descriptors", seed, failure)
        for case in walk.trials:
            campaign.cells.update(variations.support_cells(case.op))
            if case.problem:
                op, problem = descriptor_trials.reduced(case.op, case.seed, case.problem)
                campaign.note("descriptors", seed, f"{op.type}: {problem}", as_native(lone_node(op)))


# --- Graphs -----------------------------------------------------------------------------------------------------------


def random_graphs(chosen: Iterator[int], check: Callable[[int, Any], str], campaign: Campaign, part: str) -> None:
    """Graphs of ``tests/random_graphs``, a batch of them for each seed; the smallest that fails comes back."""
    errors = import_module("dml2onnx.checks").check
    for seed in chosen:
        failing: list[tuple[Any, str]] = []

        def tried(graph: Any, seed: int = seed, failing: list[tuple[Any, str]] = failing) -> None:
            if any(item.severity.value == "error" for item in errors(graph)):
                campaign.counts[f"{part}, refused"] += 1
                return
            campaign.counts[f"{part}, run"] += 1
            problem = check(seed, graph)
            if problem:
                failing.append((graph, problem))
                raise AssertionError(problem)

        try:
            _batch(seed, tried)
        except Exception as error:  # hypothesis has its own for what does not happen again
            graph, problem = failing[-1] if failing else (None, f"{type(error).__name__}: {error}")
            campaign.note(part, seed, problem, None if graph is None else as_native(graph))


def _batch(seed: int, tried: Callable[[Any], None]) -> None:
    """Draws graphs, and of those that fail ever smaller ones."""
    import hypothesis

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=50,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(import_module("tests.random_graphs").samples())
    def drawn(sample: Any) -> None:
        tried(sample.graph)

    drawn()


def graphs(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compiled, run and compared."""
    from dml2onnx.verification.trial import trial
    from dml2onnx.verification.variations import support_cells

    def check(seed: int, graph: Any) -> str:
        for node in graph.nodes:
            campaign.cells.update(support_cells(node.operator))
        return trial(graph, seed)

    random_graphs(chosen, check, campaign, "graphs")


def relations(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Against themselves under other names, in other orders and files."""
    from dml2onnx.verification.trial import relations as broken

    with tempfile.TemporaryDirectory() as directory:

        def check(seed: int, graph: Any) -> str:
            return "; ".join(broken(graph, seed, random.Random(seed), Path(directory)))

        random_graphs(chosen, check, campaign, "relations")


# --- Files ------------------------------------------------------------------------------------------------------------


def files(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Bytes and structure of files of all formats."""
    mutations = import_module("tests.mutations")
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sources = mutations.sources(ROOT / "samples")
    with tempfile.TemporaryDirectory() as directory:
        for seed in chosen:
            name, data = mutations.mutant(sources, seed)
            before = time.process_time()
            stage, problem = mutations.attempt(data, Path(directory))
            spent = time.process_time() - before
            campaign.counts[f"files, {stage}"] += 1
            if spent > SECONDS:
                problem = problem or f"{spent:.0f} s in {stage}"
            if problem:
                campaign.note("files", seed, f"{name}: {problem}", data.decode("utf-8", "replace"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Looks for graphs that go wrong; exit code 1 when it finds one.")
    parser.add_argument("parts", nargs="*", choices=PARTS, default=list(PARTS), help="what to try (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: 0)")
    parser.add_argument("--count", type=int, help="cases of each part (of graphs: batches of 50)")
    parser.add_argument("--time", type=float, metavar="SECONDS", help="for each part")
    parser.add_argument("--journal", type=Path, metavar="FILE.jsonl", help="lines of JSON, appended")
    options = parser.parse_args()
    if options.count is None and options.time is None:
        options.time = 60.0
    import onnxruntime

    campaign = Campaign(options.journal)
    started = time.monotonic()
    for part in options.parts:
        globals()[part](campaign, seeds(options.seed, options.count, options.time))
    print(f"\nonnxruntime {onnxruntime.__version__}, seeds from {options.seed}, {time.monotonic() - started:.0f} s")
    for name, count in sorted(campaign.counts.items()):
        print(f"{count:9}  {name}")
    operators = {cell[0] for cell in campaign.cells}
    views = Counter(cell[3] for cell in campaign.cells)
    kinds = ", ".join(f"{count} {name}" for name, count in views.most_common())
    cells = f"{len(campaign.cells)} combinations of operator, tensor, data type, rank and view"
    print(f"covered: {len(operators)} operators, {cells} ({kinds})")
    print(f"findings: {campaign.found}")
    figures = {"seed": options.seed, "counts": campaign.counts, "cells": len(campaign.cells), "found": campaign.found}
    campaign.write({"onnxruntime": onnxruntime.__version__, **figures})
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main())
