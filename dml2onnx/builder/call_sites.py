"""Where in the user's program an operator was asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

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
