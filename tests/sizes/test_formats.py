"""A model of any format at another size is what the builder's graph is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.frontends import LoadOptions

SUFFIXES = {"native": ".json", "dml_graph": ".json", "serialized": ".bin", "dxdispatch": ".json"}


def _network(n: int, h: int, w: int) -> dml2onnx.Graph:
    rng = np.random.default_rng(7)
    g = GraphBuilder()
    x = g.input("x", np.float32, [n, 3, h, w])
    x = g.convolution(x, rng.normal(0, 0.3, (4, 3, 3, 3)), start_padding=1, end_padding=1, fused_activation="RELU")
    x = x + rng.normal(0, 1, (1, 4, 1, 1))
    rows = g.reinterpret(x, sizes=[1, n, 4, h * w])
    return g.build({"y": g.activation_identity(g.reinterpret(g.activation_softmax(rows, [3]), sizes=[n, 4, h, w]))})


@pytest.mark.parametrize("form", SUFFIXES)
def test_every_format(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{SUFFIXES[form]}"
    dml2onnx.convert(_network(2, 4, 6), path, format=form)
    graph = dml2onnx.load(path)
    assert graph.format == form
    item = next(item for item in graph.inputs if item.value.nbytes == 2 * 3 * 4 * 6 * 4)
    if len(graph.inputs) > 1:
        graph = dml2onnx.load(path, LoadOptions(freeze=True, inputs=frozenset({item.name})))
    sizes = {item.name: (3, 3, 8, 5)}
    assert not [found for found in dml2onnx.check(graph, sizes=sizes) if found.severity.value == "error"]
    x = np.random.default_rng(1).standard_normal((3, 3, 8, 5)).astype(np.float32)
    results = dml2onnx.run(graph, {item.name: x}, sizes=sizes)
    output = "y" if "y" in results else next(iter(results))
    found = results[output]
    (wanted,) = dml2onnx.run(_network(3, 8, 5), {"x": x}).values()
    np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
    model = dml2onnx.compile(graph, sizes={item.name: ("N", 3, "H", "W")}, ranges={"N": (1, 4)})
    named = model.run({item.name: x})[output]
    np.testing.assert_array_equal(named.reshape(wanted.shape), wanted)
