"""Folds constant factors and terms into the weights and the bias of an adjacent product.

This changes rounding: each weight is rounded again, which saves one or two roundings of each result. Constants are
computed in FLOAT64 and rounded once. With K products in a sum, the error is at most
``(K + 3) * 2**-24 * (sum(abs(weight * factor * x)) + abs(bias * factor) + abs(term))``, as without the pass.
Intermediate results no longer overflow.

Before:
    (float[2,3] x) => (float[2,1] y)
    <float[3,1] w = {1, 2, 3}, float[1,1] factor = {4}, float[1] term = {5}>
    { a = Gemm (x, w) b = Mul (a, factor) y = Add (b, term) }
After:
    (float[2,3] x) => (float[2,1] y)
    <float[3,1] w = {4, 8, 12}, float[1] term = {5}>
    { y = Gemm (x, w, term) }
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dml2onnx.onnx_model import DOUBLE, FLOAT, Array, DType, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft, only_output

Numbers = npt.NDArray[np.float64]

_STEPS = frozenset({"Add", "BatchNormalization", "Div", "Mul", "Sub"})
OPERATORS = _STEPS
_OF_MATRICES = frozenset({"Gemm", "MatMul"})
_PRODUCTS = frozenset({"Conv", "ConvTranspose", *_OF_MATRICES})


@dataclass(slots=True)
class _Affine:
    """``x * factor + term``, computed by a chain of nodes; factor and term broadcast to ``x``."""

    x: OnnxValue
    factor: Numbers
    term: Numbers
    nodes: list[OnnxNode]
    """The last first."""

    @property
    def is_sound(self) -> bool:
        """Whether factor and term are finite, and the factor is not 0."""
        return bool(np.isfinite(self.factor).all() and np.isfinite(self.term).all() and self.factor.all())

    @property
    def result(self) -> OnnxValue:
        """The output of the last node."""
        return only_output(self.nodes[0])


def fold_scales(draft: Draft) -> None:
    """Folds each chain into the product before it, the product after it, or one Mul and one Add."""
    folded = True
    while folded:
        # a term before a MatMul moves after it and may join a chain there, so complete chains go first, front to back
        moved = sum(_fold(draft, node) for node in draft.nodes(OPERATORS) if _is_last(draft, node))
        folded = moved + sum(_fold(draft, node) for node in reversed(list(draft.nodes(OPERATORS)))) > 0


def _is_last(draft: Draft, node: OnnxNode) -> bool:
    """Whether a node is the last step of its chain."""
    reader = draft.only_reader(node.outputs[0])
    return reader is None or _step(draft, reader) is None


def _fold(draft: Draft, last: OnnxNode) -> bool:
    found = _chain(draft, last) if draft.is_there(last) else None
    if found is None or not found.is_sound:
        return False
    return _into_maker(draft, found) or _into_reader(draft, found) or _into_fewer(draft, found)


def _chain(draft: Draft, last: OnnxNode) -> _Affine | None:
    """The longest chain of affine steps that ends with a node."""
    step = _step(draft, last)
    if step is None:
        return None
    found = step
    while True:
        maker = draft.maker(found.x)
        before = None if maker is None or draft.only_reader(found.x) is None else _step(draft, maker)
        if before is None:
            return found
        with np.errstate(all="ignore"):
            factor, term = before.factor * found.factor, before.term * found.factor + found.term
        found = _Affine(before.x, factor, term, [*found.nodes, *before.nodes])


def _step(draft: Draft, node: OnnxNode) -> _Affine | None:
    """A node with one input that is not constant, and constants that broadcast to its shape."""
    if node.op_type not in _STEPS or len(node.outputs) != 1:
        return None
    output = node.outputs[0]
    values = [draft.constant(item) for item in node.inputs]
    inner = [item for item, value in zip(node.inputs, values, strict=True) if value is None]
    x = inner[0] if len(inner) == 1 else None
    if output is None or x is None or output.dtype not in (FLOAT, DOUBLE) or x.shape != output.shape:
        return None
    if node.op_type == "BatchNormalization":
        return _normalization(node, x, values) if values[0] is None else None
    is_left = values[0] is None
    constant = cast("Array", values[1] if is_left else values[0]).astype(np.float64)
    one, zero = np.ones(()), np.zeros(())
    with np.errstate(all="ignore"):
        match node.op_type:
            case "Add":
                return _Affine(x, one, constant, [node])
            case "Mul":
                return _Affine(x, constant, zero, [node])
            case "Sub":
                return _Affine(x, one, -constant, [node]) if is_left else _Affine(x, -one, constant, [node])
            case "Div" if is_left:
                return _Affine(x, 1 / constant, zero, [node])
    return None


def _normalization(node: OnnxNode, x: OnnxValue, values: list[Array | None]) -> _Affine:
    shape = (-1, *(1,) * (x.rank - 2))
    scale, bias, mean, variance = (cast("Array", item).astype(np.float64).reshape(shape) for item in values[1:5])
    epsilon = cast("float", node.attributes.get("epsilon", 1e-5))
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + epsilon)
    return _Affine(x, factor, bias - mean * factor, [node])


# --- Into a product --------------------------------------------------------------------------------------------------


def _along(values: Numbers, rank: int, axis: int, size: int) -> Numbers | None:
    """One number per index along an axis; ``None`` if the values vary along other axes."""
    if values.size == 1:
        return np.broadcast_to(values.reshape(()), (size,))
    shape = (1,) * (rank - values.ndim) + values.shape
    if shape != tuple(size if i == axis else 1 for i in range(rank)):
        return None
    return values.reshape(size)


def _into_maker(draft: Draft, found: _Affine) -> bool:
    """Folds into the product whose result is scaled."""
    product = draft.maker(found.x)
    if product is None or product.op_type not in _PRODUCTS or draft.only_reader(found.x) is None:
        return False
    axis = _channels(product, found.x)
    factor, term = (_along(item, found.x.rank, axis, found.x.shape[axis]) for item in (found.factor, found.term))
    parts = _parts(draft, product)
    if factor is None or term is None or parts is None or (product.op_type == "MatMul" and (factor == 1).all()):
        return False
    weights, bias = parts
    scaled = weights * _by_channel(product, weights, factor, of_result=True)
    return _rebuilt(draft, product, product.inputs[0], (scaled, weights), bias * factor + term, found)


def _into_reader(draft: Draft, found: _Affine) -> bool:
    """Folds into the product that reads the scaled value."""
    product = draft.only_reader(found.result)
    if product is None or product.op_type not in _PRODUCTS:
        return False
    reads = [item is not None and item.name == found.result.name for item in product.inputs]
    if not reads[0] or any(reads[1:]) or product.attributes.get("transA"):
        return False
    axis = _channels(product, found.x)
    factor, term = (_along(item, found.x.rank, axis, found.x.shape[axis]) for item in (found.factor, found.term))
    parts = _parts(draft, product)
    if factor is None or term is None or parts is None:
        return False
    weights, bias = parts
    # padding has no term
    if term.any() and (
        product.op_type == "ConvTranspose" or any(cast("tuple[int, ...]", product.attributes.get("pads", ())))
    ):
        return False
    scaled = weights * _by_channel(product, weights, factor, of_result=False)
    if term.any():
        bias = bias + (weights * _by_channel(product, weights, term, of_result=False)).sum(_reduced(product, weights))
    return _rebuilt(draft, product, found.x, (scaled, weights), bias, found)


def _channels(product: OnnxNode, x: OnnxValue) -> int:
    """The channel axis of an input or a result."""
    return x.rank - 1 if product.op_type in _OF_MATRICES else 1


def _parts(draft: Draft, product: OnnxNode) -> tuple[Numbers, Numbers] | None:
    """Weights and bias, including alpha and beta of a Gemm; an absent bias is 0."""
    weights = draft.constant(product.inputs[1])
    addend = product.inputs[2] if len(product.inputs) > 2 else None
    bias = np.zeros(()) if addend is None else draft.constant(addend)
    if weights is None or bias is None or not np.isfinite(weights).all() or not np.isfinite(bias).all():
        return None
    if product.op_type == "MatMul" and weights.ndim != 2:
        return None
    w, b = weights.astype(np.float64), bias.astype(np.float64)
    if product.op_type != "Gemm":
        return w, b
    output = product.outputs[0]
    if b.size > 1 and (output is None or b.size != output.shape[-1] or b.shape[-1] != b.size):
        return None
    alpha, beta = (cast("float", product.attributes.get(name, 1.0)) for name in ("alpha", "beta"))
    return w * alpha, b.reshape(-1) * beta


def _by_channel(product: OnnxNode, weights: Numbers, factor: Numbers, *, of_result: bool) -> Numbers:
    """Reshapes one number per channel of the result, or of the input, to broadcast to the weights."""
    first_is_result = product.op_type == "Conv" or bool(product.attributes.get("transB"))
    if product.op_type == "MatMul":
        return factor if of_result else factor[:, None]
    if first_is_result == of_result:
        return factor.reshape(-1, *(1,) * (weights.ndim - 1))
    if product.op_type in _OF_MATRICES:
        return factor
    groups = cast("int", product.attributes.get("group", 1))
    by_group = np.repeat(factor.reshape(groups, 1, -1), weights.shape[0] // groups, 1)
    return by_group.reshape(*weights.shape[:2], *(1,) * (weights.ndim - 2))


def _reduced(product: OnnxNode, weights: Numbers) -> Any:
    """The axes of the weights over which the product sums."""
    if product.op_type in _OF_MATRICES:
        return 1 if product.attributes.get("transB") else 0
    return tuple(range(1, weights.ndim))


def _rebuilt(
    draft: Draft,
    product: OnnxNode,
    x: OnnxValue | None,
    weights: tuple[Numbers, Numbers],
    bias: Numbers,
    found: _Affine,
) -> bool:
    """Replaces weights and bias of the product, unless they overflow or become subnormal."""
    scaled, old = weights
    output = only_output(product)
    small = (np.abs(scaled) < np.finfo(output.dtype.name).tiny) & (old != 0)
    if small.any() or _overflows(scaled, output.dtype) or _overflows(bias, output.dtype):
        return False
    into_maker = draft.maker(found.x) is product
    result = found.result if into_maker else output
    inputs: list[OnnxValue | None] = [x, draft.store(scaled.astype(output.dtype), f"{result.name}/weights")]
    product_of, after = result, []
    if bias.any() or len(product.inputs) > 2:
        whole = np.broadcast_to(bias, (result.shape[_channels(product, result)],)).astype(output.dtype)
        stored = draft.store(whole, f"{result.name}/bias")
        if product.op_type == "MatMul":  # has no bias input
            product_of = draft.value(f"{result.name}/MatMul", output.dtype, result.shape)
            after = [draft.node("Add", [product_of, stored], [result])]
        else:
            inputs.append(stored)
    attributes = {key: item for key, item in product.attributes.items() if key not in ("alpha", "beta")}
    name = product_of.name if after else product.name  # the Add may take the product's name
    new = replace(product, name=name, inputs=tuple(inputs), outputs=(product_of,), attributes=attributes)
    place = found.nodes[0] if into_maker else product
    draft.replace(place, new, *after, note="its weights and bias include adjacent factors and terms")
    for node in (*found.nodes, product):
        draft.let_go(node, f"is part of the weights and bias of {new.name}")
    return True


def _overflows(values: Numbers, dtype: DType) -> bool:
    """Whether any number is not finite in a type."""
    with np.errstate(over="ignore"):
        return not np.isfinite(values.astype(dtype)).all()


# --- Into fewer nodes ------------------------------------------------------------------------------------------------


def _into_fewer(draft: Draft, found: _Affine) -> bool:
    """Replaces more nodes by one Mul, one Add, or both."""
    result, dtype = found.result, found.result.dtype
    is_scaled, is_moved = bool((found.factor != 1).any()), bool(found.term.any())
    if len(found.nodes) <= is_scaled + is_moved or not is_scaled + is_moved:
        return False
    if (np.abs(found.factor) < np.finfo(dtype.name).tiny).any():
        return False
    if _overflows(found.factor, dtype) or _overflows(found.term, dtype):
        return False
    nodes: list[OnnxNode] = []
    x = found.x
    # numpy returns a scalar for two 0-d arrays, hence asarray
    if is_scaled:
        factor = draft.store(np.asarray(found.factor, dtype), f"{result.name}/factor")
        output = draft.value(f"{result.name}/Mul", dtype, result.shape) if is_moved else result
        nodes.append(draft.node("Mul", [x, factor], [output]))
        x = output
    if is_moved:
        term = draft.store(np.asarray(found.term, dtype), f"{result.name}/term")
        nodes.append(draft.node("Add", [x, term], [result]))
    draft.replace(found.nodes[0], *nodes, note="one factor and one term instead of several")
    for node in found.nodes:
        draft.let_go(node, f"is part of the factor and term of {nodes[-1].name}")
    return True
