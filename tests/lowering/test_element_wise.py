"""ELEMENT_WISE operators compiled, run, and compared with the reference."""

import math
import operator as python

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.legalise import emitter
from dml2onnx.reference import operator_results
from dml2onnx.targets import target as target_of
from dml2onnx.testing.runnable import RELEASE
from tests.lowering.drawn import packed, repeated, tensors
from tests.lowering.harness import (
    assert_close,
    check_case,
    check_form,
    each_type,
    integer_extremes,
    make_case,
    operator,
    operators,
    t,
)

BINARY = [
    "ELEMENT_WISE_ADD",
    "ELEMENT_WISE_ADD1",
    "ELEMENT_WISE_SUBTRACT",
    "ELEMENT_WISE_MULTIPLY",
    "ELEMENT_WISE_DIVIDE",
]
UNARY = ["ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"]
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


def evaluate(op, *, constants=(), opset=21, **inputs):
    """The output for given inputs, compared with the reference on the way, and the ONNX operators."""
    case = make_case(op, inputs=inputs, constants=constants)
    model = compile_outputs(case.graph, case.graph.outputs, opset=opset)
    got = model.run({port.name: case.memory[port.name] for port in model.inputs})
    ((result,),) = operator_results(op, case.logical).values()
    assert_close(got["OutputTensor"], result, op.tensor("OutputTensor"), op.type)
    return got["OutputTensor"], operators(model)


def pairs(data_type):
    values = integer_extremes(data_type)
    return np.repeat(values, len(values)), np.tile(values, len(values))


@each_type([*BINARY, *UNARY])
def test_every_data_type_and_rank(name, data_type, rank):
    sizes = (2, 3, 2, 1, 2, 1, 3, 2)[:rank]
    check_case((binary if name in BINARY else unary)(name, data_type, sizes), extremes=True)


@pytest.mark.parametrize("opset", range(17, 24))
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT16", "INT64", "UINT16", "UINT64"])
def test_every_opset(data_type, opset):
    for name in BINARY:
        if name != "ELEMENT_WISE_ADD1" or data_type in FLOATS:
            check_case(binary(name, data_type), opset=opset)
    for name in UNARY:
        check_case(unary(name, data_type, scale=(1.5, 0.25)), opset=opset)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "INT64", "UINT32"])
def test_target_dml(data_type):
    for name in BINARY:
        # the CPU provider of 1.24, on which the model for DirectML runs here, has no Where of INT8
        if (name, data_type) == ("ELEMENT_WISE_DIVIDE", "INT8") and RELEASE < (1, 25):
            continue
        if name != "ELEMENT_WISE_ADD1" or data_type in FLOATS:
            check_case(binary(name, data_type), target="dml")
    for name in UNARY:
        check_case(unary(name, data_type, scale=(2, 1)), target="dml")


# --- arithmetic ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", INTEGERS)
@pytest.mark.parametrize("name", [name for name in BINARY[:4] if name != "ELEMENT_WISE_ADD1"])
def test_integers_wrap(name, data_type):
    a, b = pairs(data_type)
    got, nodes = evaluate(binary(name, data_type, a.shape), ATensor=a, BTensor=b)
    function = {"Add": python.add, "Sub": python.sub, "Mul": python.mul}[NODES[name]]
    exact = function(a.astype(object), b.astype(object))
    bits = DataType[data_type].bits
    np.testing.assert_array_equal(got.astype(object) % (1 << bits), exact % (1 << bits))
    assert nodes == [NODES[name]]


