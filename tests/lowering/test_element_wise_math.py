"""ELEMENT_WISE functions, rounding, powers and bounds against the reference."""

import math

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.operator import Scalar
from dml2onnx.ir.tensor import DataType
from dml2onnx.lowering.registry import lowerings
from tests.lowering.harness import check_case, check_form, evaluate, integer_extremes, operator, operators, t

NAMES = sorted(
    name for name, function in lowerings().items() if function.__module__ == "dml2onnx.lowering.element_wise_math"
)
FUNCTIONS = {
    "ELEMENT_WISE_ABS": "Abs",
    "ELEMENT_WISE_ACOS": "Acos",
    "ELEMENT_WISE_ACOSH": "Acosh",
    "ELEMENT_WISE_ASIN": "Asin",
    "ELEMENT_WISE_ASINH": "Asinh",
    "ELEMENT_WISE_ATAN": "Atan",
    "ELEMENT_WISE_ATANH": "Atanh",
    "ELEMENT_WISE_CEIL": "Ceil",
    "ELEMENT_WISE_COS": "Cos",
    "ELEMENT_WISE_COSH": "Cosh",
    "ELEMENT_WISE_ERF": "Erf",
    "ELEMENT_WISE_EXP": "Exp",
    "ELEMENT_WISE_FLOOR": "Floor",
    "ELEMENT_WISE_LOG": "Log",
    "ELEMENT_WISE_NEGATE": "Neg",
    "ELEMENT_WISE_RECIP": "Reciprocal",
    "ELEMENT_WISE_SIGN": "Sign",
    "ELEMENT_WISE_SIN": "Sin",
    "ELEMENT_WISE_SINH": "Sinh",
    "ELEMENT_WISE_SQRT": "Sqrt",
    "ELEMENT_WISE_TAN": "Tan",
    "ELEMENT_WISE_TANH": "Tanh",
}
BINARY = [name for name in NAMES if "ATensor" in catalog.operator(name).index]
FLUSHED = ["Abs", "Less", "Greater", "And", "Where"]
"""Subnormal numbers of FLOAT32 become 0 [decision G8]."""
MODULI = ["ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"]
GRADIENTS = ["ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1"]
SIGNED = ["INT8", "INT16", "INT32", "INT64"]
UNSIGNED = ["UINT8", "UINT16", "UINT32", "UINT64"]
INTEGERS = [*SIGNED, *UNSIGNED]
BASES = [item for item in INTEGERS if "64" not in item]
FLOATS = ["FLOAT32", "FLOAT16"]
SHAPE = (2, 3, 4)


def described(name, data_type="FLOAT32", sizes=SHAPE, strides=None, **more):
    """A descriptor; ``strides`` are those of the inputs, in the order of the fields."""
    schema, views = catalog.operator(name), iter(strides or [None] * 2)
    fields = {}
    for item in schema.tensor_fields:
        fields[item.name] = t(data_type, sizes, None if item.name.startswith("Output") else next(views))
    low, high = more.pop("low", -1.0), more.pop("high", 1.5)
    if name == "ELEMENT_WISE_CLIP_GRAD1":
        kind = DataType[data_type]
        low, high = (scalar(kind, bound) for bound in (low, high))
        fields["MinMaxDataType"] = data_type
    attributes = {
        "Min": low,
        "Max": high,
        "ScaleBias": None,
        "RoundingMode": "HALVES_TO_NEAREST_EVEN",
        "Exponent": 3.0,
        "Scale": 1.5,
        "Bias": tuple(0.5 * i - 1 for i in range(sizes[1])) if len(sizes) > 1 else (),
        **more,
    }
    return operator(name, **fields, **{key: value for key, value in attributes.items() if key in schema.index})


def scalar(kind, value):
    if kind.is_float:
        return Scalar(kind, float(np.asarray(value, kind.dtype)))
    return Scalar(kind, min(max(int(value), kind.limits[0]), kind.limits[1]))


def special_floats(data_type):
    info = np.finfo(data_type.lower())
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 2.5, -3, info.max, info.min, info.tiny]
    return np.array([*special, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 1e4, -88.5], info.dtype)


def data_types(name):
    output = "OutputGradientTensor" if name in GRADIENTS else "OutputTensor"
    return {kind for row in catalog.operator(name).support for kind in row.tensors[output].data_types}


