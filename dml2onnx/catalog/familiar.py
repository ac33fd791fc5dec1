"""What operators are called elsewhere: the name of DirectML's for one of ONNX or PyTorch, or without its prefix."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.catalog.operators import operator_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "DML_OPERATOR_"
_KINDS = ("ELEMENT_WISE_LOGICAL_", "ELEMENT_WISE_", "ACTIVATION_")
ELSEWHERE = MappingProxyType(
    {
        "AND": "ELEMENT_WISE_LOGICAL_AND",
        "ASTYPE": "CAST",
        "ATTENTION": "MULTIHEAD_ATTENTION",
        "AVGPOOL": "AVERAGE_POOLING",
        "AVERAGEPOOL": "AVERAGE_POOLING",
        "BATCHNORM": "BATCH_NORMALIZATION",
        "BMM": "GEMM",
        "CAT": "JOIN",
        "CONCAT": "JOIN",
        "CONCATENATE": "JOIN",
        "CONV": "CONVOLUTION",
        "CONV2D": "CONVOLUTION",
        "CONVINTEGER": "CONVOLUTION_INTEGER",
        "CONVTRANSPOSE": "CONVOLUTION",
        "CUMSUM": "CUMULATIVE_SUMMATION",
        "DEQUANTIZELINEAR": "ELEMENT_WISE_DEQUANTIZE_LINEAR",
        "DIV": "ELEMENT_WISE_DIVIDE",
        "EQUAL": "ELEMENT_WISE_LOGICAL_EQUALS",
        "FULL": "FILL_VALUE_CONSTANT",
        "GLOBALAVERAGEPOOL": "AVERAGE_POOLING",
        "GLOBALMAXPOOL": "MAX_POOLING",
        "GREATER": "ELEMENT_WISE_LOGICAL_GREATER_THAN",
        "GREATEROREQUAL": "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL",
        "INSTANCENORM": "MEAN_VARIANCE_NORMALIZATION1",
        "INSTANCENORMALIZATION": "MEAN_VARIANCE_NORMALIZATION1",
        "INTERPOLATE": "RESAMPLE",
        "ISINF": "ELEMENT_WISE_IS_INFINITY",
        "LAYERNORM": "MEAN_VARIANCE_NORMALIZATION1",
        "LAYERNORMALIZATION": "MEAN_VARIANCE_NORMALIZATION1",
        "LESS": "ELEMENT_WISE_LOGICAL_LESS_THAN",
        "LESSOREQUAL": "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL",
        "LINEAR": "GEMM",
        "LPPOOL": "LP_POOLING",
        "LRN": "LOCAL_RESPONSE_NORMALIZATION",
        "MATMUL": "GEMM",
        "MATMULINTEGER": "MATRIX_MULTIPLY_INTEGER",
        "MAXPOOL": "MAX_POOLING",
        "MAXUNPOOL": "MAX_UNPOOLING",
        "MOD": "ELEMENT_WISE_MODULUS_FLOOR",
        "MUL": "ELEMENT_WISE_MULTIPLY",
        "NEG": "ELEMENT_WISE_NEGATE",
        "NONZERO": "NONZERO_COORDINATES",
        "NOT": "ELEMENT_WISE_LOGICAL_NOT",
        "OR": "ELEMENT_WISE_LOGICAL_OR",
        "PAD": "PADDING",
        "PRELU": "ACTIVATION_PARAMETERIZED_RELU",
        "QLINEARCONV": "QUANTIZED_LINEAR_CONVOLUTION",
        "QLINEARMATMUL": "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
        "QUANTIZELINEAR": "ELEMENT_WISE_QUANTIZE_LINEAR",
        "RANGE": "FILL_VALUE_SEQUENCE",
        "RECIPROCAL": "ELEMENT_WISE_RECIP",
        "REDUCEMAX": "REDUCE",
        "REDUCEMEAN": "REDUCE",
        "REDUCEMIN": "REDUCE",
        "REDUCESUM": "REDUCE",
        "RESIZE": "RESAMPLE",
        "REVERSESEQUENCE": "REVERSE_SUBSEQUENCES",
        "SELU": "ACTIVATION_SCALED_ELU",
        "SUB": "ELEMENT_WISE_SUBTRACT",
        "SUM": "REDUCE",
        "WHERE": "ELEMENT_WISE_IF",
        "XOR": "ELEMENT_WISE_LOGICAL_XOR",
    }
)
"""Names of ONNX and PyTorch without underscores, for what another name does here."""
_BY_LAYOUT = frozenset({"EXPAND", "FLATTEN", "PERMUTE", "RESHAPE", "SQUEEZE", "T", "TRANSPOSE", "UNSQUEEZE", "VIEW"})
"""What has no operator here, for descriptors do it."""


def meant_operator(name: str) -> str:
    """The short name of the operator that is called so elsewhere, or by so much of its name; ``""`` for others."""
    word = _word(name)
    return ELSEWHERE.get(word) or _by_word().get(word, "")


def is_layout(name: str) -> bool:
    """Whether that is no operator in DirectML, but another descriptor of the same buffer."""
    return _word(name) in _BY_LAYOUT


def _word(name: str) -> str:
    return name.upper().removeprefix(_PREFIX).replace("_", "")


@functools.cache
def _by_word() -> Mapping[str, str]:
    """Operators by their names without underscores, with the prefix of their kind or without; first versions first."""
    names = [name.removeprefix(_PREFIX) for name in operator_names()]
    found: dict[str, str] = {_word(name): name for name in names}
    for kind in _KINDS:
        for name in names:
            if name.startswith(kind):
                found.setdefault(_word(name.removeprefix(kind)), name)
    return MappingProxyType(found)
