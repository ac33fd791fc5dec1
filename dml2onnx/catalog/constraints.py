"""The rules that an operator's description has to follow, as data where they can be."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from dml2onnx.catalog.levels import FeatureLevel, read_level


class Rule(enum.StrEnum):
    """Kinds of constraints.

    REQUIRES and SIZE_FORMULA are stated in words and need one check function each, found by the constraint's id.
    NOTE says something that no description can violate (permissions, contents of buffers). All others are data.
    """

    ALL_OR_NONE = "all_or_none"
    AT_LEAST_ONE_OF = "at_least_one_of"
    ATTRIBUTE_RANGE = "attribute_range"
    BROADCASTABLE = "broadcastable"
    DATA_TYPES = "data_types"
    DIMENSION_COUNT = "dimension_count"
    DISTINCT = "distinct"
    EFFECTIVE_RANK = "effective_rank"
    ELEMENT_COUNT = "element_count"
    EQUAL = "equal"
    EXACTLY_ONE_OF = "exactly_one_of"
    FUSED_ACTIVATION = "fused_activation"
    NONZERO = "nonzero"
    NOT_OWNED_BY_DML = "not_owned_by_dml"
    NOTE = "note"
    OPTIONAL_FROM = "optional_from"
    REQUIRED = "required"
    REQUIRES = "requires"
    SAME_DATA_TYPE = "same_data_type"
    SAME_DIMENSION_COUNT = "same_dimension_count"
    SAME_SIZES = "same_sizes"
    SIZE_FORMULA = "size_formula"
    VALUE_LEVEL = "value_level"


class ConditionOp(enum.Enum):
    """How the subject of a condition is compared."""

    IN = "in"
    NOT_IN = "not_in"
    NULL = "null"
    NOT_NULL = "not_null"


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """When a constraint holds: `subject` is a field name or `Tensor.DataType`, values are short enum names."""

    subject: str
    op: ConditionOp
    values: tuple[str, ...] = ()


# A number, or a small expression in Python's syntax: integers, + - * /, attribute names, `Tensor.DimensionCount`,
# `Tensor.DataType` and `Tensor.Sizes[index]`.
Bound = int | float | str


@dataclasses.dataclass(frozen=True, slots=True)
class Constraint:
    """One rule of an operator; which of the optional members are set follows from `rule` (see operator.schema.json)."""

    id: str
    rule: Rule
    operator: str
    tensors: tuple[str, ...] = ()
    tensor: str | None = None
    to: str | None = None
    attribute: str | None = None
    field: str | None = None
    min: Bound | None = None
    max: Bound | None = None
    exclusive_min: bool = False
    one_of: tuple[str | int, ...] = ()
    left: str | None = None
    right: Bound | None = None
    value: str | None = None
    level: FeatureLevel | None = None
    from_level: FeatureLevel | None = None
    until_level: FeatureLevel | None = None
    when: Condition | None = None
    formula: str | None = None
    when_text: str | None = None
    need_text: str | None = None
    text: str | None = None
    accepted: str | None = None
    """What DirectML does with a description that breaks the rule, where it takes one: the rule is documented only."""
    compiled: bool = False
    """Whether that is what a compiled model does too."""

    def applies_at(self, level: FeatureLevel) -> bool:
        """Whether the rule is in force at a level; it ends *before* `until_level`."""
        if self.from_level is not None and level < self.from_level:
            return False
        return self.until_level is None or level < self.until_level

    @property
    def statement(self) -> str | None:
        """The rule in words, where the catalogue has words for it."""
        if self.text is not None or self.need_text is None:
            return self.text or self.formula
        return f"{self.need_text}, if {self.when_text}" if self.when_text else self.need_text


def _read_condition(raw: dict[str, Any] | None) -> Condition | None:
    return None if raw is None else Condition(raw["subject"], ConditionOp(raw["op"]), tuple(raw.get("values", ())))


def read_constraint(raw: dict[str, Any], operator_name: str) -> Constraint:
    """The entry of an operator's file, as it stands under `constraints`."""
    return Constraint(
        id=raw["id"],
        rule=Rule(raw["rule"]),
        operator=operator_name,
        tensors=tuple(raw.get("tensors", ())),
        tensor=raw.get("tensor"),
        to=raw.get("to"),
        attribute=raw.get("attribute"),
        field=raw.get("field"),
        min=raw.get("min"),
        max=raw.get("max"),
        exclusive_min=raw.get("exclusive_min", False),
        one_of=tuple(raw.get("one_of", ())),
        left=raw.get("left"),
        right=raw.get("right"),
        value=raw.get("value"),
        level=read_level(raw.get("level")),
        from_level=read_level(raw.get("from_level")),
        until_level=read_level(raw.get("until_level")),
        when=_read_condition(raw.get("when")),
        formula=raw.get("formula"),
        when_text=raw.get("if"),
        need_text=raw.get("then"),
        text=raw.get("text"),
        accepted=raw.get("accepted"),
        compiled=raw.get("compiled", False),
    )
