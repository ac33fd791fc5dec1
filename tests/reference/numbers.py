"""Runs the reference of one operator, and draws integers of every type."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results
from dml2onnx.test_cases.descriptors import plain

INTEGERS = [t for t in DataType if not t.is_float and t.bits >= 8]


def results_of(name: str, /, **fields: Any) -> dict[str, Any]:
    """The result of each output by field, from arrays for inputs and arrays of the right shape and type for outputs.

    Missing attributes take neutral values.
    """
    op = plain(name, **fields)
    inputs = {item.name: fields[item.name] for item in op.schema.input_fields if fields.get(item.name) is not None}
    return {field: result for field, (result,) in operator_results(op, inputs).items()}


def result_of(name: str, y: np.ndarray | tuple[int, ...] | None = None, /, **fields: Any) -> Any:
    """The result of the first output, which has the shape and type of ``y``, the sizes ``y``, or those of an input."""
    schema = catalog.operator(name)
    first = next(fields[item.name] for item in schema.input_fields if fields.get(item.name) is not None)
    like = y if isinstance(y, np.ndarray) else np.zeros(first.shape if y is None else y, first.dtype)
    field = schema.output_fields[0].name
    return results_of(name, **{field: like}, **fields)[field]


def marks(result: Any) -> list[bool]:
    """The flattened marks of unspecified elements."""
    unspecified = False if result.unspecified is None else result.unspecified
    return np.broadcast_to(unspecified, result.values.shape).ravel().tolist()


def integers(data_type: DataType) -> st.SearchStrategy[int]:
    """Any integer of a type, often a limit."""
    low, high = data_type.limits
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))
