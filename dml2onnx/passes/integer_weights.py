"""Restores the integers of dequantized weights, so that ONNX Runtime finds its integer kernels.

Lowering folds DequantizeLinear of constants. This pass restores it for weights of products with a UINT8 kernel; INT8
weights become UINT8, whose products with UINT8 are exact on every processor.

Before, with weights that were INT8:
    (uint8[2,1] x) => (uint8[2,1] y)
    <float half = {0.5}, uint8 point = {9}, float[1,1] w = {-1.5}>
    { a = DequantizeLinear (x, half, point) b = MatMul (a, w) y = QuantizeLinear (b, half, point) }
After:
    (uint8[2,1] x) => (uint8[2,1] y)
    <float half = {0.5}, uint8 point = {9}, uint8[1,1] w = {125}, uint8 middle = {128}>
    { a = DequantizeLinear (x, half, point) f = DequantizeLinear (w, half, middle) b = MatMul (a, f)
    y = QuantizeLinear (b, half, point) }
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dml2onnx.onnx_model import Dequantized, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.quantised import DQ, Quantised

OPERATORS = frozenset({DQ})
_PRODUCTS = frozenset({"Conv", "Gemm", "MatMul"})


def keep_integers(draft: Draft) -> None:
    """Inserts a DequantizeLinear before the weights of each such product."""
    quantised = Quantised(draft)
    stored: dict[str, list[OnnxValue]] = {}
    for node in draft.nodes(_PRODUCTS):
        result, weights = node.outputs[0], node.inputs[1]
        if result is None or result.paired or weights is None or weights.dequantized is None:
            continue
        found = weights.dequantized
        if not (quantised.is_between_bytes(node) and _fits(node, found)):
            continue
        if node.op_type == "MatMul" or quantised.is_whole(node, found.scale):
            inputs = stored.get(weights.name) or _stored(draft, weights, found)
            stored[weights.name] = inputs
            output = draft.value(f"{weights.name}/{DQ}", weights.dtype, weights.shape)
            dequantize = draft.node(DQ, inputs, [output], {"axis": 0} if found.scale.ndim else None)
            draft.replace(node, dequantize, replace(node, inputs=(node.inputs[0], output, *node.inputs[2:])))


def _fits(node: OnnxNode, found: Dequantized) -> bool:
    """Whether a kernel supports them: 8 bits with one scale, or one scale per filter and a single zero point."""
    if found.x.dtype.itemsize > 1 or found.scale.size == 1:
        return found.x.dtype.itemsize == 1
    weights = node.inputs[1]
    is_by_filter = node.op_type == "Conv" and weights is not None and weights.shape[0] == found.x.shape[0]
    return is_by_filter and len(np.unique(found.zero_point)) == 1


def _stored(draft: Draft, weights: OnnxValue, found: Dequantized) -> list[OnnxValue]:
    offset = 128 if found.x.dtype == np.int8 else 0
    x, zero_point = (np.asarray(item.astype(np.int16) + offset, np.uint8) for item in (found.x, found.zero_point))
    name = found.label or weights.name
    return [
        draft.store(x.reshape(weights.shape), name),
        draft.store(found.scale, f"{name}/scale"),
        draft.store(zero_point, f"{name}/zero_point"),
    ]
