"""RNN, GRU and LSTM keep NaN in gates, and multiply weights by states that are not there.

Infinity becomes NaN then. Softplus is infinite from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/rnn/rnn_helpers.cc
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter
    from dml2onnx.emitter.recurrent import GateActivation
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1,2,1] x0, float[1,1,1] x1, float[1,1,1] x2) => (float[1,1,2,1] y) { y = RNN "
        "<hidden_size: int = 1> (x0, x1, x2) }",
        ((1.0e-05, nan), (1,), (1,)),
        ((1.0e-05, -1),),
        digits=0.001,
    ),
)


@QUIRK.rule("gates")
def gates(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation]:
    """Their steps are the body of a Scan."""
    e.note(f"{operator} differs from DirectML's where something is NaN")
    return ()
