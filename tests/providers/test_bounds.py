"""Tests error bounds of providers: results of narrower arithmetic are within its bounds, and larger errors are not."""

from __future__ import annotations

import numpy as np
import pytest

import dml2onnx
from dml2onnx.ir.graph import Graph
from dml2onnx.providers.choice import Providers
from dml2onnx.providers.table import AUTO, BY_NAME
from dml2onnx.reference import disagreements, evaluate_results
from dml2onnx.reference.arithmetic import BFLOAT16, FLOAT16, FLOAT32, PRODUCTS, TF32, WGSL, Arithmetic
from dml2onnx.reference.registry import references
from dml2onnx.verification.bounds import TABLE, computes


def test_every_provider_has_a_row_for_all_options_and_a_source() -> None:
    for name in BY_NAME:
        *first, last = (row for row in TABLE if row.provider == name)
        assert all(row.option for row in first)
        assert not last.option
    assert all(row.source.startswith("https://") for row in TABLE)
    assert {row.provider for row in TABLE} == set(BY_NAME)


def test_operators_are_known() -> None:
    assert set(references()) >= {*PRODUCTS, *(WGSL.functions or {})}


@pytest.mark.parametrize(
    ("providers", "there", "arithmetic"),
    [
        (Providers(), (), FLOAT32),
        (Providers("cuda"), (), TF32),
        (Providers("cuda", options={"use_tf32": "0"}), (), FLOAT32),
        (Providers("tensorrt", "cuda", options={"tensorrt": {"trt_fp16_enable": "True"}}), (), FLOAT16),
        (Providers("openvino"), (), FLOAT32),
        (Providers("openvino", device=0), (), FLOAT16),
        (Providers("openvino", options={"device_type": "GPU", "precision": "ACCURACY"}), (), FLOAT32),
        (Providers("qnn"), (), FLOAT16),
        (Providers("vitisai", "cpu"), (), BFLOAT16),
        (Providers("webgpu", "cpu"), (), WGSL),
        (Providers(AUTO), ("CPUExecutionProvider",), FLOAT32),
        (Providers(AUTO), ("CoreMLExecutionProvider", "CPUExecutionProvider"), FLOAT16),
    ],
)
def test_the_least_exact_of_those_that_compute_counts(
    providers: Providers, there: tuple[str, ...], arithmetic: Arithmetic
) -> None:
    assert computes(providers, there).arithmetic is arithmetic


def to_tf32(x: np.ndarray, digits: int = 10) -> np.ndarray:
    """Rounds to ``digits`` fraction bits; TF32 has 10, BFLOAT16 7."""
    fraction, exponent = np.frexp(x.astype(np.float64))
    rounded: np.ndarray = np.ldexp(np.round(fraction * 2.0 ** (digits + 1)) / 2.0 ** (digits + 1), exponent)
    return rounded.astype(np.float32)


def network() -> Graph:
    """Two products with an activation between them."""
    g = dml2onnx.GraphBuilder()
    a, b, c = (g.input(name, "FLOAT32", [1, 1, 8, 8]) for name in "abc")
    return g.build({"y": g.gemm(g.activation_tanh(g.gemm(a, b)), c)})


def feeds() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {name: random.standard_normal((1, 1, 8, 8), np.float32) for name in "abc"}


def cut(x: np.ndarray) -> np.ndarray:
    """Truncates to 10 fraction bits, as tensor cores do."""
    fraction, exponent = np.frexp(x.astype(np.float64))
    return np.asarray(np.ldexp(np.trunc(fraction * 2.0**11) / 2.0**11, exponent), np.float32)


NARROW = [
    pytest.param(TF32, cut, lambda x: x, id="TF32, cut"),
    pytest.param(TF32, lambda x: to_tf32(x), lambda x: x, id="TF32"),
    pytest.param(FLOAT16, lambda x: x.astype(np.float16), lambda x: x.astype(np.float16), id="FLOAT16"),
    pytest.param(BFLOAT16, lambda x: to_tf32(x, 7), lambda x: to_tf32(x, 7), id="BFLOAT16"),
]


@pytest.mark.parametrize(("arithmetic", "factor", "number"), NARROW)
def test_what_narrow_arithmetic_computes_is_within_its_bounds(arithmetic, factor, number) -> None:
    inputs = feeds()
    graph = network()
    hidden = number(np.tanh(number(factor(inputs["a"]).astype(np.float32) @ factor(inputs["b"]).astype(np.float32))))
    got = number(factor(hidden.astype(np.float32)).astype(np.float32) @ factor(inputs["c"]).astype(np.float32))
    output = graph.outputs[0].desc.data_type

    def wrong(allowed: Arithmetic, values: np.ndarray) -> int:
        want = evaluate_results(graph, inputs, arithmetic=allowed)["y"]
        return int(disagreements(values.astype(np.float32), want, output).sum())

    assert wrong(FLOAT32, got) > 32
    assert wrong(arithmetic, got) == 0
    # an error of 8192 roundings exceeds the bounds
    assert wrong(arithmetic, got + 8192 * arithmetic.roundoff) == 64


def test_what_a_half_cannot_hold_is_left_open() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    graph = g.build({"y": g.multiply(x, x)})
    inputs = {"x": np.array([2.0, 200.0, 300.0, 1e-3], np.float32)}
    result = evaluate_results(graph, inputs, arithmetic=FLOAT16)["y"]
    assert result.unspecified is not None
    assert result.unspecified.tolist() == [False, False, True, False]
    assert result.error is not None
    assert result.error[3] >= 1e-6 * (1 - 1e-3)  # subnormal numbers may be flushed to 0


def test_sines_of_shaders() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [64])
    graph = g.build({"y": g.sin(x)})
    inputs = {"x": np.linspace(-3, 3, 64, dtype=np.float32)}
    got = np.sin(inputs["x"]) + np.float32(2.0**-12)
    for arithmetic, wrong in ((FLOAT32, 64), (WGSL, 0)):
        want = evaluate_results(graph, inputs, arithmetic=arithmetic)["y"]
        assert disagreements(got, want, graph.outputs[0].desc.data_type).sum() == wrong


def test_verification_says_what_it_allowed() -> None:
    result = dml2onnx.verify(network(), feeds(), rounds=1)
    assert result.passed
    assert result.computes.arithmetic is FLOAT32
    assert not result.computes.half_accumulation
