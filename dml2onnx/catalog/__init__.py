"""What DirectML is, as typed values: operators, enums and feature levels, read on demand from `schemas/`.

The JSON files are the only statement of fields, constraints and support tables. This package gives them types and
nothing else; it imports only the standard library, and asking for one operator opens that operator's file alone.

Modules are loaded when one of their names is first asked for: most commands need but a few of them.
"""

from __future__ import annotations

from dml2onnx.lazy import lazy_names

TYPE_CHECKING = False  # typing is not imported, see above
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

_HOMES = {
    "INDEX_FILE": "index",
    "LATEST": "levels",
    "Bound": "constraints",
    "Condition": "constraints",
    "ConditionOp": "constraints",
    "Constraint": "constraints",
    "EnumSchema": "enums",
    "EnumValue": "enums",
    "FeatureLevel": "levels",
    "FeatureLevelInfo": "levels",
    "FieldKind": "fields",
    "FieldSchema": "fields",
    "FieldType": "fields",
    "IndexEntry": "index",
    "OperatorSchema": "operators",
    "Rule": "constraints",
    "SupportRow": "fields",
    "TensorSupport": "fields",
    "UnknownEnumError": "enums",
    "UnknownFeatureLevelError": "levels",
    "UnknownOperatorError": "operators",
    "accepted_fusions": "operators",
    "enum_schema": "enums",
    "feature_levels": "levels",
    "find_operator": "operators",
    "fused_activations": "operators",
    "directml_versions": "levels",
    "level_of_directml": "levels",
    "level_of_windows": "levels",
    "loose_fields": "operators",
    "operator": "operators",
    "operator_index": "index",
    "operator_names": "files",
    "schemas_directory": "files",
    "windows_builds": "levels",
}
__getattr__ = lazy_names(__name__, _HOMES)
