from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from tests.reference.numbers import marks, result_of


def test_fold_bounds_every_order_of_summation():
    """FLOAT32 sums in forward and backward order are within the error bound."""
    n = 64
    blocks = np.random.default_rng(2).normal(size=(1, n, 2 * n - 1)).astype(np.float32)
    window = {"WindowSizes": (n,), "StartPadding": (n - 1,), "EndPadding": (n - 1,)}
    result = result_of("FOLD", (1, 1, n), InputTensor=blocks, **window)
    for order in (1, -1):
        total = np.zeros(n, np.float32)
        for row in range(n)[::order]:
            for at in range(n):
                total[at] += blocks[0, row, at + n - 1 - row]
        assert (np.abs(total.astype(np.float64) - result.values) <= result.error + np.spacing(np.abs(total))).all()


@pytest.mark.parametrize(
    ("data_type", "number", "left_open"), [("INT8", 100, True), ("UINT16", 40000, True), ("INT32", 2**31 - 1, False)]
)
def test_integer_overflow(data_type, number, left_open):
    """As DirectML was seen to do: narrow integers saturate, which the driver decides; others wrap."""
    dtype = DataType[data_type].dtype
    x = np.full((1, 2, 3), number, dtype)
    found = result_of("FOLD", (1, 1, 4), InputTensor=x, WindowSizes=(2,))
    limit = DataType[data_type].limits[1] if left_open else -2
    assert found.values.ravel().tolist() == [number, limit, limit, number]
    assert marks(found) == [False, left_open, left_open, False]
