"""Data types and tensor descriptors, which describe the contents of a buffer.

https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING

from dml2onnx.ir.collisions import collides
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
else:
    np = lazy_module("numpy")

MAX_DIMENSIONS = 8
MAX_ELEMENTS = 2**32 - 1
"""DirectML addresses elements with 32 bits, whatever their width."""


class DataType(enum.Enum):
    """``DML_TENSOR_DATA_TYPE``; the value is its numpy type, or ``None`` for the two 4-bit types."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    UINT32 = "uint32"
    UINT16 = "uint16"
    UINT8 = "uint8"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    FLOAT64 = "float64"
    UINT64 = "uint64"
    INT64 = "int64"
    UINT4 = "uint4"
    INT4 = "int4"

    # Enum's own __hash__ goes through Python; members are singletons, so identity serves and is fast.
    __hash__ = object.__hash__

    bits: int
    is_packed_nibbles: bool
    """Whether two elements share a byte."""
    is_float: bool
    is_signed: bool

    def __init__(self, name: str) -> None:
        self.bits = int(name.lstrip("uintfloa"))
        self.is_packed_nibbles = self.bits == 4
        self.is_float = name.startswith("float")
        self.is_signed = not name.startswith("u")

    @cached_property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of one element; 4-bit elements are stored one to a byte (``int8`` / ``uint8``)."""
        name: str = self.value
        return np.dtype(name.replace("int4", "int8") if self.bits == 4 else name)

    @property
    def itemsize(self) -> int:
        """Bytes of one element; 4-bit types have none and must be asked for :meth:`bytes_for`."""
        assert self.bits >= 8
        return self.bits // 8

    def bytes_for(self, elements: int) -> int:
        """Bytes that hold ``elements`` contiguous elements, without DirectML's rounding to 4."""
        return (elements * self.bits + 7) // 8

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        assert not self.is_float
        if self.is_signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1


@lru_cache(maxsize=1 << 14)
def packed_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * sizes[i]
    return tuple(strides)


def extent(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last of a view: ``1 + sum((size - 1) * stride)``."""
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements tile ``[0, extent)`` once each."""
    expected = 1
    for stride, size in sorted((s, n) for n, s in zip(sizes, strides, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True


@dataclass(frozen=True, slots=True)
class TensorDesc:
    """``DML_BUFFER_TENSOR_DESC``: a strided view of the start of a bound range.

    ``strides`` counts elements (of 4-bit types: nibbles); ``None`` means packed, and strides that say
    no more than that are stored as ``None``, so equal views are equal descriptors.
    ``total_size`` is ``TotalTensorSizeInBytes``; 0 means the smallest legal size.
    Wrong descriptors can be represented: saying what is wrong with one is the work of ``checks``.
    """

    data_type: DataType
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    owned_by_dml: bool = False
    total_size: int = 0
    alignment: int = 0
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        if self.strides is not None and self.strides == packed_strides(self.sizes):
            object.__setattr__(self, "strides", None)
        object.__setattr__(
            self, "_hash", hash((self.data_type, self.sizes, self.strides, self.owned_by_dml, self.total_size))
        )

    def __reduce__(self) -> tuple[type[TensorDesc], tuple[object, ...]]:
        """Pickles without the hash, which differs between processes."""
        stated = (self.data_type, self.sizes, self.strides, self.owned_by_dml, self.total_size, self.alignment)
        return TensorDesc, stated

    def __hash__(self) -> int:
        return self._hash

    @property
    def rank(self) -> int:
        """``DimensionCount``."""
        return len(self.sizes)

    @property
    def element_count(self) -> int:
        """The number of logical elements, counting repetitions in broadcast dimensions."""
        return prod(self.sizes)

    @property
    def effective_strides(self) -> tuple[int, ...]:
        """The strides, or those of packed memory."""
        return packed_strides(self.sizes) if self.strides is None else self.strides

    @property
    def extent(self) -> int:
        """Elements of memory from the first to the last of the view."""
        return prod(self.sizes) if self.strides is None else extent(self.sizes, self.strides)

    @property
    def reach(self) -> int:
        """Bytes of memory from the first to the last of the view."""
        return self.data_type.bytes_for(self.extent)

    @property
    def minimum_bytes(self) -> int:
        """The smallest buffer that holds the tensor, DirectML's own formula (a multiple of 4)."""
        return (self.reach + 3) // 4 * 4

    @property
    def total_bytes(self) -> int:
        """``TotalTensorSizeInBytes``, as stated or the smallest legal value."""
        return self.total_size or self.minimum_bytes

    @property
    def is_packed(self) -> bool:
        """Whether memory is row-major without gaps, ignoring the strides of dimensions of size 1."""
        if self.strides is None:
            return True
        expected = packed_strides(self.sizes)
        return all(n == 1 or s == e for n, s, e in zip(self.sizes, self.strides, expected, strict=True))

    @property
    def is_broadcast(self) -> bool:
        """Whether a dimension larger than 1 has stride 0."""
        return self.strides is not None and any(n > 1 and s == 0 for n, s in zip(self.sizes, self.strides, strict=True))

    @property
    def is_dense(self) -> bool:
        """Whether the elements tile memory: no gaps, none read twice."""
        return is_dense(self.sizes, self.effective_strides)

    @property
    def is_overlapping(self) -> bool:
        """Whether two coordinates read one element (zero strides included)."""
        return self.strides is not None and collides(self.sizes, self.strides)

    def packed(self) -> TensorDesc:
        """The same tensor in row-major memory, without flags or padding."""
        return TensorDesc(self.data_type, self.sizes)

    def __str__(self) -> str:
        strides = "" if self.strides is None else f" strides {list(self.strides)}"
        return f"{self.data_type.name} {list(self.sizes)}{strides}"
