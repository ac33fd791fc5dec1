"""Without each barrier, ONNX Runtime's optimiser changes the results of a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.emitter import budget
from dml2onnx.optimizer_barriers import BARRIERS, table
from dml2onnx.verification import random_array
from tests.optimizer_barriers.forms import (
    FILTER_STEPS,
    FORMS,
    SIZES,
    dequantized,
    difference,
    moved,
    number,
    quantized,
    runs,
)


def requantized(g: GraphBuilder) -> Expression:
    """Two quantisations in a row."""
    x = g.input("x", "FLOAT32", SIZES)
    for scale in (0.3, 0.45):
        x = dequantized(g, quantized(g, x, "UINT8", scale, 3), scale, 3)
    return x


def clipped_closely(g: GraphBuilder) -> Expression:
    """Bounds close to those of the type in absolute terms, but half as far in quantisation steps."""
    x = g.add(g.input("x", "FLOAT32", SIZES), g.input("more", "FLOAT32", SIZES))
    return quantized(g, g.clip(x, -5e-8, 6e-8), "INT8", 1e-9, 0)


def clipped_integers(g: GraphBuilder) -> Expression:
    return g.clip(g.activation_relu(g.input("x", "INT32", SIZES)), 1.0, 3.0)


def moved_integers(g: GraphBuilder) -> Expression:
    """INT32 that is dequantised, transposed and negated."""
    return g.negate(moved(g, dequantized(g, g.input("x", "INT32", SIZES), 0.05, None), (0, 2, 3, 1)))


def moved_twice(g: GraphBuilder, data_type: str = "INT32") -> Expression:
    """A dequantised tensor with two different transposes."""
    x = dequantized(g, g.input("x", data_type, SIZES), 0.05, None)
    one, other = g.negate(moved(g, x, (0, 2, 3, 1))), g.negate(moved(g, x, (0, 3, 1, 2)))
    flat = (1, 1, 1, one.desc.element_count)
    return g.join([g.reinterpret(one, sizes=flat), g.reinterpret(other, sizes=flat)], 3)


def multiplied(g: GraphBuilder) -> Expression:
    x = dequantized(g, g.input("x", "INT8", SIZES), 0.5, 3)
    return quantized(g, g.multiply(x, x), "INT8", 0.5, 3)


def averaged(g: GraphBuilder) -> Expression:
    x = dequantized(g, g.input("x", "INT8", SIZES), 0.5, 3)
    return quantized(g, FORMS["average pool"](g, x), "INT8", 0.5, 3)


def dilated_mean(g: GraphBuilder) -> Expression:
    x, one = g.input("x", "UINT8", SIZES), g.constant(np.ones((1, 1, 1, 1), np.float32))
    return g.quantized_linear_average_pooling(x, one, one, [2, 2], False, dilations=[2, 2])


def widened_mean(g: GraphBuilder) -> Expression:
    x, one = g.input("x", "UINT8", SIZES), np.ones((1, 1, 1, 1), np.float32)
    return g.quantized_linear_average_pooling(x, g.constant(5000 * one), g.constant(one), [4, 4], False)


def softmax_of_steps(g: GraphBuilder) -> Expression:
    x = dequantized(g, g.input("x", "UINT8", SIZES), 0.05, None)
    return quantized(g, FORMS["softmax"](g, x), "UINT8", 0.001, 3)


def in_blocks(g: GraphBuilder) -> Expression:
    """DEPTH_TO_SPACE, for the target dml; ONNX Runtime 1.24 has no INT8 kernel."""
    x = dequantized(g, g.input("x", "INT8", SIZES), 0.5, 3)
    return quantized(g, FORMS["depth to space"](g, x), "INT8", 0.5, 3)


def with_float_filter(g: GraphBuilder) -> Expression:
    """A FLOAT32 filter between quantisations."""
    x = dequantized(g, g.input("x", "UINT8", SIZES), 0.3, 0)
    return quantized(g, FORMS["convolution"](g, x), "UINT8", 0.3, 128)


def with_runtime_weights(g: GraphBuilder) -> Expression:
    """8-bit weights that the runtime dequantises, since the budget is exhausted."""
    steps = np.random.default_rng(1).integers(-127, 128, (64, 96)).astype(np.int8)
    return g.gemm(g.input("x", "FLOAT32", (8, 64)), dequantized(g, g.constant(steps), 0.01, 0))


def with_scaled_row(g: GraphBuilder) -> Expression:
    factors = g.input("scale", "FLOAT32", (1, 1)), g.constant(np.array([[0.25]], np.float32))
    row = g.broadcast(g.constant(np.array([10, 20, 30], np.float32)), (2, 3))
    steps = g.constant(np.array([[1, 0, 2], [0, 1, -1]], np.int8))
    x = g.input("x", "UINT8", (2, 2))
    return g.matrix_multiply_integer_to_float(x, factors[0], steps, factors[1], bias=row)


def signed_product(g: GraphBuilder) -> Expression:
    scales = [g.input(name, "FLOAT32", (1, 1)) for name in ("a_scale", "b_scale")]
    a, b = g.input("a", "INT8", (2, 2)), g.input("b", "UINT8", (2, 3))
    return g.matrix_multiply_integer_to_float(a, scales[0], b, scales[1])


def padded_pool(g: GraphBuilder) -> Expression:
    """A maximum of negative numbers and zero padding."""
    x = g.padding(g.negate(g.abs(g.input("x", "FLOAT32", SIZES))), "CONSTANT", 0.0, [0, 0, 1, 1], [0, 0, 1, 1])
    return g.max_pooling0(x, [2, 2])


def quotient_times_steps(g: GraphBuilder) -> Expression:
    """A product with a quotient of 1, quantised: many results are halfway between two steps."""
    x, others = (g.cast(g.input(name, "UINT8", (1, 4, 64, 64)), "FLOAT32") for name in ("x", "others"))
    return quantized(g, g.multiply(x, g.divide(number(g, x, 1), others)), "UINT8", 1.0, 0)


VERSION = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
BOTH = (17, 21)
NEEDED: dict[str, tuple[str, Callable[[GraphBuilder], Expression], tuple[int, ...]]] = {
    "zeros around a pool": ("pads", padded_pool, (17,) if VERSION <= (1, 24) else BOTH if VERSION < (1, 32) else ()),
    "32-bit numbers that are moved": ("moved steps", moved_integers, BOTH),
    "32-bit numbers that are moved twice": ("moved steps", moved_twice, BOTH),
    "products of steps": ("inexact kernels", multiplied, BOTH),
    "means of steps": ("inexact kernels", averaged, BOTH),
    "a dilated mean of steps": ("refused means", dilated_mean, (21,)),
    "a mean of large steps": ("refused means", widened_mean, BOTH),
    "softmax of steps": ("inexact kernels", softmax_of_steps, BOTH),
    "steps in blocks": ("inexact kernels", in_blocks, BOTH if VERSION < (1, 31) else ()),
    "weights that were floats": ("weights", with_float_filter, BOTH),
    "two quantisations": ("doubled", requantized, BOTH),
    "close bounds": ("close bounds", clipped_closely, BOTH),
    "integers that are clipped": ("clipped integers", clipped_integers, BOTH),
    "coarse weights": ("coarse weights", with_runtime_weights, BOTH if VERSION > (1, 24) else ()),
    "a scaled row": ("scaled rows", with_scaled_row, BOTH),
    "a product of INT8 with UINT8": ("signed products", signed_product, BOTH),
    "a quotient of one": ("quotients", quotient_times_steps, BOTH),
}
"""The barrier, a graph that needs it, and the opsets in which this ONNX Runtime is wrong without it.

