"""DirectML's names for operators, enumerators and arguments of ONNX, PyTorch or numpy."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.catalog.files import OPERATOR_PREFIX as _PREFIX
from dml2onnx.catalog.files import operator_names

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

_KINDS = ("ELEMENT_WISE_LOGICAL_", "ELEMENT_WISE_", "ACTIVATION_")
OPERATORS_ELSEWHERE = MappingProxyType(
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
        "MAXIMUM": "ELEMENT_WISE_MAX",
        "MATMULINTEGER": "MATRIX_MULTIPLY_INTEGER",
        "MAXPOOL": "MAX_POOLING",
        "MAXUNPOOL": "MAX_UNPOOLING",
        "MINIMUM": "ELEMENT_WISE_MIN",
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
"""Operators by their names in ONNX, PyTorch and numpy, without underscores, if DirectML's differ."""
_ENUMERATORS = MappingProxyType(
    {
        "AMAX": "MAX",
        "AMIN": "MIN",
        "AVG": "AVERAGE",
        "BICUBIC": "CUBIC",
        "BILINEAR": "LINEAR",
        "BIDIR": "BIDIRECTIONAL",
        "CONV": "CONVOLUTION",
        "EDGES": "EDGE",
        "FALSE": "NONE",
        "MEAN": "AVERAGE",
        "NEAREST": "NEAREST_NEIGHBOR",
        "NO": "NONE",
        "NORM": "L2",
        "PROD": "MULTIPLY",
        "PRODUCT": "MULTIPLY",
        "REPLICATE": "EDGE",
        "CIRCULAR": "WRAP",
        "REFLECT": "REFLECTION",
        "T": "TRANSPOSE",
        "TRUE": "TRANSPOSE",
        "TRANSPOSED": "TRANSPOSE",
        "ZEROS": "CONSTANT",
    }
)
"""Enumerators by their names elsewhere."""
_ARGUMENTS = MappingProxyType(
    {
        "axis": ("axes",),
        "beta": ("bias",),
        "ceil_mode": ("output_sizes",),
        "dilation": ("dilations",),
        "dim": ("axis", "axes"),
        "dims": ("axes",),
        "dtype": ("data_type", "target_data_type", "output_data_type"),
        "eps": ("epsilon",),
        "factor": ("block_size",),
        "func": ("function",),
        "gamma": ("scale",),
        "group": ("group_count",),
        "groups": ("group_count",),
        "kernel": ("filter",),
        "kernel_shape": ("window_sizes",),
        "kernel_size": ("window_sizes",),
        "max_value": ("max",),
        "min_value": ("min",),
        "mode": ("interpolation_mode", "padding_mode", "function"),
        "pad": ("start_padding", "end_padding"),
        "padding": ("start_padding", "end_padding"),
        "pads": ("start_padding", "end_padding"),
        "pool_size": ("window_sizes",),
        "running_mean": ("mean",),
        "running_var": ("variance",),
        "scale_factor": ("scales",),
        "shape": ("output_sizes", "sizes"),
        "size": ("output_sizes", "window_sizes", "sizes"),
        "stride": ("strides",),
        "trans_a": ("transform_a", "trans_a"),
        "trans_b": ("transform_b", "trans_b"),
        "transa": ("trans_a", "transform_a"),
        "transb": ("trans_b", "transform_b"),
        "transpose_a": ("trans_a", "transform_a"),
        "transpose_b": ("trans_b", "transform_b"),
        "value": ("padding_value",),
        "var": ("variance",),
        "w": ("filter", "weight"),
        "weight": ("filter",),
        "weights": ("filter", "weight"),
        "x": ("input",),
    }
)
"""The possible arguments of methods by their names elsewhere."""
OF_REDUCTION = frozenset({"keepdim", "keepdims", "keep_dims"})
"""Arguments elsewhere that keep reduced dimensions with a size of 1, as DirectML always does."""
_BY_LAYOUT = frozenset({"EXPAND", "FLATTEN", "PERMUTE", "RESHAPE", "SQUEEZE", "T", "TRANSPOSE", "UNSQUEEZE", "VIEW"})
"""Operators elsewhere that only change the descriptor of a buffer."""


def meant_operator(name: str) -> str:
    """Returns the short name of the operator with this name elsewhere, or with this part of its name; else ``""``."""
    word = _word(name)
    return OPERATORS_ELSEWHERE.get(word) or _by_word().get(word, "")


def meant_enumerator(name: str, known: Container[str]) -> str:
    """Returns the enumerator with this name elsewhere, if the enumeration has it; else ``""``."""
    meant = _ENUMERATORS.get(name.upper().replace("-", "_"), "")
    return meant if meant in known else ""


def meant_arguments(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Returns the arguments of a method with this name elsewhere, or the one with the most similar name."""
    from dml2onnx.catalog.likeness import nearest  # needed for misspelled names only

    names = tuple(known)
    return _called(name, {item: item for item in names}) or nearest(name, names, 0.7)


def meant_fields(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Returns the fields of an operator with this name in ONNX or PyTorch; none if the name is right."""
    fields = {_stem(field): field for field in known}
    return () if _stem(name) in fields else _called(name, fields, _stem)


def _called(name: str, known: Mapping[str, str], spelling: Callable[[str], str] = str) -> tuple[str, ...]:
    """Those of ``known`` with this name elsewhere, compared by ``spelling``: the first, or both ends of a padding."""
    typed = _ARGUMENTS.get(name.lower(), ())
    meant = tuple(known[item] for item in map(spelling, typed) if item in known)
    return meant if typed[:1] == ("start_padding",) else meant[:1]


def _stem(name: str) -> str:
    """A field or an argument in a common spelling."""
    return name.replace("_", "").lower().removesuffix("tensor").rstrip("s")


def is_layout(name: str) -> bool:
    """Whether DirectML has no such operator because another descriptor of the same buffer does it."""
    return _word(name) in _BY_LAYOUT


def _word(name: str) -> str:
    return name.upper().removeprefix(_PREFIX).replace("_", "")


@functools.cache
def _by_word() -> Mapping[str, str]:
    """Operators by name without underscores, with and without the prefix of their kind; first versions come first."""
    names = [name.removeprefix(_PREFIX) for name in operator_names()]
    found: dict[str, str] = {_word(name): name for name in names}
    for kind in _KINDS:
        for name in names:
            if name.startswith(kind):
                found.setdefault(_word(name.removeprefix(kind)), name)
    return MappingProxyType(found)
