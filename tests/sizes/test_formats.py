"""A resized model of any format computes what the builder's graph for that size does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
import dml2onnx.pydirectml as dml
from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import at_sizes
from dml2onnx.execution import execute
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant
from dml2onnx.ir.inputs import input_descs
from tests.pydirectml.helpers import start
from tests.sizes.networks import SHARED

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


def _agrees(graph: dml2onnx.Graph, x: np.ndarray, wanted: np.ndarray) -> None:
    """Asserts the result of a graph at the sizes of ``x``, as numbers and as names."""
    (item,) = graph.inputs
    (found,) = dml2onnx.run(graph, {item.name: x}, sizes={item.name: x.shape}).values()
    np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
    names: list[int | str] = [*x.shape]
    names[0], names[2] = "N", "H"
    (found,) = dml2onnx.run(graph, {item.name: x}, sizes={item.name: names}, ranges={"N": (1, 4)}).values()
    np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)


def test_recordings(tmp_path: Path) -> None:
    """Graphs of a C++ program with known weights."""
    dml2onnx.convert(_network(2, 4, 6), tmp_path / "net.json", format="dml_graph")
    document = json.loads((tmp_path / "net.json").read_text())
    index = {
        "dml2onnx_recording": 1,
        "graphs": [{"name": "net", "kind": "graph", "nodes": len(document["Nodes"]), "file": "net.json"}],
    }
    (tmp_path / "recording.json").write_text(json.dumps(index))
    x = np.random.default_rng(1).standard_normal((3, 3, 8, 6)).astype(np.float32)
    (wanted,) = dml2onnx.run(_network(3, 8, 6), {"x": x}).values()
    _agrees(dml2onnx.load(tmp_path, graph="net"), x, wanted)


def test_pydirectml() -> None:
    kernels = np.random.default_rng(2).standard_normal((4, 3, 3, 3)).astype(np.float32)

    def made(n: int, h: int) -> dml2onnx.Graph:
        graph, x, w = start([n, 3, h, 6], [4, 3, 3, 3])
        y = dml.activation_relu(dml.convolution(x, w, start_padding=[1, 1], end_padding=[1, 1]))
        built = graph.build(dml.ExecutionFlags.NONE, [dml.max_pooling(y, [2, 2], strides=[2, 2]).values]).graph
        picture, weights = built.inputs
        constant = Constant(weights.value, ArrayData.of(kernels))
        return replace(built, inputs=(picture,), constants=(*built.constants, constant))

    x = np.random.default_rng(1).standard_normal((3, 3, 8, 6)).astype(np.float32)
    there = made(3, 8)
    (wanted,) = dml2onnx.run(there, {there.inputs[0].name: x}).values()
    _agrees(made(2, 4), x, wanted)


def test_resources_and_commands_of_a_program_are_resized(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    zeros = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 24, "value": 1}}
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]}
    program = {
        "resources": {"a": zeros, "b": zeros},
        "dispatchables": {
            "relu": {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}
        },
        "commands": [
            {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "a", "OutputTensor": "b"}},
            {"type": "writeFile", "resource": "b", "targetPath": "b.npy", "dimensions": [1, 1, 4, 6]},
        ],
    }
    path.write_text(json.dumps(program))
    x = np.random.default_rng(1).standard_normal((2, 1, 5, 6)).astype(np.float32)
    for sizes in ((2, 1, 5, 6), ("N", 1, "H", 6)):
        found = execute(at_sizes(dml2onnx.load(path), {"a": sizes}), {"a": x})
        np.testing.assert_array_equal(found.results["b"], np.maximum(x, 0))
        ((effect, array),) = found.shown
        assert (effect.dimensions, array.size) == ((2, 1, 5, 6), x.size)


PARTITION = SHARED / "alexnet_partition" / "Partition_0.bin"


@pytest.mark.skipif(not PARTITION.exists(), reason="the partition lies beside the project, not in it")
def test_a_partition_of_a_known_network() -> None:
    """AlexNet as ONNX Runtime wrote it, without weights: only the batch can change."""
    graph = dml2onnx.load(PARTITION)
    (item,) = graph.inputs
    (desc,) = input_descs(graph.inputs, graph.nodes, graph.outputs)
    for batch, ranges in ((4, {}), ("N", {"N": (1, 16)})):
        found = dml2onnx.check(graph, sizes={item.name: (batch, *desc.sizes[1:])}, ranges=ranges)
        assert not [other for other in found if other.severity.value == "error"]
    found = dml2onnx.check(graph, sizes={item.name: (*desc.sizes[:2], 2 * desc.sizes[2], desc.sizes[3])})
    assert [other.code for other in found] == ["DML2104"]
