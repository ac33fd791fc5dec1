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
    """The products that a convolution, a matrix product or a recurrent layer adds up, padding and all steps included.

    ``None`` for all other operators, and where a descriptor could not be read. Attention is not counted.
    """
    if desc.type in _CONVOLUTIONS:
        backward = desc.find("Direction") == "BACKWARD"
        # forward each output sums over a filter, backward each input goes to all places of one
        many, kernel = _sizes(desc, "InputTensor" if backward else "OutputTensor"), _sizes(desc, "FilterTensor")
        return prod(many) * prod(kernel[1:]) if many and kernel else None
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
