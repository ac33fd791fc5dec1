"""Folds constant margins into the pads of convolutions and pools.

These pads are equivalent to a Pad of zeros before a convolution, of the lowest number before a maximum, of zeros before
a mean that counts them, and of zero points before an integer convolution.

Before:
    (float[1,1,4] x) => (float[1,1,5] y)
    <int64[6] margin = {0, 0, 1, 0, 0, 1}, float[1,1,2] w = {3, 4}>
    { a = Pad (x, margin) y = Conv <kernel_shape = [2], pads = [0, 0]> (a, w) }
After:
    (float[1,1,4] x) => (float[1,1,5] y)
    <float[1,1,2] w = {3, 4}>
    { y = Conv <kernel_shape = [2], pads = [1, 1]> (x, w) }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np

from dml2onnx.onnx_model import Array, DType, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft, only_output

Takes: TypeAlias = Callable[[Draft, OnnxNode, "_Margin"], bool]

OPERATORS = frozenset({"Concat", "Pad"})
_ZERO_POINT = 2
"""The index of the data's zero point among the inputs of ConvInteger and QLinearConv."""
_KEEPS_SIGNS = frozenset({"Cast", "Concat", "Flatten", "MaxPool", "Reshape", "Slice", "Transpose"})
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class _Margin:
    """The margin that a Pad, or a Concat with constants, adds to the spatial axes of (N, C, ...)."""

    source: OnnxValue | None
    start: tuple[int, ...]
    end: tuple[int, ...]
    value: Array
    """In the type of the current reader."""
    is_lowest: bool
    """Whether no element can be less."""
    keeps_order: bool = True
    """Whether casts between source and reader are monotonic."""

    @classmethod
    def of(cls, source: OnnxValue | None, start: Sequence[int], end: Sequence[int], value: Array) -> _Margin:
        """A margin in the type of the source."""
        return cls(source, tuple(start), tuple(end), value, _is_lowest(value))

    def cast(self, dtype: DType) -> _Margin | None:
        """The margin after a Cast; ``None`` if kernels differ for its value."""
        before = self.value
        if before.dtype.kind == "f" and dtype.kind != "f" and before.item() != 0:
            return None
        with np.errstate(over="ignore"):
            value, rising = before.astype(dtype), _is_rising(before.dtype, dtype)
        is_lowest = _is_lowest(value) or (self.is_lowest and rising)
        return replace(self, value=value, is_lowest=is_lowest, keeps_order=self.keeps_order and rising)


def _is_rising(first: DType, last: DType) -> bool:
    """Whether a Cast is monotonic; integers may wrap."""
    if last.kind == "f":
        return first.kind in "fiu"
    return {first.kind, last.kind} <= {"i", "u"} and np.can_cast(first, last)


def fold_pads(draft: Draft) -> None:
    """Folds a margin if the pads of all readers are equivalent."""
    _fold_all(draft, _takes)


def fold_pads_behind_relu(draft: Draft) -> None:
    """Folds margins of zeros around nonnegative numbers into maxima.

    This changes the sign of zeros at the border, and windows of NaN and margin.
    """
    _fold_all(draft, _ignores)


def _fold_all(draft: Draft, takes: Takes) -> None:
    # the last first, so that an outer margin goes before an inner one
    for node in reversed(list(draft.nodes(OPERATORS))):
        if draft.is_there(node):
            margin = _margin(draft, node) if node.op_type == "Pad" else _joined(draft, node)
            if margin is not None:
                _Fold(draft, node, margin, takes).build()


def _margin(draft: Draft, node: OnnxNode) -> _Margin | None:
    """The margin of a Pad with a constant, nonnegative width, in spatial axes only."""
    pads, output = draft.constant(node.inputs[1]), node.outputs[0]
    if node.attributes.get("mode", "constant") != "constant" or pads is None or output is None or output.rank < 3:
        return None
    fill = node.inputs[2] if len(node.inputs) > 2 else None
    value = np.zeros((), output.dtype) if fill is None else draft.constant(fill)
    widths = [int(width) for width in pads.reshape(-1).tolist()]
    start, end = tuple(widths[: output.rank]), tuple(widths[output.rank :])
    if value is None or len(end) != output.rank or min(widths) < 0 or any((*start[:2], *end[:2])):
        return None
    return _Margin.of(node.inputs[0], start[2:], end[2:], value.reshape(()))


