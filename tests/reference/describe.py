"""Short ways to write operator descriptors in tests."""

from __future__ import annotations

import numpy as np

from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc

_BY_DTYPE = {data_type.dtype: data_type for data_type in DataType if data_type.bits >= 8}


def data_type_of(array) -> DataType:
    return _BY_DTYPE[np.asarray(array).dtype]


def tensor(array) -> TensorDesc:
    array = np.asarray(array)
    return TensorDesc(data_type_of(array), array.shape)


def describe(name: str, /, **values) -> OperatorDesc:
    """The descriptor of an operator: arrays stand for their descriptors, pairs for ScaleBias, lists for arrays.

    What is left out is ``None`` or, of counts, the length of the array that they count.
    """
    schema = catalog.operator(name)
    assert values.keys() <= schema.fields_by_name.keys(), (name, values.keys() - schema.fields_by_name.keys())
    counted = {field.count: len(values[field.name]) for field in schema.fields if field.name in values and field.count}
    return OperatorDesc(
        schema, tuple(_value(f, values.get(f.name, counted.get(f.name)), values) for f in schema.fields)
    )


def _value(field, value, values):
    if value is None:
        return None
    if isinstance(value, (OperatorDesc, TensorDesc, Scalar)):
        return value
    match field.type:
        case FieldType.TENSOR:
            return tensor(value)
        case FieldType.TENSOR_ARRAY:
            return tuple(item if isinstance(item, TensorDesc) else tensor(item) for item in value)
        case FieldType.FLOAT:
            return float(np.float32(value))
        case FieldType.FLOAT_ARRAY:
            return tuple(float(np.float32(item)) for item in value)
        case FieldType.UINT_ARRAY | FieldType.INT_ARRAY:
            return tuple(int(item) for item in value)
        case FieldType.BOOL:
            return bool(value)
        case FieldType.SCALE_BIAS:
            return ScaleBias(*(float(np.float32(item)) for item in value))
        case FieldType.SCALAR_UNION:
            data_type = DataType[values[field.scalar_type]]
            return Scalar(data_type, float(value) if data_type.is_float else int(value))
        case FieldType.ENUM:
            prefix = catalog.enum_schema(field.enum).values
            short = next((v.name for v in prefix.values() if v.full_name == value), value)
            assert short in prefix, (field.name, value)
            return short
    return value
