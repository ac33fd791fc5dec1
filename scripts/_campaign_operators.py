"""The campaign's trials of single descriptors."""

from __future__ import annotations

from collections.abc import Iterator

from _campaign_journal import Campaign, as_native

LEAP = 997
"""Distance between the start cells of consecutive walks: a prime that does not divide the number of cells."""


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Tries one operator per graph; a walk shares one session.

    Every second walk starts in a new cell, so twice as many walks as cells reach every cell.
    """
    from dml2onnx.testing import descriptor_trials, valid
    from dml2onnx.testing.coverage import all_cells, cells
    from dml2onnx.testing.single_node import single_node

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
