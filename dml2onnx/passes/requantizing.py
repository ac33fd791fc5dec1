"""QLinearConv and QLinearMatMul for integer products that are scaled and quantised node by node.

Both kernels multiply the INT32 sums by one FLOAT for each channel, round halves to even, add the zero point and
saturate: the same operations in the same order as the nodes that they replace. The factor is theirs as it is, the scale
of the weights, with scales of 1 beside it. Products of UINT8 with UINT8 are exact on every processor, those with INT8
where the weights are small.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/quantize.cpp

Before:
    (uint8[2,3] x) => (uint8[2,1] y)
    <uint8[3,1] w = {1, 200, 3}, uint8 point = {9}, float factor = {0.25}, float one = {1}, uint8 last = {4}>
    { a = MatMulInteger (x, w, point, point) b = Cast <to = 1> (a) c = Mul (b, factor)
    y = QuantizeLinear (c, one, last) }
After:
    (uint8[2,3] x) => (uint8[2,1] y)
    <uint8[3,1] w = {1, 200, 3}, uint8 point = {9}, float factor = {0.25}, float one = {1}, uint8 last = {4}>
    { y = QLinearMatMul (x, one, point, w, factor, point, one, last) }
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dml2onnx.onnx_model import FLOAT
from dml2onnx.targets import QDQ

if TYPE_CHECKING:
    from dml2onnx.onnx_model import Array, Node, Value
    from dml2onnx.passes.draft import Draft

OPERATORS = frozenset({"ConvInteger", "MatMulInteger", "QuantizeLinear"})
_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
_ENDS = frozenset({"MaxPool", "QuantizeLinear"})
_POOLS = frozenset({"MaxPool"})
_FUSED = {"ConvInteger": "QLinearConv", "MatMulInteger": "QLinearMatMul"}
_KERNEL = {"T1": "uint8", "T2": "uint8", "T3": "uint8"}
MOST_OF_PAIRS = 64
"""Twice as much, times 255, fits into 16 bits, in which processors without VNNI add products of UINT8 and INT8."""
_MIDDLE = 128
"""INT8 is computed with as UINT8, this much higher."""


class _Chain(NamedTuple):
    """An integer product and what is done to its sums, up to the node that quantises them."""

    product: Node
    bias: Value | None
    factor: Value
    last: Node
    steps: tuple[Node, ...]
    """The nodes between, from the last one, and the product."""


def requantize(draft: Draft) -> None:
    """One node for a product, its bias, a factor for each channel, and the rounding to 8 bits.

    What pools its result behind it stays in 8 bits: ONNX Runtime has a fast kernel for what lies between such nodes.
    """
    if draft.target.quant_format == QDQ:
        for node in draft.nodes(_POOLS):
            _dequantised(draft, node)
        return
    for node in draft.nodes(_ENDS):
        if not draft.is_there(node):
            continue
        if node.op_type == "QuantizeLinear":
            chain = _chain(draft, node)
            if chain is not None:
                _fuse(draft, chain)
        elif node.op_type == "MaxPool" and len(node.outputs) == 1:
            _narrow(draft, node)


def _chain(draft: Draft, last: Node) -> _Chain | None:
    """What a QuantizeLinear by 1 ends, if the kernel computes just this."""
    scale, zero_point = draft.constant(last.inputs[1]), draft.constant(last.inputs[2] if len(last.inputs) > 2 else None)
    if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1 or float(scale.item()) != 1:
        return None
    scaled = _only(draft, last.inputs[0], "Mul")
    if scaled is None:
        return None
    for sums, factor in (scaled.inputs, scaled.inputs[::-1]):
        cast = _only(draft, sums, "Cast")
        if cast is not None and factor is not None and cast.outputs[0] is not None and cast.outputs[0].dtype == FLOAT:
            break
    else:
        return None
    added = _only(draft, cast.inputs[0], "Add")
    product, bias = _product(draft, cast.inputs[0], added)
    if product is None or not _takes(draft, product) or not _can_lower(draft, last):
        return None
    values = draft.constant(factor)
    if values is None or not np.isfinite(values).all() or bool(np.signbit(values).any()):
        return None
    axis = 1 if product.op_type == "ConvInteger" else -1
    made = product.outputs[0]
    assert made is not None
    if not (_is_along(values, made, axis) and (bias is None or _is_along(draft.constant(bias), made, axis))):
        return None
    steps = [scaled, cast, added, product]
    return _Chain(product, bias, factor, last, tuple(item for item in steps if item is not None))


def _only(draft: Draft, value: Value | None, op_type: str) -> Node | None:
    """The node of a kind that makes a value for a single reader."""
    maker = draft.maker(value)
    if maker is None or maker.op_type != op_type or draft.is_pinned(value) or len(draft.readers(value)) != 1:
        return None
    return maker


def _product(draft: Draft, value: Value | None, added: Node | None) -> tuple[Node | None, Value | None]:
    """The product that gives these sums, with the bias that is added to those of a convolution."""
    if added is None:
        return _only(draft, value, "MatMulInteger") or _only(draft, value, "ConvInteger"), None
    for sums, bias in (added.inputs, added.inputs[::-1]):
        found = _only(draft, sums, "ConvInteger")
        if found is not None and draft.constant(bias) is not None:
            return found, bias
    return None, None


def _takes(draft: Draft, product: Node) -> bool:
    """Whether the fused kernel takes what the product reads: UINT8, and one zero point for each of the two."""
    a, b, *zero_points = product.inputs
    if a is None or b is None or len(zero_points) != 2 or {a.dtype, b.dtype} != {_UINT8}:
        return False
    if not draft.target.has_kernel(_FUSED[product.op_type], _KERNEL):
        return False
    return all(item is not None and item.size == 1 for item in zero_points)


def _can_lower(draft: Draft, last: Node) -> bool:
    """Whether the result may be computed as UINT8: of INT8 that takes a conversion that goes round."""
    (result,) = last.outputs
    return result is None or result.dtype != _INT8 or not draft.target.has("BYTES_CONVERTED_SATURATE")


def _is_along(values: Array | None, made: Value, axis: int) -> bool:
    """Whether there is one value, or one for each index along an axis (counted from the end where it is negative)."""
    if values is None or values.size == 1:
        return values is not None
    shape = (1,) * (made.rank - values.ndim) + values.shape
    wanted = [1] * made.rank
    wanted[axis] = made.shape[axis]
    return shape == tuple(wanted) and (axis == 1 or made.rank == 2)


def _fuse(draft: Draft, chain: _Chain) -> None:
    product, last = chain.product, chain.last
    a, b, a_zero_point, b_zero_point = product.inputs
    assert a is not None
    (result,) = last.outputs
    assert result is not None
    op_type = _FUSED[product.op_type]
    is_signed = result.dtype == _INT8
    made = draft.value(f"{result.name}/{op_type}", _UINT8, result.shape) if is_signed else result
    one = draft.store(np.ones((), np.float32), f"{result.name}/one")
    zero_point = last.inputs[2]
    if is_signed:
        values = draft.constant(zero_point)
        assert values is not None
        raised = np.asarray(values.reshape(()).astype(np.int16) + _MIDDLE, np.uint8)
        zero_point = draft.store(raised, f"{result.name}/zero_point")
    weights = _weights(draft, b, b_zero_point)
    factor = _factor(draft, chain)
    weights_zero_point = _as_many(draft, weights[1], factor)
    inputs = [_raised(draft, a), one, _scalar(draft, a_zero_point), weights[0], factor, weights_zero_point]
    inputs += [one, _scalar(draft, zero_point)]
    if chain.bias is not None:
        inputs.append(_bias(draft, chain))
    fused = draft.node(op_type, inputs, [made], product.attributes)
    nodes = [fused, *(_lowered(draft, made, result) if is_signed else [])]
    draft.replace(last, *nodes, note=f"{op_type} computes what {product.op_type} and the nodes behind it did")
    for step in chain.steps:
        draft.let_go(step, f"is done by {fused.name}")


def _weights(draft: Draft, value: Value | None, zero_point: Value | None) -> tuple[Value | None, Value | None]:
    """Weights and their zero point: as INT8 where no two products with UINT8 exceed 16 bits, where kernels add pairs.

    The kernels of UINT8 with INT8 take less than half the time.
    """
    values, middle = draft.constant(value), draft.constant(zero_point)
    if values is None or middle is None or value is None:
        return value, _scalar(draft, zero_point)
    centred = values.astype(np.int16) - middle.reshape(()).astype(np.int16)
    if values.size == 0 or np.abs(centred).max() > MOST_OF_PAIRS:
        return value, _scalar(draft, zero_point)
    return (
        draft.store(centred.astype(np.int8), f"{value.name}/int8"),
        draft.store(np.zeros((), np.int8), f"{value.name}/zero_point"),
    )


def _scalar(draft: Draft, value: Value | None) -> Value | None:
    """The same constant without axes."""
    if value is None or value.rank == 0:
        return value
    array = draft.constant(value)
    return value if array is None else draft.store(array.reshape(()), f"{value.name}/scalar")


def _factor(draft: Draft, chain: _Chain) -> Value:
    """The scale of the weights: a scalar or a vector."""
    values = draft.constant(chain.factor)
    assert values is not None
    flat = values.reshape(() if values.size == 1 else (-1,)).astype(np.float32, copy=False)
    return draft.store(flat, f"{chain.last.name}/factor")


def _as_many(draft: Draft, zero_point: Value | None, factor: Value) -> Value | None:
    """A zero point for each factor, as ONNX wants them; DirectML refuses one beside several."""
    values = draft.constant(zero_point)
    if values is None or zero_point is None or factor.rank == 0:
        return zero_point
    return draft.store(np.broadcast_to(values.reshape(()), factor.shape), f"{factor.name}/zero_point")


def _bias(draft: Draft, chain: _Chain) -> Value:
    values, made = draft.constant(chain.bias), chain.product.outputs[0]
    assert values is not None
    assert made is not None
    return draft.store(np.broadcast_to(values.reshape(-1), (made.shape[1],)), f"{chain.last.name}/bias")


def _lowered(draft: Draft, made: Value, result: Value) -> list[Node]:
    """UINT8 as INT8 again: 128 less, which modulo 256 is 128 more."""
    middle = draft.store(np.array(_MIDDLE, np.uint8), f"{result.name}/middle")
    moved = draft.value(f"{made.name}/Add", _UINT8, result.shape)
    return [draft.node("Add", [made, middle], [moved]), draft.node("Cast", [moved], [result], {"to": 3})]


def _raised(draft: Draft, value: Value) -> Value:
    """The UINT8 numbers that an INT8 tensor was made of, where it is only raised again: what the layers hand on."""
    moved = draft.maker(value)
    if moved is None or moved.op_type != "Add" or not _is_middle(draft, moved.inputs[1]):
        return value
    cast = draft.maker(moved.inputs[0])
    if cast is None or cast.op_type != "Cast" or cast.inputs[0] is None:
        return value
    return _unsigned(draft, cast.inputs[0]) or value


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
