"""Random DxDispatch programs over few buffers, compared with an interpreter of bytes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from dml2onnx.diagnostics import DmlError
from dml2onnx.execution import run
from dml2onnx.test_cases.random_programs import RandomBuffer, RandomProgram, RandomView, disagreement, programs


@given(programs())
def test_whole_buffers(program: RandomProgram) -> None:
    with tempfile.TemporaryDirectory() as directory:
        assert disagreement(program, Path(directory)) == ""


def test_bytes_around_the_last_tensor(tmp_path: Path) -> None:
    """The second dispatch writes the first half; the first one's bytes and the initial ones stay."""
    row = RandomView("a", "INT32", 4)
    program = RandomProgram(
        {
            "a": RandomBuffer("INT32", np.arange(4, dtype="<i4").tobytes(), 16),
            "b": RandomBuffer("INT32", b"\7\0\0\0" * 11, 48),
        }
    )
    for offset in (16, 0):
        output = RandomView("b", "INT32", 4, 1, offset)
        program.dispatch("ELEMENT_WISE_IDENTITY", {}, {"InputTensor": row}, output, program.load(row))
    program.show("b", "print")
    assert np.frombuffer(program.shown[0][1], "<i4").tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 7, 7, 7]
    assert disagreement(program, tmp_path) == ""


@pytest.mark.parametrize("nbytes", [2**34, 2**63, 2**64 - 1])
def test_buffers_beyond_32_bits_cannot_be_shown(nbytes: int, tmp_path: Path) -> None:
    row = RandomView("a", "INT32", 4)
    buffers = {name: RandomBuffer("INT32", bytes(16), 16) for name in ("a", "b")}
    program = RandomProgram(buffers)
    program.dispatch("ELEMENT_WISE_IDENTITY", {}, {"InputTensor": row}, RandomView("b", "INT32", 4), program.load(row))
    model = program.model()
    model["resources"]["b"]["sizeInBytes"] = nbytes
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    with pytest.raises(DmlError) as caught:
        run(path)
    assert [item.code for item in caught.value.diagnostics] == ["DML1303"]
    assert '"b"' in caught.value.diagnostics[0].message
