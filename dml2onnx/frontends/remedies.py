"""What a field that is missing should have been, where the rest of the descriptor says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.codes import reading as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.rules.inference import infer_outputs

if TYPE_CHECKING:
    from dml2onnx.frontends.tensors import Problem

_USUAL = {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0}
"""What each number of an array is where nobody wants anything else: what DirectMLX has as defaults."""


def with_remedies(desc: OperatorDesc, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The same problems; those about missing sizes of outputs, steps and paddings say what is expected."""
    return tuple([problem._replace(expected=_expected(desc, problem) or problem.expected) for problem in problems])


def _expected(desc: OperatorDesc, problem: Problem) -> str:
    if problem.code is not codes.MISSING_FIELD or not isinstance(problem.path[0], str):
        return ""
    name, field = problem.path[0], desc.schema.field(problem.path[0])
    if field is None:
        return ""
    if field.kind is FieldKind.OUTPUT_TENSOR and field.type is FieldType.TENSOR:
        return _sizes(desc, name, whole=len(problem.path) == 1) if problem.path[-1] in (name, "Sizes") else ""
    if name in _USUAL and field.count is not None and len(problem.path) == 1:
        others = [desc.get(item.name) for item in desc.schema.fields if item.count == field.count]
        lengths = {len(array) for array in others if isinstance(array, tuple)}
        if len(lengths) == 1:
            return f"such as {[_USUAL[name]] * lengths.pop()}"
    return ""


def _sizes(desc: OperatorDesc, name: str, *, whole: bool) -> str:
    """The sizes of an output that follow from the inputs, with its data type where all of it is missing."""
    outputs = [item.name for item in desc.schema.output_fields if item.type is FieldType.TENSOR]
    bare = OperatorDesc(desc.schema, tuple([None if item.name in outputs else value for item, value in desc.items()]))
    found = infer_outputs(bare, {}, {}, [name]).outputs.get(name)
    if found is None:
        return ""
    return f"{found[0].name} {list(found[1])}" if whole else str(list(found[1]))
