"""ELEMENT_WISE quantization against the reference."""

import itertools
import math

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.emitter import Emitter
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.lowering.harness import check_case, evaluate, make_case, operator, operators, t

QUANTIZE, DEQUANTIZE = "ELEMENT_WISE_QUANTIZE_LINEAR", "ELEMENT_WISE_DEQUANTIZE_LINEAR"
ADD = "ELEMENT_WISE_QUANTIZED_LINEAR_ADD"
BYTES = ["INT8", "UINT8"]
QUANTIZED = ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32"]
FLOATS = ["FLOAT32", "FLOAT16"]
RANGE = {"INT8": (-128, 127), "UINT8": (0, 255)}

SHAPE = (2, 3, 4)
SCALAR = (0, 0, 0)
WIDE = (2, 3, 8, 8)
CHANNEL = (0, 1, 0, 0)
COLUMN = (0, 0, 0, 1)


def quantize(source="FLOAT32", target="UINT8", sizes=SHAPE, x=None, scale=None, zero=None, out=None, null=False):
    """A descriptor; ``x``, ``scale``, ``zero`` and ``out`` are strides."""
    return operator(
        QUANTIZE,
        InputTensor=t(source, sizes, x),
        ScaleTensor=t("FLOAT32" if source == "INT32" else source, sizes, scale),
        ZeroPointTensor=None if null else t(target, sizes, zero),
        OutputTensor=t(target, sizes, out),
    )


def dequantize(source="UINT8", target="FLOAT32", sizes=SHAPE, x=None, scale=None, zero=None, out=None, null=False):
    """A descriptor; ``x``, ``scale``, ``zero`` and ``out`` are strides."""
    return operator(
        DEQUANTIZE,
        InputTensor=t(source, sizes, x),
        ScaleTensor=t(target, sizes, scale),
        ZeroPointTensor=None if null else t(source, sizes, zero),
        OutputTensor=t(target, sizes, out),
    )


def add(a="UINT8", b="UINT8", c="UINT8", sizes=SHAPE, strides=(None, None, None), nulls=""):
    """A descriptor; ``nulls`` has the letters of A, B and Output (C) if their zero points are null."""
    one = (1,) * len(sizes)
    fields: dict[str, TensorDesc | None] = {}
    for name, kind, letter, layout in zip(("A", "B", "Output"), (a, b, c), "ABC", strides, strict=True):
        fields[f"{name}Tensor"] = t(kind, sizes, layout)
        fields[f"{name}ScaleTensor"] = t("FLOAT32", one)
        fields[f"{name}ZeroPointTensor"] = None if letter in nulls else t(kind, one)
    return operator(ADD, **fields)


def scales(op, seed=0):
    """Returns random scales for which results fill the range."""
    rng = np.random.default_rng(seed)
    found = {}
    for item in op.schema.input_fields:
        if item.name.endswith("ScaleTensor"):
            desc = op.tensor(item.name)
            sign = rng.choice([1, 1, 1, -1], desc.extent)
            found[item.name] = (sign * 2 ** rng.uniform(-5, 2, desc.extent)).astype(desc.data_type.dtype)
    return found


def check(op, *, constants=(), opset=21, target="cpu", seed=0, **inputs):
    """Checks an operator, with positive constant scales; returns the ONNX operators."""
    factors = {name: abs(scale) if name in constants else scale for name, scale in scales(op, seed).items()}
    inputs = factors | inputs
    model = check_case(op, inputs=inputs, constants=constants, opset=opset, target=target, seed=seed, extremes=True)
    return operators(model)


# --- quantize --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero_point", [0, 1, 7])
@pytest.mark.parametrize("layout", [None, SCALAR])
@pytest.mark.parametrize("target", BYTES)
def test_halves_go_to_even_before_the_zero_point(target, layout, zero_point):
    x = np.arange(-20, 20, dtype=np.float32).reshape(2, 4, 5) / 2
    op = quantize(sizes=x.shape, target=target, scale=layout, zero=layout)
    zero = np.full(op.tensor("ZeroPointTensor").extent, zero_point)
    check(op, InputTensor=x, ScaleTensor=np.ones(op.tensor("ScaleTensor").extent), ZeroPointTensor=zero)


