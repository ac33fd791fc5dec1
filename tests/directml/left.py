"""Why a row of ``numbers.jsonl.xz`` differs: what class of evidence it has, by what its numbers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.reference import disagreements

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import DataType
    from dml2onnx.model import Array
    from dml2onnx.reference import Result

PROMISED = "DirectML's accuracy, within what is promised (G13)"
OWN = "DirectML's accuracy, below what is promised"
ROUNDING = "rounding to FLOAT16, left to the driver (G5)"
BY_INDEX = "an index out of range, which default models leave open: the runtime refuses it"
UNEXPLAINED = "unexplained"

OWN_ERRORS = {
    "ACTIVATION_SCALED_TANH": 2.0**-23,
    "ELEMENT_WISE_TANH": 2.0**-23,
    "LSTM": 2.0**-23,
}
"""Absolute errors of functions that are larger than what documentation promises: nobody has to be so inexact.

The gates of LSTM have TANH's."""
HALF_ROUNDINGS = 8
"""Roundings to FLOAT16 toward zero, of states and intermediate tensors, behind which a row still has its digits."""


def reason(op: OperatorDesc, data_type: DataType, got: Array, ours: Array, wanted: Result, bad: Array) -> str:
    """The class of what differs in one output; ``wanted`` is the reference's."""
    if (disagreements(ours, wanted, data_type) & bad).any():
        return UNEXPLAINED
    if not (disagreements(got, wanted, data_type) & bad).any():
        return PROMISED
    distance = np.abs(got.astype(np.float64) - ours.astype(np.float64))[bad]
    if got.dtype == np.float16:
        largest = np.abs(got.astype(np.float64)).max(initial=0, where=np.isfinite(got))
        if (distance <= HALF_ROUNDINGS * float(np.finfo(np.float16).eps) * largest).all():
            return ROUNDING
    if (distance <= OWN_ERRORS.get(op.type, 0.0)).all():
        return OWN
    return UNEXPLAINED
