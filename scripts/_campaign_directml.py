"""The campaign's comparison with DirectML itself (``--against directml``)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from _campaign_journal import Campaign, as_native

SEEDS_AT_ONCE = 15
"""Seeds per DirectML process; all use the contents of the first seed, and every fourth group has extreme contents."""
DEFAULT_MODELS = (1, 4)
"""Remainder and modulus of the seeds that run default models, with ordinary contents."""
GRAPHS_OF_A_SEED = 5


def descriptors(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compares verdicts on valid and invalid descriptors, and the numbers of those that both accept."""
    from dml2onnx.test_cases import descriptor_trials, valid
    from dml2onnx.test_cases.coverage import cells
    from dml2onnx.test_cases.directml_trials import compare, drawn
    from dml2onnx.test_cases.single_node import single_node

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
    """Compares random graphs, compiled by DirectML as a whole if possible."""
    from dml2onnx.checks import check
    from dml2onnx.test_cases.random_graphs import samples

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
    """The graphs that hypothesis draws for a seed."""
    import hypothesis

    found: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=GRAPHS_OF_A_SEED,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[hypothesis.HealthCheck.too_slow],  # drawing is slow on a busy machine
        deadline=None,
    )
    @hypothesis.given(strategy)
    def collect(sample: Any) -> None:
        found.append(sample.graph)

    collect()
    return found


def _graph(graph: Any, seed: int, installation: Any) -> tuple[str, str]:
    """How DirectML ran a graph, and the first difference from the reference."""
    import numpy as np

    from dml2onnx.compiler import compile_outputs
    from dml2onnx.directml.graphs import NodeFailedError, evaluate
    from dml2onnx.reference import evaluate_results, memory
    from dml2onnx.test_cases.trial import feeds_of

    model = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(model, seed)
    data = {name: np.ascontiguousarray(array).tobytes() for name, array in feeds.items()}
    try:
        found = evaluate(graph, graph.outputs, data, installation)
    except NodeFailedError as error:
        return "not run", str(error)
    got = {
        item.name: memory.read(np.frombuffer(found.values[item.value], np.uint8).copy(), item.desc)
        for item in graph.outputs
    }
    with np.errstate(all="ignore"):
        return found.way, _difference(model.outputs, got, evaluate_results(graph, feeds))


def _difference(ports: Any, directml: Any, wanted: Any) -> str:
    """Describes the first output of DirectML that the reference does not allow, by :func:`different`."""
    from dml2onnx.test_cases.directml_trials import different

    for port in ports:
        got, want = directml[port.name], wanted[port.name]
        wrong = different(want.values.astype(got.dtype), got, want, port.desc.data_type)
        if wrong.any():
            at = tuple(int(axis[0]) for axis in wrong.nonzero())
            return f"{port.name}{list(at)} is {got[at]}, not {want.values[at]} ({wrong.sum()} of {wrong.size})"
    return ""


def _kind(answer: Any) -> str:
    if answer.outcome.died:
        return "DirectML crashes"
    directml = "accepts" if answer.outcome.created == 0 else "refuses"
    return f"check {'refuses' if answer.refused else 'accepts'}, DirectML {directml}"


def _installed() -> Any:
    from dml2onnx.directml.installation import find

    installation = find()
    if installation is None:
        raise SystemExit("DirectML is not installed: python scripts/directml.py")
    return installation
