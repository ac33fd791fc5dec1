"""Passes look through a Cast only if it keeps the order of numbers, also if it reads bytes as another type.

A descriptor that declares UINT8 as INT8 reads it through a Cast that wraps. Random programs have such Casts between
padding, maxima, means, convolutions and activations; steps that refuse a type are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel, compile, compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array
from dml2onnx.passes import PASSES, ROUNDING, Pass
from dml2onnx.verification import contents
from tests.passes.running import computed
from tests.passes.test_folding import require_same_bits

SIZES = (1, 4, 5, 6)
Step = Callable[[GraphBuilder, Expression], Expression]
SAME_WIDTH = (
    ("INT8", "UINT8"),
    ("INT16", "UINT16", "FLOAT16"),
    ("INT32", "UINT32", "FLOAT32"),
    ("INT64", "UINT64", "FLOAT64"),
)
TYPES = [name for names in SAME_WIDTH for name in names]


def limit_of(x: Expression, *, highest: bool) -> float | int:
    if x.data_type.is_float:
        return np.inf if highest else -np.inf
    return x.data_type.limits[highest]


def padded(value: Callable[[Expression], float]) -> Step:
    def step(g: GraphBuilder, x: Expression) -> Expression:
        return g.padding1(x, "CONSTANT", x.data_type.name, value(x), (0, 0, 1, 0), (0, 0, 0, 1))

    return step


def joined(value: Callable[[Expression], float]) -> Step:
    """Padding by a JOIN."""

    def step(g: GraphBuilder, x: Expression) -> Expression:
        margin = g.constant(np.full((*x.sizes[:2], 1, x.sizes[3]), value(x), x.data_type.dtype))
        return g.join([margin, x], 2)

    return step


def read_as(name: str) -> Step:
    return lambda g, x: g.reinterpret(x, data_type=name)


def cast_to(name: str) -> Step:
    return lambda g, x: g.cast(x, name)


def filtered(g: GraphBuilder, x: Expression) -> Expression:
    """A convolution of integers, so that sums are exact in any order."""
    weights = np.resize(np.array([1, 0, -2, 1, 3], x.data_type.dtype), (4, x.sizes[1], 2, 2))
    return g.convolution(x, g.constant(weights))


def integers_filtered(g: GraphBuilder, x: Expression) -> Expression:
    point = g.constant(np.zeros((1, 1, 1, 1), x.data_type.dtype))
    weights = g.constant(np.resize(np.array([1, 0, 2, 1, 3], x.data_type.dtype), (4, x.sizes[1], 2, 2)))
    return g.convolution_integer(x, point, weights)


def quantised(g: GraphBuilder, x: Expression) -> Expression:
    """A quantised convolution with the same type for input and output."""
    dtype = x.data_type.dtype
    scale, point = (g.constant(np.full((1, 1, 1, 1), value, kind)) for value, kind in ((0.5, "float32"), (3, dtype)))
    weights = g.constant(np.resize(np.array([1, 0, 2, 1, 3], dtype), (4, x.sizes[1], 1, 1)))
    return g.quantized_linear_convolution(x, scale, point, weights, scale, None, None, scale, point, x.data_type.name)


def transposed(g: GraphBuilder, x: Expression) -> Expression:
    order = (0, 1, 3, 2)
    sizes, strides = ([items[axis] for axis in order] for items in (x.sizes, x.desc.effective_strides))
    return g.identity(g.reinterpret(x, sizes=sizes, strides=strides))


STEPS: dict[str, Step] = {
    "pad 0": padded(lambda _: 0),
    "pad lowest": padded(lambda x: limit_of(x, highest=False)),
    "pad highest": padded(lambda x: limit_of(x, highest=True)),
    "join 0": joined(lambda _: 0),
    "join lowest": joined(lambda x: limit_of(x, highest=False)),
    "maximum": lambda g, x: g.max_pooling0(x, [2, 2]),
    "wide maximum": lambda g, x: g.max_pooling0(x, [3, 2], [1, 2]),
    "maximum and index": lambda g, x: g.max_pooling2(x, [2, 2])[0],
    "mean": lambda g, x: g.average_pooling0(x, [1, 1], [2, 2], [0, 0], [0, 0], True),
    "convolution": filtered,
    "integer convolution": integers_filtered,
    "quantised": quantised,
    "relu": lambda g, x: g.activation_relu(x),
    "absolute": lambda g, x: g.abs(x),
    "negate": lambda g, x: g.negate(x),
    "clip": lambda g, x: g.clip(x, 0.0, 100.0),
    "half": lambda g, x: g.slice0(x, [0] * 4, (*x.sizes[:3], x.sizes[3] - 1), [1] * 4),
    "transpose": transposed,
    **{f"read {name}": read_as(name) for name in TYPES},
    **{f"cast {name}": cast_to(name) for name in TYPES},
}


def program(data_type: str, steps: Sequence[str]) -> Graph:
    """A chain of steps, without those that refuse their input."""
    g = GraphBuilder()
    start = x = g.input("x", data_type, SIZES)
    for name in steps:
        try:
            x = STEPS[name](g, x)
        except (DmlError, OverflowError, TypeError, ValueError):
            continue
    assume(x is not start)
    return g.build({"y": x})


def compiled(graph: Graph, passes: Sequence[Pass], *, exact: bool) -> CompiledModel:
    target = "cpu" if exact else "onnx"
    return compile_outputs(graph, graph.outputs, opset=21, target=target, exact=exact, passes=passes)


NAMES = sorted(STEPS)
READINGS = [name for name in NAMES if name.startswith(("read", "cast"))]
PADDINGS = [name for name in NAMES if name.startswith(("pad", "join"))]
WINDOWS = ["maximum", "wide maximum", "maximum and index", "mean", "convolution", "integer convolution", "quantised"]


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draws a type, and steps with windows over padding that may be read as another type."""
    parts = ((NAMES, 0, 2), (PADDINGS, 1, 2), (READINGS, 0, 2), (WINDOWS, 1, 1), (READINGS, 0, 1), (NAMES, 0, 2))
    steps = [draw(st.lists(st.sampled_from(names), min_size=low, max_size=high)) for names, low, high in parts]
    return draw(st.sampled_from(TYPES)), [name for part in steps for name in part]


