"""GEMM: Gemm where the batches share one B, else MatMul."""

from __future__ import annotations

from math import prod

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.lowering.activation import apply_activation
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("GEMM")
def gemm(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C)`` for each batch.

    One Gemm over the rows of all batches if they share B, else MatMul, which broadcasts zero-stride batches and needs
    no Reshape of tensors with more than two dimensions. With Beta 0, C is not evaluated [decision M2].
    """
    op = node.op
    a, b = node.matrices("ATensor"), node.matrices("BTensor")
    beta = op.float("Beta")
    c = node.widened(node.broadcastable("CTensor")) if op.has("CTensor") and beta != 0 else None
    if _suits_matmul(op, b, c):
        return _as_matmul(e, op, a, b, c)
    if prod(b.shape[:-2]) == 1 and (op.enum("TransA") == "NONE" or prod(a.shape[:-2]) == 1):
        flat = None if c is None else _flat(e, c, a.shape[:-2], node.output().sizes[-2])
        if c is None or flat is not None:
            return _as_gemm(e, op, a, b, flat)
    return _as_matmul(e, op, a, b, c)


def _suits_matmul(op: OperatorDesc, b: Tensor, c: Tensor | None) -> bool:
    """Whether it is a plain product, or Gemm would have to flatten two or three operands."""
    is_plain = c is None and op.float("Alpha") == 1 and op.enum("TransA") == "NONE"
    return (is_plain and (op.enum("TransB") == "NONE" or b.value is not None)) or (b.value is None and b.rank > 2)


def _flat(e: Emitter, c: Tensor, batches: tuple[int, ...], m: int) -> Tensor | None:
    """Returns C as a matrix that broadcasts to the rows of all batches, or ``None`` if that is impossible."""
    rows = prod(batches) * m
    is_bias = c.value is not None and prod(c.shape[:-1]) == 1
    if c.shape[:-1] == (*batches, m) and not is_bias:
        return e.Reshape(c, (rows, c.shape[-1]))
    return e.Reshape(c, (c.shape[-1],)) if prod(c.shape[:-1]) == 1 else None


def _as_gemm(e: Emitter, op: OperatorDesc, a: Tensor, b: Tensor, c: Tensor | None) -> Tensor:
    trans_a, trans_b = op.enum("TransA") == "TRANSPOSE", op.enum("TransB") == "TRANSPOSE"
    y = e.Gemm(
        e.Reshape(a, a.shape[-2:] if trans_a else (prod(a.shape[:-1]), a.shape[-1])),
        e.Reshape(b, b.shape[-2:]),
        c,
        alpha=op.float("Alpha"),
        beta=op.float("Beta"),
        trans_a=trans_a,
        trans_b=trans_b,
    )
    return _finished(e, op, y, (*a.shape[:-2], *op.tensor("OutputTensor").sizes[-2:]))


def _as_matmul(e: Emitter, op: OperatorDesc, a: Tensor, b: Tensor, c: Tensor | None) -> Tensor:
    if prod(b.shape[:-2]) > 1:
        e.note("batches with different matrices are a MatMul: Gemm has one matrix for all rows")
    a, b = _transformed(e, a, op.enum("TransA")), _transformed(e, b, op.enum("TransB"))
    if prod(b.shape[:-2]) == 1 and b.value is not None:
        b = e.Reshape(b, b.shape[-2:])
    y = e.MatMul(a, b)
    y = e.Mul(y, e.constant(op.float("Alpha"), y.dtype))
    if c is not None:
        y = e.Add(y, e.Mul(c, e.constant(op.float("Beta"), y.dtype)))
    return _finished(e, op, y, y.shape)


def _transformed(e: Emitter, x: Tensor, transform: str) -> Tensor:
    if transform == "NONE":
        return x
    leading = range(x.rank - 2)
    return e.Transpose(x, (*leading, x.rank - 1, x.rank - 2))


def _finished(e: Emitter, op: OperatorDesc, y: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Applies the activation to the product and broadcasts it; broadcast batches have size 1 in ``shape``."""
    fused, sizes = op.activation(), op.tensor("OutputTensor").sizes
    if fused is not None and not fused.schema.is_element_wise:
        return apply_activation(e, fused, e.Expand(e.Reshape(y, shape), sizes))
    # right after the product, so that the runtime may fuse it
    return e.Expand(e.Reshape(apply_activation(e, fused, y), shape), sizes)
