"""ReverseSequence leaves the first element of a sequence of length 0 unwritten (ONNX Runtime 1.24).

https://github.com/microsoft/onnxruntime/blob/v1.24.4/onnxruntime/core/providers/cpu/sequence/reverse_sequence.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,2] x) => (float[1,2] y) <int64[1] n = {0}> { y = ReverseSequence <batch_axis = 0, time_axis = 1> "
        "(x, n) }",
        ((3.0, 4.0),),
        ((3.0, 4.0),),
        versions=((1, 24), (1, 25)),
    ),
)


@QUIRK.rule("ReverseSequence")
def reverse_sequence(e: Emitter, x: Tensor, lengths: Tensor, *, time_axis: int) -> Tensor:
    """Lengths 0 and 1 mean the same."""
    return e.ReverseSequence(x, e.Max(lengths, e.constant(1, lengths.dtype)), time_axis=time_axis)
