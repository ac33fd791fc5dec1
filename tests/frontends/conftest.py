"""Fixtures for front end tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0a" * 32 + b"\nsize 100\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A model directory with valid and invalid data files."""
    model = tmp_path / "model"
    (model / "sub").mkdir(parents=True)
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    (model / "link.bin").symlink_to(tmp_path / "outside.bin")
    (model / "loop").symlink_to(model / "loop")
    (model / "data.bin").write_bytes(bytes(range(16)))
    (model / "more.bin").write_bytes(bytes(range(20)))
    (model / "pointer.bin").write_bytes(LFS_POINTER)
    arrays = {
        "f32": np.arange(4, dtype=np.float32),
        "i32": np.arange(4, dtype=np.int32),
        "empty": np.empty(0, np.float32),
        "columns": np.asfortranarray(np.zeros((2, 2), np.float32)),
        "big": np.arange(4, dtype=">f4"),
        "complex": np.zeros(4, np.complex64),
        "structured": np.zeros(4, np.dtype([("a", "<i4")])),
    }
    for name, array in arrays.items():
        np.save(model / f"{name}.npy", array)
    whole = (model / "f32.npy").read_bytes()
    (model / "cut.npy").write_bytes(whole[:-1])
    (model / "trailing.npy").write_bytes(whole + bytes(4))
    (model / "padding.npy").write_bytes(whole[:100])
    (model / "fake.npy").write_bytes(b"PK" + whole)
    (model / "version.npy").write_bytes(whole[:6] + b"\x04" + whole[7:])
    (model / "header.npy").write_bytes(whole[:10] + b"[" * 118 + whole[128:])
    (model / "shape.npy").write_bytes(whole.replace(b"(4,)", b"(-4,"[:3] + b")"))
    (model / "long.npy").write_bytes(whole[:6] + b"\x02\0" + (1 << 30).to_bytes(4, "little") + whole[10:])
    return model
