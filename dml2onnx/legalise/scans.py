"""Steps that each need what the one before them has given: in a row, or in a Scan behind the first one."""

from __future__ import annotations

from collections.abc import Sequence

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.control import Step


def scan(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool = False
) -> tuple[Sequence[Tensor], Sequence[Tensor]] | None:
    """Default models have no control flow; a Scan has all of its states."""
    if not e.exact:
        return _in_a_row(e, step, states, elements, backward=backward)
    e.note("its steps are the body of a Scan")
    return _begun(e, step, states, elements, backward=backward) if None in states else None


def _in_a_row(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool
) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    e.note("its steps stand in a row")
    count = elements[0].shape[0]
    slices = [e.Split(item, (1,) * count, 0) for item in elements]
    given: list[Sequence[Tensor]] = []
    after: Sequence[Tensor] = ()
    for index in reversed(range(count)) if backward else range(count):
        parts = [e.Reshape(item[index], item[index].shape[1:]) for item in slices]
        after, rows = step(states, parts)
        states = after
        given.append([e.Reshape(row, (1, *row.shape)) for row in rows])
    columns = zip(*(reversed(given) if backward else given), strict=True)
    return after, [e.Concat(column, 0) for column in columns]


def _begun(
    e: Emitter, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool
) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """All steps, of which the first goes without the states that are not there."""
    count = elements[0].shape[0]
    at = -1 if backward else 0
    sizes = ((count - 1, 1) if backward else (1, count - 1)) if count > 1 else (1,)
    parts = [e.Split(item, sizes, 0) for item in elements]
    after, given = step(states, [e.Reshape(part[at], part[at].shape[1:]) for part in parts])
    first = [e.Reshape(item, (1, *item.shape)) for item in given]
    if count == 1:
        return after, first
    after, rest = e.Scan(step, after, [part[-1 - at] for part in parts], backward=backward)
    return after, [e.Concat([b, a] if backward else [a, b], 0) for a, b in zip(first, rest, strict=True)]
