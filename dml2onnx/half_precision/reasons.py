"""Notes about a FLOAT16 model for ``explain`` and reports."""

from __future__ import annotations

from dataclasses import replace

from dml2onnx.half_precision.rewriting import Halved
from dml2onnx.onnx_model import OnnxGraph, Origin

STAYS = "stays FLOAT32"
"""The prefix of every reason."""


def stays(origin: Origin) -> bool:
    """Whether a DirectML node is computed in FLOAT32 in a FLOAT16 model."""
    return any(note.startswith(STAYS) for note in origin.notes)


def explained(lowered: OnnxGraph, rewritten: Halved) -> OnnxGraph:
    """Adds the reasons of nodes that stay FLOAT32; inserted casts have no DirectML operator."""

    def placed(origin: Origin) -> Origin:
        if origin.node in rewritten.casts:
            return origin._replace(operator="")
        reason = rewritten.reasons.get(origin.node) if origin.operator else None
        return origin if reason is None else origin._replace(notes=(reason, *origin.notes))

    return replace(lowered, origins=tuple(map(placed, lowered.origins)))
