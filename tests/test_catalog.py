"""``catalog``: names, levels, rows in force, laziness."""

import subprocess
import sys
from pathlib import Path

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST, ConditionOp, FeatureLevel, Rule, familiar

# Prints the JSON files that an expression opens, in a new interpreter without caches.
PRINT_OPENED = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from dml2onnx import catalog
from dml2onnx.catalog import familiar
{expression}
print("\\n".join(path for path in opened if path.endswith(".json")))
"""


def opened_files(expression: str) -> list[str]:
    finished = subprocess.run(
        [sys.executable, "-c", PRINT_OPENED.format(expression=expression)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(catalog.__file__).parent.parent.parent,
    )
    return [Path(line).name for line in finished.stdout.split()]


# --- Laziness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "files"),
    [
        ("catalog.LATEST", []),
        ("catalog.operator_names()", []),
        ("catalog.operator('PADDING'); catalog.operator('DML_OPERATOR_PADDING')", ["padding.json"]),
    ],
)
def test_files_are_read_lazily(expression: str, files: list[str]) -> None:
    assert opened_files(expression) == files


# --- Operators ------------------------------------------------------------------------------------------------------


def test_there_are_177_operators() -> None:
    names = catalog.operator_names()
    assert len(names) == 177
    assert list(names) == sorted(names)
    assert all(catalog.operator(name).name == name for name in names)


def test_numbers_are_never_optional() -> None:
    """Members of a C struct always exist; only pointers may be null."""
    epsilon = catalog.operator("BATCH_NORMALIZATION_GRAD").field("Epsilon")
    assert epsilon is not None
    assert not epsilon.optional
    fields = [item for name in catalog.operator_names() for item in catalog.operator(name).fields if not item.is_tensor]
    pointers = {catalog.FieldType.OPERATOR, catalog.FieldType.SCALE_BIAS}
    assert {item.type for item in fields if item.optional} == pointers


@pytest.mark.parametrize("name", ["DML_OPERATOR_SCATTER_ELEMENTS", "SCATTER_ELEMENTS"])
def test_second_name_of_scatter(name: str) -> None:
    assert catalog.operator(name) is catalog.operator("SCATTER")


@pytest.mark.parametrize("name", ["RESAMPEL1", "DML_OPERATOR_RESAMPEL1", "resample1"])
def test_unknown_operator_suggests_a_name(name: str) -> None:
    with pytest.raises(catalog.UnknownOperatorError) as raised:
        catalog.operator(name)
    assert name in str(raised.value)
    assert "did you mean RESAMPLE1" in str(raised.value)
    assert isinstance(raised.value, KeyError)
    assert catalog.find_operator(name) is None


@pytest.mark.parametrize("name", ["", "INVALID", "../enums", "DML_OPERATOR_"])
def test_nonsense_is_no_operator(name: str) -> None:
    assert catalog.find_operator(name) is None


# --- Support --------------------------------------------------------------------------------------------------------


def test_rows_at_takes_the_newest_row_in_force() -> None:
    padding = catalog.operator("PADDING")
    assert [row.level.name for row in padding.support] == ["5_0", "3_1", "2_1", "1_0"]
    for level, expected in {"1_0": "1_0", "2_0": "1_0", "3_1": "3_1", "4_1": "3_1", "6_4": "5_0"}.items():
        assert [row.level.name for row in padding.rows_at(FeatureLevel(level))] == [expected]


def test_rows_at_is_empty_before_the_introduction() -> None:
    assert catalog.operator("RESAMPLE3").rows_at(FeatureLevel("6_3")) == ()


def test_reduce_has_a_row_for_each_function() -> None:
    reduce = catalog.operator("REDUCE")
    for level in catalog.feature_levels():
        functions = [function for row in reduce.rows_at(level) for function in row.functions]
        assert sorted(functions) == sorted(catalog.enum_schema("DML_REDUCE_FUNCTION").values)


# --- Constraints ----------------------------------------------------------------------------------------------------


def test_levels_of_a_constraint() -> None:
    steepness = [c for c in catalog.operator("ACTIVATION_SOFTPLUS").constraints if c.rule is Rule.ATTRIBUTE_RANGE]
    old = next(c for c in steepness if c.until_level is not None)
    new = next(c for c in steepness if c.until_level is None)
    assert (old.min, old.exclusive_min) == (1, False)
    assert (new.min, new.exclusive_min) == (0, True)
    assert old.applies_at(FeatureLevel("6_3"))
    assert not old.applies_at(FeatureLevel("6_4"))
    assert new.applies_at(FeatureLevel("1_0"))


def test_from_level_is_inclusive() -> None:
    constraint = next(c for c in catalog.operator("SLICE").constraints if c.from_level is not None)
    assert not constraint.applies_at(FeatureLevel("2_1"))
    assert constraint.applies_at(FeatureLevel("3_0"))


def test_condition() -> None:
    constraint = next(c for c in catalog.operator("LSTM").constraints if c.id.endswith("-bidirectional"))
    assert (constraint.rule, constraint.left, constraint.right) == (Rule.EQUAL, "ActivationDescCount", 6)
    assert constraint.when == catalog.Condition("Direction", ConditionOp.IN, ("BIDIRECTIONAL",))


def test_statement() -> None:
    constraints = {c.id: c for c in catalog.operator("BATCH_NORMALIZATION").constraints}
    statement = constraints["batch_normalization/not-spatial"].statement
    assert statement is not None
    assert statement.endswith(", if Spatial is FALSE")
    formula = next(c for c in catalog.operator("TILE").constraints if c.rule is Rule.SIZE_FORMULA)
    assert formula.statement == "OutputTensor.Sizes[i] = InputTensor.Sizes[i] * Repeats[i]"


# --- Feature levels -------------------------------------------------------------------------------------------------


def test_feature_levels_ascend() -> None:
    levels = catalog.feature_levels()
    assert len(levels) == 15
    assert list(levels) == sorted(set(levels))
    assert levels[0] == FeatureLevel("1_0")
    assert levels[-1] == LATEST


def test_feature_level_is_an_ordered_value() -> None:
    assert FeatureLevel("3_1") < FeatureLevel("4_0") <= FeatureLevel("4_0") < FeatureLevel("6_4")
    assert FeatureLevel("4_0") == FeatureLevel.parse("4.0")
    assert len({FeatureLevel("4_0"), FeatureLevel.parse("DML_FEATURE_LEVEL_4_0"), FeatureLevel.parse("4_0")}) == 1
    assert str(FeatureLevel("4_0")) == FeatureLevel("4_0").name == "4_0"


@pytest.mark.parametrize("text", ["", "4", "4-0", "7_0", "2.2", "latest"])
def test_unknown_level(text: str) -> None:
    with pytest.raises(catalog.UnknownFeatureLevelError, match="6_4"):
        FeatureLevel.parse(text)


def test_malformed_level_name() -> None:
    with pytest.raises(catalog.UnknownFeatureLevelError):
        FeatureLevel("4.0")


def test_every_level_ships_somewhere() -> None:
    constants = catalog.enum_schema("DML_FEATURE_LEVEL")
    for level in catalog.feature_levels():
        info = level.info
        assert info.name == level.name
        assert info.value == constants.values[level.name].value
        assert info.redistributable.startswith("Microsoft.AI.DirectML ")
        assert info.ships_with.endswith(info.redistributable)
        assert (info.windows is None) == (info.windows_build is None)


def test_level_information() -> None:
    info = FeatureLevel("4_0").info
    assert (info.directml_version, info.windows, info.windows_build) == ("1.6.0", "Windows 11 21H2", "10.0.22000")
    assert LATEST.info.windows is None
    assert LATEST.info.ships_with == "Microsoft.AI.DirectML 1.15.0"


# --- Enums and fused activations ------------------------------------------------------------------------------------


def test_enum() -> None:
    modes = catalog.enum_schema("DML_PADDING_MODE")
    assert not modes.flags
    assert modes.find("WRAP") is modes.find("DML_PADDING_MODE_WRAP") is modes.by_value[4] is modes.values["WRAP"]
    assert modes.find("wrap") is None
    assert catalog.enum_schema("DML_TENSOR_FLAGS").values["OWNED_BY_DML"].value == 1


def test_unknown_enum() -> None:
    with pytest.raises(catalog.UnknownEnumError, match="did you mean DML_PADDING_MODE"):
        catalog.enum_schema("DML_PADING_MODE")


def test_fused_activations() -> None:
    gemm = catalog.fused_activations("GEMM")
    assert gemm is catalog.fused_activations("DML_OPERATOR_GEMM")
    assert gemm["DML_OPERATOR_ACTIVATION_SOFTMAX1"] == FeatureLevel("6_1")
    assert "DML_OPERATOR_ACTIVATION_SOFTMAX1" not in catalog.fused_activations("CONVOLUTION")
    assert not catalog.fused_activations("PADDING")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("RELU", "ACTIVATION_RELU"),
        ("DML_OPERATOR_RELU", "ACTIVATION_RELU"),
        ("Add", "ELEMENT_WISE_ADD"),
        ("elementwise_add", "ELEMENT_WISE_ADD"),
        ("Equal", "ELEMENT_WISE_LOGICAL_EQUALS"),
        ("MatMul", "GEMM"),
        ("max_pool", "MAX_POOLING"),
        ("LayerNormalization", "MEAN_VARIANCE_NORMALIZATION1"),
        ("GATHERND", "GATHER_ND"),
        ("FROBNICATE", ""),
    ],
)
def test_names_of_operators_in_other_libraries(name: str, meant: str) -> None:
    assert familiar.meant_operator(name) == meant
    with pytest.raises(catalog.UnknownOperatorError) as raised:
        catalog.operator(name)
    assert str(raised.value) == f"DirectML has no operator {name}" + (f"; did you mean {meant}?" if meant else "")


def test_all_names_in_other_libraries_lead_to_operators() -> None:
    names = {name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()}
    assert set(familiar.OPERATORS_ELSEWHERE.values()) <= names
    assert not {familiar.meant_operator(name) for name in names} - names
    assert all(familiar.meant_operator(name) == name for name in names)
    assert not any(familiar.is_layout(name) for name in names)


def test_layout_changes_are_no_operators() -> None:
    with pytest.raises(catalog.UnknownOperatorError, match="no operator Transpose; the Sizes and Strides of tensors"):
        catalog.operator("Transpose")
