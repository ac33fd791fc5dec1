"""Tensors: values of the model that is being built, with what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from dml2onnx.onnx_model import UNKNOWN, Array, Value, has_unknown, is_unknown

_LOOKED_AT = 1 << 12
"""Elements up to which a constant is looked at when what it goes into is made."""


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A value of the model being built; of a constant all is known."""

    value: Array | None = None
    label: str = ""
    """The name that a constant gets when it becomes an initializer."""
    stored: Value | None = None
    """The initializer that a constant has become."""
    reader: str = ""
    """The ONNX operator whose nodes share a constant with no others; empty where all may."""
    is_input: bool = False
    """Whether it is an input of the graph."""
    steps: tuple[Tensor, Tensor] | None = None
    """Scale and zero point of a QuantizeLinear that made it of an operator between quantisations."""
    has_no_sign: bool = False
    """Whether an operator that gives nothing below 0 made it; see :attr:`is_never_negative`."""

    def again(self, name: str) -> Tensor:
        """Another computed tensor of which the same is known."""
        return Tensor(name, *_all_but_the_name(self))

    @property
    def constant(self) -> Array:
        """The value; asking a computed tensor for it is a defect."""
        assert self.value is not None, f"{self.name} is not a constant"
        return self.value

    @property
    def is_never_minus_zero(self) -> bool:
        """Whether floats are known to hold no -0.0: constants without, and what was cast from integers."""
        if self.value is not None:
            return not (np.signbit(self.value) & (self.value == 0)).any()
        return self.cast_from is not None and self.cast_from.kind != "f"

    @property
    def is_never_negative(self) -> bool:
        """Whether it is known that nothing of it lies below 0, as NaN and -0.0 do not; of large constants it is not."""
        if self.value is not None:
            return self.size <= _LOOKED_AT and self.dtype.kind in "fiub" and not (self.value < 0).any()
        return self.has_no_sign or self.dtype.kind in "ub" or self.below is not None

    @property
    def is_integral(self) -> bool:
        """Whether it is known by its type, or that before a Cast, to hold whole numbers."""
        return self.dtype.kind in "iu" or (self.cast_from is not None and self.cast_from.kind in "iu")


_all_but_the_name: Callable[[Tensor], tuple[Any, ...]] = attrgetter(*[item.name for item in fields(Tensor)][1:])


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """``numpy.broadcast_shapes``; nearly always all shapes are one."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    result = np.broadcast_shapes(*shapes)
    if not any(map(has_unknown, shapes)):
        return result
    # numpy gives plain numbers
    axes = zip_longest(*(reversed(shape) for shape in shapes))
    return tuple(
        UNKNOWN if any(size is not None and is_unknown(size) for size in sizes) else size
        for size, sizes in zip(result, reversed(list(axes)), strict=True)
    )


def are_constant(items: Sequence[Tensor | None]) -> bool:
    """Whether all operands that are there are constants."""
    for item in items:  # noqa: SIM110  # a generator takes three times as long
        if item is not None and item.value is None:
            return False
    return True


def derived_label(inputs: Sequence[Tensor | None]) -> str:
    """Constants folded from a weight keep its name, so that a reader of the model recognises them."""
    labels = [item.label for item in inputs if item is not None and item.label]
    return labels[0] if labels else ""


# --- what operators hand on ------------------------------------------------------------------------------------------

_KEEP_BOUNDED = frozenset({"Cast", "Concat", "Identity", "MaxPool", "Reshape", "Slice", "Transpose"})
"""Operators that give what they are given, of what they are given."""

_MOVE_ELEMENTS = frozenset({"Expand", "Identity", "Reshape", "Slice", "Transpose"})
"""Operators that give elements of their first input, and no others."""

_HAVE_NO_SIGN = frozenset(
    {"Abs", "Exp", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Relu", "Sigmoid", "Softmax", "Sqrt"}
)
"""Operators that make no float below 0."""

_MAKE_NO_SIGN = _MOVE_ELEMENTS | frozenset(
    {"Add", "AveragePool", "Cast", "Concat", "Conv", "Mul", "Pad", "Pow", "ReduceMax", "ReduceMean", "ReduceSum"}
)
"""Operators that make no float below 0 where none of their inputs is."""


def hand_on(op: str, inputs: Sequence[Tensor | None], made: Sequence[Tensor]) -> None:
    """Notes of what an operator has made what is known of it by its inputs."""
    first = inputs[0]
    if first is None:
        return
    if op in _KEEP_BOUNDED and _are_bounded(inputs if op == "Concat" else inputs[:1]):
        for result in made:
            result.is_bounded = True
    if op in _MOVE_ELEMENTS:
        made[0].below = first.below
    if op in _HAVE_NO_SIGN or (op in _MAKE_NO_SIGN and _have_no_sign(op, inputs)):
        for result in made:
            result.has_no_sign = result.dtype.kind == "f"


def _are_bounded(items: Sequence[Tensor | None]) -> bool:
    for item in items:  # noqa: SIM110  # a generator takes three times as long
        if item is None or not item.is_bounded:
            return False
    return True


def _have_no_sign(op: str, inputs: Sequence[Tensor | None]) -> bool:
    if op == "Mul" and inputs[0] is inputs[1]:
        return True
    for item in inputs:
        if item is not None and (item.dtype.kind == "f" or item is inputs[0]) and not item.is_never_negative:
            return False
    return True
