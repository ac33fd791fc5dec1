"""The accuracy that DirectML promises and that FLOAT32 arithmetic can keep, for all families."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType

UNIT_ROUNDOFF = {DataType.FLOAT16: 2.0**-11, DataType.FLOAT32: 2.0**-24, DataType.FLOAT64: 2.0**-53}
"""Half the distance from 1 to the next value: the largest relative error of one rounding to nearest."""
ROUNDOFF = UNIT_ROUNDOFF[DataType.FLOAT32]
"""Unit roundoff of the arithmetic that computes FLOAT32 and FLOAT16 (decision G5)."""
FEW = 4 * ROUNDOFF
"""Relative error of a reciprocal, a root, or another short formula: a few units in the last place (decision G7)."""
ACCURACY = 1e-5
"""Relative error of powers, exponentials, logarithms, other transcendental functions and formulas that use them
(decision G13)."""
INVERSE_ACCURACY = 1e-4
"""Absolute error of ASIN and ACOS (decision G13)."""

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
SMALLEST_FLOAT32 = float(np.finfo(np.float32).smallest_normal)
"""The smallest normal number; anything smaller may be flushed to 0 (decision G8)."""
SMALLEST_FLOAT64 = float(np.finfo(np.float64).smallest_normal)
FLOAT64_ROUNDOFF = float(np.finfo(np.float64).eps)
"""Machine epsilon of the reference's own arithmetic."""


def working_roundoff(data_type: DataType) -> float:
    """Unit roundoff of the arithmetic that evaluates a tensor of this type: FLOAT16 uses FLOAT32 (decision G5)."""
    return UNIT_ROUNDOFF[DataType.FLOAT64 if data_type is DataType.FLOAT64 else DataType.FLOAT32]
