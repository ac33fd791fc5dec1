"""Arithmetic that ONNX Runtime fuses with a different result.

- Two casts: https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/insert_cast_transformer.cc
- A Pad and a pool: https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/pad_fusion.cc
- Relu and Clip: https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/relu_clip_fusion.cc
- A quotient of 1 and a product: https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/div_mul_fusion.cc
- A product of integers, the scales that multiply it, and a row that is added:
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/matmul_integer_to_float.cc
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dml2onnx.onnx_model import BOOL, INT8, UINT8, DType, OnnxNode, OnnxValue
from dml2onnx.passes.quantised import Quantised

POOLS = frozenset({"AveragePool", "LpPool", "MaxPool"})


def merged_casts(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """Two Casts that are merged although the first one rounds, wraps or truncates.

    Examples are FLOAT to FLOAT16 to INT8, INT64 to DOUBLE to FLOAT or INT32 and, before ONNX Runtime 1.31, all Casts to
    BOOL. Casts through integers are not merged.
    """
    (source,), (result,) = node.inputs, node.outputs
    before = quantised.maker(source)
    if before is None or before.op_type != "Cast" or before.inputs[0] is None or source is None or result is None:
        return ()
    return (0,) if is_merged_wrongly(before.inputs[0].dtype, source.dtype, result.dtype) else ()


def is_merged_wrongly(first: DType, middle: DType, last: DType) -> bool:
    """Whether merging two Casts changes results."""
    if np.can_cast(first, middle) and (first.itemsize < 8 or first.kind == middle.kind):
        return False  # the first Cast is lossless
    return last == BOOL or (middle.kind == "f" and last.itemsize < middle.itemsize)


def swallowed_pads(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A Pad of zeros, possibly with a Cast after it, is fused into the pads of a pool.

    MaxPool then ignores the zeros, and pads as large as the window are refused.
    """
    maker = quantised.maker(node.inputs[0])
    while maker is not None and maker.op_type == "Cast":
        maker = quantised.maker(maker.inputs[0])
    if maker is None or maker.op_type != "Pad" or maker.attributes or len(node.outputs) != 1:
        return ()
    fill = maker.inputs[2] if len(maker.inputs) > 2 else None
    value = np.zeros(()) if fill is None else quantised.value(fill)
    return () if value is not None and bool(value.any()) else (0,)


def clipped_integers(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A Relu and a Clip of integers are fused, and the model fails to load."""
    maker = quantised.maker(node.inputs[0])
    return (0,) if maker is not None and maker.op_type == "Relu" and _is_integer(node.inputs[0]) else ()


def _is_integer(value: OnnxValue | None) -> bool:
    return value is not None and value.dtype.kind in "iu"


def quotients_of_one(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """``(1 / a) * b`` is fused to ``b / a``.

    This is wrong for integers, changes the rounding of floats, which quantization may amplify, and turns NaN of
    infinity times 0 into a number.
    """
    if not any(_is_quotient(quantised, item) for item in node.inputs):
        return ()
    is_open = not quantised.draft.target.exact and not _is_integer(node.outputs[0])
    if is_open and quantised.quantizer(node, seen=True) is None:
        return ()
    return [index for index, item in enumerate(node.inputs) if _is_quotient(quantised, item)]


def _is_quotient(quantised: Quantised, value: OnnxValue | None) -> bool:
    maker = quantised.maker(value)
    if maker is None or maker.op_type != "Div" or quantised.is_known(value):
        return False
    one, constant = maker.inputs[0], quantised.value(maker.inputs[0])
    return one is not None and one.size == 1 and quantised.is_known(one) and (constant is None or constant.item() == 1)


def scaled_rows(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A constant row added to a scaled MatMulInteger is fused, and multiplied by the scales too."""
    makers = [quantised.maker(item) for item in node.inputs]
    if not any(map(quantised.is_known, node.inputs)):
        return ()
    is_scaled = any(maker is not None and _is_scaled_product(quantised, maker) for maker in makers)
    return [index for index, maker in enumerate(makers) if maker is not None] if is_scaled else ()


def signed_products(quantised: Quantised, node: OnnxNode) -> Sequence[int]:
    """A scaled MatMulInteger of INT8 with UINT8 is fused to a node without a kernel."""
    makers = [quantised.maker(item) for item in node.inputs]
    if not any(maker is not None and maker.op_type == "Mul" for maker in makers):
        return ()
    return [index for index, maker in enumerate(makers) if maker is not None and _is_signed_product(quantised, maker)]


def _is_signed_product(quantised: Quantised, node: OnnxNode) -> bool:
    product = quantised.maker(node.inputs[0]) if node.op_type == "Cast" else None
    if product is None or product.op_type != "MatMulInteger":
        return False
    return [item and item.dtype for item in product.inputs[:2]] == [INT8, UINT8]


def _is_scaled_product(quantised: Quantised, node: OnnxNode) -> bool:
    if node.op_type != "Mul":
        return False
    casts = [maker for maker in map(quantised.maker, node.inputs) if maker is not None and maker.op_type == "Cast"]
    products = [quantised.maker(cast.inputs[0]) for cast in casts]
    return any(product is not None and product.op_type == "MatMulInteger" for product in products)
