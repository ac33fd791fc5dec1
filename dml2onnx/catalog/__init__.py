"""What DirectML is, as typed values: operators, enums and feature levels, read on demand from `schemas/`.

The JSON files are the only statement of fields, constraints and support tables. This room gives them types and nothing
else; it imports only the standard library, and asking for one operator opens that operator's file alone.
"""

from dml2onnx.catalog.constraints import Bound, Condition, ConditionOp, Constraint, Rule
from dml2onnx.catalog.enums import EnumSchema, EnumValue, UnknownEnumError, enum_schema
from dml2onnx.catalog.fields import FieldKind, FieldSchema, FieldType, SupportRow, TensorSupport
from dml2onnx.catalog.files import schemas_directory
from dml2onnx.catalog.levels import (
    LATEST,
    FeatureLevel,
    FeatureLevelInfo,
    UnknownFeatureLevelError,
    feature_levels,
    level_of_directml,
    level_of_windows,
    windows_builds,
)
from dml2onnx.catalog.operators import (
    OperatorSchema,
    UnknownOperatorError,
    find_operator,
    fused_activations,
    operator,
    operator_names,
)

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
