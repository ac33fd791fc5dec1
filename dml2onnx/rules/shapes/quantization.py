"""QUANTIZE and DEQUANTIZE: types and block sizes of scale and zero point."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import rule
from dml2onnx.rules.shapes.sizes import wrong_sizes
from dml2onnx.rules.subject import Subject

_NAME = "QuantizationTensors"


@rule("quantize/size-quantization", "dequantize/size-quantization")
def block_sizes(subject: Subject) -> Iterator[Diagnostic]:
    """Each size divides the input's: 1 for the whole dimension, anything between for blocks."""
    sizes, placed = subject.sizes("InputTensor"), subject.placed(_NAME)
    for path, tensor in placed[:1]:
        for i, (blocks, size) in enumerate(zip(tensor.sizes, sizes, strict=False)):
            if blocks >= 1 and size % blocks:
                message = f"{path}.Sizes[{i}] is {blocks}, which does not divide InputTensor.Sizes[{i}], {size}."
                yield codes.INDIVISIBLE.of(f"{path}/Sizes/{i}", message, f"a divisor of {size}", blocks)
    for path, tensor in placed[1:]:
        yield from wrong_sizes(path, tensor.sizes, placed[0][1].sizes, "those of the scale")


@rule("quantize/quantization-types", data_types={"OutputTensor": (_NAME, 1)})
def quantize_types(subject: Subject) -> Iterator[Diagnostic]:
    """The scale is of the input's type, the zero point of the output's."""
    return _types(subject, "InputTensor", "OutputTensor")


@rule("dequantize/quantization-types", data_types={"OutputTensor": (_NAME, 0)})
def dequantize_types(subject: Subject) -> Iterator[Diagnostic]:
    """The scale is of the output's type, the zero point of the input's."""
    return _types(subject, "OutputTensor", "InputTensor")


def _types(subject: Subject, *origins: str) -> Iterator[Diagnostic]:
    for (path, tensor), origin in zip(subject.placed(_NAME), origins, strict=False):
        wanted, found = subject.tensor(origin).data_type.name, tensor.data_type.name
        if found != wanted:
            message = f"{path} is {found} and {origin} is {wanted}; they need one data type."
            yield codes.DIFFERENT_DATA_TYPES.of(f"{path}/DataType", message, wanted, found)
