"""Quantization that ONNX Runtime moves, fuses or drops wrongly.

https://github.com/microsoft/onnxruntime/tree/main/onnxruntime/core/optimizer/qdq_transformer
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from dml2onnx.onnx_model import INT8, UINT8, OnnxNode, OnnxValue
from dml2onnx.optimizer_barriers.ties import QuantizationParameters, has_no_ties
from dml2onnx.passes.margins import is_dilated
from dml2onnx.passes.quantised import DQ, MOVES, Q, Quantised

_SUMS = frozenset({"Add", "Mul"})
MEANS = frozenset({"AveragePool", "GlobalAveragePool"})
INEXACT = frozenset({"DepthToSpace", "Resize", "Softmax", *MEANS, *_SUMS})
_EPSILON = float(np.finfo(np.float32).eps)


def enters_body(quantised: Quantised, value: OnnxValue | None) -> bool:
    """Whether a body reads dequantized numbers, possibly through movements: ONNX Runtime fails to propagate these.

    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/qdq_propagation.cc
    """
    if value is None or not quantised.draft.has_bodies:
        return False
    moves = [node for node in quantised.draft.readers(value) if node.op_type in MOVES]
    return quantised.draft.is_read_inside(value) or any(enters_body(quantised, node.outputs[0]) for node in moves)


def signed_constant(quantised: Quantised, node: OnnxNode) -> str:
    """The name of the INT8 constant that a DequantizeLinear reads, or an empty string.

    Sessions with the option for exact products convert such constants to UINT8 on processors without VNNI, once per
    reader of the DequantizeLinear, and fail at the second one. They first merge equal constants with equal zero points.
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/qdq_s8_to_u8.cc
    """
    numbers = node.inputs[0]
    is_signed = numbers is not None and numbers.dtype == INT8 and quantised.draft.constant(numbers) is not None
    return numbers.name if is_signed and numbers is not None else ""


def moved_steps(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A movement of dequantized numbers after which a wrong QuantizeLinear and DequantizeLinear are inserted.

    For UINT8 the pair is exact. At opset 21, INT8 gets a zero point of UINT8; INT32 is treated as UINT8. This also
    happens to numbers with several readers, for each of which the DequantizeLinear is duplicated first.
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/qdq_propagation.cc
    """
    maker, (output, *_) = quantised.maker(node.inputs[0]), node.outputs
    if maker is None or maker.op_type != DQ or maker.inputs[0] is None:
        return ()
    dtype = maker.inputs[0].dtype
    if dtype == UINT8 or (dtype == INT8 and quantised.draft.target.opset < 21) or not quantised.has_one_step(maker):
        return ()
    draft = quantised.draft
    return (0,) if draft.is_output(output) or any(item.op_type != Q for item in draft.readers(output)) else ()


