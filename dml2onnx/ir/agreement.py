"""One node seen in another order of dimensions: which other descriptors mean the same elements.

A node that treats all elements alike, or that names the dimensions it works along, means the same when the dimensions
of all its tensors are exchanged together, or are counted in another way altogether. Pure integer algebra, as ``view``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.ir.view import Layout


def carried(seen: Layout, strides: tuple[int, ...], held: Layout) -> tuple[int, ...] | None:
    """The strides that give, over the sizes of ``held``, the elements that ``strides`` give over those of ``seen``.

    ``seen`` and ``held`` are dense layouts of one memory: whatever place an element of one of them has, the element
    of the other at that place sees the same through the strides. ``None`` where no strides do that.
    """
    if not any(strides):
        return (0,) * len(held.sizes)
    digits = [item for item in zip(seen.strides, seen.sizes, strides, strict=True) if item[1] > 1]
    digits.sort()
    result = []
    for size, weight in zip(held.sizes, held.strides, strict=True):
        step: int | None = None
        for unit, count, stride in digits if size > 1 else ():
            first = max(unit, weight)
            if unit * count <= weight or weight * size <= unit:
                continue
            if first % unit or first % weight:
                return None
            here = stride * (first // unit)
            if step is None and first == weight:
                step = here
            elif step is None or here != step * (first // weight):
                return None
        result.append(step or 0)
    return tuple(result)


def permutation(seen: Layout, held: Layout) -> tuple[int, ...] | None:
    """The dimensions of ``seen`` in the order that ``held`` has them in; ``None`` where it has others.

    Dimensions of size 1 are where there is room for them.
    """
    if len(seen.sizes) != len(held.sizes):
        return None
    places = {(size, stride): axis for axis, (size, stride) in enumerate(zip(seen.sizes, seen.strides, strict=True))}
    ones = iter([axis for axis, size in enumerate(seen.sizes) if size == 1])
    order = []
    for size, stride in zip(held.sizes, held.strides, strict=True):
        axis = next(ones, None) if size == 1 else places.get((size, stride))
        if axis is None:
            return None
        order.append(axis)
    return tuple(order)
