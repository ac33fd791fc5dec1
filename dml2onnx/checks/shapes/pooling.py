"""Pooling: one output element for each position of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.findings import Finding
from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size
from dml2onnx.codes import checking as codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.subject import Subject


@rule(
    "average_pooling/size-output",
    "average_pooling1/size-output",
    "lp_pooling/size-output",
    "lp_pooling1/size-output",
    "max_pooling/size-output",
    "max_pooling1/size-output",
    "max_pooling2/size-output",
    "quantized_linear_average_pooling/size-output",
)
def output_size(subject: Subject) -> Iterator[Finding]:
    """``(in + padding - ((WindowSize - 1) * Dilation + 1)) / Stride + 1``, the division rounded down or up."""
    return _pooled_size(subject, "InputTensor", "OutputTensor")


@rule("average_pooling_grad/size-input-gradient")
def average_gradient_size(subject: Subject) -> Iterator[Finding]:
    """The arriving gradient has the sizes of the forward output, the result those of the forward input."""
    return _pooled_size(subject, "OutputGradientTensor", "InputGradientTensor")


@rule("max_pooling_grad/size-input-gradient")
def maximum_gradient_size(subject: Subject) -> Iterator[Finding]:
    """The arriving gradient has the sizes of the forward output."""
    return _pooled_size(subject, "InputTensor", "InputGradientTensor")


def _pooled_size(subject: Subject, whole: str, pooled: str) -> Iterator[Finding]:
    sizes = subject.sizes(whole)
    found = subject.sizes_of_rank(pooled, len(sizes))
    count = len(sizes) - 2
    windows, strides = subject.positives("WindowSize", count), subject.positives("Strides", count)
    starts, ends = subject.uints("StartPadding", count), subject.uints("EndPadding", count)
    dilations = subject.positives("Dilations", count) if "Dilations" in subject.index else (1,) * count
    for i in range(2):
        if found[i] != sizes[i]:
            yield wrong_size(pooled, i, found[i], sizes[i], f"{whole}.Sizes[{i}]")
    for i in range(count):
        padded = sizes[i + 2] + starts[i] + ends[i]
        reach = (windows[i] - 1) * dilations[i] + 1
        if reach > padded:
            message = f"The window reaches over {reach} elements of dimension {i + 2}, which has {padded} with padding."
            yield Finding(codes.NO_ROOM, f"WindowSize/{i}", message, f"at most {padded}", reach)
            continue
        low = (padded - reach) // strides[i] + 1
        high = -((reach - padded) // strides[i]) + 1
        if not low <= found[i + 2] <= high:
            expected = f"{low}" if low == high else f"{low} or {high}"
            formula = f"({padded} - {reach}) / {strides[i]} + 1"
            yield wrong_size(pooled, i + 2, found[i + 2], expected, formula)
