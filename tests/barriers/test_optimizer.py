"""ONNX Runtime's optimiser must not change what a model computes.

Its passes match ONNX nodes that are next to one another. So it is not operators that are paired here but forms: each
is one DirectML operator in the descriptor that lowers to one of the nodes that passes look for (a movement, a cast, a
quantisation, a product with constant weights, a pool, ...), and operators that share a node share a form. Every
ordered pair of forms is a component of its own, with its own graph input; hundreds of them are one model, which runs
with optimisations off and on. Chains of three stand between a dequantisation and a quantisation, where most passes
are, and between casts. Saved models are meant, so sessions have ONNX Runtime's own defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx.barriers import BARRIERS, table
from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.emitter import budget
from dml2onnx.model import Port
from dml2onnx.verification import random_array

Form = Callable[[GraphBuilder, Expression], Expression]
Chain = tuple[str, tuple[str, ...]]

SIZES = (1, 4, 4, 4)
RANDOM = np.random.default_rng(5)
FILTER = RANDOM.normal(0, 1, (4, 4, 3, 3)).astype(np.float32)
FILTER_STEPS = RANDOM.integers(-127, 128, (4, 4, 1, 1)).astype(np.int8)
BIAS = RANDOM.normal(0, 1, (1, 4, 1, 1)).astype(np.float32)
MATRIX = RANDOM.normal(0, 1, (4, 5)).astype(np.float32)


def number(g: GraphBuilder, x: Expression, value: float, data_type: str = "FLOAT32") -> Expression:
    """A constant that broadcasts to a tensor."""
    dtype = np.dtype(data_type.lower())
    return g.broadcast(g.constant(np.full((1,) * x.rank, value, dtype)), x.sizes)


def quantized(g: GraphBuilder, x: Expression, data_type: str, scale: float, zero_point: int | None) -> Expression:
    zero = None if zero_point is None else number(g, x, zero_point, data_type)
    return g.quantize_linear(x, number(g, x, scale), zero, output_data_type=data_type)


def dequantized(g: GraphBuilder, x: Expression, scale: float, zero_point: int | None) -> Expression:
    zero = None if zero_point is None else number(g, x, zero_point, x.data_type.name)
    return g.dequantize_linear(x, number(g, x, scale), zero)


def count_but_last(x: Expression) -> int:
    return x.desc.element_count // x.sizes[-1]


def row_added(g: GraphBuilder, x: Expression) -> Expression:
    row = np.arange(x.sizes[-1]).astype(np.float32) + 10
    return g.add(x, g.broadcast(g.constant(row), x.sizes))


def integer_product(g: GraphBuilder, x: Expression) -> Expression:
    factor = np.resize(np.arange(-3, 4), (*x.sizes[:2], x.sizes[-1], 3))
    return g.matrix_multiply_integer(x, g.constant(factor.astype(np.int8)))


def scaled_product(g: GraphBuilder, x: Expression) -> Expression:
    """An integer product times two scales, one of them a graph input, plus a row."""
    y = g.cast(integer_product(g, x), "FLOAT32")
    factor = g.multiply(g.broadcast(g.input(f"scale{x.value.name}", "FLOAT32", (1,)), y.sizes), number(g, y, 0.25))
    return row_added(g, g.multiply(y, factor))


def moved(g: GraphBuilder, x: Expression, order: Sequence[int]) -> Expression:
    """An IDENTITY that transposes."""
    sizes = tuple(x.sizes[axis] for axis in order)
    strides = tuple(x.desc.effective_strides[axis] for axis in order)
    return g.identity(g.reinterpret(x, sizes=sizes, strides=strides))


def product(g: GraphBuilder, x: Expression) -> Expression:
    rows = g.reinterpret(x, sizes=(x.desc.element_count // x.sizes[-1], x.sizes[-1]))
    return g.gemm(rows, g.constant(np.resize(MATRIX, (x.sizes[-1], 5))))


def weighted(g: GraphBuilder, x: Expression) -> Expression:
    """A convolution with weights that were quantised."""
    steps = g.constant(np.resize(FILTER_STEPS, (4, x.sizes[1], 1, 1)))
    return g.convolution(x, dequantized(g, steps, 0.0137, 0))


def quantised_convolution(g: GraphBuilder, x: Expression) -> Expression:
    """In whole numbers, with weights of 8 bits and a sign."""
    steps = g.constant(np.resize(FILTER_STEPS, (4, x.sizes[1], 1, 1)))
    scale = g.constant(np.full((1, 1, 1, 1), 0.25, np.float32))
    point = g.constant(np.full((1, 1, 1, 1), 3, x.desc.data_type.dtype))
    return g.quantized_linear_convolution(x, scale, point, steps, scale, None, None, scale, point, x.data_type.name)


def half(g: GraphBuilder, x: Expression) -> Expression:
    ends = (*x.sizes[:-1], x.sizes[-1] // 2)
    return g.slice0(x, [0] * x.rank, ends, [1] * x.rank)


def resampled(g: GraphBuilder, x: Expression, mode: Literal["NEAREST_NEIGHBOR", "LINEAR"]) -> Expression:
    return g.resample0(x, (*x.sizes[:2], 2 * x.sizes[2], 2 * x.sizes[3]), mode, [1, 1, 2, 2])


def cast_to(data_type: str) -> Form:
    return lambda g, x: g.cast(x, data_type)


def quantizing(data_type: str, scale: float, zero_point: int | None) -> Form:
    return lambda g, x: quantized(g, x, data_type, scale, zero_point)


def dequantizing(scale: float, zero_point: int | None) -> Form:
    return lambda g, x: dequantized(g, x, scale, zero_point)


FORMS: dict[str, Form] = {
    "relu": lambda g, x: g.activation_relu(x),
    "leaky relu": lambda g, x: g.activation_leaky_relu(x, 0.25),
    "sigmoid": lambda g, x: g.activation_sigmoid(x),
    "softmax": lambda g, x: g.activation_softmax1(x, [x.rank - 1]),
    "gelu": lambda g, x: g.activation_gelu(x),
    "swish": lambda g, x: g.activation_swish(x, 1.0),
    "clip": lambda g, x: g.clip(x, -1.0, 2.0),
    "wide clip": lambda g, x: g.clip(x, -100.0, 200.0),
    "negate": lambda g, x: g.negate(x),
    "round": lambda g, x: g.round(x),
    "add": lambda g, x: g.add(x, x),
    "add row": row_added,
    "multiply": lambda g, x: g.multiply(x, x),
    "multiply scale": lambda g, x: g.multiply(x, number(g, x, 0.5)),
    "divide": lambda g, x: g.divide(x, number(g, x, 3)),
    "one over": lambda g, x: g.divide(number(g, x, 1, x.data_type.name), x),
    "divide by one": lambda g, x: g.divide(x, number(g, x, 1, x.data_type.name)),
    "subtract": lambda g, x: g.subtract(number(g, x, 1), x),
    "choose": lambda g, x: g.if_(g.greater_than(x, number(g, x, 0.5)), x, number(g, x, 1.5)),
    "transpose": lambda g, x: moved(g, x, (0, 2, 3, 1) if x.rank == 4 else tuple(reversed(range(x.rank)))),
    "reshape": lambda g, x: g.identity(g.reinterpret(x, sizes=(1, 1, x.sizes[-1], count_but_last(x)))),
    "slice": half,
    "reverse": lambda g, x: g.slice1(x, [0] * x.rank, x.sizes, [-1] * x.rank),
    "pad": lambda g, x: g.padding(x, "CONSTANT", 0.0, [0] * (x.rank - 1) + [1], [0] * x.rank),
    "join": lambda g, x: g.join([x, x], 1),
    "tile": lambda g, x: g.tile(x, [1] * (x.rank - 1) + [2]),
    "gather": lambda g, x: g.gather(x, g.constant(np.array([[[[2, 0]]]], np.uint32)), 1, 1),
    "depth to space": lambda g, x: g.depth_to_space1(x, 2),
    "space to depth": lambda g, x: g.space_to_depth1(x, 2),
    "max pool": lambda g, x: g.max_pooling0(x, [2, 2]),
    "average pool": lambda g, x: g.average_pooling0(x, [1, 1], [2, 2], [0, 0], [0, 0], False),
    "convolution": lambda g, x: g.convolution(x, g.constant(FILTER), g.constant(BIAS), start_padding=[1, 1]),
    "weighted": weighted,
    "quantised convolution": quantised_convolution,
    "transposed convolution": lambda g, x: g.convolution(x, g.constant(FILTER), direction="BACKWARD"),
    "product": product,
    "maximum": lambda g, x: g.reduce(x, "MAX", [x.rank - 1]),
    "mean": lambda g, x: g.reduce(x, "AVERAGE", [x.rank - 1]),
    "sum": lambda g, x: g.reduce(x, "SUM", [1]),
    "first maximum": lambda g, x: g.argmax(x, "INT32", [x.rank - 1], "INCREASING"),
    "linear resample": lambda g, x: resampled(g, x, "LINEAR"),
    "nearest resample": lambda g, x: resampled(g, x, "NEAREST_NEIGHBOR"),
    "normalize": lambda g, x: g.mean_variance_normalization1(x, None, None, [x.rank - 1], True, 1e-5),
    "running sum": lambda g, x: g.cumulative_summation(x, x.rank - 1, "INCREASING", False),
    "integer product": integer_product,
    "scaled product": scaled_product,
    **{f"as {name}": cast_to(name) for name in ("FLOAT32", "FLOAT16", "INT8", "UINT8", "INT32", "INT64", "UINT16")},
    **{
        f"quantize {name} {zero_point}": quantizing(name, scale, zero_point)
        for name, scale, zero_point in (
            ("UINT8", 0.05, 128),
            ("UINT8", 0.3, 3),
            ("INT8", 0.05, None),
            ("INT8", 0.45, 0),
            ("INT8", 0.5, 3),
        )
    },
    **{
        f"dequantize {zero_point} {scale}": dequantizing(scale, zero_point)
        for scale, zero_point in ((0.05, None), (0.3, 0), (0.5, 3), (0.45, None))
    },
}
"""By name."""


SAME = (("UINT8", 0.05, 128), ("UINT8", 0.3, 3), ("INT8", 0.5, 3), ("INT8", 0.3, 0))
for _same in SAME:
    FORMS[f"same steps {_same}"] = quantizing(*_same)
    FORMS[f"same steps back {_same}"] = dequantizing(*_same[1:])


def chain_of(g: GraphBuilder, x: Expression, forms: Sequence[str]) -> Expression | None:
    """The forms in a row, or ``None`` where one does not take the type or the sizes that the one before gives."""
    for form in forms:
        try:
            x = FORMS[form](g, x)
        except (DmlError, IndexError, ValueError, ZeroDivisionError):
            return None
    return x


def model_of(chains: Sequence[Chain], opset: int, constant: bool) -> tuple[CompiledModel, dict[str, Chain]] | None:
    """One model of independent components, and which of its outputs is which chain."""
    g = GraphBuilder()
    outputs, names = {}, {}
    for index, chain in enumerate(chains):
        x = g.input(f"x{index}", chain[0], SIZES)
        if constant:
            x = g.constant(
                random_array(Port("x", "x", x.desc.data_type.dtype, SIZES, x.desc), np.random.default_rng(index))
            )
        y = chain_of(g, x, chain[1])
        if y is not None:
            outputs[f"y{index}"], names[f"y{index}"] = y, chain
    return (compile(g.build(outputs), opset=opset), names) if outputs else None


def runs(model: CompiledModel, feeds: dict[str, np.ndarray], optimised: bool) -> dict[str, np.ndarray]:
    """What ONNX Runtime makes of a saved model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def differing(chains: Sequence[Chain], opset: int, constant: bool) -> Iterator[tuple[Chain, str]]:
    """Chains that the optimiser makes something else of, and how."""
    made = model_of(chains, opset, constant)
    if made is None:
        return
    model, names = made
    rng = np.random.default_rng(7)
    feeds = {port.onnx_name: random_array(port, rng) for port in model.inputs}
    plain = runs(model, feeds, optimised=False)
    try:
        optimised = runs(model, feeds, optimised=True)
    except Exception as error:  # ONNX Runtime's classes share nothing more
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


