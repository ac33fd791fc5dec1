from __future__ import annotations

from math import prod

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results, run_operator
from dml2onnx.testing.descriptors import describe

TYPES = [t for t in DataType if t.bits >= 8]
ORDERS = [None, "DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]


def bits(data_type, shape):
    raw = np.random.default_rng(len(shape)).integers(0, 256, (*shape, data_type.dtype.itemsize), np.uint8)
    return raw.view(data_type.dtype)[..., 0]


def moved(name, x, sizes, block, order):
    fields = {"BlockSize": block} if order is None else {"BlockSize": block, "Order": order}
    op = describe(name, InputTensor=x, OutputTensor=np.zeros(sizes, x.dtype), **fields)
    return run_operator(op, {"InputTensor": x})["OutputTensor"][0]


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("block", [1, 2, 3])
def test_blocks_and_channels(data_type, order, block):
    n, c, h, w = 2, 3, 2, 4
    names = ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE") if order is None else ("SPACE_TO_DEPTH1", "DEPTH_TO_SPACE1")
    to_depth, to_space = names
    space = bits(data_type, (n, c, h * block, w * block))
    depth = moved(to_depth, space, (n, c * block**2, h, w), block, order)
    for b, ch, row, column in np.ndindex(*space.shape):
        y, x = row % block, column % block
        if order == "COLUMN_ROW_DEPTH":
            channel = (ch * block + y) * block + x
        else:
            channel = (y * block + x) * c + ch
        assert depth[b, channel, row // block, column // block].tobytes() == space[b, ch, row, column].tobytes()
    assert moved(to_space, depth, space.shape, block, order).tobytes() == space.tobytes()


# sizes (batch, channels, spatial..), windows, strides, dilations, start and end padding
WINDOWS = [
    ((1, 1, 5), (3,), (1,), (1,), (0,), (0,)),
    ((2, 3, 7), (3,), (2,), (2,), (1,), (2,)),
    ((2, 2, 4, 5), (2, 3), (1, 2), (1, 1), (0, 1), (1, 0)),
    ((1, 2, 6, 5), (2, 2), (3, 1), (3, 2), (2, 0), (0, 2)),
    ((2, 1, 3, 4, 2), (2, 1, 2), (1, 3, 1), (1, 1, 1), (0, 0, 1), (0, 0, 0)),
    ((1, 1, 2, 1, 2, 1, 2, 1), (2, 1, 1, 1, 2, 1), (1,) * 6, (1,) * 6, (0, 0, 0, 1, 0, 0), (0, 1, 0, 0, 0, 0)),
    ((1, 1, 2), (4,), (5,), (1,), (3,), (3,)),
]


def positions(sizes, windows, strides, dilations, start, end):
    return tuple(
        (n + s + e - d * (w - 1) - 1) // stride + 1
        for n, w, stride, d, s, e in zip(sizes[2:], windows, strides, dilations, start, end, strict=True)
    )


def places(sizes, windows, strides, dilations, start, end):
    """Every element of the block tensor, with the coordinate of the image that it stands for or ``None``."""
    blocks = positions(sizes, windows, strides, dilations, start, end)
    for n, c in np.ndindex(*sizes[:2]):
        for row, p in enumerate(np.ndindex(*windows)):
            for column, b in enumerate(np.ndindex(*blocks)):
                fields = zip(b, strides, p, dilations, start, strict=True)
                at = tuple(k * stride + i * dilation - s for k, stride, i, dilation, s in fields)
                inside = all(0 <= k < size for k, size in zip(at, sizes[2:], strict=True))
                yield (n, c * prod(windows) + row, column), (n, c, *at) if inside else None


def described(name, source, target, case, leading=0):
    _, windows, strides, dilations, start, end = case
    source, target = (x.reshape((1,) * leading + x.shape) for x in (source, target))
    op = describe(
        name,
        InputTensor=source,
        OutputTensor=target,
        WindowSizes=windows,
        Strides=strides,
        Dilations=dilations,
        StartPadding=start,
        EndPadding=end,
    )
    (result,) = operator_results(op, {"InputTensor": source})["OutputTensor"]
    return result


def block_sizes(case):
    sizes, windows = case[:2]
    return sizes[0], sizes[1] * prod(windows), prod(positions(*case))


@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_unfold(case):
    x = np.random.default_rng(0).normal(size=case[0]).astype(np.float32)
    want = np.zeros(block_sizes(case), np.float32)
    for block, at in places(*case):
        if at is not None:
            want[block] = x[at]
    result = described("UNFOLD", x, want, case)
    np.testing.assert_array_equal(result.values, want)
    assert result.error is None


@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_fold(case):
    x = np.random.default_rng(1).normal(size=block_sizes(case)).astype(np.float32)
    total, magnitude = np.zeros(case[0]), np.zeros(case[0])
    for block, at in places(*case):
        if at is not None:
            total[at] += x[block]
            magnitude[at] += abs(x[block])
    result = described("FOLD", x, total.astype(np.float32), case)
    np.testing.assert_allclose(result.values, total.astype(np.float32), rtol=1e-7)
    covered = magnitude > 0
    assert (result.values[~covered] == 0).all()
    assert (result.error[~covered] == 0).all()
    assert (result.error <= prod(case[1]) * 2.0**-22 * magnitude).all()


def test_fold_bounds_every_order_of_summation():
    """Sums in FLOAT32, one after another and backwards, stay within the error that is allowed."""
    case = ((1, 1, 64), (64,), (1,), (1,), (63,), (63,))
    x = np.random.default_rng(2).normal(size=block_sizes(case)).astype(np.float32)
    result = described("FOLD", x, np.zeros(case[0], np.float32), case)
    for reverse in (False, True):
        total = np.zeros(case[0], np.float32)
        for block, at in sorted(places(*case), reverse=reverse, key=lambda item: item[0]):
            if at is not None:
                total[at] += x[block]
        assert (np.abs(total.astype(np.float64) - result.values) <= result.error + np.spacing(np.abs(total))).all()


@pytest.mark.parametrize("leading", [1, 3])
def test_leading_ones(leading):
    case = WINDOWS[2]
    x = np.random.default_rng(0).normal(size=case[0]).astype(np.float32)
    blocks = described("UNFOLD", x, np.zeros(block_sizes(case), np.float32), case)
    again = described("UNFOLD", x, np.zeros(block_sizes(case), np.float32), case, leading)
    np.testing.assert_array_equal(again.values, blocks.values.reshape(again.values.shape))
    image = described("FOLD", blocks.values, x, case)
    again = described("FOLD", blocks.values, x, case, leading)
    np.testing.assert_array_equal(again.values, image.values.reshape(again.values.shape))


def test_fold_of_special_numbers():
    case = ((1, 1, 3), (2,), (1,), (1,), (0,), (0,))
    x = np.array([[[np.inf, 1.0], [-np.inf, np.nan]]], np.float32)
    result = described("FOLD", x, np.zeros(case[0], np.float32), case)
    np.testing.assert_array_equal(result.values, [[[np.inf, -np.inf, np.nan]]])


@pytest.mark.parametrize(
    ("data_type", "number", "left_open"), [("INT8", 100, True), ("UINT16", 40000, True), ("INT32", 2**31 - 1, False)]
)
def test_sums_that_leave_their_type(data_type, number, left_open):
    """What DirectML gave: narrow integers are stored by way of 32 bits, which is left to the driver; others wrap."""
    dtype = DataType[data_type].dtype
    x = np.full((1, 2, 3), number, dtype)
    fields = {"WindowSizes": (2,), "Strides": (1,), "Dilations": (1,), "StartPadding": (0,), "EndPadding": (0,)}
    op = describe("FOLD", InputTensor=x, OutputTensor=np.zeros((1, 1, 4), dtype), DimensionCount=1, **fields)
    (found,) = operator_results(op, {"InputTensor": [x]})["OutputTensor"]
    limit = DataType[data_type].limits[1] if left_open else -2
    assert found.values.ravel().tolist() == [number, limit, limit, number]
    marks = np.zeros((1, 1, 4), bool) if found.unspecified is None else found.unspecified
    assert marks.ravel().tolist() == [False, left_open, left_open, False]
