"""Rules of element-wise operators."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import ScaleBias
from dml2onnx.rules.shapes.rules import rule
from dml2onnx.rules.subject import Subject

_WIDE = 64
"""Elements with this many bits cannot be scaled."""


@rule(
    "element_wise_abs/scaled",
    "element_wise_clip/scaled",
    "element_wise_clip1/scaled",
    "element_wise_identity/scaled",
)
def not_scaled(subject: Subject) -> Iterator[Diagnostic]:
    """``ScaleBias`` of 64-bit elements is { 1, 0 }."""
    scaling, tensor = subject.value("ScaleBias"), subject.tensor("InputTensor")
    if not isinstance(scaling, ScaleBias) or scaling == ScaleBias(1.0, 0.0) or tensor.data_type.bits < _WIDE:
        return
    found = f"{{ {scaling.scale}, {scaling.bias} }}"
    message = f"ScaleBias is {found}, and elements of {tensor.data_type.name} are not scaled."
    yield codes.NOT_EQUAL.of("ScaleBias", message, "null, or { 1, 0 }", found)