# --- functions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_accurate(name):
    rng = np.random.default_rng(0)
    wide = 10 ** rng.uniform(-30, 30, 2000) * rng.choice([-1, 1], 2000)
    x = np.concatenate([rng.normal(0, 2, 2000), rng.uniform(-1, 1, 2000), wide]).astype(np.float32)
    evaluate(described(name, "FLOAT32", x.shape), InputTensor=x)


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_form_of_functions(name, data_type):
    several = {
        "ELEMENT_WISE_COSH": ["Abs", "Mul", "Exp", "Mul", "Mul", "Div", "Add"],
        "ELEMENT_WISE_ERF": ["IsNaN", "Erf", "Where"],
        "ELEMENT_WISE_SINH": ["Tanh", "Abs", "Mul", "Exp", "Mul", "Mul", "Div", "Add", "Mul"],
        "ELEMENT_WISE_TAN": ["Sin", "Cos", "Div"],
    }
    special = {"ELEMENT_WISE_ASINH": ["Equal", "Where"], "ELEMENT_WISE_ATAN": ["IsNaN", "Where"]}.get(name, [])
    if data_type == "FLOAT32" and name.endswith(("CEIL", "FLOOR", "LOG", "SIGN")):
        special = FLUSHED if not name.endswith("SIGN") else ["Abs", "Greater", "Where"]
    op = described(name, data_type)
    for target, expected in (("cpu", several.get(name, [FUNCTIONS[name]])), ("dml", [FUNCTIONS[name]])):
        nodes = [*expected, *(special if "Abs" not in special or target == "cpu" else [])]
        model = check_case(op, target=target)
        assert sorted(item for item in operators(model) if item != "Cast") == sorted(nodes)
        model = check_form(op, target=target)
        assert special == [] or [item for item in operators(model) if item != "Cast"] == expected


@pytest.mark.parametrize(
    ("name", "function"),
    [("ELEMENT_WISE_COSH", np.cosh), ("ELEMENT_WISE_SINH", np.sinh), ("ELEMENT_WISE_TAN", np.tan)],
)
def test_composed_functions_are_accurate(name, function):
    turns = np.arange(-3000, 3000) * np.pi / 2
    x = np.concatenate([np.linspace(-89.4, 89.4, 9001), turns, 10.0 ** np.arange(-30, 2)]).astype(np.float32)
    got, nodes = evaluate(described(name, "FLOAT32", x.shape), InputTensor=x)
    assert FUNCTIONS[name] not in nodes
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(got, function(x.astype(np.float64)).astype(np.float32), 2e-6)


# --- rounding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", FLOATS)
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("HALVES_TO_NEAREST_EVEN", ["Round"]),
        ("TOWARD_ZERO", ["Abs", "Floor", "Clip", "Mul"]),
        ("TOWARD_INFINITY", ["Abs", "Add", "Mul", "Floor", "Clip", "Mul"]),
    ],
)
def test_rounding(mode, expected, data_type):
    dtype = np.dtype(data_type.lower())
    halves = np.arange(-8, 8.5, 0.5)
    top = 2.0 ** (np.finfo(dtype).nmant - 1)
    near = np.array([*halves, top + 0.5, top - 0.5, 2 * top - 0.5, 2 * top + 1, 4 * top + 2, -top - 0.5], dtype)
    x = np.concatenate([near, np.nextafter(near, dtype.type(-np.inf)), np.nextafter(near, dtype.type(np.inf))])
    x = np.concatenate([x, special_floats(data_type)])
    op = described("ELEMENT_WISE_ROUND", data_type, x.shape, RoundingMode=mode)
    for target in ("cpu", "dml"):
        model = check_case(op, inputs={"InputTensor": x}, target=target)
        assert [item for item in operators(model) if item != "Cast"] == expected


# --- ATAN_YX ---------------------------------------------------------------------------------------------------------


def test_angles_are_accurate():
    rng = np.random.default_rng(0)
    y, x = (10 ** rng.uniform(-20, 20, (2, 4000)) * rng.choice([-1, 1], (2, 4000))).astype(np.float32)
    evaluate(described("ELEMENT_WISE_ATAN_YX", "FLOAT32", x.shape), ATensor=y, BTensor=x)


# --- two operands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("name", ["ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN"])
def test_form_of_extremes(name, data_type):
    nodes = operators(check_form(described(name, data_type)))
    node = name.rpartition("_")[2].title()
    where = [{"Max": "Greater", "Min": "Less"}[node], "Where"]
    assert [item for item in nodes if item != "Cast"] == (where if data_type == "INT64" else [node])


@pytest.mark.parametrize("name", MODULI)
@pytest.mark.parametrize("data_type", [*INTEGERS, *FLOATS])
def test_constant_divisors_need_no_guards(name, data_type):
    b = np.array([3, 7, 100, 1], data_type.lower())
    a = np.array([5, 20, 3, 90], b.dtype)
    _, nodes = evaluate(described(name, data_type, (4,)), ATensor=a, BTensor=b, constants=["BTensor"])
    if data_type in FLOATS:
        expected = ["Mod", *(["Mul", "Less", "Add", "Where"] if name.endswith("FLOOR") else [])]
        expected = [*(FLUSHED if data_type == "FLOAT32" else []), *expected]
    else:
        expected = ["Mod"] if name.endswith("FLOOR") or data_type in UNSIGNED else ["Div", "Mul", "Sub"]
    assert [item for item in nodes if item != "Cast"] == expected


