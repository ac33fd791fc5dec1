"""What DirectML is, as typed values: operators, enums and feature levels, read on demand from `schemas/`.

The JSON files are the only statement of fields, constraints and support tables. This module gives them types and
nothing else; it imports only the standard library, and asking for one operator opens that operator's file alone.
"""

import dataclasses
import difflib
import enum
import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = [
    "LATEST",
    "Bound",
    "Condition",
    "ConditionOp",
    "Constraint",
    "EnumSchema",
    "EnumValue",
    "FeatureLevel",
    "FeatureLevelInfo",
    "FieldKind",
    "FieldSchema",
    "FieldType",
    "OperatorSchema",
    "Rule",
    "SupportRow",
    "TensorSupport",
    "UnknownEnumError",
    "UnknownFeatureLevelError",
    "UnknownOperatorError",
    "enum_schema",
    "feature_levels",
    "find_operator",
    "fused_activations",
    "level_of_directml",
    "level_of_windows",
    "operator",
    "operator_names",
    "schemas_directory",
    "windows_builds",
]

_PREFIX = "DML_OPERATOR_"


# --- Errors ---------------------------------------------------------------------------------------------------------


class _UnknownNameError(KeyError):
    """A name the catalogue does not have; KeyError alone would print the message in quotes."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownOperatorError(_UnknownNameError):
    """No such operator."""


class UnknownEnumError(_UnknownNameError):
    """No such enum type."""


class UnknownFeatureLevelError(ValueError):
    """Text that names no feature level of DirectML."""


# --- Feature levels -------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class FeatureLevelInfo:
    """Where a feature level first shipped."""

    name: str
    constant: str
    value: int
    directml_version: str
    windows: str | None
    windows_build: str | None
    redistributable: str
    note: str | None

    @property
    def ships_with(self) -> str:
        """The first ways to get this level, for messages."""
        if self.windows is None:
            return self.redistributable
        return f"{self.windows} (build {self.windows_build}) or {self.redistributable}"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class FeatureLevel:
    """A DirectML feature level: an ordered value, passed explicitly."""

    name: str = dataclasses.field(compare=False)
    number: tuple[int, int] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        match = re.fullmatch(r"([1-9])_(\d)", self.name)
        if match is None:
            raise UnknownFeatureLevelError(f"{self.name!r} is not a feature level: expected a name such as '4_0'")
        object.__setattr__(self, "number", (int(match[1]), int(match[2])))

    @classmethod
    def parse(cls, text: str) -> "FeatureLevel":
        """Reads `4_0`, `4.0` or `DML_FEATURE_LEVEL_4_0`, and accepts only levels that exist."""
        name = text.strip().removeprefix("DML_FEATURE_LEVEL_").replace(".", "_")
        level = _levels_by_name().get(name)
        if level is None:
            known = ", ".join(_levels_by_name())
            raise UnknownFeatureLevelError(f"{text!r} is not a feature level of DirectML; the levels are {known}")
        return level

    @property
    def info(self) -> FeatureLevelInfo:
        try:
            return _level_infos()[self.name]
        except KeyError:
            raise UnknownFeatureLevelError(f"DirectML has no feature level {self.name}") from None

    def __str__(self) -> str:
        return self.name


LATEST = FeatureLevel("6_4")


# --- Operators ------------------------------------------------------------------------------------------------------


class FieldKind(enum.Enum):
    """What a field is to the operator."""

    INPUT_TENSOR = "input_tensor"
    OUTPUT_TENSOR = "output_tensor"
    ATTRIBUTE = "attribute"


class FieldType(enum.Enum):
    """What a field holds; BOOL is a number in the structure, ENUM one of `FieldSchema.enum`."""

    TENSOR = "tensor"
    TENSOR_ARRAY = "tensor_array"
    UINT = "uint"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    ENUM = "enum"
    UINT_ARRAY = "uint_array"
    INT_ARRAY = "int_array"
    FLOAT_ARRAY = "float_array"
    SCALE_BIAS = "scale_bias"
    SCALAR_UNION = "scalar_union"
    SIZE_2D = "size_2d"
    OPERATOR = "operator"
    OPERATOR_ARRAY = "operator_array"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSchema:
    """One member of an operator's description structure, in the structure's order."""

    name: str
    kind: FieldKind
    type: FieldType
    optional: bool
    enum: str | None
    count: str | None
    scalar_type: str | None
    shape: str | None
    doc: str
    updated_with: str | None = None
    """The optional tensor with which the operator reads what this output holds and changes a part of it."""

    @property
    def is_tensor(self) -> bool:
        return self.kind is not FieldKind.ATTRIBUTE


@dataclasses.dataclass(frozen=True, slots=True)
class TensorSupport:
    """What one tensor field may be in one row of a support table; both ends of `dimension_counts` are allowed."""

    dimension_counts: tuple[int, int]
    data_types: frozenset[str]
    optional: bool


@dataclasses.dataclass(frozen=True, slots=True)
class SupportRow:
    """A support table of the documentation; `functions` (short names) is empty where the row holds for all of them."""

    level: FeatureLevel
    functions: tuple[str, ...]
    tensors: Mapping[str, TensorSupport]


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
    basis: str | None = None

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
    redistributable_only: bool
    support_incomplete: bool
    fields: tuple[FieldSchema, ...]
    constraints: tuple[Constraint, ...]
    support: tuple[SupportRow, ...] = dataclasses.field(repr=False)
    semantics: tuple[str, ...] = dataclasses.field(repr=False)
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

    def __reduce__(self) -> tuple[Callable[[str], "OperatorSchema"], tuple[str]]:
        """Copies and pickles of what refers to an operator refer to the one object that the catalogue holds."""
        return operator, (self.name,)

    def field(self, name: str) -> FieldSchema | None:
        return self.fields_by_name.get(name)

    def rows_at(self, level: FeatureLevel) -> tuple[SupportRow, ...]:
        """The support rows in force at a level: the newest one, or for REDUCE the newest of each function group.

        Empty when the level is older than the operator.
        """
        return _rows_at(self, level)

    def examples(self) -> list[dict[str, Any]]:
        """The documentation's examples as they stand in the file; read anew each time, they are not kept."""
        raw = _read_json(f"operators/{self.stem}.json")
        examples: list[dict[str, Any]] = raw["examples"]
        return examples


