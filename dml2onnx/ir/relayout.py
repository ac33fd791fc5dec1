"""One tensor seen through two layouts of the same memory: its strides and axes in terms of the other layout.

An element-wise operator may use any layout for all its tensors at once, and an operator with named axes any order of
axes. That is what layout propagation (``lowering``) relies on. Pure integer algebra, as ``view``.
"""

from __future__ import annotations

from dml2onnx.ir.view import Layout


def strides_over(viewed: Layout, strides: tuple[int, ...], stored: Layout) -> tuple[int, ...] | None:
    """``strides`` over the sizes of ``viewed``, as strides over the sizes of ``stored``; ``None`` if there are none.

    ``viewed`` and ``stored`` are dense layouts of one memory. For each element of that memory, the result addresses
    what ``strides`` address.
    """
    if not any(strides):
        return (0,) * len(stored.sizes)
    digits = [item for item in zip(viewed.strides, viewed.sizes, strides, strict=True) if item[1] > 1]
    digits.sort()
    result = []
    for size, weight in zip(stored.sizes, stored.strides, strict=True):
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


def axis_order(viewed: Layout, stored: Layout) -> tuple[int, ...] | None:
    """The axes of ``viewed`` in the order of ``stored``; ``None`` unless the two have the same axes.

    Axes of size 1 take the positions that are left.
    """
    if len(viewed.sizes) != len(stored.sizes):
        return None
    places = {
        (size, stride): axis for axis, (size, stride) in enumerate(zip(viewed.sizes, viewed.strides, strict=True))
    }
    ones = iter([axis for axis, size in enumerate(viewed.sizes) if size == 1])
    order = []
    for size, stride in zip(stored.sizes, stored.strides, strict=True):
        axis = next(ones, None) if size == 1 else places.get((size, stride))
        if axis is None:
            return None
        order.append(axis)
    return tuple(order)
