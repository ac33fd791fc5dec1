"""Runs of bytes: in memory, in files, repeated."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.ir.data import ArrayData, Data, FileData, FillData, head

CONTENT = np.arange(40, dtype=np.uint8)


def every_kind(directory: Path) -> list[tuple[Data, np.ndarray]]:
    """One of each kind, with the bytes that it stands for."""
    path = directory / "data.bin"
    path.write_bytes(b"before" + CONTENT.tobytes() + b"behind")
    pattern = np.array([7, 8, 9], np.uint8)
    return [
        (ArrayData(CONTENT), CONTENT),
        (FileData(path, 6, 40), CONTENT),
        (FillData(pattern.tobytes(), 40), np.resize(pattern, 40)),
        (FillData(b"\0", 40), np.zeros(40, np.uint8)),
    ]


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, None), (0, 40), (0, 5), (7, None), (7, 11), (39, 1), (39, 9), (0, 99), (40, None), (5, 0)],
)
def test_reading_a_part(tmp_path: Path, offset: int, length: int | None) -> None:
    for data, whole in every_kind(tmp_path):
        assert data.nbytes == 40
        want = whole[offset:] if length is None else whole[offset : offset + length]
        got = data.read(offset, length)
        assert got.dtype == np.uint8
        np.testing.assert_array_equal(got, want)


@settings(max_examples=100, deadline=None)
@given(pattern=st.binary(min_size=1, max_size=9), nbytes=st.integers(0, 60), data=st.data())
def test_fill_repeats_its_pattern(pattern: bytes, nbytes: int, data: st.DataObject) -> None:
    whole = np.resize(np.frombuffer(pattern, np.uint8), nbytes)
    offset = data.draw(st.integers(0, nbytes))
    length = data.draw(st.none() | st.integers(0, 70))
    want = whole[offset:] if length is None else whole[offset : offset + length]
    np.testing.assert_array_equal(FillData(pattern, nbytes).read(offset, length), want)


def test_fill_of_any_size_costs_nothing() -> None:
    tracemalloc.start()
    fill = FillData(np.float32(1.5).tobytes(), 4 * 2**32)
    part = fill.read(4 * 2**32 - 10)
    middle = fill.read(2**33 + 4, 8).view(np.float32)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fill.nbytes == 2**34
    assert len(part) == 10
    assert middle.tolist() == [1.5, 1.5]
    assert peak < 1 << 20


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint64"])
def test_arrays_are_their_bytes(dtype: str) -> None:
    array = np.arange(12).astype(dtype).reshape(3, 4)
    assert ArrayData.of(array).read().tobytes() == array.tobytes()
    assert ArrayData.of(array.T).read().tobytes() == array.T.tobytes()
    assert ArrayData.of(array[:, ::2]).nbytes == 6 * array.itemsize
    assert ArrayData.of(array.dtype.type(3)).read().tobytes() == array.dtype.type(3).tobytes()


def test_arrays_are_not_copied() -> None:
    array = np.zeros(8, np.float32)
    data = ArrayData.of(array)
    assert np.shares_memory(data.read(4, 8), array)


def test_files_are_mapped_and_not_writable(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    with path.open("wb") as file:
        file.truncate(1 << 26)
        file.seek((1 << 26) - 4)
        file.write(b"last")
    data = FileData(path, 0, 1 << 26)
    whole = data.read()
    assert isinstance(whole, np.memmap)
    assert whole.size == 1 << 26
    assert whole[-4:].tobytes() == b"last"
    assert data.read((1 << 26) - 2).tobytes() == b"st"
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 1


def test_heads() -> None:
    whole = ArrayData(np.arange(8, dtype=np.uint8))
    assert head(whole, 8) is whole
    first = head(whole, 3)
    assert (first.nbytes, first.read().tolist(), first.read(1).tolist()) == (3, [0, 1, 2], [1, 2])
    assert (first.read(1, 9).tolist(), first.read(5).tolist()) == ([1, 2], [])
