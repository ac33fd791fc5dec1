"""ONNX Runtime's optimiser must not change weights that it computes when it loads a model.

It folds what depends on constants only, and then quantises weights between quantisations to 8 bits. Each way to leave
weights to the runtime is a component of a model, for each operator that has weights, with and without a bias: 4-bit
constants from 1,024 elements on, constants above the limit of folding, and an exhausted budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.emitter import budget, core, neural
from dml2onnx.verification import random_array
from tests.lowering.harness import left_by_optimiser
from tests.optimizer_barriers import forms, test_optimizer
from tests.optimizer_barriers.forms import dequantized, difference, moved, number, quantized, runs
from tests.selection import each_value_once

Weights = Callable[[GraphBuilder, tuple[int, ...], np.random.Generator], Expression]

CHANNELS, ROWS = 64, 16


def steps_of(data_type: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    low, high = {"INT4": (-8, 8), "UINT4": (0, 16), "INT8": (-127, 128), "UINT8": (0, 256)}[data_type]
    return rng.integers(low, high, sizes).astype(np.int8 if low else np.uint8)


def scales_of(sizes: tuple[int, ...], axis: int) -> np.ndarray:
    """Returns scales, one of which is 100 times the others, so that one scale for all weights is too coarse."""
    scales = np.full([size if at == axis else 1 for at, size in enumerate(sizes)], 0.01, np.float32)
    scales.reshape(-1)[0] = 1
    return scales


def in_blocks(data_type: str, axis: int, *, zero_point: bool = False) -> Weights:
    """DEQUANTIZE with one scale per index along an axis."""

    def make(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
        x, scales = g.constant(steps_of(data_type, sizes, rng), data_type=data_type), scales_of(sizes, axis)
        if not zero_point:
            return g.dequantize(x, [g.constant(scales)], "SCALE")
        points = g.constant(steps_of(data_type, scales.shape, rng), data_type=data_type)
        return g.dequantize(x, [g.constant(scales), points], "SCALE_ZERO_POINT")

    return make


def uneven(sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Returns random numbers, a few of which are 100 times the others."""
    values = rng.normal(0, 0.05, sizes).astype(np.float32)
    values.reshape(-1)[::97] *= 100
    return values


