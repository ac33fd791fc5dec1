"""What DirectML computes and hardly anybody means: results that say nothing, and values read as another type."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Edit, Remedy, quote
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph, Node, Value
    from dml2onnx.ir.tensor import DataType
    from dml2onnx.rules.findings import Check
    from dml2onnx.rules.subject import Subject

_OF_ONE = {
    "ACTIVATION_SOFTMAX": "every element of the result is 1",
    "ACTIVATION_LOG_SOFTMAX": "every element of the result is 0",
    "ACTIVATION_HARDMAX": "every element of the result is 1",
    "ARGMAX": "every index is 0",
    "ARGMIN": "every index is 0",
    "CUMULATIVE_SUMMATION": "there is nothing to add up",
    "CUMULATIVE_PRODUCT": "there is nothing to multiply",
    "MEAN_VARIANCE_NORMALIZATION": "every element is its own mean",
}
"""What operators make along dimensions of one element."""
_OF_ITSELF = {
    "ELEMENT_WISE_SUBTRACT": "0",
    "ELEMENT_WISE_DIVIDE": "1",
    "ELEMENT_WISE_MAX": "what it reads",
    "ELEMENT_WISE_MIN": "what it reads",
    "ELEMENT_WISE_MEAN": "what it reads",
}
"""What operators make of a tensor and the same once more."""


MOST_MEANT = 3
"""Dimensions that are offered in the place of one."""


def doubtful_check(schema: OperatorSchema) -> Check | None:
    """A check that the operator has more than one element along its axes."""
    makes = _OF_ONE.get(_stem(schema))
    name = next((name for name in ("Axes", "Axis") if name in schema.index), None)
    if makes is None or name is None:
        return None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        sizes, stated = subject.sizes("InputTensor"), subject.value(name)
        axes = [axis for axis in (stated if isinstance(stated, tuple) else (stated,)) if isinstance(axis, int)]
        if axes and max(axes) < len(sizes) and prod(sizes) > 1 and prod(sizes[axis] for axis in axes) == 1:
            count, rank = len(axes), len(sizes)
            others = [(axis,) for axis in reversed(range(rank)) if sizes[axis] > 1] if count == 1 else []
            last = tuple(range(rank - count, rank))
            others += [last] if count > 1 and prod(sizes[axis] for axis in last) > 1 else []
            stated, *meant = (list(tried) if name == "Axes" else tried[0] for tried in (axes, *others))
            message = f"Along {name} {stated} InputTensor of sizes {list(sizes)} has 1 element: {makes}."
            item = codes.NO_EFFECT.of(name, message, "a dimension of more than one element", 1)
            yield replace(item, remedies=tuple([Remedy(f"{name} {other}") for other in meant[:MOST_MEANT]]))

    return check


def _stem(schema: OperatorSchema) -> str:
    """The name of an operator without the number of its version."""
    return schema.short_name.rstrip("0123456789")


class Doubts:
    """What is doubtful about how nodes are connected; each node is looked at once, those that it reads before it."""

    def __init__(self, graph: Graph, judge: AnyJudge) -> None:
        self._judge, self._is_native = judge, graph.format == "native"
        self._types: dict[Value, DataType] = {}
        self._makers: dict[Value, Node] = {}
        for item in (*graph.constants, *graph.inputs):
            if item.desc is not None:
                self._types[item.value] = item.desc.data_type

    def of(self, node: Node) -> Iterator[Diagnostic]:
        """What is doubtful about a node."""
        operator, types = node.operator, self._types
        index, values = operator.schema.index, operator.values
        for name, reads in node.reads.items():
            desc = values[index[name]] if name in index else None
            if len(reads) == 1 and isinstance(desc, TensorDesc):
                written = types.get(reads[0].value)
                if written is not None and written is not desc.data_type:
                    yield from self._as_other_type(node, name, reads[0].value, desc, written)
        for name, writes in node.writes.items():
            desc = values[index[name]] if name in index else None
            for write in writes:
                self._makers[write.value] = node
                if isinstance(desc, TensorDesc):
                    types[write.value] = desc.data_type
        kind = operator.schema.short_name
        if kind in _OF_ITSELF:
            (a, *_), (b, *_) = node.reads.get("ATensor") or (None,), node.reads.get("BTensor") or (None,)
            if a is not None and a == b and operator.find("ATensor") == operator.find("BTensor"):
                message = f"ATensor and BTensor are both {quote(a.value.name)}: the result is {_OF_ITSELF[kind]}."
                yield codes.NO_EFFECT.of("BTensor", message, "another value", is_structural=True)
        elif kind.startswith("ACTIVATION_"):
            yield from self._repeated(node)

    def _repeated(self, node: Node) -> Iterator[Diagnostic]:
        """An activation of what is such an activation already."""
        reads = node.reads.get("InputTensor")
        maker = self._makers.get(reads[0].value) if reads else None
        if maker is None:
            return
        fused = maker.operator.find("FusedActivation")
        made = fused.schema if isinstance(fused, OperatorDesc) else maker.operator.schema
        kind = _stem(node.operator.schema).replace("LOG_SOFTMAX", "SOFTMAX")
        if kind == _stem(made).replace("LOG_SOFTMAX", "SOFTMAX"):
            message = f"{node.operator.type} of {quote(maker.name)}, which is {made.short_name} already."
            item = codes.NO_EFFECT.of("InputTensor", message, "one of them", is_structural=True)
            yield replace(item, remedies=(Remedy(f"{quote(node.name)} or {quote(maker.name)} left out"),))

    def _as_other_type(
        self, node: Node, field: str, value: Value, desc: TensorDesc, written: DataType
    ) -> Iterator[Diagnostic]:
        """A value that is written as numbers of another kind, of which the operator takes none, or of another width."""
        own = desc.data_type
        is_wider = written.bits != own.bits and desc.strides is None
        seen = node.operator.with_values({field: replace(desc, data_type=written, total_size=0)})
        if not is_wider and (
            written.is_float is own.is_float
            or not any(item.field == field and item.code == codes.DATA_TYPE_UNSUPPORTED for item in self._judge(seen))
        ):
            return
        message = (
            f"{field} reads as {own.name} what is written as {written.name}: the bits stay, and are other numbers."
        )
        item = codes.READ_AS_OTHER_TYPE.of(field, message, written.name, own.name, is_structural=True)
        maker = self._makers.get(value)
        others = [
            (name, writes[0].value)
            for name, writes in (maker.writes.items() if maker is not None else ())
            if (tensor := maker.operator.find(name)) is not None
            and (tensor.data_type, tensor.sizes) == (own, desc.sizes)
        ]
        found = [Remedy(f"a CAST node makes {own.name} of it")]
        for name, other in others[:1]:
            edit = Edit(f"{node.source.rpartition('/')[0]}/inputs/{field}", other.name)
            words = quote(other.name) if self._is_native else f"{name} of {quote(maker.name)}"
            found.insert(0, Remedy(f"{field} {words}", (edit,) if self._is_native else ()))
        yield replace(item, remedies=tuple(found))
