"""Resize and a Mul behind it by a factor for each row become one, and are refused (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("merges_resize_with_mul")
def merges_resize_with_mul(e: Emitter) -> bool:
    """What is multiplied is selected by Gather."""
    return True
