"""Uses INT8 weights if the processor sums their products exactly, which the model tests when it is loaded.

Kernels for UINT8 with INT8 take less than half the time of those for UINT8 with UINT8. Without VNNI or its equivalent
they sum pairs of products in 16 bits, which saturates. So the model multiplies the largest numbers, and an If selects
the kernel by the result. All of this is constant: ONNX Runtime folds it on loading and inlines one branch of the If.
Bodies have no constants of their own and nothing that could be folded to one, which ONNX Runtime 1.24 would lose.
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

from dml2onnx.onnx_model import BOOL, INT8, INT32, UINT8, Array, Body, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft, only_output
from dml2onnx.passes.quantised import Quantised

_WEIGHTS = {"DequantizeLinear": (0, 2), "QLinearConv": (3, 5), "QLinearMatMul": (3, 5)}
"""Input indices of the weights and their zero points."""
OPERATORS = frozenset(_WEIGHTS)
_PRODUCTS = frozenset({"Conv", "Gemm", "MatMul"})
"""Operators that ONNX Runtime computes in 8 bits between quantizations."""

_LARGEST = 127
"""Excludes the lowest INT8: twice its square overflows the 16-bit sums on processors that convert UINT8 to INT8."""
_ROWS, _TERMS, _COLUMNS = 8, 64, 32
"""Sizes of the tested product, which select the kernels for large ones."""
MOST_OF_PAIRS = 64
"""Two products of this with 255 fit into 16 bits, in which processors without VNNI sum UINT8 * INT8."""


def sign_weights(draft: Draft) -> None:
    """Replaces every node with UINT8 weights that fit into INT8, relative to their zero point, by an If.

    Small weights of QLinearConv and QLinearMatMul are exact as INT8 on every processor, so they need no If.
    """
    if not draft.target.has("PAIRS_OF_BYTES_SATURATE") or not _has_test_kernels(draft):
        return
    test: list[OnnxNode] = []
    quantised = Quantised(draft)
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node) or not _is_product(quantised, node):
            continue
        weights, zero_points = (node.inputs[index] for index in _WEIGHTS[node.op_type])
        points = _points(draft, weights, zero_points)
        if weights is None or points is None or (reach := _reach(draft, weights, points)) > _LARGEST:
            continue
        if node.op_type != "DequantizeLinear":
            if reach <= MOST_OF_PAIRS:
                _take_small(draft, node, weights, points)
                continue
            if quantised.is_known(node.inputs[0]):
                continue
        new_test = [] if test else _exactness_test(draft)
        test = test or new_test
        moved, signed = _signed(draft, weights, points)
        zeros = draft.store(np.zeros(points.shape, np.int8), f"{weights.name}/zero_point")
        bodies = {
            "then_branch": _branch(draft, node, "int8", [signed, zeros]),
            "else_branch": _branch(draft, node, "uint8", [weights, zero_points]),
        }
        choice = draft.node("If", [test[-1].outputs[0]], node.outputs, bodies)
        note = "weights are INT8 if the processor sums their products exactly, which the model tests, else UINT8"
        draft.replace(node, *new_test, *moved, choice, note=note)


def _has_test_kernels(draft: Draft) -> bool:
    has = draft.target.has_kernel
    product = {"T1": "uint8", "T2": "int8"}
    return (
        has("MatMulInteger", product)
        and has("ReduceMin", {"T": "int32"})
        and has("Equal", {"T": "int32"})
        and has("If", {"V": "uint8"})
    )


def _is_product(quantised: Quantised, node: OnnxNode) -> bool:
    """Whether a node, or all readers of a DequantizeLinear, multiply UINT8 by its weights."""
    if node.op_type != "DequantizeLinear":
        return True
    draft = quantised.draft
    if draft.constant(node.inputs[0]) is None or draft.is_pinned(node.outputs[0]):
        return False
    return all(
        reader.op_type in _PRODUCTS and _is_dequantised(quantised, reader.inputs[0])
        for reader in draft.readers(node.outputs[0])
    )


def _is_dequantised(quantised: Quantised, value: OnnxValue | None) -> bool:
    maker = quantised.dequantizer(value)
    source = None if maker is None else maker.inputs[0]
    return source is not None and source.dtype == UINT8 and quantised.value(source) is None


def _points(draft: Draft, weights: OnnxValue | None, zero_points: OnnxValue | None) -> Array | None:
    """The zero points of constant UINT8 weights, if all are equal; else ``None``."""
    values, points = draft.constant(weights), draft.constant(zero_points)
    if values is None or points is None or values.dtype != UINT8 or values.size == 0 or np.ptp(points):
        return None
    return points


def _reach(draft: Draft, weights: OnnxValue | None, points: Array) -> int:
    """The largest distance of weights from their zero point."""
    values, middle = draft.constant(weights), int(points.reshape(-1)[0])
    assert values is not None
    return max(middle - int(values.min()), int(values.max()) - middle)


def _take_small(draft: Draft, node: OnnxNode, weights: OnnxValue, points: Array) -> None:
    """Replaces the weights by INT8 relative to their zero point."""
    values = draft.constant(weights)
    assert values is not None
    centred = (values.astype(np.int16) - points.reshape(-1)[0]).astype(np.int8)
    inputs = list(node.inputs)
    of_weights, of_points = _WEIGHTS[node.op_type]
    inputs[of_weights] = draft.store(centred, f"{weights.name}/int8")
    inputs[of_points] = draft.store(np.zeros(points.shape, np.int8), f"{weights.name}/zero_point")
    note = "small weights are INT8: the sum of two products fits into 16 bits"
    draft.replace(node, draft.node(node.op_type, inputs, node.outputs, node.attributes), note=note)


def _exactness_test(draft: Draft) -> list[OnnxNode]:
    """Nodes that test a product of the largest numbers: saturated sums are smaller."""
    one = draft.store(np.full((_ROWS, _TERMS), 255, np.uint8), "processor/uint8")
    other = draft.store(np.full((_TERMS, _COLUMNS), _LARGEST, np.int8), "processor/int8")
    wanted = draft.store(np.array(_TERMS * 255 * _LARGEST, np.int32), "processor/exact")
    product = draft.value("processor/product", INT32, (_ROWS, _COLUMNS))
    least = draft.value("processor/least", INT32, ())
    answer = draft.value("processor/adds_exactly", BOOL, ())
    return [
        draft.node("MatMulInteger", [one, other], [product]),
        draft.node("ReduceMin", [product], [least], {"keepdims": 0}),
        draft.node("Equal", [least, wanted], [answer]),
    ]


def _signed(draft: Draft, weights: OnnxValue, points: Array) -> tuple[list[OnnxNode], OnnxValue]:
    """INT8 weights relative to their zero point, computed outside of the branch that uses them; bytes wrap."""
    rest = draft.store(np.array(-int(points.reshape(-1)[0]) % 256, np.uint8), f"{weights.name}/rest")
    moved = draft.value(f"{weights.name}/Add", UINT8, weights.shape)
    signed = draft.value(f"{weights.name}/int8", INT8, weights.shape)
    return [draft.node("Add", [weights, rest], [moved]), draft.node("Cast", [moved], [signed], {"to": 3})], signed


def _branch(draft: Draft, node: OnnxNode, name: str, weights: Sequence[OnnxValue | None]) -> Body:
    """A branch with the node, reading other weights and zero points."""
    result = only_output(node)
    inputs = list(node.inputs)
    for index, item in zip(_WEIGHTS[node.op_type], weights, strict=True):
        inputs[index] = item
    output = draft.value(f"{result.name}/{name}", result.dtype, result.shape)
    inner = draft.node(node.op_type, inputs, [output], node.attributes)
    return Body(output.name, [inner], (), [output])
