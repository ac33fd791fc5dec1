"""Converts Python values to those of the descriptor reader, so that all front ends share its rules and messages."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx.arguments import LONGEST
from dml2onnx.arguments import text as text_of
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType

DataTypeLike: TypeAlias = DataType | str | npt.DTypeLike
"""A :class:`DataType`, its name (``"FLOAT32"``, ``"float32"``), or the equivalent numpy type (``np.float32``).

Python's ``float`` and ``int`` and other numpy names are refused: in numpy ``"float"`` is FLOAT64, while DirectML's
``FLOAT`` is FLOAT32.
"""

WholeNumbers: TypeAlias = Sequence[int | np.integer[Any]]
"""Sizes, axes and similar: Python or numpy integers."""

SizesOrNames: TypeAlias = Sequence[int | np.integer[Any] | str]
"""Sizes of an input; some may be names."""
PerDimension: TypeAlias = WholeNumbers | int | np.integer[Any]
"""One number per spatial dimension, or one number for all of them."""


@dataclass(frozen=True, slots=True)
class Activation:
    """A fused activation, or one of the activations of a recurrent operator: its operator and attributes.

    >>> Activation("RELU")
    >>> Activation("LEAKY_RELU", alpha=0.1)

    The prefix ``ACTIVATION_`` of ``type`` is optional. Attributes have DirectML's names, or these in snake case
    (``sigmoid_input_scale``); the defaults are DirectMLX's. A name alone is accepted wherever an activation is.
    """

    type: str
    attributes: Mapping[str, object]

    def __init__(self, type: str, /, **attributes: object) -> None:
        full_name = text_of(type, "the type of an activation").removeprefix("DML_OPERATOR_")
        has_prefix = full_name.startswith(("ACTIVATION_", "ELEMENT_WISE_"))
        object.__setattr__(self, "type", full_name if has_prefix else f"ACTIVATION_{full_name}")
        fields = {_field_name(name): value for name, value in attributes.items()}
        object.__setattr__(self, "attributes", {**ACTIVATION_DEFAULTS.get(self.type, {}), **fields})


def _field_name(name: str) -> str:
    """A field name in DirectML's spelling."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


ActivationLike: TypeAlias = Activation | str
"""An :class:`Activation`, or the name of one."""


ACTIVATION_DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "ACTIVATION_CELU": {"Alpha": 1.0},
    "ACTIVATION_ELU": {"Alpha": 1.0},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.01},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.67326319217681884765625, "Gamma": 1.05070102214813232421875},
    "ACTIVATION_SCALED_TANH": {"Alpha": 1.0, "Beta": 0.5},
    "ACTIVATION_SHRINK": {"Bias": 0.0, "Threshold": 0.5},
    "ACTIVATION_SOFTPLUS": {"Steepness": 1.0},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 1.0},
}
"""Default arguments of DirectMLX's activation factories."""


def activations(argument: object) -> object:
    """An activation or a sequence of them, with names converted to activations."""
    if isinstance(argument, str):
        return Activation(argument)
    if isinstance(argument, (list, tuple)):
        return [activations(item) for item in argument]
    return argument


def data_type_of(value: DataTypeLike) -> DataType | None:
    """The data type of an argument; ``None`` if DirectML does not have it."""
    if isinstance(value, DataType):
        return value
    if isinstance(value, str):
        name = value.removeprefix("DML_TENSOR_DATA_TYPE_")
        # other numpy names do not state the width, or state it differently
        return DataType.__members__.get(name.upper() if name.islower() else name)
    if value is None or value is float or value is int:  # FLOAT64 and INT64 in numpy
        return None
    try:
        name = np.dtype(value).name.upper()
    except Exception:  # numpy calls methods of the value, which may raise anything
        return None
    return DataType.__members__.get(name)


def holds(data_type: DataType, values: npt.NDArray[Any]) -> bool:
    """Whether a data type can hold all of the values, up to floating-point rounding."""
    if data_type.is_float or values.dtype.kind == "b":
        return True
    low, high = data_type.limits
    if values.dtype.kind != "f":
        return bool(np.all((values >= low) & (values <= high)))
    # compared in FLOAT64 with the first number beyond the type, which is exact, unlike the last of a 64-bit type
    exact = values.astype(np.float64)
    return bool(np.all((exact == np.trunc(exact)) & (exact >= float(low)) & (exact < float(high + 1))))


def plain(value: object) -> object:
    """A value in the form of decoded JSON, unchecked; anything without one becomes its description."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else {math.inf: "inf", -math.inf: "-inf"}.get(number, "nan")
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, ScaleBias):
        return {"Scale": plain(value.scale), "Bias": plain(value.bias)}
    if isinstance(value, Size2D):
        return {"Width": plain(value.width), "Height": plain(value.height)}
    if isinstance(value, Scalar):
        return plain(value.value)
    if isinstance(value, Activation):
        return {"Type": value.type, "Desc": {name: plain(item) for name, item in value.attributes.items()}}
    if isinstance(value, OperatorDesc):
        fields = {field.name: plain(item) for field, item in value.items() if not field.is_tensor}
        return {"Type": value.type, "Desc": fields}
    if isinstance(value, np.ndarray):
        return plain(value.reshape(-1)[: LONGEST + 1].tolist() if value.ndim else value[()])
    if isinstance(value, Sequence):
        items = list(islice(value, LONGEST + 1))
        return [plain(item) for item in items] if len(items) <= LONGEST else f"<long {type(value).__name__}>"
    return _numpy_type_name(value)


def _numpy_type_name(value: object) -> str:
    """The name of a numpy data type; for anything else a description, which every field refuses."""
    found = data_type_of(value) if isinstance(value, (type, np.dtype)) else None
    return found.name if found is not None else f"<{type(value).__name__}>"
