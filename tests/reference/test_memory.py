from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import memory
from tests.ir.strategies import packed

sizes_and_strides = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=4)


def element(buffer: bytes, data_type: DataType, index: int, offset: int):
    """Reads one element."""
    if data_type.bits == 4:
        nibble = buffer[offset + index // 2] >> (4 * (index % 2)) & 15
        return nibble - 16 if data_type.is_signed and nibble >= 8 else nibble
    start = offset + index * data_type.itemsize
    return np.frombuffer(buffer[start : start + data_type.itemsize], data_type.dtype)[0]


@given(sizes_and_strides, st.sampled_from(list(DataType)), st.integers(0, 5), st.randoms(use_true_random=False))
def test_read_follows_the_stride_formula(dims, data_type, offset, random):
    sizes, strides = (tuple(column) for column in zip(*dims, strict=True))
    desc = TensorDesc(data_type, sizes, strides)
    raw = random.randbytes(offset + data_type.bytes_for(desc.extent) + 3)
    array = memory.read(np.frombuffer(raw, np.uint8), desc, offset)
    for index in itertools.product(*map(range, sizes)):
        want = element(raw, data_type, sum(i * s for i, s in zip(index, strides, strict=True)), offset)
        np.testing.assert_array_equal(array[index], want)


@given(packed((2, 3, 2)), st.sampled_from(list(DataType)), st.integers(0, 3), st.integers(0, 5))
def test_write_changes_only_its_elements(strides, data_type, gap, offset):
    sizes = (2, 3, 2)
    desc = TensorDesc(data_type, sizes, tuple(stride * (1 + gap) for stride in strides))
    random = np.random.default_rng(gap)
    before = random.integers(0, 256, offset + desc.minimum_bytes + 4).astype(np.uint8)
    low, high = (0, 7) if data_type.is_float else (max(data_type.limits[0], -8), min(data_type.limits[1], 15))
    array = random.integers(low, high + 1, sizes).astype(data_type.dtype)
    after = before.copy()
    memory.write(after, desc, array, offset)
    np.testing.assert_array_equal(memory.read(after, desc, offset), array)
    places = desc.effective_strides
    written = {sum(i * s for i, s in zip(index, places, strict=True)) for index in np.ndindex(*sizes)}
    for position in set(range(desc.extent)) - written:
        np.testing.assert_array_equal(
            element(after.tobytes(), data_type, position, offset),
            element(before.tobytes(), data_type, position, offset),
        )
    np.testing.assert_array_equal(after[:offset], before[:offset])
    used = offset + data_type.bytes_for(desc.extent)
    np.testing.assert_array_equal(after[used:], before[used:])


@pytest.mark.parametrize("offset", [1, -4])
def test_views_past_the_buffer_are_refused(offset):
    with pytest.raises(ValueError, match="past the end"):
        memory.read(np.zeros(8, np.uint8), TensorDesc(DataType.FLOAT32, (2,)), offset)


def test_marks_cover_every_byte_of_an_element():
    desc = TensorDesc(DataType.FLOAT32, (2,), (2,))
    marks = memory.write_marks(memory.Marks.none(16, np.bool_, 4), desc, np.array([False, True]))
    assert marks.grain == 4
    np.testing.assert_array_equal(np.flatnonzero(marks.finer(1).values), [8, 9, 10, 11])
    np.testing.assert_array_equal(memory.read_marks(marks, TensorDesc(DataType.UINT16, (8,))), np.arange(8) // 2 == 2)
    np.testing.assert_array_equal(memory.read_marks(marks, TensorDesc(DataType.FLOAT32, (3,)), 2), [False, True, True])
    shifted = memory.write_marks(marks, TensorDesc(DataType.UINT8, (1,)), True, 5)
    np.testing.assert_array_equal(np.flatnonzero(shifted.finer(1).values), [5, 8, 9, 10, 11])


@given(
    st.sampled_from([DataType.FLOAT32, DataType.FLOAT16, DataType.UINT8, DataType.FLOAT64]),
    st.sampled_from([DataType.FLOAT32, DataType.FLOAT16, DataType.UINT8, DataType.FLOAT64]),
    packed((2, 3, 2)),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_marks_match_marks_of_single_bytes(written, read, strides, offsets):
    desc, seen = TensorDesc(written, (2, 3, 2), tuple(strides)), TensorDesc(read, (5,), (1,))
    nbytes = offsets[0] + max(desc.minimum_bytes, offsets[1] + seen.minimum_bytes)
    values = np.arange(12.0).reshape(2, 3, 2)
    marks = memory.write_marks(memory.Marks.none(nbytes, np.float64, written.itemsize), desc, values, offsets[0])
    plain = np.zeros(nbytes)
    for index in np.ndindex(2, 3, 2):
        start = offsets[0] + sum(i * s for i, s in zip(index, strides, strict=True)) * written.itemsize
        plain[start : start + written.itemsize] = values[index]
    starts = offsets[1] + np.arange(5) * read.itemsize
    want = [plain[start : start + read.itemsize].max() for start in starts]
    np.testing.assert_array_equal(memory.read_marks(marks, seen, offsets[1]), want)
    assert memory.read_marks(marks.resized(nbytes + 3), seen, offsets[1]).tolist() == want


def test_nibbles_share_the_larger_mark():
    desc = TensorDesc(DataType.UINT4, (4,))
    marks = memory.write_marks(memory.Marks.none(2, np.float64), desc, np.array([3.0, 1, 0, 2]))
    np.testing.assert_array_equal(memory.read_marks(marks, desc), [3, 3, 2, 2])


def test_contiguous_elements_are_not_copied() -> None:
    buffer = np.arange(32, dtype=np.uint8)
    array = memory.read(buffer, TensorDesc(DataType.FLOAT32, (2, 3)), 4)
    assert np.shares_memory(array, buffer)
    assert not array.flags.writeable
    assert not np.shares_memory(memory.read(buffer, TensorDesc(DataType.FLOAT32, (2, 3), (1, 2)), 4), buffer)
    np.testing.assert_array_equal(memory.stored(24, TensorDesc(DataType.FLOAT32, (2, 3)), array), buffer[4:28])
    shifted = memory.stored(32, TensorDesc(DataType.FLOAT32, (2, 3)), array, 8, np.full(10, 7, np.uint8))
    np.testing.assert_array_equal(shifted, [*[7] * 8, *range(4, 28)])
