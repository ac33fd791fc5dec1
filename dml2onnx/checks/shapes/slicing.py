"""SLICE, SLICE1 and SLICE_GRAD: windows stay inside their tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.findings import Finding
from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size, wrong_sizes
from dml2onnx.codes import checking as codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.subject import Subject


@rule("slice/size-output")
def slice_size(subject: Subject) -> Iterator[Finding]:
    """``OutputTensor.Sizes[i] = Sizes[i]``."""
    output = subject.sizes("OutputTensor")
    yield from wrong_sizes("OutputTensor", output, subject.uints("Sizes", len(output)), "the field Sizes")


@rule("slice/window")
def slice_window(subject: Subject) -> Iterator[Finding]:
    """``Offsets[i] + (Sizes[i] - 1) * Strides[i] < InputTensor.Sizes[i]``."""
    whole = subject.sizes("InputTensor")
    offsets, strides = subject.uints("Offsets", len(whole)), subject.uints("Strides", len(whole))
    for i, size in enumerate(subject.uints("Sizes", len(whole))):
        last = offsets[i] + (size - 1) * strides[i]
        if last >= whole[i]:
            message = f"The last element read in dimension {i} is {last}; InputTensor has {whole[i]}."
            yield Finding(codes.OUT_OF_WINDOW, f"Offsets/{i}", message, f"below {whole[i]}", last)


@rule("slice1/window")
def slice1_window(subject: Subject) -> Iterator[Finding]:
    """``InputWindowOffsets[i] + InputWindowSizes[i] <= InputTensor.Sizes[i]``, the sizes being 1 or more."""
    return _window(subject, "InputTensor")


@rule("slice_grad/window")
def slice_gradient_window(subject: Subject) -> Iterator[Finding]:
    """As SLICE1, with the tensors exchanged."""
    return _window(subject, "OutputGradientTensor")


def _window(subject: Subject, tensor: str) -> Iterator[Finding]:
    whole = subject.sizes(tensor)
    offsets = subject.uints("InputWindowOffsets", len(whole))
    for i, size in enumerate(subject.uints("InputWindowSizes", len(whole))):
        if size < 1:
            message = f"InputWindowSizes[{i}] is {size}; a window has at least 1 element."
            yield Finding(codes.OUT_OF_WINDOW, f"InputWindowSizes/{i}", message, "at least 1", size)
        elif offsets[i] + size > whole[i]:
            message = f"The window ends at {offsets[i] + size} in dimension {i}; {tensor} has {whole[i]}."
            yield Finding(codes.OUT_OF_WINDOW, f"InputWindowOffsets/{i}", message, whole[i], offsets[i] + size)


@rule("slice1/size-output")
def slice1_size(subject: Subject) -> Iterator[Finding]:
    """At most as many elements as the window gives at this stride."""
    return _sliced(subject, "OutputTensor")


@rule("slice_grad/size-input-gradient")
def slice_gradient_size(subject: Subject) -> Iterator[Finding]:
    """As the output of SLICE1."""
    return _sliced(subject, "InputGradientTensor")


def _sliced(subject: Subject, tensor: str) -> Iterator[Finding]:
    sizes = subject.sizes(tensor)
    windows = subject.positives("InputWindowSizes", len(sizes))
    strides = subject.uints("InputWindowStrides", len(sizes))
    for i, found in enumerate(sizes):
        if strides[i] != 0:
            most = 1 + (windows[i] - 1) // abs(strides[i])
            if found > most:
                formula = f"1 + ({windows[i]} - 1) / {abs(strides[i])}"
                yield wrong_size(tensor, i, found, f"at most {most}", formula)
