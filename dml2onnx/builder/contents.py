"""Converts arrays of callers to elements of a data type, and to bytes in memory order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import arguments
from dml2onnx.builder.arguments import converted, error_here
from dml2onnx.builder.attributes import holds
from dml2onnx.codes import building as codes
from dml2onnx.frontends.numbers import pack_nibbles
from dml2onnx.ir.mapped import is_lasting

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.ir.tensor import DataType, TensorDesc


def elements(values: npt.ArrayLike, wanted: DataType) -> npt.NDArray[Any]:
    """The values converted to a data type; refuses values out of its range (DML1809)."""
    array = np.ascontiguousarray(converted(arguments.array, values, "values"))
    if not holds(wanted, array):
        low, high = wanted.limits
        message = f"the values do not fit {wanted.name}, which holds whole numbers from {low} to {high}"
        raise error_here(codes.NOT_EXACT, message, expected=f"{low} to {high}", found=array.dtype)
    with np.errstate(over="ignore"):  # values beyond a floating-point type become infinite
        return array.astype(wanted.dtype, copy=not is_lasting(array))


def raw_bytes(array: npt.NDArray[Any], desc: TensorDesc, nbytes: int) -> npt.NDArray[np.uint8]:
    """The bytes of a buffer that holds the elements of a tensor in memory order, padded with zeros."""
    if array.size != desc.extent:
        message = f"{array.size} values were given for a tensor that covers {desc.extent} elements"
        raise error_here(codes.BAD_TENSOR, message, expected=desc.extent, found=array.size)
    kind = desc.data_type
    raw = pack_nibbles(array.reshape(-1)) if kind.is_packed_nibbles else array.reshape(-1).view(np.uint8)
    if raw.size < nbytes:
        raw = np.concatenate([raw, np.zeros(nbytes - raw.size, np.uint8)])
    raw.flags.writeable = False
    return raw
