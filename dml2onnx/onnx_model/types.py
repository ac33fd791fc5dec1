"""Element types: numpy's here, ``TensorProto.DataType`` in ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
else:
    Array = np.ndarray

DType: TypeAlias = "np.dtype[np.generic]"

BOOL: DType = np.dtype(np.bool_)
FLOAT: DType = np.dtype(np.float32)
FLOAT16: DType = np.dtype(np.float16)
DOUBLE: DType = np.dtype(np.float64)
INT8: DType = np.dtype(np.int8)
INT32: DType = np.dtype(np.int32)
INT64: DType = np.dtype(np.int64)
UINT8: DType = np.dtype(np.uint8)
UINT32: DType = np.dtype(np.uint32)
UINT64: DType = np.dtype(np.uint64)

INT4: DType = np.dtype([("int4", np.int8)])
UINT4: DType = np.dtype([("uint4", np.uint8)])
"""4-bit integers, which numpy lacks: one per byte in arrays, two per byte in files."""

ELEMENT_TYPES: dict[DType, tuple[int, str]] = {
    FLOAT: (1, "float"),
    UINT8: (2, "uint8"),
    INT8: (3, "int8"),
    np.dtype(np.uint16): (4, "uint16"),
    np.dtype(np.int16): (5, "int16"),
    INT32: (6, "int32"),
    INT64: (7, "int64"),
    BOOL: (9, "bool"),
    FLOAT16: (10, "float16"),
    DOUBLE: (11, "double"),
    UINT32: (12, "uint32"),
    UINT64: (13, "uint64"),
    UINT4: (21, "uint4"),
    INT4: (22, "int4"),
}
"""``TensorProto.DataType`` and its name for every type that appears.

https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""


def stored_size(dtype: DType, count: int) -> int:
    """Bytes that ``count`` elements take in a file."""
    return -(-count // 2) if dtype in (INT4, UINT4) else count * dtype.itemsize
