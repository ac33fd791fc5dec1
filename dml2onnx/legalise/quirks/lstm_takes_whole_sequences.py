"""LSTM is left to the CPU where sequences have lengths of their own (QNN).

Without lengths each sequence goes on to the last step. Behind its end there are zeros all the same when they are put
there, and one that is read backwards begins with its own last step when its steps are put in that order before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection

    Indices = npt.NDArray[np.int64]

QUIRK = Quirk(Kind.SPEED)
GATES = 3
"""Activations of each direction."""


@QUIRK.rule("LSTM")
def lstm(
    e: Emitter,
    inputs: Sequence[Tensor | None],
    *,
    activations: Sequence[GateActivation],
    direction: RecurrentDirection,
    wanted: Sequence[bool],
    **how: Any,
) -> list[Tensor | None] | None:
    """One LSTM for each direction, of lengths that are known; what cells hold at an end within is in no output."""
    x, w, r, b, lengths, *states = inputs
    if lengths is None or lengths.value is None:
        return None
    assert x is not None
    assert w is not None
    assert r is not None
    ends = lengths.value.astype(np.int64)
    steps = x.shape[0]
    if (ends == steps).all():
        given: dict[str, Any] = {**how, "activations": activations, "direction": direction, "wanted": wanted}
        return e.LSTM([x, w, r, b, None, *states], **given)
    if wanted[2] or (ends < 1).any():
        return None
    sequences, singles = [], []
    ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[direction]
    for number, is_reverse in enumerate(ways):
        begun = [None if item is None else _of_direction(e, item, number) for item in states]
        own = None if b is None else _of_direction(e, b, number)
        order = _order(ends, steps, is_reverse=is_reverse)
        read = _rows(e, x, order) if is_reverse else x
        gates = activations[number * GATES : (number + 1) * GATES]
        how_read: dict[str, Any] = {**how, "activations": gates, "direction": "forward", "wanted": (True, False, False)}
        of_input, of_state = _of_direction(e, w, number), _of_direction(e, r, number)
        y = e.LSTM([read, of_input, of_state, own, None, *begun], **how_read)[0]
        assert y is not None
        y = e.Reshape(y, (steps, x.shape[1], r.shape[2]))
        # the last step of each, in the order in which it was read
        singles.append(_rows(e, y, (ends - 1)[None]))
        sequences.append(_rows(e, y, order) if is_reverse else y)
    there = np.arange(steps)[:, None] < ends
    mask = e.constant(there[:, None, :, None], x.dtype)
    sequence = e.Concat([e.Reshape(y, (steps, 1, *y.shape[1:])) for y in sequences], 1)
    return [e.Mul(sequence, mask) if wanted[0] else None, e.Concat(singles, 0) if wanted[1] else None, None]


def _of_direction(e: Emitter, x: Tensor, number: int) -> Tensor:
    zeros = (0,) * (x.rank - 1)
    return e.Slice(x, (number, *zeros), (number + 1, *x.shape[1:]))


def _order(ends: Indices, steps: int, *, is_reverse: bool) -> Indices:
    """Which step of each sequence is read when: (steps, sequences). Done twice, all is where it was."""
    step = np.arange(steps)[:, None]
    return np.where(step < ends, ends - 1 - step, step) if is_reverse else np.broadcast_to(step, (steps, ends.size))


def _rows(e: Emitter, x: Tensor, order: Indices) -> Tensor:
    """Other steps of each sequence, of (steps, sequences, elements)."""
    steps, count, size = x.shape
    flat = e.Reshape(x, (steps * count, size))
    places = order * count + np.arange(count)
    return e.Reshape(e.Gather(flat, e.constant(places.reshape(-1)), 0), (*order.shape, size))
