"""The JSON files of ``schemas/``: their JSON Schema, and that every name refers to something."""

import ast
import functools
import itertools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from dml2onnx import catalog
from dml2onnx.builder import operands
from dml2onnx.catalog import Constraint, FieldKind, FieldType, OperatorSchema, Rule

DATA_TYPES = frozenset(catalog.enum_schema("DML_TENSOR_DATA_TYPE").values) - {"UNKNOWN"}
ARRAYS = {FieldType.TENSOR_ARRAY, FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY}

each_operator = pytest.mark.parametrize(
    "name", [catalog.operator(name).short_name for name in catalog.operator_names()]
)


def raw_operator(name: str) -> dict[str, Any]:
    path = catalog.schemas_directory() / "operators" / f"{name.lower()}.json"
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return raw


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((catalog.schemas_directory() / "operator.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def all_constraints() -> Iterator[Constraint]:
    return itertools.chain.from_iterable(catalog.operator(name).constraints for name in catalog.operator_names())


def known_names(schema: OperatorSchema, expression: str) -> None:
    """Asserts that an expression has the syntax of a bound and names fields of the operator."""
    for node in ast.walk(ast.parse(expression, mode="eval")):
        match node:
            case ast.Attribute(value=ast.Name(id=tensor), attr=attribute):
                field = schema.field(tensor)
                assert field is not None, f"{schema.name} has no field {tensor}"
                assert field.is_tensor
                assert attribute in {"DimensionCount", "Sizes", "DataType"}
            case ast.Name(id=name):
                assert schema.field(name) is not None, f"{schema.name} has no field {name}"
            case ast.Constant(value=value):
                assert isinstance(value, int)
            case _:
                allowed = ast.Expression | ast.BinOp | ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Subscript | ast.Load
                assert isinstance(node, allowed), f"{expression}: {type(node).__name__} is not part of the syntax"


@each_operator
def test_file_has_the_form_of_the_schema(name: str) -> None:
    errors = [f"{error.json_path}: {error.message[:200]}" for error in validator().iter_errors(raw_operator(name))]
    assert not errors, "\n".join(errors)


def test_schema_has_the_rules_and_levels_of_the_catalogue() -> None:
    schema: Any = validator().schema
    definitions = schema["$defs"]
    assert set(definitions["constraint"]["properties"]["rule"]["enum"]) == set(Rule)
    assert tuple(definitions["level"]["enum"]) == tuple(level.name for level in catalog.feature_levels())
    assert set(definitions["data_type"]["enum"]) == DATA_TYPES
    assert set(definitions["field"]["properties"]["type"]["enum"]) == {kind.value for kind in FieldType}


def test_schema_gives_each_rule_one_form() -> None:
    schema: Any = validator().schema
    forms = schema["$defs"]["constraint"]["oneOf"]
    rules = [form["properties"]["rule"] for form in forms]
    listed = sorted(itertools.chain.from_iterable(rule.get("enum", [rule.get("const")]) for rule in rules))
    assert listed == sorted(Rule)


@each_operator
def test_name_is_that_of_the_file(name: str) -> None:
    raw = raw_operator(name)
    assert raw["operator"] == f"DML_OPERATOR_{name}"
    assert raw["struct"] == f"DML_{name}_OPERATOR_DESC"


@each_operator
def test_fields_refer_to_fields_and_enums(name: str) -> None:
    schema = catalog.operator(name)
    names = [field.name for field in schema.fields]
    assert len(names) == len(set(names))
    assert schema.output_fields
    for position, field in enumerate(schema.fields):
        if field.enum is not None:
            assert catalog.enum_schema(field.enum).values
        if field.count is not None:
            assert field.count in names[:position], "a count comes before its array"
            count = schema.field(field.count)
            assert count is not None
            assert count.type is FieldType.UINT
        if field.scalar_type is not None:
            data_type = schema.field(field.scalar_type)
            assert data_type is not None
            assert data_type.enum == "DML_TENSOR_DATA_TYPE"


@each_operator
def test_booleans_are_not_declared_as_numbers(name: str) -> None:
    for field in catalog.operator(name).fields:
        assert not (field.type is FieldType.UINT and "BOOL" in field.doc), field.name


@each_operator
def test_constraints_name_real_fields(name: str) -> None:
    schema = catalog.operator(name)
    tensors = {field.name for field in schema.tensor_fields}
    attributes = {field.name for field in schema.attribute_fields}
    for constraint in schema.constraints:
        assert set(constraint.tensors) <= tensors, constraint.id
        assert {constraint.tensor, constraint.to} <= tensors | {None}, constraint.id
        assert constraint.field is None or schema.field(constraint.field), constraint.id
        if constraint.attribute is not None:
            attribute, _, member = constraint.attribute.partition(".")
            assert attribute in attributes, constraint.id
            field = schema.field(attribute)
            assert field is not None
            assert (field.type is FieldType.SIZE_2D) == bool(member), constraint.id
        for bound in (constraint.left, constraint.right, constraint.min, constraint.max):
            if isinstance(bound, str):
                known_names(schema, bound)


@each_operator
def test_conditions_and_values_exist(name: str) -> None:
    schema = catalog.operator(name)
    for constraint in schema.constraints:
        if constraint.attribute is not None and "." not in constraint.attribute:
            field = schema.field(constraint.attribute)
            assert field is not None
            if field.enum is not None:
                known = catalog.enum_schema(field.enum).values
                assert set(constraint.one_of) | ({constraint.value} - {None}) <= set(known), constraint.id
        if constraint.when is None:
            continue
        subject, _, member = constraint.when.subject.partition(".")
        field = schema.field(subject)
        assert field is not None, constraint.id
        if field.is_tensor:
            assert member == ("DataType" if constraint.when.values else "")
            assert set(constraint.when.values) <= DATA_TYPES
        elif field.enum is not None:
            assert set(constraint.when.values) <= set(catalog.enum_schema(field.enum).values), constraint.id
        elif field.type is FieldType.BOOL:
            assert set(constraint.when.values) <= {"TRUE", "FALSE"}


def test_constraint_ids_are_unique_and_begin_with_the_stem() -> None:
    ids = [constraint.id for constraint in all_constraints()]
    assert len(ids) == len(set(ids))
    for constraint in all_constraints():
        assert constraint.id.startswith(constraint.operator.removeprefix("DML_OPERATOR_").lower() + "/")


@each_operator
def test_level_dependent_constraints_can_take_effect(name: str) -> None:
    schema = catalog.operator(name)
    for constraint in schema.constraints:
        for level in (constraint.level, constraint.from_level, constraint.until_level):
            assert level is None or level > schema.introduced, f"{constraint.id} speaks of a level before the operator"


@each_operator
def test_zero_steps_and_repeated_axes_are_refused(name: str) -> None:
    schema = catalog.operator(name)
    rules = {(constraint.rule, constraint.attribute) for constraint in schema.constraints}
    for field in schema.attribute_fields:
        if field.name in {"Strides", "Dilations", "InputWindowStrides"} and field.type in ARRAYS:
            assert (Rule.NONZERO, field.name) in rules
        if field.name == "Axes":
            assert (Rule.DISTINCT, field.name) in rules
            assert (Rule.ATTRIBUTE_RANGE, field.name) in rules
        if field.name == "Axis":
            assert (Rule.ATTRIBUTE_RANGE, field.name) in rules
        if field.name == "FusedActivation":
            assert (Rule.FUSED_ACTIVATION, field.name) in rules


@each_operator
def test_scalar_unions_have_the_type_of_a_tensor(name: str) -> None:
    schema = catalog.operator(name)
    equal = {constraint.left for constraint in schema.constraints if constraint.rule is Rule.EQUAL}
    assert {field.scalar_type for field in schema.fields if field.scalar_type} <= equal


@each_operator
def test_support_rows_cover_the_tensor_fields(name: str) -> None:
    schema = catalog.operator(name)
    tensors = {field.name: field for field in schema.tensor_fields}
    for row in schema.support:
        assert set(row.tensors) == set(tensors)
        for tensor, support in row.tensors.items():
            low, high = support.dimension_counts
            assert 1 <= low <= high <= 8
            assert support.data_types <= DATA_TYPES
            assert not support.optional or tensors[tensor].optional, f"{row.level}: {tensor} cannot be optional"


@each_operator
def test_support_rows_are_newest_first_and_reach_back_to_the_introduction(name: str) -> None:
    schema = catalog.operator(name)
    levels = [row.level for row in schema.support]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == schema.introduced
    keys = [(row.level, row.functions) for row in schema.support]
    assert len(keys) == len(set(keys))
    functions = catalog.enum_schema("DML_REDUCE_FUNCTION").values
    assert all(set(row.functions) <= set(functions) for row in schema.support)


@each_operator
def test_examples_name_the_fields(name: str) -> None:
    schema = catalog.operator(name)
    kinds = {"attributes": FieldKind.ATTRIBUTE, "inputs": FieldKind.INPUT_TENSOR, "outputs": FieldKind.OUTPUT_TENSOR}
    for example in schema.examples():
        if "suspect" in example:
            continue
        for part, kind in kinds.items():
            for key, value in example[part].items():
                field = schema.field(key)
                assert field is not None, key
                assert field.kind is kind, key
                if field.enum is not None and isinstance(value, str):
                    assert catalog.enum_schema(field.enum).find(value), value


def test_enum_values_are_numeric_and_unique() -> None:
    raw = json.loads((catalog.schemas_directory() / "enums.json").read_text(encoding="utf-8"))
    for name in raw["enums"]:
        schema = catalog.enum_schema(name)
        numbers = [value.value for value in schema.values.values() if value.alias_of is None]
        assert all(type(number) is int for number in numbers)
        assert len(numbers) == len(set(numbers)), name
        assert all(value.full_name.endswith(value.name) for value in schema.values.values())
        if schema.flags:
            assert all(number & (number - 1) == 0 for number in numbers), f"{name}: flags are single bits"


def test_every_operator_has_a_number() -> None:
    types = catalog.enum_schema("DML_OPERATOR_TYPE")
    missing = [name for name in catalog.operator_names() if not types.find(name)]
    assert missing == [], "schemas/enums.json has no number for these"
    named = {value.full_name for value in types.values.values()} - {"DML_OPERATOR_INVALID"}
    assert all(catalog.find_operator(name) for name in named)


def test_levels_and_operators_agree_about_introductions() -> None:
    raw = json.loads((catalog.schemas_directory() / "feature_levels.json").read_text(encoding="utf-8"))
    # The pages date SCATTER to 1_0, the history to 2_0; we allow what either allows.
    lenient = {"DML_OPERATOR_SCATTER"}
    added = {
        catalog.operator(entry["operator"]).name: catalog.FeatureLevel(level["level"])
        for level in raw["levels"]
        for entry in level["operators_added"]
    }
    assert set(added) == set(catalog.operator_names())
    for name, level in added.items():
        introduced = catalog.operator(name).introduced
        assert introduced == level or (name in lenient and introduced < level), name


def test_fused_activations_agree_with_the_operators() -> None:
    hosts = [name for name in catalog.operator_names() if catalog.operator(name).field("FusedActivation")]
    assert len(hosts) == 8
    for host in catalog.operator_names():
        assert bool(catalog.fused_activations(host)) == (host in hosts)
        for activation, level in catalog.fused_activations(host).items():
            assert level >= max(catalog.operator(host).introduced, catalog.operator(activation).introduced)


def test_tensors_file_names_the_data_types() -> None:
    raw = json.loads((catalog.schemas_directory() / "tensors.json").read_text(encoding="utf-8"))
    assert {entry["data_type"] for entry in raw["data_types"]} == DATA_TYPES


def test_dimensions_are_named_by_fields_of_fitting_types() -> None:
    kinds = {"axis": {"uint"}, "axes": {"uint_array"}, "each": {"uint_array", "int_array", "float_array"}}
    kinds["own"] = {"tensor"}
    for schema in map(catalog.operator, catalog.operator_names()):
        marked = [item for item in schema.fields if item.dimensions]
        assert schema.dimensions == "named" or all(item.names_axes for item in marked), schema.name
        assert all(item.type.value in kinds[item.dimensions] for item in marked), schema.name
        named = {item.name for item in schema.fields if item.names_axes}
        assert {name for name, _ in operands._axes(schema)} == named, schema.name
        assert named == {"Axis", "Axes"} & schema.index.keys(), schema.name


def test_operators_of_one_family_and_stem_treat_dimensions_alike() -> None:
    """Except softmax and others, whose older forms have no axes."""
    found: dict[str, set[str]] = {}
    for schema in map(catalog.operator, catalog.operator_names()):
        found.setdefault(schema.short_name.rstrip("0123456789"), set()).add(schema.dimensions)
    by_place = {"ACTIVATION_HARDMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_SOFTMAX", "MEAN_VARIANCE_NORMALIZATION"}
    assert {name for name, kinds in found.items() if len(kinds) > 1} == by_place