@pytest.mark.parametrize("data_type", INTEGERS)
def test_quotients_of_integers(data_type):
    a, b = pairs(data_type)
    got, _ = evaluate(binary("ELEMENT_WISE_DIVIDE", data_type, a.shape), ATensor=a, BTensor=b)
    low, high = DataType[data_type].limits

    def quotient(n, d):
        if d == 0:
            return high if not low else 0 if data_type == "INT64" else 1 if n < 0 else -1
        if (n, d) == (low, -1):
            return low
        return abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1)

    want = [quotient(n, d) for n, d in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(got, np.array(want, a.dtype))


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
    # Where has no kernels for 8 and 16 bits
    by_zero = [item for item in exact[len(expected) :] if item not in ("Cast", "Equal")]
    assert exact[: len(expected)] == expected
    assert by_zero == ([] if data_type in (*UNSIGNED, "INT64") else ["Less", "Where", "Where"])


@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
def test_known_divisors_need_no_guards(data_type):
    if data_type in INTEGERS:
        values = integer_extremes(data_type)
        b = values[values != 0] if data_type in UNSIGNED else values[(values != 0) & (values != -1)]
    else:
        b = np.array([0.0, -0.0, 3.0, math.inf, math.nan], data_type.lower())
    a = np.resize(integer_extremes("INT8"), b.shape).astype(b.dtype)
    _, nodes = evaluate(binary("ELEMENT_WISE_DIVIDE", data_type, b.shape), ATensor=a, BTensor=b, constants=["BTensor"])
    assert [item for item in nodes if item != "Cast"] == ["Div"]


@pytest.mark.parametrize("data_type", INTEGERS)
def test_guards_against_known_divisors_are_folded(data_type):
    a, b = pairs(data_type)
    _, nodes = evaluate(binary("ELEMENT_WISE_DIVIDE", data_type, b.shape), ATensor=a, BTensor=b, constants=["BTensor"])
    last = ["Max"] if data_type in UNSIGNED else ["Mul"] if data_type == "INT64" else ["Mul", "Less", "Where", "Where"]
    assert [item for item in nodes if item != "Cast"] == ["Div", *last]


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_special_floats(name, data_type):
    info = np.finfo(data_type.lower())
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -3, info.max, info.min, info.tiny, info.smallest_subnormal]
    values = np.array(special, info.dtype)
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    _, nodes = evaluate(binary(name, data_type, a.shape), ATensor=a, BTensor=b)
    casts = ["Cast"] if data_type == "FLOAT16" else []
    assert nodes == [*casts, *casts, NODES[name], *casts]


