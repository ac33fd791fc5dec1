"""HRESULTs of DirectML and Direct3D 12, with their causes.

https://learn.microsoft.com/windows/win32/direct3ddxgi/dxgi-error
https://learn.microsoft.com/windows/ai/directml/dml-errors
"""

from __future__ import annotations

import re
from typing import NamedTuple


class HResult(NamedTuple):
    """A failure that calls of DirectML return."""

    name: str
    number: int
    """An unsigned number of 32 bits."""
    text: str
    """The message of Windows."""
    explanation: str
    """The calls that return it, and why."""
    steps: tuple[str, ...]
    """What to do, the most likely first."""


_CHECK = "dml2onnx check MODEL names each node, field and rule that DirectML refuses, with the page that states it."
_RECORD = (
    "A C++ program records what it builds with one header (dml2onnx recorder writes it): dml2onnx check RECORDING "
    "then checks each graph. PyDirectML programs: dml2onnx pydirectml PROGRAM."
)
_LEVEL = (
    "dml2onnx check MODEL --windows 11-22H2 (or --directml, --feature-level) says whether the machine's DirectML is "
    "too old for an operator, a data type or a number of dimensions."
)
_DEBUG = (
    "DML_CREATE_DEVICE_FLAG_DEBUG, with Direct3D's debug layer on and the optional feature Graphics Tools installed, "
    "has DirectML write the reason to the debugger's output."
)
_REMOVED = "ID3D12Device::GetDeviceRemovedReason and IDMLDevice::GetDeviceRemovedReason return the reason."

HRESULTS = (
    HResult(
        "E_INVALIDARG",
        0x80070057,
        "The parameter is incorrect.",
        "CreateOperator, CompileOperator or CompileGraph refuses a descriptor without a reason: sizes that do not "
        "match, a data type or a number of dimensions that the operator or the feature level does not have, strides, "
        "a TotalTensorSizeInBytes that is too small, an edge between tensors of different sizes.",
        (_CHECK, _LEVEL, _RECORD, _DEBUG),
    ),
    HResult(
        "DXGI_ERROR_DEVICE_REMOVED",
        0x887A0005,
        "The GPU device instance has been suspended.",
        "The device was lost: by an error in an earlier call, such as the execution of an invalid binding, a shader "
        "that ran too long, no memory, a driver update, or the removal of the card. DirectML also removes its own "
        "device after an error in a method without a return value.",
        (
            _REMOVED,
            _DEBUG,
            _CHECK,
            "Buffers have to be as large as the bindings say, and to live until the GPU is done.",
        ),
    ),
    HResult(
        "DXGI_ERROR_DEVICE_HUNG",
        0x887A0006,
        "The GPU will not respond to more commands, most likely because of an invalid command passed by the calling "
        "application.",
        "A dispatch took longer than the system allows (two seconds by default), or was invalid.",
        (_REMOVED, "Smaller batches, or several command lists, keep each dispatch short.", _CHECK),
    ),
    HResult(
        "DXGI_ERROR_DEVICE_RESET",
        0x887A0007,
        "The GPU will not respond to more commands, most likely because some other application submitted invalid "
        "commands.",
        "The device and its objects have to be created again. Commands of this program or another one caused it.",
        (_REMOVED, _DEBUG),
    ),
    HResult(
        "DXGI_ERROR_UNSUPPORTED",
        0x887A0004,
        "The specified device interface or feature level is not supported on this system.",
        "The adapter or its driver lacks what is requested: Direct3D 12 with feature level 11_0, for FLOAT16 the "
        "support of 16-bit types, for DMLCreateDevice1 a DirectML of the requested minimum feature level.",
        (_LEVEL, "IDMLDevice::CheckFeatureSupport returns the feature levels and data types of the machine."),
    ),
    HResult(
        "DXGI_ERROR_SDK_COMPONENT_MISSING",
        0x887A002D,
        "The operation depends on an SDK component that is missing or mismatched.",
        "The debug layer was requested, and is not installed.",
        ("Install the optional feature Graphics Tools, or leave DML_CREATE_DEVICE_FLAG_DEBUG out.",),
    ),
    HResult(
        "E_OUTOFMEMORY",
        0x8007000E,
        "Not enough memory resources are available to complete this operation.",
        "A buffer, a heap or a descriptor could not be allocated.",
        ("dml2onnx report MODEL shows the bytes of all tensors.", _CHECK, "Smaller batches, or FLOAT16."),
    ),
    HResult(
        "E_FAIL",
        0x80004005,
        "Unspecified error",
        "CompileOperator and CompileGraph return it when the driver refuses a shader.",
        ("A newer driver of the graphics card.", _DEBUG, _CHECK),
    ),
    HResult(
        "E_NOINTERFACE",
        0x80004002,
        "No such interface supported",
        "The loaded DirectML.dll is older than the requested interface, such as IDMLDevice1, which has CompileGraph.",
        ("Ship Microsoft.AI.DirectML beside the program, so that its DLL is found before that of Windows.", _LEVEL),
    ),
    HResult(
        "E_NOTIMPL",
        0x80004001,
        "Not implemented",
        "The driver, or a translation layer such as Wine's for meta commands, lacks a function.",
        ("A newer driver.", "docs/directml-on-linux.md has what Wine needs."),
    ),
    HResult(
        "E_UNEXPECTED",
        0x8000FFFF,
        "Catastrophic failure",
        "DirectML's own state is invalid, often after the device was removed.",
        (_REMOVED, _DEBUG),
    ),
    HResult(
        "E_ACCESSDENIED",
        0x80070005,
        "Access is denied.",
        "A file or a shared handle may not be opened.",
        ("Look for a second process that holds it.",),
    ),
)


def hresult_of(text: str) -> HResult | None:
    """Returns the failure of a number (``80070057``, ``0x80070057``, ``-2147024809``), name, or text of Windows."""
    wanted = text.strip()
    name, number, plain = wanted.upper(), _number(wanted), _plain(wanted)
    for item in HRESULTS:
        if name == item.name or number == item.number or plain == _plain(item.text):
            return item
    return None


def _plain(text: str) -> str:
    """A text in lower case, without full stops and repeated spaces."""
    return re.sub(r"[\s.]+", " ", text).strip().lower()


def _number(text: str) -> int | None:
    if re.fullmatch(r"(0[xX])?[0-9A-Fa-f]{8}[uU]?[lL]?", text):
        return int(re.sub(r"[uUlL]+$", "", text).lower().removeprefix("0x"), 16)
    if re.fullmatch(r"-\d{5,10}", text):
        return int(text) & 0xFFFFFFFF
    return None
