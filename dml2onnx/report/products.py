"""Counts the multiplications and additions of a node, as networks are usually compared."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc

_CONVOLUTIONS = frozenset({"CONVOLUTION", "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION"})
_MATRICES = frozenset(
    {"GEMM", "MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "QUANTIZED_LINEAR_MATRIX_MULTIPLY"}
)
_RECURRENT = frozenset({"RNN", "GRU", "LSTM"})


def multiply_accumulates(desc: OperatorDesc) -> int | None:
    """The multiply-accumulates of a convolution, matrix product or recurrent layer, including padding and all steps.

    ``None`` for other operators, such as attention, and for unreadable descriptors.
    """
    if desc.type in _CONVOLUTIONS:
        backward = desc.find("Direction") == "BACKWARD"
        # forward, each output is a sum over a filter; backward, each input is multiplied by all elements of one
        elements, kernel = _sizes(desc, "InputTensor" if backward else "OutputTensor"), _sizes(desc, "FilterTensor")
        return prod(elements) * prod(kernel[1:]) if elements and kernel else None
    if desc.type in _MATRICES:
        a, result = _sizes(desc, "ATensor"), _sizes(desc, "OutputTensor")
        transposed = desc.find("TransA") == "TRANSPOSE"
        return prod(result) * a[-2 if transposed else -1] if len(a) > 1 and result else None
    if desc.type in _RECURRENT:
        sequence = _sizes(desc, "InputTensor")
        weights = [_sizes(desc, name) for name in ("WeightTensor", "RecurrenceTensor")]
        # each weight is used once for each step of each sequence
        return prod(sequence[:-1]) * sum(map(prod, weights)) if sequence and all(weights) else None
    return None


def _sizes(desc: OperatorDesc, name: str) -> tuple[int, ...]:
    value = desc.get(name)
    return value.sizes if isinstance(value, TensorDesc) else ()
