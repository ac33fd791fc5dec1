"""CAST against the reference."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import evaluate_results
from tests.lowering.harness import check_case, evaluate, operator, operators, t

INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
FLOATS = ["FLOAT16", "FLOAT32", "FLOAT64"]
TYPES = [*FLOATS, *INTEGERS]
PAIRS = list(itertools.product(TYPES, TYPES))


def cast(source, target, sizes=(2, 3, 4), strides=None):
    return operator("CAST", InputTensor=t(source, sizes, strides), OutputTensor=t(target, sizes))


def corners(data_type):
    """Returns numbers at and next to the limits of all types, and special numbers."""
    kind = DataType[data_type]
    whole = {0, 1, 2, 3, 100, 2**24 + 1, 2**24 + 3, 2**53 + 1, 2**60 + 2**36, 2**60 + 2**36 + 1, 2**63 + 2**39 + 1}
    for bits in (8, 16, 32, 64):
        for limit in (1 << bits, 1 << (bits - 1)):
            whole |= {limit - 2, limit - 1, limit, limit + 1, limit + limit // 2}
    whole |= {-number for number in whole} | {65503, 65504, 65519, 65520, 65521, -65520}
    if not kind.is_float:
        return np.array(sorted(n for n in whole if kind.limits[0] <= n <= kind.limits[1]), kind.dtype)
    fractions = [0.5, 0.999, 1.5, 2.5, 126.5, 127.5, 127.99, 128.5, 254.99, 255.5, 255.99, 32767.5, 65535.5]
    fractions += [1e-7, 1e-310]
    special = [math.nan, math.inf, -math.inf, -0.0, 0.0]
    floats = np.array([*map(float, sorted(whole)), *fractions, *(-x for x in fractions), *special])
    with np.errstate(over="ignore"):
        values = floats.astype(kind.dtype)
    info: np.finfo[Any] = np.finfo(kind.dtype)
    with np.errstate(all="ignore"):
        near = np.concatenate([values, np.nextafter(values, info.dtype.type(0)), np.nextafter(values, info.max)])
    return np.concatenate([near, np.array([info.max, info.min, info.tiny, info.smallest_subnormal], kind.dtype)])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair_of_types(source, target):
    x = corners(source)
    op = cast(source, target, x.shape)
    computed, _ = evaluate(op, InputTensor=x)
    folded, nodes = evaluate(op, constants=["InputTensor"], InputTensor=x)
    np.testing.assert_array_equal(computed, folded)
    assert nodes == ["Identity"]


# --- meaning ---------------------------------------------------------------------------------------------------------


def test_doubles_are_rounded_once_to_half_precision():
    """Rounding to FLOAT first would move numbers next to the middle of two FLOAT16 to the even one."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    middles = (halves[:-1].astype(np.float64) + halves[1:].astype(np.float64)) / 2
    middles = np.concatenate([middles, [65520.0]])
    x = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, 1e9), middles * (1 - 1e-9)])
    x = np.concatenate([x, -x, [1e300, -1e300, 2.0**981, 5e-324, -5e-324, 0.0, -0.0, math.inf, -math.inf, math.nan]])
    got, nodes = evaluate(cast("FLOAT64", "FLOAT16", x.shape), InputTensor=x)
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    assert nodes == ["Abs", "Cast", "Clip", "Cast", "Mul", "Add", "Sub", "Mul", "Clip", "Mul", "Cast"]


def test_single_precision_is_rounded_to_half():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1 << 32, 1 << 16, np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([x, (rng.normal(0, 1, 1 << 14) * 10.0 ** rng.integers(-9, 6, 1 << 14)).astype(np.float32)])
    got, nodes = evaluate(cast("FLOAT32", "FLOAT16", x.shape), InputTensor=x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, x.astype(np.float16))
    assert nodes == ["Cast"]


# --- forms -----------------------------------------------------------------------------------------------------------

WITHOUT_NAN = ["IsNaN", "Where"]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("FLOAT32", "INT8", [*WITHOUT_NAN, "Clip", "Cast"]),
        ("FLOAT32", "UINT16", [*WITHOUT_NAN, "Clip", "Cast"]),
        ("FLOAT32", "INT32", [*WITHOUT_NAN, "Clip", "Cast", "GreaterOrEqual", "Where"]),
        ("FLOAT32", "INT64", [*WITHOUT_NAN, "Clip", "Cast", "GreaterOrEqual", "Where"]),
        ("FLOAT64", "INT32", [*WITHOUT_NAN, "Clip", "Cast"]),
        ("FLOAT64", "INT64", [*WITHOUT_NAN, "Clip", "Cast", "GreaterOrEqual", "Where"]),
        ("FLOAT16", "INT16", ["Cast", *WITHOUT_NAN, "Clip", "Cast"]),
        ("FLOAT32", "FLOAT64", ["Cast"]),
        ("FLOAT16", "FLOAT64", ["Cast"]),
        ("FLOAT64", "FLOAT32", ["Cast"]),
        ("FLOAT32", "FLOAT32", ["Identity"]),
        ("INT64", "UINT8", ["Cast"]),
    ],
)
def test_form(source, target, expected):
    assert operators(check_case(cast(source, target), extremes=True)) == expected


