"""Sequences of no length, or of more steps than there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.recurrent import RecurrentDirection

    Results = Sequence[Tensor | None]


def of_lengths(
    e: Emitter,
    lengths: Tensor,
    steps: int,
    states: Results,
    direction: RecurrentDirection,
    compute: Callable[[Tensor], Results],
) -> Results | None:
    """Sequence and last states as DirectML gives them for lengths of 0 [decision L7].

    Without a step the sequence is 0, and backward states stay what they were. Forward the cell has made one step all
    the same, and the hidden state is 0.
    """
    if lengths.value is not None and ((lengths.value > 0) & (lengths.value <= steps)).all():
        return None
    sequence, *lasts = compute(e.Cast(e.Clip(lengths, 1, steps), np.dtype(np.int32)))
    if sequence is not None:
        places = e.Reshape(e.arange(steps, lengths.dtype), (steps, 1, 1, 1))
        runs = e.Less(places, e.Reshape(lengths, (1, 1, lengths.size, 1)))
        sequence = e.Where(runs, sequence, e.constant(0, sequence.dtype))
    without = e.Equal(e.Reshape(lengths, (1, lengths.size, 1)), e.constant(0, lengths.dtype))

    def ended(number: int, last: Tensor, initial: Tensor | None) -> Tensor:
        """What is left of the hidden or, behind it, the cell state, of each direction."""
        zero, ones = e.constant(0, last.dtype), (1,) * last.shape[0]
        parts, before = e.Split(last, ones, 0), [zero] * len(ones) if initial is None else e.Split(initial, ones, 0)
        for index, part in enumerate(parts):
            if index == 1 or direction == "reverse":
                parts[index] = e.Where(without, before[index], part)
            elif number == 0:
                parts[index] = e.Where(without, zero, part)
        return e.Concat(parts, 0)

    numbered = enumerate(zip(lasts, states, strict=True))
    return [sequence, *(None if last is None else ended(i, last, initial) for i, (last, initial) in numbered)]
