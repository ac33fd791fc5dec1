"""Translates operators to older ones with other names or attributes.

``alternatives`` tries earlier versions with the same fields. The tests compute both sides with the reference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.ir.operator import FieldValue

_CENTRE = 0.5
_MOVES = frozenset(
    {
        "ACTIVATION_RELU",
        "DEPTH_TO_SPACE",
        "DEPTH_TO_SPACE1",
        "SLICE",
        "SLICE1",
        "SPACE_TO_DEPTH",
        "SPACE_TO_DEPTH1",
        "TILE",
    }
)
"""Operators that copy elements or write 0, in any data type that holds them."""
_NARROW = 16
"""The most bits of an integer type that FLOAT32 represents exactly."""


def translated(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc, ...]]:
    """Yields equivalents with another name or other attributes."""
    match desc.type:
        case "MEAN_VARIANCE_NORMALIZATION2" if desc.get("UseMean"):
            yield (_converted("MEAN_VARIANCE_NORMALIZATION1", desc, NormalizeVariance=desc.get("UseVariance")),)
        case "ACTIVATION_SOFTMAX1" | "ACTIVATION_LOG_SOFTMAX1" | "ACTIVATION_HARDMAX1" if _is_along_the_last(desc):
            yield (_converted(desc.type.removesuffix("1"), desc),)
        case "MEAN_VARIANCE_NORMALIZATION1":
            yield from _by_channels(desc)
        case "DEPTH_TO_SPACE1" | "SPACE_TO_DEPTH1" if desc.get("Order") == "DEPTH_COLUMN_ROW":
            yield (_converted(desc.type.removesuffix("1"), desc),)
        case "RESAMPLE3" if not desc.get("Antialiased"):
            yield (_converted("RESAMPLE2", desc),)
        case "RESAMPLE2" if desc.get("InterpolationMode") == "LINEAR":  # which does not round coordinates
            yield (_converted("RESAMPLE1", desc),)
        case "RESAMPLE1" if _is_centred(desc):
            yield (_converted("RESAMPLE", desc, ScaleCount=desc.get("DimensionCount")),)
        case "RESAMPLE":
            yield from _upsampled(desc)
        case _:
            pass


def _is_along_the_last(desc: OperatorDesc) -> bool:
    tensor = desc.find("InputTensor")
    return isinstance(tensor, TensorDesc) and desc.find("Axes") == (tensor.rank - 1,)


def _converted(name: str, like: OperatorDesc, **others: FieldValue) -> OperatorDesc:
    """The operator ``name`` with the fields that it shares with ``like``, and with other values."""
    schema = catalog.operator(name)
    values: Mapping[str, FieldValue] = {field.name: value for field, value in like.items()} | others
    return OperatorDesc(schema, tuple([values.get(field.name) for field in schema.fields]))


def _by_channels(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc]]:
    """MEAN_VARIANCE_NORMALIZATION over four dimensions, per channel or across channels."""
    axes = desc.get("Axes")
    numbers = sorted(axis for axis in axes if isinstance(axis, int)) if isinstance(axes, tuple) else []
    crosses = {(2, 3): False, (1, 2, 3): True}.get(tuple(numbers))
    if crosses is not None:
        yield (_converted("MEAN_VARIANCE_NORMALIZATION", desc, CrossChannel=crosses),)


def _is_centred(desc: OperatorDesc) -> bool:
    offsets = (("InputPixelOffsets", _CENTRE), ("OutputPixelOffsets", -_CENTRE))
    return all(isinstance(stated := desc.get(name), tuple) and set(stated) == {value} for name, value in offsets)


def _upsampled(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc]]:
    """UPSAMPLE_2D, if the last two of four dimensions are scaled by integers."""
    scales, input, output = (desc.get(name) for name in ("Scales", "InputTensor", "OutputTensor"))
    if not isinstance(scales, tuple) or not isinstance(input, TensorDesc) or not isinstance(output, TensorDesc):
        return
    numbers = [scale for scale in scales if isinstance(scale, float) and scale >= 1 and scale.is_integer()]
    if len(numbers) != 4 or len(scales) != 4 or numbers[:2] != [1.0, 1.0]:
        return
    if output.sizes == tuple([size * int(scale) for size, scale in zip(input.sizes, numbers, strict=False)]):
        yield (_converted("UPSAMPLE_2D", desc, ScaleSize=Size2D(int(numbers[3]), int(numbers[2]))),)


def with_casts(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc, OperatorDesc, OperatorDesc]]:
    """Narrow integers moved as FLOAT32, with a CAST before and after."""
    if desc.type not in _MOVES:
        return
    input, output = desc.get("InputTensor"), desc.get("OutputTensor")
    if not isinstance(input, TensorDesc) or not isinstance(output, TensorDesc):
        return
    kind = input.data_type
    if kind.is_float or kind.bits > _NARROW or kind.is_packed_nibbles or output.data_type is not kind:
        return
    before, behind = (replace(item.packed(), data_type=DataType.FLOAT32) for item in (input, output))
    cast = catalog.operator("CAST")

    def casting(source: TensorDesc, target: TensorDesc) -> OperatorDesc:
        tensors = {"InputTensor": source, "OutputTensor": target}
        return OperatorDesc(cast, tuple([tensors.get(field.name) for field in cast.fields]))

    moved = _converted(desc.type, desc, InputTensor=before, OutputTensor=behind)
    yield casting(input, before), moved, casting(behind, output)
