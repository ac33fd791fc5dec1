"""Contents of buffers as arrays of a program: numbers where they are few, else arrays of a file beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.frontends.names import free_name
from dml2onnx.frontends.numbers import unpack_nibbles
from dml2onnx.ir.data import Data, FillData, MissingData
from dml2onnx.ir.tensor import DataType, TensorDesc, packed_strides
from dml2onnx.source_code.text import Group, Joined, Label, Part, Text, call, number, numbers, string

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt


MOST_WRITTEN = 8
"""Elements that are written out."""
MOST_DIGITS = 40
"""Characters of their numbers: measured values are no reading."""
MOST_COMPARED = 1 << 16
"""Bytes that are searched for whether all are alike."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredArray:
    """An array of the file beside a program."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    data: Data
    nibbles: DataType | None = None
    """The 4-bit type whose elements are stored one to a byte."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An array in a program."""

    part: Part
    data_type: DataType
    shape: tuple[int, ...]
    scalar: str = ""
    """The number, if it is but one."""


class Contents:
    """The arrays of a program, and the file that has those which are too large for its text."""

    def __init__(self, references: Mapping[Path, str]) -> None:
        self.stored: dict[str, StoredArray] = {}
        self._references = references
        self._taken: set[str] = set()

    def array(self, name: str, data: Data, data_type: DataType, shape: tuple[int, ...]) -> Shown:
        """The first elements of ``data``, row-major in ``shape``."""
        count = int(np.prod(shape, dtype=object))
        if isinstance(data, MissingData):
            return Shown(self._file(data, data_type, shape), data_type, shape)
        fill = _fill(data, data_type, count)
        if fill is not None and (count > 1 or isinstance(data, FillData)):
            dims = numbers(shape)
            return Shown(call("np.full", (dims, Text(fill), _dtype(data_type))), data_type, shape, "")
        if count <= MOST_WRITTEN:
            written = _written(data, data_type, shape)
            if written is not None:
                scalar = fill if count == 1 and fill is not None else ""
                return Shown(written, data_type, shape, scalar)
        key = self._key(name)
        packed = data_type if data_type.is_packed_nibbles else None
        self.stored[key] = StoredArray(data_type.dtype, shape, data, packed)
        return Shown(Joined((Text("weights["), Label(key), Text("]"))), data_type, shape)

    def rename(self, key: str, wanted: str) -> None:
        """Another name for an array of the file."""
        self.stored[wanted] = self.stored.pop(key)

    def _key(self, name: str) -> str:
        """A name that a member of an archive can have, and no other has."""
        plain = re.sub(r"[\x00-\x1f\x7f\\:*?\"<>|\ud800-\udfff]", "_", name).strip("/. ") or "constant"
        plain = plain[:200].removesuffix(".npy") or "constant"
        key = free_name(plain, lambda key: key.casefold() in self._taken)
        self._taken.add(key.casefold())
        return key

    def _file(self, data: MissingData, data_type: DataType, shape: tuple[int, ...]) -> Part:
        path = Joined((Text("Path(__file__).with_name("), Text(string(self._references[data.path])), Text(")")))
        if data_type.is_packed_nibbles:
            data_type = DataType.UINT8  # nobody knows which nibbles there will be
        flat = call("np.fromfile", (path, _dtype(data_type)))
        return flat if len(shape) == 1 else Joined((flat, _reshaped(shape)))


def _dtype(data_type: DataType) -> Text:
    return Text(f"np.{data_type.dtype.name}")


def elements(raw: npt.NDArray[np.uint8], data_type: DataType, count: int) -> npt.NDArray[np.generic]:
    """Elements from their bytes, those of 4-bit types one to a byte."""
    if not data_type.is_packed_nibbles:
        return np.frombuffer(raw.tobytes(), data_type.dtype)[:count]
    return unpack_nibbles(raw, count, is_signed=data_type.is_signed)


def _fill(data: Data, data_type: DataType, count: int) -> str | None:
    """The number that all elements are, as far as that is known at little cost and a number has these bits."""
    if data_type.is_packed_nibbles or not count:
        return None
    width = data_type.itemsize
    used = count * width
    if isinstance(data, FillData) and data.nbytes >= used and width % len(data.pattern) == 0:
        raw = data.read(0, width)
    elif used <= MOST_COMPARED and data.nbytes >= used:
        whole = data.read(0, used)
        raw = whole[:width]
        if not np.array_equal(whole, np.tile(raw, count)):
            return None
    else:
        return None
    value = np.frombuffer(raw.tobytes(), data_type.dtype)
    text = number(value[0].item(), data_type)
    with np.errstate(all="ignore"):
        again = np.full(1, eval_number(text), data_type.dtype)
    return text if again.tobytes() == value.tobytes() else None


def eval_number(text: str) -> int | float:
    """The number that a literal of a program is."""
    if text.startswith("float("):
        return float(text[7:-2])
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def _written(data: Data, data_type: DataType, shape: tuple[int, ...]) -> Part | None:
    """A few elements as an array; ``None`` where numbers do not have these bits."""
    count = int(np.prod(shape))
    used = data_type.bytes_for(count)
    if data.nbytes < used:
        return None
    values = elements(data.read(0, used), data_type, count)
    texts = [number(item.item(), data_type) for item in values]
    again = np.array([eval_number(item) for item in texts], data_type.dtype)
    if again.tobytes() != values.tobytes() or sum(map(len, texts)) > MOST_DIGITS:
        return None
    flat = call("np.array", (Group("[", tuple(map(Text, texts)), "]"), _dtype(data_type)))
    if len(shape) == 1:
        return flat
    return Joined((flat, _reshaped(shape)))


def _reshaped(shape: tuple[int, ...]) -> Text:
    return Text(f".reshape({', '.join(map(str, shape))})")


def memory_shape(desc: TensorDesc) -> tuple[int, ...] | None:
    """The sizes in the order of memory of a tensor that fills its memory without gaps, each element once."""
    if desc.strides is None:
        return desc.sizes
    if not desc.is_dense:
        return None
    order = sorted(range(desc.rank), key=lambda axis: (-desc.effective_strides[axis], axis))
    return tuple(desc.sizes[axis] for axis in order)


def unrepeated(desc: TensorDesc) -> TensorDesc | None:
    """A packed tensor that gives this one when it is repeated by zero strides."""
    if desc.strides is None:
        return None
    sizes = tuple(1 if stride == 0 else size for size, stride in zip(desc.sizes, desc.strides, strict=True))
    packed = packed_strides(sizes)
    alike = all(size == 1 or a == b for size, a, b in zip(sizes, desc.strides, packed, strict=True))
    return TensorDesc(desc.data_type, sizes) if alike else None
