"""ADAM_OPTIMIZER: element-wise arithmetic, with one learning rate for all elements."""

from __future__ import annotations

from collections.abc import Mapping

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("ADAM_OPTIMIZER")
def adam_optimizer(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``X - rate * M / (sqrt(V) + Epsilon)`` with the new moments M and V [decisions Z4 and Z5].

    ONNX has an Adam only in its training domain.
    """
    op = node.op
    x, m, v, g = (
        node.in_float(name)
        for name in ("InputParametersTensor", "InputFirstMomentTensor", "InputSecondMomentTensor", "GradientTensor")
    )
    first = _mixed(e, op.float("Beta1"), m, g)
    second = _mixed(e, op.float("Beta2"), v, e.Mul(g, g))
    divisor = e.Add(e.Sqrt(second), e.constant(op.float("Epsilon"), x.dtype))
    change = e.Div(e.Mul(first, e.Cast(_rate(node, e), x.dtype)), divisor)
    return {
        "OutputParametersTensor": e.Sub(x, change),
        "OutputFirstMomentTensor": first,
        "OutputSecondMomentTensor": second,
    }


def _mixed(e: Emitter, beta: float, old: Tensor, new: Tensor) -> Tensor:
    """``old + (1 - beta) * (new - old)``, which differs from ``beta * old + (1 - beta) * new`` for infinities."""
    return e.Add(old, e.Mul(e.Sub(new, old), e.constant(1 - beta, new.dtype)))


def _rate(node: Operands, e: Emitter) -> Tensor:
    """``LearningRate * sqrt(1 - Beta2 ** T) / (1 - Beta1 ** T)``, as a vector of one number.

    Computed in DOUBLE if the target has it: for a Beta2 near 1, FLOAT would leave few digits of the difference.
    """
    work = e.precise_type()
    step = e.Cast(e.Reshape(node.tensor("TrainingStepTensor"), (1,)), work)
    one = e.constant(1, work)
    rest1, rest2 = (e.Sub(one, e.Pow(e.constant(node.op.float(beta), work), step)) for beta in ("Beta1", "Beta2"))
    return e.Div(e.Mul(e.Sqrt(rest2), e.constant(node.op.float("LearningRate"), work)), rest1)
