"""ONNX Runtime's optimiser must not change the results of a model.

Its passes match adjacent ONNX nodes. The tests therefore combine forms: each is a DirectML operator that lowers to a
node that passes match (a movement, a cast, a quantisation, a product with constant weights, a pool, ...). Every ordered
pair of forms is a separate component with its own graph input; hundreds of components are one model, which runs with
and without optimisation. Chains of three forms test the neighbourhood of quantisations, which most passes match, and of
casts. Sessions have ONNX Runtime's default options, as for saved models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.onnx_model import OnnxPort
from dml2onnx.verification import random_array
from tests.lowering import harness
from tests.optimizer_barriers.forms import (
    FORMS,
    SAME,
    SIZES,
    Chain,
    chain_of,
    dequantized,
    difference,
    number,
    quantized,
    runs,
)


def model_of(chains: Sequence[Chain], opset: int, constant: bool) -> tuple[CompiledModel, dict[str, Chain]] | None:
    """Returns one model of independent components, and the chain of each output."""
    g = GraphBuilder()
    outputs, names = {}, {}
    for index, chain in enumerate(chains):
        x = g.input(f"x{index}", chain[0], SIZES)
        if constant:
            x = g.constant(
                random_array(OnnxPort("x", "x", x.desc.data_type.dtype, SIZES, x.desc), np.random.default_rng(index))
            )
        y = chain_of(g, x, chain[1])
        if y is not None:
            outputs[f"y{index}"], names[f"y{index}"] = y, chain
    return (compile(g.build(outputs), opset=opset), names) if outputs else None


def differing(chains: Sequence[Chain], opset: int, constant: bool) -> Iterator[tuple[Chain, str]]:
    """Yields the chains whose results the optimiser changes, and a description."""
    compiled = model_of(chains, opset, constant)
    if compiled is None:
        return
    model, names = compiled
    rng = np.random.default_rng(7)
    feeds = {port.onnx_name: random_array(port, rng) for port in model.inputs}
    plain = runs(model, feeds, optimised=False)
    try:
        optimised = runs(model, feeds, optimised=True)
    except Exception as error:  # ONNX Runtime's exceptions have no other common class
        if len(chains) == 1:
            yield chains[0], str(error)[:200]
            return
        middle = len(chains) // 2
        yield from differing(chains[:middle], opset, constant)
        yield from differing(chains[middle:], opset, constant)
        return
    for name, chain in names.items():
        found = difference(plain[name], optimised[name], rounded=any(form in ROUNDED for form in chain[1]))
        if found:
            yield chain, found


ROUNDED = {
    *("convolution", "weighted", "transposed convolution", "product", "normalize", "mean", "sum", "scaled product"),
    *("gelu", "swish", "one over"),
}
"""Forms whose sums may be computed in another order, or by one kernel instead of several."""
BATCH = 400

PAIRED = [name for name in FORMS if not name.startswith("same")]
SOURCES = ("FLOAT32", "INT8", "UINT8", "INT32")
MIDDLES = [name for name in PAIRED if not name.startswith(("as", "quantize", "dequantize", "integer", "scaled"))]
QUANTIZES = [name for name in FORMS if name.startswith("quantize")]
DEQUANTIZES = [name for name in FORMS if name.startswith("dequantize")]
BEFORE = ("sigmoid", "negate", "quantize INT8 0", "dequantize None 0.05", "as FLOAT32")
CASTS = [name for name in FORMS if name.startswith("as ")]


def pairs(source: str, *, all_sources: bool) -> Iterator[Chain]:
    """Yields pairs of forms: all for FLOAT32, and a share of them for each integer type unless ``all_sources``."""
    turn = SOURCES[1:].index(source) if source in SOURCES[1:] else None
    for row, first in enumerate(PAIRED):
        for column, second in enumerate(PAIRED):
            if all_sources or turn is None or (row + column) % len(SOURCES[1:]) == turn:
                yield source, (first, second)


def quantised_chains() -> Iterator[Chain]:
    """Yields chains that dequantise, compute, and quantise or not."""
    for source in ("UINT8", "INT8", "INT32"):
        for first in DEQUANTIZES[1:3] if source != "INT32" else DEQUANTIZES[:1]:
            for middle in MIDDLES:
                for last in (*QUANTIZES[::2], "negate"):
                    yield source, (first, middle, last)
    for parameters in SAME:
        for middle in MIDDLES:
            for end in ((), (f"same steps back {parameters}", "negate")):
                yield parameters[0], (f"same steps back {parameters}", middle, f"same steps {parameters}", *end)
    for first in QUANTIZES[1:4]:
        for second in DEQUANTIZES[1:3]:
            for last in QUANTIZES[1:4]:
                yield "FLOAT32", (first, second, last, DEQUANTIZES[0])
    for first in ("multiply", "relu", "as FLOAT16"):
        for movement in ("transpose", "reshape", "reverse", "max pool"):
            for last in QUANTIZES:
                yield "FLOAT32", (first, movement, last)
                yield "FLOAT32", (QUANTIZES[0], DEQUANTIZES[0], movement, last)


def casts() -> Iterator[Chain]:
    for source in SOURCES:
        for first in CASTS:
            for middle in (*CASTS, "transpose", "reshape"):
                for last in CASTS:
                    yield source, (first, middle, last)


def check_all(chains: Sequence[Chain], opset: int, *, constant: bool = False) -> None:
    found = []
    for start in range(0, len(chains), BATCH):
        found += [
            f"{source}: {', '.join(forms)}: {text}"
            for (source, forms), text in differing(chains[start : start + BATCH], opset, constant)
        ]
    assert not found, f"{len(found)} chains\n" + "\n".join(found[:40])


def test_difference() -> None:
    steps, row = np.arange(100, dtype=np.uint8), np.arange(1, 101, dtype=np.float32)
    off = np.where(steps == 40, steps + 1, steps).astype(np.uint8)
    assert not difference(row, np.nextafter(row, np.float32(0)), rounded=True)
    assert difference(row, np.nextafter(row, np.float32(0)), rounded=False)
    assert difference(row, row * np.where(row == 100, np.float32(1 + 3e-6), np.float32(1)), rounded=True)
    assert difference(steps, off, rounded=True)
    assert difference(row, np.where(row == 7, np.float32(np.nan), row), rounded=True)


@pytest.mark.parametrize("opset", [17, 21])
def test_chains_around_quantisations(opset: int) -> None:
    check_all(list(quantised_chains()), opset)


def test_chains_of_casts() -> None:
    check_all(list(casts()), 21)


@pytest.mark.parametrize("source", SOURCES)
def test_every_ordered_pair_of_forms(source: str, is_exhaustive: bool) -> None:
    check_all(list(pairs(source, all_sources=is_exhaustive)), 21)


def test_chains_of_constants() -> None:
    """ONNX Runtime folds them at load time, by other code than at run time."""
    check_all([(source, (first, last)) for source in SOURCES for first in BEFORE for last in PAIRED], 21, constant=True)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_row_added_to_a_product_is_not_scaled(dynamic: bool) -> None:
    g = GraphBuilder()
    a, b = np.array([[1, 2], [3, 4]], np.uint8), np.array([[1, 0, 2], [0, 1, -1]], np.int8)
    bias = g.broadcast(g.constant(np.array([10, 20, 30], np.float32)), (2, 3))
    if dynamic:
        x, scale, zero_point = g.dynamic_quantize_linear(g.input("a", "FLOAT32", (2, 2)), "UINT8", "UINT8")
    else:
        x, scale, zero_point = g.input("a", "UINT8", (2, 2)), g.input("scale", "FLOAT32", (1, 1)), None
    factor = g.constant(np.array([[0.25]], np.float32))
    y = g.matrix_multiply_integer_to_float(x, scale, g.constant(b), factor, a_zero_point=zero_point, bias=bias)
    model = compile(g.build({"y": y}), opset=21)
    feeds = {"a": a.astype(np.float32) if dynamic else a, "scale": np.array([[0.5]], np.float32)}
    feeds = {port.onnx_name: feeds[port.name] for port in model.inputs}
    plain, optimised = (runs(model, feeds, optimised=flag)["y"] for flag in (False, True))
    np.testing.assert_allclose(optimised, plain, rtol=1e-6)
    if not dynamic:
        np.testing.assert_array_equal(plain, a.astype(np.float32) @ b * 0.125 + [10, 20, 30])


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("weight_type", ["INT8", "UINT8"])
@pytest.mark.parametrize("bias", ["none", "whole", "large", "between"])
def test_quantised_convolutions_keep_their_integer_kernel(
    bias: str, weight_type: str, channels: bool, tmp_path: Path
) -> None:
    """Except for a bias that is not a multiple of the scale, or more than FLOAT counts, which the kernel cannot add."""
    g = GraphBuilder()
    rng = np.random.default_rng(0)
    sizes = (1, 8, 4, 4)
    scales = np.array([0.0625, 0.03125, 0.125, 0.5] if channels else [0.0625] * 4, np.float32)

    def dequantized_by(steps: np.ndarray, factors: np.ndarray, axis: int, zero_point: int | None) -> Expression:
        x = g.constant(steps)
        shape = tuple(-1 if i == axis else 1 for i in range(x.rank))
        scale = g.broadcast(
            g.constant(factors.reshape(shape) if channels else factors[:1].reshape(1, 1, 1, 1)), x.sizes
        )
        zero = None if zero_point is None else number(g, x, zero_point, x.data_type.name)
        return g.dequantize_linear(x, scale, zero)

    low, middle = (-127, 0) if weight_type == "INT8" else (1, 128)
    steps = rng.integers(low, low + 255, (4, 8, 3, 3)).astype(weight_type.lower())
    weights = dequantized_by(steps, scales, 0, middle)
    x = dequantized(g, g.input("x", "UINT8", sizes), 0.25, 128)
    whole = rng.integers(-999, 999, (1, 4, 1, 1)).astype(np.int32)
    whole[0, 0] = (1 << 24) - (bias != "large")
    added = None if bias == "none" else dequantized_by(whole, 0.25 * scales, 1, None)
    if bias == "between":
        added = g.constant(whole.astype(np.float32) / 7)
    y = quantized(g, g.convolution(x, weights, added), "UINT8", 64.0, 100)
    model = compile(g.build({"y": y}), opset=21)
    left = {node.op_type for node in harness.left_by_optimiser(model, tmp_path).node}
    assert ("QLinearConv" in left) == (bias in ("none", "whole"))
    feeds = {"x": rng.integers(0, 256, sizes).astype(np.uint8)}
    plain = runs(model, feeds, optimised=False)["y"]
    assert len(np.unique(plain)) > 8
    np.testing.assert_array_equal(runs(model, feeds, optimised=True)["y"], plain)
