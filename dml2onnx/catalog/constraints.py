"""The constraints of operators, as data where possible."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from dml2onnx.catalog.levels import FeatureLevel


class Rule(enum.StrEnum):
    """Kinds of constraints.

    REQUIRES and SIZE_FORMULA are stated in words, and each has a check function, which is found by the constraint's
    id. NOTE cannot be violated by a descriptor (permissions, contents of buffers). All others are data.
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
    """One rule of an operator; `rule` determines which of the optional members are set (see operator.schema.json)."""

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
    """What DirectML does with a descriptor that breaks the rule, if it accepts one."""
    compiled: bool = False
    """Whether a compiled model does the same."""

    def applies_at(self, level: FeatureLevel) -> bool:
        """Whether the rule applies at a level; it ends *before* `until_level`."""
        if self.from_level is not None and level < self.from_level:
            return False
        return self.until_level is None or level < self.until_level

    @property
    def statement(self) -> str | None:
        """The rule in words, if the catalog has any."""
        if self.text is not None or self.need_text is None:
            return self.text or self.formula
        return f"{self.need_text}, if {self.when_text}" if self.when_text else self.need_text


def _read_condition(raw: dict[str, Any]) -> Condition:
    return Condition(raw["subject"], ConditionOp(raw["op"]), tuple(raw.get("values", ())))


def read_constraint(raw: dict[str, Any], operator_name: str) -> Constraint:
    """Returns a constraint from its entry under `constraints` in an operator's file."""
    values = {_RENAMED.get(key, key): value for key, value in raw.items() if key not in _UNUSED}
    converted = {key: convert(values[key]) for key, convert in _CONVERTERS.items() if key in values}
    return Constraint(operator=operator_name, **values | converted)


_UNUSED = frozenset({"basis", "corrected"})
_RENAMED = {"if": "when_text", "then": "need_text"}
_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "rule": Rule,
    "tensors": tuple,
    "one_of": tuple,
    "level": FeatureLevel,
    "from_level": FeatureLevel,
    "until_level": FeatureLevel,
    "when": _read_condition,
}
