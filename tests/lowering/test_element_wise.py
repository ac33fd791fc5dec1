"""ELEMENT_WISE arithmetic, IDENTITY and CLIP against the reference."""

import math

import numpy as np
import pytest

from dml2onnx.ir.operator import Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.legalise import emitter
from dml2onnx.targets import target as target_of
from tests.lowering.harness import check_case, check_form, evaluate, integer_extremes, operator, operators, t

BINARY = [
    "ELEMENT_WISE_ADD",
    "ELEMENT_WISE_ADD1",
    "ELEMENT_WISE_SUBTRACT",
    "ELEMENT_WISE_MULTIPLY",
    "ELEMENT_WISE_DIVIDE",
]
NODES = dict(zip(BINARY, ["Add", "Add", "Sub", "Mul", "Div"], strict=True))
SIGNED = ["INT8", "INT16", "INT32", "INT64"]
UNSIGNED = ["UINT8", "UINT16", "UINT32", "UINT64"]
INTEGERS = [*SIGNED, *UNSIGNED]
FLOATS = ["FLOAT32", "FLOAT16"]
SHAPE = (2, 3, 4)


def binary(name, data_type="FLOAT32", sizes=SHAPE, a=None, b=None, out=None, fused=None):
    """A descriptor; ``a``, ``b`` and ``out`` are strides."""
    extra = {"FusedActivation": fused} if name == "ELEMENT_WISE_ADD1" else {}
    return operator(
        name,
        ATensor=t(data_type, sizes, a),
        BTensor=t(data_type, sizes, b),
        OutputTensor=t(data_type, sizes, out),
        **extra,
    )


def unary(name, data_type="FLOAT32", sizes=SHAPE, strides=None, out=None, scale=None, low=-1.0, high=1.5):
    """A descriptor; ``scale`` is a pair of Scale and Bias."""
    fields = {}
    if name == "ELEMENT_WISE_CLIP":
        fields = {"Min": low, "Max": high}
    if name == "ELEMENT_WISE_CLIP1":
        kind = DataType[data_type]
        if not kind.is_float:
            low, high = (min(max(int(bound), kind.limits[0]), kind.limits[1]) for bound in (low, high))
        else:
            low, high = (float(np.asarray(bound, kind.dtype)) for bound in (low, high))
        fields = {"MinMaxDataType": data_type, "Min": Scalar(kind, low), "Max": Scalar(kind, high)}
    return operator(
        name,
        InputTensor=t(data_type, sizes, strides),
        OutputTensor=t(data_type, sizes, out),
        ScaleBias=None if scale is None else ScaleBias(*(float(np.float32(x)) for x in scale)),
        **fields,
    )


def pairs(data_type):
    values = integer_extremes(data_type)
    return np.repeat(values, len(values)), np.tile(values, len(values))


# --- arithmetic ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        ("INT8", ["Equal", "Cast", "Add", "Div", "Sub", "Mul"]),
        ("INT16", ["Equal", "Cast", "Add", "Div", "Sub", "Mul"]),
        ("INT32", ["Less", "Greater", "And", "Where", "Div", "Where", "Mul"]),
        ("INT64", ["Less", "Greater", "And", "Where", "Div", "Where", "Mul"]),
        ("UINT8", ["Equal", "Cast", "Max", "Div", "Sub", "Max"]),
        ("UINT32", ["Equal", "Cast", "Max", "Div", "Sub", "Max"]),
        ("UINT64", ["Equal", "Cast", "Max", "Div", "Sub", "Max"]),
    ],
)
def test_form_of_integer_quotients(data_type, expected):
    assert operators(check_form(binary("ELEMENT_WISE_DIVIDE", data_type))) == expected
    exact = operators(check_case(binary("ELEMENT_WISE_DIVIDE", data_type)))
    # Where has no kernels for 8 and 16 bits, so that Casts surround it
    by_zero = [item for item in exact[len(expected) :] if item not in ("Cast", "Equal")]
    assert exact[: len(expected)] == expected
    assert by_zero == ([] if data_type in (*UNSIGNED, "INT64") else ["Less", "Where", "Where"])


@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
def test_constant_divisors_need_no_guards(data_type):
    if data_type in INTEGERS:
        values = integer_extremes(data_type)
        b = values[values != 0] if data_type in UNSIGNED else values[(values != 0) & (values != -1)]
    else:
        b = np.array([0.0, -0.0, 3.0, math.inf, math.nan], data_type.lower())
    a = np.resize(integer_extremes("INT8"), b.shape).astype(b.dtype)
    _, nodes = evaluate(binary("ELEMENT_WISE_DIVIDE", data_type, b.shape), ATensor=a, BTensor=b, constants=["BTensor"])
    assert [item for item in nodes if item != "Cast"] == ["Div"]


