"""Pooling: one output element per position of the window."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import formula
from dml2onnx.rules.shapes.sizes import OTHER_SIZES, Term, between, exactly, free, loosely, windows_formula
from dml2onnx.rules.subject import Subject

ONE_WINDOW = "it reduces arbitrary parts of the input, since the only window is the whole input"
"""What DirectML does with a larger output: it was observed to reduce runs of elements, or to write zeros."""


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
    """The arriving gradient has the sizes of the forward output, with the division rounded down."""
    for term in _pooled_size(subject, rank, "InputTensor"):
        if isinstance(term, Diagnostic):
            yield exactly(1, "the only window, which extends beyond the end")
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
        if not (windows[i] and strides[i] and dilations[i]):  # another rule reports the attribute
            yield free()
            continue
        padded = sizes[i + 2] + starts[i] + ends[i]
        reach = (windows[i] - 1) * dilations[i] + 1
        low = (padded - reach) // strides[i] + 1
        high = -((reach - padded) // strides[i]) + 1
        if high < 1:  # when rounding up, a window may extend beyond the end by less than a stride
            message = f"The window reaches over {reach} elements of dimension {i + 2}, which has {padded} with padding."
            most = f"at most {padded + strides[i] - 1}"
            yield codes.WINDOW_TOO_LARGE.of(
                f"WindowSize/{i}", message, most, reach, accepted=OTHER_SIZES, compiled=True
            )
            continue
        words = partial(windows_formula, subject, i, sizes[i + 2], reach, strides[i])
        does, compiled = (ONE_WINDOW, False) if is_whole else (OTHER_SIZES, True)
        yield loosely(between(max(low, 1), high, words), does, compiled=compiled)
