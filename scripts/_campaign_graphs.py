"""The campaign's trials of descriptors, graphs and programs; hypothesis draws and shrinks the last two."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _campaign_journal import Campaign, as_native

LEAP = 997
"""Distance between the start cells of consecutive walks: a prime that does not divide the number of cells."""
LARGEST = 50
"""Limit on the nodes of a graph and the dispatches of a program."""


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Tries one operator per graph; a walk shares one session.

    Every second walk starts in a new cell, so twice as many walks as cells reach every cell.
    """
    from dml2onnx.test_cases import descriptor_trials, valid
    from dml2onnx.test_cases.coverage import all_cells, cells
    from dml2onnx.test_cases.single_node import single_node

    bases = [descriptor_trials.normal(op) for several in valid.descriptors().values() for op in several]
    known = list(all_cells())
    for seed in chosen:
        start = None
        if seed % 2:
            # neighboring cells belong to one operator
            start = descriptor_trials.start_in(known[seed // 2 * LEAP % len(known)], bases, seed)
        walk = descriptor_trials.walk(bases if start is None else [start], seed)
        campaign.counts["descriptors, run"] += len(walk.trials)
        for kind, count in walk.mutants.items():
            campaign.counts[f"descriptors, changed and {kind}"] += count
        for failure in walk.failures:
            campaign.note("descriptors", seed, failure)
        for case in walk.trials:
            campaign.cells.update(cells(case.op))
            if case.problem:
                op, problem = descriptor_trials.reduced(case.op, case.seed, case.problem, campaign.shrink)
                campaign.note("descriptors", seed, f"{op.type}: {problem}", as_native(single_node(op)))


def graphs(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compiles, runs and compares graphs with the reference."""
    from dml2onnx.test_cases.coverage import cells
    from dml2onnx.test_cases.trial import trial

    def check(seed: int, graph: Any) -> str:
        for node in graph.nodes:
            campaign.cells.update(cells(node.operator))
        campaign.counts["graphs, nodes"] += len(graph.nodes)
        found = trial(graph, seed)
        default = trial(graph, seed, exact=False)
        return found or (default and f"default model: {default}")

    _random_graphs(campaign, "graphs", chosen, check)


def relations(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compares graphs with their renamed, reordered, re-laid-out and converted variants."""
    from dml2onnx.test_cases.relations import relations as broken

    with tempfile.TemporaryDirectory() as directory:

        def check(seed: int, graph: Any) -> str:
            found, tried = broken(graph, seed, random.Random(seed), Path(directory))
            campaign.counts.update(f"relations, {name}" for name in tried)
            return "; ".join(found)

        _random_graphs(campaign, "relations", chosen, check)


def programs(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compares programs with an interpreter that works on bytes only."""
    from dml2onnx.test_cases.random_programs import disagreement
    from dml2onnx.test_cases.random_programs import programs as drawn
    from dml2onnx.test_cases.reduction import smallest

    with tempfile.TemporaryDirectory() as directory:

        def check(seed: int, program: Any) -> str:
            campaign.counts["programs, run"] += 1
            campaign.counts["programs, dispatches"] += len(program.dispatchables)
            try:
                return disagreement(program, Path(directory))
            except Exception as error:
                return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

        for seed in chosen:
            # most draws are short; some have the maximum length
            strategy = drawn(most=random.Random(seed).choice((6, 6, 12, LARGEST)))
            failing = smallest(seed, strategy, check, lambda program: len(program.commands), campaign.shrink)
            if failing is not None:
                campaign.note("programs", seed, failing[1], None if failing[0] is None else failing[0].model())


def _random_graphs(campaign: Campaign, part: str, chosen: Iterator[int], check: Callable[[int, Any], str]) -> None:
    """Draws a batch of random graphs per seed, and records the smallest failing one."""
    from dml2onnx.checks import check as findings
    from dml2onnx.test_cases.random_graphs import samples
    from dml2onnx.test_cases.reduction import smallest

    def tried(seed: int, sample: Any) -> str:
        if any(item.severity.value == "error" for item in findings(sample.graph)):
            campaign.counts[f"{part}, refused"] += 1
            return ""
        campaign.counts[f"{part}, run"] += 1
        return check(seed, sample.graph)

    for seed in chosen:
        strategy = samples(most=random.Random(seed).choice((6, 6, 12, LARGEST)))
        failing = smallest(seed, strategy, tried, lambda sample: len(sample.graph.nodes), campaign.shrink)
        if failing is not None:
            sample, problem = failing
            campaign.note(part, seed, problem, None if sample is None else as_native(sample.graph))