@pytest.mark.parametrize("data_type", INTEGERS)
def test_guards_of_constant_divisors_are_folded(data_type):
    a, b = pairs(data_type)
    _, nodes = evaluate(binary("ELEMENT_WISE_DIVIDE", data_type, b.shape), ATensor=a, BTensor=b, constants=["BTensor"])
    last = ["Max"] if data_type in UNSIGNED else ["Mul"] if data_type == "INT64" else ["Mul", "Less", "Where", "Where"]
    assert [item for item in nodes if item != "Cast"] == ["Div", *last]


@pytest.mark.parametrize("name", BINARY)
def test_half_precision_rounds_once(name):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 300, (2, 4096)).astype(np.float16)
    with np.errstate(over="ignore"):
        function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[NODES[name]]
        want = function(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    got, _ = evaluate(binary(name, "FLOAT16", a.shape), ATensor=a, BTensor=b)
    np.testing.assert_array_equal(got, want)


def test_fused_activations_take_the_sum_before_rounding():
    fused = operator("ACTIVATION_THRESHOLDED_RELU", Alpha=2048.5)
    op = binary("ELEMENT_WISE_ADD1", "FLOAT16", (2,), fused=fused)
    got, nodes = evaluate(op, ATensor=np.array([2048, 2048], np.float16), BTensor=np.array([0.75, 0.25], np.float16))
    np.testing.assert_array_equal(got, np.array([2048, 0], np.float16))
    assert nodes == ["Cast", "Cast", "Add", "LessOrEqual", "Where", "Cast"]


def test_add_and_relu_stay_together():
    op = binary("ELEMENT_WISE_ADD1", b=(0, 4, 1), fused=operator("ACTIVATION_RELU"))
    assert operators(check_case(op)) == ["Add", "Relu"]


# --- layouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param(None, (0, 0, 0), [], id="scalar"),
        pytest.param(None, (0, 1, 0), [], id="channels"),
        pytest.param((0, 4, 1), (12, 0, 0), [], id="both-ways"),
        pytest.param((0, 4, 1), (0, 0, 1), ["Expand"], id="the-result-too"),
        pytest.param((0, 0, 0), (0, 0, 0), ["Expand"], id="one-element"),
    ],
)
def test_broadcasting_is_left_to_onnx(name, a, b, expected):
    nodes = operators(check_case(binary(name, a=a, b=b), constants=["BTensor"]))
    assert [item for item in nodes if item not in {"Reshape"}] == [NODES[name], *expected]


def test_form_of_identity():
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY"))) == ["Identity"]
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY", scale=(1.0, 0.0)))) == ["Identity"]
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY", strides=(1, 2, 6)))) == ["Transpose"]


# --- ScaleBias -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", INTEGERS)
def test_negation_of_integers_is_one_mul(data_type):
    x = integer_extremes(data_type)
    got, nodes = evaluate(unary("ELEMENT_WISE_IDENTITY", data_type, x.shape, scale=(-1, 0)), InputTensor=x)
    np.testing.assert_array_equal(got, np.zeros_like(x) - x)
    assert nodes == ["Mul"]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [((2, 0), ["Mul"]), ((1, 2), ["Add"]), ((2, 3), ["Mul", "Add"]), ((-1, 0), ["Mul"])],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT64", "INT8", "UINT64"])
def test_form_of_scale_and_bias(data_type, scale, expected):
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY", data_type, scale=scale))) == expected


def test_double_precision_keeps_its_digits():
    x = np.array([1 + 2.0**-50, -1e300, 2.0**-1000])
    got, _ = evaluate(unary("ELEMENT_WISE_IDENTITY", "FLOAT64", (3,), scale=(-2, 0)), InputTensor=x)
    np.testing.assert_array_equal(got, -2 * x)


# --- CLIP ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-1, 1, ["Clip"]),
        (0, math.inf, ["Relu"]),
        (-math.inf, 1, ["Clip"]),
        (-math.inf, math.inf, ["Identity"]),
        (1, math.nan, ["Clip"]),
        (math.nan, 1, ["Clip"]),
        (math.nan, math.nan, ["Identity"]),
    ],
)
def test_form_of_clip(low, high, expected):
    """NaN bounds are ignored [decision G1]."""
    check_case(unary("ELEMENT_WISE_CLIP", low=low, high=high))
    assert operators(check_form(unary("ELEMENT_WISE_CLIP", low=low, high=high))) == expected


# --- INT64 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["Max", "Min"])
def test_int64_is_compared_exactly(method):
    """Kernels of Max, Min and Clip compare the lower halves of INT64 as signed numbers."""
    e = emitter(target_of("cpu"))
    e.begin("node", "TEST")
    x = e.nodes("Identity", [e.constant(np.array([2**31, 1]))], [(np.dtype(np.int64), (2,))])[0]
    getattr(e, method)(x, e.constant(1, np.int64))
    e.Clip(x, 0, 5)
    e.Sign(x)
    e.ReduceMax(x, (0,))
    assert {node.op_type for node in e.emitted}.isdisjoint({"Max", "Min", "Clip", "Sign", "ReduceMax", "ReduceMin"})
