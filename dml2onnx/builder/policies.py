"""Tensor policies: how the outputs of operators lie in memory.

A policy gives the strides of an output from its data type and sizes. It applies to what operators write, not to graph
inputs and constants, which keep the strides that they are declared with.
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
    """Row-major memory, the last dimension fastest: NCHW. The default."""
    return


def interleaved_channel(data_type: DataType, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Channels fastest: NHWC, and likewise NC, NWC, NDHWC for other dimension counts.

    It looks at the dimension count alone, so tensors without a channel are laid out like that too.
    """
    if len(sizes) < 2:
        return (1,) * len(sizes)
    strides = [prod(sizes[1:]), 1, *(0 for _ in sizes[2:])]
    step = sizes[1]
    for i in range(len(sizes) - 1, 1, -1):
        strides[i] = step
        step *= sizes[i]
    return tuple(strides)
