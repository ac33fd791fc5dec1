"""Compares references with functions of numpy, SciPy and ONNX's evaluator, one row per operator.

Both compute in FLOAT64, so the tolerance is smaller than the one of the reference.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

from dml2onnx import catalog
from dml2onnx.catalog import LATEST, FieldType
from dml2onnx.checks.operators import findings_of
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.reference import operator_results
from dml2onnx.test_cases.descriptors import describe, sized
from dml2onnx.test_cases.variations import of_each_rank, of_each_type
from tests.lowering.harness import assert_close, make_case
from tests.lowering.test_every_operator import bases
from tests.reference import numpy_functions as f
from tests.reference import torch_cases

UNARY: dict[str, Any] = {
    "ABS": np.abs, "ACOS": np.arccos, "ACOSH": np.arccosh, "ASIN": np.arcsin, "ASINH": np.arcsinh, "ATAN": np.arctan,
    "ATANH": np.arctanh, "CEIL": np.ceil, "COS": np.cos, "COSH": np.cosh, "ERF": special.erf, "EXP": np.exp,
    "FLOOR": np.floor, "IDENTITY": np.copy, "IS_NAN": np.isnan, "LOG": np.log, "LOGICAL_NOT": np.logical_not,
    "NEGATE": np.negative, "RECIP": np.reciprocal, "SIGN": np.sign, "SIN": np.sin, "SINH": np.sinh, "SQRT": np.sqrt,
    "TAN": np.tan, "TANH": np.tanh,
}  # fmt: skip
BINARY: dict[str, Any] = {
    "ADD": np.add, "ADD1": np.add, "ATAN_YX": np.arctan2, "LOGICAL_AND": np.logical_and, "LOGICAL_EQUALS": np.equal,
    "LOGICAL_GREATER_THAN": np.greater, "LOGICAL_GREATER_THAN_OR_EQUAL": np.greater_equal,
    "LOGICAL_LESS_THAN": np.less, "LOGICAL_LESS_THAN_OR_EQUAL": np.less_equal, "LOGICAL_OR": np.logical_or,
    "LOGICAL_XOR": np.logical_xor, "MAX": np.fmax, "MIN": np.fmin, "MODULUS_FLOOR": np.mod,
    "MODULUS_TRUNCATE": np.fmod, "MULTIPLY": np.multiply, "SUBTRACT": np.subtract,
}  # fmt: skip
BITS: dict[str, Any] = {"AND": np.bitwise_and, "NOT": np.bitwise_not, "OR": np.bitwise_or, "XOR": np.bitwise_xor}
REDUCTIONS: dict[str, Any] = {
    "ARGMAX": lambda o, x: f.arg(np.argmax, o, x),
    "ARGMIN": lambda o, x: f.arg(np.argmin, o, x),
    "AVERAGE": lambda o, x: x.mean(o.Axes),
    "L1": lambda o, x: abs(x).sum(o.Axes),
    "L2": lambda o, x: np.sqrt((x**2).sum(o.Axes)),
    "LOG_SUM": lambda o, x: np.log(x.sum(o.Axes)),
    "LOG_SUM_EXP": lambda o, x: special.logsumexp(x, o.Axes),
    "MAX": lambda o, x: x.max(o.Axes),
    "MIN": lambda o, x: x.min(o.Axes),
    "MULTIPLY": lambda o, x: x.prod(o.Axes),
    "SUM": lambda o, x: x.sum(o.Axes),
    "SUM_SQUARE": lambda o, x: (x**2).sum(o.Axes),
}
ROUNDINGS: dict[str, Any] = {
    "HALVES_TO_NEAREST_EVEN": np.rint,
    "TOWARD_ZERO": np.trunc,
    "TOWARD_INFINITY": lambda x: np.trunc(x + np.copysign(0.5, x)),
}
INFINITIES: dict[str, Any] = {"EITHER": np.isinf, "POSITIVE": np.isposinf, "NEGATIVE": np.isneginf}


def alike(row, *names):
    """One row for several operators."""
    return dict.fromkeys(names, row)


TABLE: dict[str, Any] = {
    **{f"ELEMENT_WISE_{name}": lambda o, x, of=of: of(x) for name, of in UNARY.items()},
    **{f"ELEMENT_WISE_{name}": lambda o, a, b, of=of: of(a, b) for name, of in BINARY.items()},
    **{
        f"ELEMENT_WISE_BIT_{name}": lambda o, *x, of=of: of(*f.bits(o, *x)).view(o.own.dtype)
        for name, of in BITS.items()
    },
    "ACTIVATION_CELU": lambda o, x: np.where(x > 0, x, o.Alpha * np.expm1(x / o.Alpha)),
    "ACTIVATION_ELU": lambda o, x: np.where(x > 0, x, o.Alpha * np.expm1(x)),
    "ACTIVATION_GELU": lambda o, x: x * special.ndtr(x),
    "ACTIVATION_HARDMAX": lambda o, x: x == x.max(-1, keepdims=True),
    "ACTIVATION_HARDMAX1": lambda o, x: x == x.max(o.Axes, keepdims=True),
    "ACTIVATION_HARD_SIGMOID": lambda o, x: np.clip(o.Alpha * x + o.Beta, 0, 1),
    "ACTIVATION_HARD_SWISH": lambda o, x: x * np.clip(o.Alpha * x + o.Beta, 0, 1),
    "ACTIVATION_IDENTITY": lambda o, x: x,
    "ACTIVATION_LEAKY_RELU": lambda o, x: np.where(x > 0, x, o.Alpha * x),
    "ACTIVATION_LINEAR": lambda o, x: o.Alpha * x + o.Beta,
    "ACTIVATION_LOG_SOFTMAX": lambda o, x: special.log_softmax(x, -1),
    "ACTIVATION_LOG_SOFTMAX1": lambda o, x: special.log_softmax(x, o.Axes),
    "ACTIVATION_PARAMETERIZED_RELU": lambda o, x, slope: np.where(x > 0, x, slope * x),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": lambda o, x: o.Alpha * np.logaddexp(0, o.Beta * x),
    "ACTIVATION_RELU": lambda o, x: np.fmax(x, 0),
    "ACTIVATION_RELU_GRAD": lambda o, x, gradient: np.where(x > 0, gradient, 0),
    "ACTIVATION_SCALED_ELU": lambda o, x: o.Gamma * np.where(x > 0, x, o.Alpha * np.expm1(x)),
    "ACTIVATION_SCALED_TANH": lambda o, x: o.Alpha * np.tanh(o.Beta * x),
    "ACTIVATION_SHRINK": lambda o, x: np.where(abs(x) > o.Threshold, x - np.copysign(o.Bias, x), 0),
    "ACTIVATION_SIGMOID": lambda o, x: special.expit(x),
    "ACTIVATION_SOFTMAX": lambda o, x: special.softmax(x, -1),
    "ACTIVATION_SOFTMAX1": lambda o, x: special.softmax(x, o.Axes),
    "ACTIVATION_SOFTPLUS": lambda o, x: np.logaddexp(0, o.Steepness * x) / o.Steepness,
    "ACTIVATION_SOFTSIGN": lambda o, x: x / (1 + abs(x)),
    "ACTIVATION_SWISH": lambda o, x: x * special.expit(o.SigmoidInputScale * x),
    "ACTIVATION_TANH": lambda o, x: np.tanh(x),
    "ACTIVATION_THRESHOLDED_RELU": lambda o, x: np.where(x > o.Alpha, x, 0),
    "ADAM_OPTIMIZER": f.adam,
    "ARGMAX": REDUCTIONS["ARGMAX"],
    "ARGMIN": REDUCTIONS["ARGMIN"],
    **alike(lambda o, x: f.average(o, x, o.sizes[2:]), "AVERAGE_POOLING", "AVERAGE_POOLING1"),
    "AVERAGE_POOLING_GRAD": lambda o, x: f.adjoint(lambda y: f.average(o, y, x.shape[2:]), x, o.sizes),
    "BATCH_NORMALIZATION": f.batch_normalized,
    "BATCH_NORMALIZATION_TRAINING": f.trained,
    "CAST": lambda o, x: x if o.type.is_float or not o.own.is_float else np.clip(np.trunc(x), *o.type.limits),
    "CONVOLUTION": f.convolution,
    "CONVOLUTION_INTEGER": lambda o, x, y, kernel, z: f.convolved(
        o, f.dequantized(x, None, y), f.dequantized(kernel, None, z), o.sizes[2:]
    ),
    "CUMULATIVE_PRODUCT": lambda o, x: f.running(np.multiply, 1, o, x, o.HasExclusiveProduct),
    "CUMULATIVE_SUMMATION": lambda o, x: f.running(np.add, 0, o, x, o.HasExclusiveSum),
    **alike(
        lambda o, x: f.put(x, f.to_depth(o, f.places(np.empty(o.sizes))), x), "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"
    ),
    "DEQUANTIZE": lambda o, x, several: f.dequantized(x.astype(float) - f.middle(o, o.own), *several),
    "DIAGONAL_MATRIX": lambda o: o.Value * np.eye(o.sizes[-2], o.sizes[-1], o.Offset) + np.zeros(o.sizes),
    "DIAGONAL_MATRIX1": f.band,
    "DYNAMIC_QUANTIZE_LINEAR": f.dynamically_quantized,
    "ELEMENT_WISE_BIT_COUNT": lambda o, x: np.bitwise_count(*f.bits(o, x)),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": lambda o, a, b: a.astype("u8") << b.astype("u8") % max(32, o.own.bits),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": lambda o, a, b: a.astype("u8") >> b.astype("u8") % max(32, o.own.bits),
    **alike(
        lambda o, x: np.clip(x, f.bound(x, o.Min), f.bound(x, o.Max)), "ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"
    ),
    **alike(
        lambda o, x, gradient: np.where((x > f.bound(x, o.Min)) & (x < f.bound(x, o.Max)), gradient, 0),
        "ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1",
    ),
    "ELEMENT_WISE_CONSTANT_POW": lambda o, x: np.power(x, o.Exponent),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": lambda o, x, scale, zero: f.dequantized(x, scale, zero),
    "ELEMENT_WISE_DIFFERENCE_SQUARE": lambda o, a, b: np.square(a - b),
    "ELEMENT_WISE_DIVIDE": lambda o, a, b: a / b,
    "ELEMENT_WISE_IF": lambda o, condition, a, b: np.where(condition, a, b),
    "ELEMENT_WISE_IS_INFINITY": lambda o, x: INFINITIES[o.InfinityMode](x),
    "ELEMENT_WISE_MEAN": lambda o, a, b: (a + b) / 2,
    "ELEMENT_WISE_POW": lambda o, a, b: np.power(a, b.astype(float)),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": lambda o, a, s, y, b, t, z, scale, zero: f.quantized(
        o, f.dequantized(a, s, y) + f.dequantized(b, t, z), scale, zero
    ),
    "ELEMENT_WISE_QUANTIZE_LINEAR": f.quantized,
    "ELEMENT_WISE_ROUND": lambda o, x: ROUNDINGS[o.RoundingMode](x),
    "ELEMENT_WISE_THRESHOLD": lambda o, x: np.fmax(x, f.bound(x, o.Min)),
    "FILL_VALUE_CONSTANT": lambda o: np.full(o.sizes, o.Value),
    "FILL_VALUE_SEQUENCE": lambda o: o.ValueStart + np.arange(np.prod(o.sizes)) * o.ValueDelta,
    "FOLD": lambda o, x: f.adjoint(lambda y: f.unfold(o, y), x.reshape(x.shape[-3:]), o.sizes),
    "GATHER": lambda o, x, at: x.take(at.reshape(at.shape[-o.IndexDimensions :]), o.Axis),
    "GATHER_ELEMENTS": lambda o, x, at: np.take_along_axis(x, at.astype(int), o.Axis),
    "GATHER_ND": f.gathered,
    "GATHER_ND1": lambda o, x, at: f.gathered(o, x, at, o.BatchDimensionCount),
    "GEMM": lambda o, a, b, c: (
        o.Alpha * (a if o.TransA == "NONE" else np.matrix_transpose(a))
        @ (b if o.TransB == "NONE" else np.matrix_transpose(b)) + o.Beta * f.plus(c)
    ),
    "JOIN": lambda o, several: np.concatenate(several, o.Axis),
    "LOCAL_RESPONSE_NORMALIZATION": f.response,
    "LP_NORMALIZATION": lambda o, x: x / np.sqrt(np.linalg.norm(x, o.P, o.Axis, keepdims=True) ** 2 + o.Epsilon),
    **alike(lambda o, x: np.linalg.norm(f.flat(o, x, 0, o.sizes[2:]), o.P, -1), "LP_POOLING", "LP_POOLING1"),
    "MATRIX_MULTIPLY_INTEGER": lambda o, a, y, b, z: f.dequantized(a, None, y) @ f.dequantized(b, None, z),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": lambda o, a, s, y, b, t, z, bias: (
        f.dequantized(a, s, y) @ f.dequantized(b, t, z) + f.plus(bias)
    ),
    **alike(lambda o, x: f.largest(o, x, o.sizes[2:]), "MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"),
    "MAX_POOLING_GRAD": lambda o, x, gradient: f.adjoint(
        lambda y: y.take(f.largest(o, x, gradient.shape[2:])[1]), gradient, x.shape
    ),
    "MAX_UNPOOLING": lambda o, x, at: f.put(np.zeros(o.sizes, x.dtype), at.astype(int), x),
    "MEAN_VARIANCE_NORMALIZATION": lambda o, x, s, b: f.normalized(
        o, x, s, b, (1, 2, 3) if o.CrossChannel else (2, 3), True, o.NormalizeVariance
    ),
    "MEAN_VARIANCE_NORMALIZATION1": lambda o, x, s, b: f.normalized(o, x, s, b, o.Axes, True, o.NormalizeVariance),
    "MEAN_VARIANCE_NORMALIZATION2": lambda o, x, s, b: f.normalized(o, x, s, b, o.Axes, o.UseMean, o.UseVariance),
    "NONZERO_COORDINATES": f.nonzero,
    "ONE_HOT": f.one_hot,
    **alike(f.padded, "PADDING", "PADDING1"),
    "QUANTIZE": lambda o, x, several: f.quantized(o, x, *several),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": lambda o, x, s, z, scale, zero: f.quantized(
        o, f.average(o, f.dequantized(x, s, z), o.sizes[2:]), scale, zero
    ),
    "QUANTIZED_LINEAR_CONVOLUTION": lambda o, x, s, y, kernel, t, z, bias, scale, zero: f.quantized(
        o, f.convolved(o, f.dequantized(x, s, y), f.dequantized(kernel, t, z), o.sizes[2:]) + f.plus(bias) * s * t,
        scale, zero,
    ),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": lambda o, a, s, y, b, t, z, scale, zero: f.quantized(
        o, f.dequantized(a, s, y) @ f.dequantized(b, t, z), scale, zero
    ),
    "REDUCE": lambda o, x: REDUCTIONS[o.Function](o, x),
    **alike(lambda o, x: f.resample(o, x, o.sizes), "RESAMPLE", "RESAMPLE1", "RESAMPLE2"),
    "RESAMPLE3": lambda o, x: NotImplemented if o.Antialiased else f.resample(o, x, o.sizes),
    **alike(
        lambda o, x: f.adjoint(lambda y: f.resample(o, y, x.shape, *f.OFFSETS[::-1]), x, o.sizes),
        "RESAMPLE_GRAD", "RESAMPLE_GRAD1",
    ),
    "REVERSE_SUBSEQUENCES": f.reversed_starts,
    **alike(f.roi_align, "ROI_ALIGN", "ROI_ALIGN1"),
    "SCATTER": lambda o, x, at, new: f.put(x, np.take_along_axis(f.places(x), at.astype(int), o.Axis), new),
    "SCATTER_ND": lambda o, x, at, new: f.put(x, f.gathered(o, f.places(x), at), new),
    "SLICE": lambda o, x: x[
        tuple(slice(at, at + n * step, step) for at, n, step in zip(o.Offsets, o.Sizes, o.Strides, strict=True))
    ],
    "SLICE1": lambda o, x: f.sliced(o, x, o.sizes),
    "SLICE_GRAD": lambda o, x: f.adjoint(lambda y: f.sliced(o, y, x.shape), x, o.sizes),
    **alike(f.to_depth, "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1"),
    "SPLIT": lambda o, x: (np.split(x, np.cumsum([desc.sizes[o.Axis] for desc in o.OutputTensors])[:-1], o.Axis),),
    "TILE": lambda o, x: np.tile(x, o.Repeats),
    "TOP_K": lambda o, x: f.top(o, x, "DECREASING"),
    "TOP_K1": lambda o, x: f.top(o, x, o.AxisDirection),
    "UNFOLD": f.unfold,
    "UPSAMPLE_2D": f.upsample,
    "VALUE_SCALE_2D": lambda o, x: o.Scale * x + np.reshape(o.Bias, (1, -1, 1, 1)),
}  # fmt: skip
"""Functions from a descriptor's fields and all its inputs (``None`` if absent) to its outputs, in any shape.

