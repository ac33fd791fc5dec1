from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dml2onnx.reference.gathering import places
from tests.reference.numbers import result_of, results_of


def gather_nd(x, indices, sizes):
    counts = {"InputDimensionCount": x.ndim, "IndicesDimensionCount": indices.ndim}
    return result_of("GATHER_ND", sizes, InputTensor=x, IndicesTensor=indices, **counts)


def scatter(x, indices, updates, axis):
    return result_of("SCATTER", InputTensor=x, IndicesTensor=indices, UpdatesTensor=updates, Axis=axis)


def scatter_nd(x, indices, updates, counts):
    fields = {"InputTensor": x, "IndicesTensor": indices, "UpdatesTensor": updates}
    return result_of("SCATTER_ND", **fields, InputDimensionCount=counts[0], IndicesDimensionCount=counts[1])


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


class TestGatherNd:
    def test_only_the_flat_offset_matters(self):
        x = np.arange(12).reshape(3, 4)
        indices = np.array([[1, 2], [3, 0], [0, -5], [-3, -4], [2**40, 5], [1, -5]], np.int64)
        found = gather_nd(x, indices, (1, 6))
        np.testing.assert_array_equal(found.values, [[6, 11, 11, 0, 5, 3]])
        assert found.unspecified is None
        np.testing.assert_array_equal(found.open, [[False, True, True, False, True, True]])

    def test_a_block_past_the_end_reads_the_last_element(self):
        x = np.arange(12).reshape(3, 4)
        found = gather_nd(x, np.array([[2], [3]], np.uint32), (2, 4))
        np.testing.assert_array_equal(found.values, [x[2], [11] * 4])
        np.testing.assert_array_equal(found.open, [[False] * 4, [True] * 4])


class TestScatter:
    def test_the_last_duplicate_update_wins_but_is_unspecified(self):
        x = np.arange(5)
        found = scatter(x, np.array([3, 1, -2], np.int32), np.array([10, 20, 30]), 0)
        np.testing.assert_array_equal(found.values, [0, 20, 2, 30, 4])
        np.testing.assert_array_equal(found.unspecified, [False, False, False, True, False])

    def test_out_of_range_is_dropped(self):
        x = np.arange(12).reshape(3, 4)
        for index, away in product([3, -4, 2**31 - 1, -(2**31)], [0, 3]):
            indices = np.array([[0, 2, -3, 1]], np.int32)
            indices[0, away] = index
            found = scatter(x, indices, np.array([[20, 21, 22, 23]]), 0)
            want = np.array([[20, 1, 22, 3], [4, 5, 6, 23], [8, 21, 10, 11]])
            want[:, away] = x[:, away]
            np.testing.assert_array_equal(found.values, want)
            assert found.unspecified is None
            assert found.open.all()


class TestScatterNd:
    def test_the_last_duplicate_update_wins_but_is_unspecified(self):
        x = np.zeros((3, 2), np.int8)
        updates = np.arange(1, 7, dtype=np.int8).reshape(3, 2)
        found = scatter_nd(x, np.array([[2], [0], [-1]], np.int32), updates, (2, 2))
        np.testing.assert_array_equal(found.values, [[3, 4], [0, 0], [5, 6]])
        np.testing.assert_array_equal(found.unspecified, [[False] * 2, [False] * 2, [True] * 2])

    def test_only_the_flat_offset_matters_and_updates_past_the_end_are_dropped(self):
        x = np.zeros((2, 3, 2), np.int32)
        indices = np.array([[0, 1], [1, 3], [-3, 0], [0, 4]], np.int64).reshape(1, 4, 2)
        found = scatter_nd(x, indices, np.arange(1, 9, dtype=np.int32).reshape(1, 4, 2), (3, 2))
        want = x.copy()
        want[0, 1], want[1, 1] = [1, 2], [7, 8]
        np.testing.assert_array_equal(found.values, want)
        assert found.unspecified is None
        assert found.open.all()


class TestNonzeroCoordinates:
    @staticmethod
    def nonzero(x, sizes):
        count, rows = np.zeros((1,) * len(sizes), np.uint32), np.zeros(sizes, np.uint32)
        found = results_of("NONZERO_COORDINATES", InputTensor=x, OutputCountTensor=count, OutputCoordinatesTensor=rows)
        return found["OutputCountTensor"], found["OutputCoordinatesTensor"]

    @pytest.mark.parametrize("dtype", [np.uint8, np.float16])
    @pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 1, 3, 4), (1, 2, 1, 3, 1, 2, 2, 1)])
    def test_rows(self, dtype, shape):
        x = np.random.default_rng(5).integers(0, 2, shape).astype(dtype)
        where = [index for index in np.ndindex(*shape) if x[index]]
        count, rows = self.nonzero(x, (1, x.size, x.ndim))
        assert count.values.reshape(-1) == len(where)
        assert count.unspecified is None
        assert rows.values[0, : len(where)].tolist() == [list(index) for index in where]
        np.testing.assert_array_equal(rows.unspecified[0].all(-1), np.arange(x.size) >= len(where))
        np.testing.assert_array_equal(rows.unspecified[0].any(-1), np.arange(x.size) >= len(where))

    def test_one_element(self):
        count, rows = self.nonzero(np.ones((1, 1), np.uint8), (1, 1))
        assert (count.values, rows.values) == (1, 0)
        assert rows.unspecified is None