REGRESSIONS = (
    ("UINT8", ["pad 0", "read INT8", "maximum"]),
    ("UINT8", ["pad 0", "read INT8", "maximum and index"]),
    ("UINT8", ["join 0", "read INT8", "maximum"]),
    ("UINT16", ["pad 0", "read INT16", "maximum"]),
    ("UINT16", ["join 0", "read INT16", "maximum"]),
    ("INT16", ["pad lowest", "cast INT8", "maximum"]),
    ("UINT8", ["quantised", "read INT8", "maximum", "read UINT8"]),
    ("UINT8", ["pad 0", "join 0", "maximum"]),
    ("FLOAT32", ["pad 0", "join 0", "mean"]),
    ("FLOAT32", ["pad lowest", "pad 0", "maximum"]),
    ("INT8", ["absolute", "pad 0", "maximum"]),
    ("UINT8", ["read INT8", "relu", "read UINT8", "cast INT16", "read FLOAT16", "pad 0", "maximum"]),
)


def counts(model: CompiledModel) -> Counter[str]:
    return Counter(node.op_type for node in model.lowered.nodes)


def has_nan(model: CompiledModel, feeds: Mapping[str, Array]) -> bool:
    found = computed(model, feeds, optimized=False)
    return any(array.dtype.kind == "f" and bool(np.isnan(array).any()) for array in (*feeds.values(), *found))


def many_programs(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a test with many examples, and with :data:`REGRESSIONS`."""
    for row in REGRESSIONS:
        test = example(row, True, "ordinary")(test)
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=checks)(test)


@many_programs
@given(rows(), st.booleans(), st.sampled_from(["ordinary", "extreme"]))
def test_no_bit_changes(row: tuple[str, list[str]], exact: bool, kind: str) -> None:
    graph = program(*row)
    literal, passed = (compiled(graph, passes, exact=exact) for passes in ((), PASSES))
    if counts(literal) != counts(passed):
        random = np.random.default_rng(3)
        feeds = {port.onnx_name: contents(port, random, kind) for port in literal.inputs}
        # only exact models specify NaN, and bytes that are read as floats may be NaN
        assume(exact or not any(has_nan(model, feeds) for model in (literal, passed)))
        require_same_bits(literal, passed, feeds)


@many_programs
@given(rows(), st.booleans(), st.just("ordinary"))
def test_rounding_passes_change_no_number(row: tuple[str, list[str]], exact: bool, kind: str) -> None:
    """Programs have no scales to fold, so that only signs of zeros may differ."""
    graph = program(*row)
    literal, passed = (compiled(graph, passes, exact=exact) for passes in (PASSES, (*PASSES, *ROUNDING)))
    if counts(literal) == counts(passed):
        return
    random = np.random.default_rng(3)
    feeds = {port.onnx_name: contents(port, random, kind) for port in literal.inputs}
    one, other = (computed(model, feeds, optimized=True) for model in (literal, passed))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("data_type", "read", "values", "want"),
    [
        ("UINT8", "INT8", [200, 201, 202], [0, -54, 0]),
        ("UINT16", "INT16", [65480, 65481, 65482], [0, -54, 0]),
    ],
)
@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("form", ["pad", "join"])
def test_zeros_are_not_the_lowest_signed_number(
    form: str, exact: bool, level: int, data_type: str, read: str, values: list[int], want: list[int]
) -> None:
    g = GraphBuilder()
    x = g.input("x", data_type, (1, 1, 1, 3))
    zero = g.constant(np.zeros((1, 1, 1, 1), x.data_type.dtype))
    if form == "pad":
        x = g.padding1(x, "CONSTANT", data_type, 0, [0, 0, 0, 1], [0, 0, 0, 1])
    else:
        x = g.join([zero, x, zero], 3)
    y = g.reinterpret(x, data_type=read)
    model = compile(g.build({"y": g.max_pooling2(y, [1, 3])[0]}), optimize=level, exact=exact)
    assert model.run({"x": np.array(values, x.data_type.dtype)})["y"].reshape(-1).tolist() == want
