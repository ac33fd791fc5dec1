"""The part of the campaign that tries single descriptors."""

from __future__ import annotations

from collections.abc import Iterator

from _campaign_journal import Campaign, as_native


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """One operator each, those of a walk in one session."""
    from dml2onnx.verification import descriptor_trials, valid
    from dml2onnx.verification.coverage import cells
    from dml2onnx.verification.lone import lone_node

    bases = [descriptor_trials.normal(op) for several in valid.descriptors().values() for op in several]
    for seed in chosen:
        walk = descriptor_trials.walk(bases, seed)
        campaign.counts["descriptors, run"] += len(walk.trials)
        for kind, count in walk.mutants.items():
            campaign.counts[f"descriptors, changed and {kind}"] += count
        for failure in walk.failures:
            campaign.note("descriptors", seed, failure)
        for case in walk.trials:
            campaign.cells.update(cells(case.op))
            if case.problem:
                op, problem = descriptor_trials.reduced(case.op, case.seed, case.problem, campaign.shrink)
                campaign.note("descriptors", seed, f"{op.type}: {problem}", as_native(lone_node(op)))
