"""Constant margins as pads of what slides over them.

A Pad of zeros in front of a convolution, of the lowest number in front of a maximum, of zeros in front of a mean that
counts them, and of zero points in front of an integer convolution are what these nodes' own pads are.

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

from dml2onnx.onnx_model import Array, DType, Node, Value
from dml2onnx.passes.draft import Draft

Takes: TypeAlias = Callable[[Draft, Node, "_Margin"], bool]

OPERATORS = frozenset({"Concat", "Pad"})
_ZERO_POINT = 2
"""Where ConvInteger and QLinearConv have that of what they slide over."""
_KEEPS_SIGNS = frozenset({"Cast", "Concat", "Flatten", "MaxPool", "Reshape", "Slice", "Transpose"})
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class _Margin:
    """What a Pad, or a Concat with constants, puts around the spatial axes of (N, C, ...)."""

    source: Value | None
    start: tuple[int, ...]
    end: tuple[int, ...]
    value: Array
    """In the type in which the reader at hand has it."""
    is_lowest: bool
    """Whether nothing that it surrounds can be less."""
    keeps_order: bool = True
    """Whether the reader sees no number of the source as less than one that it is greater than."""

    @classmethod
    def of(cls, source: Value | None, start: Sequence[int], end: Sequence[int], value: Array) -> _Margin:
        """As it is made."""
        return cls(source, tuple(start), tuple(end), value, _is_lowest(value))

    def cast(self, dtype: DType) -> _Margin | None:
        """What a Cast makes of it; ``None`` where kernels differ about that."""
        before = self.value
        if before.dtype.kind == "f" and dtype.kind != "f" and before.item() != 0:
            return None
        with np.errstate(over="ignore"):
            value, rising = before.astype(dtype), _is_rising(before.dtype, dtype)
        is_lowest = _is_lowest(value) or (self.is_lowest and rising)
        return replace(self, value=value, is_lowest=is_lowest, keeps_order=self.keeps_order and rising)


def _is_rising(first: DType, last: DType) -> bool:
    """Whether a Cast makes of a number nothing less than of one that it is greater than: integers may wrap."""
    if last.kind == "f":
        return first.kind in "fiu"
    return {first.kind, last.kind} <= {"i", "u"} and np.can_cast(first, last)


def fold_pads(draft: Draft) -> None:
    """Pads that all readers have as their own."""
    _fold_all(draft, _takes)


def fold_pads_behind_relu(draft: Draft) -> None:
    """Zeros around what is not negative, in front of a maximum.

    A margin of 0 and none differ in the sign of zeros at the border, and where a NaN meets the margin there.
    """
    _fold_all(draft, _ignores)


def _fold_all(draft: Draft, takes: Takes) -> None:
    # the last first: the margin around a margin goes before it
    for node in reversed(list(draft.nodes(OPERATORS))):
        if draft.is_there(node):
            margin = _margin(draft, node) if node.op_type == "Pad" else _joined(draft, node)
            if margin is not None:
                _Fold(draft, node, margin, takes).build()


def _margin(draft: Draft, node: Node) -> _Margin | None:
    """A constant margin of spatial axes, of no negative width."""
    pads, made = draft.constant(node.inputs[1]), node.outputs[0]
    if node.attributes.get("mode", "constant") != "constant" or pads is None or made is None or made.rank < 3:
        return None
    given = node.inputs[2] if len(node.inputs) > 2 else None
    value = np.zeros((), made.dtype) if given is None else draft.constant(given)
    widths = [int(width) for width in pads.reshape(-1).tolist()]
    start, end = tuple(widths[: made.rank]), tuple(widths[made.rank :])
    if value is None or len(end) != made.rank or min(widths) < 0 or any((*start[:2], *end[:2])):
        return None
    return _Margin.of(node.inputs[0], start[2:], end[2:], value.reshape(()))


def _joined(draft: Draft, node: Node) -> _Margin | None:
    """A margin of one spatial axis that a Concat puts there, as it does where Pad has no kernel."""
    axis, made = cast("int", node.attributes["axis"]), node.outputs[0]
    values = [draft.constant(item) for item in node.inputs]
    inner = [index for index, item in enumerate(values) if item is None]
    if made is None or axis < 2 or len(inner) != 1 or len(values) > 3:
        return None
    (at,) = inner
    parts = [item.reshape(-1) for item in values if item is not None]
    if not all(map(_is_even, parts)):
        return None
    if len({part[:1].tobytes() for part in parts}) != 1:
        return None
    widths = [0 if item is None else item.shape[axis] for item in values]
    zeros = [0] * (made.rank - 2)
    start, end = zeros.copy(), zeros.copy()
    start[axis - 2], end[axis - 2] = sum(widths[:at]), sum(widths[at:])
    return _Margin.of(node.inputs[at], start, end, parts[0][0].reshape(()))


def _is_even(part: Array) -> bool:
    """Whether a constant is one value all over, bit by bit; the ends are looked at first, since most are not."""
    first = part[:1].tobytes()
    return part.size > 0 and part[-1:].tobytes() == first and part.tobytes() == first * part.size


class _Fold:
    """One Pad, and all that slides over what it makes, also behind casts."""

    def __init__(self, draft: Draft, pad: Node, margin: _Margin, takes: Takes) -> None:
        self._draft = draft
        self._pad = pad
        self._margin = margin
        self._takes = takes
        self._found: list[tuple[Node, tuple[Node, ...]]] = []
        self._inner: dict[Node, Value] = {}

    def build(self) -> None:
        """Every reader, or none: a Pad that stays would be paid for with its readers' own."""
        if self._collect(self._pad.outputs[0], (), self._margin):
            for reader, between in self._found:
                self._fold(reader, between)
            for step in (self._pad, *dict.fromkeys(step for _, between in self._found for step in between)):
                self._draft.replace(step, note=f"its margin is made by the pads of {self._found[0][0].name}")

    def _collect(self, value: Value | None, between: tuple[Node, ...], margin: _Margin) -> bool:
        """Finds what slides over a padded value, whose margin is as given; whether all that reads it does."""
        readers = self._draft.readers(value)
        if value is None or self._draft.is_pinned(value) or not readers:
            return False
        for reader in readers:
            if [item is not None and item.name == value.name for item in reader.inputs].count(True) != 1:
                return False
            if reader.op_type == "Cast":
                made = reader.outputs[0]
                behind = None if made is None else margin.cast(made.dtype)
                if behind is None or not self._collect(made, (*between, reader), behind):
                    return False
            elif reader.inputs[0] is not None and reader.inputs[0].name == value.name:
                if not self._takes(self._draft, reader, margin):
                    return False
                self._found.append((reader, between))
            else:
                return False
        return True

    def _fold(self, reader: Node, between: tuple[Node, ...]) -> None:
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
        self._draft.replace(reader, folded, note=f"its own pads are the margin that {self._pad.name} made")

    def _repeated(self, step: Node, x: Value) -> Value:
        """A cast of what was not padded yet."""
        (result,) = step.outputs
        assert result is not None
        if step not in self._inner:
            made = self._draft.value(f"{result.name}/inner", result.dtype, x.shape)
            self._inner[step] = made
            self._draft.replace(step, replace(step, name=made.name, inputs=(x,), outputs=(made,)), step)
        return self._inner[step]


