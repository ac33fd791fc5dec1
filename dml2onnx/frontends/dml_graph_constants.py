"""Reads the bytes of constant nodes of a ``DML_GRAPH_DESC``: an array, base64, or a file."""

from __future__ import annotations

import binascii

import numpy as np

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.frontends.findings import Findings, show
from dml2onnx.frontends.members import Members, wrong_kind
from dml2onnx.frontends.numbers import to_array
from dml2onnx.ir.data import ArrayData, Data
from dml2onnx.ir.tensor import DataType

_EXPECTED = "an array of bytes, base64, or a file"


def read_data(desc: Members, name: str, files: ModelFiles, findings: Findings) -> Data | None:
    """Reads ``Data`` of a constant node; returns ``None``, with a finding, if it is invalid."""
    raw = desc.required("Data", _EXPECTED)
    place = desc.at("Data")
    data: Data | None = None
    match raw:
        case list():
            data = _bytes(raw, place, name, findings)
        case str():
            data = _base64(raw, place, name, findings)
        case dict():
            data = _file(Members(raw, place, findings, name), files, findings)
        case _:
            if "Data" in desc.raw:
                wrong_kind(findings, "Data", _EXPECTED, raw, place, name)
    if data is not None and not data.nbytes:
        findings.report(codes.NO_DATA, "Data has no bytes", place, expected="one byte or more", node=name)
        return None
    return data


def _bytes(raw: list[object], place: str, name: str, findings: Findings) -> Data | None:
    array = to_array(raw, DataType.UINT8, truncate=False)
    if isinstance(array, tuple):
        index, bad = array
        message = f"Data[{index}] {bad.message}"
        findings.report(codes.BAD_VALUE, message, f"{place}/{index}", expected=bad.expected, found=bad.found, node=name)
        return None
    return ArrayData.of(array)


def _base64(raw: str, place: str, name: str, findings: Findings) -> Data | None:
    try:
        return ArrayData(np.frombuffer(binascii.a2b_base64(raw, strict_mode=True), np.uint8))
    except ValueError as error:
        # Python's message for characters beyond ASCII is about Python
        reason = str(error) if raw.isascii() else "Only base64 data is allowed"
        message = f"Data is no base64: {reason[0].lower()}{reason[1:]}"
        findings.report(codes.BAD_VALUE, message, place, expected="base64 of the bytes", found=show(raw), node=name)
        return None


def _file(source: Members, files: ModelFiles, findings: Findings) -> Data | None:
    if "file" in source.raw:
        source.only(("file", "offset", "length"), "a file")
    file = source.text("file", required=True)
    offset, length = source.uint("offset") or 0, source.uint("length")
    if file is None:
        return None
    try:
        return files.raw(file, offset, length)
    except FileError as error:
        place, node = source.at("file"), source.node
        findings.report(error.code, str(error), place, expected=error.expected, found=error.found, node=node)
        return None
