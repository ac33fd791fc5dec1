"""RNN takes the parameters of an activation from its own position in the lists (ONNX Runtime 1.24).

It ends the process where a list is too short. Later ones consume them in order, skipping activations without, as GRU
and LSTM do in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.recurrent import GateActivation
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1] x) => (float[1,2,1,1] y) <float[2,1,1] w = {1, 1}, float[2,1,1] r = {0, 0}> { y = RNN "
        '<hidden_size = 1, direction = "bidirectional", activations = ["Relu", "LeakyRelu"], '
        "activation_alpha = [0.5, 9.0]> (x, w, r) }",
        ((-1,),),
        ((0, -0.5),),
        versions=((1, 24), (1, 25)),
    ),
)


@QUIRK.rule("gates")
def gates(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation] | None:
    """Parameters that are at their positions also where they are consumed in order, if they can be given so."""
    if operator != "RNN" or len(activations) == 1:
        return None
    forward, backward = activations
    if (forward.alpha is None and backward.alpha is not None) or (forward.beta is None and backward.beta is not None):
        e.note("only the backward activation has a parameter, which RNN cannot say")
        return ()
    alpha = backward.alpha if backward.alpha is not None or forward.alpha is None else 0.0
    beta = backward.beta if backward.beta is not None or forward.beta is None else 0.0
    both = [forward, GateActivation(backward.name, alpha, beta)]
    return e.gates(operator, both, dtype, resets_bias=resets_bias)
