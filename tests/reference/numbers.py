"""Asks references for the results of one operator, and draws integers of every type."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import plain

INTEGERS = [t for t in DataType if not t.is_float and t.bits >= 8]


def answers(name: str, /, **given: Any) -> dict[str, Any]:
    """The result of each output by field; of tensors the arrays are given, of outputs arrays of their sizes and type.

    Attributes that are left out mean nothing special.
    """
    op = plain(name, **given)
    inputs = {item.name: given[item.name] for item in op.schema.input_fields if given.get(item.name) is not None}
    return {field: result for field, (result,) in operator_results(op, inputs).items()}


def answer(name: str, y: np.ndarray | tuple[int, ...] | None = None, /, **given: Any) -> Any:
    """The result of the first output: like the array ``y``, or of these sizes, or like the first input."""
    schema = catalog.operator(name)
    first = next(given[item.name] for item in schema.input_fields if given.get(item.name) is not None)
    like = y if isinstance(y, np.ndarray) else np.zeros(first.shape if y is None else y, first.dtype)
    field = schema.output_fields[0].name
    return answers(name, **{field: like}, **given)[field]


def integers(data_type: DataType) -> st.SearchStrategy[int]:
    """Any of a type, its ends often."""
    low, high = data_type.limits
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))
