"""RoiAlign if it handles all regions, else the replacement passed by the caller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import without_rules
from dml2onnx.onnx_model import FLOAT, INT64

MARGIN = 1e-6
"""A region must exceed this fraction of its coordinates not to be rounded to an empty one."""
LARGEST = float(np.finfo(np.float32).max) / 8
"""Coordinates up to this limit stay finite in every step."""


def roi_align(
    e: Emitter,
    x: Tensor,
    rois: Tensor,
    batches: Tensor,
    size: tuple[int, int],
    samples: tuple[int, int],
    scale: float,
    otherwise: Callable[[Tensor | None], Tensor],
) -> Tensor | None:
    """``otherwise`` if there is no kernel, or it would take a different number of samples."""
    if not _has_kernel(e):
        e.note(f"Gather: the target has no RoiAlign at opset {e.opset}")
        return otherwise(None)
    return None if _takes_all_samples(e, x, rois, size, samples, scale) else otherwise(None)


def exact_roi_align(
    e: Emitter,
    x: Tensor,
    rois: Tensor,
    batches: Tensor,
    size: tuple[int, int],
    samples: tuple[int, int],
    scale: float,
    otherwise: Callable[[Tensor | None], Tensor],
) -> Tensor | None:
    """RoiAlign for the regions that it handles, and ``otherwise`` for the rest."""
    if not _has_kernel(e):
        return None
    rois = _scaled(e, rois, scale)
    batches = e.Cast(e.Min(batches, e.constant(x.shape[0] - 1, batches.dtype)), INT64)
    is_plain = e.And(_is_plain(e, rois, size, samples), _is_tame(e, x, batches))
    e.note("Gather handles empty and inverted regions and images with an infinite first pixel; RoiAlign does not")
    plain = e.Where(is_plain, rois, e.constant([0, 0, 1, 1], FLOAT))
    y = without_rules(e.RoiAlign, x, plain, batches, size, samples, 1.0, otherwise)
    # costs nothing if all regions are plain: it then has no samples
    others = otherwise(e.Not(is_plain))
    return e.Where(e.Reshape(is_plain, (is_plain.size, 1, 1, 1)), y, others)


def _has_kernel(e: Emitter) -> bool:
    return e.supports("RoiAlign", FLOAT, "T1")


def _takes_all_samples(
    e: Emitter, x: Tensor, rois: Tensor, size: tuple[int, int], samples: tuple[int, int], scale: float
) -> bool:
    """Whether RoiAlign takes the right number of samples of each region: the known ones, or any in the image."""
    fewest, most = samples
    if fewest == most:
        return True
    if rois.value is not None:
        return bool(_is_plain(e, _scaled(e, rois, scale), size, samples).constant.all())
    longest = max(-(-length // bins) for length, bins in zip(x.shape[2:], size, strict=True))
    return fewest <= 1 and most >= longest


def _scaled(e: Emitter, rois: Tensor, scale: float) -> Tensor:
    return e.Mul(rois, e.constant(scale, FLOAT))


def _is_plain(e: Emitter, rois: Tensor, size: tuple[int, int], samples: tuple[int, int]) -> Tensor:
    """Whether RoiAlign takes the right number of samples of a region: BOOL, (region, 1)."""
    count, (fewest, most) = rois.shape[0], samples
    first, last = e.Slice(rois, (0, 0), (count, 2)), e.Slice(rois, (0, 2), (count, 4))
    length = e.Sub(last, first)
    plain = e.LessOrEqual(e.Max(e.Abs(first), e.Abs(last)), e.constant(LARGEST, FLOAT))
    if fewest < most:
        reach = e.Add(e.Add(e.Abs(first), e.Abs(last)), e.constant(1, FLOAT))
        ratio = e.Div(length, e.constant(size[::-1], FLOAT))
        plain = e.And(
            e.Greater(length, e.Mul(reach, e.constant(MARGIN, FLOAT))), e.LessOrEqual(ratio, e.constant(most, FLOAT))
        )
        if fewest > 1:
            plain = e.And(plain, e.Greater(ratio, e.constant(fewest - 1, FLOAT)))
    return e.And(e.Slice(plain, (0, 0), (count, 1)), e.Slice(plain, (0, 1), (count, 2)))


def _is_tame(e: Emitter, x: Tensor, batches: Tensor) -> Tensor:
    """Whether the first pixel of an image is finite: BOOL, (region, 1).

    RoiAlign may multiply it by 0 for samples outside, which would be NaN.
    """
    first = e.Reshape(e.Slice(x, (0,) * 4, (*x.shape[:2], 1, 1)), x.shape[:2])
    is_finite = e.LessOrEqual(e.ReduceSum(e.Abs(first), (1,)), e.constant(np.finfo(np.float32).max, FLOAT))
    return e.Gather(is_finite, batches)
