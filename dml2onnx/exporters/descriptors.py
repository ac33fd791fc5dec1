"""Descriptors of operators and tensors, and commands, as decoded JSON that the front ends read."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Collection

    from dml2onnx.ir.graph import Effect

Json = dict[str, object]

_FORMATS = {DataType.FLOAT16: "<e", DataType.FLOAT32: "<f", DataType.FLOAT64: "<d"}
_LARGEST_WHOLE = 1 << 24
"""The limit of floats that are written as integers; digits of larger ones would exceed the precision."""
_MAX_DIGITS = 9
"""Significant digits that identify every FLOAT32; FLOAT16 needs fewer."""


def tensor(desc: TensorDesc) -> Json:
    """A descriptor without members that have their defaults."""
    members: Json = {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    if desc.strides is not None:
        members["Strides"] = list(desc.strides)
    if desc.owned_by_dml:
        members["Flags"] = "OWNED_BY_DML"
    if desc.total_size:
        members["TotalTensorSizeInBytes"] = desc.total_size
    if desc.alignment:
        members["GuaranteedBaseOffsetAlignment"] = desc.alignment
    return members


def command(effect: Effect) -> Json:
    """The options of a command: ``verbose``, ``targetPath`` and ``dimensions``."""
    members: Json = {}
    if effect.verbose:
        members["verbose"] = True
    if effect.kind == "writeFile":
        members["targetPath"] = effect.path
    if effect.dimensions:
        members["dimensions"] = list(effect.dimensions)
    return members


def fields(operator: OperatorDesc, known: Collection[str] = (), *, whole: bool = False) -> Json:
    """The fields of an operator in struct order.

    A ``whole`` structure has all fields except those in ``known``; others also lack absent fields and the counts of
    present arrays.
    """
    derived = () if whole else _derived_counts(operator)
    members: Json = {}
    for item, value in operator.items():
        if item.name in known or item.name in derived or (value is None and not whole):
            continue
        members[item.name] = _value(value, whole)
    return members


def number(value: float, data_type: DataType) -> int | float | str:
    """The shortest JSON for an element: an integer, a decimal fraction, ``"inf"``, ``"-inf"`` or ``"nan"``.

    Raises :class:`DmlError` for a NaN whose bits differ from those of ``"nan"``.
    """
    if not data_type.is_float or isinstance(value, int):
        return int(value)
    if math.isnan(value):
        if struct.pack("<d", value) != struct.pack("<d", math.nan):
            message = f"A NaN with the bits {struct.pack('>d', value).hex()} cannot be written."
            raise DmlError(codes.SPECIAL_NAN.at(message, expected="the default NaN"))
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value.is_integer() and abs(value) < _LARGEST_WHOLE and (value or math.copysign(1, value) > 0):
        return int(value)
    if data_type is not DataType.FLOAT64:
        for digits in range(1, _MAX_DIGITS + 1):
            short = float(f"{value:.{digits}g}")
            if _rounded(short, data_type) == value:
                return short
    return value


def _rounded(value: float, data_type: DataType) -> float:
    layout = _FORMATS[data_type]
    try:
        rounded: float = struct.unpack(layout, struct.pack(layout, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _derived_counts(operator: OperatorDesc) -> frozenset[str]:
    """Counts that equal the lengths of their arrays."""
    lengths: dict[str, set[int]] = {}
    for item, value in operator.items():
        if item.count is not None and isinstance(value, tuple):
            lengths.setdefault(item.count, set()).add(len(value))
    return frozenset(name for name, counts in lengths.items() if counts == {operator.get(name)})


def _value(value: FieldValue, whole: bool) -> object:
    match value:
        case TensorDesc():
            return tensor(value)
        case OperatorDesc():
            return _nested(value, whole)
        case tuple():
            return [_value(item, whole) for item in value]
        case ScaleBias(scale, bias):
            return {"Scale": number(scale, DataType.FLOAT32), "Bias": number(bias, DataType.FLOAT32)}
        case Size2D(width, height):
            return {"Width": width, "Height": height}
        case Scalar():
            return _scalar(value)
        case float():
            return number(value, DataType.FLOAT32)
    return value


def _scalar(scalar: Scalar) -> object:
    if scalar.data_type is DataType.FLOAT16 and math.isnan(scalar.value) and math.copysign(1, scalar.value) < 0:
        return {"UInt16": int.from_bytes(struct.pack("<e", scalar.value), "little")}
    return number(scalar.value, scalar.data_type)


def _nested(operator: OperatorDesc, whole: bool) -> Json:
    """An activation, with its attributes beside its type unless their names collide with the other members."""
    attributes = fields(operator, {item.name for item in operator.schema.tensor_fields}, whole=whole)
    if whole:
        return {"Type": operator.type, "Desc": attributes}
    if attributes.keys() & {"Type", "type", "Desc", "desc"}:
        return {"type": operator.type, "desc": attributes}
    return {"type": operator.type, **attributes}
