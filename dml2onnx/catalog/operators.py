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


# Compared and hashed by identity: there is one object for each operator.
@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OperatorSchema:
    """The catalog entry of an operator, without its documentation examples."""

    name: str
    struct: str
    family: str
    """The name of the modules that lower it and specify it, and of their tests."""
    doc: str
    introduced: FeatureLevel
    summary: str
    in_place: bool
    left_open: tuple[str, ...]
    """What default models do not guarantee: words of :data:`~dml2onnx.catalog.left_open.LEFT_OPEN`."""
    fields: tuple[FieldSchema, ...]
    constraints: tuple[Constraint, ...]
    support: tuple[SupportRow, ...] = dataclasses.field(repr=False)
    semantics: tuple[str, ...] = dataclasses.field(repr=False)
    accepted_data_types: frozenset[str] = frozenset()
    """Data types that DirectML accepts although no page lists them."""
    only_created_data_types: frozenset[str] = frozenset()
    """Data types that no page lists, with which DirectML creates the operator and refuses to compile it."""
    dimensions: str = ""
    """``elements``: each element by itself; ``named``: only fields distinguish dimensions; else by position."""
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
        """Makes copies and pickles refer to the one object in the catalog."""
        return operator, (self.name,)

    @property
    def is_element_wise(self) -> bool:
        """Whether each output element depends only on the input elements at the same position."""
        return self.dimensions == "elements"

    def field(self, name: str) -> FieldSchema | None:
        return self.fields_by_name.get(name)

    def rows_at(self, level: FeatureLevel) -> tuple[SupportRow, ...]:
        """The support rows of a level: the newest one, or for REDUCE the newest one of each function group.

        Empty if the operator is newer than the level.
        """
        return _rows_at(self, level)

    def examples(self) -> list[dict[str, Any]]:
        """Reads the documentation's examples from the file, without caching them."""
        raw = read_json(f"operators/{self.stem}.json")
        examples: list[dict[str, Any]] = raw["examples"]
        return examples


@functools.cache
def operator(name: str) -> OperatorSchema:
    """Returns an operator by its full or short name (`DML_OPERATOR_PADDING` or `PADDING`).

    Raises :class:`UnknownOperatorError`.
    """
    full_name = name if name.startswith(_PREFIX) else _PREFIX + name
    known_name = full_name if full_name in _operator_name_set() else _other_name(full_name)
    if known_name is None:
        raise UnknownOperatorError(_unknown_operator_message(name))
    return _load_operator(known_name)


def find_operator(name: str) -> OperatorSchema | None:
    """Returns the operator, or ``None`` for an unknown name."""
    try:
        return operator(name)
    except UnknownOperatorError:
        return None


def fused_activations(host: str) -> Mapping[str, FeatureLevel]:
    """Returns the operators (full names) that a host can fuse, with the first level of each; empty if it fuses none."""
    full_name = host if host.startswith(_PREFIX) else _PREFIX + host
    return _fused_activation_table().get(full_name, MappingProxyType({}))


@functools.cache
def loose_fields(schema: OperatorSchema) -> Mapping[str, str]:
    """The fields whose equality rule DirectML does not enforce, with what it does when they differ."""
    return MappingProxyType(
        {
            item.left: item.accepted
            for item in schema.constraints
            if item.rule is Rule.EQUAL and item.left is not None and item.accepted is not None
        }
    )


@functools.cache
def accepted_fusions() -> frozenset[str]:
    """The operators (full names) that DirectML fuses into every host although no page lists them."""
    return frozenset(read_json("fused_activations.json")["accepted"]["operators"])


@functools.cache
def _operator_name_set() -> frozenset[str]:
    return frozenset(operator_names())


def _other_name(full_name: str) -> str | None:
    # The header has two names for one number: the structure of SCATTER_ELEMENTS is documented as SCATTER.
    types = enum_schema("DML_OPERATOR_TYPE").by_full_name
    value = types.get(full_name)
    if value is None:
        return None
    twins = (other.full_name for other in types.values() if other.value == value.value)
    return next((name for name in twins if name in _operator_name_set()), None)


def _unknown_operator_message(name: str) -> str:
    from dml2onnx.catalog.familiar import is_layout, meant_operator  # needed for misspelled names only

    if is_layout(name):
        return f"DirectML has no operator {name}; the Sizes and Strides of tensors do that"
    meant = meant_operator(name)
    if meant:
        return f"DirectML has no operator {name}; did you mean {meant}?"
    # Compared without the prefix, which makes all names similar.
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
