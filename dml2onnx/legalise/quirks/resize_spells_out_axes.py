"""Resize is known with its axes and a rounding downwards alone (Windows ML's processors, by winml-cli).

All that Microsoft has measured states them, so that ``winml analyze`` calls any other one unknown. A linear mode rounds
nothing, and all axes are what is meant where none are stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.onnx_model.records import Attribute

QUIRK = Quirk(Kind.SPEED)


@QUIRK.rule("Resize")
def resize(
    e: Emitter,
    x: Tensor,
    sizes: tuple[int, ...] | None,
    scales: tuple[float, ...] | None,
    **attributes: Attribute,
) -> Tensor | None:
    """The same, in more words; opset 17 has no axes."""
    if sizes is None:
        return None
    stated: dict[str, Attribute] = {"nearest_mode": "floor"} if attributes.get("mode") == "linear" else {}
    if e.opset >= 18:
        stated["axes"] = tuple(range(x.rank))
    return e.Resize(x, sizes, scales, **{**attributes, **stated})
