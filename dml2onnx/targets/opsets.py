"""The opsets of models, their IR versions, and the operator versions in each."""

from __future__ import annotations

from functools import cache

from dml2onnx.diagnostics import InternalError

IR_VERSIONS = {17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13, 27: 13, 28: 14}
"""The IR version of the ONNX release that introduced each opset, which every runtime with that opset reads.

It is the minimum that ONNX allows. https://github.com/onnx/onnx/blob/main/docs/Versioning.md#released-versions
"""
LAST_IR_VERSION = 13
"""The highest IR version that ONNX Runtime 1.24 to 1.32 all load. Models do not need its features."""
OPSETS = range(min(IR_VERSIONS), max(IR_VERSIONS) + 1)
DEFAULT_OPSET = 21


def ir_versions(opset: int) -> range:
    """The IR versions that a model of an opset may declare, that of the opset first."""
    return range(IR_VERSIONS[opset], max(IR_VERSIONS[opset], LAST_IR_VERSION) + 1)


@cache
def version(op: str, opset: int) -> int:
    """The version in which ONNX last changed ``op``, at or below ``opset``."""
    from onnx import defs  # lazy import: it takes some 50 ms

    try:
        return defs.get_schema(op, opset).since_version
    except defs.SchemaError as error:
        raise InternalError(op, f"ONNX opset {opset} has no such operator") from error
