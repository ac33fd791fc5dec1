"""Tensors: values of the model under construction, with known properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from dml2onnx.onnx_model import UNKNOWN, Array, OnnxValue, has_unknown, is_unknown

_MOST_INSPECTED = 1 << 12
"""Larger constants are not inspected when nodes are emitted."""


@dataclass(slots=True, eq=False)
class Tensor(OnnxValue):
    """A value of the model under construction; ``value`` is set for constants."""

    value: Array | None = None
    label: str = ""
    """The preferred name of the initializer."""
    stored: OnnxValue | None = None
    """The initializer of a constant."""
    reader: str = ""
    """If set, only nodes of this ONNX operator share the initializer."""
    is_input: bool = False
    """Whether it is a graph input."""
    steps: tuple[Tensor, Tensor] | None = None
    """Scale and zero point of the QuantizeLinear that produced it, if that ends a QDQ unit."""
    has_no_sign: bool = False
    """Whether the producing operator returns no negative numbers; see :attr:`is_never_negative`."""

    def renamed(self, name: str) -> Tensor:
        """A copy of a computed tensor with another name."""
        return Tensor(name, *_fields_after_name(self))

    @property
    def constant(self) -> Array:
        """The value; the tensor must be constant."""
        assert self.value is not None, f"{self.name} is not a constant"
        return self.value

    @property
    def is_never_minus_zero(self) -> bool:
        """Whether floats are known not to be -0.0: constants, and casts from integers."""
        if self.value is not None:
            return not (np.signbit(self.value) & (self.value == 0)).any()
        return self.cast_from is not None and self.cast_from.kind != "f"

    @property
    def is_never_negative(self) -> bool:
        """Whether no element is known to be below 0 (NaN and -0.0 are not); ``False`` for large constants."""
        if self.value is not None:
            return self.size <= _MOST_INSPECTED and self.dtype.kind in "fiub" and not (self.value < 0).any()
        return self.has_no_sign or self.dtype.kind in "ub" or self.below is not None

    @property
    def is_integral(self) -> bool:
        """Whether the type, or that before a Cast, is an integer type."""
        return self.dtype.kind in "iu" or (self.cast_from is not None and self.cast_from.kind in "iu")


_fields_after_name: Callable[[Tensor], tuple[Any, ...]] = attrgetter(*[item.name for item in fields(Tensor)][1:])


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """``numpy.broadcast_shapes``, with a fast path for equal shapes and support for unknown sizes."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    result = np.broadcast_shapes(*shapes)
    if not any(map(has_unknown, shapes)):
        return result
    # numpy returns plain numbers
    axes = zip_longest(*(reversed(shape) for shape in shapes))
    return tuple(
        UNKNOWN if any(size is not None and is_unknown(size) for size in sizes) else size
        for size, sizes in zip(result, reversed(list(axes)), strict=True)
    )


def are_constant(items: Sequence[Tensor | None]) -> bool:
    """Whether all present operands are constants."""
    for item in items:  # noqa: SIM110  # a generator takes three times as long
        if item is not None and item.value is None:
            return False
    return True


def derived_label(inputs: Sequence[Tensor | None]) -> str:
    """The label of a constant folded from these, so that it keeps the name of a weight."""
    labels = [item.label for item in inputs if item is not None and item.label]
    return labels[0] if labels else ""


# --- propagation of properties ---------------------------------------------------------------------------------------

_KEEP_BOUNDED = frozenset({"Cast", "Concat", "Identity", "MaxPool", "Reshape", "Slice", "Transpose"})
"""Operators whose results are bounded if their inputs are."""

_MOVE_ELEMENTS = frozenset({"Expand", "Identity", "Reshape", "Slice", "Transpose"})
"""Operators that return only elements of their first input."""

_HAVE_NO_SIGN = frozenset(
    {"Abs", "Exp", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Relu", "Sigmoid", "Softmax", "Sqrt"}
)
"""Operators that return no negative floats."""

_MAKE_NO_SIGN = _MOVE_ELEMENTS | frozenset(
    {"Add", "AveragePool", "Cast", "Concat", "Conv", "Mul", "Pad", "Pow", "ReduceMax", "ReduceMean", "ReduceSum"}
)
"""Operators that return no negative floats for nonnegative inputs."""


def propagate_properties(op: str, inputs: Sequence[Tensor | None], results: Sequence[Tensor]) -> None:
    """Sets properties of an operator's results that follow from its inputs."""
    first = inputs[0]
    if first is None:
        return
    if op in _KEEP_BOUNDED and _are_bounded(inputs if op == "Concat" else inputs[:1]):
        for result in results:
            result.is_bounded = True
    if op in _MOVE_ELEMENTS:
        results[0].below = first.below
    if op in _HAVE_NO_SIGN or (op in _MAKE_NO_SIGN and _have_no_sign(op, inputs)):
        for result in results:
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
