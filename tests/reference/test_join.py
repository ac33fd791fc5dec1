from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import run_operator
from dml2onnx.testing.descriptors import describe


def join(arrays, axis):
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    op = describe("JOIN", InputTensors=arrays, OutputTensor=np.zeros(shape, arrays[0].dtype), Axis=axis)
    return run_operator(op, {"InputTensors": arrays})["OutputTensor"][0]


@pytest.mark.parametrize("data_type", [t for t in DataType if t.bits >= 8], ids=lambda t: t.name)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_runs_of_elements_follow_one_another(data_type, axis):
    sizes = [[2, 3, 2] for _ in range(3)]
    for count, size in enumerate(sizes, 1):
        size[axis] = count
    random = np.random.default_rng(0)
    arrays = [random.integers(0, 256, (*s[:2], s[2] * data_type.itemsize)).astype(np.uint8) for s in sizes]
    arrays = [array.view(data_type.dtype) for array in arrays]
    got = join(arrays, axis)
    start = 0
    for array in arrays:
        end = start + array.shape[axis]
        part = got[(slice(None),) * axis + (slice(start, end),)]
        assert part.tobytes() == array.tobytes()
        start = end
    assert start == got.shape[axis]


def test_one_input_and_eight_dimensions():
    x = np.arange(4, dtype=np.int16).reshape(1, 1, 2, 1, 1, 2, 1, 1)
    np.testing.assert_array_equal(join([x], 5), x)
