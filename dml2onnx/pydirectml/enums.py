"""The enumerations of PyDirectML, which behave like those of pybind11.

They have ``name``, ``value``, ``int()`` and ``__members__``. Any number converts to a member, without a name if it has
none, which combines flags: ``ExecutionFlags(1 | 2)``. Members do not equal those of other enumerations, nor numbers,
unless the enumeration is arithmetic.
https://pybind11.readthedocs.io/en/stable/classes.html#enumerations-and-internal-types
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any, SupportsIndex, TypeVar

T = TypeVar("T")

_NAMELESS = "???"


class PybindEnum(enum.Enum):
    """The base of all enumerations."""

    __hash__ = enum.Enum.__hash__

    @classmethod
    def _missing_(cls, value: object) -> PybindEnum:
        if not isinstance(value, SupportsIndex):
            raise TypeError(f"{cls.__name__}(): incompatible constructor arguments, an int is wanted, not {value!r}")
        number = operator.index(value)
        if number in cls._value2member_map_:
            return cls(number)
        member = object.__new__(cls)
        member._name_ = _NAMELESS
        member._value_ = number
        return member

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and int(other) == int(self)

    def __reduce_ex__(self, protocol: object) -> tuple[type[PybindEnum], tuple[int]]:
        return type(self), (int(self),)


def _on_numbers(function: Callable[[int, int], T]) -> Callable[[PybindEnum, Any], T]:
    """Applies an operator to the numbers of a member and its right operand."""
    return lambda member, other: function(int(member), int(other))


class ArithmeticEnum(PybindEnum):
    """An enumeration that compares with numbers, and whose bit operators return numbers."""

    __hash__ = PybindEnum.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (type(self), int)) and int(other) == int(self)

    __lt__, __le__ = _on_numbers(operator.lt), _on_numbers(operator.le)
    __gt__, __ge__ = _on_numbers(operator.gt), _on_numbers(operator.ge)
    __and__, __or__, __xor__ = _on_numbers(operator.and_), _on_numbers(operator.or_), _on_numbers(operator.xor)
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> int:
        return ~int(self)


class TensorDataType(PybindEnum):
    """``DML_TENSOR_DATA_TYPE``."""

    UNKNOWN = 0
    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11


class TensorFlags(PybindEnum):
    """``DML_TENSOR_FLAGS``."""

    NONE = 0
    OWNED_BY_DML = 1


class MatrixTransform(PybindEnum):
    """``DML_MATRIX_TRANSFORM``."""

    NONE = 0
    TRANSPOSE = 1


class RecurrentNetworkDirection(PybindEnum):
    """``DML_RECURRENT_NETWORK_DIRECTION``."""

    FORWARD = 0
    BACKWARD = 1
    BIDIRECTIONAL = 2


class OutputOptions(ArithmeticEnum):
    """The outputs of a recurrent network; the only enumeration that is not copied into the module."""

    Both = 0
    Sequence = 1
    Single = 2


class ConvolutionMode(PybindEnum):
    """``DML_CONVOLUTION_MODE``."""

    CONVOLUTION = 0
    CROSS_CORRELATION = 1


class ConvolutionDirection(PybindEnum):
    """``DML_CONVOLUTION_DIRECTION``."""

    FORWARD = 0
    BACKWARD = 1


class InterpolationMode(PybindEnum):
    """``DML_INTERPOLATION_MODE``."""

    NEAREST_NEIGHBOR = 0
    LINEAR = 1


class PaddingMode(PybindEnum):
    """``DML_PADDING_MODE``, without SYMMETRIC."""

    CONSTANT = 0
    EDGE = 1
    REFLECTION = 2


class ExecutionFlags(ArithmeticEnum):
    """``DML_EXECUTION_FLAGS``: hints that do not change the results."""

    NONE = 0
    ALLOW_HALF_PRECISION_COMPUTATION = 1
    DISABLE_META_COMMANDS = 2
    DESCRIPTORS_VOLATILE = 4


class OperatorType(PybindEnum):
    """The part of ``DML_OPERATOR_TYPE`` in PyDirectML; the first argument of ``FusedActivation``."""

    INVALID = 0
    ELEMENT_WISE_IDENTITY = 1
    ELEMENT_WISE_ABS = 2
    ELEMENT_WISE_ACOS = 3
    ELEMENT_WISE_ADD = 4
    ELEMENT_WISE_ASIN = 5
    ELEMENT_WISE_ATAN = 6
    ELEMENT_WISE_CEIL = 7
    ELEMENT_WISE_CLIP = 8
    ELEMENT_WISE_COS = 9
    ELEMENT_WISE_DIVIDE = 10
    ELEMENT_WISE_EXP = 11
    ELEMENT_WISE_FLOOR = 12
    ELEMENT_WISE_LOG = 13
    ELEMENT_WISE_LOGICAL_AND = 14
    ELEMENT_WISE_LOGICAL_EQUALS = 15
    ELEMENT_WISE_LOGICAL_GREATER_THAN = 16
    ELEMENT_WISE_LOGICAL_LESS_THAN = 17
    ELEMENT_WISE_LOGICAL_NOT = 18
    ELEMENT_WISE_LOGICAL_OR = 19
    ELEMENT_WISE_LOGICAL_XOR = 20
    ELEMENT_WISE_MAX = 21
    ELEMENT_WISE_MEAN = 22
    ELEMENT_WISE_MIN = 23
    ELEMENT_WISE_MULTIPLY = 24
    ELEMENT_WISE_POW = 25
    ELEMENT_WISE_CONSTANT_POW = 26
    ELEMENT_WISE_RECIP = 27
    ELEMENT_WISE_SIN = 28
    ELEMENT_WISE_SQRT = 29
    ELEMENT_WISE_SUBTRACT = 30
    ELEMENT_WISE_TAN = 31
    ELEMENT_WISE_THRESHOLD = 32
    ELEMENT_WISE_QUANTIZE_LINEAR = 33
    ELEMENT_WISE_DEQUANTIZE_LINEAR = 34
    ELEMENT_WISE_SIGN = 79
    ELEMENT_WISE_IS_NAN = 80
    ELEMENT_WISE_ERF = 81
    ELEMENT_WISE_SINH = 82
    ELEMENT_WISE_COSH = 83
    ELEMENT_WISE_TANH = 84
    ELEMENT_WISE_ASINH = 85
    ELEMENT_WISE_ACOSH = 86
    ELEMENT_WISE_ATANH = 87
    ELEMENT_WISE_IF = 88
    ELEMENT_WISE_ADD1 = 89
    ACTIVATION_ELU = 35
    ACTIVATION_HARDMAX = 36
    ACTIVATION_HARD_SIGMOID = 37
    ACTIVATION_IDENTITY = 38
    ACTIVATION_LEAKY_RELU = 39
    ACTIVATION_LINEAR = 40
    ACTIVATION_LOG_SOFTMAX = 41
    ACTIVATION_PARAMETERIZED_RELU = 42
    ACTIVATION_PARAMETRIC_SOFTPLUS = 43
    ACTIVATION_RELU = 44
    ACTIVATION_SCALED_ELU = 45
    ACTIVATION_SCALED_TANH = 46
    ACTIVATION_SIGMOID = 47
    ACTIVATION_SOFTMAX = 48
    ACTIVATION_SOFTPLUS = 49
    ACTIVATION_SOFTSIGN = 50
    ACTIVATION_TANH = 51
    ACTIVATION_THRESHOLDED_RELU = 52
    ACTIVATION_SHRINK = 90
    CONVOLUTION = 53
    GEMM = 54
    REDUCE = 55
    AVERAGE_POOLING = 56
    LP_POOLING = 57
    MAX_POOLING = 58
    ROI_POOLING = 59
    SLICE = 60
    CAST = 61
    SPLIT = 62
    JOIN = 63
    PADDING = 64
    VALUE_SCALE_2D = 65
    UPSAMPLE_2D = 66
    GATHER = 67
    SPACE_TO_DEPTH = 68
    DEPTH_TO_SPACE = 69
    TILE = 70
    TOP_K = 71
    BATCH_NORMALIZATION = 72
    MEAN_VARIANCE_NORMALIZATION = 73
    LOCAL_RESPONSE_NORMALIZATION = 74
    LP_NORMALIZATION = 75
    RNN = 76
    LSTM = 77
    GRU = 78
    MAX_POOLING1 = 91
    MAX_UNPOOLING = 92
    DIAGONAL_MATRIX = 93
    SCATTER = 94
    ONE_HOT = 95
    RESAMPLE = 96


COPIED: tuple[type[PybindEnum], ...] = (
    TensorDataType,
    TensorFlags,
    MatrixTransform,
    RecurrentNetworkDirection,
    ConvolutionMode,
    ConvolutionDirection,
    InterpolationMode,
    PaddingMode,
    ExecutionFlags,
    OperatorType,
)
"""Enumerations whose members are copied into the module; later ones override names of earlier ones."""


def module_constants() -> dict[str, PybindEnum]:
    """Returns the constants of the module: ``NONE`` is that of ExecutionFlags, ``FORWARD`` that of a convolution."""
    return {name: member for item in COPIED for name, member in item.__members__.items()}
