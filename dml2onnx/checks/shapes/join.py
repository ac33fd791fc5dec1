"""JOIN and SPLIT: sizes add up along the axis and are equal elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.findings import Finding
from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size
from dml2onnx.checks.subject import UnanswerableError
from dml2onnx.codes import checking as codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.subject import Subject


@rule("join/size-output")
def join_sizes(subject: Subject) -> Iterator[Finding]:
    """``OutputTensor.Sizes[Axis]`` is the sum over the inputs; all other sizes are equal."""
    return _whole_and_parts(subject, "OutputTensor", "InputTensors")


@rule("split/size-output")
def split_sizes(subject: Subject) -> Iterator[Finding]:
    """The sum of ``OutputTensors[k].Sizes[Axis]`` is that of the input; all other sizes are equal."""
    return _whole_and_parts(subject, "InputTensor", "OutputTensors")


def _whole_and_parts(subject: Subject, whole_name: str, parts_name: str) -> Iterator[Finding]:
    whole = subject.sizes(whole_name)
    axis = subject.axis("Axis", len(whole))
    parts = subject.placed(parts_name)
    if not parts or any(part.rank != len(whole) for _, part in parts):
        raise UnanswerableError
    for path, part in parts:
        for i, size in enumerate(part.sizes):
            if i != axis and size != whole[i]:
                message = f"{path} has size {size} in dimension {i} and {whole_name} has {whole[i]}; only axis {axis}"
                yield Finding(codes.DIFFERENT_SIZES, f"{path}/Sizes/{i}", f"{message} may differ.", whole[i], size)
    along = [part.sizes[axis] for _, part in parts]
    if sum(along) != whole[axis]:
        # The part that is computed is what has to change: the output of JOIN, the outputs of SPLIT.
        formula = " + ".join(map(str, along)) if len(along) <= 8 else f"the sum over {len(along)} tensors"
        if whole_name == "OutputTensor":
            yield wrong_size(whole_name, axis, whole[axis], sum(along), formula)
        else:
            message = f"The sizes of {parts_name} along axis {axis} make {sum(along)} = {formula}; it is {whole[axis]}."
            yield Finding(codes.WRONG_SIZE, parts_name, message, whole[axis], sum(along))
