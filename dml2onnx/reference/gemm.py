"""GEMM."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.activation import activated, apply_activation
from dml2onnx.reference.numeric import products_result, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Outputs, reference


@reference("GEMM")
def gemm(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``FusedActivation(Alpha * op(A) x op(B) + Beta * C)`` on the last two dimensions (decisions M1 to M7).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gemm_operator_desc
    """
    a = _matrix(inputs.tensor("ATensor"), op.enum("TransA"))
    b = _matrix(inputs.tensor("BTensor"), op.enum("TransB"))
    c = inputs.optional("CTensor")
    alpha, beta = op.float("Alpha"), op.float("Beta")
    total = alpha * np.matmul(a, b)
    unspecified, more = None, np.zeros(())
    if c is not None and beta == 0:
        # not evaluated, though DirectML may (decision M2)
        unspecified = ~np.isfinite(c)
    elif c is not None:
        total += beta * widen(c)
        more = abs(beta) * np.abs(widen(c))
    if inputs.values_only:
        return {"OutputTensor": activated(op.activation(), total)}
    sums = products_result(a, b, total, lambda a, b: abs(alpha) * np.matmul(a, b), a.shape[-1] + 2, more)
    assert sums.unspecified is not None
    marks = sums.unspecified if unspecified is None else sums.unspecified | unspecified
    return {"OutputTensor": apply_activation(op.activation(), total, sums.error, marks)}


def _matrix(x: Array, transform: str) -> Floats:
    return widen(np.swapaxes(x, -1, -2) if transform == "TRANSPOSE" else x)
