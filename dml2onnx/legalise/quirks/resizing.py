"""Resize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.resizing import ResizedAxis, nearest_form, resized, resized_axes
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import has_unknown
from dml2onnx.onnx_model.records import Attribute

Sizes = tuple[int, ...]
Scales = tuple[float, ...]

RESIZE_INTERPOLATES_NEIGHBOURS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[2,1,1,2] x) => (float[4,1,1,4] y) <int64[4] s = {4, 1, 1, 4}> { y = Resize <mode = "
        '"linear", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((0, 2, 4, 6),),
        ((0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 4, 5, 6, 6),),
        says="'Linear' mode only supports",
    ),
)
"""Linear Resize changes two neighboring axes, with at most one axis after them, or the last three (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/upsamplebase.h
"""


@RESIZE_INTERPOLATES_NEIGHBOURS.rule("Resize")
def resize_runs(
    e: Emitter, x: Tensor, sizes: Sizes | None, scales: Scales | None, **attributes: Attribute
) -> Tensor | None:
    """One Resize per run of neighboring axes, the last first."""
    if attributes.get("mode") != "linear" or has_unknown(x.shape):
        return None
    extents: Sequence[float] = sizes or scales or ()
    unmoved: Sequence[float] = x.shape if sizes else (1.0,) * x.rank
    left = [axis for axis in range(x.rank) if extents[axis] != unmoved[axis]]
    while left:
        run = [left.pop()]
        longest = 3 if prod(x.shape[run[0] + 1 :]) == 1 else 2
        while left and left[-1] == run[0] - 1 and len(run) < longest:
            run.insert(0, left.pop())
        x = _run(e, x, run, extents, is_sizes=sizes is not None, attributes=attributes)
    return x


def _run(
    e: Emitter,
    x: Tensor,
    run: list[int],
    extents: Sequence[float],
    *,
    is_sizes: bool,
    attributes: dict[str, Attribute],
) -> Tensor:
    """Resize of one to three neighboring axes, with the axes before them merged into one, and those after them too.

    An unchanged axis must be a batch or channel axis to the kernels: along others they also read the next element with
    weight 0, which turns an infinity into NaN.
    """
    first, end_axis = run[0], run[-1] + 1
    batch, moving, channels = prod(x.shape[:first]), x.shape[first:end_axis], prod(x.shape[end_axis:])
    single = (1,) if len(moving) == 1 else ()
    layout: tuple[int, ...]
    if len(moving) == 2 and (x.rank == 2 or (x.rank == 4 and first == 2)):
        layout, start = x.shape, first
    elif channels > 1:
        layout, start = (batch, *moving, *single, channels), 1
    else:
        layout = (1, batch, *single, *moving)
        start = len(layout) - len(moving)
    rows, wanted = e.Reshape(x, layout), extents[first:end_axis]
    end = start + len(moving)
    if is_sizes:
        y = e.Resize(rows, (*layout[:start], *map(int, wanted), *layout[end:]), None, **attributes)
    else:
        ones = (1.0,) * len(layout)
        y = e.Resize(rows, None, (*ones[:start], *wanted, *ones[end:]), **attributes)
    return e.Reshape(y, (*x.shape[:first], *y.shape[start:end], *x.shape[end_axis:]))


RESIZE_LOOKS_AT_CENTRES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,2] x) => (float[1,1,1,4] y) <int64[4] s = {1, 1, 1, 4}> { y = Resize <mode = "
        '"nearest", nearest_mode = "ceil", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((1.0, 2.0),),
        ((1.0, 2.0, 2.0, 2.0),),
    ),
)
"""Resize samples pixel centers and rounds halves up, whatever its modes are (ONNX Runtime Web's WebNN)."""
_HALF = np.float32(0.5)


def _samples_centers(axis: int, rank: int, item: ResizedAxis) -> bool:
    if rank != 4 or axis < 2:
        return False
    centers = replace(item, scale=float(np.float32(item.count) / np.float32(item.size)), mode="half_pixel").place
    if not item.rounds:
        return bool(np.array_equal(item.place, centers))
    # rounding of ties is unspecified
    replaced = np.floor(centers + _HALF)
    ties = np.abs(centers - np.floor(centers) - _HALF) < 1e-5
    return bool(np.array_equal(np.clip(replaced, 0, item.size - 1), item.nearest("DECREASING")) and not ties.any())


@RESIZE_LOOKS_AT_CENTRES.rule("Resize")
def resize_by_gather(
    e: Emitter, x: Tensor, sizes: Sizes | None, scales: Scales | None, **attributes: Attribute
) -> Tensor | None:
    """Gather, or a weighted sum of two, per axis, if other coordinates are sampled."""
    if has_unknown(x.shape):
        return None
    moved = resized_axes(x, sizes, scales, attributes)
    if all(_samples_centers(axis, x.rank, item) for axis, item in moved.items()):
        return None
    e.note("Resize samples pixel centers only: Gather")
    for axis, item in moved.items():
        x = item.replaced(e, x, axis)
    return x


RESIZE_ROUNDS_ITS_OWN_WAY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,2] x) => (float[1,1,1,4] y) <int64[4] s = {1, 1, 1, 4}> { y = Resize <mode = "
        '"nearest", nearest_mode = "floor", coordinate_transformation_mode = "half_pixel"> (x, , , s) }',
        ((1.0, 2.0),),
        ((1.0, 1.0, 1.0, 2.0),),
    ),
)
"""Nearest Resize rounds asymmetric coordinates down and others to nearest, whatever nearest_mode is (QNN)."""


