"""The recording DirectML device for C++ programs: one header, which ``scripts/generate_recorder.py`` writes.

It is packaged with an example that includes it and a CMake file that builds that.
"""

from __future__ import annotations

from pathlib import Path

HEADER = "dml2onnx_recorder.h"
EXAMPLE = ("main.cpp", "CMakeLists.txt")
"""What is there to be changed, and is therefore never written over."""


def contents(name: str) -> bytes:
    """A packaged file: the header, or one of the example."""
    return (Path(__file__).parent / name).read_bytes()
