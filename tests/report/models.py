"""Models for the tests of reports: small ones, one with hostile names, and one with many errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dml2onnx
from dml2onnx.verification import Verification, verify
from dml2onnx.verification.options import VerifyOptions

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u202egnp.exe\u2028{{data}}<!--"


def small() -> dml2onnx.Graph:
    """Four live nodes, one of which is an identity, and one that no output needs; x is read transposed as well."""
    g = dml2onnx.GraphBuilder(name="small")
    x = g.input("x", "INT16", [2, 3], [1, 2])
    with g.scope("block"):
        y = g.max(x, x, name="largest")
    g.abs(x, name="unused")
    z = g.activation_relu(
        g.convolution(g.input("picture", "FLOAT32", [1, 1, 4, 4]), g.constant(np.ones((1, 1, 3, 3), "float32")))
    )
    return g.build({"y": y, "z": z, "same": g.identity(z, name="same")})


def scoped(blocks: int = 3) -> dml2onnx.Graph:
    """Blocks of three nodes, each in a scope of its own within a common one."""
    g = dml2onnx.GraphBuilder(name="scoped")
    x = g.input("x", "FLOAT32", [4])
    y = g.abs(x, name="first")
    with g.scope("body/"):
        for number in range(blocks):
            with g.scope(f"block{number}/"):
                y = g.add(y, g.activation_relu(g.negate(y, name="negate"), name="relu"), name="sum")
    return g.build({"y": g.abs(y, name="last")})


def long_names() -> dml2onnx.Graph:
    """A block of a network with default names of nodes, and with strides."""
    g = dml2onnx.GraphBuilder(name="long names")
    x = g.input("features_before_normalization", "FLOAT32", [1, 16, 32, 32])
    for number in range(2):
        with g.scope(f"stage_{number}"):
            y = g.mean_variance_normalization(x)
            x = x + g.convolution(y, np.ones((16, 16, 3, 3)), start_padding=1, end_padding=1, fused_activation="RELU")
    return g.build({"features_after_normalization": x})


def changed() -> dml2onnx.Graph:
    """The small model with other weights, x read in memory order, one node renamed, one added, and one removed."""
    g = dml2onnx.GraphBuilder(name="changed")
    x = g.input("x", "INT16", [2, 3])
    with g.scope("block"):
        y = g.max(x, x, name="largest")
    weights = g.constant(np.full((1, 1, 3, 3), 2, "float32"))
    z = g.activation_relu(g.convolution(g.input("picture", "FLOAT32", [1, 1, 4, 4]), weights), name="rectified")
    return g.build({"y": y, "z": z, "same": g.identity(g.abs(z, name="added"), name="same")})


def wrong(graph: dml2onnx.Graph, options: VerifyOptions) -> Verification:
    """Returns the result of ``verify`` for a compiler with a wrong convolution."""
    verdict = verify(graph, rounds=1)
    spoiled: dict[str, Any] = {
        "wrong": 2,
        "worst_of_bound": float("inf"),
        "round": "1 (ordinary values)",
        "first_wrong": (0, 0, 1, 1),
    }
    numbers: dict[str, Any] = {"expected": 1.5, "got": float("nan"), "bound": 0.25}
    nodes = [replace(item, **spoiled, **numbers) if item.node == "convolution" else item for item in verdict.nodes]
    return replace(verdict, nodes=tuple(nodes), rounds=3)


def hostile() -> dml2onnx.Graph:
    """All names would break unescaped HTML, XML or text."""
    g = dml2onnx.GraphBuilder(name="hostile")
    x = g.input(f"x{HOSTILE}", "INT8", [2, 2])
    graph = g.build({f"y{HOSTILE}": g.abs(x, name=HOSTILE)})
    return replace(graph, name=HOSTILE)


def broken() -> dml2onnx.Graph:
    """The sample with errors."""
    return dml2onnx.load(SAMPLES / "broken" / "model.json")
