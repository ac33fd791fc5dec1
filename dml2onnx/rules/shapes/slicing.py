"""SLICE, SLICE1 and SLICE_GRAD: windows are inside their tensor."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.findings import accepting
from dml2onnx.rules.shapes.rules import formula, rule
from dml2onnx.rules.shapes.sizes import Term, Whole, at_most, free, loosely
from dml2onnx.rules.subject import Subject

BEYOND_THE_WINDOW = "it writes all elements of InputGradientTensor, even beyond the window"
"""What DirectML does if the window's size differs from that of the gradient."""


@formula("slice/size-output", tensor="OutputTensor")
def slice_size(subject: Subject, rank: int) -> Whole:
    """``OutputTensor.Sizes[i] = Sizes[i]``."""
    return Whole.of(subject.uints("Sizes", rank), "the field Sizes")


@rule("slice/window")
def slice_window(subject: Subject) -> Iterator[Diagnostic]:
    """``Offsets[i] + (Sizes[i] - 1) * Strides[i] < InputTensor.Sizes[i]``."""
    whole = subject.sizes("InputTensor")
    offsets, strides = subject.uints("Offsets", len(whole)), subject.uints("Strides", len(whole))
    for i, size in enumerate(subject.uints("Sizes", len(whole))):
        last = offsets[i] + (size - 1) * strides[i]
        if last >= whole[i]:
            message = f"The last element read in dimension {i} is {last}; InputTensor has {whole[i]}."
            yield codes.OUT_OF_WINDOW.of(f"Offsets/{i}", message, f"below {whole[i]}", last)


@rule("slice_grad/inside")
def written_inside(subject: Subject) -> Iterator[Diagnostic]:
    """``Offsets[i] + (InputGradientTensor.Sizes[i] - 1) * abs(Strides[i]) < OutputGradientTensor.Sizes[i]``."""
    whole = subject.sizes("OutputGradientTensor")
    offsets, strides = subject.uints("InputWindowOffsets", len(whole)), subject.uints("InputWindowStrides", len(whole))
    for i, size in enumerate(subject.sizes_of_rank("InputGradientTensor", len(whole))):
        last = offsets[i] + (size - 1) * abs(strides[i])
        if last >= whole[i]:
            message = f"The last element written in dimension {i} is {last}; OutputGradientTensor has {whole[i]}."
            yield codes.OUT_OF_WINDOW.of(f"InputWindowStrides/{i}", message, f"below {whole[i]}", last)


@rule("slice1/window", "slice_grad/window")
def window(subject: Subject) -> Iterator[Diagnostic]:
    """``InputWindowOffsets[i] + InputWindowSizes[i]`` is at most the size of the tensor, with sizes of at least 1."""
    tensor = "InputTensor" if "InputTensor" in subject.index else "OutputGradientTensor"
    whole = subject.sizes(tensor)
    offsets = subject.uints("InputWindowOffsets", len(whole))
    for i, size in enumerate(subject.uints("InputWindowSizes", len(whole))):
        if size < 1:
            message = f"InputWindowSizes[{i}] is {size}; a window has at least 1 element."
            found = codes.OUT_OF_WINDOW.of(f"InputWindowSizes/{i}", message, "at least 1", size)
            yield accepting(found, BEYOND_THE_WINDOW) if tensor == "OutputGradientTensor" else found
        elif offsets[i] + size > whole[i]:
            message = f"The window ends at {offsets[i] + size} in dimension {i}; {tensor} has {whole[i]}."
            yield codes.OUT_OF_WINDOW.of(f"InputWindowOffsets/{i}", message, whole[i], offsets[i] + size)


def _sliced(subject: Subject, rank: int) -> Iterator[Term]:
    """At most as many elements as the window has at this stride."""
    windows = subject.uints("InputWindowSizes", rank)
    for window, stride in zip(windows, subject.uints("InputWindowStrides", rank), strict=True):
        if stride == 0 or window < 1:  # another rule reports the attribute
            yield free()
        else:
            yield at_most(1 + (window - 1) // abs(stride), f"1 + ({window} - 1) / {abs(stride)}")


slice1_size = formula("slice1/size-output", tensor="OutputTensor")(_sliced)


@formula("slice_grad/size-input-gradient", tensor="InputGradientTensor")
def slice_gradient_size(subject: Subject, rank: int) -> Iterator[Term]:
    """As the output of SLICE1, but DirectML accepts other sizes."""
    for term in _sliced(subject, rank):
        yield loosely(term, BEYOND_THE_WINDOW)
