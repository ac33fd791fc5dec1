"""Contents of buffers as arrays of a program: literals if they are short, otherwise arrays of an archive."""

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


MAX_ELEMENTS = 8
"""Elements of an array that is written as a literal."""
MAX_DIGITS = 40
"""Characters of the numbers of such a literal."""
MAX_COMPARED = 1 << 16
"""Bytes that are compared to find out whether all elements are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredArray:
    """An array of the archive beside a program."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    data: Data
    nibbles: DataType | None = None
    """The 4-bit type whose elements are stored one per byte."""


@dataclass(frozen=True, slots=True)
class ArrayExpression:
    """An array in a program."""

    part: Part
    data_type: DataType
    shape: tuple[int, ...]
    scalar: str = ""
    """The literal of the only element, if it has one."""


class ProgramArrays:
    """The arrays of a program, and the archive of those that are too large for its text."""

    def __init__(self, references: Mapping[Path, str]) -> None:
        self.stored: dict[str, StoredArray] = {}
        self._references = references
        self._taken: set[str] = set()

    def array(self, name: str, data: Data, data_type: DataType, shape: tuple[int, ...]) -> ArrayExpression:
        """The first elements of ``data``, row-major in ``shape``."""
        count = int(np.prod(shape, dtype=object))
        if isinstance(data, MissingData):
            return ArrayExpression(self._file(data, data_type, shape), data_type, shape)
        fill = _fill(data, data_type, count)
        if fill is not None and (count > 1 or isinstance(data, FillData)):
            full = call("np.full", (numbers(shape), Text(fill), _dtype(data_type)))
            return ArrayExpression(full, data_type, shape)
        literal = _literal(data, data_type, shape) if count <= MAX_ELEMENTS else None
        if literal is not None:
            return ArrayExpression(literal, data_type, shape, fill if count == 1 and fill is not None else "")
        key = self._key(name)
        packed = data_type if data_type.is_packed_nibbles else None
        self.stored[key] = StoredArray(data_type.dtype, shape, data, packed)
        return ArrayExpression(Joined((Text("weights["), Label(key), Text("]"))), data_type, shape)

    def rename(self, key: str, new_key: str) -> None:
        """Renames an array of the archive."""
        self.stored[new_key] = self.stored.pop(key)

    def _key(self, name: str) -> str:
        """A valid and unused name for a member of the archive."""
        plain = re.sub(r"[\x00-\x1f\x7f\\:*?\"<>|\ud800-\udfff]", "_", name).strip("/. ") or "constant"
        plain = plain[:200].removesuffix(".npy") or "constant"
        key = free_name(plain, lambda key: key.casefold() in self._taken)
        self._taken.add(key.casefold())
        return key

    def _file(self, data: MissingData, data_type: DataType, shape: tuple[int, ...]) -> Part:
        path = Joined((Text("Path(__file__).with_name("), Text(string(self._references[data.path])), Text(")")))
        if data_type.is_packed_nibbles:
            data_type = DataType.UINT8  # the file has packed nibbles
        return _reshaped(call("np.fromfile", (path, _dtype(data_type))), shape)


def _dtype(data_type: DataType) -> Text:
    return Text(f"np.{data_type.dtype.name}")


def elements(raw: npt.NDArray[np.uint8], data_type: DataType, count: int) -> npt.NDArray[np.generic]:
    """Elements from their bytes; those of 4-bit types are unpacked to one per byte."""
    if not data_type.is_packed_nibbles:
        return np.frombuffer(raw.tobytes(), data_type.dtype)[:count]
    return unpack_nibbles(raw, count, is_signed=data_type.is_signed)


def _fill(data: Data, data_type: DataType, count: int) -> str | None:
    """The literal of the number that all elements equal; ``None`` if they differ, or if comparing costs too much."""
    if data_type.is_packed_nibbles or not count:
        return None
    width = data_type.itemsize
    used = count * width
    if isinstance(data, FillData) and data.nbytes >= used and width % len(data.pattern) == 0:
        raw = data.read(0, width)
    elif used <= MAX_COMPARED and data.nbytes >= used:
        whole = data.read(0, used)
        raw = whole[:width]
        if not np.array_equal(whole, np.tile(raw, count)):
            return None
    else:
        return None
    value = np.frombuffer(raw.tobytes(), data_type.dtype)
    text = number(value[0].item(), data_type)
    with np.errstate(all="ignore"):
        parsed = np.full(1, eval_number(text), data_type.dtype)
    return text if parsed.tobytes() == value.tobytes() else None  # they differ in the bits of some NaNs


def eval_number(text: str) -> int | float:
    """Evaluates the literal of a number."""
    if text.startswith("float("):
        return float(text[7:-2])
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def _literal(data: Data, data_type: DataType, shape: tuple[int, ...]) -> Part | None:
    """A few elements as an array; ``None`` if literals do not have the same bits, or are too long."""
    count = int(np.prod(shape))
    used = data_type.bytes_for(count)
    if data.nbytes < used:
        return None
    values = elements(data.read(0, used), data_type, count)
    texts = [number(item.item(), data_type) for item in values]
    parsed = np.array([eval_number(item) for item in texts], data_type.dtype)
    if parsed.tobytes() != values.tobytes() or sum(map(len, texts)) > MAX_DIGITS:
        return None
    return _reshaped(call("np.array", (Group("[", tuple(map(Text, texts)), "]"), _dtype(data_type))), shape)


def _reshaped(flat: Part, shape: tuple[int, ...]) -> Part:
    return flat if len(shape) == 1 else Joined((flat, Text(f".reshape({', '.join(map(str, shape))})")))


def memory_shape(desc: TensorDesc) -> tuple[int, ...] | None:
    """The sizes in memory order; ``None`` if the tensor has gaps or overlapping elements."""
    if desc.strides is None:
        return desc.sizes
    if not desc.is_dense:
        return None
    order = sorted(range(desc.rank), key=lambda axis: (-desc.effective_strides[axis], axis))
    return tuple(desc.sizes[axis] for axis in order)


def unrepeated(desc: TensorDesc) -> TensorDesc | None:
    """The packed tensor that this one broadcasts by zero strides; ``None`` if there is no such tensor."""
    if desc.strides is None:
        return None
    sizes = tuple(1 if stride == 0 else size for size, stride in zip(desc.sizes, desc.strides, strict=True))
    packed = packed_strides(sizes)
    is_packed = all(size == 1 or a == b for size, a, b in zip(sizes, desc.strides, packed, strict=True))
    return TensorDesc(desc.data_type, sizes) if is_packed else None
