"""GEMM."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32
from dml2onnx.reference.activation import activated, apply_activation
from dml2onnx.reference.numeric import products_result, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, reference


@reference("GEMM")
def gemm(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``FusedActivation(Alpha * op(A) x op(B) + Beta * C)`` on the last two dimensions (decisions M1 to M7)."""
    a = _matrix(inputs.tensor("ATensor"), op.enum("TransA"))
    b = _matrix(inputs.tensor("BTensor"), op.enum("TransB"))
    c = inputs.optional("CTensor")
    alpha, beta = op.float("Alpha"), op.float("Beta")
    total = alpha * np.matmul(a, b)
    unspecified, more = None, np.zeros(())
    if c is not None and beta == 0:
        # the reference skips C; DirectML may multiply it by 0 (decision M2)
        unspecified = ~np.isfinite(c)
    elif c is not None:
        total += beta * widen(c)
        more = abs(beta) * np.abs(widen(c))
    if inputs.values_only:
        return {"OutputTensor": activated(op.activation(), total)}
    sums = products_result(a, b, total, lambda a, b: abs(alpha) * np.matmul(a, b), a.shape[-1] + 2, more)
    sums = sums.marked(unspecified).marked(_overflows_before_alpha(a, b, alpha))
    return {"OutputTensor": apply_activation(op.activation(), total, sums.error, sums.unspecified)}


def _overflows_before_alpha(a: Floats, b: Floats, alpha: float) -> Mask | None:
    """Where the product may overflow unless Alpha is multiplied in first."""
    most = np.abs(a).max(initial=0) * np.abs(b).max(initial=0) * a.shape[-1]
    if not 0 < abs(alpha) < 1 or most <= LARGEST_FLOAT32:
        return None
    marks: Mask = np.matmul(np.abs(a), np.abs(b)) > LARGEST_FLOAT32
    return marks


def _matrix(x: Array, transform: str) -> Floats:
    return widen(np.swapaxes(x, -1, -2) if transform == "TRANSPOSE" else x)
