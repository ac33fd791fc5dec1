"""LpPool takes a power of each element of each window by itself."""

from __future__ import annotations

from dml2onnx.legalise.pools import norms
from dml2onnx.legalise.rules import Kind, Quirk

QUIRK = Quirk(Kind.SPEED)
QUIRK.rule("LpPool")(norms)
