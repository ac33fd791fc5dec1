"""ADAM_OPTIMIZER."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Floats, Inputs, Mask, Outputs, Result, reference

_STEPS = 4
"""Roundings in a power, a quotient or a root."""


@reference("ADAM_OPTIMIZER")
def adam_optimizer(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """One step of Adam; the new parameters use the updated moments (decisions Z4 and Z5)."""
    names = ("InputParametersTensor", "InputFirstMomentTensor", "InputSecondMomentTensor", "GradientTensor")
    x, m, v, g = (widen(inputs.tensor(name)) for name in names)
    step = int(inputs.tensor("TrainingStepTensor").item())
    beta1, beta2 = op.float("Beta1"), op.float("Beta2")
    first = _mixed(beta1, m, g)
    second = _mixed(beta2, v, g * g, np.square(g) > LARGEST_FLOAT32)
    rest1, rest2 = 1 - np.float64(beta1) ** step, 1 - np.float64(beta2) ** step
    rate = op.float("LearningRate") * np.sqrt(rest2) / rest1
    # 1 - power loses more digits the closer the power is to 1
    doubt = _STEPS * ROUNDOFF * (1 + 1 / np.abs(rest1) + 1 / np.abs(rest2))
    parameters = _moved(x, first, second, rate, doubt, op.float("Epsilon"))
    if step == 0 or rest1 == 0:  # 0 / 0
        parameters = Result(parameters.values, parameters.error, np.ones(x.shape, np.bool_))
    return {
        "OutputParametersTensor": parameters,
        "OutputFirstMomentTensor": first,
        "OutputSecondMomentTensor": second,
    }


def _mixed(beta: float, old: Floats, new: Floats, overflows: Mask | None = None) -> Result:
    """``old + (1 - beta) * (new - old)``; unspecified where a partial result is beyond FLOAT32 (decision Z5)."""
    magnitude = np.abs(old) + np.abs(1 - beta) * (np.abs(new) + np.abs(old))
    beyond = np.isfinite(magnitude) & (np.abs(new) + np.abs(old) + magnitude > LARGEST_FLOAT32)
    error = sum_error(_STEPS, magnitude, ROUNDOFF) + SMALLEST_FLOAT32
    return Result(old + (1 - beta) * (new - old), error, beyond if overflows is None else beyond | overflows)


def _moved(x: Floats, first: Result, second: Result, rate: float, doubt: float, epsilon: float) -> Result:
    """``x - rate * first / (sqrt(second) + epsilon)`` with its error bound."""
    m, v = widen(first.values), widen(second.values)
    unspecified = first.marks | second.marks

    def change(of_m: Floats, of_v: Floats) -> Floats:
        # an error must not turn v negative
        root = np.sqrt(np.where(v >= 0, np.maximum(of_v, 0), of_v))
        return rate * of_m / (root + epsilon)

    ends = [change(m + i * first.bound, v + j * second.bound) for i in (-1, 1) for j in (-1, 1)]
    y = change(m, v)
    spread: Floats = np.maximum.reduce([np.abs(end - y) for end in ends])
    # the divisor may or may not be 0
    unspecified |= np.isfinite(y) & ~np.isfinite(spread)
    unspecified |= np.isinf(y) & np.isfinite(m) & np.isfinite(v)
    unspecified |= (np.abs(y) > LARGEST_FLOAT32 / 2) & np.isfinite(y)
    error = spread + doubt * (np.abs(y) + spread) + sum_error(2, np.abs(x) + np.abs(y), ROUNDOFF)
    return Result(x - y, np.where(np.isfinite(error), error, 0), unspecified)
