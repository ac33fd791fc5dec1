"""Remedies for missing and invalid fields, inferred from the rest of the descriptor."""

from __future__ import annotations

import json
from dataclasses import replace

from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, Member
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import infer_outputs

INFERRED = 'leave it out, or write "infer",'
"""How to have sizes inferred."""
_NEUTRAL = {"Scales": 1, "Repeats": 1, "StartPadding": 0, "EndPadding": 0}
"""Neutral elements of arrays with one number per dimension of a tensor."""
_USUAL = {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0}
"""Defaults of DirectMLX for the elements of arrays."""


def with_remedies(desc: OperatorDesc, problems: tuple[Diagnostic, ...], *, infers: bool) -> tuple[Diagnostic, ...]:
    """Adds expected values to problems, such as sizes of outputs, strides and paddings."""
    return tuple([_remedied(desc, problem, infers=infers) for problem in problems])


def _remedied(desc: OperatorDesc, problem: Diagnostic, *, infers: bool) -> Diagnostic:
    field = desc.schema.field(problem.field)
    if problem.code is codes.FIELD_RANGE and field is not None and field.names_axes:
        return _from_the_start(desc, problem)
    if problem.code is codes.COUNT_MISMATCH:
        return _for_each_dimension(desc, problem)
    if problem.code is codes.FIELD_KIND:
        return _of_each_window(desc, problem)
    expected = _expected(desc, problem)
    if not expected:
        return problem
    if problem.code is codes.FIELD_RANGE and "/" in problem.path:  # sizes to be found, as other libraries write it
        first, *steps = problem.path.split("/")
        place = "/".join([first, *[step for step in steps if step in ("Desc", "Sizes")]])
        message = problem.message if place == problem.path else f"has a size of {problem.found}"
        message += f"; {INFERRED} for {expected}" if infers else ""
        instead: Member = "infer" if infers else json.loads(expected)
        return replace(problem, path=place, message=message, expected=expected, instead=instead)
    return replace(problem, expected=expected)


def _from_the_start(desc: OperatorDesc, problem: Diagnostic) -> Diagnostic:
    """Converts a negative axis, which counts from the end."""
    values = [desc.get(item.name) for item in desc.schema.input_fields]
    tensors = [item[0] if isinstance(item, tuple) and item else item for item in values]
    rank = next((item.rank for item in tensors if isinstance(item, TensorDesc)), 0)
    try:
        axis = int(problem.found)
    except ValueError:
        return problem
    if not -rank <= axis < 0:
        return problem
    message = f"is {axis}; DirectML counts dimensions from the start, where that is {axis + rank} of {rank}"
    return replace(problem, message=message, expected=str(axis + rank), instead=axis + rank)


def _for_each_dimension(desc: OperatorDesc, problem: Diagnostic) -> Diagnostic:
    """Suggests neutral elements for leading dimensions that an array lacks."""
    neutral = _NEUTRAL.get(problem.field)
    tensor = desc.find("InputTensor")
    if neutral is None or not isinstance(tensor, TensorDesc):
        return problem
    has, wanted = (int(text.partition(" ")[0].replace(",", "")) for text in (problem.found, problem.expected))
    if not has < wanted == tensor.rank:
        return problem
    first = ", ".join([str(neutral)] * (wanted - has))
    stays = f"[{first}, …] leaves the first {wanted - has} as they are"
    return replace(problem, expected=f"{problem.expected}, one for each dimension: {stays}")


def _of_each_window(desc: OperatorDesc, problem: Diagnostic) -> Diagnostic:
    """Suggests an array with one number per dimension of a window for a single number or a word."""
    field = desc.schema.field(problem.field)
    if field is None or field.count is None or "/" in problem.path:
        return problem
    others = [desc.get(item.name) for item in desc.schema.fields if item.count == field.count]
    lengths = {len(array) for array in others if isinstance(array, tuple)}
    if field.names_axes and not lengths:
        lengths = {1}
    if len(lengths) != 1:
        return problem
    if problem.found.isdecimal() and problem.instead is None:
        whole: list[Member] = [int(problem.found)] * lengths.pop()
        return replace(problem, expected=f"{whole}", instead=whole)
    if problem.field not in _USUAL:
        return problem
    such_as = _keeping(desc, field.name) or [_USUAL[field.name]] * lengths.pop()
    such = f"an array of whole numbers, such as {such_as}"
    return replace(problem, message=f"is {problem.found}, not {such}", expected=such)


def _keeping(desc: OperatorDesc, name: str) -> list[int]:
    """Computes the padding at one end that other libraries call ``SAME``."""
    fields = [desc.find(item) for item in ("Strides", "Dilations", "WindowSize")]
    steps, dilations, window = (item if isinstance(item, tuple) else () for item in fields)
    input, filter = (desc.find(item) for item in ("InputTensor", "FilterTensor"))
    sizes = input.sizes[2:] if isinstance(input, TensorDesc) else ()
    window = filter.sizes[2:] if isinstance(filter, TensorDesc) else window
    if name not in ("StartPadding", "EndPadding") or not len(sizes) == len(window) == len(steps) > 0:
        return []
    made = []
    for i, (size, reach, step) in enumerate(zip(sizes, window, steps, strict=True)):
        dilation = dilations[i] if len(dilations) == len(sizes) else 1
        if not isinstance(reach, int) or not isinstance(step, int) or not isinstance(dilation, int) or step < 1:
            return []
        total = max((-(-size // step) - 1) * step + (reach - 1) * dilation + 1 - size, 0)
        made.append(total // 2 if name == "StartPadding" else total - total // 2)
    return made


def _expected(desc: OperatorDesc, problem: Diagnostic) -> str:
    is_unknown = problem.code is codes.FIELD_RANGE and "-" in problem.found
    if not (problem.code is codes.MISSING_FIELD or is_unknown):
        return ""
    name, field = problem.field, desc.schema.field(problem.field)
    if field is None:
        return ""
    if field.kind is FieldKind.OUTPUT_TENSOR and field.type is FieldType.TENSOR:
        is_whole = problem.path.rpartition("/")[2] in (name, "Sizes") or is_unknown
        return _sizes(desc, name, whole="/" not in problem.path) if is_whole else ""
    if name in _USUAL and field.count is not None and "/" not in problem.path:
        others = [desc.get(item.name) for item in desc.schema.fields if item.count == field.count]
        lengths = {len(array) for array in others if isinstance(array, tuple)}
        if len(lengths) == 1:
            return f"such as {[_USUAL[name]] * lengths.pop()}"
    return ""


def _sizes(desc: OperatorDesc, name: str, *, whole: bool) -> str:
    """Infers the sizes of an output, with its data type if the ``whole`` output is missing."""
    outputs = [item.name for item in desc.schema.output_fields if item.type is FieldType.TENSOR]
    bare = OperatorDesc(desc.schema, tuple([None if item.name in outputs else value for item, value in desc.items()]))
    found = infer_outputs(bare, {}, {}, [name]).outputs.get(name)
    if found is None:
        return ""
    return f"{found[0].name} {list(found[1])}" if whole else str(list(found[1]))
