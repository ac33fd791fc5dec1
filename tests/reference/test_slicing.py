from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import run_operator
from dml2onnx.testing.descriptors import describe

TYPES = [t for t in DataType if t.bits >= 8]
SHAPES = [(5,), (4, 3), (2, 1, 3, 4), (1, 2, 1, 3, 1, 2, 2, 3)]


def bits(data_type, shape):
    """Random bytes as elements of any kind, NaN with payloads among them."""
    raw = np.random.default_rng(len(shape)).integers(0, 256, (*shape, data_type.dtype.itemsize), np.uint8)
    return raw.view(data_type.dtype)[..., 0]


def slice_(x, offsets, sizes, strides):
    y = np.zeros(sizes, x.dtype)
    op = describe("SLICE", InputTensor=x, OutputTensor=y, Offsets=offsets, Sizes=sizes, Strides=strides)
    return run_operator(op, {"InputTensor": x})["OutputTensor"][0]


def slice1(x, offsets, windows, strides, sizes=None):
    if sizes is None:
        sizes = [1 + (window - 1) // abs(stride) for window, stride in zip(windows, strides, strict=True)]
    op = describe(
        "SLICE1",
        InputTensor=x,
        OutputTensor=np.zeros(sizes, x.dtype),
        InputWindowOffsets=offsets,
        InputWindowSizes=windows,
        InputWindowStrides=strides,
    )
    return run_operator(op, {"InputTensor": x})["OutputTensor"][0]


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_slice(data_type, shape):
    x = bits(data_type, shape)
    offsets = [n // 3 for n in shape]
    strides = [1 + n % 2 for n in shape]
    sizes = [(n - 1 - o) // s + 1 for n, o, s in zip(shape, offsets, strides, strict=True)]
    want = x[tuple(slice(o, None, s) for o, s in zip(offsets, strides, strict=True))]
    got = slice_(x, offsets, sizes, strides)
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()


def test_slice_takes_no_more_than_its_sizes():
    x = np.arange(10)
    np.testing.assert_array_equal(slice_(x, (1,), (2,), (3,)), [1, 4])
    np.testing.assert_array_equal(slice_(x, (9,), (1,), (100,)), [9])


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_slice1_backwards(data_type, shape):
    x = bits(data_type, shape)
    got = slice1(x, [0] * x.ndim, shape, [-1] * x.ndim)
    assert got.tobytes() == np.flip(x).tobytes()


@pytest.mark.parametrize(
    ("offset", "window", "stride", "size", "want"),
    [
        (2, 5, 1, None, [2, 3, 4, 5, 6]),
        (2, 5, 2, None, [2, 4, 6]),
        (2, 6, 4, None, [2, 6]),
        (2, 6, -4, None, [7, 3]),
        (2, 5, -1, None, [6, 5, 4, 3, 2]),
        (2, 6, -2, None, [7, 5, 3]),
        (2, 6, -2, 1, [7]),
        (2, 6, 2, 2, [2, 4]),
        (9, 1, -(2**31), None, [9]),
        (0, 10, 2**31 - 1, None, [0]),
    ],
)
def test_slice1_window(offset, window, stride, size, want):
    got = slice1(np.arange(10), (offset,), (window,), (stride,), None if size is None else (size,))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("lengths", [(6,), (1, 5), (2, 1, 3), (1,) * 6])
def test_split(data_type, axis, lengths):
    shape = [2, 3, 2]
    shape[axis] = 6
    x = bits(data_type, shape)
    moved = np.moveaxis(x, axis, 0)
    outputs = [np.zeros([*shape[:axis], n, *shape[axis + 1 :]], x.dtype) for n in lengths]
    op = describe("SPLIT", InputTensor=x, OutputTensors=outputs, Axis=axis)
    pieces = run_operator(op, {"InputTensor": x})["OutputTensors"]
    assert [piece.shape for piece in pieces] == [y.shape for y in outputs]
    rows = [row for piece in pieces for row in np.moveaxis(piece, axis, 0)]
    assert [row.tobytes() for row in rows] == [row.tobytes() for row in moved]


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_tile(data_type, shape):
    x = bits(data_type, shape)
    repeats = [1 + d % 3 for d in range(x.ndim)]
    y = np.zeros([n * r for n, r in zip(shape, repeats, strict=True)], x.dtype)
    op = describe("TILE", InputTensor=x, OutputTensor=y, Repeats=repeats)
    (got,) = run_operator(op, {"InputTensor": x})["OutputTensor"]
    for index in np.ndindex(got.shape):
        source = tuple(i % n for i, n in zip(index, shape, strict=True))
        assert got[index].tobytes() == x[source].tobytes()


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("length_type", ["UINT32", "UINT64"])
@pytest.mark.parametrize(("shape", "axis"), [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 1, 3, 1, 4, 1, 1, 2), 4)])
def test_reverse_subsequences(data_type, length_type, shape, axis):
    x = bits(data_type, shape)
    n = shape[axis]
    lengths = np.random.default_rng(1).integers(0, n + 2, [*shape[:axis], 1, *shape[axis + 1 :]])
    lengths = lengths.astype(DataType[length_type].dtype)
    op = describe("REVERSE_SUBSEQUENCES", InputTensor=x, SequenceLengthsTensor=lengths, OutputTensor=x, Axis=axis)
    (got,) = run_operator(op, {"InputTensor": x, "SequenceLengthsTensor": lengths})["OutputTensor"]
    for length, before, after in zip(
        np.moveaxis(lengths, axis, -1).reshape(-1),
        np.moveaxis(x, axis, -1).reshape(-1, n),
        np.moveaxis(got, axis, -1).reshape(-1, n),
        strict=True,
    ):
        end = int(length)
        want = [min(end - 1 - k, n - 1) if k < end else k for k in range(n)]
        assert after.tobytes() == before[want].tobytes()


@pytest.mark.parametrize("length", [4, 5, 2**31, 2**63, 2**64 - 1])
def test_a_length_above_the_axis_repeats_the_last_element(length):
    """As DirectML was asked."""
    x, lengths = np.arange(4.0), np.array([length], np.uint64)
    op = describe("REVERSE_SUBSEQUENCES", InputTensor=x, SequenceLengthsTensor=lengths, OutputTensor=x, Axis=0)
    (got,) = run_operator(op, {"InputTensor": x, "SequenceLengthsTensor": lengths})["OutputTensor"]
    np.testing.assert_array_equal(got, {4: [3, 2, 1, 0], 5: [3, 3, 2, 1]}.get(length, [3, 3, 3, 3]))


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize(
    ("offset", "window", "stride", "want"),
    [(0, 6, 1, [1, 2, 3, 0, 0, 0]), (1, 5, 2, [0, 1, 0, 2, 0, 3]), (1, 5, -2, [0, 3, 0, 2, 0, 1])],
)
def test_slice_grad(data_type, offset, window, stride, want):
    g, y = np.array([1, 2, 3], data_type.dtype), np.zeros(6, data_type.dtype)
    op = describe(
        "SLICE_GRAD",
        InputGradientTensor=g,
        OutputGradientTensor=y,
        InputWindowOffsets=(offset,),
        InputWindowSizes=(window,),
        InputWindowStrides=(stride,),
    )
    (got,) = run_operator(op, {"InputGradientTensor": g})["OutputGradientTensor"]
    np.testing.assert_array_equal(got, np.array(want, data_type.dtype))


def test_slice_grad_undoes_slice1_in_several_dimensions():
    fields = {"InputWindowOffsets": (1, 0, 2), "InputWindowSizes": (4, 6, 3), "InputWindowStrides": (2, -3, -1)}
    x = np.arange(5 * 6 * 5).reshape(5, 6, 5)
    taken = slice1(x, *fields.values())
    op = describe("SLICE_GRAD", InputGradientTensor=taken + 1, OutputGradientTensor=x, **fields)
    (got,) = run_operator(op, {"InputGradientTensor": taken + 1})["OutputGradientTensor"]
    np.testing.assert_array_equal(got, np.where(np.isin(x, taken), x + 1, 0))
