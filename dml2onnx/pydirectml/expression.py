"""Expressions and Python's operators on them, and the recording of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsFloat, TypeAlias, TypeGuard

import numpy as np

from dml2onnx.builder.expression import Expression as Recorded
from dml2onnx.builder.recorder import Stated
from dml2onnx.ir.operator import ScaleBias
from dml2onnx.pydirectml.arguments import Number, number
from dml2onnx.pydirectml.enums import TensorDataType
from dml2onnx.pydirectml.tensors import TensorDesc, data_type_of

if TYPE_CHECKING:
    from dml2onnx.pydirectml.graph import GraphBuilder

Operands: TypeAlias = "Mapping[str, Expression | Sequence[Expression] | None]"
"""The operands of the tensor fields of an operator."""


@dataclass(frozen=True, slots=True, eq=False)
class TensorView:
    """The tensor of an expression (an operator output or a graph input), and the descriptor to view it through."""

    builder: GraphBuilder
    source: Recorded
    """The original tensor, before any reinterpretation."""
    view: Recorded
    desc: TensorDesc
    is_input: bool


class Expression:
    """A handle to a tensor of the graph. Constructed by a program, it is a null expression that cannot be used.

    Operators require equal sizes, without broadcasting; results have those of the left operand. In-place operators
    modify the handle, and so all references to it. ``s / e`` is ``1 / (s * e)``, as in PyDirectML.
    """

    __slots__ = ("_node",)

    def __init__(self) -> None:
        self._node: TensorView | None = None

    @classmethod
    def of(cls, node: TensorView) -> Expression:
        made = cls()
        made._node = node
        return made

    @property
    def is_null(self) -> bool:
        """Whether this is a null expression."""
        return self._node is None

    def node(self) -> TensorView:
        """Returns the tensor; raises ``RuntimeError`` for a null expression, where PyDirectML crashes."""
        if self._node is None:
            raise RuntimeError("a null expression is used: an Expression() made by hand, or an output not asked for")
        return self._node

    def get_output_desc(self) -> TensorDesc:
        """Returns the descriptor of the tensor."""
        return self.node().desc

    # --- Operators ----------------------------------------------------------------------------------------------------

    def __add__(self, other: Expression | Number) -> Expression:
        if _is_number(other):
            return _scaled(self, 1.0, number("other", other))
        return _binary("ELEMENT_WISE_ADD", self, other)

    def __radd__(self, other: Number) -> Expression:
        return self + other if _is_number(other) else NotImplemented

    def __sub__(self, other: Expression | Number) -> Expression:
        if _is_number(other):
            return _scaled(self, 1.0, -number("other", other))
        return _binary("ELEMENT_WISE_SUBTRACT", self, other)

    def __rsub__(self, other: Number) -> Expression:
        return _scaled(self, -1.0, number("other", other)) if _is_number(other) else NotImplemented

    def __mul__(self, other: Expression | Number) -> Expression:
        if _is_number(other):
            return _scaled(self, number("other", other), 0.0)
        return _binary("ELEMENT_WISE_MULTIPLY", self, other)

    def __rmul__(self, other: Number) -> Expression:
        return self * other if _is_number(other) else NotImplemented

    def __truediv__(self, other: Expression | Number) -> Expression:
        if _is_number(other):
            with np.errstate(divide="ignore", over="ignore"):
                return _scaled(self, float(np.float32(1) / np.float32(number("other", other))), 0.0)
        return _binary("ELEMENT_WISE_DIVIDE", self, other)

    def __rtruediv__(self, other: Number) -> Expression:
        if not _is_number(other):
            return NotImplemented
        # the scale applies to the input, before the reciprocal
        return _scaled(self, number("other", other), 0.0, "ELEMENT_WISE_RECIP")

    def __mod__(self, other: Expression) -> Expression:
        return _binary("ELEMENT_WISE_MODULUS_TRUNCATE", self, other)

    def __neg__(self) -> Expression:
        return record("ELEMENT_WISE_NEGATE", {"InputTensor": self}, {})

    def __iadd__(self, other: Expression | Number) -> Expression:
        return self._point_to(self + other)

    def __isub__(self, other: Expression | Number) -> Expression:
        return self._point_to(self - other)

    def __imul__(self, other: Expression | Number) -> Expression:
        return self._point_to(self * other)

    def __itruediv__(self, other: Expression | Number) -> Expression:
        return self._point_to(self / other)

    def __imod__(self, other: Expression) -> Expression:
        return self._point_to(self % other)

    def _point_to(self, other: Expression) -> Expression:
        self._node = other._node
        return self


def _is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, SupportsFloat) and not isinstance(value, (str, bytes, Expression))


def _scaled(e: Expression, scale: float, bias: float, operator: str = "ELEMENT_WISE_IDENTITY") -> Expression:
    return record(operator, {"InputTensor": e}, {"ScaleBias": ScaleBias(scale, bias)})


def _binary(operator: str, a: Expression, b: object) -> Expression:
    if not isinstance(b, Expression):
        return NotImplemented  # type: ignore[no-any-return]  # returned by the operators
    return record(operator, {"ATensor": a, "BTensor": b}, {})


def record(
    operator: str,
    inputs: Operands,
    attributes: Mapping[str, object],
    sizes: Sequence[int] | None = None,
    data_type: TensorDataType | None = None,
) -> Expression:
    """Appends an operator with one output; sizes and data type default to those of its first tensor."""
    return record_all(operator, inputs, attributes, {"OutputTensor": (sizes, data_type)})["OutputTensor"]


def record_all(
    operator: str,
    inputs: Operands,
    attributes: Mapping[str, object],
    outputs: Mapping[str, tuple[Sequence[int] | None, TensorDataType | None]],
) -> dict[str, Expression]:
    """Appends an operator and returns its outputs by field; raises :class:`~dml2onnx.diagnostics.DmlError`."""
    nodes = {
        field: [item.node() for item in ([operands] if isinstance(operands, Expression) else operands)]
        for field, operands in inputs.items()
        if operands is not None
    }
    first = next(iter(nodes.values()))[0]
    views: dict[str, Recorded | Sequence[Recorded] | None] = {
        field: found[0].view if isinstance(inputs[field], Expression) else [item.view for item in found]
        for field, found in nodes.items()
    }
    stated: dict[str, Stated] = {}
    descs: dict[str, TensorDesc] = {}
    for field, (sizes, data_type) in outputs.items():
        kind = first.desc.data_type if data_type is None else data_type
        # sizes are negative if windows do not fit; the checks report 0 better
        exact = first.desc.sizes if sizes is None else [max(size, 0) for size in sizes]
        stated[field] = Stated(exact, data_type_of(kind))
        descs[field] = TensorDesc.of(kind, exact)
    made = first.builder.recorder.record(operator, views, attributes, stated)
    results = {}
    for field, desc in descs.items():
        output = made[field]
        assert isinstance(output, Recorded)
        results[field] = Expression.of(TensorView(first.builder, output, output, desc, False))
    return results
