"""Normalizations before feature level 4_0, which do not broadcast all dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import rule
from dml2onnx.rules.shapes.sizes import wrong_size
from dml2onnx.rules.subject import Subject


@rule("batch_normalization/not-spatial")
def full_statistics(subject: Subject) -> Iterator[Diagnostic]:
    """Mean and variance have the input's height and width."""
    for name in ("MeanTensor", "VarianceTensor"):
        yield from _full(subject, name, (-2, -1))


@rule("mean_variance_normalization1/channel-not-broadcast")
def full_channels(subject: Subject) -> Iterator[Diagnostic]:
    """Scale and bias have the input's channels."""
    for name in ("ScaleTensor", "BiasTensor"):
        if subject.optional(name) is not None:
            yield from _full(subject, name, (1,))


def _full(subject: Subject, name: str, dimensions: tuple[int, ...]) -> Iterator[Diagnostic]:
    sizes = subject.sizes("InputTensor")
    found = subject.sizes_of_rank(name, len(sizes))
    for i in range(len(sizes)):
        if (i in dimensions or i - len(sizes) in dimensions) and found[i] != sizes[i]:
            yield wrong_size(name, i, found[i], sizes[i], f"InputTensor.Sizes[{i}], which does not broadcast")
