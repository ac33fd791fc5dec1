"""A real network with trained weights, as a DirectML program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import dml2onnx


@pytest.fixture(scope="module")
def network(shared: Path) -> Path:
    return shared / "models" / "squeezenet"


def test_it_recognizes_the_poodle(network: Path) -> None:
    answer: np.ndarray = dml2onnx.run(network / "model.json")["softmax"].reshape(-1)
    categories = (network / "imagenet_categories.txt").read_text().splitlines()
    assert answer.argmax() == 265
    assert categories[265] == "toy poodle"
    assert answer[265] == pytest.approx(0.2152, abs=5e-5)
    expected = np.load(network / "expected" / "softmax.npy").reshape(-1)
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("opset", range(17, 24))
def test_the_model_is_small(network: Path, opset: int) -> None:
    model = dml2onnx.compile(dml2onnx.load(network / "model.json"), opset=opset)
    onnx.checker.check_model(model.model_proto, full_check=True)
    assert model.node_count <= 70


@pytest.mark.parametrize("opset", [17, 21])
def test_convolutions_fuse(network: Path, tmp_path: Path, opset: int) -> None:
    """ONNX Runtime fuses every Conv with its Relu (1.24 only up to opset 21: Conv is a new version in 22)."""
    graph = dml2onnx.load(network / "model.json")
    path = tmp_path / "squeezenet.onnx"
    dml2onnx.compile(graph, opset=opset).save(path)
    model = onnx.load(path)
    assert [item.name for item in model.graph.input] == ["data"]
    convolutions = sum(node.op_type == "Conv" for node in model.graph.node)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    optimised = onnx.load(tmp_path / "optimised.onnx")
    fused = sum(node.op_type == "FusedConv" for node in optimised.graph.node)
    assert fused == convolutions == 26
    assert not any(node.op_type == "Relu" for node in optimised.graph.node)


def test_it_is_clean_from_the_first_feature_level(network: Path) -> None:
    graph = dml2onnx.load(network / "model.json")
    level = dml2onnx.minimum_feature_level(graph)
    assert level is not None
    assert level.name == "1_0"


def test_verify_passes(network: Path) -> None:
    assert dml2onnx.verify(network / "model.json", rounds=1).passed
