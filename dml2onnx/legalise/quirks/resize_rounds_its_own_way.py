"""Resize of mode nearest rounds asymmetric coordinates down and all others to the nearest (QNN).

Whatever ``nearest_mode`` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("rounds_by_coordinates")
def rounds_by_coordinates(e: Emitter) -> bool:
    """Other elements are gathered."""
    return True
