"""Weights of 8 bits as INT8 where the processor adds their products exactly, which a model finds out by itself.

Kernels for UINT8 with INT8 take less than half the time of those for UINT8 with UINT8, but without VNNI, or what other
processors call it, they add pairs of products in 16 bits, where they saturate. So the model multiplies the largest
numbers there are, and an If takes the one kernel or the other by what comes out. All of that are constants: ONNX
Runtime computes it when it loads the model, puts the nodes of one branch in the place of the If, and forgets the rest.
Bodies hold no constants of their own and nothing that could be made one, which ONNX Runtime 1.24 would lose.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/constant_folding.cc

Before:
    (uint8[2,1] x) => (float[2,1] y)
    <float half = {0.5}, uint8 point = {9}, uint8[1,1] w = {125}, uint8 middle = {128}>
    { a = DequantizeLinear (x, half, point) f = DequantizeLinear (w, half, middle) y = MatMul (a, f) }
After:
    the same with f = If (products are exact)
    then DequantizeLinear (w as INT8, half, 0) else DequantizeLinear (w, half, middle)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dml2onnx.onnx_model import BOOL, Array, Body, Node, Value
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.quantised import Quantised

_UINT8, _INT8, _INT32 = np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.int32)
_WEIGHTS = {"DequantizeLinear": (0, 2), "QLinearConv": (3, 5), "QLinearMatMul": (3, 5)}
"""Where their weights and the zero points of these stand."""
OPERATORS = frozenset(_WEIGHTS)
_PRODUCTS = frozenset({"Conv", "Gemm", "MatMul"})
"""What ONNX Runtime computes in 8 bits between quantisations."""

_LARGEST = 127
"""The lowest INT8 is left out: twice the product with itself does not fit into 16 bits, in which kernels of processors
that move UINT8 to INT8 add.
"""
_ROWS, _TERMS, _COLUMNS = 8, 64, 32
"""Of the product that is tried: enough for the kernels of large ones."""
MOST_OF_PAIRS = 64
"""Twice as much, times 255, fits into 16 bits, in which processors without VNNI add products of UINT8 and INT8."""


def sign_weights(draft: Draft) -> None:
    """An If in the place of every node with weights of UINT8 that INT8 can hold around their zero point.

    Small weights of QLinearConv and QLinearMatMul are exact as INT8 on every processor.
    """
    if not draft.target.has("PAIRS_OF_BYTES_SATURATE") or not _can_ask(draft):
        return
    question: list[Node] = []
    origins = _Origins(draft)
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node) or not _is_product(draft, node):
            continue
        weights, zero_points = (node.inputs[index] for index in _WEIGHTS[node.op_type])
        points = _points(draft, weights, zero_points)
        if weights is None or points is None or (reach := _reach(draft, weights, points)) > _LARGEST:
            continue
        if node.op_type != "DequantizeLinear":
            if reach <= MOST_OF_PAIRS:
                _take_small(draft, node, weights, points)
                continue
            if not origins.vary(node):
                continue
        asked = [] if question else _question(draft)
        question = question or asked
        moved, signed = _signed(draft, weights, points)
        zeros = draft.store(np.zeros(points.shape, np.int8), f"{weights.name}/zero_point")
        bodies = {
            "then_branch": _branch(draft, node, "int8", [signed, zeros]),
            "else_branch": _branch(draft, node, "uint8", [weights, zero_points]),
        }
        choice = draft.node("If", [question[-1].outputs[0]], node.outputs, bodies)
        note = "weights of INT8 where the processor adds their products exactly, else of UINT8: the model asks it"
        draft.replace(node, *asked, *moved, choice, note=note)


class _Origins:
    """What values are made of: what is made of constants only ONNX Runtime computes when it loads the model."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._varying: set[str] = set()
        self._fixed: set[str] = set()

    def vary(self, node: Node) -> bool:
        """Whether what a node reads first depends on a graph input. A search ends at nodes of earlier ones."""
        waiting, seen = [node.inputs[0]], set[str]()
        while waiting:
            item = waiting.pop()
            if item is None or item.name in seen or item.name in self._fixed or self._draft.constant(item) is not None:
                continue
            maker = self._draft.maker(item)
            if maker is None or item.name in self._varying:
                self._varying.update(result.name for result in node.outputs if result is not None)
                return True
            seen.add(item.name)
            waiting += maker.inputs
        self._fixed |= seen
        return False