Missing are "factors", which is for processors that add products in 16 bits, and "casts", see ``test_casts.py``.
"""


def remove_barrier(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(table, "BARRIERS", tuple(item for item in BARRIERS if item.name != name))


def test_every_barrier_is_tested() -> None:
    assert {"casts", "factors", *(barrier for barrier, *_ in NEEDED.values())} == {item.name for item in BARRIERS}


def outcome(form: Callable[[GraphBuilder], Expression], opset: int) -> str:
    """Describes what the optimiser changes, or returns ``""``."""
    g = GraphBuilder()
    target = "dml" if form is in_blocks else "onnx" if form is signed_product else "cpu"
    model = compile(g.build({"y": form(g)}), opset=opset, target=target)
    rng = np.random.default_rng(3)
    feeds: dict[str, np.ndarray] = {port.onnx_name: random_array(port, rng) for port in model.inputs}
    if form is clipped_closely:
        feeds = {name: (array * np.float32(1e-7)).astype(np.float32) for name, array in feeds.items()}
    plain = runs(model, feeds, optimised=False)["y"]
    try:
        return difference(
            plain, runs(model, feeds, optimised=True)["y"], rounded=form in (with_float_filter, with_runtime_weights)
        )
    except Exception as error:  # ONNX Runtime's exceptions have no other common class
        return str(error)


@pytest.mark.parametrize("opset", BOTH)
@pytest.mark.parametrize("name", NEEDED)
def test_each_barrier_works_and_is_needed(name: str, opset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If results are right without a barrier, ONNX Runtime has changed and the barrier may be removed."""
    barrier, form, opsets = NEEDED[name]
    monkeypatch.setattr(budget, "NODE_BYTES", 1 << 12)
    monkeypatch.setattr(budget, "GROWTH", 0)
    assert outcome(form, opset) == ""
    remove_barrier(monkeypatch, barrier)
    assert bool(outcome(form, opset)) == (opset in opsets)


