"""Checks that the nodes for the last size also work at the other sizes of a range.

A lowering may choose another form for small sizes, or for multiples of a number. Each check turns an assumption behind
the nodes for the last size into an expression that must not be negative at any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TypeAlias

from dml2onnx.named_sizes.numbers import Numbers
from dml2onnx.named_sizes.windows import WINDOWED, axes_of
from dml2onnx.onnx_model import Array, OnnxNode, OnnxValue
from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.named import Values

Dims: TypeAlias = "tuple[int | Expr | None, ...]"

LAST = 1 << 31
"""A Slice end of at least this number means the end of the axis."""
REACHING = {
    "Gather": (1, "axis", 0, 1),
    "GatherElements": (1, "axis", 0, 1),
    "GRU": (4, "", 0, 0),
    "LSTM": (4, "", 0, 0),
    "RNN": (4, "", 0, 0),
    "ReverseSequence": (1, "time_axis", 0, 0),
    "ScatterElements": (1, "axis", 0, 1),
    "TopK": (1, "axis", -1, 0),
}
"""Operators with an input of indices or element counts: its position, the attribute with the axis and its default, and
by how much the size of that axis must exceed the largest number."""


class MissedError(Exception):
    """A size at which a node does not work."""

    def __init__(self, node: str, point: Values) -> None:
        super().__init__(node)
        self.node = node
        self.point = point


class Fitting:
    """Checks the nodes of a model with named sizes."""

    def __init__(
        self, numbers: Numbers, initializers: Mapping[str, Array], dims: Callable[[OnnxValue | None], Dims]
    ) -> None:
        self.numbers = numbers
        self.initializers = initializers
        self.dims = dims

    def require(self, node: OnnxNode, place: str) -> None:
        """Raises :class:`MissedError` with a size at which a node of the model does not work."""
        source = self.dims(node.inputs[0] if node.inputs else None)
        target = self.dims(node.outputs[0])
        if not any(isinstance(size, Expr) for size in (*source, *target)):
            return
        for needed in self._needs(node, source, target):
            point = self.numbers.below_zero(needed)
            if point is not None:
                raise MissedError(place, point)

    def _needs(self, node: OnnxNode, source: Dims, target: Dims) -> Iterator[Expr]:
        """Yields expressions that must not be negative at any size."""
        if node.op_type == "Reshape":
            if None not in source and None not in target:
                yield from _equal(_product(source), _product(target))
        elif node.op_type == "Concat":
            axis = node.attributes["axis"]
            joined = [self.dims(value)[axis] for value in (*node.inputs, node.outputs[0])]  # type: ignore[index]  # an INT
            *parts, whole = [Expr.of(size) for size in joined if size is not None]
            if len(parts) == len(node.inputs):
                yield from _equal(sum(parts, Expr({})), whole)
        elif node.op_type in WINDOWED and "auto_pad" not in node.attributes:
            for axis, size, count in zip(axes_of(node, node.attributes), source[2:], target[2:], strict=True):
                if size is not None and count is not None:
                    windows = (Expr.of(size) + Expr.of(axis.more)).divided(axis.stride) + Expr.of(1)
                    yield from _equal(windows, Expr.of(count))
        elif node.op_type == "Pad" and node.attributes.get("mode") in ("reflect", "wrap"):
            yield from self._margins(node, source)
        elif node.op_type in REACHING:
            yield from self._reaching(node, source)
        elif node.op_type == "Slice":
            yield from self._windows(node, source, target)

    def _margins(self, node: OnnxNode, source: Dims) -> Iterator[Expr]:
        """The conditions for a padding by reflection or wrapping: the axis has enough elements."""
        pads = self._constant(node, 1)
        if pads is None or len(pads) != 2 * len(source):
            return
        less = 1 if node.attributes["mode"] == "reflect" else 0
        for size, start, end in zip(source, pads[: len(source)], pads[len(source) :], strict=True):
            if isinstance(size, Expr) and max(start, end) > 0:
                yield size - Expr.of(max(start, end) + less)

    def _reaching(self, node: OnnxNode, source: Dims) -> Iterator[Expr]:
        """The conditions for constant indices, lengths and counts: the axis has enough elements."""
        position, attribute, default, more = REACHING[node.op_type]
        numbers = self._constant(node, position)
        axis = node.attributes.get(attribute, default)
        size = source[axis]  # type: ignore[index]  # an INT
        if numbers and isinstance(size, Expr):
            yield size - Expr.of(max(max(numbers) + more, -min(numbers)))

    def _windows(self, node: OnnxNode, source: Dims, target: Dims) -> Iterator[Expr]:
        """The conditions for a Slice: the axis contains its last element, and the output has the right size."""
        starts, ends, axes = (self._constant(node, position) for position in (1, 2, 3))
        if starts is None or ends is None or axes is None:
            return
        steps = self._constant(node, 4) or [1] * len(starts)
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            size, count = source[axis], target[axis]
            if isinstance(size, Expr) and isinstance(count, int):
                yield size - Expr.of(max(end if 0 <= end < LAST else 0, -start, start + 1))
            elif size is not None and count is not None and abs(end) >= LAST and (start >= 0) == (step > 0):
                behind = Expr.of(size) - Expr.of(start + 1 if step > 0 else -start)
                yield from _equal(behind.divided(abs(step)) + Expr.of(1), Expr.of(count))

    def _constant(self, node: OnnxNode, position: int) -> list[int] | None:
        value = node.inputs[position] if position < len(node.inputs) else None
        array = None if value is None else self.initializers.get(value.name)
        return None if array is None else array.reshape(-1).tolist()


def _equal(one: Expr, other: Expr) -> Iterator[Expr]:
    """The conditions for two expressions to be equal at all sizes."""
    if one != other:
        yield one - other
        yield other - one


def _product(dims: Dims) -> Expr:
    return prod((Expr.of(size) for size in dims if size is not None), start=Expr.of(1))
