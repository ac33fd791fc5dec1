"""RNN, GRU and LSTM keep NaN in gates, and multiply weights by states that are not there.

Infinity becomes NaN then. Softplus is infinite from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/rnn/rnn_helpers.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.EDGES)


@QUIRK.rule("has_exact_gates")
def has_exact_gates(e: Emitter) -> bool:
    """Their steps are the body of a Scan."""
    return False