def test_mean_of_integers_wraps_and_truncates():
    a, b = np.array([2**31 - 1, -3, 3, -(2**31)], np.int32), np.array([1, 0, 0, -1], np.int32)
    got, nodes = evaluate(described("ELEMENT_WISE_MEAN", "INT32", (4,)), ATensor=a, BTensor=b)
    np.testing.assert_array_equal(got, [-(2**30), -1, 1, 2**30 - 1])
    assert nodes == ["Add", "Div"]
    assert operators(check_case(described("ELEMENT_WISE_MEAN"))) == ["Mean"]
    assert operators(check_case(described("ELEMENT_WISE_DIFFERENCE_SQUARE"))) == ["Sub", "Mul"]


# --- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "low", "expected"),
    [
        ("FLOAT32", 0, ["Relu"]),
        ("FLOAT32", 1, ["Clip"]),
        ("INT32", 0, ["Clip"]),
        ("UINT8", -1, ["Identity"]),
        ("FLOAT32", -math.inf, ["Identity"]),
    ],
)
def test_form_of_threshold(data_type, low, expected):
    assert operators(check_form(described("ELEMENT_WISE_THRESHOLD", data_type, low=low))) == expected


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        ("FLOAT32", ["Greater", "Less", "And", "Equal", "Where"]),
        ("UINT16", ["Greater", "Less", "And", "Cast", "Where", "Cast"]),
    ],
)
def test_form_of_clipped_gradients(data_type, expected):
    assert operators(check_case(described("ELEMENT_WISE_CLIP_GRAD", data_type))) == expected


@pytest.mark.parametrize(
    ("scale", "bias", "expected"),
    [
        (1, (0, 0, 0), ["Identity"]),
        (2, (0, 0, 0), ["Mul"]),
        (1, (1, 2, 3), ["Add"]),
        (0.5, (1, 0, -3), ["Mul", "Add"]),
    ],
)
def test_value_scale(scale, bias, expected):
    op = described("VALUE_SCALE_2D", "FLOAT32", (2, 3, 2, 2), Scale=scale, Bias=bias)
    assert operators(check_case(op)) == expected


# --- powers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", [*BASES, *FLOATS])
@pytest.mark.parametrize(
    "exponent",
    [0, 1, -1, 2, 3, 5, 8, 63, 64, 65, 1000001, 3e9, 1e30, -2, -3, -1e9, 0.5, -0.5, 1.5, math.inf, math.nan],
)
def test_constant_powers(data_type, exponent):
    x = special_floats(data_type) if data_type in FLOATS else integer_extremes(data_type)
    evaluate(described("ELEMENT_WISE_CONSTANT_POW", data_type, x.shape, Exponent=exponent), InputTensor=x)


@pytest.mark.parametrize(
    ("data_type", "exponent", "expected"),
    [
        ("FLOAT32", 2, ["Pow"]),
        ("FLOAT32", -1, ["Reciprocal", "Equal", "Where"]),
        ("FLOAT32", 1.5, ["Pow", "Less", "Where"]),
        ("FLOAT32", 1, ["Identity"]),
        ("FLOAT32", 0.5, ["Sqrt"]),
        ("INT32", 1, ["Identity"]),
        ("INT32", 2, ["Cast", "Pow", "Round", "Clip", "Cast"]),
        ("INT32", -1, ["Cast", "Reciprocal", "Round", "Clip", "Cast"]),
    ],
)
def test_form_of_constant_powers(data_type, exponent, expected):
    model = check_case(described("ELEMENT_WISE_CONSTANT_POW", data_type, Exponent=exponent))
    assert operators(model) == expected


def test_a_constant_tensor_of_one_is_an_exponent_of_one():
    op, one = described("ELEMENT_WISE_POW", "FLOAT32", (1, 1)), np.ones((1, 1), np.float32)
    assert evaluate(op, constants=["ExponentTensor"], InputTensor=3 * one, ExponentTensor=one)[1] == ["Identity"]


def test_inverse_hyperbolic_tangents_of_many_elements():
    """Large tensors use several kernels, which must treat special numbers as Atanh does."""
    rng = np.random.default_rng(0)
    special = np.concatenate([special_floats("FLOAT32"), np.array([0.99999994, -0.99999994, 1.0000001], np.float32)])
    near = np.concatenate(
        [10 ** rng.uniform(-44, 0, 3000), 1 - 10 ** rng.uniform(-8, 0, 3000), rng.uniform(0, 1, 3000)]
    )
    x = np.concatenate([special, near, -near]).astype(np.float32)
    assert "Atanh" not in evaluate(described("ELEMENT_WISE_ATANH", "FLOAT32", x.shape), InputTensor=x)[1]
    few = x[:100]
    assert evaluate(described("ELEMENT_WISE_ATANH", "FLOAT32", few.shape), InputTensor=few)[1] == ["Atanh"]


# --- layouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*BINARY, *GRADIENTS, "ELEMENT_WISE_POW"])
@pytest.mark.parametrize("data_type", ["FLOAT32", "INT32"])
def test_broadcasting_is_left_to_onnx(name, data_type):
    if data_type in data_types(name):
        for strides in ([(12, 4, 1), (0, 1, 0)], [(0, 4, 1), (12, 0, 0)]):
            assert "Expand" not in operators(check_case(described(name, data_type, strides=strides)))
