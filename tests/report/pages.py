"""The pages that tests open in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import dml2onnx
from dml2onnx.options import CompileOptions
from dml2onnx.report.comparison import ComparisonAnswer, compare
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.records import Access, Report, ValueRecord
from tests.report.models import HOSTILE, broken, changed, hostile, long_names, scoped, small, wrong


def chain(count: int, prefix: str = "n") -> Report:
    """Returns a report of a chain of activations, without building the graph."""
    report = gather(small())
    node = next(node for node in report.nodes if node.name == "activation_relu")
    tensor = node.outputs[0].tensor
    nodes = tuple(
        replace(
            node,
            name=f"{prefix}{place}",
            onnx=(),
            inputs=(Access("InputTensor", place, tensor),),
            outputs=(Access("OutputTensor", place + 1, tensor),),
        )
        for place in range(count)
    )
    values = (ValueRecord("x", 16, "input"), *(ValueRecord(f"v{place}", 16, "node") for place in range(count)))
    (first, *_), (last, *_) = report.inputs, report.outputs
    ends: dict[str, Any] = {"inputs": (replace(first, value=0),), "outputs": (replace(last, value=count),)}
    return replace(report, nodes=nodes, values=values, onnx=None, diagnostics=(), **ends)


def spoiled() -> Report:
    with mock.patch("dml2onnx.report.gathering.verify_graph", wrong):
        return gather(small(), rounds=3)


def gelu() -> dml2onnx.Graph:
    """A node that needs feature level 5_1."""
    g = dml2onnx.GraphBuilder()
    return g.build({"y": g.activation_gelu(g.input("x", "FLOAT32", [4]), name="gelu")})


def written(directory: Path) -> dict[str, Path]:
    """Writes a page of each kind; returns their paths by name."""
    reports: dict[str, Report | ComparisonAnswer] = {
        "small": gather(small(), rounds=1, profile=True),
        "broken": gather(broken()),
        "wrong": spoiled(),
        "hostile": gather(hostile()),
        "large": chain(5000),
        "scoped": gather(scoped(), rounds=1, profile=True),
        "scoped large": gather(scoped(200)),
        "long names": gather(long_names(), rounds=1, profile=True),
        "compared": compare(gather(small(), digests=True), gather(changed(), digests=True), ("one", "two")),
        "other errors": compare(gather(small(), digests=True), gather(broken(), digests=True), ("one", HOSTILE)),
        "levels": compare(
            gather(gelu(), CompileOptions.of(feature_level="3_0", target="cpu")), gather(gelu()), ("3_0", "6_4")
        ),
        "large pair": compare(chain(5000), chain(5000), ("one", "two")),
    }
    paths = {name: directory / f"{name}.html" for name in reports}
    for name, report in reports.items():
        paths[name].write_text(page(report), encoding="utf-8")
    return paths