@functools.cache
def operator_names() -> tuple[str, ...]:
    """The full names of all operators, sorted; taken from the file names."""
    directory = schemas_directory() / "operators"
    return tuple(sorted(_PREFIX + path.stem.upper() for path in directory.glob("*.json")))


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


# --- Enums ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class EnumValue:
    """One enumerator: `WRAP`, `DML_PADDING_MODE_WRAP`, 4; an alias shares the number of the value that it renames."""

    name: str
    full_name: str
    value: int
    introduced: FeatureLevel
    alias_of: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class EnumSchema:
    """A C enum; with `flags` its values are bits that may be combined."""

    name: str
    flags: bool
    values: Mapping[str, EnumValue]
    by_value: Mapping[int, EnumValue] = dataclasses.field(init=False, repr=False)
    by_full_name: Mapping[str, EnumValue] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_value = {v.value: v for v in self.values.values() if v.alias_of is None}
        by_full_name = {v.full_name: v for v in self.values.values()}
        object.__setattr__(self, "by_value", MappingProxyType(by_value))
        object.__setattr__(self, "by_full_name", MappingProxyType(by_full_name))

    def find(self, text: str) -> EnumValue | None:
        """The value of that short or full name."""
        return self.values.get(text) or self.by_full_name.get(text)


@functools.cache
def enum_schema(name: str) -> EnumSchema:
    """The enum of that type name, such as `DML_PADDING_MODE`."""
    enums = _raw_enums()
    raw = enums.get(name)
    if raw is None:
        raise UnknownEnumError(f"DirectML has no enum {name}{_did_you_mean(name, tuple(enums))}")
    prefix: str = raw["prefix"]
    values = (
        EnumValue(
            name=value["name"].removeprefix(prefix),
            full_name=value["name"],
            value=value["value"],
            introduced=FeatureLevel(value["introduced"]),
            alias_of=value.get("alias_of"),
        )
        for value in raw["values"]
    )
    return EnumSchema(name=name, flags=raw["flags"], values=MappingProxyType({v.name: v for v in values}))


# --- Other tables ---------------------------------------------------------------------------------------------------


def feature_levels() -> tuple[FeatureLevel, ...]:
    """All feature levels, oldest first."""
    return tuple(_levels_by_name().values())


@functools.cache
def windows_builds() -> Mapping[str, int]:
    """The build numbers of the releases of Windows, by names such as ``10-22H2``."""
    releases = _read_json("windows_releases.json")["releases"]
    return MappingProxyType({item["release"]: item["build"] for item in releases})


def level_of_directml(major: int, minor: int) -> FeatureLevel | None:
    """The feature level that a version of DirectML has; None for one before the first."""
    return _newest(lambda info: tuple(map(int, info.directml_version.split(".")))[:2] <= (major, minor))


def level_of_windows(build: int) -> FeatureLevel | None:
    """The feature level of the DirectML that a build of Windows has by itself; None for one that has none."""
    return _newest(lambda info: bool(info.windows_build) and int(str(info.windows_build).rpartition(".")[2]) <= build)


def _newest(has: Callable[[FeatureLevelInfo], bool]) -> FeatureLevel | None:
    return max((level for level in feature_levels() if has(level.info)), default=None)


def fused_activations(host: str) -> Mapping[str, FeatureLevel]:
    """Which operators (full names) a host accepts in its FusedActivation field, and from which level on.

    Empty for an operator that hosts none.
    """
    full_name = host if host.startswith(_PREFIX) else _PREFIX + host
    return _fused_activation_table().get(full_name, MappingProxyType({}))


