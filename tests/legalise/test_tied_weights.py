"""Weights shared by a convolution and a transposed one, as in an encoder and a decoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from tests.runtimes.proof import Runtime, Worker

OPENVINO = Path(__file__).parents[2] / ".venv-openvino" / "bin" / "python"


def _tied(channels: int) -> dml2onnx.Graph:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, channels, 4, 4])
    kernels = g.constant(np.random.default_rng(0).standard_normal((channels, channels, 2, 2)).astype(np.float32))
    encoded = g.convolution(x, kernels, strides=[2, 2])
    decoded = g.convolution(encoded, kernels, direction="BACKWARD", strides=[2, 2])
    return g.build({"y": decoded, "z": g.convolution(decoded, kernels, direction="BACKWARD")})


@pytest.mark.parametrize("channels", [4, 64])
@pytest.mark.parametrize(("target", "count"), [("onnx", 1), ("cpu", 1), ("openvino", 2), ("portable", 2)])
def test_weights_are_duplicated_only_for_targets_that_relayout_them(target: str, count: int, channels: int) -> None:
    """Small weights are shared by contents, large ones by identity; all transposed convolutions share one copy."""
    assert len(dml2onnx.compile(_tied(channels), target=target).lowered.initializers) == count


def test_openvino_computes_tied_weights() -> None:
    if not OPENVINO.exists():
        pytest.skip("needs .venv-openvino")
    model = dml2onnx.compile(_tied(4), target="openvino")
    x = np.random.default_rng(1).standard_normal((1, 4, 4, 4)).astype(np.float32)
    wanted = dml2onnx.run(_tied(4), {"x": x})
    worker = Worker(Runtime("openvino", "openvino", OPENVINO))
    try:
        found = worker.run(model.serialize(), {model.inputs[0].onnx_name: x})
    finally:
        worker.stop()
    assert isinstance(found, list), found
    for port, array in zip(model.outputs, found, strict=True):
        np.testing.assert_allclose(array, wanted[port.name], rtol=1e-4, atol=1e-4)
