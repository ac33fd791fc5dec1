"""Tensor policies: the memory layout of operator outputs.

A policy computes the strides of an output from its data type and sizes. It does not apply to graph inputs and
constants, which keep their declared strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dml2onnx.ir.tensor import DataType

TensorPolicy: TypeAlias = "Callable[[DataType, tuple[int, ...]], Sequence[int] | None]"
"""Strides in elements for an output of a data type and sizes; ``None`` for packed ones."""


def packed(data_type: DataType, sizes: tuple[int, ...]) -> None:
    """Row-major, NCHW: the default."""
    return


def interleaved_channel(data_type: DataType, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Channels last: NHWC, and likewise NC, NWC, NDHWC for other dimension counts.

    It depends on the dimension count alone, so it also applies to tensors without channels.
    """
    if len(sizes) < 2:
        return (1,) * len(sizes)
    strides = [prod(sizes[1:]), 1, *(0 for _ in sizes[2:])]
    step = sizes[1]
    for i in range(len(sizes) - 1, 1, -1):
        strides[i] = step
        step *= sizes[i]
    return tuple(strides)
