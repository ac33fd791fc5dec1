"""Finds the nodes that need a higher feature level, and equivalents for a lower one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from dml2onnx import catalog
from dml2onnx.checks.older import translated, with_casts
from dml2onnx.checks.operators import findings_of
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dml2onnx.catalog import FeatureLevel, OperatorSchema
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import FieldValue

DEPTH = 5
"""The most changes made to one descriptor."""
_FUSED = "FusedActivation"
_NEUTRAL = MappingProxyType(
    {
        "StartPadding": 0,
        "EndPadding": 0,
        "Offsets": 0,
        "Sizes": 1,
        "Strides": 1,
        "InputWindowOffsets": 0,
        "InputWindowSizes": 1,
        "InputWindowStrides": 1,
        "Repeats": 1,
    }
)
"""The entry of each array field along a dimension of size 1."""


class NodeAboveLevel(NamedTuple):
    """A node that needs a higher feature level than the requested one."""

    node: str
    operator: str
    needs: FeatureLevel
    """The first level that supports it."""
    reason: str
    instead: str
    """A description of the equivalent at the requested level; empty if none is known."""
    steps: tuple[OperatorDesc, ...]
    """The equivalent as descriptors, each of which reads the output of the previous one."""
    at: FeatureLevel
    """The requested level, or, without one, the lowest level that supports ``steps``."""


def nodes_above_level(graph: Graph, level: FeatureLevel) -> Iterator[NodeAboveLevel]:
    """Yields the nodes that a level refuses and a later level supports, with an equivalent if one is known."""
    for node in graph.nodes:
        errors = _errors(node.operator, level)
        if errors:
            needs = next((later for later in catalog.feature_levels() if not _errors(node.operator, later)), None)
            if needs is not None:
                steps = alternative(node.operator, level)
                words = _all_in_words(node.operator, steps)
                yield NodeAboveLevel(node.name, node.operator.type, needs, errors[0], words, steps, level)


def equivalent(desc: OperatorDesc, level: FeatureLevel) -> str:
    """Describes the equivalent of an operator at a level and the fields that it lacks; empty if none is known."""
    is_sound = not any(value is UNREADABLE for value in desc.values) and not _errors(desc, catalog.LATEST)
    steps = alternative(desc, level) if is_sound else ()
    left = [name for field, value in desc.items() if value is not None and (name := field.name) not in _COUNTS]
    lacking = [name for name in left if len(steps) == 1 and name not in steps[0].schema.index]
    return _all_in_words(desc, steps) + (f", without {' and '.join(lacking)}" if lacking else "")


_COUNTS = frozenset({"AxisCount", "DimensionCount"})


def _all_in_words(desc: OperatorDesc, steps: Sequence[OperatorDesc]) -> str:
    return ", then ".join([_in_words(step, _rank(desc)) for step in steps])


def nodes_at_the_top_level(graph: Graph) -> Iterator[NodeAboveLevel]:
    """Yields the nodes that need the highest level, each with its equivalent at the lowest possible level."""
    levels = list(catalog.feature_levels())
    known: dict[OperatorDesc, FeatureLevel | None] = {}
    for node in graph.nodes:
        if node.operator not in known:
            known[node.operator] = next((level for level in levels if not _errors(node.operator, level)), None)
    needed = [level for level in known.values() if level is not None]
    highest = max(needed, default=levels[0])
    if highest == levels[0]:
        return
    below = levels[levels.index(highest) - 1]
    for node in graph.nodes:
        if known[node.operator] == highest:
            found = ((level, alternative(node.operator, level)) for level in levels if level < highest)
            lowest, steps = next(((level, steps) for level, steps in found if steps), (below, ()))
            words = _all_in_words(node.operator, steps)
            reason = _errors(node.operator, below)[0]
            yield NodeAboveLevel(node.name, node.operator.type, highest, reason, words, steps, lowest)


def _in_words(step: OperatorDesc, rank: int) -> str:
    if step.type == "CAST":
        return f"CAST to {step.tensors('OutputTensor')[0].data_type.name}"
    return step.type if _rank(step) == rank else f"{step.type} of {_rank(step)} dimensions"


def alternative(desc: OperatorDesc, level: FeatureLevel, depth: int = DEPTH) -> tuple[OperatorDesc, ...]:
    """Returns descriptors of a level that together replace one that the level lacks, or none if none are known.

    Each reads the output of the previous one. Results keep their memory layout and are equal, except that a separate
    activation sees values rounded to FLOAT32, where a fused one may see more digits.
    """
    if not _errors(desc, level):
        return (desc,)
    forms = (_older, translated, _with_leading_ones, _without_activation, with_casts)
    for form in forms if depth else ():
        for steps in form(desc):
            found = [alternative(step, level, depth - 1) for step in steps]
            if all(found):
                return tuple(step for part in found for step in part)
    return ()


# --- Forms ------------------------------------------------------------------------------------------------------------


def _older(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc]]:
    """An earlier version of the operator, if the fields that it lacks are absent or have no effect."""
    for schema in _earlier(desc.schema):
        dropped = {field.name: value for field, value in desc.items() if field.name not in schema.index}
        if all(_has_no_effect(name, value) for name, value in dropped.items()):
            values: dict[str, FieldValue] = {field.name: value for field, value in desc.items()}
            yield (OperatorDesc(schema, tuple(values.get(field.name) for field in schema.fields)),)


def _with_leading_ones(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc]]:
    """The operator on tensors with leading dimensions of size 1, if it treats all dimensions alike."""
    if not desc.schema.dimensions:
        return
    ranks = {len(tensor.sizes) for tensor in _tensors(desc)}
    if len(ranks) != 1:
        return
    (rank,) = ranks
    for more in range(1, MAX_DIMENSIONS - rank + 1):
        values = _widened(desc, rank, more)
        if values is not None:
            yield (OperatorDesc(desc.schema, values),)


def _widened(desc: OperatorDesc, rank: int, more: int) -> tuple[FieldValue, ...] | None:
    """The field values with ``more`` leading dimensions; ``None`` if a field may not allow them."""
    values: dict[str, FieldValue] = {}
    for field, value in desc.items():
        if isinstance(value, TensorDesc):
            value = _with_ones(value, more)
        elif isinstance(value, tuple) and field.is_tensor:
            value = tuple([_with_ones(item, more) for item in value if isinstance(item, TensorDesc)])
        elif field.dimensions == "axis" and isinstance(value, int):
            value += more
        elif field.dimensions == "axes" and isinstance(value, tuple):
            value = tuple([item + more for item in value if isinstance(item, int)])
        elif field.name in _NEUTRAL and isinstance(value, tuple) and len(value) == rank:
            value = (*[_NEUTRAL[field.name]] * more, *cast("tuple[int, ...]", value))
        elif isinstance(value, (tuple, OperatorDesc)):
            return None
        values[field.name] = value
    for field in desc.schema.fields:
        listed = values[field.name]
        if field.count is not None and isinstance(listed, tuple):
            values[field.count] = len(listed)
    return tuple([values[field.name] for field in desc.schema.fields])


def _with_ones(desc: TensorDesc, more: int) -> TensorDesc:
    strides = None if desc.strides is None else (*[desc.strides[0]] * more, *desc.strides)
    return replace(desc, sizes=(1,) * more + desc.sizes, strides=strides)


def _without_activation(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc, OperatorDesc]]:
    """The operator and its fused activation as two nodes, with the result rounded to FLOAT32 in between."""
    fused = desc.find(_FUSED)
    output = desc.find("OutputTensor")
    if not isinstance(fused, OperatorDesc) or not isinstance(output, TensorDesc):
        return
    if output.data_type is not DataType.FLOAT32 or not {"InputTensor", "OutputTensor"} <= fused.schema.index.keys():
        return
    bare = [None if field.name == _FUSED else value for field, value in desc.items()]
    activation = [output if field.name in ("InputTensor", "OutputTensor") else value for field, value in fused.items()]
    yield OperatorDesc(desc.schema, tuple(bare)), OperatorDesc(fused.schema, tuple(activation))


def _tensors(desc: OperatorDesc) -> list[TensorDesc]:
    return [tensor for field in desc.schema.fields if field.is_tensor for tensor in desc.tensors(field.name)]


def _rank(desc: OperatorDesc) -> int:
    """The rank of the last tensor, which is an output."""
    return max((len(tensor.sizes) for tensor in _tensors(desc)[-1:]), default=0)


def _earlier(schema: OperatorSchema) -> list[OperatorSchema]:
    """Earlier versions of an operator, the latest first: MAX_POOLING1 and MAX_POOLING for MAX_POOLING2."""
    stem = schema.name.rstrip("0123456789")
    number = schema.name.removeprefix(stem)
    names = [stem + (str(version) if version else "") for version in reversed(range(int(number or 0)))]
    return [catalog.operator(name) for name in names if name in catalog.operator_names()]


def _has_no_effect(name: str, value: FieldValue) -> bool:
    return value is None or (name == "Dilations" and isinstance(value, tuple) and set(value) == {1})


def _errors(desc: OperatorDesc, level: FeatureLevel) -> list[str]:
    return [item.message for item in findings_of(desc, level) if item.is_error]
