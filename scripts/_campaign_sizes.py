"""The campaign's trials of named sizes: graphs, programs and single operators, compiled for all sizes at once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from _campaign_journal import Campaign, as_native


def sizes(campaign: Campaign, chosen: Iterator[int]) -> None:
    """Compares with models of single sizes and the reference, and programs also with programs written for a size."""
    from dml2onnx.test_cases.reduction import smallest
    from dml2onnx.test_cases.sized_trials import trial

    def tried(seed: int, case: Any) -> str:
        graph, written = case
        if graph is None or any(item.severity.value == "error" for item in import_module("dml2onnx").check(graph)):
            campaign.counts["sizes, refused"] += 1
            return ""
        campaign.counts["sizes, run"] += 1
        found = trial(graph, seed)
        campaign.counts[f"sizes, {found.refused or 'with names'}"] += 1
        return found.problem or written(seed)

    for seed in chosen:
        strategy = STRATEGIES[seed % len(STRATEGIES)](random.Random(seed))
        failing = smallest(seed, strategy, tried, lambda case: len(case[0].nodes), campaign.shrink)
        if failing is not None:
            case, problem = failing
            campaign.note("sizes", seed, problem, None if case is None else as_native(case[0]))


def _graphs(chance: random.Random) -> Any:
    """Random graphs with any layouts."""
    from dml2onnx.test_cases.random_graphs import samples

    return samples(most=chance.choice((2, 4, 8))).map(lambda sample: (sample.graph, lambda seed: ""))


def _programs(chance: random.Random) -> Any:
    """Networks written for one batch, height and width, to compare after resizing with those written for another."""
    from hypothesis import strategies as st

    programs = import_module("tests.sizes.programs").programs
    old = st.tuples(st.integers(2, 5), st.integers(4, 9), st.integers(4, 9))
    new = st.tuples(st.integers(1, 5), st.integers(4, 9), st.integers(4, 9))

    def case(drawn: Any) -> Any:
        program, own, other = drawn
        written = import_module("tests.sizes.same").written_for
        return written(program, own), lambda seed: _disagreement(written(program, own), written(program, other), other)

    return st.tuples(programs(chance.choice((1, 3, 5))), old, new).map(case)


def _disagreement(written: Any, wanted: Any, sizes: tuple[int, int, int]) -> str:
    """Describes how a resized program differs from the program written for these sizes."""
    import dml2onnx

    if wanted is None:
        return ""
    n, h, w = sizes
    try:
        import_module("tests.sizes.same").assert_same(dml2onnx.resize(written, {"x": (n, 3, h, w)}), wanted)
    except (AssertionError, dml2onnx.DmlError) as error:
        return f"resized to {sizes}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return ""


def _operators(chance: random.Random) -> Any:
    """Single operators, half of them with a tensor in another layout."""
    from hypothesis import strategies as st

    from dml2onnx.test_cases.single_node import single_node
    from dml2onnx.test_cases.valid import descriptors
    from dml2onnx.test_cases.variations import laid_out

    known = [op for several in descriptors().values() for op in several]

    def case(drawn: Any) -> Any:
        op, number = drawn
        return single_node(laid_out(op, random.Random(number)) if number % 2 else op), lambda seed: ""

    return st.tuples(st.sampled_from(known), st.integers(0, 1 << 16)).map(case)


STRATEGIES = (_graphs, _programs, _operators)
"""Used in turn, one for each seed."""
