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
    """Of 32 bits, without a sign."""
    text: str
    """What Windows says of it."""
    explanation: str
    """Which calls give it, and why."""
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
_REMOVED = "ID3D12Device::GetDeviceRemovedReason and IDMLDevice::GetDeviceRemovedReason say why the device is gone."

HRESULTS = (
    HResult(
        "E_INVALIDARG",
        0x80070057,
        "The parameter is incorrect.",
        "CreateOperator, CompileOperator or CompileGraph refuses a descriptor and does not say why: sizes that do not "
        "follow from each other, a data type or a number of dimensions that the operator or the feature level does "
        "not have, strides, a TotalTensorSizeInBytes that is too small, an edge between tensors of other sizes.",
        (_CHECK, _LEVEL, _RECORD, _DEBUG),
    ),
    HResult(
        "DXGI_ERROR_DEVICE_REMOVED",
        0x887A0005,
        "The GPU device instance has been suspended.",
        "The device was lost: by an error in an earlier call, such as an invalid binding that was executed, a shader "
        "that ran too long, no memory, a driver that was updated, or a card that was taken out. DirectML also removes "
        "its own device after an error that a method without a result has found.",
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
        "A dispatch took longer than the system allows (two seconds unless it is set otherwise), or was invalid.",
        (_REMOVED, "Smaller batches, or several command lists, keep each dispatch short.", _CHECK),
    ),
    HResult(
        "DXGI_ERROR_DEVICE_RESET",
        0x887A0007,
        "The GPU will not respond to more commands, most likely because some other application submitted invalid "
        "commands.",
        "The device has to be made anew, with all that it owned. Commands of this program or of another one did it.",
        (_REMOVED, _DEBUG),
    ),
    HResult(
        "DXGI_ERROR_UNSUPPORTED",
        0x887A0004,
        "The specified device interface or feature level is not supported on this system.",
        "The adapter or its driver lacks what is asked for: Direct3D 12 with feature level 11_0, for FLOAT16 the "
        "support of 16-bit types, for DMLCreateDevice1 a DirectML of the minimum feature level that was given.",
        (_LEVEL, "IDMLDevice::CheckFeatureSupport tells feature levels and data types of the machine."),
    ),
    HResult(
        "DXGI_ERROR_SDK_COMPONENT_MISSING",
        0x887A002D,
        "The operation depends on an SDK component that is missing or mismatched.",
        "The debug layer was asked for, and is not there.",
        ("Install the optional feature Graphics Tools, or leave DML_CREATE_DEVICE_FLAG_DEBUG out.",),
    ),
    HResult(
        "E_OUTOFMEMORY",
        0x8007000E,
        "Not enough memory resources are available to complete this operation.",
        "A buffer, a heap or a descriptor could not be made.",
        ("dml2onnx report MODEL shows the bytes of all tensors.", _CHECK, "Smaller batches, or FLOAT16."),
    ),
    HResult(
        "E_FAIL",
        0x80004005,
        "Unspecified error",
        "CompileOperator and CompileGraph answer so when the driver does not take a shader.",
        ("A newer driver of the graphics card.", _DEBUG, _CHECK),
    ),
    HResult(
        "E_NOINTERFACE",
        0x80004002,
        "No such interface supported",
        "The DirectML.dll that was loaded is older than the interface that was asked for, such as IDMLDevice1, which "
        "has CompileGraph.",
        ("Ship Microsoft.AI.DirectML beside the program, so that its DLL is found before that of Windows.", _LEVEL),
    ),
    HResult(
        "E_NOTIMPL",
        0x80004001,
        "Not implemented",
        "The driver, or the translation that stands for one, lacks a function, as Wine does for meta commands.",
        ("A newer driver.", "docs/directml-on-linux.md has what Wine needs."),
    ),
    HResult(
        "E_UNEXPECTED",
        0x8000FFFF,
        "Catastrophic failure",
        "DirectML's own state is not what it has to be, often after the device was removed.",
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
    """The failure of that number (``80070057``, ``0x80070057``, ``-2147024809``), name, or text of Windows."""
    wanted = text.strip()
    name, number, plain = wanted.upper(), _number(wanted), _plain(wanted)
    for item in HRESULTS:
        if name == item.name or number == item.number or plain == _plain(item.text):
            return item
    return None


def _plain(text: str) -> str:
    """A text without its case, its full stops, and more than one blank between words."""
    return re.sub(r"[\s.]+", " ", text).strip().lower()


def _number(text: str) -> int | None:
    if re.fullmatch(r"(0[xX])?[0-9A-Fa-f]{8}[uU]?[lL]?", text):
        return int(re.sub(r"[uUlL]+$", "", text).lower().removeprefix("0x"), 16)
    if re.fullmatch(r"-\d{5,10}", text):
        return int(text) & 0xFFFFFFFF
    return None