@pytest.mark.parametrize("layout", [None, (0,)])
@pytest.mark.parametrize("source", [*FLOATS, "INT32"])
@pytest.mark.parametrize("target", BYTES)
def test_saturation(source, target, layout):
    low, high = RANGE[target]
    if source == "INT32":
        x = np.array([-(2**31), 2**31 - 1, 2**31 - 127, -(2**24) - 1, 2**24 + 1, 1000, -1000], np.int32)
    else:
        x = np.array([math.inf, -math.inf, 65504, -65504, 1000.5, -1000.5, 300], source.lower())
    for zero_point in (low, 0, high):
        op = quantize(source, target, x.shape, scale=layout, zero=layout)
        scale, zero = op.tensor("ScaleTensor"), op.tensor("ZeroPointTensor")
        ones = np.ones(scale.extent, scale.data_type.dtype)
        check(op, InputTensor=x, ScaleTensor=ones, ZeroPointTensor=np.full(zero.extent, zero_point))


@pytest.mark.parametrize("target", BYTES)
def test_nan_and_scales_of_zero(target):
    x = np.array([math.nan, 1, 0, -1, math.inf, 2], np.float32)
    scale = np.array([1, 0, 0, -0.0, math.inf, math.nan], np.float32)
    for layout in (None, (0,)):
        for constants in ((), ("InputTensor", "ScaleTensor", "ZeroPointTensor")):
            op = quantize("FLOAT32", target, x.shape, zero=layout)
            check(op, constants=constants, InputTensor=x, ScaleTensor=scale)


@pytest.mark.parametrize("scale", [-0.5, 1e-40, 0, math.inf])
def test_constant_scales_that_are_not_positive_are_arithmetic(scale):
    for descriptor in (quantize(scale=SCALAR, zero=SCALAR), dequantize(scale=SCALAR, zero=SCALAR)):
        constants = ["ScaleTensor", "ZeroPointTensor"]
        forms = check(descriptor, constants=constants, ScaleTensor=np.array([scale], np.float32))
        assert "Div" in forms or "Mul" in forms


def test_folding_equals_kernels():
    x = np.array([math.nan, math.inf, -math.inf, 2.5, 3.5, -0.5, 126.5, 1e30, -1e30, 7], np.float32)
    for target, layout in itertools.product(BYTES, [None, (0,)]):
        op = quantize("FLOAT32", target, x.shape, scale=layout, zero=layout)
        inputs = {"InputTensor": x, **{k: np.ones_like(v) for k, v in scales(op).items()}}
        results = []
        for constants in ([], [*inputs, "ZeroPointTensor"]):
            made = make_case(op, inputs=inputs, constants=constants)
            model = compile_outputs(made.graph, made.graph.outputs, opset=21)
            results.append(model.run({port.name: made.memory[port.name] for port in model.inputs})["OutputTensor"])
        np.testing.assert_array_equal(results[0], results[1])


def test_forms_of_quantize():
    assert check(quantize(scale=SCALAR, zero=SCALAR)) == ["Reshape", "Reshape", "QuantizeLinear"]
    constants = ["ScaleTensor", "ZeroPointTensor"]
    assert check(quantize(scale=SCALAR, zero=SCALAR), constants=constants) == ["QuantizeLinear"]
    assert check(quantize(scale=SCALAR, null=True), constants=constants[:1]) == ["QuantizeLinear"]
    assert check(quantize("FLOAT16", scale=SCALAR, zero=SCALAR), constants=constants) == ["Cast", "QuantizeLinear"]
    assert check(quantize("INT32", scale=SCALAR, zero=SCALAR), constants=constants) == ["Cast", "QuantizeLinear"]
    assert check(quantize(zero=SCALAR), constants=constants) == ["Div", "QuantizeLinear"]
    assert check(quantize(null=True)) == ["Div", "QuantizeLinear"]
    assert check(quantize(), constants=constants) == ["Div", "Round", "Add", "QuantizeLinear"]
    assert check(quantize(), constants=["InputTensor", *constants]) == ["Identity"]


