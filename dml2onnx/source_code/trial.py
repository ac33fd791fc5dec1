"""A builder that tries calls before a program uses them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from dml2onnx.builder.expression import Expression
from dml2onnx.builder.graph_builder import GraphBuilder
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.ir.graph import Node, Value


class TrialBuilder(GraphBuilder):
    """Records single calls, whose arguments are expressions without contents."""

    def of(self, value: Value, desc: TensorDesc, offset: int = 0) -> Expression:
        """An expression for a tensor of the graph."""
        return Expression(self, value, desc, offset)

    def by_policy(self, desc: TensorDesc) -> TensorDesc:
        """An output of the same data type and sizes, with the strides of the tensor policy and no other members."""
        strides = self.policy(desc.data_type, desc.sizes)
        return TensorDesc(desc.data_type, desc.sizes, None if strides is None else tuple(strides))

    def attempt(self, make: Callable[[], object]) -> tuple[list[Node], object]:
        """Returns the nodes that a call records, without keeping them, and the result of the call."""
        before, constants = len(self._nodes), len(self._constants)
        try:
            returned = make()
            return self._nodes[before:], returned
        finally:
            del self._nodes[before:]
            del self._constants[constants:]


def same(one: OperatorDesc, other: OperatorDesc) -> bool:
    """Whether two descriptors are equal bit by bit: a NaN equals itself, 0.0 does not equal -0.0."""
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