def halves(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
    return g.cast(g.constant(uneven(sizes, rng).astype(np.float16)), "FLOAT32")


def scaled_bytes(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
    x = g.cast(g.constant(steps_of("INT8", sizes, rng)), "FLOAT32")
    return g.multiply(x, g.broadcast(g.constant(scales_of(sizes, 1)), sizes))


def joined(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
    values = uneven(sizes, rng)
    return g.join([g.constant(values[: sizes[0] // 2]), g.constant(values[sizes[0] // 2 :])], 0)


def transposed(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
    order = (1, 0, *range(2, len(sizes)))
    return moved(g, halves(g, (sizes[1], sizes[0], *sizes[2:]), rng), order)


def by_tensor(data_type: str) -> Weights:
    def make(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
        return dequantized(g, g.constant(steps_of(data_type, sizes, rng)), 0.0137, 3)

    return make


def by_channel(data_type: str, axis: int) -> Weights:
    def make(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
        x = g.constant(steps_of(data_type, sizes, rng))
        return g.dequantize_linear(x, g.broadcast(g.constant(scales_of(sizes, axis)), sizes), None)

    return make


def from_input(data_type: str, axis: int | None) -> Weights:
    """Weights that are dequantised from an input."""

    def make(g: GraphBuilder, sizes: tuple[int, ...], rng: np.random.Generator) -> Expression:
        x = g.input(f"weights {rng.bytes(8).hex()}", data_type, sizes)
        if axis is None:
            return dequantized(g, x, 0.0137, 3)
        return g.dequantize_linear(x, g.broadcast(g.constant(scales_of(sizes, axis)), sizes), None)

    return make


WEIGHTS: dict[str, Weights] = {
    **{f"{name} in blocks along 0": in_blocks(name, 0) for name in ("INT4", "UINT4", "INT8")},
    **{f"{name} in blocks along 1": in_blocks(name, 1) for name in ("INT4", "UINT4", "INT8")},
    "INT4 with zero points": in_blocks("INT4", 0, zero_point=True),
    "UINT8 with zero points": in_blocks("UINT8", 1, zero_point=True),
    "FLOAT16": halves,
    "INT8 times scales": scaled_bytes,
    "JOIN": joined,
    "transposed": transposed,
    "INT8 by one scale": by_tensor("INT8"),
    "UINT8 by one scale": by_tensor("UINT8"),
    "INT8 by scales along 0": by_channel("INT8", 0),
    "INT8 by scales along 1": by_channel("INT8", 1),
    **{f"input {name} along {axis}": from_input(name, axis) for name in ("INT8", "UINT8") for axis in (None, 0, 1)},
}


def gemm(g: GraphBuilder, x: Expression, w: Expression, bias: np.ndarray | None) -> Expression:
    rows = g.reinterpret(x, sizes=(x.desc.element_count // w.sizes[0], w.sizes[0]))
    c = None if bias is None else g.broadcast(g.constant(bias), (rows.sizes[0], w.sizes[1]))
    return g.gemm(rows, w, c)


def convolution(g: GraphBuilder, x: Expression, w: Expression, bias: np.ndarray | None) -> Expression:
    return g.convolution(x, w, None if bias is None else g.constant(bias.reshape(1, -1, 1, 1)))


def backward(g: GraphBuilder, x: Expression, w: Expression, bias: np.ndarray | None) -> Expression:
    return g.convolution(x, w, None if bias is None else g.constant(bias.reshape(1, -1, 1, 1)), direction="BACKWARD")


OPERATORS = {
    "GEMM": (gemm, (CHANNELS, ROWS), ROWS),
    "CONVOLUTION FORWARD": (convolution, (ROWS, CHANNELS, 1, 1), ROWS),
    "CONVOLUTION BACKWARD": (backward, (CHANNELS, ROWS, 1, 1), ROWS),
}
"""The operator, the sizes of its weights and the size of a bias."""


def components(g: GraphBuilder, data_type: str) -> Iterator[tuple[str, Expression]]:
    """Yields every combination of weights, operator and bias, between two quantisations."""
    rng = np.random.default_rng(4)
    for operator, (make, sizes, count) in OPERATORS.items():
        for kind, weights in WEIGHTS.items():
            for bias in (None, rng.normal(0, 3, count).astype(np.float32)):
                name = f"{operator}, {kind}, {'no bias' if bias is None else 'bias'}"
                x = dequantized(g, g.input(f"x of {name}", data_type, (1, CHANNELS, 2, 2)), 0.0211, 7)
                yield name, quantized(g, make(g, x, weights(g, sizes, rng), bias), data_type, 0.513, 5)


def changed(model: CompiledModel) -> list[str]:
    """Describes the outputs that the optimiser changes."""
    rng = np.random.default_rng(7)
    feeds = {port.onnx_name: random_array(port, rng) for port in model.inputs}
    plain, optimised = (runs(model, feeds, optimised=flag) for flag in (False, True))
    found = {name: difference(plain[name], optimised[name], rounded=False) for name in plain}
    return [f"{name}: {text}" for name, text in found.items() if text]


NOTHING = -1
"""Stands for an exhausted budget, instead of a number of elements."""


def left_to_the_runtime(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents folding, by a limit or by an exhausted budget."""
    if limit == NOTHING:
        monkeypatch.setattr(budget.Budget, "affords", lambda *_: False)
        monkeypatch.setattr(budget.Budget, "spend", lambda *_: None)
    else:
        for module in (core, neural):
            monkeypatch.setattr(module, "FOLDED_GROWTH_ELEMENTS", limit)


@pytest.mark.parametrize("data_type", ["UINT8", "INT8"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("opset", [17, 21, 23])
@pytest.mark.parametrize("limit", [1 << 20, CHANNELS, 0, NOTHING])
def test_weights_are_kept(limit: int, opset: int, exact: bool, data_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left_to_the_runtime(limit, monkeypatch)
    g = GraphBuilder()
    outputs = dict(components(g, data_type))
    found = changed(compile(g.build(outputs), opset=opset, exact=exact))
    assert not found, f"{len(found)} of {len(outputs)}\n" + "\n".join(found)


def test_scales_that_are_computed_when_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch, is_exhaustive: bool) -> None:
    """Chains around quantisations, with FLOAT16 scales that the runtime casts.

    Unless exhaustive, enough chains that each form follows every form that it can follow.
    """

    def widened(g: GraphBuilder, x: Expression, value: float, data_type: str = "FLOAT32") -> Expression:
        if data_type != "FLOAT32":
            return number(g, x, value, data_type)
        half = g.constant(np.full((1,) * x.rank, value, np.float16))
        return g.broadcast(g.cast(half, "FLOAT32"), x.sizes)

    left_to_the_runtime(0, monkeypatch)
    monkeypatch.setattr(forms, "number", widened)
    chains = list(test_optimizer.quantised_chains())
    if not is_exhaustive:
        chains = [chains[place] for place in each_value_once([list(pairwise((x, *rest))) for x, rest in chains])]
    test_optimizer.check_all(chains, 21)


@pytest.mark.parametrize(("limit", "left"), [(5, ["Cast", "Add"]), (6, ["Add"])])
def test_constants_are_widened_up_to_the_limit(limit: int, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    left_to_the_runtime(limit, monkeypatch)
    g = GraphBuilder()
    wide = g.cast(g.constant(np.arange(6, dtype=np.float16)), "FLOAT32")
    model = compile(g.build({"y": g.input("x", "FLOAT32", (6,)) + wide}))
    assert [node.op_type for node in model.lowered.nodes] == left


@pytest.mark.parametrize("kind", ["FLOAT16", "INT8 times scales", "JOIN", "INT8 in blocks along 1"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_weights_above_the_limit_of_folding(operator: str, kind: str) -> None:
    """One row more than 1,048,576 elements."""
    make, sizes, _ = OPERATORS[operator]
    sizes = tuple({CHANNELS: 1024, ROWS: 1025}.get(size, size) for size in sizes)
    assert math.prod(sizes) > core.FOLDED_GROWTH_ELEMENTS
    g = GraphBuilder()
    x = dequantized(g, g.input("x", "UINT8", (1, 1024, 1, 1)), 0.0211, 7)
    y = make(g, x, WEIGHTS[kind](g, sizes, np.random.default_rng(2)), None)
    assert not changed(compile(g.build({"y": quantized(g, y, "UINT8", 2.13, 128)}), exact=True))


def test_4_bit_weights_with_one_large_scale() -> None:
    """A regression: with scales of 0.01 and one of 1, 129 became 130."""
    g = GraphBuilder()
    x = dequantized(g, g.input("x", "UINT8", (3, 64)), 0.02, 0)
    y = g.gemm(x, in_blocks("INT4", 0)(g, (64, 16), np.random.default_rng(0)))
    assert not changed(compile(g.build({"y": quantized(g, y, "UINT8", 0.5, 128)}), exact=True))


def test_no_barrier_for_weights_of_an_integer_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_to_the_runtime(CHANNELS, monkeypatch)
    g = GraphBuilder()
    x = dequantized(g, g.input("x", "UINT8", (1, CHANNELS, 2, 2)), 0.0211, 7)
    w = by_channel("INT8", 0)(g, (ROWS, CHANNELS, 1, 1), np.random.default_rng(2))
    model = compile(g.build({"y": quantized(g, g.convolution(x, w), "UINT8", 0.513, 5)}), opset=21)
    assert "QLinearConv" in {node.op_type for node in left_by_optimiser(model, tmp_path).node}
