"""How many barriers random chains, and graphs that need one, get, so that placing more or fewer is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import OnnxNode
from dml2onnx.optimizer_barriers import BARRIERS, table
from dml2onnx.passes.quantised import Quantised
from tests.optimizer_barriers.forms import FORMS, SIZES, chain_of
from tests.optimizer_barriers.test_needed import NEEDED

CHAINS = 500
STEPS = [name for name in FORMS if "quant" in name or "steps" in name]
PLACED: dict[tuple[int, bool], dict[str, int]] = {
    (17, False): {
        "casts": 0,
        "clipped integers": 1,
        "close bounds": 1,
        "coarse weights": 0,
        "doubled": 28,
        "factors": 0,
        "inexact kernels": 10,
        "moved steps": 6,
        "pads": 1,
        "quotients": 10,
        "refused means": 1,
        "scaled rows": 10,
        "signed products": 1,
        "weights": 2,
    },
    (21, False): {
        "casts": 0,
        "clipped integers": 1,
        "close bounds": 1,
        "coarse weights": 0,
        "doubled": 28,
        "factors": 0,
        "inexact kernels": 10,
        "moved steps": 12,
        "pads": 1,
        "quotients": 10,
        "refused means": 2,
        "scaled rows": 10,
        "signed products": 1,
        "weights": 1,
    },
    (21, True): {
        "casts": 0,
        "clipped integers": 1,
        "close bounds": 0,
        "coarse weights": 0,
        "doubled": 28,
        "factors": 0,
        "inexact kernels": 7,
        "moved steps": 14,
        "pads": 0,
        "quotients": 10,
        "refused means": 0,
        "scaled rows": 10,
        "signed products": 0,
        "weights": 1,
    },
}
"""Opset and whether models are exact, and the inputs with each kind of barrier."""


def counted(found: Counter[str], barrier: table.Barrier) -> table.Barrier:
    """The barrier, which counts the inputs that it finds."""

    def inputs(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
        places = barrier.inputs(quantised, node)
        found[barrier.name] += len(places)
        return places

    return replace(barrier, inputs=inputs)


def built(random: np.random.Generator) -> Graph:
    """A chain of few kinds, so that the same ones often meet."""
    kinds = [*random.choice(STEPS, 2, replace=False), *random.choice(list(FORMS), 3, replace=False)]
    g = GraphBuilder()
    x = g.input("x", str(random.choice(["FLOAT32", "INT8", "UINT8", "INT32"])), SIZES)
    for _ in range(8):
        made = chain_of(g, x, [str(random.choice(kinds))])
        x = x if made is None else made
    return g.build({"y": x})


@pytest.mark.parametrize(("opset", "exact"), PLACED)
def test_barriers_of_random_chains(opset: int, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counter[str]()
    monkeypatch.setattr(table, "BARRIERS", tuple(counted(found, item) for item in BARRIERS))
    random = np.random.default_rng(3)
    graphs = [built(random) for _ in range(CHAINS)]
    for _, build, _ in NEEDED.values():
        g = GraphBuilder()
        graphs.append(g.build({"y": build(g)}))
    for graph in graphs:
        compile(graph, opset=opset, exact=exact, optimize=0)
    assert found == PLACED[opset, exact]
