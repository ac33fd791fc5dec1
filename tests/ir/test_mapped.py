"""Arrays over mapped files: their bytes in blocks, whatever way they are looked at, and whose pages may go."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from dml2onnx.ir import mapped
from dml2onnx.ir.data import ArrayData, Data, FileData, FillData, PaddedData, stream

Array = npt.NDArray[np.generic]

VIEWS = {
    "all": lambda x: x,
    "transposed": lambda x: x.T,
    "a part": lambda x: x[10:, 3:],
    "steps": lambda x: x[::2, ::-3],
    "three axes": lambda x: x.reshape(12, 25, 400).transpose(2, 0, 1),
    "broadcast": lambda x: np.broadcast_to(x[0], (7, 400)),
    "overlapping": lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 5),
    "one row": lambda x: x[5],
    "nothing": lambda x: x[:0],
    "one element": lambda x: x[1, 1],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "weights.bin"
    np.arange(300 * 400 + 5, dtype=np.float32).tofile(path)
    return path


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [4, 12, 1000, 1 << 20])
def test_blocks_are_the_bytes_of_the_array(path: Path, monkeypatch: pytest.MonkeyPatch, view: str, size: int) -> None:
    for name in ("BLOCK", "WINDOW", "GATHERED"):
        monkeypatch.setattr(mapped, name, size)
    for whole in (
        np.memmap(path, np.float32, "r", 20, (300, 400)),
        np.fromfile(path, np.float32)[5:].reshape(300, 400),
    ):
        array: Array = np.asarray(VIEWS[view](whole))
        if array.nbytes // size > 3000:
            array = array[: max(1, 3000 * size // array[0].nbytes)]
        found = [bytes(block) for block in mapped.blocks(array)]
        assert b"".join(found) == array.tobytes()
        assert all(len(block) <= max(size, array.itemsize) for block in found)


def test_views_know_the_file_that_they_lie_in(path: Path) -> None:
    whole = np.memmap(path, np.float32, "r", 20, (300, 400))
    for view in (whole, whole[2:, 3:], np.asarray(whole), np.lib.stride_tricks.as_strided(whole[1:], (2, 3), (4, 8))):
        assert mapped.mapping(view) is whole
        assert mapped.is_lasting(view)
    assert mapped.file_place(whole[2:, 3:]) == 20 + 4 * (2 * 400 + 3)
    assert mapped.mapping(np.array(whole)) is None
    assert mapped.file_place(np.zeros(3)) is None
    assert not mapped.is_lasting(np.memmap(path, np.float32, "r+"))


def test_what_was_written_into_memory_only_stays(path: Path) -> None:
    """The pages of a copy-on-write mapping are nowhere else."""
    mine = np.memmap(path, np.float32, "c")
    mine[:] = 7
    assert all(bytes(block) == np.full(len(block) // 4, 7, np.float32).tobytes() for block in mapped.blocks(mine))
    mapped.let_go(mine)
    assert (mine == 7).all()
    shared = np.memmap(path, np.float32, "r+")
    shared[:] = 8
    assert b"".join(bytes(block) for block in mapped.blocks(shared)) == np.full(shared.size, 8, np.float32).tobytes()
    assert (shared == 8).all()


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="the system has no word for it")
def test_pages_that_were_passed_on_are_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(mapped, "WINDOW", 1 << 14)
    monkeypatch.setattr(mapped, "let_go", lambda part: given.append(part.nbytes))
    whole = np.memmap(path, np.uint8, "r")
    for _ in mapped.blocks(whole):
        pass
    assert sum(given) == whole.nbytes
    assert max(given) == 1 << 14


def test_maps_hold_no_descriptor_and_go_with_their_arrays(path: Path) -> None:
    def maps() -> int:
        return Path("/proc/self/maps").read_text(encoding="utf-8").count(str(path))

    with path.open("rb") as file:
        free = file.fileno()
    made = [mapped.FileMap.of(path, 8 * index, 4000 + index) for index in range(50)]
    with path.open("rb") as file:
        assert file.fileno() == free or os.name == "nt"
        content = file.read()
    for index, item in enumerate(made):
        assert item.tobytes() == content[8 * index : 8 * index + 4000 + index]
        assert mapped.file_place(item[3:]) == 8 * index + 3
        assert mapped.is_lasting(item.view(np.uint8)[5:])
    part = np.asarray(made[20])[:4].view(np.int32)
    del made, item
    if sys.platform == "linux":
        assert maps() == 1
    assert part.tobytes() == content[160:164]
    del part
    assert sys.platform != "linux" or maps() == 0


@pytest.mark.parametrize(("offset", "count"), [(0, 480_021), (480_020, 1), (1 << 40, 1)])
def test_bytes_that_a_file_has_not(path: Path, offset: int, count: int) -> None:
    with pytest.raises(ValueError, match="fewer bytes"):
        mapped.FileMap.of(path, offset, count)


@pytest.mark.parametrize("count", [0, 1, 100, 480_020])
def test_data_are_streamed_as_they_are_read(path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.ir.data.STREAMED", 4096)
    file = FileData(path, 0, 480_020)
    kinds: list[Data] = [file, PaddedData(file, 480_100), ArrayData(file.read()), FillData(b"\1\2\3\4", 480_020)]
    for data in kinds:
        assert b"".join(bytes(block) for block in stream(data, count)) == data.read(0, count).tobytes()
    assert b"".join(bytes(block) for block in stream(kinds[1])) == kinds[1].read().tobytes()
