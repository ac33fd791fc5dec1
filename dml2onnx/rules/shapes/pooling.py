"""Pooling: one output element for each position of the window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import formula
from dml2onnx.rules.shapes.sizes import OTHER_SIZES, between, exactly, free, loosely, windows_formula

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.rules.shapes.sizes import Term
    from dml2onnx.rules.subject import Subject

ONE_WINDOW = "it takes parts of the input that are no windows, where one window is all of it"
"""What DirectML does with a larger output then: it was seen to reduce runs of elements, or to give zeros."""


@formula(
    "average_pooling/size-output",
    "average_pooling1/size-output",
    "lp_pooling/size-output",
    "lp_pooling1/size-output",
    "max_pooling/size-output",
    "max_pooling1/size-output",
    "max_pooling2/size-output",
    "quantized_linear_average_pooling/size-output",
    tensor="OutputTensor",
)
def output_size(subject: Subject, rank: int) -> Iterator[Term | Diagnostic]:
    """``(in + padding - ((WindowSize - 1) * Dilation + 1)) / Stride + 1``, the division rounded down or up."""
    return _pooled_size(subject, rank, "InputTensor")


@formula("average_pooling_grad/size-input-gradient", tensor="InputGradientTensor")
def average_gradient_size(subject: Subject, rank: int) -> Iterator[Term | Diagnostic]:
    """The arriving gradient has the sizes of the forward output, the result those of the forward input."""
    return _pooled_size(subject, rank, "OutputGradientTensor")


@formula("max_pooling_grad/size-input-gradient", tensor="InputGradientTensor")
def maximum_gradient_size(subject: Subject, rank: int) -> Iterator[Term | Diagnostic]:
    """The arriving gradient has the sizes of the forward output, the division rounded down; nothing else will do."""
    for term in _pooled_size(subject, rank, "InputTensor"):
        if isinstance(term, Diagnostic):
            yield exactly(1, "the one window, which hangs over the end")
        elif term.accepted:
            yield exactly(term.low, term.words)
        else:
            yield term


def _pooled_size(subject: Subject, rank: int, whole: str) -> Iterator[Term | Diagnostic]:
    sizes = subject.sizes_of_rank(whole, rank)
    count = rank - 2
    windows, strides = subject.uints("WindowSize", count), subject.uints("Strides", count)
    starts, ends = subject.uints("StartPadding", count), subject.uints("EndPadding", count)
    dilations = subject.uints("Dilations", count) if "Dilations" in subject.index else (1,) * count
    is_whole = windows == tuple(sizes[2:]) and not any((*starts, *ends)) and set(dilations) == {1}
    is_whole = is_whole and not ("OutputIndicesTensor" in subject.index and subject.value("OutputIndicesTensor"))
    for i in range(2):
        yield exactly(sizes[i], f"{whole}.Sizes[{i}]")
    for i in range(count):
        if not (windows[i] and strides[i] and dilations[i]):  # which is said of the attribute
            yield free()
            continue
        padded = sizes[i + 2] + starts[i] + ends[i]
        reach = (windows[i] - 1) * dilations[i] + 1
        low = (padded - reach) // strides[i] + 1
        high = -((reach - padded) // strides[i]) + 1
        if high < 1:  # less than a stride is missing: rounded up, there is one window, which hangs over the end
            message = f"The window reaches over {reach} elements of dimension {i + 2}, which has {padded} with padding."
            most = f"at most {padded + strides[i] - 1}"
            yield codes.WINDOW_TOO_LARGE.of(
                f"WindowSize/{i}", message, most, reach, accepted=OTHER_SIZES, compiled=True
            )
            continue
        words = partial(windows_formula, subject, i, sizes[i + 2], reach, strides[i])
        does, compiled = (ONE_WINDOW, False) if is_whole else (OTHER_SIZES, True)
        yield loosely(between(max(low, 1), high, words), does, compiled=compiled)
