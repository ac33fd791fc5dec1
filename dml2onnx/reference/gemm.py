"""GEMM."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.activation import apply_activation
from dml2onnx.reference.numeric import UNIT_ROUNDOFF, sum_error, widen
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
    magnitude = abs(alpha) * np.matmul(np.abs(a), np.abs(b))
    unspecified = None
    if c is not None and beta == 0:
        # not evaluated, though DirectML may (decision M2)
        unspecified = ~np.isfinite(c)
    elif c is not None:
        total = total + beta * widen(c)
        magnitude = magnitude + abs(beta) * np.abs(widen(c))
    error = sum_error(a.shape[-1] + 2, magnitude, UNIT_ROUNDOFF[DataType.FLOAT32])
    return {"OutputTensor": apply_activation(op.activation(), total, error, unspecified)}


def _matrix(x: Array, transform: str) -> Floats:
    return widen(np.swapaxes(x, -1, -2) if transform == "TRANSPOSE" else x)
