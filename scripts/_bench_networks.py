"""Cases for ``bench_ops.py``: normalisations, recurrent layers, and quantized tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from _bench_cases import FLOAT32, UINT8, Array, Case, Expression, Shape, numbers, sigmoid
from numpy.lib.stride_tricks import sliding_window_view

from dml2onnx.test_cases.descriptors import describe

INT8 = np.dtype(np.int8)


# --- normalisations --------------------------------------------------------------------------------------------------

IMAGES = (16, 64, 32, 32)
TOKENS = (1024, 1024)
BY_CHANNEL = (1, 64, 1, 1)


def normalisations() -> Iterator[Case]:
    """Normalisations of images and rows, by given statistics, by their own, and over neighbours."""
    for name, sizes in (("channels", BY_CHANNEL), ("last axis", (1, 1, 1, 32)), ("all", IMAGES)):
        x = {"InputTensor": numbers(FLOAT32, IMAGES)}
        given = {f"{field}Tensor": numbers(FLOAT32, sizes, 0.5, 2) for field in ("Mean", "Variance", "Scale", "Bias")}
        fields: dict[str, object] = {"Spatial": True, "Epsilon": 1e-5}
        yield Case("BATCH_NORMALIZATION", f"float32 {name}", {**x, **given}, _with_statistics, fields)
    layouts: list[tuple[str, Shape, Shape, Shape]] = [
        ("images", IMAGES, (2, 3), BY_CHANNEL),
        ("images cross", IMAGES, (1, 2, 3), BY_CHANNEL),
        ("rows", TOKENS, (1,), (1, 1024)),
        ("columns", TOKENS, (0,), (1, 1024)),
    ]
    for name, shape, axes, along in layouts:
        own = {"InputTensor": numbers(FLOAT32, shape)}
        own |= {field: numbers(FLOAT32, along, 0.5, 2) for field in ("ScaleTensor", "BiasTensor")}
        fields = {"Epsilon": 1e-5}
        if shape == IMAGES:
            switches = {**fields, "CrossChannel": len(axes) == 3, "NormalizeVariance": True}
            yield Case("MEAN_VARIANCE_NORMALIZATION", f"float32 {name}", own, _standardised(axes), switches)
        one = {**fields, "Axes": list(axes), "NormalizeVariance": True}
        yield Case("MEAN_VARIANCE_NORMALIZATION1", f"float32 {name}", own, _standardised(axes), one)
        two = {**fields, "Axes": list(axes), "UseMean": False, "UseVariance": True}
        yield Case("MEAN_VARIANCE_NORMALIZATION2", f"float32 {name} about 0", own, _standardised(axes, False), two)
    for across in (True, False):
        fields = {"CrossChannel": across, "LocalSize": 5, "Alpha": 1e-4, "Beta": 0.75, "Bias": 1.0}
        variant = f"float32 {'channels' if across else 'images'}"
        neighbours = _over_neighbours((1,) if across else (2, 3))
        x = {"InputTensor": numbers(FLOAT32, IMAGES)}
        yield Case("LOCAL_RESPONSE_NORMALIZATION", variant, x, neighbours, fields)


def _with_statistics(x: Array, mean: Array, variance: Array, scale: Array, bias: Array) -> Array:
    y: Array = (x - mean) * (scale / np.sqrt(variance + np.float32(1e-5))) + bias
    return y


def _standardised(axes: Shape, about_mean: bool = True) -> Expression:
    def normalised(x: Array, scale: Array, bias: Array) -> Array:
        y = x - x.mean(axes, keepdims=True) if about_mean else x
        deviation = np.sqrt((y * y).mean(axes, keepdims=True) + np.float32(1e-5))
        result: Array = y / deviation * scale + bias
        return result

    return normalised


def _over_neighbours(axes: Shape) -> Expression:
    def normalised(x: Array) -> Array:
        total = x * x
        for axis in axes:
            padded = np.pad(total, [(2, 2) if i == axis else (0, 0) for i in range(x.ndim)])
            total = sliding_window_view(padded, 5, axis).sum(-1)
        result: Array = x * (1 + np.float32(2e-5) * total) ** np.float32(-0.75)
        return result

    return normalised


# --- recurrent -------------------------------------------------------------------------------------------------------


def recurrent() -> Iterator[Case]:
    """RNN, GRU and LSTM: many steps of one sequence, and few steps of many."""
    activations = {"RNN": ("TANH",), "GRU": ("SIGMOID", "TANH"), "LSTM": ("SIGMOID", "TANH", "TANH")}
    for (name, gates), (steps, batch, size) in product(
        (("RNN", 1), ("GRU", 3), ("LSTM", 4)), ((200, 1, 128), (20, 32, 256))
    ):
        inputs = {
            "InputTensor": numbers(FLOAT32, (1, steps, batch, size), -1, 1),
            "WeightTensor": numbers(FLOAT32, (1, 1, gates * size, size), -0.1, 0.1),
            "RecurrenceTensor": numbers(FLOAT32, (1, 1, gates * size, size), -0.1, 0.1),
        }
        fields: dict[str, object] = {
            "ActivationDescs": [describe(f"ACTIVATION_{item}") for item in activations[name]],
        }
        if name == "GRU":
            fields["LinearBeforeReset"] = True
        yield Case(name, f"{steps} steps of {batch}", inputs, _recurrence(gates), fields)


def _recurrence(gates: int) -> Expression:
    def run(x: Array, w: Array, r: Array) -> Array:
        seen, recurrence = x[0] @ w[0, 0].T, r[0, 0].T
        hidden = cell = np.zeros((x.shape[2], r.shape[3]), np.float32)
        states = []
        for step in seen:
            kept = np.split(hidden @ recurrence, gates, 1)
            new = np.split(step, gates, 1)
            if gates == 1:
                hidden = np.tanh(new[0] + kept[0])
            elif gates == 3:
                z, reset = sigmoid(new[0] + kept[0]), sigmoid(new[1] + kept[1])
                hidden = (1 - z) * np.tanh(new[2] + reset * kept[2]) + z * hidden
            else:
                i, o, f = (sigmoid(new[gate] + kept[gate]) for gate in range(3))
                cell = f * cell + i * np.tanh(new[3] + kept[3])
                hidden = o * np.tanh(cell)
            states.append(hidden)
        return np.stack(states)[:, None]

    return run


# --- quantized -------------------------------------------------------------------------------------------------------


def _one(value: float, dtype: np.dtype[Any] = FLOAT32, sizes: Shape = (1, 1)) -> Array:
    return np.full(sizes, value, dtype)


def quantized() -> Iterator[Case]:
    """Quantization by blocks and by the range of the data, and integer products of UINT8 with UINT8 and INT8."""
    x, q = numbers(FLOAT32, (1000, 1024)), numbers(UINT8, (1000, 1024), 0, 255)
    for counts in ((1, 1), (1000, 1), (1000, 32), (250, 8)):
        parameters = {
            "QuantizationTensors/0": _one(0.5, FLOAT32, counts),
            "QuantizationTensors/1": _one(100, UINT8, counts),
        }
        fields: dict[str, object] = {"QuantizationType": "SCALE_ZERO_POINT"}
        variant = f"{counts[0]}x{counts[1]} scales"
        for name, source, expression in (("QUANTIZE", x, _quantized), ("DEQUANTIZE", q, _dequantized)):
            yield Case(name, variant, {"InputTensor": source, **parameters}, expression, fields)
    yield _pooled_images()
    for dtype in (UINT8, INT8):
        x = numbers(FLOAT32)
        yield Case("DYNAMIC_QUANTIZE_LINEAR", dtype.name, {"InputTensor": x}, _by_range(dtype))
        yield from _products(dtype)
        yield from _convolutions(dtype)


def _pooled_images() -> Case:
    four = (1, 1, 1, 1)
    inputs = {"InputTensor": numbers(UINT8, IMAGES, 0, 255), "InputScaleTensor": _one(0.5, FLOAT32, four)}
    inputs |= {"InputZeroPointTensor": _one(100, UINT8, four), "OutputScaleTensor": _one(0.6, FLOAT32, four)}
    fields: dict[str, object] = {"WindowSize": [3, 3]}
    return Case("QUANTIZED_LINEAR_AVERAGE_POOLING", "uint8", inputs, _pooled, fields)


def _pooled(x: Array, scale: Array, zero_point: Array, output: Array) -> Array:
    windows = sliding_window_view(x.astype(np.float32) - zero_point, (3, 3), (2, 3))
    return _rounded(windows.mean((-2, -1)) * (scale / output), 0)


def _products(dtype: np.dtype[Any]) -> Iterator[Case]:
    low = np.iinfo(np.int8).min
    a, b = numbers(UINT8, (500, 500), 0, 255), numbers(dtype, (500, 500), low, 127)
    zero_points = {"AZeroPointTensor": _one(100, UINT8), "BZeroPointTensor": _one(3, dtype)}
    variant = f"uint8 x {dtype.name}"
    integers = {"ATensor": a, "BTensor": b, **zero_points}
    yield Case("MATRIX_MULTIPLY_INTEGER", variant, integers, _multiplied)
    scaled = {**integers, "AScaleTensor": _one(0.01), "BScaleTensor": _one(0.01)}
    yield Case("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", variant, scaled, _multiplied_to_float)
    requantized = {**scaled, "OutputScaleTensor": _one(2.0), "OutputZeroPointTensor": _one(100, UINT8)}
    yield Case("QUANTIZED_LINEAR_MATRIX_MULTIPLY", variant, requantized, _multiplied_and_quantized)


def _convolutions(dtype: np.dtype[Any]) -> Iterator[Case]:
    image, filters, four = (1, 16, 64, 64), (16, 16, 3, 3), (1, 1, 1, 1)
    x, w = numbers(UINT8, image, 0, 255), numbers(dtype, filters, np.iinfo(np.int8).min, 127)
    fields: dict[str, object] = {"DimensionCount": 2}
    for name, sizes in (("one zero point", four), ("of channels", (1, 16, 1, 1))):
        inputs = {"InputTensor": x, "FilterTensor": w, "InputZeroPointTensor": _one(100, UINT8, four)}
        inputs["FilterZeroPointTensor"] = _one(3, dtype, sizes)
        variant = f"uint8 x {dtype.name} {name}"
        yield Case("CONVOLUTION_INTEGER", variant, inputs, _convolved, fields)
        inputs |= {"InputScaleTensor": _one(0.01, FLOAT32, four), "FilterScaleTensor": _one(0.01, FLOAT32, sizes)}
        inputs |= {"OutputScaleTensor": _one(2.0, FLOAT32, four), "OutputZeroPointTensor": _one(100, UINT8, four)}
        yield Case("QUANTIZED_LINEAR_CONVOLUTION", variant, inputs, _convolved_and_quantized, fields)


def _repeated(x: Array, sizes: Shape) -> Array:
    for axis, size in enumerate(sizes):
        x = x.repeat(size // x.shape[axis], axis)
    return x


def _rounded(x: Array, zero_point: Array | int, dtype: np.dtype[Any] = UINT8) -> Array:
    limits = np.iinfo(dtype)
    result: Array = np.clip(np.rint(x) + zero_point, limits.min, limits.max).astype(dtype)
    return result


def _quantized(x: Array, scale: Array, zero_point: Array) -> Array:
    return _rounded(x / _repeated(scale, x.shape), _repeated(zero_point, x.shape))


def _dequantized(x: Array, scale: Array, zero_point: Array) -> Array:
    y: Array = (x.astype(np.float32) - _repeated(zero_point, x.shape)) * _repeated(scale, x.shape)
    return y


def _by_range(dtype: np.dtype[Any]) -> Expression:
    def run(x: Array) -> tuple[Array, Array, Array]:
        least, limits = min(0, x.min()), np.iinfo(dtype)
        scale = (max(0, x.max()) - least) / np.float32(255)
        zero_point = np.rint(limits.min - least / scale)
        return _rounded(x / scale, int(zero_point), dtype), _one(scale), _one(zero_point, dtype)

    return run


def _multiplied(a: Array, b: Array, za: Array, zb: Array) -> Array:
    # numpy multiplies float matrices fast, and the results are exact here
    y: Array = ((a.astype(np.float64) - za) @ (b.astype(np.float64) - zb)).astype(np.int32)
    return y


def _multiplied_to_float(a: Array, b: Array, za: Array, zb: Array, sa: Array, sb: Array) -> Array:
    y: Array = _multiplied(a, b, za, zb).astype(np.float32) * (sa * sb)
    return y


def _multiplied_and_quantized(
    a: Array, b: Array, za: Array, zb: Array, sa: Array, sb: Array, s: Array, z: Array
) -> Array:
    return _rounded(_multiplied_to_float(a, b, za, zb, sa, sb) / s, z)


def _convolved(x: Array, w: Array, zx: Array, zw: Array) -> Array:
    windows = sliding_window_view(x.astype(np.float64) - zx, (3, 3), (2, 3))
    filters = w.astype(np.float64) - zw.reshape(-1, 1, 1, 1)
    y: Array = np.tensordot(filters, windows, ((1, 2, 3), (1, 4, 5))).swapaxes(0, 1).astype(np.int32)
    return y


def _convolved_and_quantized(
    x: Array, w: Array, zx: Array, zw: Array, sx: Array, sw: Array, s: Array, z: Array
) -> Array:
    return _rounded(_convolved(x, w, zx, zw).astype(np.float32) * (sx * sw / s), z)


FAMILIES: Sequence[Callable[[], Iterator[Case]]] = (normalisations, recurrent, quantized)


def cases() -> Iterator[Case]:
    """Yields the cases of all families, whether the operator admits the data type or not."""
    for family in FAMILIES:
        yield from family()
