"""PADDING and PADDING1: the output is the input with both margins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dml2onnx.rules.shapes.rules import formula
from dml2onnx.rules.shapes.sizes import Term, exactly
from dml2onnx.rules.subject import Subject


@formula("padding/size-output", "padding1/size-output", tensor="OutputTensor")
def output_size(subject: Subject, rank: int) -> Iterator[Term]:
    """``OutputTensor.Sizes[i] = InputTensor.Sizes[i] + StartPadding[i] + EndPadding[i]``."""
    sizes = subject.sizes_of_rank("InputTensor", rank)
    starts, ends = subject.uints("StartPadding", rank), subject.uints("EndPadding", rank)
    for size, start, end in zip(sizes, starts, ends, strict=True):
        words = partial("{} + StartPadding {} + EndPadding {}".format, size, start, end)
        yield exactly(size + start + end, words)