def test_a_scale_per_channel():
    constants = ["ScaleTensor", "ZeroPointTensor"]
    for zero in (CHANNEL, (0, 0, 0, 0)):
        op = quantize(sizes=WIDE, scale=CHANNEL, zero=zero)
        assert check(op, constants=constants) == ["QuantizeLinear"]
        assert check(dequantize(sizes=WIDE, scale=CHANNEL, zero=zero), constants=constants) == ["DequantizeLinear"]
    assert "DequantizeLinear" in check(dequantize(sizes=WIDE, scale=(0, 0, 0, 0), zero=CHANNEL))
    # channels last: one vector per row is slow
    op = quantize(sizes=WIDE, scale=COLUMN, zero=COLUMN)
    assert check(op, constants=constants) == ["Div", "Round", "Add", "QuantizeLinear"]
    assert check(dequantize(sizes=WIDE, scale=COLUMN, zero=COLUMN), constants=constants) == ["Cast", "Sub", "Mul"]
    # along two axes, and along one in which the input is broadcast
    assert "Div" in check(quantize(sizes=WIDE, scale=(3, 1, 0, 0), zero=CHANNEL))
    assert "Div" in check(quantize(sizes=WIDE, x=(64, 0, 8, 1), scale=CHANNEL, zero=CHANNEL))


