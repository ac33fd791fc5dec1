"""Finds the line of the user's program that called the builder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import Place, plural, quote

if TYPE_CHECKING:
    from types import FrameType

    from dml2onnx.ir.graph import Value
    from dml2onnx.ir.tensor import TensorDesc

# with the separator, to exclude packages whose names start alike
_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def call_site() -> str:
    """``program.py:12``: the innermost line outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Sites:
    """The call sites of the values of a graph."""

    def __init__(self) -> None:
        self._made: dict[Value, tuple[str, str]] = {}

    def add(self, value: Value, site: str, name: str) -> None:
        """A value with its call site, and its name, if it has one."""
        self._made[value] = site, name

    def place(self, value: Value, desc: TensorDesc | None) -> Place:
        """The call site of a value, with its descriptor or its number of bytes."""
        site, name = self._made.get(value, ("", value.name))
        what = f"has {plural(value.nbytes, 'byte')}" if desc is None else f"is {desc}"
        return Place(site, f"{quote(name) if name else 'a constant'} {what}")
