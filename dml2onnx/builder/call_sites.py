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

# with the separator, so that a neighbour whose name starts alike is no part of it
_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def call_site() -> str:
    """``program.py:12``: the innermost line outside of this package, which called into it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Sites:
    """The calls of the user's program that made the values of a graph."""

    def __init__(self) -> None:
        self._made: dict[Value, tuple[str, str]] = {}

    def add(self, value: Value, site: str, name: str) -> None:
        """A value, the call that made it, and its name, if it has been given one."""
        self._made[value] = site, name

    def place(self, value: Value, desc: TensorDesc | None) -> Place:
        """The call that made a value, and what it is, or how long without a descriptor."""
        site, name = self._made.get(value, ("", value.name))
        what = f"has {plural(value.nbytes, 'byte')}" if desc is None else f"is {desc}"
        return Place(site, f"{quote(name) if name else 'a constant'} {what}")
