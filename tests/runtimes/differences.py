"""Known deviations of other runtimes from ONNX, each with a minimal model.

``python scripts/generate_runtimes.py`` writes a table of these to ``docs/runtimes.md``. ``python -m tests.runtimes``
runs each example on its runtime, and fails if it passes, so that entries of fixed defects are removed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import numpy_helper

from dml2onnx.onnx_model import with_bodies
from tests.runtimes.difference import Difference, both, computes, floats, has, refuses, shown_by
from tests.runtimes.narrowing import (
    DIGITS,
    HALF_DIGITS,
    computed,
    cut_to_32_bits,
    double_in_float,
    half_in_float,
    nan_of_infinities,
    rounded_otherwise,
    stated,
)
from tests.runtimes.npu import QNN
from tests.runtimes.proof import Outcome
from tests.runtimes.web import WEB_GPU, WEBNN, in_browser


def _has_ranks(*ranks: int) -> Callable[[Outcome], bool]:
    """A node has an output with one of these ranks."""
    return lambda outcome: any(
        value is not None and value.rank in ranks for node in with_bodies(outcome.nodes) for value in node.outputs
    )


def _peepholes(outcome: Outcome) -> bool:
    return not outcome.refused and any(
        node.op_type == "LSTM" and len(node.inputs) == 8 and node.inputs[7] is not None
        for node in with_bodies(outcome.nodes)
    )


def _compares_integers(outcome: Outcome) -> bool:
    kinds = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    return not outcome.refused and any(
        node.op_type in kinds and node.inputs[0] is not None and node.inputs[0].dtype == np.int32
        for node in with_bodies(outcome.nodes)
    )


def _has_constants_beyond_int32(outcome: Outcome) -> bool:
    if outcome.run is None:
        return False
    constants = onnx.load_from_string(outcome.run.model).graph.initializer
    types = (onnx.TensorProto.UINT32, onnx.TensorProto.UINT64)
    unsigned = [numpy_helper.to_array(item) for item in constants if item.data_type in types]
    return any(array.size and array.max() >= 1 << 31 for array in unsigned)


def _interpolates(outcome: Outcome) -> bool:
    return any(
        node.op_type == "Resize" and node.attributes.get("mode") == "linear" for node in with_bodies(outcome.nodes)
    )


def _multiplies_64_bits(outcome: Outcome) -> bool:
    return any(
        node.op_type == "ReduceProd" and node.inputs[0] is not None and node.inputs[0].dtype.itemsize == 8
        for node in with_bodies(outcome.nodes)
    )


def _indices(outcome: Outcome) -> bool:
    return any(node.op_type == "MaxPool" and len(node.outputs) == 2 for node in with_bodies(outcome.nodes))


def _padded(outcome: Outcome) -> bool:
    return any(node.op_type == "MaxPool" and "pads" in node.attributes for node in with_bodies(outcome.nodes))


def _dilated_across_padding(outcome: Outcome) -> bool:
    """A Conv of three spatial dimensions is dilated and padded along the second."""
    for node in with_bodies(outcome.nodes):
        attributes = node.attributes
        if node.op_type == "Conv" and {"dilations", "pads"} <= attributes.keys():
            dilations, pads = np.asarray(attributes["dilations"]), np.asarray(attributes["pads"]).reshape(2, -1)
            if len(dilations) == 3 and dilations[1] > 1 and pads[:, 1].any():
                return True
    return False


def _grouped(outcome: Outcome) -> bool:
    return any(
        node.op_type == "ConvTranspose" and node.attributes.get("group", 1) != 1 for node in with_bodies(outcome.nodes)
    )


def _is_as_wgsl_says(outcome: Outcome) -> bool:
    """Errors of sines and cosines are at most 2**-11, and those of tangents at most those of their quotients."""
    if outcome.run is None or not has("Sin", "Cos", "Tan")(outcome):
        return False
    error = 2.0**-11
    for answer, exact in zip(outcome.run.answer, computed(outcome.run, stated), strict=True):
        size = np.abs(exact.astype(np.float64))
        allowed = error * (1 + size) * np.hypot(1, size) if has("Tan")(outcome) else error
        if not np.all(np.abs(answer - exact) <= allowed):
            return False
    return True


OPENVINO = (
    *shown_by("openvino", "BYTES_SATURATE"),
    *shown_by("dml", "BYTES_CONVERTED_SATURATE", of_device=True),
    *shown_by(
        "dml",
        "SCALES_OF_ROWS_ARE_FUSED",
        "GEMM_WANTS_C",
        "QUANTIZES_ALONG_THE_LAST_AXIS",
        "QUANTIZES_FOUR_DIMENSIONS",
        "LINES_HAVE_NO_OUTPUT_PADDING",
    ),
    Difference(
        "dml",
        "FLOAT16 is rounded as the driver has it, after each node, and may be added up in FLOAT16 (decision G5).",
        both(computes(np.float16), lambda outcome: outcome.fits_half),
        "(float16[1] x) => (float16[1] y) { y = Sqrt (x) }",
        (np.array([1.9], np.float16),),
        (np.array([1.379], np.float16),),
        of_device=True,
    ),
    Difference(
        "dml",
        "Linear `Resize` of FLOAT has weights that are off by some last digits.",
        both(both(computes(np.float32), _interpolates), rounded_otherwise(stated)),
        """(float[1,1,2] x) => (float[1,1,6] y) <int64[3] s = {1,1,6}> { y = Resize <mode = "linear"> (x, , , s) }""",
        (floats(1, 4, shape=(1, 1, 2)),),
        (floats(1, 1, 2, 3, 4, 4, shape=(1, 1, 6)),),
        of_device=True,
    ),
    Difference(
        "dml",
        "Linear `Resize` adds a part of the difference of two elements, which makes NaN of infinities.",
        both(_interpolates, nan_of_infinities({np.float32: DIGITS, np.float16: HALF_DIGITS})),
        """(float[1,1,2] x) => (float[1,1,1] y) <int64[3] s = {1,1,1}> { y = Resize <mode = "linear"> (x, , , s) }""",
        (floats(np.inf, np.inf, shape=(1, 1, 2)),),
        (floats(np.inf, shape=(1, 1, 1)),),
    ),
    Difference(
        "dml",
        "`ReduceProd` of 64-bit integers is refused where DirectML takes a shader that Wine does not translate.",
        both(_multiplies_64_bits, lambda outcome: outcome.refused and "80004005" in (outcome.problem or "")),
        "(int64[12] x) => (int64[1] y) { y = ReduceProd (x) }",
        (np.array([2] * 12),),
        (np.array([4096]),),
        "80004005",
        of_device=True,
    ),
    Difference(
        "dml",
        "`GatherND` of a single number, whose result has no dimensions, is refused.",
        both(refuses("80070057", "GatherND"), _has_ranks(0)),
        "(float[2] x, int64[1] i) => (float[1] y) <int64[1] s = {1}> { z = GatherND (x, i) y = Reshape (z, s) }",
        (floats(3, 5), np.array([1])),
        (floats(5),),
        "80070057",
    ),
    Difference(
        "dml",
        "Tensors of more than eight dimensions are refused, be they between two nodes.",
        _has_ranks(*range(9, 33)),
        "(float[1,1,1,1,1,1,1,1,1] x) => (float[1,1,1,1,1,1,1,1,1] y) { y = Relu (x) }",
        (floats(2, shape=(1,) * 9),),
        (floats(2, shape=(1,) * 9),),
        "80070057",
    ),
    Difference(
        "openvino",
        "`LSTM` leaves out its peepholes, so that P is no input any more.",
        _peepholes,
        """(float[1,1,1] x, float[1,4,1] w, float[1,4,1] r, float[1,3] p) => (float[1,1,1] h)
             { y, h = LSTM <hidden_size = 1> (x, w, r, , , , , p) }""",
        (
            floats(1, shape=(1, 1, 1)),
            floats(1, 1, 1, 1, shape=(1, 4, 1)),
            floats(0, 0, 0, 0, shape=(1, 4, 1)),
            floats(0, -1e6, 0, shape=(1, 3)),
        ),
        (floats(0, shape=(1, 1, 1)),),
    ),
    *shown_by("openvino", "RESIZE_TAKES_PLANES"),
    Difference(
        "openvino",
        "`Softplus` is off by up to some 4e-6, however small its result.",
        both(has("Softplus"), rounded_otherwise(stated, 4e-6)),
        "(float[1] x) => (float[1] y) { y = Softplus (x) }",
        (floats(-20),),
        (floats(np.log1p(np.exp(-20.0))),),
    ),
    Difference(
        "openvino",
        "`Mul` behind a `Resize` by as many factors as a dimension other than the second has elements is refused.",
        refuses("scales data size inconsistency", "Resize"),
        "(float[2,1,2] x) => (float[2,2,2] y) <int64[3] s = {2,2,2}, float[1,2,1] k = {1,2}> { r = "
        'Resize <mode = "nearest"> (x, , , s) y = Mul (r, k) }',
        (floats(3, 4, 5, 6, shape=(2, 1, 2)),),
        (floats(3, 4, 6, 8, 5, 6, 10, 12, shape=(2, 2, 2)),),
        "scales data size inconsistency",
    ),
    *shown_by("openvino", "CONV_GIVES_STRIDES_AWAY"),
    *shown_by("openvino", "CONV_FORGETS_WIDE_PADDING", of_device=True),
    *shown_by("openvino", "WEIGHTS_ARE_LAID_OUT_ONCE"),
    Difference(
        "openvino",
        "`Conv` of three spatial dimensions takes other elements where it is dilated and padded along the second.",
        lambda outcome: not outcome.refused and _dilated_across_padding(outcome),
        """(float[1,1,3,3,2] x) => (float[1,1,2,3,1] y) <float[1,1,2,2,2] w = {1, 1, 1, 1, 1, 1, 1, 1}>
             { y = Conv <dilations = [1, 2, 1], pads = [0, 0, 0, 0, 2, 0]> (x, w) }""",
        (floats(*range(1, 19), shape=(1, 1, 3, 3, 2)),),
        (floats(52, 26, 34, 100, 50, 58, shape=(1, 1, 2, 3, 1)),),
        of_device=True,
    ),
    *shown_by("openvino", "UINT32_COMPARED_AS_INT32", "INTEGERS_REDUCED_IN_FLOAT"),
    Difference(
        "openvino",
        "Comparisons of INT32 go through FLOAT.",
        _compares_integers,
        "(int32[1] x, int32[1] k) => (bool[1] y) { y = Equal (x, k) }",
        (np.array([16777217], np.int32), np.array([16777216], np.int32)),
        (np.array([False]),),
    ),
    Difference(
        "openvino",
        "Constants of UINT32 and UINT64 beyond the range of INT32 are brought into it.",
        _has_constants_beyond_int32,
        "(uint32[1] x) => (uint32[1] y) <uint32[1] k = {4294967293}> { y = Add (x, k) }",
        (np.array([1], np.uint32),),
        (np.array([4294967294], np.uint32),),
    ),
    Difference(
        "openvino",
        "Chains of FLOAT16 are computed in FLOAT and rounded at their end.",
        both(computes(np.float16), rounded_otherwise(half_in_float, HALF_DIGITS)),
        "(float16[1] x) => (float16[1] y) { s = Mul (x, x) y = Div (s, x) }",
        (np.array([256], np.float16),),
        (np.array([np.inf], np.float16),),
    ),
    Difference(
        "openvino",
        "DOUBLE is computed, and moved, in FLOAT.",
        both(computes(np.float64), rounded_otherwise(double_in_float)),
        "(double[1,2] x) => (double[2,1] y) { y = Transpose (x) }",
        (np.array([[0.1, 1e300]]),),
        (np.array([[0.1], [1e300]]),),
    ),
    Difference(
        "openvino",
        "INT64 and UINT64 are computed in INT32.",
        both(computes(np.int64, np.uint64), cut_to_32_bits),
        "(int64[1] x) => (int64[1] y) { y = Add (x, x) }",
        (np.array([(1 << 53) + 1]),),
        (np.array([(1 << 54) + 2]),),
    ),
)

EVALUATOR = (
    Difference(
        "evaluator",
        "`GRU` and `LSTM` go by their default activations, whatever `activations` says.",
        has("GRU", "LSTM"),
        """(float[1,1,1] x, float[1,3,1] w, float[1,3,1] r) => (float[1,1,1] h)
             { y, h = GRU <hidden_size = 1, activations = ["Relu", "Relu"]> (x, w, r) }""",
        (floats(4, shape=(1, 1, 1)), floats(0, 0, 1, shape=(1, 3, 1)), floats(0, 0, 0, shape=(1, 3, 1))),
        (floats(4, shape=(1, 1, 1)),),
    ),
    Difference(
        "evaluator",
        "Indices of `MaxPool` begin anew in each channel; ONNX counts over the whole tensor.",
        lambda outcome: not outcome.refused and _indices(outcome),
        "(float[1,2,2] x) => (float[1,2,1] y, int64[1,2,1] i) { y, i = MaxPool <kernel_shape = [2]> (x) }",
        (floats(1, 2, 3, 4, shape=(1, 2, 2)),),
        (floats(2, 4, shape=(1, 2, 1)), np.array([1, 3]).reshape(1, 2, 1)),
    ),
    Difference(
        "evaluator",
        "`MaxPool` goes wrong where there are paddings but no strides or dilations.",
        _padded,
        "(float[1,1,1] x) => (float[1,1,2] y) { y = MaxPool <kernel_shape = [2], pads = [1, 1]> (x) }",
        (floats(4, shape=(1, 1, 1)),),
        (floats(4, 4, shape=(1, 1, 2)),),
        "output shape cannot be null or negative",
    ),
    Difference(
        "evaluator",
        "`MaxPool` over nothing but NaN, which stands for padding there, is refused.",
        refuses("zero-size array to reduction operation", "MaxPool"),
        "(float[1,1,2] x) => (float[1,1,1] y) { y = MaxPool <kernel_shape = [2], dilations = [1]> (x) }",
        (floats(np.nan, np.nan, shape=(1, 1, 2)),),
        (floats(np.nan, shape=(1, 1, 1)),),
        "zero-size array to reduction operation",
    ),
    Difference(
        "evaluator",
        "`AveragePool` leaves out NaN, which stands for padding there.",
        has("AveragePool"),
        "(float[1,1,2] x) => (float[1,1,1] y) { y = AveragePool <kernel_shape = [2]> (x) }",
        (floats(1, np.nan, shape=(1, 1, 2)),),
        (floats(np.nan, shape=(1, 1, 1)),),
    ),
    Difference(
        "evaluator",
        "`ConvTranspose` refuses groups with several output channels each.",
        lambda outcome: outcome.refused and "array" in (outcome.problem or "") and _grouped(outcome),
        "(float[1,2,1] x, float[2,2,1] w) => (float[1,4,1] y) { y = ConvTranspose <group = 2> (x, w) }",
        (floats(1, 2, shape=(1, 2, 1)), floats(3, 5, 7, 9, shape=(2, 2, 1))),
        (floats(3, 5, 14, 18, shape=(1, 4, 1)),),
        "cannot reshape array",
    ),
    Difference(
        "evaluator",
        "`Resize` gives every element a say, be it with weight 0, which makes NaN of infinities.",
        has("Resize"),
        """(float[1,1,3] x) => (float[1,1,3] y) <int64[3] s = {1,1,3}>
             { y = Resize <mode = "nearest"> (x, , , s) }""",
        (floats(1, np.inf, 3, shape=(1, 1, 3)),),
        (floats(1, np.inf, 3, shape=(1, 1, 3)),),
    ),
    Difference(
        "evaluator",
        "`GatherElements` refuses more than 64 elements along its axis.",
        refuses("array", "GatherElements"),
        "(float[1,65] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        (floats(*range(65), shape=(1, 65)), np.array([[64, 0]])),
        (floats(64, 0, shape=(1, 2)),),
        "cannot reshape array",
    ),
)

WEBGPU = (
    Difference(
        "webgpu",
        "FLOAT16 is refused by a device that has no `shader-f16`.",
        lambda outcome: (
            outcome.refused and "requires f16 but the device does not support it" in (outcome.problem or "")
        ),
        "(float16[1] x) => (float16[1] y) { y = Abs (x) }",
        (np.array([-1], np.float16),),
        (np.array([1], np.float16),),
        "requires f16",
        of_device=True,
    ),
    Difference(
        "webgpu",
        "`Sin`, `Cos` and `Tan` are as exact as the device has them; WGSL asks for an error of at most 2⁻¹¹.",
        _is_as_wgsl_says,
        "(float[1] x) => (float[1] y) { y = Cos (x) }",
        (floats(1),),
        (floats(np.cos(1.0)),),
        of_device=True,
    ),
    Difference(
        "webgpu",
        "`ConvTranspose` of three spatial dimensions is refused.",
        refuses("Only Conv2d or Conv1d are supported", "ConvTranspose"),
        """(float[1,1,2,1,1] x, float[1,1,2,1,1] w) => (float[1,1,3,1,1] y) { y = ConvTranspose (x, w) }""",
        (floats(1, 2, shape=(1, 1, 2, 1, 1)), floats(3, 4, shape=(1, 1, 2, 1, 1))),
        (floats(3, 10, 8, shape=(1, 1, 3, 1, 1)),),
        "Only Conv2d or Conv1d are supported",
    ),
    *shown_by("webgpu", "CONVOLVES_PLANES", "CLIP_SPELLS_OUT_INFINITY", "POW_BROADCASTS_ROWS_ONLY"),
    *shown_by("webgpu", "POW_BY_LOGARITHM", of_device=True),
    *shown_by("webgpu", "MAX_POOL_GIVES_NO_INDICES"),
    Difference(
        "webgpu",
        "Linear `Resize` of a 4-dimensional tensor resizes its last two dimensions only.",
        "RESIZE_TAKES_PLANES",
        """(float[1,2,1,2] x) => (float[1,4,1,2] y) <int64[4] s = {1,4,1,2}>
             { y = Resize <mode = "linear", coordinate_transformation_mode = "asymmetric"> (x, , , s) }""",
        (floats(0, 1, 2, 3, shape=(1, 2, 1, 2)),),
        (floats(0, 1, 1, 2, 2, 3, 2, 3, shape=(1, 4, 1, 2)),),
    ),
    Difference(
        "webgpu",
        "`Resize` of one dimension is refused.",
        "RESIZE_TAKES_PLANES",
        """(float[2] x) => (float[4] y) <int64[1] s = {4}>
             { y = Resize <mode = "nearest", nearest_mode = "floor",
                           coordinate_transformation_mode = "asymmetric"> (x, , , s) }""",
        (floats(1, 2),),
        (floats(1, 1, 2, 2),),
        "is_2D || is_3D was false",
    ),
)

DIFFERENCES = (*OPENVINO, *EVALUATOR, *WEBGPU, *in_browser(WEBGPU), *WEB_GPU, *WEBNN, *QNN)
