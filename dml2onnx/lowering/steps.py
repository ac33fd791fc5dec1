"""Steps that each need what the one before them has given: a Scan, or all of them in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.control import Step


def in_steps(
    e: Emitter, step: Step, states: Sequence[Tensor], elements: Sequence[Tensor], *, backward: bool = False
) -> tuple[Sequence[Tensor], list[Tensor]]:
    """What a Scan gives, see :meth:`Emitter.Scan`; without one in default models, which have no control flow."""
    if e.exact:
        return e.Scan(step, states, elements, backward=backward)
    count = elements[0].shape[0]
    slices = [e.Split(item, (1,) * count, 0) for item in elements]
    given: list[Sequence[Tensor]] = []
    for index in reversed(range(count)) if backward else range(count):
        parts = [e.Reshape(item[index], item[index].shape[1:]) for item in slices]
        states, rows = step(states, parts)
        given.append([e.Reshape(row, (1, *row.shape)) for row in rows])
    columns = zip(*(reversed(given) if backward else given), strict=True)
    return states, [e.Concat(column, 0) for column in columns]
