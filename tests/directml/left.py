"""Classifies rows of ``numbers.jsonl.xz`` that differ from DirectML, by their numbers."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.onnx_model import Array
from dml2onnx.reference import Result, disagreements

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
"""Absolute errors of DirectML that exceed the documented accuracy; others need not match them. LSTM gates use TANH."""
HALF_ROUNDINGS = 8
"""Limit of roundings of states and intermediate tensors to FLOAT16, toward zero, that count as rounding differences."""

SUBNORMAL = "G8: subnormal numbers of FLOAT32, which are 0 there"
OPEN = {
    "ACTIVATION_HARDMAX": "A17: NaN in a slice",
    "ACTIVATION_HARDMAX1": "A17: NaN in a slice",
    "ACTIVATION_LOG_SOFTMAX": "A17: NaN or an infinity in a slice",
    "ACTIVATION_LOG_SOFTMAX1": "A17: NaN or an infinity in a slice",
    "ACTIVATION_SHRINK": "A13: 4294967295, which FLOAT32 rounds up, out of it",
    "BATCH_NORMALIZATION": "G8: a difference that is subnormal, times infinity",
    "CONVOLUTION": "C6: an infinity of the filter where nothing is, which kernels multiply by 0 or leave out",
    "DYNAMIC_QUANTIZE_LINEAR": "Q10: a range that is not finite",
    "ELEMENT_WISE_ABS": "E3: the lowest number of 8 or 16 bits",
    "ELEMENT_WISE_ATAN_YX": "E28: NaN, of which a quadrant is left",
    "ELEMENT_WISE_NEGATE": "E3: the lowest number of 8 or 16 bits",
    "ELEMENT_WISE_POW": "E19: powers beyond the type",
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": "N14: an infinite gradient, times all that it counts for",
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": "Q16: infinite scales, which multiply before or after the sum",
    "MAX_UNPOOLING": "P17: several writers to one element",
    "NONZERO_COORDINATES": "X20: rows that are not written keep what they had",
    "QUANTIZED_LINEAR_AVERAGE_POOLING": "Q15: scales that are not finite, and the conversion of what comes of them",
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": "Q15: scales that are not finite, and the conversion of what comes of them",
    "ROI_POOLING": "O14: corners that are not finite",
    "TOP_K": "R14: NaN among numbers",
    "TOP_K1": "R14: NaN among numbers",
    "UPSAMPLE_2D": "S11: an infinity or NaN at the edge, times a weight of 0",
}
"""The decision that leaves an operator's results open, for rows that differ only in unspecified elements."""


def reason(op: OperatorDesc, data_type: DataType, got: Array, ours: Array, wanted: Result, bad: Array) -> str:
    """The class of the differences in one output; ``wanted`` is the result of the reference."""
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