@pytest.mark.parametrize("name", BINARY)
def test_half_precision_rounds_once(name):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 300, (2, 4096)).astype(np.float16)
    with np.errstate(over="ignore"):
        function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[NODES[name]]
        want = function(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    got, _ = evaluate(binary(name, "FLOAT16", a.shape), ATensor=a, BTensor=b)
    np.testing.assert_array_equal(got, want)


def test_fused_activation_works_on_the_sum_before_rounding():
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


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
@pytest.mark.parametrize("strides", [(1, 2, 6), (30, 10, 2), (24, 8, 2)])
def test_strides(name, strides):
    if name in BINARY:
        check_case(binary(name, a=strides))
        check_case(binary(name, b=strides))
        check_case(binary(name, out=strides))
        return
    for scale in (None, (2.0, 1.0)):
        check_case(unary(name, strides=strides, scale=scale))
        check_case(unary(name, out=strides, scale=scale))
        check_case(unary(name, strides=(0, 1, 0), out=strides, scale=scale))


def test_identity_changes_layouts_and_nothing_else():
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY"))) == ["Identity"]
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY", scale=(1.0, 0.0)))) == ["Identity"]
    assert operators(check_case(unary("ELEMENT_WISE_IDENTITY", strides=(1, 2, 6)))) == ["Transpose"]
    signalling = np.array([0x7D01, 0xFE01, 0x8001], np.uint16).view(np.float16)
    got, _ = evaluate(unary("ELEMENT_WISE_IDENTITY", "FLOAT16", (3,)), InputTensor=signalling)
    np.testing.assert_array_equal(got.view(np.uint16), signalling.view(np.uint16))


# --- ScaleBias -------------------------------------------------------------------------------------------------------

FACTORS = [
    (-1, 0),
    (1, 5),
    (3, -2),
    (2.0**40, -(2.0**33)),
    (1e9, 5),
    (0.5, 0),
    (1, 0.5),
    (1.7, 2.25),
    (-0.001, -3),
    (1e30, 0.5),
    (-1e30, 0.5),
    (0, 0),
    (math.inf, 1),
    (1, math.nan),
    (1, -math.inf),
]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("data_type", INTEGERS)
@pytest.mark.parametrize("scale", FACTORS)
def test_scale_and_bias_on_integers(name, data_type, scale):
    x = integer_extremes(data_type)
    low, high = x[2].item(), x[-2].item()
    evaluate(unary(name, data_type, x.shape, scale=scale, low=low, high=high), InputTensor=x)


@pytest.mark.parametrize("data_type", INTEGERS)
def test_negation_of_integers_is_one_mul(data_type):
    x = integer_extremes(data_type)
    got, nodes = evaluate(unary("ELEMENT_WISE_IDENTITY", data_type, x.shape, scale=(-1, 0)), InputTensor=x)
    np.testing.assert_array_equal(got, np.zeros_like(x) - x)
    assert nodes == ["Mul"]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("scale", FACTORS[:12])
def test_scale_and_bias_on_floats(name, data_type, scale):
    check_case(unary(name, data_type, scale=scale, low=-30000, high=2.5), extremes=True)


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


@pytest.mark.parametrize("name", ["ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"])
@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize(("low", "high"), [(-3.7, 5.2), (5, -5), (0, 6), (-7e4, 7e4), (3, 3)])
def test_bounds(name, data_type, low, high):
    with np.errstate(over="ignore"):
        op = unary(name, data_type, (64,), low=low, high=high)
    x = np.resize(integer_extremes(data_type), 64) if data_type in INTEGERS else None
    if x is not None:
        evaluate(op, InputTensor=x)
    check_case(op, extremes=True)


@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize(
    ("low", "high"), [(-math.inf, math.inf), (-math.inf, 2), (2, math.inf), (-1e30, 1e30), (0, math.inf)]
)
def test_bounds_beyond_the_type(data_type, low, high):
    check_case(unary("ELEMENT_WISE_CLIP", data_type, low=low, high=high), extremes=True)


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
    """A bound that is NaN is none [decision G1]."""
    check_case(unary("ELEMENT_WISE_CLIP", low=low, high=high))
    assert operators(check_form(unary("ELEMENT_WISE_CLIP", low=low, high=high))) == expected


def test_bounds_of_float16_are_finite():
    x = np.array([math.inf, -math.inf, 65504, -65504, 1], np.float16)
    for bound in (1e5, 65520, math.inf):
        got, _ = evaluate(unary("ELEMENT_WISE_CLIP", "FLOAT16", (5,), low=-bound, high=bound), InputTensor=x)
        np.testing.assert_array_equal(got, [65504, -65504, 65504, -65504, 1])
    got, _ = evaluate(unary("ELEMENT_WISE_CLIP1", "FLOAT16", (5,), low=-math.inf, high=math.inf), InputTensor=x)
    np.testing.assert_array_equal(got, x)


def test_bounds_are_exact_in_64_bits():
    big = (1 << 62) + 1
    op = unary("ELEMENT_WISE_CLIP1", "INT64", (4,), low=-big, high=big)
    got, nodes = evaluate(op, InputTensor=np.array([big + 1, -big - 1, big - 1, 2**31], np.int64))
    np.testing.assert_array_equal(got, [big, -big, big - 1, 2**31])
    assert nodes == ["Greater", "Where", "Less", "Where"]


# --- the emitter's part ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["Max", "Min"])
def test_int64_is_never_ordered_by_kernels_that_cannot(method):
    e = emitter(target_of("cpu"))
    e.begin("node", "TEST")
    x = e.nodes("Identity", [e.constant(np.array([2**31, 1]))], [(np.dtype(np.int64), (2,))])[0]
    getattr(e, method)(x, e.constant(1, np.int64))
    e.Clip(x, 0, 5)
    e.Sign(x)
    e.ReduceMax(x, (0,))
    assert {node.op_type for node in e.emitted}.isdisjoint({"Max", "Min", "Clip", "Sign", "ReduceMax", "ReduceMin"})


# --- generated descriptors -------------------------------------------------------------------------------------------


@st.composite
def descriptors(draw):
    name = draw(st.sampled_from([*BINARY, *UNARY]))
    data_type, sizes = draw(tensors(name))
    strides = draw(packed(sizes))
    if name in BINARY:
        return binary(name, data_type, sizes, draw(repeated(strides)), draw(repeated(strides)), strides)
    number = st.one_of(st.integers(-5, 5), st.floats(-300, 300, width=32))
    scale = draw(st.one_of(st.none(), st.tuples(number, number)))
    return unary(name, data_type, sizes, draw(repeated(strides)), strides, scale, draw(number), draw(number))


@settings(max_examples=250, deadline=None)
@given(
    op=descriptors(),
    opset=st.integers(17, 23),
    constants=st.sets(st.sampled_from(["ATensor", "BTensor", "InputTensor"])),
    seed=st.integers(0, 99),
)
def test_lowered_equals_reference(op, opset, constants, seed):
    constants = [name for name in constants if name in op.schema.index]
    check_case(op, opset=opset, constants=constants, seed=seed, extremes=True)
