"""Every operator with every other data type of one tensor is refused, or compiled without an internal error."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from dml2onnx.catalog import FieldType
from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases.valid import descriptors

from .build import one

FIRST = {name: found[0] for name, found in descriptors().items()}


def of_other_types(desc: OperatorDesc) -> list[OperatorDesc]:
    """The descriptor with every other data type in each of its tensors."""
    found: list[OperatorDesc] = []
    for name in [field.name for field in desc.schema.tensor_fields]:
        value = desc.get(name)
        for data_type in DataType:
            if isinstance(value, TensorDesc):
                other: object = TensorDesc(data_type, value.sizes, value.strides)
            elif isinstance(value, tuple) and value and isinstance(value[0], TensorDesc):
                other = (TensorDesc(data_type, value[0].sizes, value[0].strides), *value[1:])
            else:
                continue
            values = [
                bool(item) if field.type is FieldType.BOOL else item
                for field, item in zip(desc.schema.fields, desc.values, strict=True)
            ]  # the documentation writes some flags as numbers
            values[desc.schema.index[name]] = other  # type: ignore[call-overload]  # of the kind that was there
            found.append(replace(desc, values=tuple(values)))
    return found


@pytest.mark.parametrize("name", FIRST)
def test_one_tensor_of_another_type(name: str) -> None:
    for desc in of_other_types(FIRST[name]):
        graph = one(desc)
        errors = [item for item in check(graph, remedies=False) if item.severity.value == "error"]
        if errors:
            continue
        with suppress(DmlError):  # not for an InternalError
            compile(graph)


@pytest.mark.parametrize("name", ["FOLD", "UNFOLD"])
@pytest.mark.parametrize("data_type", [item.name for item in DataType if item.name != "FLOAT32"])
def test_types_of_operators_without_support_tables(name: str, data_type: str) -> None:
    """Only the data types in the examples of these pages are known to be supported."""
    desc = FIRST[f"DML_OPERATOR_{name}"]
    types = [
        item
        for item in of_other_types(desc)
        if any(item.tensor(field.name).data_type.name == data_type for field in item.schema.tensor_fields)
    ]
    assert len(types) == 2
    found_codes = [[item.code for item in check(one(each), documented=True)] for each in types]
    assert found_codes == [[codes.DATA_TYPE_UNSUPPORTED.id], [codes.DIFFERENT_DATA_TYPES.id]]  # input, output
    whole = [
        replace(value, data_type=DataType[data_type]) if isinstance(value, TensorDesc) else value
        for value in desc.values
    ]
    found = check(one(replace(desc, values=tuple(whole))), documented=True)
    assert [item.code for item in found] == [codes.DATA_TYPE_UNSUPPORTED.id]
    # DirectML creates operators of all data types but those of 4 bits, and compiles none of FLOAT64
    graph = one(replace(desc, values=tuple(whole)))
    if DataType[data_type].bits < 8:
        assert {item.severity.value for item in check(graph, remedies=False)} == {"error"}
    elif data_type == "FLOAT64":
        assert {item.severity.value for item in check(graph, remedies=False)} == {"warning"}
        with pytest.raises(DmlError, match="DML2010"):
            compile(graph)
    else:
        compile(graph)
