"""Warnings about nodes that DirectML accepts but that are probably mistakes: no effect, or a wrong data type."""

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
"""The result of operators along dimensions of one element."""
MAX_PROPOSED = 3
"""The most other axes that are proposed."""


def doubtful_check(schema: OperatorSchema) -> Check | None:
    """Checks that an operator has more than one element along its axes, or that GEMM multiplies nothing by 0."""
    if _stem(schema) == "GEMM":
        return _multiplied_by_0
    makes = _OF_ONE.get(_stem(schema))
    name = next((item.name for item in schema.fields if item.names_axes), None)
    if makes is None or name is None:
        return None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        sizes, value = subject.sizes("InputTensor"), subject.value(name)
        is_several = isinstance(value, tuple)
        axes = [axis for axis in (value if isinstance(value, tuple) else (value,)) if isinstance(axis, int)]
        if axes and max(axes) < len(sizes) and prod(sizes) > 1 and prod(sizes[axis] for axis in axes) == 1:
            count, rank = len(axes), len(sizes)
            alternatives: list[tuple[int, ...]] = (
                [(axis,) for axis in reversed(range(rank)) if sizes[axis] > 1] if count == 1 else []
            )
            last = tuple(range(rank - count, rank))
            alternatives += [last] if count > 1 and prod(sizes[axis] for axis in last) > 1 else []
            shown, *proposed = (list(tried) if is_several else tried[0] for tried in (axes, *alternatives))
            message = f"Along {name} {shown} InputTensor of sizes {list(sizes)} has 1 element: {makes}."
            item = codes.NO_EFFECT.of(name, message, "a dimension of more than one element", 1)
            yield replace(item, remedies=tuple([Remedy(f"{name} {other}") for other in proposed[:MAX_PROPOSED]]))

    return check


def _multiplied_by_0(subject: Subject) -> Iterator[Diagnostic]:
    """The operands of GEMM that are multiplied by 0."""
    for name, factor, what in (("CTensor", "Beta", "CTensor has"), ("ATensor", "Alpha", "ATensor and BTensor have")):
        if subject.value(factor) == 0 and subject.value(name) is not None:
            item = codes.NO_EFFECT.of(factor, f"{factor} is 0: {what} no effect.", "another factor", 0)
            yield replace(item, remedies=(Remedy(f"{factor} 1"),))


def _stem(schema: OperatorSchema) -> str:
    """The operator's name without the number of its version."""
    return schema.short_name.rstrip("0123456789")


@cache
def activation_of(schema: OperatorSchema, *, fused: bool = False) -> str:
    """Returns the name of an activation that is never applied twice, or an empty string.

    Softmax and log softmax share a name. Other activations count only if ``fused``: repeating a fused one is a
    mistake, while a separate node may be redundant without harm.
    """
    stem = _stem(schema).replace("LOG_SOFTMAX", "SOFTMAX")
    return stem if stem in ("ACTIVATION_SOFTMAX", "ACTIVATION_SIGMOID") or fused else ""


def doubts(
    node: Node, graph: Graph, sources: Mapping[Value, int], types: dict[Value, DataType]
) -> Iterator[Diagnostic]:
    """Yields warnings about a node, and enters the data types that it writes into ``types``."""
    for name, reads in node.reads.items():
        desc = node.operator.find(name)
        position = sources.get(reads[0].value) if reads else None
        producer = None if position is None else graph.nodes[position]
        written = types.get(reads[0].value) if len(reads) == 1 else None
        if isinstance(desc, TensorDesc) and written is not None and written is not desc.data_type:
            yield from _read_as_other_type(node, name, desc, written, producer, is_native=graph.format == "native")
        if name == "InputTensor":
            yield from _repeated(node, producer)
    for name, writes in node.writes.items():
        desc = node.operator.find(name)
        if isinstance(desc, TensorDesc):
            types |= dict.fromkeys([write.value for write in writes], desc.data_type)


def _repeated(node: Node, producer: Node | None) -> Iterator[Diagnostic]:
    """A warning about an activation whose input is the result of the same activation."""
    if producer is None:
        return
    fused = producer.operator.find("FusedActivation")
    made = fused.schema if isinstance(fused, OperatorDesc) else producer.operator.schema
    is_fused = made is not producer.operator.schema
    kind = activation_of(node.operator.schema, fused=is_fused)
    if kind and kind == activation_of(made, fused=is_fused):
        message = f"{node.operator.type} of {quote(producer.name)}, which is {made.short_name} already."
        item = codes.NO_EFFECT.of("InputTensor", message, "one of them", is_structural=True)
        yield replace(item, remedies=(Remedy(f"{quote(node.name)} or {quote(producer.name)} left out"),))


def _read_as_other_type(
    node: Node, field: str, desc: TensorDesc, written: DataType, producer: Node | None, *, is_native: bool
) -> Iterator[Diagnostic]:
    """A tensor whose data type differs from that of its value; the remedy may be another output of its producer."""
    own = desc.data_type
    message = f"{field} reads the bits of a {written.name} tensor as {own.name}, which changes the numbers."
    found = [Remedy(f"a CAST node makes {own.name} of it")]
    item = codes.READ_AS_OTHER_TYPE.of(field, message, written.name, own.name, is_structural=True)
    if producer is None:
        yield replace(item, remedies=tuple(found))
        return
    for name, writes in producer.writes.items():
        tensor = producer.operator.find(name)
        if isinstance(tensor, TensorDesc) and (tensor.data_type, tensor.sizes) == (own, desc.sizes):
            other = writes[0].value.name
            words = quote(other) if is_native else f"{name} of {quote(producer.name)}"
            edits = (Edit(f"{node.source.rpartition('/')[0]}/inputs/{field}", other),) if is_native else ()
            found.insert(0, Remedy(f"{field} {words}", edits))
    yield replace(item, remedies=tuple(found))


def is_mistaken(item: Diagnostic, desc: OperatorDesc, judge: AnyJudge) -> bool:
    """Whether a value is read with another element width, or as a type that the operator does not support.

    Operators that only move bits may read them as any type, and 64 bits as two times 32 with strides.
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
