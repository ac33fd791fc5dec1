"""Pad has no mode edge: the graph is not built (WebNN in Chromium)."""

from __future__ import annotations

from dml2onnx.legalise.quirks import edges_padded_with_zeros
from dml2onnx.legalise.rules import Kind, Quirk, Shown

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
        says="edge padding mode is not supported",
    ),
)

pad = QUIRK.rule("Pad")(edges_padded_with_zeros.pad)
"""A Gather for each dimension."""
