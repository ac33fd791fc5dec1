"""What DirectML is, as typed values: operators, enums and feature levels, read on demand from `schemas/`.

The JSON files are the only source of fields, constraints and support tables. This package only gives them types. It
needs only the standard library, reads the file of an operator when that operator is requested, and loads its own
modules when one of their names is first used: most commands need few of them.
"""

from __future__ import annotations

from dml2onnx.lazy import lazy_names

TYPE_CHECKING = False  # importing typing takes too long
if TYPE_CHECKING:
    from dml2onnx.catalog.constraints import Bound, Condition, ConditionOp, Constraint, Rule
    from dml2onnx.catalog.enums import EnumSchema, EnumValue, UnknownEnumError, enum_schema
    from dml2onnx.catalog.fields import FieldKind, FieldSchema, FieldType, SupportRow, TensorSupport
    from dml2onnx.catalog.files import operator_names, schemas_directory
    from dml2onnx.catalog.index import INDEX_FILE, IndexEntry, operator_index
    from dml2onnx.catalog.levels import (
        LATEST,
        FeatureLevel,
        FeatureLevelInfo,
        UnknownFeatureLevelError,
        directml_versions,
        feature_levels,
        level_of_directml,
        level_of_windows,
        windows_builds,
    )
    from dml2onnx.catalog.operators import (
        OperatorSchema,
        UnknownOperatorError,
        accepted_fusions,
        find_operator,
        fused_activations,
        loose_fields,
        operator,
    )

__all__ = [
    "INDEX_FILE",
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
    "IndexEntry",
    "OperatorSchema",
    "Rule",
    "SupportRow",
    "TensorSupport",
    "UnknownEnumError",
    "UnknownFeatureLevelError",
    "UnknownOperatorError",
    "accepted_fusions",
    "directml_versions",
    "enum_schema",
    "feature_levels",
    "find_operator",
    "fused_activations",
    "level_of_directml",
    "level_of_windows",
    "loose_fields",
    "operator",
    "operator_index",
    "operator_names",
    "schemas_directory",
    "windows_builds",
]

_MODULES = {
    "constraints": ("Bound", "Condition", "ConditionOp", "Constraint", "Rule"),
    "enums": ("EnumSchema", "EnumValue", "UnknownEnumError", "enum_schema"),
    "fields": ("FieldKind", "FieldSchema", "FieldType", "SupportRow", "TensorSupport"),
    "files": ("operator_names", "schemas_directory"),
    "index": ("INDEX_FILE", "IndexEntry", "operator_index"),
    "levels": (
        *("LATEST", "FeatureLevel", "FeatureLevelInfo", "UnknownFeatureLevelError", "directml_versions"),
        *("feature_levels", "level_of_directml", "level_of_windows", "windows_builds"),
    ),
    "operators": (
        *("OperatorSchema", "UnknownOperatorError", "accepted_fusions", "find_operator", "fused_activations"),
        *("loose_fields", "operator"),
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__getattr__ = lazy_names(__name__, _HOMES)
