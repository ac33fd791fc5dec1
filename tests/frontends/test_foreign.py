"""Files of other tools: the error message identifies each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx.diagnostics import UnreadableError

BYTES = {
    b"PK\x03\x04rest": "a ZIP archive",
    b"\x1f\x8b\x08rest": "compressed by gzip",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\x93NUMPY\x01": "an array of numpy",
    b"\x89PNG\r\n": "a picture",
    b"\xff\xd8\xff\xe0": "a picture",
    b"GIF89a": "a picture",
    b"GGUF\x03": "a model of llama.cpp",
    b"%PDF-1.7": "a PDF document",
    b"DXBC\x00": "a compiled shader",
    b"MZ\x90\x00": "a program or a library of Windows",
    b"\x7fELF\x02": "a program or a library of Linux",
    b"\x1c\x00\x00\x00TFL3" + bytes(64): "a model of TensorFlow Lite",
    b"\xef\xbb\xbf<!DOCTYPE html>": "an HTML page",
    b"<html lang='en'>": "an HTML page",
    b'<?xml version="1.0"?>\n<net name="n">': "XML, a network of OpenVINO",
    b'<?xml version="1.0"?>\n<project>': "XML",
}
ROOTS = {
    "a Jupyter notebook": {"cells": [], "nbformat": 4},
    "the package.json": {"name": "n", "version": "1.0.0"},
    "the configuration of a model of Hugging Face": {"architectures": ["Bert"]},
    "a model of TensorFlow.js": {"modelTopology": {}},
    "an ONNX model as JSON": {"irVersion": "8", "graph": {}},
    "the output of a dml2onnx command": {"command": "check", "diagnostics": []},
    "a SARIF log": {"version": "2.1.0", "runs": []},
}


def refused(path: Path) -> str:
    with pytest.raises(UnreadableError) as caught:
        dml2onnx.load(path)
    (item,) = caught.value.diagnostics
    return item.message


@pytest.mark.parametrize("data", BYTES)
@pytest.mark.parametrize("name", ["model.json", "model.bin"])
def test_bytes(data: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    assert f'" is {BYTES[data]}' in refused(tmp_path / name)


@pytest.mark.parametrize("what", ROOTS)
def test_roots(what: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps(ROOTS[what]), encoding="utf-8")
    assert f'" is {what}' in refused(tmp_path / "model.json")


def test_unknown_roots(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"graphs": []}', encoding="utf-8")
    assert "belong to no known format" in refused(tmp_path / "model.json")
