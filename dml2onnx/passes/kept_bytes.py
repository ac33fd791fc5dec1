"""8 bits between quantised operators: MaxPool has them too, and INT8 that is computed with as UINT8 is handed on so.

A MaxPool by itself is one of FLOAT between casts, which is fast; between kernels that take 8 bits their own is faster.
INT8 becomes UINT8 by moving it up by 128, and is moved down again: where another product moves it up, both go.

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

from dml2onnx.onnx_model import FLOAT, Node, Value
from dml2onnx.passes.draft import Draft
from dml2onnx.targets import QDQ

OPERATORS = frozenset({"MaxPool", "QLinearConv", "QLinearMatMul"})
_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
_POOLS = frozenset({"MaxPool"})
_MIDDLE = 128
"""INT8 is computed with as UINT8, this much higher."""


def keep_bytes(draft: Draft) -> None:
    """MaxPool of 8 bits, or of what they stand for where quantised operators are written so; no INT8 in between."""
    if draft.target.quant_format == QDQ:
        for node in draft.nodes(_POOLS):
            _dequantised(draft, node)
        return
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node):
            continue
        if node.op_type == "MaxPool" and len(node.outputs) == 1:
            _narrow(draft, node)
        elif node.op_type != "MaxPool":
            _keep_raised(draft, node)


def _only(draft: Draft, value: Value | None, op_type: str) -> Node | None:
    """The node of a kind that makes a value for a single reader."""
    maker = draft.maker(value)
    if maker is None or maker.op_type != op_type or draft.is_pinned(value) or len(draft.readers(value)) != 1:
        return None
    return maker


def _keep_raised(draft: Draft, product: Node) -> None:
    """A product of the UINT8 numbers that INT8 ones were made of, where these are only raised again."""
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


def _lowered(draft: Draft, made: Value, result: Value) -> list[Node]:
    """UINT8 as INT8 again: 128 less, which modulo 256 is 128 more."""
    middle = draft.store(np.array(_MIDDLE, np.uint8), f"{result.name}/middle")
    moved = draft.value(f"{made.name}/Add", _UINT8, result.shape)
    return [draft.node("Add", [made, middle], [moved]), draft.node("Cast", [moved], [result], {"to": 3})]


def _dequantised(draft: Draft, pool: Node) -> None:
    """A MaxPool of what integers stand for, in the place of one of themselves between casts: the order is theirs."""
    before, readers = _only(draft, pool.inputs[0], "Cast"), draft.readers(pool.outputs[0])
    if before is None or draft.is_pinned(pool.outputs[0]) or len(pool.outputs) != 1 or len(readers) != 1:
        return
    (after,) = readers
    given, (result,) = before.inputs[0], after.outputs
    quantiser = draft.maker(given)
    if given is None or result is None or after.op_type != "Cast" or given.dtype != result.dtype:
        return
    if quantiser is None or quantiser.op_type != "QuantizeLinear" or quantiser.attributes.get("axis") is not None:
        return
    scale = draft.constant(quantiser.inputs[1])
    inner, made = before.outputs[0], pool.outputs[0]
    if inner is None or made is None or scale is None or not float(scale.item()) > 0 or inner.dtype != FLOAT:
        return
    note = "MaxPool of the numbers that integers stand for, as accelerators look for it"
    draft.replace(before, draft.node("DequantizeLinear", [given, *quantiser.inputs[1:]], [inner]), note=note)
    draft.replace(after, draft.node("QuantizeLinear", [made, *quantiser.inputs[1:]], [result]))


def _narrow(draft: Draft, pool: Node) -> None:
    """A MaxPool of UINT8, which has been one of FLOAT between casts; of INT8 that of what is to become it."""
    before = _only(draft, pool.inputs[0], "Cast")
    readers = draft.readers(pool.outputs[0])
    if before is None or draft.is_pinned(pool.outputs[0]) or len(readers) != 1 or readers[0].op_type != "Cast":
        return
    given, (result,) = before.inputs[0], readers[0].outputs
    inner = before.outputs[0]
    if given is None or result is None or inner is None or given.dtype != result.dtype:
        return
    if not np.can_cast(given.dtype, inner.dtype):
        return  # it compares other numbers: bytes that are read with another sign
    source = given if given.dtype == _UINT8 else _unsigned(draft, given)
    maker = draft.maker(source)
    if source is None or maker is None or maker.op_type != "QLinearConv":
        return
    if not draft.target.has_kernel("MaxPool", {"T": "uint8"}):
        return
    is_signed = result.dtype == _INT8
    made = draft.value(f"{result.name}/MaxPool", _UINT8, result.shape) if is_signed else result
    narrow = draft.node("MaxPool", [source], [made], pool.attributes)
    nodes = [narrow, *(_lowered(draft, made, result) if is_signed else [])]
    draft.replace(readers[0], *nodes, note="MaxPool of UINT8, between kernels that take it so")
    draft.let_go(pool, f"is done by {narrow.name}")
    draft.let_go(before, f"is not wanted by {narrow.name}")


def _unsigned(draft: Draft, value: Value) -> Value | None:
    """The UINT8 numbers that INT8 ones are 128 less than."""
    cast = draft.maker(value)
    moved = None if cast is None or cast.op_type != "Cast" else draft.maker(cast.inputs[0])
    if value.dtype != _INT8 or moved is None or moved.op_type != "Add" or not _is_middle(draft, moved.inputs[1]):
        return None
    return moved.inputs[0]


def _is_middle(draft: Draft, value: Value | None) -> bool:
    added = draft.constant(value)
    return added is not None and added.dtype == _UINT8 and added.size == 1 and added.item() == _MIDDLE