def _can_ask(draft: Draft) -> bool:
    has = draft.target.has_kernel
    product = {"T1": "uint8", "T2": "int8"}
    return (
        has("MatMulInteger", product)
        and has("ReduceMin", {"T": "int32"})
        and has("Equal", {"T": "int32"})
        and has("If", {"V": "uint8"})
    )


def _is_product(draft: Draft, node: Node) -> bool:
    """Whether a node multiplies UINT8 by its weights, or gives them to one that is going to."""
    if node.op_type != "DequantizeLinear":
        return True
    if draft.constant(node.inputs[0]) is None or draft.is_pinned(node.outputs[0]):
        return False
    return all(
        reader.op_type in _PRODUCTS and _is_dequantised(draft, reader.inputs[0])
        for reader in draft.readers(node.outputs[0])
    )


def _is_dequantised(draft: Draft, value: Value | None) -> bool:
    maker = Quantised(draft).dequantizer(value)
    source = None if maker is None else maker.inputs[0]
    return source is not None and source.dtype == _UINT8 and draft.constant(source) is None


def _points(draft: Draft, weights: Value | None, zero_points: Value | None) -> Array | None:
    """The zero points of constant UINT8 weights, if all of them are one; else ``None``."""
    values, points = draft.constant(weights), draft.constant(zero_points)
    if values is None or points is None or values.dtype != _UINT8 or values.size == 0 or np.ptp(points):
        return None
    return points


def _reach(draft: Draft, weights: Value | None, points: Array) -> int:
    """How far weights lie from their zero point."""
    values, middle = draft.constant(weights), int(points.reshape(-1)[0])
    assert values is not None
    return max(middle - int(values.min()), int(values.max()) - middle)


def _take_small(draft: Draft, node: Node, weights: Value, points: Array) -> None:
    """The node with its weights around their zero point."""
    values = draft.constant(weights)
    assert values is not None
    centred = (values.astype(np.int16) - points.reshape(-1)[0]).astype(np.int8)
    inputs = list(node.inputs)
    of_weights, of_points = _WEIGHTS[node.op_type]
    inputs[of_weights] = draft.store(centred, f"{weights.name}/int8")
    inputs[of_points] = draft.store(np.zeros(points.shape, np.int8), f"{weights.name}/zero_point")
    note = "small weights are INT8, of which no two products exceed 16 bits"
    draft.replace(node, draft.node(node.op_type, inputs, node.outputs, node.attributes), note=note)


def _question(draft: Draft) -> list[Node]:
    """Whether a product of the largest numbers is what it should be: sums that saturate are less."""
    one = draft.store(np.full((_ROWS, _TERMS), 255, np.uint8), "processor/uint8")
    other = draft.store(np.full((_TERMS, _COLUMNS), _LARGEST, np.int8), "processor/int8")
    wanted = draft.store(np.array(_TERMS * 255 * _LARGEST, np.int32), "processor/exact")
    product = draft.value("processor/product", _INT32, (_ROWS, _COLUMNS))
    least = draft.value("processor/least", _INT32, ())
    answer = draft.value("processor/adds_exactly", BOOL, ())
    return [
        draft.node("MatMulInteger", [one, other], [product]),
        draft.node("ReduceMin", [product], [least], {"keepdims": 0}),
        draft.node("Equal", [least, wanted], [answer]),
    ]


def _signed(draft: Draft, weights: Value, points: Array) -> tuple[list[Node], Value]:
    """The weights around their zero point as INT8, outside of the branch that takes them; bytes wrap."""
    rest = draft.store(np.array(-int(points.reshape(-1)[0]) % 256, np.uint8), f"{weights.name}/rest")
    moved = draft.value(f"{weights.name}/Add", _UINT8, weights.shape)
    signed = draft.value(f"{weights.name}/int8", _INT8, weights.shape)
    return [draft.node("Add", [weights, rest], [moved]), draft.node("Cast", [moved], [signed], {"to": 3})], signed


def _branch(draft: Draft, node: Node, name: str, weights: Sequence[Value | None]) -> Body:
    """The node with other weights and zero points."""
    (result,) = node.outputs
    assert result is not None
    inputs = list(node.inputs)
    for index, item in zip(_WEIGHTS[node.op_type], weights, strict=True):
        inputs[index] = item
    made = draft.value(f"{result.name}/{name}", result.dtype, result.shape)
    inner = draft.node(node.op_type, inputs, [made], node.attributes)
    return Body(made.name, [inner], (), [made])
