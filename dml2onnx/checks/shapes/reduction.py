"""REDUCE, ARGMIN, ARGMAX, TOP_K: sizes along the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.findings import Finding
    from dml2onnx.checks.subject import Subject


@rule("argmax/size-output", "argmin/size-output", "reduce/size-output")
def reduced_size(subject: Subject) -> Iterator[Finding]:
    """Reduced axes have size 1, the others the input's."""
    sizes, axes = subject.sizes("InputTensor"), subject.numbers("Axes")
    for i, found in enumerate(subject.sizes_of_rank("OutputTensor", len(sizes))):
        expected = 1 if i in axes else sizes[i]
        if found != expected:
            words = "one element, as dimension {} is reduced" if i in axes else "InputTensor.Sizes[{}]"
            yield wrong_size("OutputTensor", i, found, expected, words.format(i))


@rule("top_k/size-output-value", "top_k1/size-output-value")
def top_values_size(subject: Subject) -> Iterator[Finding]:
    """K elements along the axis."""
    return _top_k(subject, "OutputValueTensor")


@rule("top_k/size-output-index", "top_k1/size-output-index")
def top_indices_size(subject: Subject) -> Iterator[Finding]:
    """K elements along the axis."""
    return _top_k(subject, "OutputIndexTensor")


def _top_k(subject: Subject, output: str) -> Iterator[Finding]:
    sizes, k = subject.sizes("InputTensor"), subject.uint("K")
    axis = subject.axis("Axis", len(sizes))
    for i, found in enumerate(subject.sizes_of_rank(output, len(sizes))):
        expected = k if i == axis else sizes[i]
        if found != expected:
            yield wrong_size(output, i, found, expected, "K" if i == axis else f"InputTensor.Sizes[{i}]")
