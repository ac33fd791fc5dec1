"""PADDING and PADDING1: the output is the input with both margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.findings import Finding
    from dml2onnx.checks.subject import Subject


@rule("padding/size-output", "padding1/size-output")
def output_size(subject: Subject) -> Iterator[Finding]:
    """``OutputTensor.Sizes[i] = InputTensor.Sizes[i] + StartPadding[i] + EndPadding[i]``."""
    sizes = subject.sizes("InputTensor")
    rank = len(sizes)
    starts, ends = subject.uints("StartPadding", rank), subject.uints("EndPadding", rank)
    for i, found in enumerate(subject.sizes_of_rank("OutputTensor", rank)):
        expected = sizes[i] + starts[i] + ends[i]
        if found != expected:
            formula = f"{sizes[i]} + StartPadding {starts[i]} + EndPadding {ends[i]}"
            yield wrong_size("OutputTensor", i, found, expected, formula)
