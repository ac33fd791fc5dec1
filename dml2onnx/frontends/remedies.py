"""What a field that is missing should have been, where the rest of the descriptor says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.codes import reading as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.rules.inference import infer_outputs

if TYPE_CHECKING:
    from dml2onnx.diagnostics import Member
    from dml2onnx.frontends.tensors import Problem

INFERRED = 'leave it out, or write "infer",'
"""How sizes are left to be found."""
_USUAL = {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0}
"""What each number of an array is where nobody wants anything else: what DirectMLX has as defaults."""


def with_remedies(desc: OperatorDesc, problems: tuple[Problem, ...], *, infers: bool) -> tuple[Problem, ...]:
    """The same problems; those about missing sizes of outputs, steps and paddings say what is expected."""
    return tuple([_remedied(desc, problem, infers=infers) for problem in problems])


def _remedied(desc: OperatorDesc, problem: Problem, *, infers: bool) -> Problem:
    expected = _expected(desc, problem)
    if not expected:
        return problem
    if problem.code is codes.FIELD_RANGE and len(problem.path) > 1:  # sizes to be found, as other libraries write it
        place = (problem.path[0], *[step for step in problem.path[1:] if step in ("Desc", "Sizes")])
        message = problem.message if place == problem.path else f"has a size of {problem.found}"
        message += f"; {INFERRED} for {expected}" if infers else ""
        instead: Member = "infer" if infers else json.loads(expected)
        return problem._replace(path=place, message=message, expected=expected, instead=instead)
    return problem._replace(expected=expected)


def _expected(desc: OperatorDesc, problem: Problem) -> str:
    is_unknown = problem.code is codes.FIELD_RANGE and "-" in problem.found
    if not (problem.code is codes.MISSING_FIELD or is_unknown) or not isinstance(problem.path[0], str):
        return ""
    name, field = problem.path[0], desc.schema.field(problem.path[0])
    if field is None:
        return ""
    if field.kind is FieldKind.OUTPUT_TENSOR and field.type is FieldType.TENSOR:
        is_whole = problem.path[-1] in (name, "Sizes") or is_unknown
        return _sizes(desc, name, whole=len(problem.path) == 1) if is_whole else ""
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