def test_cast_comes_before_expand():
    assert operators(check_case(cast("INT32", "INT8", strides=(0, 4, 1)))) == ["Cast", "Expand"]
    assert operators(check_case(cast("FLOAT32", "FLOAT32", strides=(0, 0, 0)))) == ["Expand"]


# --- several in a row ------------------------------------------------------------------------------------------------


def chain(types, x, *, tail=None):
    """A chain of CASTs through all types, and then the operator that ``tail`` makes of (data type, sizes)."""
    values = [Value(f"v{index}", t(kind, x.shape).minimum_bytes) for index, kind in enumerate(types)]
    nodes = []
    for index, (source, target) in enumerate(itertools.pairwise(types)):
        op = cast(source, target, x.shape)
        reads, writes = {"InputTensor": (Read(values[index]),)}, {"OutputTensor": (Write(values[index + 1]),)}
        nodes.append(Node(f"cast{index}", op, reads, writes))
    last = t(types[-1], x.shape)
    if tail is not None:
        op, desc = tail(types[-1], x.shape)
        end = Value("end", desc.minimum_bytes)
        nodes.append(Node("tail", op, {"InputTensor": (Read(values[-1]),)}, {"OutputTensor": (Write(end),)}))
        values, last = [*values, end], desc
    output = GraphOutput("y", values[-1], last)
    return Graph(tuple(nodes), (GraphInput("x", values[0], desc=t(types[0], x.shape)),), (output,))


def compare_chain(graph, x):
    got = compile_outputs(graph, graph.outputs).run({"x": x})["y"]
    want = evaluate_results(graph, {"x": x})["y"]
    # numbers out of range are left to the driver [decision E11]
    is_specified = np.ones(got.shape, np.bool_) if want.unspecified is None else ~want.unspecified
    np.testing.assert_array_equal(got[is_specified], want.values[is_specified])


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("middle", TYPES)
def test_chains_of_casts(source, middle):
    """ONNX Runtime would merge two Casts and drop the rounding, wrapping or truncation of the first."""
    x = corners(source)
    for target in TYPES:
        compare_chain(chain([source, middle, target], x), x)


@pytest.mark.parametrize("middle", ["INT8", "UINT8", "INT16", "UINT32", "INT64", "FLOAT16"])
@pytest.mark.parametrize("source", ["FLOAT32", "FLOAT16", "INT64"])
def test_casts_next_to_casts_of_other_lowerings(source, middle):
    """The driver rounds FLOAT16 results by a Cast, and operators without a kernel run between two Casts."""

    def doubled(kind, sizes):
        desc = t(kind, sizes)
        op = operator("ELEMENT_WISE_IDENTITY", InputTensor=desc, OutputTensor=desc, ScaleBias=ScaleBias(2.0, 0.0))
        return op, desc

    x = corners(source)
    compare_chain(chain([source, middle], x, tail=doubled), x)


def test_half_precision_results_are_rounded_before_they_are_cast():
    x = np.array([2.0**-11 + 127, 0.33325195, 254.9], np.float16)
    desc = t("FLOAT16", x.shape)
    scaled = operator("ELEMENT_WISE_IDENTITY", InputTensor=desc, OutputTensor=desc, ScaleBias=ScaleBias(1.0, 0.93))
    for target in ("INT8", "UINT8", "INT32", "FLOAT32"):
        a, b, c = (Value(name, 8 + 8 * (name == "c")) for name in "abc")
        nodes = (
            Node("scaled", scaled, {"InputTensor": (Read(a),)}, {"OutputTensor": (Write(b),)}),
            Node("cast", cast("FLOAT16", target, x.shape), {"InputTensor": (Read(b),)}, {"OutputTensor": (Write(c),)}),
        )
        graph = Graph(nodes, (GraphInput("x", a, desc=desc),), (GraphOutput("y", c, t(target, x.shape)),))
        compare_chain(graph, x)
