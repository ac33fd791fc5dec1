"""Builds operator descriptors concisely, for tests and campaigns.

Values are converted: an array to its tensor descriptor, a list to a tuple, a pair or a mapping to a structure, a number
to a scalar of the type that another field specifies, the long name of an enumerator to its short one. Floats round to
FLOAT32. Other values are kept, so that tests can build invalid descriptors. Counts follow from their arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

_ONES = frozenset({"Strides", "Dilations", "WindowSize", "WindowSizes", "Repeats", "InputWindowStrides"})
"""Arrays whose neutral value is 1; that of others is 0."""
_BY_DTYPE = {data_type.dtype: data_type for data_type in DataType if not data_type.is_packed_nibbles}
_ARRAYS = (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY)
_NUMBERS = (int, float, np.integer, np.floating)


def describe(name: str, /, **fields: object) -> OperatorDesc:
    """The descriptor of an operator; missing fields are absent. Raises :class:`ValueError` for an unknown field."""
    return _described(catalog.operator(name), fields)


def operator(name: str, /, **fields: object) -> OperatorDesc:
    """:func:`describe` that raises :class:`ValueError` for a missing required field.

    A descriptor without any tensors is a fused activation.
    """
    desc = describe(name, **fields)
    fused = fields.keys().isdisjoint(item.name for item in desc.schema.tensor_fields)
    for item, value in desc.items():
        if value is None and not item.optional and not (fused and item.is_tensor):
            raise ValueError(f"{name}.{item.name} is required")
    return desc


def plain(name: str, /, **fields: object) -> OperatorDesc:
    """:func:`describe` with neutral values for missing attributes: no padding, no strides, no scaling."""
    schema = catalog.operator(name)
    counts = _counts(schema, fields)
    stated = {
        item.name: _neutral(item, {**counts, **fields})
        for item in schema.fields
        if item.name not in fields and item.name not in counts
    }
    return _described(schema, {**stated, **fields})


def tensor(array: object) -> TensorDesc:
    """The packed tensor that an array fills."""
    array = np.asarray(array)
    return TensorDesc(_BY_DTYPE[array.dtype], array.shape)


def sized(
    *sizes: int,
    type: str = "FLOAT32",
    strides: Sequence[int] | None = None,
    owned: bool = False,
    total: int = 0,
    alignment: int = 0,
) -> TensorDesc:
    """A tensor descriptor of these sizes."""
    return TensorDesc(DataType[type], sizes, None if strides is None else tuple(strides), owned, total, alignment)


def unary(name: str, x: TensorDesc, /, **fields: object) -> OperatorDesc:
    """:func:`plain` for an operator whose input and output have the same descriptor."""
    return plain(name, **{"InputTensor": x, "OutputTensor": x, **fields})


def _described(schema: OperatorSchema, fields: Mapping[str, object]) -> OperatorDesc:
    unknown = fields.keys() - schema.index.keys()
    if unknown:
        raise ValueError(f"{schema.short_name} has no field {', '.join(sorted(unknown))}")
    known = {**_counts(schema, fields), **fields}
    return OperatorDesc(schema, tuple([_value(item, known.get(item.name), known) for item in schema.fields]))


def _counts(schema: OperatorSchema, fields: Mapping[str, object]) -> dict[str, int]:
    arrays = ((item.count, fields.get(item.name)) for item in schema.fields if item.count is not None)
    return {count: len(array) for count, array in arrays if isinstance(array, list | tuple | np.ndarray)}


def _neutral(item: FieldSchema, fields: Mapping[str, object]) -> object:
    if item.optional or item.is_tensor:
        return None
    match item.type:
        case FieldType.ENUM:
            assert item.enum is not None
            return next(iter(catalog.enum_schema(item.enum).values))
        case FieldType.FLOAT:
            return 1.0
        case FieldType.BOOL:
            return False
        case FieldType.UINT | FieldType.INT:
            return 1
        case FieldType.UINT_ARRAY | FieldType.INT_ARRAY | FieldType.FLOAT_ARRAY:
            count = fields.get(item.count or "")
            if not isinstance(count, int):
                raise ValueError(f"the length of {item.name} is unknown: {item.count} is missing too")
            return (1 if item.name in _ONES else 0,) * count
        case FieldType.SCALAR_UNION:
            return 0
        case _:
            return None


def _value(item: FieldSchema, value: Any, fields: Mapping[str, object]) -> FieldValue:
    """Converts a value to the type of a field."""
    if item.type is FieldType.TENSOR and isinstance(value, np.ndarray):
        return tensor(value)
    if item.type is FieldType.TENSOR_ARRAY and isinstance(value, list | tuple):
        return tuple([part if isinstance(part, TensorDesc) else tensor(part) for part in value])
    if item.type in _ARRAYS and isinstance(value, list | tuple | np.ndarray):
        return tuple([_number(item, part) for part in value])
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, _NUMBERS):
        if item.type is FieldType.SCALAR_UNION:
            named = catalog.enum_schema("DML_TENSOR_DATA_TYPE").find(str(fields[item.scalar_type or ""]))
            assert named is not None, f"{item.name} needs {item.scalar_type}"
            data_type = DataType[named.name]
            return Scalar(data_type, float(value) if data_type.is_float else int(value))
        return _number(item, value)
    if item.type is FieldType.SCALE_BIAS and isinstance(value, Mapping | tuple):
        return value if isinstance(value, ScaleBias) else ScaleBias(*map(_single, _members(value, "Scale", "Bias")))
    if item.type is FieldType.SIZE_2D and isinstance(value, Mapping | tuple):
        return value if isinstance(value, Size2D) else Size2D(*_members(value, "Width", "Height"))
    if item.type is FieldType.ENUM and isinstance(value, str):
        found = catalog.enum_schema(item.enum or "").find(value)
        return value if found is None else found.name
    stored: FieldValue = value
    return stored


def _number(item: FieldSchema, value: Any) -> int | float:
    if item.type in (FieldType.FLOAT, FieldType.FLOAT_ARRAY):
        return _single(value)
    if item.type is FieldType.BOOL:
        return bool(value)
    number: int | float = int(value) if isinstance(value, np.integer) else value
    return number


def _single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _members(value: Mapping[str, Any] | tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    return tuple([value[name] for name in names]) if isinstance(value, Mapping) else value
