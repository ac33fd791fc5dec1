"""A small network that learns: forward, gradients and Adam in DirectML operators, one ONNX model run in a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import dml2onnx
from dml2onnx.builder import Expression, GraphBuilder

Floats = npt.NDArray[Any]

COUNT, FEATURES, HIDDEN, CLASSES = 48, 2, 16, 3
SHAPES = {
    "weight1": (1, 1, FEATURES, HIDDEN),
    "bias1": (1, 1, 1, HIDDEN),
    "weight2": (1, 1, HIDDEN, CLASSES),
    "bias2": (1, 1, 1, CLASSES),
}
RATE, BETA1, BETA2, EPSILON, STEPS = 0.05, 0.9, 0.999, 1e-7, 100


def arrays() -> dict[str, Floats]:
    """Points of three spirals, their classes as rows of 0 and 1, first weights, moments of 0, and step 1."""
    rng = np.random.default_rng(3)
    label = np.arange(COUNT) % CLASSES
    radius = np.linspace(0.2, 1, COUNT)
    angle = 3 * radius + label * 2 * np.pi / CLASSES
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1) + rng.normal(0, 0.02, (COUNT, FEATURES))
    result = {
        "x": points.reshape(1, 1, COUNT, FEATURES),
        "target": np.eye(CLASSES)[label].reshape(1, 1, COUNT, CLASSES),
    }
    for name, shape in SHAPES.items():
        result[name] = rng.normal(0, np.sqrt(2 / shape[2]) if "weight" in name else 0, shape)
        for moment in ("first", "second"):
            result[f"{moment}.{name}"] = np.zeros(shape)
    return {name: array.astype(np.float32) for name, array in result.items()} | {"step": np.ones((1,) * 4, np.uint32)}


def training_step() -> dml2onnx.Graph:
    """Everything that changes in a step, from what it was before."""
    g = GraphBuilder()
    given = {name: g.input(name, str(array.dtype).upper(), array.shape) for name, array in arrays().items()}
    x, target = given["x"], given["target"]
    before = x @ given["weight1"] + given["bias1"]
    hidden = g.activation_relu(before)
    probability = g.activation_softmax(hidden @ given["weight2"] + given["bias2"])
    loss = -g.reduce(target * g.log(probability), "SUM") / COUNT

    d_scores = (probability - target) / COUNT
    d_before = g.activation_relu_grad(before, g.gemm(d_scores, given["weight2"], trans_b="TRANSPOSE"))
    gradients: dict[str, Expression] = {
        "weight1": g.gemm(x, d_before, trans_a="TRANSPOSE"),
        "bias1": g.reduce(d_before, "SUM", axes=[2]),
        "weight2": g.gemm(hidden, d_scores, trans_a="TRANSPOSE"),
        "bias2": g.reduce(d_scores, "SUM", axes=[2]),
    }
    outputs = {"loss": loss, "next step": given["step"] + 1}
    for name, gradient in gradients.items():
        old = (given[name], given[f"first.{name}"], given[f"second.{name}"])
        new = g.adam_optimizer(*old, gradient, given["step"], RATE, BETA1, BETA2, EPSILON)
        outputs |= {
            f"next {name}": new.parameters,
            f"next first.{name}": new.first_moment,
            f"next second.{name}": new.second_moment,
        }
    return g.build(outputs)


def trained_by_numpy() -> list[float]:
    """The losses of the same training, in float64."""
    state = {name: array.astype(np.float64) for name, array in arrays().items()}
    x, target = state["x"][0, 0], state["target"][0, 0]
    losses = []
    for step in range(1, STEPS + 1):
        weights = {name: state[name][0, 0] for name in SHAPES}
        before = x @ weights["weight1"] + weights["bias1"]
        hidden = np.maximum(before, 0)
        scores = hidden @ weights["weight2"] + weights["bias2"]
        probability = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        losses.append(-(target * np.log(probability)).sum() / COUNT)
        d_scores = (probability - target) / COUNT
        d_before = (d_scores @ weights["weight2"].T) * (before > 0)
        gradients = {
            "weight1": x.T @ d_before,
            "bias1": d_before.sum(0),
            "weight2": hidden.T @ d_scores,
            "bias2": d_scores.sum(0),
        }
        for name, gradient in gradients.items():
            first, second = f"first.{name}", f"second.{name}"
            state[first] = BETA1 * state[first] + (1 - BETA1) * gradient
            state[second] = BETA2 * state[second] + (1 - BETA2) * gradient**2
            mean, square = state[first] / (1 - BETA1**step), state[second] / (1 - BETA2**step)
            state[name] = state[name] - RATE * mean / (np.sqrt(square) + EPSILON)
    return losses


def test_training_in_a_loop_agrees_with_numpy() -> None:
    graph = training_step()
    assert dml2onnx.check(graph) == []
    model = dml2onnx.compile(graph)
    state, losses = arrays(), []
    for _ in range(STEPS):
        results = model.run(state)
        losses.append(float(results["loss"].item()))
        state |= {name.removeprefix("next "): array for name, array in results.items() if name != "loss"}
    wanted = trained_by_numpy()
    assert state["step"].item() == STEPS + 1
    assert losses[-1] < 0.2 < 1 < losses[0]
    np.testing.assert_allclose(losses, wanted, rtol=2e-3)
    np.testing.assert_allclose(losses[-1], wanted[-1], rtol=2e-3)
    # every node alone as well, for the numbers of the first step
    assert dml2onnx.verify(graph, inputs=arrays()).passed
