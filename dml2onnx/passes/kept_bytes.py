"""Keeps 8 bits between quantized operators: MaxPool in 8 bits, and no conversions of UINT8 to INT8 and back.

A standalone MaxPool is fastest in FLOAT between casts; between 8-bit kernels, the 8-bit kernel is faster. Products
compute INT8 as UINT8, offset by 128, and convert results back. If the reader is another product, both conversions go.

Before:
    (uint8[1,1,4,4] x) => (uint8[1,1,2,2] y)
    <float one = {1}, uint8 point = {9}, uint8[1,1,1,1] w = {3}>
    { a = QLinearConv (x, one, point, w, one, point, one, point) b = Cast <to = 1> (a)
    c = MaxPool <kernel_shape = [2,2], strides = [2,2]> (b) y = Cast <to = 2> (c) }
After:
    (uint8[1,1,4,4] x) => (uint8[1,1,2,2] y)
    <float one = {1}, uint8 point = {9}, uint8[1,1,1,1] w = {3}>
    { a = QLinearConv (x, one, point, w, one, point, one, point)
    y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a) }
"""

from __future__ import annotations

import numpy as np

from dml2onnx.onnx_model import FLOAT, INT8, UINT8, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft, only_output
from dml2onnx.targets import QDQ

OPERATORS = frozenset({"MaxPool", "QLinearConv", "QLinearMatMul"})
_POOLS = frozenset({"MaxPool"})
_MIDDLE = 128
"""The offset of UINT8 relative to INT8."""


def keep_bytes(draft: Draft) -> None:
    """Narrows MaxPool to 8 bits, or dequantizes its input in QDQ format; drops conversions between products."""
    if draft.target.quant_format == QDQ:
        for node in draft.nodes(_POOLS):
            _dequantised(draft, node)
        return
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node):
            continue
        if node.op_type == "MaxPool":
            _narrow(draft, node)
        else:
            _keep_raised(draft, node)


def _casts(draft: Draft, pool: OnnxNode) -> tuple[OnnxNode, OnnxNode] | None:
    """The Casts before and after a MaxPool without indices, to another type and back, if they have no other readers."""
    before, after = draft.maker(pool.inputs[0]), draft.only_reader(pool.outputs[0])
    if len(pool.outputs) > 1 or before is None or after is None or not before.op_type == after.op_type == "Cast":
        return None
    (operand,), result = before.inputs, only_output(after)
    if draft.only_reader(pool.inputs[0]) is None or operand is None or operand.dtype != result.dtype:
        return None
    return before, after


def _keep_raised(draft: Draft, product: OnnxNode) -> None:
    """Makes a product read the original UINT8 numbers if it converts INT8 back to them."""
    value = product.inputs[0]
    moved = draft.maker(value)
    if moved is None or moved.op_type != "Add" or not _is_middle(draft, moved.inputs[1]):
        return
    cast = draft.maker(moved.inputs[0])
    if cast is None or cast.op_type != "Cast" or cast.inputs[0] is None:
        return
    source = _unsigned(draft, cast.inputs[0])
    if source is not None:
        draft.replace(
            product, draft.node(product.op_type, [source, *product.inputs[1:]], product.outputs, product.attributes)
        )


def _lowered(draft: Draft, pooled: OnnxValue, result: OnnxValue) -> list[OnnxNode]:
    """Converts UINT8 to INT8: minus 128, which modulo 256 is plus 128."""
    middle = draft.store(np.array(_MIDDLE, np.uint8), f"{result.name}/middle")
    moved = draft.value(f"{pooled.name}/Add", UINT8, result.shape)
    return [draft.node("Add", [pooled, middle], [moved]), draft.node("Cast", [moved], [result], {"to": 3})]


def _dequantised(draft: Draft, pool: OnnxNode) -> None:
    """Replaces a MaxPool of integers between casts by one of dequantized numbers, which have the same order."""
    casts = _casts(draft, pool)
    if casts is None:
        return
    before, after = casts
    operand, inner, pooled, result = before.inputs[0], only_output(before), only_output(pool), only_output(after)
    quantiser = draft.maker(operand)
    if quantiser is None or quantiser.op_type != "QuantizeLinear" or quantiser.attributes.get("axis") is not None:
        return
    # constant scales are positive: lowerings divide by others before
    if draft.constant(quantiser.inputs[1]) is None or inner.dtype != FLOAT:
        return
    note = "MaxPool of dequantized numbers, a pattern that accelerators match"
    draft.replace(before, draft.node("DequantizeLinear", [operand, *quantiser.inputs[1:]], [inner]), note=note)
    draft.replace(after, draft.node("QuantizeLinear", [pooled, *quantiser.inputs[1:]], [result]))


def _narrow(draft: Draft, pool: OnnxNode) -> None:
    """Replaces a MaxPool of FLOAT between casts by one of UINT8; INT8 is converted after the MaxPool instead."""
    casts = _casts(draft, pool)
    if casts is None:
        return
    before, after = casts
    operand, result = before.inputs[0], only_output(after)
    if operand is None or not np.can_cast(operand.dtype, only_output(before).dtype):
        return  # the cast changes the order, since it reinterprets the sign
    source = operand if operand.dtype == UINT8 else _unsigned(draft, operand)
    maker = draft.maker(source)
    if source is None or maker is None or maker.op_type != "QLinearConv":
        return
    if not draft.target.has_kernel("MaxPool", {"T": "uint8"}):
        return
    is_signed = result.dtype == INT8
    pooled = draft.value(f"{result.name}/MaxPool", UINT8, result.shape) if is_signed else result
    narrow = draft.node("MaxPool", [source], [pooled], pool.attributes)
    nodes = [narrow, *(_lowered(draft, pooled, result) if is_signed else [])]
    draft.replace(after, *nodes, note="MaxPool of UINT8, between kernels of UINT8")
    draft.let_go(pool, f"is replaced by {narrow.name}")
    draft.let_go(before, f"is not needed by {narrow.name}")


def _unsigned(draft: Draft, value: OnnxValue) -> OnnxValue | None:
    """The UINT8 numbers from which INT8 ones were converted."""
    cast = draft.maker(value)
    moved = None if cast is None or cast.op_type != "Cast" else draft.maker(cast.inputs[0])
    if value.dtype != INT8 or moved is None or moved.op_type != "Add" or not _is_middle(draft, moved.inputs[1]):
        return None
    return moved.inputs[0]


def _is_middle(draft: Draft, value: OnnxValue | None) -> bool:
    added = draft.constant(value)
    return added is not None and added.dtype == UINT8 and added.size == 1 and added.item() == _MIDDLE
