from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results, run_operator
from dml2onnx.reference.gathering import places
from dml2onnx.testing.descriptors import describe

TYPES = [t for t in DataType if t.bits >= 8]
INDEX_TYPES = ["UINT32", "UINT64", "INT32", "INT64"]


def numbered(data_type, shape):
    return (np.arange(int(np.prod(shape))) % 251).reshape(shape).astype(data_type.dtype)


def some_indices(index_type, n, shape, seed=0):
    """Indices in range, negative ones among them where the type has them."""
    data_type = DataType[index_type]
    return np.random.default_rng(seed).integers(-n if data_type.is_signed else 0, n, shape).astype(data_type.dtype)


def gather(x, indices, axis, index_dimensions, sizes):
    op = describe(
        "GATHER",
        InputTensor=x,
        IndicesTensor=indices,
        OutputTensor=np.zeros(sizes, x.dtype),
        Axis=axis,
        IndexDimensions=index_dimensions,
    )
    (result,) = operator_results(op, {"InputTensor": x, "IndicesTensor": indices})["OutputTensor"]
    assert result.unspecified is None
    return result.values


def gather_elements(x, indices, axis):
    y = np.zeros(indices.shape, x.dtype)
    op = describe("GATHER_ELEMENTS", InputTensor=x, IndicesTensor=indices, OutputTensor=y, Axis=axis)
    return run_operator(op, {"InputTensor": x, "IndicesTensor": indices})["OutputTensor"][0]


def gather_nd(x, indices, counts, sizes, batches=None):
    fields = {} if batches is None else {"BatchDimensionCount": batches}
    op = describe(
        "GATHER_ND" if batches is None else "GATHER_ND1",
        InputTensor=x,
        IndicesTensor=indices,
        OutputTensor=np.zeros(sizes, x.dtype),
        InputDimensionCount=counts[0],
        IndicesDimensionCount=counts[1],
        **fields,
    )
    (result,) = operator_results(op, {"InputTensor": x, "IndicesTensor": indices})["OutputTensor"]
    return result


def scatter(x, indices, updates, axis):
    op = describe("SCATTER", InputTensor=x, IndicesTensor=indices, UpdatesTensor=updates, OutputTensor=x, Axis=axis)
    inputs = {"InputTensor": x, "IndicesTensor": indices, "UpdatesTensor": updates}
    (result,) = operator_results(op, inputs)["OutputTensor"]
    return result


def scatter_nd(x, indices, updates, counts):
    op = describe(
        "SCATTER_ND",
        InputTensor=x,
        IndicesTensor=indices,
        UpdatesTensor=updates,
        OutputTensor=x,
        InputDimensionCount=counts[0],
        IndicesDimensionCount=counts[1],
    )
    inputs = {"InputTensor": x, "IndicesTensor": indices, "UpdatesTensor": updates}
    (result,) = operator_results(op, inputs)["OutputTensor"]
    return result


@pytest.mark.parametrize(
    ("dtype", "indices", "want"),
    [
        ("int32", [0, 4, -1, -5, -6, 5, -(2**31), 2**31 - 1], [0, 4, 4, 0, 2**32 - 1, 5, 2**31 + 5, 2**31 - 1]),
        ("int64", [-1, -(2**63), 2**63 - 1, 2**32 + 1, 2**32 - 1], [4, 5, 2**32 - 1, 1, 2**32 - 1]),
        ("uint32", [0, 4, 5, 2**32 - 1], [0, 4, 5, 2**32 - 1]),
        ("uint64", [0, 4, 5, 2**32 + 1, 2**63, 2**64 - 1], [0, 4, 5, 1, 5, 4]),  # as INT64 (decision X25)
    ],
)
def test_places(dtype, indices, want):
    np.testing.assert_array_equal(places(np.array(indices, dtype), 5), want)