# --- dequantize ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", QUANTIZED)
def test_differences_are_exact(source, target):
    low, high = DataType[source].limits
    ends = np.array([low, low + 1, 0, 1, high // 2, high - 1, high], DataType[source].dtype)
    x, zero_point = (item.reshape(-1) for item in np.meshgrid(ends, ends))
    for factor in (1.0, -0.3, 2.0**-20):
        scale = np.full(x.shape, factor, DataType[target].dtype)
        check(dequantize(source, target, x.shape), InputTensor=x, ZeroPointTensor=zero_point, ScaleTensor=scale)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", QUANTIZED)
def test_one_zero_point_gives_the_same_bits(source, target):
    low, high = DataType[source].limits
    x = np.random.default_rng(0).integers(low, high, 500, endpoint=True).astype(DataType[source].dtype)
    for zero_point in (low, 3, high):
        for factor in (0.1, -1.7, 0.0078125):
            scale = np.asarray([factor], DataType[target].dtype)
            got, _ = evaluate(
                dequantize(source, target, x.shape, scale=(0,), zero=(0,)),
                InputTensor=x,
                ZeroPointTensor=np.array([zero_point]),
                ScaleTensor=scale,
            )
            difference = (x.astype(np.int64) - zero_point).astype(np.float32)
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(got, (difference * np.float32(scale)).astype(scale.dtype))


def test_special_scales():
    scale = np.array([math.inf, -math.inf, math.nan, 1e-40, 3e38, -0.0], np.float32)
    for source in QUANTIZED:
        check(dequantize(source, sizes=(6,), x=(0,), zero=(0,)), ScaleTensor=scale)
        for one in scale:
            check(dequantize(source, sizes=(6,), scale=(0,), zero=(0,)), ScaleTensor=np.array([one]))


def test_forms_of_dequantize():
    constants = ["ScaleTensor", "ZeroPointTensor"]
    for source in ("INT8", "UINT8", "INT16", "UINT16"):
        op = dequantize(source, scale=SCALAR, zero=SCALAR)
        assert check(op, constants=constants) == ["DequantizeLinear"]
        half = dequantize(source, "FLOAT16", scale=SCALAR, zero=SCALAR)
        assert check(half, constants=constants) == ["DequantizeLinear", "Cast"]
    for opset in (17, 20):
        forms = check(dequantize("INT16", scale=SCALAR, zero=SCALAR), constants=constants, opset=opset)
        assert forms == ["Cast", "Sub", "Mul"]
    for zero in (None, SCALAR):
        wide = dequantize("INT32", scale=SCALAR, zero=zero)
        assert check(wide, constants=constants) == ["Cast", "Sub", "Cast", "Mul"]
        nothing = {"ZeroPointTensor": np.zeros(wide.tensor("ZeroPointTensor").extent, np.int32)}
        assert check(wide, constants=constants, **nothing) == ["DequantizeLinear"]
    assert check(dequantize("INT32", scale=SCALAR, null=True), constants=constants) == ["DequantizeLinear"]
    assert check(dequantize("UINT32", scale=SCALAR, null=True), constants=constants) == ["Cast", "Mul"]
    assert check(dequantize(null=True), constants=constants) == ["Cast", "Mul"]
    assert check(dequantize(), constants=["InputTensor", *constants]) == ["Identity"]
    folded = check(dequantize(scale=SCALAR, zero=SCALAR), constants=["InputTensor", *constants])
    assert folded == ["Identity"]


def test_large_constants_stay_small():
    e = Emitter()
    scale, point = e.constant(np.float32(2)), e.constant(np.int8(0))
    large, small = (e.constant(np.ones(count, np.int8)) for count in ((1 << 20) + 1, 4))
    assert e.DequantizeLinear(large, scale, point).value is None
    assert e.DequantizeLinear(small, scale, point).value is not None


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("axis", [None, 2])
def test_large_constants_are_unsigned(axis, null):
    """Kernels for products of UINT8 and INT8 are not exact on every processor."""
    sizes, strides = (1, 1, 1025, 1024), (0, 0, 0, 0) if axis is None else (0, 0, 1, 0)
    op = dequantize("INT8", sizes=sizes, scale=strides, zero=strides, null=null)
    rng = np.random.default_rng(0)
    inputs = {"InputTensor": rng.integers(-128, 128, sizes).astype(np.int8)}
    count = 1 if axis is None else sizes[axis]
    inputs["ScaleTensor"] = rng.uniform(0.01, 1, count).astype(np.float32)
    if not null:
        inputs["ZeroPointTensor"] = rng.integers(-128, 128, count).astype(np.int8)
    model = check_case(op, inputs=inputs, constants=["InputTensor", "ScaleTensor", "ZeroPointTensor"])
    assert operators(model)[0] == "DequantizeLinear"
    assert np.dtype(np.int8) not in {item.dtype for item in model.lowered.initializers.values()}
    assert model.lowered.weight_bytes < 1.01 * inputs["InputTensor"].size


# --- QUANTIZED_LINEAR_ADD --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output_scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES, BYTES)))
def test_halves_of_sums_go_to_even(types, constant, output_scale):
    """ONNX Runtime's QLinearAdd rounds differently, so that the three nodes must not be fused into it."""
    values = [np.arange(*RANGE[kind], dtype=kind.lower()) for kind in types[:2]]
    a, b = (item.copy() for item in np.meshgrid(*values))
    inputs = {"ATensor": a, "BTensor": b}
    for name, scale, zero in (("A", 0.5, 3), ("B", 0.25, 5), ("Output", output_scale, 7)):
        inputs |= {f"{name}ScaleTensor": np.array([scale]), f"{name}ZeroPointTensor": np.array([zero])}
    op = add(types[0], types[1], types[2], sizes=a.shape)
    check(op, constants=[name for name in inputs if len(name) > 7 and constant], **inputs)


def test_forms_of_add():
    constants = [f"{name}{part}Tensor" for name in ("A", "B", "Output") for part in ("Scale", "ZeroPoint")]
    nodes = ["DequantizeLinear", "DequantizeLinear", "Add", "QuantizeLinear"]
    assert check(add(), constants=constants) == nodes
    assert check(add(nulls="ABC"), constants=constants) == nodes
    assert check(add("INT8", "UINT8", "INT8"), constants=constants) == nodes
    assert check(add(), constants=["ATensor", "BTensor", *constants]) == ["Identity"]


def test_sums_that_overflow():
    for output_scale in (1.0, 1e38, 0.0, math.inf, math.nan):
        for a_scale, b_scale in ((3e38, 3e38), (3e38, -3e38), (1e-45, 1e-45), (math.inf, 1), (math.nan, 1)):
            check(
                add(),
                AScaleTensor=np.array([a_scale], np.float32),
                BScaleTensor=np.array([b_scale], np.float32),
                OutputScaleTensor=np.array([output_scale], np.float32),
            )


# --- strides ---------------------------------------------------------------------------------------------------------


def test_broadcasts_are_left_to_onnx():
    for op in (quantize(scale=(0, 4, 1), zero=(0, 0, 1)), dequantize("INT32", scale=(0, 4, 1), zero=(0, 0, 1))):
        assert "Expand" not in check(op)
    everything = quantize(x=SCALAR, scale=SCALAR, zero=SCALAR)
    assert check(everything, constants=["ScaleTensor", "ZeroPointTensor"]) == ["QuantizeLinear", "Expand"]
