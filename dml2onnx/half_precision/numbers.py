"""Range of FLOAT16, and conversion of constants and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.ir.data import STREAMED, ArrayData, FillData, PaddedData
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.data import Bytes, Data
    from dml2onnx.ir.operator import FieldValue

LARGEST = 65504.0
OVERFLOWS_FROM = 65520.0
"""Numbers from here on round to infinity."""
VANISHES_UP_TO = 2.0**-25
"""Numbers up to here round to 0."""
LIMITS = frozenset({"ClipThreshold", "Epsilon", "MaskFilterValue", "Max", "Min"})
"""Attributes outside of the range are harmless here: unreachable limits, and terms of formulas in FLOAT32."""


@dataclass(frozen=True, slots=True, eq=False)
class ByteRange:
    """A range of bytes of data."""

    whole: Data
    start: int
    nbytes: int

    @classmethod
    def of(cls, data: Data, start: int, nbytes: int) -> Data:
        """Returns up to ``nbytes`` from ``start`` on; ``data`` itself if that is all of it."""
        count = max(0, min(nbytes, data.nbytes - start))
        return data if (start, count) == (0, data.nbytes) else cls(data, start, count)

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """See :meth:`Data.read`."""
        count = self.nbytes - offset if length is None else min(length, self.nbytes - offset)
        return self.whole.read(self.start + offset, max(0, count))


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a constant does not fit into FLOAT16."""

    overflows: int
    """Finite elements that become infinite."""
    largest: float
    """The largest magnitude among all finite elements."""

    def __str__(self) -> str:
        if not self.overflows:
            return f"its largest number is {self.largest:.3g}, which FLOAT16 rounds to 0"
        which = "a number" if self.overflows == 1 else f"{self.overflows:,} numbers"
        return f"it has {which} beyond {LARGEST:g}, up to {self.largest:.3g}"


def misfit(data: Data) -> Misfit | None:
    """The reason if FLOAT32 elements do not fit: finite ones become infinite, or all become 0."""
    overflows, largest = 0, 0.0
    for part in _parts(data):
        size = np.abs(part)
        size = size[np.isfinite(size)]
        overflows += int((size >= OVERFLOWS_FROM).sum())
        largest = max(largest, float(size.max(initial=0)))
    return _misfit(overflows, largest)


def _misfit(overflows: int, largest: float) -> Misfit | None:
    return Misfit(overflows, largest) if overflows or 0 < largest <= VANISHES_UP_TO else None


def _parts(data: Data) -> Iterator[npt.NDArray[np.float32]]:
    """Yields the elements, some MiB at a time."""
    match data:
        case FillData(pattern) if len(pattern) % 4 == 0:
            yield np.frombuffer(pattern, np.float32)[: data.nbytes // 4]
        case PaddedData(head):
            yield from _parts(head)
        case _:
            for start in range(0, data.nbytes // 4 * 4, STREAMED):
                yield data.read(start, min(STREAMED, data.nbytes // 4 * 4 - start)).view(np.float32)


def in_half(data: Data) -> Data:
    """The elements rounded to FLOAT16."""
    match data:
        case FillData(pattern) if len(pattern) % 4 == 0:
            return FillData(_rounded(np.frombuffer(pattern, np.float32)).tobytes(), data.nbytes // 2)
        case PaddedData(head) if head.nbytes % 4 == 0:
            return PaddedData(in_half(head), data.nbytes // 2)
    result = np.empty(data.nbytes // 4, np.float16)
    start = 0
    for part in _parts(data):
        result[start : start + part.size] = _rounded(part)
        start += part.size
    return ArrayData.of(result)


def _rounded(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float16]:
    with np.errstate(all="ignore"):
        return values.astype(np.float16)


# --- Descriptors ------------------------------------------------------------------------------------------------------


def half_desc(desc: TensorDesc) -> TensorDesc:
    """A FLOAT16 descriptor for separate memory; other types are unchanged."""
    if desc.data_type is not DataType.FLOAT32:
        return desc
    return TensorDesc(DataType.FLOAT16, desc.sizes, desc.strides)


def half_operator(op: OperatorDesc) -> OperatorDesc:
    """The operator with FLOAT16 instead of FLOAT32 tensors and related attributes."""
    fields = op.schema.fields
    return OperatorDesc(op.schema, tuple(_half(field, value) for field, value in zip(fields, op.values, strict=True)))


def _half(field: FieldSchema, value: FieldValue) -> FieldValue:
    match value:
        case "FLOAT32" if field.enum == "DML_TENSOR_DATA_TYPE":
            return "FLOAT16"
        case float() if field.name == "MaskFilterValue":  # finite: fully masked rows are means, not NaN
            return min(max(value, -LARGEST), LARGEST)
        case TensorDesc():
            return half_desc(value)
        case Scalar(DataType.FLOAT32):
            return Scalar(DataType.FLOAT16, float(_rounded(np.float32(value.value).reshape(1))[0]))
        case (TensorDesc(), *_):
            return tuple(half_desc(item) for item in value)  # type: ignore[arg-type]  # all are tensors
    return value


def attribute_misfit(op: OperatorDesc) -> tuple[str, Misfit] | None:
    """The name of the first attribute that does not fit, and the reason."""
    for field, value in op.items():
        if field.name in LIMITS:
            continue
        match value:
            case Scalar(DataType.FLOAT32):
                numbers: tuple[object, ...] = (value.value,)
            case ScaleBias():
                numbers = (value.scale, value.bias)
            case float():
                numbers = (value,)
            case OperatorDesc():
                nested = attribute_misfit(value)
                if nested is not None:
                    return f"{field.name}/{nested[0]}", nested[1]
                continue
            case _:
                continue
        for number in numbers:
            size = abs(float(number))  # type: ignore[arg-type]  # all three have numbers
            found = _misfit(int(OVERFLOWS_FROM <= size < float("inf")), size if size < float("inf") else 0.0)
            if found is not None:
                return field.name, found
    return None