def _joined(draft: Draft, node: OnnxNode) -> _Margin | None:
    """The margin of a Concat along one spatial axis, which legalization emits if Pad has no kernel."""
    axis, output = cast("int", node.attributes["axis"]), node.outputs[0]
    values = [draft.constant(item) for item in node.inputs]
    inner = [index for index, item in enumerate(values) if item is None]
    if output is None or axis < 2 or len(inner) != 1 or len(values) > 3:
        return None
    (at,) = inner
    parts = [item.reshape(-1) for item in values if item is not None]
    if not all(map(_is_uniform, parts)):
        return None
    if len({part[:1].tobytes() for part in parts}) != 1:
        return None
    widths = [0 if item is None else item.shape[axis] for item in values]
    zeros = [0] * (output.rank - 2)
    start, end = zeros.copy(), zeros.copy()
    start[axis - 2], end[axis - 2] = sum(widths[:at]), sum(widths[at:])
    return _Margin.of(node.inputs[at], start, end, parts[0][0].reshape(()))


def _is_uniform(part: Array) -> bool:
    """Whether all elements of a constant are bitwise equal; compares the ends first, since most constants differ."""
    first = part[:1].tobytes()
    return part[-1:].tobytes() == first and part.tobytes() == first * part.size


class _Fold:
    """Folds one Pad into all windows over its output, also through casts."""

    def __init__(self, draft: Draft, pad: OnnxNode, margin: _Margin, takes: Takes) -> None:
        self._draft = draft
        self._pad = pad
        self._margin = margin
        self._takes = takes
        self._found: list[tuple[OnnxNode, tuple[OnnxNode, ...]]] = []
        self._inner: dict[OnnxNode, OnnxValue] = {}

    def build(self) -> None:
        """Folds into all readers or none: pads in some readers only would add work to the Pad that stays."""
        if self._collect(self._pad.outputs[0], (), self._margin):
            for reader, between in self._found:
                self._fold(reader, between)
            for step in (self._pad, *dict.fromkeys(step for _, between in self._found for step in between)):
                self._draft.replace(step, note=f"its margin is in the pads of {self._found[0][0].name}")

    def _collect(self, value: OnnxValue | None, between: tuple[OnnxNode, ...], margin: _Margin) -> bool:
        """Collects the readers of a padded value; returns whether all of them can have the margin."""
        readers = self._draft.readers(value)
        if value is None or self._draft.is_pinned(value) or not readers:
            return False
        for reader in readers:
            if [item is not None and item.name == value.name for item in reader.inputs].count(True) != 1:
                return False
            if reader.op_type == "Cast":
                output = reader.outputs[0]
                cast_margin = None if output is None else margin.cast(output.dtype)
                if cast_margin is None or not self._collect(output, (*between, reader), cast_margin):
                    return False
            elif reader.inputs[0] is not None and reader.inputs[0].name == value.name:
                if not self._takes(self._draft, reader, margin):
                    return False
                self._found.append((reader, between))
            else:
                return False
        return True

    def _fold(self, reader: OnnxNode, between: tuple[OnnxNode, ...]) -> None:
        x = self._margin.source
        assert x is not None
        for step in between:
            x = self._repeated(step, x)
        attributes = dict(reader.attributes)
        widths = zip(_own_pads(reader, self._margin), self._margin.start + self._margin.end, strict=True)
        attributes["pads"] = tuple(a + b for a, b in widths)
        if reader.op_type == "AveragePool":
            attributes["count_include_pad"] = 1
        folded = replace(reader, inputs=(x, *reader.inputs[1:]), attributes=attributes)
        self._draft.replace(reader, folded, note=f"its pads include the margin of {self._pad.name}")

    def _repeated(self, step: OnnxNode, x: OnnxValue) -> OnnxValue:
        """Repeats a Cast on the value before padding."""
        result = only_output(step)
        if step not in self._inner:
            output = self._draft.value(f"{result.name}/inner", result.dtype, x.shape)
            self._inner[step] = output
            self._draft.replace(step, replace(step, name=output.name, inputs=(x,), outputs=(output,)), step)
        return self._inner[step]


def _own_pads(reader: OnnxNode, margin: _Margin) -> tuple[int, ...]:
    return cast("tuple[int, ...]", reader.attributes.get("pads", (0,) * 2 * len(margin.start)))


# --- Equivalence of margin and pads ----------------------------------------------------------------------------------


