"""Operators that lower to the nodes that ONNX Runtime's optimiser matches, and functions to compare its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

import numpy as np
import onnxruntime

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.tensor import TensorDesc

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
    """An integer product times two scales, one of which is a graph input, plus a row."""
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
    """A convolution with dequantised weights."""
    steps = g.constant(np.resize(FILTER_STEPS, (4, x.sizes[1], 1, 1)))
    return g.convolution(x, dequantized(g, steps, 0.0137, 0))


def quantised_convolution(g: GraphBuilder, x: Expression) -> Expression:
    """A quantised convolution with INT8 weights."""
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

SAME = (("UINT8", 0.05, 128), ("UINT8", 0.3, 3), ("INT8", 0.5, 3), ("INT8", 0.3, 0))
for _same in SAME:
    FORMS[f"same steps {_same}"] = quantizing(*_same)
    FORMS[f"same steps back {_same}"] = dequantizing(*_same[1:])


@cache
def is_accepted(form: str, desc: TensorDesc) -> bool:
    """Whether a form takes such a tensor; tried in a graph of its own, and once, since a refusal computes remedies."""
    g = GraphBuilder()
    try:
        FORMS[form](g, g.input("x", desc.data_type, desc.sizes, desc.strides))
    except (DmlError, IndexError, OverflowError, ValueError, ZeroDivisionError):
        return False
    return True


def chain_of(g: GraphBuilder, x: Expression, forms: Sequence[str]) -> Expression | None:
    """Applies forms one after the other; returns ``None`` if one refuses its input."""
    for form in forms:
        if not is_accepted(form, x.desc):
            return None
        x = FORMS[form](g, x)
    return x


def runs(model: CompiledModel, feeds: dict[str, np.ndarray], optimised: bool) -> dict[str, np.ndarray]:
    """Runs a saved model in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def difference(plain: np.ndarray, optimised: np.ndarray, *, rounded: bool) -> str:
    """Describes the difference, or returns ``""``; with ``rounded``, floats may differ by rounding errors."""
    with np.errstate(all="ignore"):
        a, b = plain.astype(np.float64), optimised.astype(np.float64)
        apart = np.where((plain == optimised) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    allowed = 0.0
    if rounded and plain.dtype.kind == "f":
        allowed = ROUNDINGS * float(np.finfo(plain.dtype).eps) * float(np.abs(a[np.isfinite(a)]).max(initial=0))
    wrong = ~(apart <= allowed)
    return f"{wrong.sum()} of {wrong.size} differ, by up to {apart.max()}" if wrong.any() else ""


ROUNDINGS = 16
"""Allowed rounding errors of the largest number: sums have 36 products, and a normalisation divides by less than 1."""