def _own_pads(reader: Node, margin: _Margin) -> tuple[int, ...]:
    return cast("tuple[int, ...]", reader.attributes.get("pads", (0,) * 2 * len(margin.start)))


# --- What the margin does to a node ----------------------------------------------------------------------------------


def _takes(draft: Draft, reader: Node, margin: _Margin) -> bool:
    """Whether a node's own pads do to its result, bit by bit, what the margin does."""
    is_zero = not any(margin.value.tobytes())  # -0.0 is not
    match reader.op_type:
        case "Conv":
            return is_zero and _is_finite(draft, reader.inputs[1])
        case "ConvInteger" | "QLinearConv":
            if len(reader.inputs) <= _ZERO_POINT:
                return is_zero
            zero_point = draft.constant(reader.inputs[_ZERO_POINT])
            return zero_point is not None and zero_point.size == 1 and zero_point.item() == margin.value.item()
        case "MaxPool":
            return len(reader.outputs) == 1 and margin.is_lowest and _fits(reader, margin)
        case "AveragePool":
            own = _own_pads(reader, margin)
            counts = reader.attributes.get("count_include_pad", 0) == 1 or not any(own)
            widths = {a + b for a, b in zip(own, margin.start + margin.end, strict=True)}
            # a margin that is not the same all around is counted by a factor, which rounds once more
            return is_zero and counts and len(widths) == 1 and _fits(reader, margin)
    return False


def _ignores(draft: Draft, reader: Node, margin: _Margin) -> bool:
    """Whether a maximum over numbers that are not negative has a margin of zeros."""
    is_zero = margin.value.dtype.kind in "fiu" and margin.value.item() == 0
    is_maximum = reader.op_type == "MaxPool" and len(reader.outputs) == 1
    if not (is_zero and is_maximum and margin.keeps_order and _fits(reader, margin)):
        return False
    return _is_not_negative(draft, margin.source, _MOST_STEPS)


def _is_not_negative(draft: Draft, value: Value | None, steps: int) -> bool:
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
        return value is not None and value.dtype.kind == "f"  # the lowest integer stays as it is
    return maker.op_type in ("Relu", "Sigmoid", "Softmax")


def _is_clipped_above_zero(draft: Draft, clip: Node) -> bool:
    """Whether both bounds are not negative: where they cross, the upper one counts."""
    bounds = [draft.constant(item) for item in clip.inputs[1:] if item is not None]
    has_low = len(clip.inputs) > 1 and clip.inputs[1] is not None
    return has_low and all(bound is not None and bound.item() >= 0 for bound in bounds)


def _casts_rising(node: Node) -> bool:
    given, made = node.inputs[0], node.outputs[0]
    return given is not None and made is not None and _is_rising(given.dtype, made.dtype)


def _is_finite(draft: Draft, weights: Value | None) -> bool:
    """Whether 0 times each weight is 0: a margin that is not computed with hides infinities and NaN."""
    values = draft.constant(weights)
    return values is not None and bool(np.isfinite(values).all())


def _is_lowest(value: Array) -> bool:
    """Whether no maximum notices a number: kernels begin with the lowest finite one, or with minus infinity."""
    if value.dtype.kind == "f":
        return bool(value.astype(np.float64) == -np.inf)
    return value.dtype.kind in "iu" and int(value.item()) == np.iinfo(value.dtype.name).min


def is_dilated(pool: Node) -> bool:
    """Whether the elements of its windows are apart, as attributes say."""
    return any(step != 1 for step in cast("tuple[int, ...]", pool.attributes.get("dilations", ())))


def _fits(reader: Node, margin: _Margin) -> bool:
    """Whether all pads are smaller than the window, as ONNX Runtime wants them, and no window lies in them alone."""
    if is_dilated(reader):
        return False
    shape = cast("tuple[int, ...]", reader.attributes["kernel_shape"])
    widths = zip(_own_pads(reader, margin), margin.start + margin.end, shape * 2, strict=True)
    return all(a + b < size for a, b, size in widths)
