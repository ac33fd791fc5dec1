"""Converts arguments that stand for a tensor of an operator or for a dimension."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import arguments
from dml2onnx.builder.attributes import holds
from dml2onnx.builder.expression import Expression
from dml2onnx.catalog import Rule
from dml2onnx.diagnostics import Remedy, shortened
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.inference import tied

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from dml2onnx.catalog import FeatureLevel, OperatorSchema
    from dml2onnx.ir.operator import FieldValue

_SPATIAL = re.compile(r"(\w+)\.DimensionCount - 2")
_LAST_DIMENSION = re.compile(r"(\w+)\.DimensionCount - 1")


def is_literal(argument: object) -> bool:
    """Whether it is a number or an array of any library, not an expression."""
    return not isinstance(argument, Expression) and (
        isinstance(argument, (int, float)) or hasattr(argument, "__array__")
    )


def as_constant(argument: object) -> tuple[Remedy, ...]:
    """How to convert a tensor of another library, an array or a number to an expression."""
    if isinstance(argument, (list, tuple)) or not is_literal(argument):
        return ()
    call = arguments.call_for_array(argument)
    return (Remedy(f"constant(...{call}) of the GraphBuilder makes an Expression of it"),)


def without_data_type(argument: object, field: str) -> str:
    """A hint that a list of numbers is not a tensor; empty for anything else."""
    if (
        not isinstance(argument, (list, tuple))
        or not argument
        or not all(type(item) in (int, float) for item in argument)
    ):
        return ""
    numbers = shortened(str(list(argument)), 60)
    return f"{numbers} for {field} has no data type; numpy.array({numbers}, dtype=...) has one"


def as_matrix(
    schema: OperatorSchema, field: str, array: npt.NDArray[np.generic], inputs: Mapping[str, object]
) -> npt.NDArray[np.generic]:
    """An array for a matrix operand, with leading dimensions of 1 up to the rank of the other matrix."""
    other = inputs.get(_MATRICES.get(field, ""))
    if "TransA" not in schema.index or not isinstance(other, Expression) or array.ndim != 2:
        return array
    return array.reshape((1,) * (other.rank - 2) + array.shape)


_MATRICES = {"ATensor": "BTensor", "BTensor": "ATensor"}


def relatives(schema: OperatorSchema, rule: Rule, field: str, inputs: Mapping[str, object]) -> Iterator[Expression]:
    """The expressions among ``inputs`` whose fields a rule relates to ``field``, including its own array."""
    for name in tied(schema, rule, field):
        argument = inputs.get(name)
        for item in argument if isinstance(argument, (list, tuple)) else (argument,):
            if isinstance(item, Expression):
                yield item


def only_type(
    schema: OperatorSchema, field: str, level: FeatureLevel, number: npt.NDArray[np.generic]
) -> DataType | None:
    """The only data type that an operator supports for a tensor at a level and that can hold a number."""
    rows = schema.rows_at(level)
    names = {name for row in rows if field in row.tensors for name in row.tensors[field].data_types}
    fitting = [item for item in DataType if item.name in names and holds(item, number)]
    return fitting[0] if len(fitting) == 1 else None


def of_one_dimension(
    schema: OperatorSchema, inputs: Mapping[str, object], attributes: Mapping[str, object]
) -> dict[str, object]:
    """Inputs with one-dimensional per-channel or per-column arrays placed along the channel or column dimension."""
    made = dict(inputs)
    a, c = inputs.get("ATensor"), inputs.get("CTensor")
    if isinstance(a, Expression) and isinstance(c, Expression) and a.rank > 1 and c.rank == 1 and not c.strides:
        rows = a.sizes[-1 if str(attributes.get("TransA")).endswith("TRANSPOSE") else -2]
        made["CTensor"] = c.builder.broadcast(c, (*a.sizes[:-2], rows, c.sizes[0]))
    input = inputs.get("InputTensor")
    if not isinstance(input, Expression) or input.rank < 3:
        return made
    for field in _OF_CHANNELS:
        argument = inputs.get(field)
        if field not in schema.index or not isinstance(argument, Expression) or argument.rank != 1 or argument.strides:
            continue
        if "InputTensor" in tied(schema, Rule.SAME_DIMENSION_COUNT, field):
            sizes = (1, argument.sizes[0], *(1,) * (input.rank - 2))
            made[field] = argument.builder.reinterpret(argument, sizes=sizes)
    return made


_OF_CHANNELS = ("BiasTensor", "MeanTensor", "ScaleTensor", "VarianceTensor")
"""Per-channel inputs of convolutions and normalizations, one-dimensional in other libraries."""


def spread(schema: OperatorSchema, attributes: dict[str, object], descs: Mapping[str, FieldValue]) -> None:
    """Expands single numbers to lists for all spatial dimensions, if a rule gives their number."""
    for field, tensor in spatial(schema).items():
        argument = attributes.get(field)
        rank = next((desc.rank for desc in _descs(descs.get(tensor))), 0)
        if rank > 2 and isinstance(argument, int) and not isinstance(argument, bool):
            attributes[field] = [argument] * (rank - 2)


@cache
def spatial(schema: OperatorSchema) -> Mapping[str, str]:
    """The array fields with one number per spatial dimension, each with the tensor that has these dimensions."""
    counts: dict[str | None, str] = {}
    for item in schema.constraints:
        found = _SPATIAL.fullmatch(str(item.right)) if item.rule is Rule.EQUAL and item.when is None else None
        if found is not None:
            counts[item.left] = found[1]
    return {
        field.name: counts[field.count] for field in schema.attribute_fields if field.count and field.count in counts
    }


def axes_from_the_start(
    schema: OperatorSchema, attributes: dict[str, object], descs: Mapping[str, FieldValue]
) -> dict[str, object]:
    """Attributes, as decoded JSON, with negative axes counted from the end made non-negative."""
    for field, tensor in _axes(schema):
        rank = next((desc.rank for name in (tensor, *descs) for desc in _descs(descs.get(name))), 0)
        argument = attributes.get(field)
        if isinstance(argument, list):
            attributes[field] = [axis_from_the_start(item, rank) for item in argument]
        elif argument is not None:
            attributes[field] = axis_from_the_start(argument, rank)
    return attributes


def axes_beyond(
    schema: OperatorSchema, attributes: Mapping[str, object], descs: Mapping[str, FieldValue]
) -> Iterator[tuple[int, int]]:
    """Axes out of range for an output whose sizes are not known yet, each with the output's rank."""
    for field, tensor in _axes(schema):
        axis = attributes.get(field)
        rank = next((desc.rank for name in descs for desc in _descs(descs[name])), 0)
        if rank and tensor not in descs and isinstance(axis, int) and not -rank <= axis < rank:
            yield axis, rank


def axis_from_the_start(axis: object, rank: int) -> object:
    """The axis counted from 0 if it is negative; the checks judge anything else."""
    is_from_the_end = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) and -rank <= axis < 0
    return int(axis) + rank if is_from_the_end else axis  # type: ignore[call-overload]  # is_from_the_end implies a number


@cache
def _axes(schema: OperatorSchema) -> tuple[tuple[str, str], ...]:
    """The attributes that are axes, each with the tensor that it refers to."""
    found = []
    for item in schema.constraints:
        field = None if item.attribute is None else schema.field(item.attribute)
        if item.rule is Rule.ATTRIBUTE_RANGE and field is not None and field.names_axes:
            last = _LAST_DIMENSION.fullmatch(str(item.max))
            if last is not None:
                found.append((field.name, last[1]))
    return tuple(found)


def _descs(value: FieldValue) -> Iterator[TensorDesc]:
    for item in value if isinstance(value, tuple) else (value,):
        if isinstance(item, TensorDesc):
            yield item
