"""What DirectML computes and hardly anybody means: results that say nothing, and values read as another type."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Edit, Remedy, quote
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph, Node, Value
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
MOST_MEANT = 3
"""Dimensions that are offered in the place of one."""


def doubtful_check(schema: OperatorSchema) -> Check | None:
    """A check that the operator has more than one element along its axes, or that no matrix is multiplied by 0."""
    if _stem(schema) == "GEMM":
        return _multiplied_by_0
    makes = _OF_ONE.get(_stem(schema))
    name = next((name for name in ("Axes", "Axis") if name in schema.index), None)
    if makes is None or name is None:
        return None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        sizes, stated = subject.sizes("InputTensor"), subject.value(name)
        axes = [axis for axis in (stated if isinstance(stated, tuple) else (stated,)) if isinstance(axis, int)]
        if axes and max(axes) < len(sizes) and prod(sizes) > 1 and prod(sizes[axis] for axis in axes) == 1:
            count, rank = len(axes), len(sizes)
            others: list[tuple[int, ...]] = (
                [(axis,) for axis in reversed(range(rank)) if sizes[axis] > 1] if count == 1 else []
            )
            last = tuple(range(rank - count, rank))
            others += [last] if count > 1 and prod(sizes[axis] for axis in last) > 1 else []
            shown, *meant = (list(tried) if name == "Axes" else tried[0] for tried in (axes, *others))
            message = f"Along {name} {shown} InputTensor of sizes {list(sizes)} has 1 element: {makes}."
            item = codes.NO_EFFECT.of(name, message, "a dimension of more than one element", 1)
            yield replace(item, remedies=tuple([Remedy(f"{name} {other}") for other in meant[:MOST_MEANT]]))

    return check


def _multiplied_by_0(subject: Subject) -> Iterator[Diagnostic]:
    """What GEMM reads and multiplies by 0."""
    for name, factor, what in (("CTensor", "Beta", "CTensor has"), ("ATensor", "Alpha", "ATensor and BTensor have")):
        if subject.value(factor) == 0 and subject.value(name) is not None:
            item = codes.NO_EFFECT.of(factor, f"{factor} is 0: {what} no effect.", "another factor", 0)
            yield replace(item, remedies=(Remedy(f"{factor} 1"),))


def _stem(schema: OperatorSchema) -> str:
    """The name of an operator without the number of its version."""
    return schema.short_name.rstrip("0123456789")


@cache
def activation_of(schema: OperatorSchema, *, fused: bool = False) -> str:
    """The name of an activation that nobody applies twice, the same for softmax and its logarithm; empty for others.

    A node that does nothing new does no harm, but where it was fused into another it has been forgotten.
    """
    stem = _stem(schema).replace("LOG_SOFTMAX", "SOFTMAX")
    return stem if stem in ("ACTIVATION_SOFTMAX", "ACTIVATION_SIGMOID") or fused else ""


def doubts(
    node: Node, graph: Graph, sources: Mapping[Value, int], types: dict[Value, DataType]
) -> Iterator[Diagnostic]:
    """What DirectML takes of a node and hardly anybody means; ``types`` of values get those that it writes."""
    for name, reads in node.reads.items():
        desc = node.operator.find(name)
        position = sources.get(reads[0].value) if reads else None
        maker = None if position is None else graph.nodes[position]
        written = types.get(reads[0].value) if len(reads) == 1 else None
        if isinstance(desc, TensorDesc) and written is not None and written is not desc.data_type:
            yield from _read_as_other_type(node, name, desc, written, maker, is_native=graph.format == "native")
        if name == "InputTensor":
            yield from _repeated(node, maker)
    for name, writes in node.writes.items():
        desc = node.operator.find(name)
        if isinstance(desc, TensorDesc):
            types |= dict.fromkeys([write.value for write in writes], desc.data_type)


def _repeated(node: Node, maker: Node | None) -> Iterator[Diagnostic]:
    """An activation of what is such an activation already."""
    if maker is None:
        return
    fused = maker.operator.find("FusedActivation")
    made = fused.schema if isinstance(fused, OperatorDesc) else maker.operator.schema
    is_fused = made is not maker.operator.schema
    kind = activation_of(node.operator.schema, fused=is_fused)
    if kind and kind == activation_of(made, fused=is_fused):
        message = f"{node.operator.type} of {quote(maker.name)}, which is {made.short_name} already."
        item = codes.NO_EFFECT.of("InputTensor", message, "one of them", is_structural=True)
        yield replace(item, remedies=(Remedy(f"{quote(node.name)} or {quote(maker.name)} left out"),))


def _read_as_other_type(
    node: Node, field: str, desc: TensorDesc, written: DataType, maker: Node | None, *, is_native: bool
) -> Iterator[Diagnostic]:
    """A tensor of another data type than the value has that it reads; with another output of its maker, if one fits."""
    own = desc.data_type
    message = f"{field} reads as {own.name} what is written as {written.name}: the bits stay, and are other numbers."
    found = [Remedy(f"a CAST node makes {own.name} of it")]
    item = codes.READ_AS_OTHER_TYPE.of(field, message, written.name, own.name, is_structural=True)
    if maker is None:
        yield replace(item, remedies=tuple(found))
        return
    for name, writes in maker.writes.items():
        tensor = maker.operator.find(name)
        if isinstance(tensor, TensorDesc) and (tensor.data_type, tensor.sizes) == (own, desc.sizes):
            other = writes[0].value.name
            edits = (Edit(f"{node.source.rpartition('/')[0]}/inputs/{field}", other),) if is_native else ()
            found.insert(0, Remedy(f"{field} {quote(other) if is_native else f'{name} of {quote(maker.name)}'}", edits))
    yield replace(item, remedies=tuple(found))


def is_mistaken(item: Diagnostic, desc: OperatorDesc, judge: AnyJudge) -> bool:
    """Whether a value is read as numbers of another width, or of a kind that the operator does not take it as.

    Whoever moves bits alone may read them as any type, and 64 bits as twice 32 by strides.
    """
    tensor = desc.find(item.field)
    if item.code is not codes.READ_AS_OTHER_TYPE or not isinstance(tensor, TensorDesc):
        return True
    written = DataType[item.expected]
    if written.bits != tensor.data_type.bits:
        return tensor.strides is None
    seen = judge(desc.with_values({item.field: replace(tensor, data_type=written, total_size=0)}))
    is_refused = any(other.field == item.field and other.code is codes.DATA_TYPE_UNSUPPORTED for other in seen)
    return written.is_float is not tensor.data_type.is_float and is_refused