@RESIZE_ROUNDS_ITS_OWN_WAY.rule("Resize")
def resize_in_settled_modes(
    e: Emitter, x: Tensor, sizes: Sizes | None, scales: Scales | None, **attributes: Attribute
) -> Tensor | None:
    """Modes that select the same elements, for all axes at once or one by one, else Gather."""
    if attributes.get("mode", "nearest") != "nearest" or has_unknown(x.shape):
        return None
    moved = resized_axes(x, sizes, scales, attributes)
    form = nearest_form(moved.values(), "DECREASING", settled=True)
    if form is not None:
        modes = attributes.get("coordinate_transformation_mode"), attributes.get("nearest_mode")
        return None if (form.coordinates, form.nearest) == modes else resized(e, x, moved, form, "nearest")
    for axis, item in moved.items():
        form = nearest_form([item], "DECREASING", settled=True)
        x = item.replaced(e, x, axis) if form is None else resized(e, x, {axis: item}, form, "nearest")
    return x


RESIZE_SPELLS_OUT_AXES = Quirk(RuleKind.SPEED)
"""Resize is listed only with axes and nearest_mode floor (Windows ML's processors, by winml-cli).

All Resizes that Microsoft measured have them, so ``winml analyze`` reports others as unknown. Linear modes ignore
nearest_mode, and axes default to all.
"""


@RESIZE_SPELLS_OUT_AXES.rule("Resize")
def resize_with_axes(
    e: Emitter, x: Tensor, sizes: Sizes | None, scales: Scales | None, **attributes: Attribute
) -> Tensor | None:
    """Adds the axes, which are new in opset 18, and nearest_mode."""
    if sizes is None:
        return None
    stated: dict[str, Attribute] = {"nearest_mode": "floor"} if attributes.get("mode") == "linear" else {}
    if e.opset >= 18:
        stated["axes"] = tuple(range(x.rank))
    return e.Resize(x, sizes, scales, **{**attributes, **stated})


RESIZE_TAKES_PLANES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[2,1,1,1] x) => (float[4,1,1,1] y) <int64[4] s = {4,1,1,1}> { y = Resize <mode = "
        '"nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((1, 2),),
        ((1, 1, 2, 2),),
        says="only supports resize on spatial dimensions",
    ),
)
"""Resize has two to four dimensions and changes the last two only (OpenVINO, WebGPU).

Changes of other axes are refused or ignored.
"""


def _is_of_planes(axis: int, x: Tensor, moved: Mapping[int, ResizedAxis]) -> bool:
    if moved[axis].rounds:
        return axis >= x.rank - 2
    last = max(i for i, size in enumerate(x.shape) if size > 1 or i in moved)
    return axis == last or (axis == last - 1 and last in moved)


@RESIZE_TAKES_PLANES.rule("Resize")
def resize_planes(
    e: Emitter, x: Tensor, sizes: Sizes | None, scales: Scales | None, **attributes: Attribute
) -> Tensor | None:
    """Merges the axes before the last two into channels; those that change use Gather, or a weighted sum of two.

    So do axes of mode linear that precede an unchanged one; ``resize_runs`` turns the others into planes.
    """
    moved = {} if has_unknown(x.shape) else resized_axes(x, sizes, scales, attributes)
    others = [axis for axis in moved if not _is_of_planes(axis, x, moved)]
    if others:
        e.note("Resize changes the last two axes only: Gather")
        if len(others) < len(moved):
            counts = sizes and tuple(size if i in others else sizes[i] for i, size in enumerate(x.shape))
            factors = scales and tuple(1.0 if i in others else factor for i, factor in enumerate(scales))
            x = e.Resize(x, counts, factors, **attributes)
        for axis in others:
            x = moved[axis].replaced(e, x, axis)
        return x
    if 1 < x.rank <= 4 or min(moved, default=x.rank) < x.rank - 2:
        return None
    planes = e.Reshape(x, (1, prod(x.shape[:-2]), *(1, *x.shape)[-2:]))
    if sizes is not None:
        sizes = (*planes.shape[:2], *(1, *sizes)[-2:])
        return e.Reshape(e.Resize(planes, sizes, None, **attributes), (*x.shape[:-2], *sizes[4 - min(x.rank, 2) :]))
    assert scales is not None
    y = e.Resize(planes, None, (1.0, 1.0, *(1.0, *scales)[-2:]), **attributes)
    return e.Reshape(y, (*x.shape[:-2], *y.shape[4 - min(x.rank, 2) :]))
