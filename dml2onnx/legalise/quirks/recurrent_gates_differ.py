"""RNN, GRU and LSTM keep NaN in gates, and multiply weights by states that are not there.

Infinity becomes NaN then. Softplus is infinite from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/rnn/rnn_helpers.cc
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

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


@QUIRK.rule("has_exact_gates")
def has_exact_gates(e: Emitter) -> bool:
    """Their steps are the body of a Scan."""
    return False