def test_barriers_before_both_transposes(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime duplicates the DequantizeLinear for each reader, and then fails to load the model for INT8."""
    assert outcome(partial(moved_twice, data_type="INT8"), 21) == ""
    remove_barrier(monkeypatch, "moved steps")
    assert bool(outcome(partial(moved_twice, data_type="INT8"), 21)) == (VERSION > (1, 24))


def test_weights_are_kept_if_the_sum_is_an_output_too() -> None:
    """ONNX Runtime would quantise the weights regardless of other readers of the sum."""
    g = GraphBuilder()
    total = FORMS["convolution"](g, dequantized(g, g.input("x", "UINT8", SIZES), 0.3, 0))
    model = compile(g.build({"y": quantized(g, total, "UINT8", 0.3, 128), "total": total}), opset=21)
    feeds = {"x": np.random.default_rng(3).integers(0, 256, SIZES).astype(np.uint8)}
    plain, fused = (runs(model, feeds, optimised=optimised) for optimised in (False, True))
    assert difference(plain["total"], fused["total"], rounded=True) == ""


def pooled(g: GraphBuilder, x: Expression, scale: Expression, last: Expression) -> Expression:
    return g.quantized_linear_average_pooling(x, scale, last, [1, 1], True)


def convolved(g: GraphBuilder, x: Expression, scale: Expression, last: Expression) -> Expression:
    weights, one = g.constant(np.resize(FILTER_STEPS, (4, 4, 1, 1))), g.constant(np.ones((1, 1, 1, 1), np.float32))
    return g.quantized_linear_convolution(
        x, scale, None, weights, one, None, None, last, None, output_data_type=x.data_type.name
    )


def multiplied_matrices(g: GraphBuilder, x: Expression, scale: Expression, last: Expression) -> Expression:
    weights, one = g.constant(np.resize(FILTER_STEPS, SIZES)), g.constant(np.ones((1, 1, 1, 1), np.float32))
    return g.quantized_linear_matrix_multiply(x, scale, weights, one, last, x.data_type.name)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("bound", [("last",), ("scale",), ("scale", "last")])
@pytest.mark.parametrize("data_type", ["INT8", "UINT8"])
@pytest.mark.parametrize("form", [pooled, convolved, multiplied_matrices])
def test_scales_of_1_with_scales_that_are_inputs(
    form: Callable[..., Expression], data_type: str, bound: tuple[str, ...], exact: bool
) -> None:
    """ONNX Runtime must not fuse the product with 1 / scale into a quotient, nor drop the result of a division by 1."""
    g, one = GraphBuilder(), (1, 1, 1, 1)
    x = g.input("x", data_type, SIZES)
    scale, last = (
        g.input(name, "FLOAT32", one) if name in bound else g.constant(np.ones(one, np.float32))
        for name in ("scale", "last")
    )
    model = compile(g.build({"y": form(g, x, scale, last)}), opset=21, exact=exact)
    feeds = {port.onnx_name: random_array(port, np.random.default_rng(3)) for port in model.inputs}
    for value in (0.1, 0.3, 0.7, 3.7, 10.0):
        feeds |= {name: np.full(one, value, np.float32) for name in bound}
        plain, optimised = (runs(model, feeds, optimised=flag)["y"] for flag in (False, True))
        np.testing.assert_array_equal(optimised, plain)


def chained(g: GraphBuilder, form: Callable[..., Expression]) -> dict[str, Expression]:
    """Three consecutive products with the same weights."""
    one, total = g.constant(np.ones((1, 1, 1, 1), np.float32)), g.input("x", "UINT8", SIZES)
    for _ in range(3):
        total = form(g, total, one, one)
    return {"y": total}


def shared_weights(g: GraphBuilder) -> dict[str, Expression]:
    """Weights that are dequantised once for two products and a sum."""
    x, steps = g.input("x", "UINT8", SIZES), g.constant(np.resize(FILTER_STEPS, SIZES))
    x, weights = dequantized(g, x, 0.05, 3), dequantized(g, steps, 0.01, 0)
    products = {name: quantized(g, g.gemm(x, weights), "UINT8", scale, 3) for name, scale in (("y", 1), ("z", 2))}
    return {**products, "sum": g.add(x, weights)}


@pytest.mark.parametrize(
    "form", [partial(chained, form=convolved), partial(chained, form=multiplied_matrices), shared_weights]
)
def test_signed_constants_with_several_readers(
    form: Callable[[GraphBuilder], dict[str, Expression]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reader has a copy, since ONNX Runtime's option for exact products converts each name to UINT8 only once."""
    monkeypatch.setattr(budget, "NODE_BYTES", 1)
    monkeypatch.setattr(budget, "GROWTH", 0)
    g = GraphBuilder()
    model = compile(g.build(form(g)), opset=21, quant_format="qdq")
    nodes = [node for node in model.lowered.nodes if node.op_type == "DequantizeLinear"]
    signed = [
        node for node in nodes if node.inputs[0] is not None and node.inputs[0].name in model.lowered.initializers
    ]
    for index in (0, 2):
        assert len({item.name for node in signed if (item := node.inputs[index]) is not None}) == len(signed) == 3
    feeds = {"x": np.random.default_rng(3).integers(0, 256, SIZES).astype(np.uint8)}
    plain, exact = runs(model, feeds, optimised=False), model.run(feeds)
    for port in model.outputs:
        want = plain[port.onnx_name].astype(np.float64)
        steps = 1 if port.dtype == np.uint8 else 0  # FLOAT sums may be one step off
        np.testing.assert_allclose(exact[port.name].reshape(want.shape), want, rtol=1e-6, atol=steps)


def test_quotients_of_one_by_a_result_with_weights_in_two_forms() -> None:
    """ONNX Runtime knows on loading which branch of the If remains, but not its result."""
    g = GraphBuilder()
    one, y = g.constant(np.ones((1, 1, 1, 1), np.float32)), g.input("y", "FLOAT32", SIZES)
    x = g.cast(convolved(g, g.input("x", "UINT8", SIZES), one, one), "FLOAT32")
    model = compile(g.build({"z": g.multiply(y, FORMS["one over"](g, x))}), opset=21, exact=True)
    assert [node.op_type for node in model.lowered.nodes][-6:] == ["If", "Cast", "Div", "Flatten", "Reshape", "Mul"]


@pytest.mark.parametrize("data_type", ["FLOAT32", "INT32", "INT16", "UINT8"])
def test_quotients_of_one_that_are_multiplied(data_type: str) -> None:
    """Infinity times 0 stays NaN, and integer quotients stay truncated."""
    g = GraphBuilder()
    x, y = (g.input(name, data_type, SIZES) for name in "xy")
    model = compile(g.build({"z": g.multiply(y, FORMS["one over"](g, x))}), opset=21, exact=True)
    dtype = np.dtype(data_type.lower())
    numbers = [1e-40, 0.3, 7, 3] if dtype.kind == "f" else [2, 1, 7, 3]
    feeds = {"x": np.resize(np.array(numbers, dtype), SIZES), "y": np.resize(np.array([0, 5, 3, 6], dtype), SIZES)}
    plain, optimised = (runs(model, feeds, optimised=flag)["z"] for flag in (False, True))
    np.testing.assert_array_equal(optimised, plain)