They return ``NotImplemented`` for modes that no function supports. Floats are FLOAT64, integers have their own type, in
which they wrap. The fields include the data type of the first tensor (``own``), and ``type`` and ``sizes`` of the first
output.
"""

ELSEWHERE = {
    "BATCH_NORMALIZATION_TRAINING_GRAD": "reference/test_gradients.py: finite differences",
    "RANDOM_GENERATOR": "reference/test_filling.py: known answers; numpy's Philox has words of 64 bits",
    "ROI_ALIGN_GRAD": "reference/test_gradients.py: finite differences",
    "ROI_POOLING": "directml/probes.jsonl: DirectML's answers",
}
"""Operators without a function of numpy, SciPy or ONNX and without a case of ``torch_cases``: the file that compares
them, and what with."""

BY_TORCH = {case.operator for case in torch_cases.CASES.values()}
COMPARED = TABLE.keys() | BY_TORCH | ELSEWHERE.keys()
"""Operators whose references are compared with something; ``tests/test_coverage.py`` requires all."""

NON_NEUTRAL: dict[str, Any] = {
    "Alpha": 0.75, "Beta": 0.5, "Gamma": 1.25, "Threshold": 0.5, "Steepness": 1.5, "Exponent": 3.0, "P": 2,
    "SigmoidInputScale": 0.5, "Min": -0.5, "Max": 1.25, "Epsilon": 0.01, "LocalSize": 3, "PaddingValue": 3.0,
    "Value": 7.0, "ValueStart": 3.0, "ValueDelta": 2.0, "Dilations": (2, 2), "StartPadding": (1, 0),
    "InputPixelOffsets": (0.5,) * 4, "OutputPixelOffsets": (-0.25,) * 4, "InputPixelOffset": 0.5,
    "OutputPixelOffset": -0.5, "OutOfBoundsInputValue": 0.0, "MaximumSamplesPerOutput": 2,
    "MinimumSamplesPerOutput": 2, "Beta1": 0.75, "Beta2": 0.5, "LearningRate": 0.125,
}  # fmt: skip
"""Values for fields that are often neutral in ``test_cases/valid.py``."""


CLOSE = 1e-6
"""Limit of the error of an unrounded result; ONNX does not compute coordinates of samples in FLOAT32."""
POSITIVE = ("ScaleTensor", "VarianceTensor", "SecondMomentTensor", "QuantizationTensors")


def fields(op):
    """Values by name, scalars as numbers."""
    return {item.name: value.value if isinstance(value, Scalar) else value for item, value in op.items()}


def changed(op, **values):
    return describe(op.type, **{**fields(op), **values})


def is_valid(op):
    return not findings_of(op, LATEST)


def modes(op):
    """Variants with another enumerator or flag, a scaled input, or an optional tensor."""
    yield op
    for item, value in op.items():
        if item.type is FieldType.ENUM and item.enum != "DML_TENSOR_DATA_TYPE":
            yield from (changed(op, **{item.name: name}) for name in catalog.enum_schema(item.enum).values)
        if item.type is FieldType.BOOL:
            yield changed(op, **{item.name: not value})
        if item.type is FieldType.SCALE_BIAS:
            yield changed(op, **{item.name: (0.5, 0.25)})
        if item in op.schema.input_fields and item.optional and value is None and item.type is FieldType.TENSOR:
            sizes = {desc.sizes for other in op.schema.tensor_fields for desc in op.tensors(other.name)}
            sizes |= {(1, *own[1:2], *(1,) * (len(own) - 2)) for own in sizes} | {(1,) * len(own) for own in sizes}
            types = sorted({name for row in op.schema.rows_at(LATEST) for name in row.tensors[item.name].data_types})
            descs = (changed(op, **{item.name: sized(*own, type=name)}) for name in types for own in sorted(sizes))
            yield next((desc for desc in descs if is_valid(desc)), op)


def cases(name):
    """Valid descriptors with non-neutral values, in all modes, data types and ranks."""
    found: dict[OperatorDesc, None] = {}
    for op in bases(name):
        for field, value in NON_NEUTRAL.items():
            if field in op.schema.index and is_valid(variant := changed(op, **{field: value})):
                op = variant
        for mode in modes(op):
            found |= dict.fromkeys((mode, *of_each_type(mode)))
        found |= dict.fromkeys(of_each_rank(op))
    return [op for op in found if is_valid(op)]


def drawn(op):
    """Small numbers, valid indices, and positive scales and variances."""
    random = np.random.default_rng(zlib.crc32(repr(op).encode()))
    given = {}
    for item in op.schema.input_fields:
        for index, desc in enumerate(op.tensors(item.name)):
            key = item.name if item.type is FieldType.TENSOR else f"{item.name}[{index}]"
            if item.name == "IndicesTensor":
                given[key] = random.integers(-3 if desc.data_type.is_signed else 0, 3, desc.sizes)
            if desc.data_type.is_float and item.name.endswith(POSITIVE):
                given[key] = random.uniform(0.5, 2, desc.sizes)
    seed = int(random.integers(1 << 32))
    return make_case(op, inputs=given, seed=seed, fitting=True, extremes="_IS_" in op.type).logical


def answered(op, *inputs):
    """The result of an operator's row for each of its output fields."""
    (own, *_), (first, *_) = (
        [desc for item in several for desc in op.tensors(item.name)] or [sized()]
        for several in (op.schema.tensor_fields, op.schema.output_fields)
    )
    o = SimpleNamespace(**fields(op), own=own.data_type, type=first.data_type, sizes=first.sizes)
    if op.find("ScaleBias"):
        inputs = tuple([(x * o.ScaleBias.scale + o.ScaleBias.bias).astype(x.dtype) for x in inputs])
    outputs = TABLE[op.type](o, *inputs)
    if outputs is NotImplemented:
        return ()
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return (*answered(o.FusedActivation, outputs[0]), *outputs[1:]) if op.find("FusedActivation") else outputs


