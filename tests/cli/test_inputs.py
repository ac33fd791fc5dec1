"""Files of inputs: any content gives an array or a finding."""

from __future__ import annotations

import os
import random
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dml2onnx.cli.inputs import contents_files
from dml2onnx.diagnostics import DmlError
from dml2onnx.frontends.array_files import read_array
from tests.refusals import refused

ARRAYS: list[Any] = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
    np.arange(4, dtype=">f8"),
    np.float32(3),
    np.array([True, False]),
]


def saved(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    stream = BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), version)
    return stream.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_arrays_are_read_as_saved(tmp_path: Path, array: np.ndarray, version: tuple[int, int]) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(saved(array, version) + b"what follows")
    got = read_array(file)
    np.testing.assert_array_equal(got, array)
    assert got.dtype == array.dtype.newbyteorder("=")


HEADERS = [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1e3,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 3, }",
    "{'descr': '<f4', 'fortran_order': 2, 'shape': (3,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a',)], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f400000', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f4'}",
    "[1, 2, 3]",
    "'" * 3,
    "(" * 5000,
    "-" * 9000 + "1",
    "{1: 2 3L}",
    "\0",
    "",
]


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.filterwarnings("error")
def test_invalid_headers(tmp_path: Path, header: str) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(12))
    assert refused(read_array, file) == ["DML3007"]


PIECES = (b"", b"(", b")", b"'", b"9", b"-", b"L", b"\0", b",", b"{", b"\n")


@pytest.mark.filterwarnings("error")
def test_damaged_files(tmp_path: Path) -> None:
    """1,500 files with bytes changed, removed or inserted, most of them in the header."""
    chance = random.Random(7)
    file = tmp_path / "x.npy"
    refused = 0
    for _ in range(1500):
        content = bytearray(saved(chance.choice(ARRAYS), chance.choice([(1, 0), (2, 0)])))
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(min(90, len(content)))
            piece = chance.choice([*PIECES, chance.randbytes(1)])
            content[place : place + chance.randint(0, 2)] = piece
        file.unlink(missing_ok=True)  # mapped files must not change
        file.write_bytes(content)
        try:
            read_array(file)
        except DmlError:
            refused += 1
    assert refused > 500


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX systems")
def test_pipes_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(saved(ARRAYS[0])))
    writer.start()
    np.testing.assert_array_equal(read_array(pipe), ARRAYS[0])
    writer.join()


@pytest.mark.parametrize("name", ["missing", ".", "a\0b", "x" * 5000])
def test_paths_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DmlError) as caught:
        read_array(Path(name))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("pairs", [["x"], ["=x.npy"], ["x="], ["x=a", "x=b"], ["y" * 5000]])
def test_invalid_names_of_inputs(pairs: list[str]) -> None:
    with pytest.raises(DmlError) as caught:
        contents_files(pairs)
    assert len(str(caught.value)) < 300
