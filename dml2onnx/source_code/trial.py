"""A builder that tries calls before they are written into a program."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from dml2onnx.builder.expression import Expression
from dml2onnx.builder.graph_builder import GraphBuilder
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.ir.graph import Node, Value
    from dml2onnx.ir.tensor import TensorDesc


class Trial(GraphBuilder):
    """Records what is to be written, one call at a time, from expressions without contents."""

    def of(self, value: Value, desc: TensorDesc, offset: int = 0) -> Expression:
        """An expression for a tensor that the graph has."""
        return Expression(self, value, desc, offset)

    def attempt(self, make: Callable[[], object]) -> tuple[list[Node], object]:
        """The nodes that a call records, which are forgotten at once, and what it returns."""
        before, constants = len(self._nodes), len(self._constants)
        try:
            returned = make()
            return self._nodes[before:], returned
        finally:
            del self._nodes[before:]
            del self._constants[constants:]


def same(one: OperatorDesc, other: OperatorDesc) -> bool:
    """Whether two descriptors are equal to the bit: of one NaN the other, of 0.0 not -0.0."""
    return one.schema is other.schema and _bits(one.values) == _bits(other.values)


def _bits(value: Any) -> Any:
    match value:
        case float():
            return struct.pack("<d", value)
        case tuple():
            return tuple(_bits(item) for item in value)
        case ScaleBias(scale, bias):
            return _bits((scale, bias))
        case Scalar(data_type, number):
            return data_type, _bits(float(number) if data_type.is_float else number)
        case OperatorDesc():
            return value.type, _bits(value.values)
    return value