@functools.cache
def schemas_directory() -> Path:
    """The directory of the JSON files: inside the package in a wheel, beside it in a checkout."""
    inside = Path(__file__).parent / "schemas"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "schemas"


# --- Reading --------------------------------------------------------------------------------------------------------
# Raw JSON is the one place where Any is allowed; nothing of it leaves this section but the documentation examples.


def _read_json(relative: str) -> Any:
    with open(schemas_directory() / relative, encoding="utf-8") as file:
        return json.load(file)


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


def _did_you_mean(name: str, candidates: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, candidates, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _unknown_operator_message(name: str) -> str:
    # Compared without the prefix: it makes every name look like every other.
    short_names = tuple(known.removeprefix(_PREFIX) for known in operator_names())
    return f"DirectML has no operator {name}{_did_you_mean(name.upper().removeprefix(_PREFIX), short_names)}"


@functools.cache
def _load_operator(full_name: str) -> OperatorSchema:
    raw = _read_json(f"operators/{full_name.removeprefix(_PREFIX).lower()}.json")
    return OperatorSchema(
        name=raw["operator"],
        struct=raw["struct"],
        family=raw["family"],
        doc=raw["doc"],
        introduced=FeatureLevel(raw["introduced"]),
        summary=raw["summary"],
        in_place=raw["in_place"],
        redistributable_only=raw.get("redistributable_only", False),
        support_incomplete=raw.get("support_incomplete", False),
        fields=tuple(_read_field(entry) for entry in raw["fields"]),
        constraints=tuple(_read_constraint(entry, raw["operator"]) for entry in raw["constraints"]),
        support=tuple(_read_row(entry) for entry in raw["support"]),
        semantics=tuple(raw["semantics"]),
    )


def _read_field(raw: dict[str, Any]) -> FieldSchema:
    return FieldSchema(
        name=raw["name"],
        kind=FieldKind(raw["kind"]),
        type=FieldType(raw["type"]),
        optional=raw["optional"],
        enum=raw.get("enum"),
        count=raw.get("count"),
        scalar_type=raw.get("scalar_type"),
        shape=raw.get("shape"),
        doc=raw.get("doc", ""),
        updated_with=raw.get("updated_with"),
    )


def _read_row(raw: dict[str, Any]) -> SupportRow:
    tensors = {
        name: TensorSupport(
            dimension_counts=(entry["dimension_counts"][0], entry["dimension_counts"][1]),
            data_types=frozenset(entry["data_types"]),
            optional=entry["optional"],
        )
        for name, entry in raw["tensors"].items()
    }
    return SupportRow(FeatureLevel(raw["level"]), tuple(raw.get("functions", ())), MappingProxyType(tensors))


def _read_level(name: str | None) -> FeatureLevel | None:
    return None if name is None else FeatureLevel(name)


def _read_condition(raw: dict[str, Any] | None) -> Condition | None:
    return None if raw is None else Condition(raw["subject"], ConditionOp(raw["op"]), tuple(raw.get("values", ())))


def _read_constraint(raw: dict[str, Any], operator_name: str) -> Constraint:
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
        level=_read_level(raw.get("level")),
        from_level=_read_level(raw.get("from_level")),
        until_level=_read_level(raw.get("until_level")),
        when=_read_condition(raw.get("when")),
        formula=raw.get("formula"),
        when_text=raw.get("if"),
        need_text=raw.get("then"),
        text=raw.get("text"),
        basis=raw.get("basis"),
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
def _raw_levels() -> tuple[dict[str, Any], ...]:
    return tuple(_read_json("feature_levels.json")["levels"])


@functools.cache
def _levels_by_name() -> Mapping[str, FeatureLevel]:
    levels = sorted(FeatureLevel(raw["level"]) for raw in _raw_levels())
    return MappingProxyType({level.name: level for level in levels})


@functools.cache
def _level_infos() -> Mapping[str, FeatureLevelInfo]:
    infos = (
        FeatureLevelInfo(
            name=raw["level"],
            constant=raw["constant"],
            value=int(raw["value"], 16),
            directml_version=raw["directml_version"],
            windows=raw["windows"] and raw["windows"]["release"],
            windows_build=raw["windows"] and raw["windows"]["build"],
            redistributable=raw["redistributable"],
            note=raw.get("version_note"),
        )
        for raw in _raw_levels()
    )
    return MappingProxyType({info.name: info for info in infos})


@functools.cache
def _raw_enums() -> dict[str, dict[str, Any]]:
    enums: dict[str, dict[str, Any]] = _read_json("enums.json")["enums"]
    return enums


@functools.cache
def _fused_activation_table() -> Mapping[str, Mapping[str, FeatureLevel]]:
    hosts = _read_json("fused_activations.json")["hosts"]
    return MappingProxyType(
        {
            host["operator"]: MappingProxyType({row["operator"]: FeatureLevel(row["from"]) for row in host["accepts"]})
            for host in hosts
        }
    )