class TestGather:
    @pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    @pytest.mark.parametrize("axis", [0, 1, 2])
    def test_axes(self, data_type, index_type, axis):
        x = numbered(data_type, (2, 3, 4))
        indices = some_indices(index_type, x.shape[axis], (1, 1, 5))
        shape = [*x.shape[:axis], 5, *x.shape[axis + 1 :]]
        got = gather(x, indices, axis, 1, shape)
        for index in np.ndindex(*shape):
            source = list(index)
            source[axis] = int(indices[0, 0, index[axis]])
            assert got[index] == x[tuple(source)]

    def test_several_index_dimensions(self):
        x = numbered(DataType.INT32, (1, 1, 3, 4))
        indices = some_indices("INT64", 3, (1, 1, 2, 5))
        got = gather(x, indices, 2, 2, (1, 2, 5, 4))
        np.testing.assert_array_equal(got[0], x[0, 0][indices[0, 0]])
        got = gather(x, indices, 3, 2, (1, 3, 2, 5))
        np.testing.assert_array_equal(got[0], x[0, 0][:, indices[0, 0]])

    def test_all_index_dimensions(self):
        x = numbered(DataType.INT32, (1, 1, 9))
        indices = some_indices("INT32", 9, (2, 3, 4))
        np.testing.assert_array_equal(gather(x, indices, 2, 3, (2, 3, 4)), x[0, 0][indices])

    def test_a_single_index_takes_the_axis_away(self):
        x = numbered(DataType.INT32, (2, 3, 4))
        got = gather(x, np.full((1, 1, 1), 2, np.uint32), 1, 0, (1, 2, 4))
        np.testing.assert_array_equal(got[0], x[:, 2])

    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    def test_out_of_range_reads_the_last_element(self, index_type):
        x = np.arange(10, 16, dtype=np.int16)
        low, high = DataType[index_type].limits
        indices = np.array([6, high // 2, low, high // 2 - 1], DataType[index_type].dtype)
        want = [15, 15, 10 if low == 0 or index_type == "INT64" else 15, 15]
        if index_type == "INT64":  # the lower 32 bits of 2**63 + 6
            want[2] = 15
        np.testing.assert_array_equal(gather(x, indices, 0, 1, (4,)), want)
        np.testing.assert_array_equal(gather_elements(x, indices, 0), want)

    def test_negative_beyond_the_start_reads_the_last_element(self):
        indices = np.array([-5, -6, -100], np.int64)
        np.testing.assert_array_equal(gather(np.arange(5), indices, 0, 1, (3,)), [0, 4, 4])

    def test_the_offset_and_not_the_index_is_clamped(self):
        """As DirectML was asked."""
        x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
        indices = np.array([3, -4, 100], np.int32)
        want = [[13, 14, 15, 16], [24] * 4, [24] * 4], [[24] * 4, [9, 10, 11, 12], [24] * 4]
        np.testing.assert_array_equal(gather(x, indices.reshape(1, 1, 3), 1, 1, (2, 3, 4)), want)
        each = np.broadcast_to(indices.reshape(1, 3, 1), (2, 3, 4))
        np.testing.assert_array_equal(gather_elements(x, each, 1), want)

    def test_of_one_element_gather_elements_reads_it_and_gather_what_follows(self):
        x, indices = np.arange(1, 4, dtype=np.float32).reshape(1, 3), np.array([[1, -3]], np.int32)
        np.testing.assert_array_equal(gather(x, indices, 0, 1, (2, 3)), [[3, 3, 3], [3, 3, 3]])
        each = np.broadcast_to(indices.T, (2, 3))
        np.testing.assert_array_equal(gather_elements(x, each, 0), [[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize(("shape", "axis"), [((6,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 1, 3, 1, 2, 1, 1, 2), 2)])
def test_gather_elements(data_type, index_type, shape, axis):
    x = numbered(data_type, shape)
    indices = some_indices(index_type, shape[axis], [*shape[:axis], 5, *shape[axis + 1 :]])
    got = gather_elements(x, indices, axis)
    for index in np.ndindex(indices.shape):
        source = (*index[:axis], int(indices[index]), *index[axis + 1 :])
        assert got[index] == x[source]


class TestGatherNd:
    @pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    @pytest.mark.parametrize("length", [1, 2, 3])
    def test_tuples(self, data_type, index_type, length):
        x = numbered(data_type, (1, 3, 3, 3))
        indices = some_indices(index_type, 3, (1, 2, 4, length))
        blocks = x.shape[1 + length :]
        sizes = (1,) * (2 - len(blocks)) + (2, 4, *blocks)
        result = gather_nd(x, indices, (3, 3), sizes)
        assert result.unspecified is None
        got = result.values.reshape(2, 4, *blocks)
        for i, j in np.ndindex(2, 4):
            np.testing.assert_array_equal(got[i, j], x[0][tuple(indices[0, i, j].astype(int))])

    @pytest.mark.parametrize("batches", [0, 1, 2])
    @pytest.mark.parametrize("length", [1, 2])
    def test_batches(self, batches, length):
        x = numbered(DataType.INT32, (1, 2, 3, 4, 5)) * 7
        lead = x.shape[1 : 1 + batches]
        sizes = x.shape[1 + batches :]
        parts = [some_indices("INT32", n, (*lead, *(2,) * (3 - batches)), seed) for seed, n in enumerate(sizes)]
        indices = np.stack(parts[:length], -1)[None]
        blocks = sizes[length:]
        result = gather_nd(x, indices, (4, 4), (1,) * (2 - len(blocks)) + (*indices.shape[1:-1], *blocks), batches)
        got = result.values.reshape(*indices.shape[1:-1], *blocks)
        for at in np.ndindex(indices.shape[1:-1]):
            np.testing.assert_array_equal(got[at], x[0][(*at[:batches], *indices[0][at])])

    def test_the_flat_offset_counts(self):
        x = np.arange(12).reshape(3, 4)
        indices = np.array([[1, 2], [3, 0], [0, -5], [-3, -4], [2**40, 5], [1, -5]], np.int64)
        result = gather_nd(x, indices, (2, 2), (1, 6))
        np.testing.assert_array_equal(result.values, [[6, 11, 11, 0, 5, 3]])
        assert result.unspecified is None
        np.testing.assert_array_equal(result.open, [[False, True, True, False, True, True]])

    def test_a_block_behind_the_end_is_the_last_element(self):
        x = np.arange(12).reshape(3, 4)
        result = gather_nd(x, np.array([[2], [3]], np.uint32), (2, 2), (2, 4))
        np.testing.assert_array_equal(result.values, [x[2], [11] * 4])
        np.testing.assert_array_equal(result.open, [[False] * 4, [True] * 4])


class TestScatter:
    @pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    @pytest.mark.parametrize(("shape", "axis"), [((6,), 0), ((5, 4), 0), ((3, 5), 1), ((2, 1, 6, 1, 2, 1, 1, 2), 2)])
    def test_axes(self, data_type, index_type, shape, axis):
        x, n = numbered(data_type, shape), shape[axis]
        line = np.random.default_rng(2).permuted(np.broadcast_to(np.arange(n), (x.size // n, n)), axis=1)[:, :3]
        line = line.reshape(*shape[:axis], *shape[axis + 1 :], 3)
        indices = np.moveaxis(line, -1, axis).astype(DataType[index_type].dtype)
        if DataType[index_type].is_signed:
            indices = np.where(indices % 2 == 0, indices, indices - n).astype(indices.dtype)
        updates = (numbered(data_type, indices.shape) + 100).astype(x.dtype)
        result = scatter(x, indices, updates, axis)
        want = x.copy()
        for index in np.ndindex(indices.shape):
            want[(*index[:axis], int(indices[index]), *index[axis + 1 :])] = updates[index]
        assert result.unspecified is None
        np.testing.assert_array_equal(result.values, want)

    def test_the_last_of_several_updates_stays_and_is_unspecified(self):
        x = np.arange(5)
        result = scatter(x, np.array([3, 1, -2], np.int32), np.array([10, 20, 30]), 0)
        np.testing.assert_array_equal(result.values, [0, 20, 2, 30, 4])
        np.testing.assert_array_equal(result.unspecified, [False, False, False, True, False])

    def test_out_of_range_is_dropped(self):
        x = np.arange(12).reshape(3, 4)
        for index, away in product([3, -4, 2**31 - 1, -(2**31)], [0, 3]):
            indices = np.array([[0, 2, -3, 1]], np.int32)
            indices[0, away] = index
            result = scatter(x, indices, np.array([[20, 21, 22, 23]]), 0)
            want = np.array([[20, 1, 22, 3], [4, 5, 6, 23], [8, 21, 10, 11]])
            want[:, away] = x[:, away]
            np.testing.assert_array_equal(result.values, want)
            assert result.unspecified is None
            assert result.open.all()

    def test_the_flat_offset_counts(self):
        x = np.arange(1, 13).reshape(3, 4)
        result = scatter(x, np.array([[4], [-5], [0]], np.int32), np.array([[-1], [-2], [-3]]), 1)
        np.testing.assert_array_equal(result.values.reshape(-1), [1, 2, 3, -2, -1, 6, 7, 8, -3, 10, 11, 12])

    def test_of_one_element_the_index_does_not_matter(self):
        result = scatter(np.zeros((1, 3)), np.array([[0, 5, -9]], np.int32), np.ones((1, 3)), 0)
        np.testing.assert_array_equal(result.values, [[1, 1, 1]])


class TestScatterNd:
    @pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    @pytest.mark.parametrize("length", [1, 2, 3])
    def test_tuples(self, data_type, index_type, length):
        x = numbered(data_type, (1, 4, 3, 5))
        dtype = DataType[index_type].dtype
        every = np.random.default_rng(3).permutation(list(np.ndindex(x.shape[1 : 1 + length])))[:4]
        if DataType[index_type].is_signed:
            every[::2] -= x.shape[1 : 1 + length]
        indices = every.astype(dtype).reshape(1, 2, 2, length)
        blocks = x.shape[1 + length :]
        updates = (numbered(data_type, (2, 2, *blocks)) + 50).astype(x.dtype)
        given = updates.reshape((1,) * (2 - len(blocks)) + updates.shape)
        result = scatter_nd(x, indices, given, (3, 3))
        want = x.copy()
        for at in np.ndindex(2, 2):
            want[0][tuple(indices[0][at].astype(int))] = updates[at]
        assert result.unspecified is None
        np.testing.assert_array_equal(result.values, want)

    def test_a_single_tuple_of_all_coordinates(self):
        x = np.arange(6).reshape(2, 3)
        result = scatter_nd(x, np.array([[1, 2]], np.uint32), np.array([[9]]), (2, 1))
        np.testing.assert_array_equal(result.values, [[0, 1, 2], [3, 4, 9]])

    def test_the_last_of_several_updates_stays_and_is_unspecified(self):
        x = np.zeros((3, 2), np.int8)
        updates = np.arange(1, 7, dtype=np.int8).reshape(3, 2)
        result = scatter_nd(x, np.array([[2], [0], [-1]], np.int32), updates, (2, 2))
        np.testing.assert_array_equal(result.values, [[3, 4], [0, 0], [5, 6]])
        np.testing.assert_array_equal(result.unspecified, [[False] * 2, [False] * 2, [True] * 2])

    def test_the_flat_offset_counts_and_behind_the_end_is_dropped(self):
        x = np.zeros((2, 3, 2), np.int32)
        indices = np.array([[0, 1], [1, 3], [-3, 0], [0, 4]], np.int64).reshape(1, 4, 2)
        result = scatter_nd(x, indices, np.arange(1, 9, dtype=np.int32).reshape(1, 4, 2), (3, 2))
        want = x.copy()
        want[0, 1], want[1, 1] = [1, 2], [7, 8]
        np.testing.assert_array_equal(result.values, want)
        assert result.unspecified is None
        assert result.open.all()


class TestOneHot:
    @staticmethod
    def one_hot(indices, values, sizes, axis):
        y = np.zeros(sizes, values.dtype)
        op = describe("ONE_HOT", IndicesTensor=indices, ValuesTensor=values, OutputTensor=y, Axis=axis)
        return run_operator(op, {"IndicesTensor": indices, "ValuesTensor": values})["OutputTensor"][0]

    @pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    @pytest.mark.parametrize(("sizes", "axis"), [((4,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 1, 3, 1, 5, 1, 1, 2), 4)])
    def test_axes(self, data_type, index_type, sizes, axis):
        n = sizes[axis]
        indices = some_indices(index_type, n, [*sizes[:axis], 1, *sizes[axis + 1 :]])
        values = np.array([7, 9], data_type.dtype).reshape((2,) + (1,) * (len(sizes) - 1))
        got = self.one_hot(indices, values, sizes, axis)
        for index in np.ndindex(*sizes):
            named = int(indices[(*index[:axis], 0, *index[axis + 1 :])]) % n
            assert got[index] == (9 if named == index[axis] else 7)

    @pytest.mark.parametrize("index_type", INDEX_TYPES)
    def test_out_of_range_stays_off(self, index_type):
        low, high = DataType[index_type].limits
        several = [4, high, high - 1] + ([-5, low] if low else [])
        indices = np.array(several, DataType[index_type].dtype)[:, None]
        got = self.one_hot(indices, np.array([[3.0, 5.0]]), (len(several), 4), 1)
        assert (got == 3).all()

    def test_more_values_are_ignored_and_bits_kept(self):
        values = np.array([0x7FC01234, 0xFF800001, 5], np.uint32).view(np.float32)
        got = self.one_hot(np.array([1], np.uint32), values, (3,), 0)
        np.testing.assert_array_equal(got.view(np.uint32), values.view(np.uint32)[[0, 1, 0]])


class TestNonzeroCoordinates:
    @staticmethod
    def nonzero(x, sizes):
        count, rows = np.zeros((1,) * len(sizes), np.uint32), np.zeros(sizes, np.uint32)
        op = describe("NONZERO_COORDINATES", InputTensor=x, OutputCountTensor=count, OutputCoordinatesTensor=rows)
        results = operator_results(op, {"InputTensor": x})
        return results["OutputCountTensor"][0], results["OutputCoordinatesTensor"][0]

    @pytest.mark.parametrize("data_type", [t for t in TYPES if t.bits < 64], ids=lambda t: t.name)
    @pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 1, 3, 4), (1, 2, 1, 3, 1, 2, 2, 1)])
    def test_rows(self, data_type, shape):
        x = np.random.default_rng(5).integers(0, 2, shape).astype(data_type.dtype)
        where = [index for index in np.ndindex(*shape) if x[index]]
        count, rows = self.nonzero(x, (1, x.size, x.ndim))
        assert count.values.reshape(-1) == len(where)
        assert count.unspecified is None
        assert rows.values[0, : len(where)].tolist() == [list(index) for index in where]
        np.testing.assert_array_equal(rows.unspecified[0].all(-1), np.arange(x.size) >= len(where))
        np.testing.assert_array_equal(rows.unspecified[0].any(-1), np.arange(x.size) >= len(where))

    @pytest.mark.parametrize("width", [2, 3, 4])
    def test_rows_are_as_wide_as_asked_for(self, width):
        x = np.array([[0, 1, 0], [1, 0, 1]]).reshape(1, 1, 2, 3).astype(np.int32)
        _, rows = self.nonzero(x, (6, width))
        np.testing.assert_array_equal(rows.values[:3, :-2], 0)
        np.testing.assert_array_equal(rows.values[:3, -2:], [[0, 1], [1, 0], [1, 2]])

    def test_one_element(self):
        count, rows = self.nonzero(np.ones((1, 1), np.uint8), (1, 1))
        assert (count.values, rows.values) == (1, 0)
        assert rows.unspecified is None

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_what_is_zero(self, dtype):
        tiny = np.finfo(dtype).smallest_subnormal
        x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, tiny, -tiny, 1], dtype)
        count, rows = self.nonzero(x, (8, 1))
        assert count.values == 6
        assert rows.values[:6, 0].tolist() == [2, 3, 4, 5, 6, 7]
