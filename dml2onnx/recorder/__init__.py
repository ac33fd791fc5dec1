"""The recording DirectML device for C++ programs: one header, which ``scripts/generate_recorder.py`` writes.

It is packaged with one that puts it before ``DMLCreateDevice``, with what ``DirectML.h`` includes for systems that have
none of it, and with an example and a CMake file that builds that.
"""

from __future__ import annotations

from pathlib import Path

HEADER = "dml2onnx_recorder.h"
RECORD = "dml2onnx_record.h"
"""Replaces ``DirectML.h`` in a program whose other lines stay unchanged."""
POSIX = ("d3d12", "oaidl", "ocidl", "rpc", "rpcndr", "unknwn", "winapifamily")
HEADERS = (HEADER, RECORD, *(f"posix/{name}.h" for name in POSIX))
EXAMPLE = ("main.cpp", "CMakeLists.txt")
"""Files that users change, and that are therefore never overwritten."""


def contents(name: str) -> bytes:
    """A packaged file: the header, or one of the example."""
    return (Path(__file__).parent / name).read_bytes()
