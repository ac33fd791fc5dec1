"""How exactly DirectML computes: what it promises, and what FLOAT32 arithmetic can keep. One table for all families."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType

UNIT_ROUNDOFF = {DataType.FLOAT16: 2.0**-11, DataType.FLOAT32: 2.0**-24, DataType.FLOAT64: 2.0**-53}
"""Half the distance from 1 to the next value: the largest relative error of one rounding to nearest."""
ROUNDOFF = UNIT_ROUNDOFF[DataType.FLOAT32]
"""Of the arithmetic in which FLOAT32 and FLOAT16 are computed (decision G5)."""
FEW = 4 * ROUNDOFF
"""Relative error of a reciprocal, a root, or another short formula: a few units in the last place (decision G7)."""
ACCURACY = 1e-5
"""What is promised of powers, exponentials, logarithms and other transcendental functions, relative to the result, and
of formulas with them (decision G13)."""
INVERSE_ACCURACY = 1e-4
"""What is promised of ASIN and ACOS, as an absolute error (decision G13)."""

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
SMALLEST_FLOAT32 = float(np.finfo(np.float32).smallest_normal)
"""The smallest normal number, below which 0 may stand for what there is (decision G8)."""
SMALLEST_FLOAT64 = float(np.finfo(np.float64).smallest_normal)
FLOAT64_ROUNDOFF = float(np.finfo(np.float64).eps)
"""Of the reference itself."""


def working_roundoff(data_type: DataType) -> float:
    """Unit roundoff of the arithmetic that a tensor's type is evaluated in: FLOAT16 works in FLOAT32 (decision G5)."""
    return UNIT_ROUNDOFF[DataType.FLOAT64 if data_type is DataType.FLOAT64 else DataType.FLOAT32]
