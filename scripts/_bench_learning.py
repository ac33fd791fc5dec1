"""Cases for ``bench_ops.py``: attention, regions, pools, gradients and ADAM_OPTIMIZER."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from _bench_cases import FLOAT32, UINT32, Array, Case, numbers, repeated

IMAGES = (4, 64, 64, 64)
CHANNELS = (1, 64, 1, 1)
LENGTH, HEADS, SIZE = 256, 8, 64
COUNT, CROP, PIXELS = 64, 7, 64


def cases() -> Iterator[Case]:
    yield from _attention()
    yield from _regions()
    yield from _windows()
    x = numbers(FLOAT32, IMAGES)
    for p, norm in (
        (1, lambda x: np.abs(x).sum(1, keepdims=True)),
        (2, lambda x: np.sqrt((x * x).sum(1, keepdims=True))),
    ):
        yield Case(
            "LP_NORMALIZATION",
            f"float32 P {p}",
            {"InputTensor": x},
            lambda x, norm=norm: x / norm(x),
            {"Axis": 1, "Epsilon": 0.0, "P": p},
        )
    step: dict[str, object] = {"LearningRate": 0.01, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-7}
    state = {
        f"Input{name}Tensor": numbers(FLOAT32, low=0, high=1) for name in ("Parameters", "FirstMoment", "SecondMoment")
    }
    once = np.ones((1, 1), np.uint32)
    inputs = {**state, "GradientTensor": numbers(FLOAT32, low=-1, high=1), "TrainingStepTensor": once}
    four = {name: array.reshape(1, 1, *array.shape) for name, array in inputs.items()}
    yield Case("ADAM_OPTIMIZER", "float32", four, _adam, step)
    yield from _gradients(x)


def _gradients(x: Array) -> Iterator[Case]:
    gradient = numbers(FLOAT32, IMAGES)
    parameters = {name: numbers(FLOAT32, CHANNELS, 0.5, 2) for name in ("MeanTensor", "VarianceTensor", "ScaleTensor")}
    yield Case(
        "BATCH_NORMALIZATION_GRAD",
        "float32",
        {"InputTensor": x, "InputGradientTensor": gradient, **parameters},
        _normalization_gradient,
        {"Epsilon": 1e-5},
    )
    half = (*IMAGES[:3], IMAGES[3] // 2)
    window: dict[str, object] = {
        "DimensionCount": 4, "InputWindowOffsets": [0] * 4, "InputWindowSizes": list(IMAGES),
        "InputWindowStrides": [1, 1, 1, 2],
    }  # fmt: skip
    yield Case(
        "SLICE_GRAD",
        "float32 every second",
        {"InputGradientTensor": numbers(FLOAT32, half)},
        _slice_gradient,
        window,
    )


def _normalization_gradient(x: Array, gradient: Array, mean: Array, variance: Array, scale: Array) -> tuple[Array, ...]:
    factor = 1 / np.sqrt(variance + np.float32(1e-5))
    over = (0, 2, 3)
    scaled = (gradient * (x - mean)).sum(over, keepdims=True) * factor
    return gradient * (scale * factor), scaled, gradient.sum(over, keepdims=True)


def _slice_gradient(gradient: Array) -> Array:
    result = np.zeros(IMAGES, np.float32)
    result[..., ::2] = gradient
    return result


def _adam(weights: Array, first: Array, second: Array, gradient: Array, step: Array) -> tuple[Array, ...]:
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    rate = np.float32(0.01 * np.sqrt(1 - 0.999) / (1 - 0.9))
    return weights - rate * first / (np.sqrt(second) + np.float32(1e-7)), first, second


# --- attention -------------------------------------------------------------------------------------------------------


def _attention() -> Iterator[Case]:
    sizes = (1, LENGTH, HEADS * SIZE)
    inputs = {f"{name}Tensor": numbers(FLOAT32, sizes, -1, 1) for name in ("Query", "Key", "Value")}
    fields: dict[str, object] = {"Scale": SIZE**-0.5, "MaskFilterValue": -10000.0, "MaskType": "NONE"}
    yield Case("MULTIHEAD_ATTENTION", "float32", inputs, _attended, {**fields, "HeadCount": HEADS})
    heads = {"QueryHeadCount": HEADS, "KeyValueHeadCount": HEADS}
    yield Case("MULTIHEAD_ATTENTION1", "float32", inputs, _attended, {**fields, **heads})


def _attended(*parts: Array) -> Any:
    query, key, value = (part.reshape(LENGTH, HEADS, SIZE).transpose(1, 0, 2) for part in parts)
    scores = query @ key.transpose(0, 2, 1) * np.float32(SIZE**-0.5)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return (weights @ value).transpose(1, 0, 2).reshape(1, LENGTH, HEADS * SIZE)


# --- regions ---------------------------------------------------------------------------------------------------------


def _regions() -> Iterator[Case]:
    x = numbers(FLOAT32, (1, 64, PIXELS, PIXELS))
    start = numbers(FLOAT32, (COUNT, 2), 2, 30)
    regions = np.concatenate([start, start + numbers(FLOAT32, (COUNT, 2), 7, 30)], 1)
    fields: dict[str, object] = {
        "ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "SpatialScaleX": 1.0, "SpatialScaleY": 1.0,
        "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "OutOfBoundsInputValue": 0.0,
        "MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2, "AlignRegionsToCorners": False,
    }  # fmt: skip
    inputs = {"InputTensor": x, "ROITensor": regions, "BatchIndicesTensor": np.zeros(COUNT, UINT32)}
    yield Case("ROI_ALIGN1", "float32 2x2 samples", inputs, _aligned, fields)
    corners = np.concatenate([np.zeros((COUNT, 1)), np.rint(regions)], 1).astype(FLOAT32).reshape(1, 1, COUNT, 5)
    pooling: Mapping[str, object] = {"SpatialScale": 1.0, "PooledSize": {"Width": CROP, "Height": CROP}}
    yield Case("ROI_POOLING", "float32", {"InputTensor": x, "ROITensor": corners}, _pooled, pooling)


def _aligned(x: Array, regions: Array, batches: Array) -> Any:
    """Averages two by two bilinear samples in each bin."""
    offsets = (np.arange(2 * CROP) + 0.5) / 2
    corners = regions - 0.5
    extents = (regions[:, 2:] - regions[:, :2]) / CROP
    places = corners[:, :2, None] + extents[:, :, None] * offsets
    low = np.floor(places).astype(np.int64)
    share = (places - low).astype(np.float32)
    result = np.zeros((64, COUNT, 2 * CROP, 2 * CROP), np.float32)
    for down in (0, 1):
        for right in (0, 1):
            rows = np.clip(low[:, 1] + down, 0, PIXELS - 1)
            columns = np.clip(low[:, 0] + right, 0, PIXELS - 1)
            weight = (share[:, 1] if down else 1 - share[:, 1])[:, :, None]
            weight = weight * (share[:, 0] if right else 1 - share[:, 0])[:, None, :]
            result += x[0][:, rows[:, :, None], columns[:, None, :]] * weight
    return result.reshape(64, COUNT, CROP, 2, CROP, 2).mean((3, 5)).transpose(1, 0, 2, 3)


def _pooled(x: Array, regions: Array) -> Array:
    result = np.zeros((COUNT, 64, CROP, CROP), np.float32)
    for index, (_, x1, y1, x2, y2) in enumerate(regions.reshape(COUNT, 5).astype(np.int64)):
        height, width = y2 - y1 + 1, x2 - x1 + 1
        for row in range(CROP):
            top, bottom = row * height // CROP + y1, -(-(row + 1) * height // CROP) + y1
            for column in range(CROP):
                left, right = column * width // CROP + x1, -(-(column + 1) * width // CROP) + x1
                result[index, :, row, column] = x[0, :, top:bottom, left:right].max((1, 2))
    return result


# --- windows ---------------------------------------------------------------------------------------------------------

IMAGE, HALF = (1, 16, 256, 256), (1, 16, 128, 128)
_WINDOWS: dict[str, object] = {"Strides": [2, 2], "WindowSize": [2, 2]}


def _windows() -> Iterator[Case]:
    x, gradient = numbers(FLOAT32, IMAGE), numbers(FLOAT32, HALF)
    yield Case("MAX_POOLING2", "float32 2x2", {"InputTensor": x}, lambda x: _blocks(x).max((3, 5)), _WINDOWS)
    yield Case("AVERAGE_POOLING1", "float32 2x2", {"InputTensor": x}, lambda x: _blocks(x).mean((3, 5)), _WINDOWS)
    for p in (1, 2, 3):
        fields = {**_WINDOWS, "P": p}
        yield Case("LP_POOLING1", f"float32 2x2 P {p}", {"InputTensor": x}, _norms[p], fields)
    backward = {"InputGradientTensor": gradient}
    yield Case("AVERAGE_POOLING_GRAD", "float32 2x2", backward, lambda g: repeated(g) / 4, _WINDOWS)
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