@pytest.mark.parametrize("name", TABLE)
def test_numpy_agrees(name):
    compared = 0
    for op in cases(name):
        arrays, inputs = drawn(op), []
        for item in op.schema.input_fields:
            several = [x.astype(float) if x.dtype.kind == "f" else x for x in arrays.get(item.name, ())]
            inputs.append(several if item.type is FieldType.TENSOR_ARRAY else (*several, None)[0])
        results = operator_results(op, arrays)
        with np.errstate(all="ignore"):
            for item, output in zip(op.schema.output_fields, answered(op, *inputs), strict=False):
                outputs = output if item.type is FieldType.TENSOR_ARRAY else [output]
                for result, desc, want in zip(results.get(item.name, ()), op.tensors(item.name), outputs, strict=False):
                    want = np.reshape(want, desc.sizes).astype(desc.data_type.dtype)
                    error = None if result.error is None else np.minimum(result.error, CLOSE)
                    assert_close(want, replace(result, error=error), desc, f"{op} {item.name}")
                    compared += 1
    assert compared


def test_others_are_compared_elsewhere():
    assert not ELSEWHERE.keys() & (TABLE.keys() | BY_TORCH)
    for name, how in ELSEWHERE.items():
        file = Path(__file__).parents[1] / how.partition(": ")[0]
        assert f'"{name}"' in file.read_text(encoding="utf-8"), how
