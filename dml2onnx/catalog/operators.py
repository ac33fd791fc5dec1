"""Operators: their schemas, found by name and read one file at a time."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dml2onnx.catalog.constraints import Constraint, Rule, read_constraint
from dml2onnx.catalog.enums import enum_schema
from dml2onnx.catalog.fields import FieldKind, FieldSchema, SupportRow, read_field, read_row
from dml2onnx.catalog.files import OPERATOR_PREFIX as _PREFIX
from dml2onnx.catalog.files import UnknownNameError, did_you_mean, operator_names, read_json
from dml2onnx.catalog.levels import FeatureLevel


class UnknownOperatorError(UnknownNameError):
    """No such operator."""


# Compared and hashed by identity: the catalogue holds exactly one object for each operator.
@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OperatorSchema:
    """Everything the catalogue knows of one operator, except its documentation examples."""

    name: str
    struct: str
    family: str
    """The name of the modules that lower it and specify it, and of the tests of both."""
    doc: str
    introduced: FeatureLevel
    summary: str
    in_place: bool
    left_open: tuple[str, ...]
    """What a default model does not promise: words of :data:`~dml2onnx.catalog.left_open.LEFT_OPEN`."""
    fields: tuple[FieldSchema, ...]
    constraints: tuple[Constraint, ...]
    support: tuple[SupportRow, ...] = dataclasses.field(repr=False)
    semantics: tuple[str, ...] = dataclasses.field(repr=False)
    accepted_data_types: frozenset[str] = frozenset()
    """Data types that no page lists and DirectML takes all the same."""
    only_created_data_types: frozenset[str] = frozenset()
    """Data types that no page lists, of which DirectML creates the operator, and compiles it not."""
    dimensions: str = ""
    """``elements``: each element by itself; ``named``: all dimensions alike but for what fields say; else by place."""
    short_name: str = dataclasses.field(init=False)
    stem: str = dataclasses.field(init=False)
    tensor_fields: tuple[FieldSchema, ...] = dataclasses.field(init=False, repr=False)
    input_fields: tuple[FieldSchema, ...] = dataclasses.field(init=False, repr=False)
    output_fields: tuple[FieldSchema, ...] = dataclasses.field(init=False, repr=False)
    attribute_fields: tuple[FieldSchema, ...] = dataclasses.field(init=False, repr=False)
    fields_by_name: Mapping[str, FieldSchema] = dataclasses.field(init=False, repr=False)
    index: Mapping[str, int] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        def of(*kinds: FieldKind) -> tuple[FieldSchema, ...]:
            return tuple(f for f in self.fields if f.kind in kinds)

        short_name = self.name.removeprefix(_PREFIX)
        derived = {
            "short_name": short_name,
            "stem": short_name.lower(),
            "tensor_fields": of(FieldKind.INPUT_TENSOR, FieldKind.OUTPUT_TENSOR),
            "input_fields": of(FieldKind.INPUT_TENSOR),
            "output_fields": of(FieldKind.OUTPUT_TENSOR),
            "attribute_fields": of(FieldKind.ATTRIBUTE),
            "fields_by_name": MappingProxyType({f.name: f for f in self.fields}),
            "index": MappingProxyType({f.name: i for i, f in enumerate(self.fields)}),
        }
        for key, value in derived.items():
            object.__setattr__(self, key, value)

    def __reduce__(self) -> tuple[Callable[[str], OperatorSchema], tuple[str]]:
        """Copies and pickles of what refers to an operator refer to the one object that the catalogue holds."""
        return operator, (self.name,)

    @property
    def is_element_wise(self) -> bool:
        """Whether each element of the outputs depends on the elements at the same place alone."""
        return self.dimensions == "elements"

    def field(self, name: str) -> FieldSchema | None:
        return self.fields_by_name.get(name)

    def rows_at(self, level: FeatureLevel) -> tuple[SupportRow, ...]:
        """The support rows in force at a level: the newest one, or for REDUCE the newest of each function group.

        Empty when the level is older than the operator.
        """
        return _rows_at(self, level)

    def examples(self) -> list[dict[str, Any]]:
        """The documentation's examples as they stand in the file; read anew each time, they are not kept."""
        raw = read_json(f"operators/{self.stem}.json")
        examples: list[dict[str, Any]] = raw["examples"]
        return examples