def doubled(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A QuantizeLinear of numbers quantized with other parameters: one of the two is dropped.

    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/double_qdq_pairs_remover.cc
    """
    before = quantised.maker(node.inputs[0])
    first = None if before is None or before.op_type != DQ else quantised.maker(before.inputs[0])
    if before is None or first is None or first.op_type != Q:
        return ()
    own, other = quantised.scalar(node), quantised.scalar(before)
    if own is None or other is None:
        return (0,) if quantised.has_one_step(node) and quantised.has_one_step(before) else ()
    return (0,) if own != other else ()


def close_bounds(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A Clip before a QuantizeLinear that is dropped although the type's saturation is not equivalent.

    It is dropped if the range of the type is within 1.2e-7 of the bounds.
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/clip_quantizelinear.cc
    """
    clip, parameters = quantised.maker(node.inputs[0]), quantised.scalar(node)
    if clip is None or clip.op_type != "Clip":
        return ()
    if parameters is None:
        return (0,) if quantised.has_one_step(node) else ()
    scale, zero_point = parameters
    limits = np.iinfo(node.outputs[0].dtype.name if node.outputs[0] is not None else "uint8")
    bounds = [quantised.value(item) for item in (*clip.inputs[1:], None, None)]
    low, high = (
        -np.inf if bounds[0] is None else bounds[0].item(),
        np.inf if bounds[1] is None else bounds[1].item(),
    )
    with np.errstate(over="ignore"):
        steps = np.rint(np.array([low, high], np.float32) / np.float32(scale)) + zero_point
    if steps[0] <= limits.min and steps[1] >= limits.max:
        return ()
    inside = low - scale * (limits.min - zero_point), scale * (limits.max - zero_point) - high
    return (0,) if max(inside) <= 2 * _EPSILON else ()


def weights(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """FLOAT weights and biases of a node between quantizations, which ONNX Runtime quantizes too.

    This includes those that it has folded from constants on loading.
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/weight_bias_quantization.cc
    """
    if not quantised.is_between(node):
        return ()
    maker = quantised.maker(node.inputs[1])
    are_integers = _are_integers(quantised, node, maker)
    if len(node.inputs) < 3 or node.inputs[2] is None:
        is_concerned = quantised.is_known(node.inputs[1]) or quantised.dequantizer(node.inputs[1]) is not None
        return (0,) if is_concerned and not are_integers else ()
    scale = None if maker is None or not are_integers else quantised.value(maker.inputs[1])
    return () if scale is not None and quantised.is_whole(node, scale) else (0,)


def factors(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """As :func:`weights` for MatMul, where ONNX Runtime does not quantize FLOAT factors."""
    if not quantised.is_between(node) or quantised.dequantizer(node.inputs[1]) is None:
        return ()
    return () if _are_integers(quantised, node, quantised.maker(node.inputs[1])) else (0,)


def _are_integers(quantised: Quantised, node: OnnxNode, maker: OnnxNode | None) -> bool:
    """Whether weights are dequantized in a form with a kernel: UINT8 with one scale, or one per filter."""
    if node.op_type == "ConvTranspose" or maker is None or maker.op_type != DQ:
        return False
    x, scale, zero_point = (*maker.inputs, None)[:3]
    if x is None or x.dtype != UINT8 or not quantised.is_between_bytes(node):
        return False
    if quantised.scalar(maker) is not None:
        return True
    values = quantised.value(zero_point)
    is_by_filter = node.op_type == "Conv" and maker.attributes.get("axis") == 0 and quantised.value(scale) is not None
    return is_by_filter and values is not None and len(np.unique(values)) == 1


def coarse_weights(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """Constants dequantized at run time: the other factor of the product is quantized too (MatMulNBits).

    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/selectors_actions/qdq_selectors.cc
    """
    if quantised.dequantizer(node.inputs[0]) is not None:
        return ()
    maker = quantised.maker(node.inputs[1])
    return (1,) if maker is not None and maker.op_type == DQ and quantised.is_known(maker.inputs[0]) else ()


def inexact_kernels(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """Nodes fused to a quantized kernel that rounds differently (see ``ties.py``), or does not exist.

    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/selectors_actions/qdq_selector_action_transformer.cc
    """
    # ONNX Runtime 1.24 interpolates in integers and truncates
    if node.op_type == "Resize" and node.attributes.get("mode", "nearest") == "nearest":
        return ()
    makers = [quantised.dequantizer(item) for item in node.inputs]
    if makers[0] is None:
        return ()
    last = quantised.quantizer(node)
    if last is None:
        return ()
    if node.op_type in _SUMS:
        if makers[1] is None:
            return ()
        a, b, result = (_steps(quantised, item) for item in (makers[0], makers[1], last))
        is_exact = a and b and result and has_no_ties("Add" if node.op_type == "Add" else "Mul", a, b, result)
        return () if is_exact else (0,)  # one barrier suffices: the kernel needs both operands quantized
    return (0,)


def refused_means(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A quantized mean whose kernel fails: on loading with dilated windows, or at run time with extreme scales.
    https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/qlgavgpool.cpp
    """
    maker, last, x = quantised.dequantizer(node.inputs[0]), quantised.quantizer(node), node.inputs[0]
    if maker is None or last is None or x is None:
        return ()
    if node.op_type == "AveragePool":
        return (0,) if is_dilated(node) else ()
    before, after = quantised.scalar(maker), quantised.scalar(last)
    is_supported = before and after and 2.0**-32 <= before[0] / (after[0] * prod(x.shape[2:])) < 256
    return () if is_supported else (0,)


def _steps(quantised: Quantised, node: OnnxNode) -> QuantizationParameters | None:
    """The parameters of an 8-bit quantization or dequantization, if they are constants of one element."""
    parameters = quantised.scalar(node)
    of = node.inputs[0] if node.op_type == DQ else node.outputs[0]
    if parameters is None or of is None or of.dtype not in (INT8, UINT8):
        return None
    return QuantizationParameters("int8" if of.dtype == INT8 else "uint8", *parameters)
