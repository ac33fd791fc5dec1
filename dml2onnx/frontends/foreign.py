"""Recognizes files of other tools that are passed as a graph, by magic bytes or the members of their root."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType
from typing import NamedTuple


class Foreign(NamedTuple):
    """What a file is (a predicate for messages), and what is expected instead."""

    what: str
    instead: str = "a graph"


TFLITE = b"TFL3"
"""The FlatBuffers file identifier of TensorFlow Lite."""
_PICTURE = Foreign(
    "is a picture", "a graph; a picture is the contents of an input, as an array: numpy.save, then --input NAME=FILE"
)
_BEGINNINGS = (
    (b"PK\x03\x04", Foreign("is a ZIP archive, as .pt and .npz files are")),
    (b"\x1f\x8b", Foreign("is compressed by gzip", "a graph; unpack the file first")),
    (b"\x89HDF\r\n", Foreign("is an HDF5 file, as Keras writes .h5 files")),
    (b"\x93NUMPY", Foreign("is an array of numpy", "a graph; an array is the contents of an input: --input NAME=FILE")),
    (b"\x89PNG", _PICTURE),
    (b"\xff\xd8\xff", _PICTURE),
    (b"GIF8", _PICTURE),
    (b"GGUF", Foreign("is a model of llama.cpp")),
    (b"%PDF", Foreign("is a PDF document")),
    (b"DXBC", Foreign("is a compiled shader", "a graph; a shader is no DirectML operator")),
    (b"MZ", Foreign("is a program or a library of Windows")),
    (b"\x7fELF", Foreign("is a program or a library of Linux")),
)
_PAGE = Foreign(
    "is an HTML page, as browsers save the page about a file in its place",
    "the file itself, which such a page offers as raw or for download",
)
_OPENVINO = Foreign("is XML, a network of OpenVINO", "the DirectML graph; OpenVINO reads what dml2onnx compile writes")
_IN_TEXT = 4096
"""Bytes that are searched for the root of XML."""
_ROOTS = MappingProxyType(
    {
        ("cells", "nbformat"): Foreign("is a Jupyter notebook"),
        ("name", "version"): Foreign("is the package.json of a program in JavaScript"),
        ("architectures",): Foreign("is the configuration of a model of Hugging Face"),
        ("model_type",): Foreign("is the configuration of a model of Hugging Face"),
        ("modelTopology",): Foreign("is a model of TensorFlow.js"),
        ("irVersion",): Foreign("is an ONNX model as JSON"),
        ("ir_version",): Foreign("is an ONNX model as JSON"),
        ("command", "diagnostics"): Foreign("is the output of a dml2onnx command with --json"),
        ("runs", "version"): Foreign("is a SARIF log"),
    }
)
"""Root members that together identify a kind of JSON file."""


def recognize_bytes(data: bytes) -> Foreign | None:
    """Recognizes a file of another tool by its bytes."""
    if data[4:8] == TFLITE:
        return Foreign("is a model of TensorFlow Lite")
    for beginning, found in _BEGINNINGS:
        if data.startswith(beginning):
            return found
    text = data[:_IN_TEXT].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return _PAGE
    if text.startswith(b"<net") or (text.startswith(b"<?xml") and b"<net " in text):
        return _OPENVINO
    return Foreign("is XML") if text.startswith(b"<?xml") else None


def recognize_members(names: Collection[str]) -> Foreign | None:
    """Recognizes a JSON file of another tool by the members of its root."""
    return next((found for members, found in _ROOTS.items() if all(name in names for name in members)), None)
