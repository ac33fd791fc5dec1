from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import run_operator
from dml2onnx.reference.padding import source_index
from dml2onnx.testing.descriptors import describe

NUMPY_MODES: dict[str, Any] = {"EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric", "WRAP": "wrap"}


def padded(x, start, end, mode, value=0):
    y = np.zeros([s + n + e for s, n, e in zip(start, x.shape, end, strict=True)], x.dtype)
    data_type = next(t for t in DataType if t.bits > 4 and t.dtype == x.dtype)
    op = describe(
        "PADDING1",
        InputTensor=x,
        OutputTensor=y,
        PaddingMode=mode,
        PaddingValueDataType=data_type.name,
        PaddingValue=value,
        StartPadding=start,
        EndPadding=end,
    )
    return run_operator(op, {"InputTensor": x})["OutputTensor"][0]


@pytest.mark.parametrize("data_type", [t for t in DataType if t.bits > 4], ids=lambda t: t.name)
@pytest.mark.parametrize("mode", NUMPY_MODES)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 2, 3, 2), (2, 1, 2, 1, 2, 2, 1, 3)])
def test_agrees_with_numpy(data_type, mode, shape):
    x = np.random.default_rng(0).integers(0, 100, shape).astype(data_type.dtype)
    start, end = [n - 1 for n in shape], [min(n - 1, 2) for n in shape]
    want = np.pad(x, list(zip(start, end, strict=True)), NUMPY_MODES[mode])
    np.testing.assert_array_equal(padded(x, start, end, mode), want)


@pytest.mark.parametrize("data_type", [t for t in DataType if t.bits > 4], ids=lambda t: t.name)
def test_constant_wherever_any_dimension_is_outside(data_type):
    x = np.arange(6).reshape(2, 3).astype(data_type.dtype)
    want = np.pad(x, ((1, 0), (2, 3)), constant_values=7)
    np.testing.assert_array_equal(padded(x, (1, 2), (0, 3), "CONSTANT", 7), want)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_folding_beyond_the_size(n):
    """Walks outward step by step, turning at the borders, instead of any formula with a period."""
    reach = 4 * n + 3
    for mode, turn in (("REFLECTION", 1), ("SYMMETRIC", 0)):
        got = source_index(mode, np.arange(-reach, n + reach), n)
        for direction, border, outside in ((1, n - 1, got[reach + n :]), (-1, 0, got[:reach][::-1])):
            position, step, waiting = border, -direction, turn
            for index in outside:
                if n == 1:
                    assert index == 0
                    continue
                if waiting:
                    position += step
                waiting = 1
                assert index == position
                if position in (0, n - 1) and (position == 0) == (step < 0):
                    step, waiting = -step, turn
    np.testing.assert_array_equal(source_index("WRAP", np.arange(-7, 9), n), [k % n for k in range(-7, 9)])


@pytest.mark.parametrize(
    ("data_type", "value", "want"),
    [
        ("INT8", -1.9, -1),
        ("INT8", 300.0, 44),
        ("UINT8", -3.5, 253),
        ("UINT64", 1e30, 0),
        ("INT64", float("-inf"), -(2**63)),
        ("INT64", 2.0**62, 2**62),
        ("FLOAT16", 1.0 + 2**-11 + 2**-20, 1.0 + 2**-10),
        ("FLOAT16", 1e6, float("inf")),
        ("FLOAT64", 0.1, float(np.float32(0.1))),
    ],
)
def test_float_value_drops_its_fraction_and_wraps(data_type, value, want):
    x = np.zeros((1,), DataType[data_type].dtype)
    op = describe(
        "PADDING",
        InputTensor=x,
        OutputTensor=np.zeros(2, x.dtype),
        PaddingMode="CONSTANT",
        PaddingValue=value,
        StartPadding=(0,),
        EndPadding=(1,),
    )
    (y,) = run_operator(op, {"InputTensor": x})["OutputTensor"]
    assert y[1] == want


def test_value_is_ignored_by_the_other_modes():
    x = np.array([4], np.uint64)
    op = describe(
        "PADDING1",
        InputTensor=x,
        OutputTensor=np.zeros(2, x.dtype),
        PaddingMode="EDGE",
        StartPadding=(0,),
        EndPadding=(1,),
    )
    values = list(op.values)
    values[op.schema.index["PaddingValue"]] = UNREADABLE
    (y,) = run_operator(OperatorDesc(op.schema, tuple(values)), {"InputTensor": x})["OutputTensor"]
    np.testing.assert_array_equal(y, [4, 4])


def test_nan_payloads_move_unchanged():
    x = np.array([0x7FC01234, 0xFF800001], np.uint32).view(np.float32)
    y = padded(x, (1,), (0,), "WRAP")
    np.testing.assert_array_equal(y.view(np.uint32), x.view(np.uint32)[[1, 0, 1]])
