"""CONVOLUTION and its integer relatives: filters, groups, biases and output sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import WordedRule, formula, rule
from dml2onnx.rules.shapes.sizes import (
    OTHER_SIZES,
    Term,
    exactly,
    free,
    loosely,
    not_multiple,
    windows_formula,
    wrong_size,
    wrong_sizes,
)
from dml2onnx.rules.subject import Subject, UnanswerableError


class _Window(NamedTuple):
    """The spatial dimensions of a convolution in either direction."""

    sizes: tuple[int, ...]
    reach: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[int, ...]

    @classmethod
    def of(cls, subject: Subject, rank: int) -> _Window:
        sizes = subject.sizes_of_rank("InputTensor", rank)[2:]
        count = rank - 2
        kernel = subject.sizes_of_rank("FilterTensor", count + 2)[2:]
        dilations = subject.uints("Dilations", count)
        starts, ends = subject.uints("StartPadding", count), subject.uints("EndPadding", count)
        return cls(
            sizes,
            tuple([(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]),
            subject.uints("Strides", count),
            tuple([start + end for start, end in zip(starts, ends, strict=True)]),
        )


@formula(
    "convolution/size-output-forward",
    "convolution_integer/size-output",
    "quantized_linear_convolution/size-output",
    tensor="OutputTensor",
)
def forward_size(subject: Subject, rank: int) -> Iterator[Term | Diagnostic]:
    """``(in + padding - reach) / Stride + 1`` rounded down, where reach is the dilated kernel."""
    if rank < 3:
        raise UnanswerableError
    images, filters = subject.sizes("InputTensor"), subject.sizes("FilterTensor")
    yield exactly(images[0], "InputTensor.Sizes[0]")
    yield exactly(filters[0], "FilterTensor.Sizes[0]")
    if {len(images), len(filters), subject.uint("DimensionCount") + 2} != {rank}:  # other rules report the counts
        yield from [free()] * (rank - 2)
        return
    window = _Window.of(subject, rank)
    dilations = subject.numbers("Dilations")
    for i, size in enumerate(window.sizes):
        padded, reach, stride = size + window.padding[i], window.reach[i], window.strides[i]
        if not stride or not dilations[i]:  # another rule reports the attribute
            yield free()
            continue
        if reach > padded:
            yield _does_not_fit(i, f"The filter reaches over {reach} elements of dimension {i + 2}, which has {padded}")
        else:
            words = partial(windows_formula, subject, i, size, reach, stride)
            yield loosely(exactly((padded - reach) // stride + 1, words), OTHER_SIZES, compiled=True)


@formula("convolution/size-output-backward", tensor="OutputTensor")
def backward_size(subject: Subject, rank: int) -> Iterator[Term | Diagnostic]:
    """Any spatial size, which crops or extends the natural one; that must be positive."""
    if rank < 3:
        raise UnanswerableError
    groups, channels = subject.positive("GroupCount"), subject.sizes_of_rank("FilterTensor", rank)[1]
    yield exactly(subject.sizes("InputTensor")[0], "InputTensor.Sizes[0]")
    yield exactly(channels * groups, f"FilterTensor.Sizes[1] {channels} * GroupCount")
    if subject.uint("DimensionCount") != rank - 2:  # another rule reports the count
        yield from [free()] * (rank - 2)
        return
    window = _Window.of(subject, rank)
    extra = subject.uints("OutputPadding", rank - 2)
    for i, size in enumerate(window.sizes):
        natural = (size - 1) * window.strides[i] + window.reach[i] + extra[i] - window.padding[i]
        if natural < 1:
            yield _does_not_fit(i, f"Padding of {window.padding[i]} leaves {natural} elements of dimension {i + 2}")
        else:
            yield free(natural)


def _does_not_fit(i: int, problem: str) -> Diagnostic:
    wanted = "at least 1 output element"
    place, message = f"StartPadding/{i}", f"{problem} with padding."
    return codes.WINDOW_TOO_LARGE.of(place, message, wanted, 0, accepted=OTHER_SIZES, compiled=True)


@rule(
    "convolution/size-filter-forward",
    "convolution_integer/size-filter",
    "quantized_linear_convolution/size-filter",
)
def forward_filter(subject: Subject) -> Iterator[Diagnostic]:
    """Each filter covers the input channels of one group; the filters are a multiple of the groups."""
    groups = subject.positive("GroupCount")
    sizes, channels = subject.sizes("FilterTensor"), subject.sizes("InputTensor")
    if len(sizes) < 2 or len(channels) < 2:
        return
    if sizes[1] * groups != channels[1]:
        message = (
            f"FilterTensor.Sizes[1] {sizes[1]} * GroupCount {groups} is {sizes[1] * groups}; "
            f"InputTensor has {channels[1]} channels."
        )
        expected = channels[1] // groups if channels[1] % groups == 0 else f"{channels[1]} / {groups}"
        yield codes.WRONG_SIZE.of("FilterTensor/Sizes/1", message, expected, sizes[1])
    yield from not_multiple("FilterTensor/Sizes/0", "FilterTensor.Sizes[0]", sizes[0], groups, "GroupCount")


@rule("convolution/size-filter-backward")
def backward_filter(subject: Subject) -> Iterator[Diagnostic]:
    """One filter per input channel; the input channels are a multiple of the groups."""
    groups = subject.positive("GroupCount")
    sizes, channels = subject.sizes("FilterTensor"), subject.sizes("InputTensor")
    if len(sizes) < 2 or len(channels) < 2:
        return
    if sizes[0] != channels[1]:
        yield wrong_size("FilterTensor", 0, sizes[0], channels[1], "InputTensor.Sizes[1]")
    yield from not_multiple("InputTensor/Sizes/1", "InputTensor.Sizes[1]", channels[1], groups, "GroupCount")


@rule("convolution/output-padding")
def output_padding(subject: Subject) -> Iterator[Diagnostic]:
    """``OutputPadding[i] < OutputTensor.Sizes[i + 2]``; the entries belong to the last dimensions."""
    sizes, count = subject.sizes("OutputTensor"), subject.uint("DimensionCount")
    for i, padding in enumerate(subject.numbers("OutputPadding")[:count]):
        axis = len(sizes) - count + i
        if axis >= 2 and padding >= sizes[axis]:
            size = sizes[axis]
            message = f"OutputPadding[{i}] is {padding}; OutputTensor has {size} elements in dimension {axis}."
            yield codes.OUT_OF_RANGE.of(f"OutputPadding/{i}", message, f"below {size}", padding)


@rule("convolution/size-bias")
def bias_size(subject: Subject) -> Iterator[Diagnostic]:
    """One value per output channel, in dimension 1."""
    bias, output = subject.optional("BiasTensor"), subject.sizes("OutputTensor")
    if bias is not None and bias.rank == len(output) >= 2:
        expected = (1, output[1]) + (1,) * (bias.rank - 2)
        yield from wrong_sizes("BiasTensor", bias.sizes, expected, "one value per output channel")


def _per_channel(name: str, *constraints: str, or_single: bool = True) -> WordedRule:
    """``name`` has one element per output channel, along dimension 1."""

    def check(subject: Subject) -> Iterator[Diagnostic]:
        tensor, output = subject.optional(name), subject.sizes("OutputTensor")
        if tensor is None or len(output) < 2 or (or_single and tensor.element_count == 1):
            return
        expected = (1, output[1], *(1,) * (tensor.rank - 2))
        words = "one value per output channel" + (", or a single element" if or_single else "")
        yield from wrong_sizes(name, tensor.sizes, expected, words)

    return rule(*constraints)(check)


_QUANTIZED, _MEAN = "quantized_linear_convolution", "quantized_linear_average_pooling"

filter_zero_point = _per_channel(
    "FilterZeroPointTensor", "convolution_integer/size-filter-zero-point", f"{_QUANTIZED}/size-filter-zero-point"
)
filter_scale = _per_channel("FilterScaleTensor", f"{_QUANTIZED}/size-filter-scale")
quantized_bias = _per_channel("BiasTensor", f"{_QUANTIZED}/size-bias", or_single=False)
pooled_input_scale = _per_channel("InputScaleTensor", f"{_MEAN}/size-input-scale")
pooled_input_zero_point = _per_channel("InputZeroPointTensor", f"{_MEAN}/size-input-zero-point")
pooled_output_scale = _per_channel("OutputScaleTensor", f"{_MEAN}/size-output-scale")
pooled_output_zero_point = _per_channel("OutputZeroPointTensor", f"{_MEAN}/size-output-zero-point")