def _takes(draft: Draft, reader: OnnxNode, margin: _Margin) -> bool:
    """Whether a node's pads are bitwise equivalent to the margin."""
    is_zero = not any(margin.value.tobytes())  # -0.0 is not
    match reader.op_type:
        case "Conv":
            return is_zero and _is_finite(draft, reader.inputs[1])
        case "ConvInteger" | "QLinearConv":
            zero_point = draft.constant(reader.inputs[_ZERO_POINT])
            return zero_point is not None and zero_point.size == 1 and zero_point.item() == margin.value.item()
        case "MaxPool":
            return len(reader.outputs) == 1 and margin.is_lowest and _fits(reader, margin)
        case "AveragePool":
            own = _own_pads(reader, margin)
            counts = reader.attributes.get("count_include_pad", 0) == 1 or not any(own)
            widths = {a + b for a, b in zip(own, margin.start + margin.end, strict=True)}
            # legalization corrects uneven margins by a factor, which rounds again
            return is_zero and counts and len(widths) == 1 and _fits(reader, margin)
    return False


def _ignores(draft: Draft, reader: OnnxNode, margin: _Margin) -> bool:
    """Whether a node is a maximum over nonnegative numbers with a margin of zeros."""
    is_zero = margin.value.dtype.kind in "fiu" and margin.value.item() == 0
    is_maximum = reader.op_type == "MaxPool" and len(reader.outputs) == 1
    if not (is_zero and is_maximum and margin.keeps_order and _fits(reader, margin)):
        return False
    return _is_not_negative(draft, margin.source, _MOST_STEPS)


def _is_not_negative(draft: Draft, value: OnnxValue | None, steps: int) -> bool:
    if value is not None and value.dtype.kind == "u":
        return True
    constant = draft.constant(value)
    if constant is not None:
        return constant.dtype.kind in "if" and bool(np.greater_equal(constant, 0).all())
    maker = draft.maker(value)
    if maker is None or not steps:
        return False
    if maker.op_type == "Clip":
        return _is_clipped_above_zero(draft, maker)
    if maker.op_type == "Cast" and not _casts_rising(maker):
        return False
    if maker.op_type in _KEEPS_SIGNS and not is_dilated(maker):
        sources = maker.inputs if maker.op_type == "Concat" else maker.inputs[:1]
        return all(_is_not_negative(draft, item, steps - 1) for item in sources)
    if maker.op_type == "Abs":
        return value is not None and value.dtype.kind == "f"  # Abs of the lowest integer is negative
    return maker.op_type in ("Relu", "Sigmoid", "Softmax")


def _is_clipped_above_zero(draft: Draft, clip: OnnxNode) -> bool:
    """Whether both bounds are nonnegative; if they cross, the upper one wins."""
    bounds = [draft.constant(item) for item in clip.inputs[1:] if item is not None]
    has_low = len(clip.inputs) > 1 and clip.inputs[1] is not None
    return has_low and all(bound is not None and bound.item() >= 0 for bound in bounds)


def _casts_rising(node: OnnxNode) -> bool:
    operand, output = node.inputs[0], node.outputs[0]
    return operand is not None and output is not None and _is_rising(operand.dtype, output.dtype)


def _is_finite(draft: Draft, weights: OnnxValue | None) -> bool:
    """Whether weights are finite: pads skip the products of zero with infinity and NaN."""
    values = draft.constant(weights)
    return values is not None and bool(np.isfinite(values).all())


def _is_lowest(value: Array) -> bool:
    """Whether a number is neutral in a maximum; kernels start with the lowest finite number or minus infinity."""
    if value.dtype.kind == "f":
        return bool(value.astype(np.float64) == -np.inf)
    return value.dtype.kind in "iu" and int(value.item()) == np.iinfo(value.dtype.name).min


def is_dilated(pool: OnnxNode) -> bool:
    """Whether the windows of a pool are dilated."""
    return any(step != 1 for step in cast("tuple[int, ...]", pool.attributes.get("dilations", ())))


def _fits(reader: OnnxNode, margin: _Margin) -> bool:
    """Whether all pads are smaller than the window, as ONNX Runtime requires; so no window is in padding only."""
    if is_dilated(reader):
        return False
    shape = cast("tuple[int, ...]", reader.attributes["kernel_shape"])
    widths = zip(_own_pads(reader, margin), margin.start + margin.end, shape * 2, strict=True)
    return all(a + b < size for a, b, size in widths)
