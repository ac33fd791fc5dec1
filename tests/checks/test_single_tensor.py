"""A wrong data type, size or rank of one tensor is one finding, for every operator and tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dml2onnx.checks import check
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one
from tests.exporters.test_native import exact

TYPES = (DataType.INT32, DataType.FLOAT64, DataType.FLOAT16, DataType.UINT8)
MISTAKEN = ("data type", "rank", "size")


def errors(desc: OperatorDesc) -> list[Diagnostic]:
    return [item for item in check(one(desc)) if item.is_error]


def mistaken(tensor: TensorDesc, kind: str) -> Iterator[TensorDesc]:
    """The tensor with one property changed."""
    sizes = tensor.sizes
    if kind == "data type":
        yield from (replace(tensor, data_type=other, total_size=0) for other in TYPES if other != tensor.data_type)
    elif kind == "rank":
        yield from (TensorDesc(tensor.data_type, other) for other in (sizes[1:], (1, *sizes)) if other)
    else:
        for axis, size in enumerate(sizes):
            yield TensorDesc(tensor.data_type, (*sizes[:axis], size + 1, *sizes[axis + 1 :]))


@pytest.mark.parametrize("kind", MISTAKEN)
@pytest.mark.parametrize("operator", descriptors())
def test_one_finding(operator: str, kind: str) -> None:
    desc = descriptors()[operator][0]
    assert not errors(exact(desc))
    tried = 0
    for position, tensor in enumerate(desc.values):
        for other in mistaken(tensor, kind) if isinstance(tensor, TensorDesc) else ():
            values = (*desc.values[:position], other, *desc.values[position + 1 :])
            found = errors(OperatorDesc(desc.schema, values))
            assert len(found) < 2, f"{desc.schema.fields[position].name} as {other}:\n" + "\n".join(map(str, found))
            tried += 1
    assert tried or not any(isinstance(tensor, TensorDesc) for tensor in desc.values)
