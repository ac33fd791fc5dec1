"""The parts of the campaign that ask DirectML itself (``--against directml``)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from _campaign_journal import Campaign, as_native

SEEDS_AT_ONCE = 15
"""One process of DirectML answers for as many seeds, whose contents are those of the first; one in four is extreme."""
DEFAULT_MODELS = (1, 4)
"""Which of so many runs are of default models; its contents are ordinary."""
GRAPHS_OF_A_SEED = 5


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Right and wrong descriptors: verdicts, and the numbers of those that both accept."""
    from dml2onnx.testing import descriptor_trials, valid
    from dml2onnx.testing.coverage import cells
    from dml2onnx.testing.directml_trials import compare, drawn
    from dml2onnx.testing.single_node import single_node

    installation = _installed()
    bases = [descriptor_trials.normal(op) for several in valid.descriptors().values() for op in several]
    while seeds := list(islice(chosen, SEEDS_AT_ONCE)):
        ops = [(op, seed) for seed in seeds for op in drawn(bases, seed)]
        exact = seeds[0] % DEFAULT_MODELS[1] != DEFAULT_MODELS[0]
        answers = compare([op for op, _ in ops], seeds[0], installation, exact=exact)
        for (_, seed), answer in zip(ops, answers, strict=True):
            campaign.counts["descriptors, run"] += 1
            campaign.counts[f"descriptors, {_kind(answer)}"] += 1
            if not answer.refused:
                campaign.cells.update(cells(answer.op))
            if answer.problem:
                native = as_native(single_node(answer.op))
                campaign.note("descriptors", seed, f"{answer.op.type}: {answer.problem}", native)


def graphs(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Random graphs, compiled by DirectML as a whole where that can be."""
    from dml2onnx.checks import check
    from dml2onnx.testing.random_graphs import samples

    installation = _installed()
    for seed in chosen:
        for graph in _drawn(samples(), seed):
            if any(item.severity.value == "error" for item in check(graph)):
                campaign.counts["graphs, refused"] += 1
                continue
            campaign.counts["graphs, run"] += 1
            way, problem = _graph(graph, seed, installation)
            campaign.counts[f"graphs, {way}"] += 1
            if problem:
                campaign.note("graphs", seed, problem, as_native(graph))


def _drawn(strategy: Any, seed: int) -> list[Any]:
    """The graphs that a seed gives."""
    import hypothesis

    found: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=GRAPHS_OF_A_SEED,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[hypothesis.HealthCheck.too_slow],  # on a machine that has other work
        deadline=None,
    )
    @hypothesis.given(strategy)
    def collect(sample: Any) -> None:
        found.append(sample.graph)

    collect()
    return found


def _graph(graph: Any, seed: int, installation: Any) -> tuple[str, str]:
    """How DirectML ran a graph, and what is wrong with its numbers, or the compiler's."""
    import numpy as np

    from dml2onnx.compiler import compile_outputs
    from dml2onnx.directml.graphs import RefusedError, evaluate
    from dml2onnx.reference import evaluate_results, memory
    from dml2onnx.testing.trial import feeds_of

    model = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(model, seed)
    given = {name: np.ascontiguousarray(array).tobytes() for name, array in feeds.items()}
    try:
        found = evaluate(graph, graph.outputs, given, installation)
    except RefusedError as error:
        return "not run", str(error)
    got = {
        item.name: memory.read(np.frombuffer(found.values[item.value], np.uint8).copy(), item.desc)
        for item in graph.outputs
    }
    with np.errstate(all="ignore"):
        return found.way, _unlike(model.outputs, got, evaluate_results(graph, feeds))


def _unlike(ports: Any, directml: Any, wanted: Any) -> str:
    """The first output of DirectML that is neither near the reference nor what it allows, by :func:`different`."""
    from dml2onnx.testing.directml_trials import different

    for port in ports:
        got, want = directml[port.name], wanted[port.name]
        wrong = different(want.values.astype(got.dtype), got, want, port.desc.data_type)
        if wrong.any():
            at = tuple(int(axis[0]) for axis in wrong.nonzero())
            return f"{port.name}{list(at)} is {got[at]}, not {want.values[at]} ({wrong.sum()} of {wrong.size})"
    return ""


def _kind(answer: Any) -> str:
    if answer.outcome.died:
        return "at which DirectML dies"
    directml = "takes" if answer.outcome.created == 0 else "refuses"
    return f"check {'refuses' if answer.refused else 'takes'}, DirectML {directml}"


def _installed() -> Any:
    from dml2onnx.directml.installation import find

    installation = find()
    if installation is None:
        raise SystemExit("DirectML is not installed: python scripts/directml.py")
    return installation
