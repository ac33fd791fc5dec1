"""Pools, Lp norms and gradients for ``bench_ops.py``, on an image of a million elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from _bench_cases import FLOAT32, Array, Case, numbers

IMAGE, HALF = (1, 16, 256, 256), (1, 16, 128, 128)
_WINDOWS: dict[str, object] = {"Strides": [2, 2], "WindowSize": [2, 2]}


def cases() -> Iterator[Case]:
    x, gradient = numbers(FLOAT32, IMAGE), numbers(FLOAT32, HALF)
    yield Case("MAX_POOLING2", "float32 2x2", {"InputTensor": x}, lambda x: _blocks(x).max((3, 5)), _WINDOWS)
    yield Case("AVERAGE_POOLING1", "float32 2x2", {"InputTensor": x}, lambda x: _blocks(x).mean((3, 5)), _WINDOWS)
    for p in (1, 2, 3):
        fields = {**_WINDOWS, "P": p}
        yield Case("LP_POOLING1", f"float32 2x2 P {p}", {"InputTensor": x}, _norms[p], fields)
    backward = {"InputGradientTensor": gradient}
    yield Case("AVERAGE_POOLING_GRAD", "float32 2x2", backward, lambda g: _repeat(g) / 4, _WINDOWS)
    backward = {"InputTensor": x, **backward}
    yield Case("MAX_POOLING_GRAD", "float32 2x2", backward, _max_gradient, _WINDOWS)
    down: dict[str, object] = {
        "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1.0, 1.0, 2.0, 2.0], "RoundingDirection": "DECREASING",
    }  # fmt: skip
    yield Case(
        "RESAMPLE_GRAD1",
        "float32 nearest",
        {"InputGradientTensor": x},
        lambda g: _blocks(g).sum((3, 5)),
        down,
    )


def _blocks(x: Array) -> Array:
    n, c, height, width = x.shape
    return x.reshape(n, c, height // 2, 2, width // 2, 2)


def _repeat(x: Array) -> Array:
    return x.repeat(2, 2).repeat(2, 3)


def _max_gradient(x: Array, gradient: Array) -> Array:
    rows = np.ascontiguousarray(_blocks(x).transpose(0, 1, 2, 4, 3, 5)).reshape(*gradient.shape, 4)
    result = np.zeros_like(rows)
    np.put_along_axis(result, rows.argmax(-1)[..., None], gradient[..., None], -1)
    return result.reshape(*gradient.shape, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(x.shape)


_norms = {
    1: lambda x: np.abs(_blocks(x)).sum((3, 5)),
    2: lambda x: np.sqrt((_blocks(x) ** 2).sum((3, 5))),
    3: lambda x: np.cbrt((np.abs(_blocks(x)) ** 3).sum((3, 5))),
}
