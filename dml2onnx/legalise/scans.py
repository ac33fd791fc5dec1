"""Recurrences: unrolled, or as a Scan whose first step is peeled off."""

from __future__ import annotations

from collections.abc import Sequence

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.control import Step


def scan(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool = False
) -> tuple[Sequence[Tensor], Sequence[Tensor]] | None:
    """Unrolls in default models, which have no control flow; peels the first step if an initial state is absent."""
    if not e.exact:
        return _unrolled(e, step, states, elements, backward=backward)
    e.note("the steps are the body of a Scan")
    return _peeled(e, step, states, elements, backward=backward) if None in states else None


def _unrolled(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool
) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    e.note("the steps are unrolled")
    count = elements[0].shape[0]
    slices = [e.Split(item, (1,) * count, 0) for item in elements]
    collected: list[Sequence[Tensor]] = []
    after: Sequence[Tensor] = ()
    for index in reversed(range(count)) if backward else range(count):
        parts = [e.Reshape(item[index], item[index].shape[1:]) for item in slices]
        after, rows = step(states, parts)
        states = after
        collected.append([e.Reshape(row, (1, *row.shape)) for row in rows])
    columns = zip(*(reversed(collected) if backward else collected), strict=True)
    return after, [e.Concat(column, 0) for column in columns]


def _peeled(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool
) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """Peels off the first step, which has no initial states, and scans the others."""
    count = elements[0].shape[0]
    at = -1 if backward else 0
    sizes = ((count - 1, 1) if backward else (1, count - 1)) if count > 1 else (1,)
    parts = [e.Split(item, sizes, 0) for item in elements]
    after, collected = step(states, [e.Reshape(part[at], part[at].shape[1:]) for part in parts])
    first = [e.Reshape(item, (1, *item.shape)) for item in collected]
    if count == 1:
        return after, first
    after, rest = e.Scan(step, after, [part[-1 - at] for part in parts], backward=backward)
    return after, [e.Concat([b, a] if backward else [a, b], 0) for a, b in zip(first, rest, strict=True)]