@functools.cache
def operator(name: str) -> OperatorSchema:
    """The operator of that full or short name (`DML_OPERATOR_PADDING` or `PADDING`), or raises UnknownOperatorError."""
    full_name = name if name.startswith(_PREFIX) else _PREFIX + name
    known_name = full_name if full_name in _operator_name_set() else _other_name(full_name)
    if known_name is None:
        raise UnknownOperatorError(_unknown_operator_message(name))
    return _load_operator(known_name)


def find_operator(name: str) -> OperatorSchema | None:
    """As `operator`, but None for an unknown name."""
    try:
        return operator(name)
    except UnknownOperatorError:
        return None


def fused_activations(host: str) -> Mapping[str, FeatureLevel]:
    """Which operators (full names) a host accepts in its FusedActivation field, and from which level on.

    Empty for an operator that hosts none.
    """
    full_name = host if host.startswith(_PREFIX) else _PREFIX + host
    return _fused_activation_table().get(full_name, MappingProxyType({}))


@functools.cache
def loose_fields(schema: OperatorSchema) -> Mapping[str, str]:
    """The fields that have to equal something by the documentation alone, with what DirectML does where they do not."""
    return MappingProxyType(
        {
            item.left: item.accepted
            for item in schema.constraints
            if item.rule is Rule.EQUAL and item.left is not None and item.accepted is not None
        }
    )


@functools.cache
def accepted_fusions() -> frozenset[str]:
    """The operators (full names) that no page lists as fusable and DirectML fuses into every host."""
    return frozenset(read_json("fused_activations.json")["accepted"]["operators"])


@functools.cache
def _operator_name_set() -> frozenset[str]:
    return frozenset(operator_names())


def _other_name(full_name: str) -> str | None:
    # The header has two names for one number: SCATTER_ELEMENTS is SCATTER, under which the structure is documented.
    types = enum_schema("DML_OPERATOR_TYPE").by_full_name
    value = types.get(full_name)
    if value is None:
        return None
    twins = (other.full_name for other in types.values() if other.value == value.value)
    return next((name for name in twins if name in _operator_name_set()), None)


def _unknown_operator_message(name: str) -> str:
    from dml2onnx.catalog.familiar import is_layout, meant_operator  # only what is misspelt needs it

    if is_layout(name):
        return f"DirectML has no operator {name}; the Sizes and Strides of tensors do that"
    meant = meant_operator(name)
    if meant:
        return f"DirectML has no operator {name}; did you mean {meant}?"
    # Compared without the prefix: it makes every name look like every other.
    short_names = tuple(known.removeprefix(_PREFIX) for known in operator_names())
    return f"DirectML has no operator {name}{did_you_mean(name.upper().removeprefix(_PREFIX), short_names)}"


@functools.cache
def _load_operator(full_name: str) -> OperatorSchema:
    raw = read_json(f"operators/{full_name.removeprefix(_PREFIX).lower()}.json")
    return OperatorSchema(
        name=raw["operator"],
        struct=raw["struct"],
        family=raw["family"],
        doc=raw["doc"],
        introduced=FeatureLevel(raw["introduced"]),
        summary=raw["summary"],
        in_place=raw["in_place"],
        left_open=tuple(raw["left_open"]),
        fields=tuple(read_field(entry) for entry in raw["fields"]),
        constraints=tuple(read_constraint(entry, raw["operator"]) for entry in raw["constraints"]),
        support=tuple(read_row(entry) for entry in raw["support"]),
        semantics=tuple(raw["semantics"]),
        accepted_data_types=frozenset(raw.get("accepted_data_types", ())),
        only_created_data_types=frozenset(raw.get("only_created_data_types", ())),
        dimensions=raw.get("dimensions", ""),
    )


@functools.cache
def _rows_at(schema: OperatorSchema, level: FeatureLevel) -> tuple[SupportRow, ...]:
    rows: list[SupportRow] = []
    covered: set[str] = set()
    for row in schema.support:
        if row.level > level:
            continue
        if not row.functions:
            return (row,)
        if not covered.issuperset(row.functions):
            rows.append(row)
            covered.update(row.functions)
    return tuple(rows)


@functools.cache
def _fused_activation_table() -> Mapping[str, Mapping[str, FeatureLevel]]:
    hosts = read_json("fused_activations.json")["hosts"]
    return MappingProxyType(
        {
            host["operator"]: MappingProxyType({row["operator"]: FeatureLevel(row["from"]) for row in host["accepts"]})
            for host in hosts
        }
    )
