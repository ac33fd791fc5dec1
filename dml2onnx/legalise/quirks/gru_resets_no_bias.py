"""GRU adds the recurrent bias of the hidden gate behind its reset, whatever linear_before_reset says (WebNN).

ONNX has ``r * (H R + b)`` there; what comes out is ``r * (H R) + b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter
    from dml2onnx.emitter.recurrent import GateActivation
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] h) => (float[1,1,1] y) "
        "<float[1,3,1] w = {0, 0, 0}, float[1,3,1] r = {0, 0, 1}, float[1,6] b = {0, 0, 0, 0, 0, 1}> "
        "{ s, y = GRU <hidden_size = 1, linear_before_reset = 1> (x, w, r, b, , h) }",
        ((1.0,), (1.0,)),
        ((0.8807970881462097,),),
        digits=1e-3,
    ),
)


@QUIRK.rule("gates")
def gates(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation] | None:
    """Steps stand in a row."""
    if not resets_bias:
        return None
    e.note("GRU adds its recurrent bias behind the reset")
    return ()