def difference(plain: np.ndarray, optimised: np.ndarray, *, rounded: bool) -> str:
    """What is wrong, if anything is: only floats that were ``rounded`` otherwise may differ, and by that alone."""
    with np.errstate(all="ignore"):
        a, b = plain.astype(np.float64), optimised.astype(np.float64)
        apart = np.where((plain == optimised) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    allowed = 0.0
    if rounded and plain.dtype.kind == "f":
        allowed = ROUNDINGS * float(np.finfo(plain.dtype).eps) * float(np.abs(a[np.isfinite(a)]).max(initial=0))
    wrong = ~(apart <= allowed)
    return f"{wrong.sum()} of {wrong.size} differ, by up to {apart.max()}" if wrong.any() else ""


ROUNDINGS = 16
"""Of the largest number of a tensor: 36 products are added up, and a normalisation divides by what is below 1."""
ROUNDED = {
    *("convolution", "weighted", "transposed convolution", "product", "normalize", "mean", "sum", "scaled product"),
    *("gelu", "swish", "one over"),
}
"""Forms whose numbers are added up in another order, or by one kernel in the place of several."""
BATCH = 400

PAIRED = [name for name in FORMS if not name.startswith("same")]
SOURCES = ("FLOAT32", "INT8", "UINT8", "INT32")
MIDDLES = [name for name in PAIRED if not name.startswith(("as", "quantize", "dequantize", "integer", "scaled"))]
QUANTIZES = [name for name in FORMS if name.startswith("quantize")]
DEQUANTIZES = [name for name in FORMS if name.startswith("dequantize")]
BEFORE = ("sigmoid", "negate", "quantize INT8 0", "dequantize None 0.05", "as FLOAT32")
CASTS = [name for name in FORMS if name.startswith("as ")]


def pairs(source: str, *, all_sources: bool) -> Iterator[Chain]:
    """Each two forms behind FLOAT32, and behind one of the integers, in turn, or behind all of them."""
    turn = SOURCES[1:].index(source) if source in SOURCES[1:] else None
    for row, first in enumerate(PAIRED):
        for column, second in enumerate(PAIRED):
            if all_sources or turn is None or (row + column) % len(SOURCES[1:]) == turn:
                yield source, (first, second)


def quantised_chains() -> Iterator[Chain]:
    """Numbers that are dequantised, changed, and quantised or read as they are."""
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
    """Compares in batches."""
    found = []
    for start in range(0, len(chains), BATCH):
        found += [
            f"{source}: {', '.join(forms)}: {text}"
            for (source, forms), text in differing(chains[start : start + BATCH], opset, constant)
        ]
    assert not found, f"{len(found)} chains\n" + "\n".join(found[:40])


def test_differences_are_seen() -> None:
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


def test_what_depends_on_constants_alone() -> None:
    """ONNX Runtime computes it when it loads the model, in other ways than when it runs."""
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


def fused(model: CompiledModel, path: str) -> list[str]:
    """The ONNX operators that the optimiser leaves."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = path
    options.log_severity_level = 4
    onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(path).graph.node]


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("weight_type", ["INT8", "UINT8"])
@pytest.mark.parametrize("bias", [False, True])
def test_a_network_of_quantised_numbers_keeps_its_integer_kernel(
    bias: bool, weight_type: str, channels: bool, tmp_path: Path
) -> None:
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
    added = dequantized_by(whole, 0.25 * scales, 1, None) if bias else None
    y = quantized(g, g.convolution(x, weights, added), "UINT8", 64.0, 100)
    model = compile(g.build({"y": y}), opset=21)
    assert "QLinearConv" in fused(model, str(tmp_path / "fused.onnx"))
    feeds = {"x": rng.integers(0, 256, sizes).astype(np.uint8)}
    plain = runs(model, feeds, optimised=False)["y"]
    assert len(np.unique(plain)) > 8
    np.testing.assert_array_equal(runs(model, feeds, optimised=True)["y"], plain)


# --- What each barrier is for -----------------------------------------------------------------------------------------


def requantized(g: GraphBuilder) -> Expression:
    """Two quantisations in a row."""
    x = g.input("x", "FLOAT32", SIZES)
    for scale in (0.3, 0.45):
        x = dequantized(g, quantized(g, x, "UINT8", scale, 3), scale, 3)
    return x


def clipped_closely(g: GraphBuilder) -> Expression:
    """Bounds next to those of the type in size, half as far in steps."""
    x = g.add(g.input("x", "FLOAT32", SIZES), g.input("more", "FLOAT32", SIZES))
    return quantized(g, g.clip(x, -5e-8, 6e-8), "INT8", 1e-9, 0)


def clipped_integers(g: GraphBuilder) -> Expression:
    return g.clip(g.activation_relu(g.input("x", "INT32", SIZES)), 1.0, 3.0)


def moved_integers(g: GraphBuilder) -> Expression:
    """32-bit numbers that are dequantised, transposed and computed with."""
    return g.negate(moved(g, dequantized(g, g.input("x", "INT32", SIZES), 0.05, None), (0, 2, 3, 1)))


def moved_twice(g: GraphBuilder, data_type: str = "INT32") -> Expression:
    """Numbers that two nodes read, each by a movement of its own."""
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
    """In one pass where the target is another; ONNX Runtime 1.24 has no kernel for INT8."""
    x = dequantized(g, g.input("x", "INT8", SIZES), 0.5, 3)
    return quantized(g, FORMS["depth to space"](g, x), "INT8", 0.5, 3)


def weighed(g: GraphBuilder) -> Expression:
    """A filter of FLOAT32 between quantisations."""
    x = dequantized(g, g.input("x", "UINT8", SIZES), 0.3, 0)
    return quantized(g, FORMS["convolution"](g, x), "UINT8", 0.3, 128)


def coarsened(g: GraphBuilder) -> Expression:
    """Weights of 8 bits that the budget leaves to the runtime to dequantise."""
    steps = np.random.default_rng(1).integers(-127, 128, (64, 96)).astype(np.int8)
    return g.gemm(g.input("x", "FLOAT32", (8, 64)), dequantized(g, g.constant(steps), 0.01, 0))


def with_scaled_row(g: GraphBuilder) -> Expression:
    factors = g.input("scale", "FLOAT32", (1, 1)), g.constant(np.array([[0.25]], np.float32))
    row = g.broadcast(g.constant(np.array([10, 20, 30], np.float32)), (2, 3))
    steps = g.constant(np.array([[1, 0, 2], [0, 1, -1]], np.int8))
    x = g.input("x", "UINT8", (2, 2))
    return g.matrix_multiply_integer_to_float(x, factors[0], steps, factors[1], bias=row)


def padded_pool(g: GraphBuilder) -> Expression:
    """Zeros that a maximum of negative numbers has to see."""
    x = g.padding(g.negate(g.abs(g.input("x", "FLOAT32", SIZES))), "CONSTANT", 0.0, [0, 0, 1, 1], [0, 0, 1, 1])
    return g.max_pooling0(x, [2, 2])


def quotient_times_steps(g: GraphBuilder) -> Expression:
    """Steps times the quotient of 1 and others, quantised again: many products lie in the middle of two steps."""
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
    "weights that were floats": ("weights", weighed, BOTH),
    "two quantisations": ("doubled", requantized, BOTH),
    "close bounds": ("close bounds", clipped_closely, BOTH),
    "integers that are clipped": ("clipped integers", clipped_integers, BOTH),
    "coarse weights": ("coarse weights", coarsened, BOTH if VERSION > (1, 24) else ()),
    "a scaled row": ("scaled rows", with_scaled_row, BOTH),
    "a quotient of one": ("quotients", quotient_times_steps, BOTH),
}
"""The barrier, a graph that needs it, and the opsets in which this ONNX Runtime goes wrong without it; by name.

Without the one in front of bodies ONNX Runtime ends the process. "factors" is about processors that add products in 16
bits, and casts are merged also where the optimiser is off: see ``test_casts.py``.
"""


def left_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(table, "BARRIERS", tuple(item for item in BARRIERS if item.name != name))


def test_every_barrier_is_shown_to_be_needed() -> None:
    assert {"casts", "factors", *(barrier for barrier, *_ in NEEDED.values())} == {item.name for item in BARRIERS}


def outcome(form: Callable[[GraphBuilder], Expression], opset: int) -> str:
    """What the optimiser changes, if it does."""
    g = GraphBuilder()
    model = compile(g.build({"y": form(g)}), opset=opset, target="dml" if form is in_blocks else "cpu")
    rng = np.random.default_rng(3)
    feeds: dict[str, np.ndarray] = {port.onnx_name: random_array(port, rng) for port in model.inputs}
    if form is clipped_closely:
        feeds = {name: (array * np.float32(1e-7)).astype(np.float32) for name, array in feeds.items()}
    plain = runs(model, feeds, optimised=False)["y"]
    try:
        return difference(plain, runs(model, feeds, optimised=True)["y"], rounded=form in (weighed, coarsened))
    except Exception as error:  # ONNX Runtime's classes share nothing more
        return str(error)


@pytest.mark.parametrize("opset", BOTH)
@pytest.mark.parametrize("name", NEEDED)
def test_each_barrier_is_needed_and_does(name: str, opset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one of these fails without its barrier no longer, ONNX Runtime has changed: the barrier may go."""
    barrier, form, opsets = NEEDED[name]
    monkeypatch.setattr(budget, "NODE_BYTES", 1 << 12)
    monkeypatch.setattr(budget, "GROWTH", 0)
    assert outcome(form, opset) == ""
    left_out(monkeypatch, barrier)
    assert bool(outcome(form, opset)) == (opset in opsets)


def test_steps_that_two_nodes_move_are_kept_apart_from_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime gives each reader a DequantizeLinear of its own first, and does not load what it makes of INT8."""
    assert outcome(partial(moved_twice, data_type="INT8"), 21) == ""
    left_out(monkeypatch, "moved steps")
    assert bool(outcome(partial(moved_twice, data_type="INT8"), 21)) == (VERSION > (1, 24))


def test_weights_stay_where_the_sum_is_an_output_too() -> None:
    """ONNX Runtime quantises weights in front of a quantisation, whoever else sees the sum."""
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
def test_scales_of_one_beside_scales_that_are_bound(
    form: Callable[..., Expression], data_type: str, bound: tuple[str, ...], exact: bool
) -> None:
    """1 divided by a scale, times sums, is no quotient; and a division by 1 took its result along."""
    g = GraphBuilder()
    x, given = g.input("x", data_type, SIZES), {}
    for name in ("scale", "last"):
        is_bound = name in bound
        given[name] = (
            g.input(name, "FLOAT32", (1, 1, 1, 1)) if is_bound else g.constant(np.ones((1, 1, 1, 1), np.float32))
        )
    model = compile(g.build({"y": form(g, x, given["scale"], given["last"])}), opset=21, exact=exact)
    feeds = {port.onnx_name: random_array(port, np.random.default_rng(3)) for port in model.inputs}
    for number_of in (0.1, 0.3, 0.7, 3.7, 10.0):
        feeds |= {name: np.full((1, 1, 1, 1), number_of, np.float32) for name in bound}
        plain, optimised = (runs(model, feeds, optimised=flag)["y"] for flag in (False, True))
        np.testing.assert_array_equal(optimised, plain)


@pytest.mark.parametrize("data_type", ["FLOAT32", "INT32", "INT16", "UINT8"])
def test_quotients_of_one_that_are_multiplied(data_type: str) -> None:
    """Exact models keep infinity times 0 no number, and integers what is truncated."""
    g = GraphBuilder()
    x, y = (g.input(name, data_type, SIZES) for name in "xy")
    model = compile(g.build({"z": g.multiply(y, FORMS["one over"](g, x))}), opset=21, exact=True)
    dtype = np.dtype(data_type.lower())
    numbers = [1e-40, 0.3, 7, 3] if dtype.kind == "f" else [2, 1, 7, 3]
    feeds = {"x": np.resize(np.array(numbers, dtype), SIZES), "y": np.resize(np.array([0, 5, 3, 6], dtype), SIZES)}
    plain, optimised = (runs(model, feeds, optimised=flag)["z"] for flag in (False, True))
    np.testing.assert_array_equal(optimised, plain)
