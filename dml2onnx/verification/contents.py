"""Draws ordinary, structured, and adversarial contents for inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dml2onnx.onnx_model import Array, OnnxPort

CONTENTS = ("ordinary", "structured", "extreme")
"""The kinds of contents of consecutive rounds."""


def contents(port: OnnxPort, random: np.random.Generator, kind: str) -> Array:
    """Memory contents for an input, of one of ``CONTENTS``."""
    if kind == "structured":
        return _structured(port, random)
    return random_array(port, random, extremes=kind == "extreme")


def random_array(port: OnnxPort, random: np.random.Generator, *, extremes: bool = False) -> Array:
    """:func:`random_values` for an input."""
    return random_values(port.dtype, port.shape, random, extremes=extremes)


def random_values(
    dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator, *, extremes: bool = False
) -> Array:
    """Small numbers; ``extremes`` replaces a quarter of them.

    Extremes are NaN, infinities, zeros of both signs, the smallest numbers, and ties; for integers also the limits. The
    largest floats are excluded: an overflow between two nodes may not occur if ONNX Runtime fuses them.
    """
    if dtype.kind == "f":
        values = random.normal(0, 1, shape).astype(dtype)
        limits = np.finfo(str(dtype))
        special = np.array(
            [
                *(np.nan, np.inf, -np.inf, -0.0, 0.0, -1.0, 1.0, 0.5, -0.5, 1.5, 2.5),
                *(limits.smallest_subnormal, limits.tiny),
            ],
            dtype,
        )
    else:
        info = np.iinfo(str(dtype))
        low, high = int(info.min), int(info.max)
        values = random.integers(max(low, -100), min(high, 100), shape, endpoint=True).astype(dtype)
        special = np.array([low, high, low + 1, high - 1, 0, 1], dtype)
    if not extremes:
        return np.asarray(values)
    chosen = random.random(shape) < 0.25
    return np.asarray(np.where(chosen, special[random.integers(0, len(special), shape)], values))


def _structured(port: OnnxPort, random: np.random.Generator) -> Array:
    """Zeros, ones, a ramp, or a single one among zeros."""
    flat = np.zeros(int(np.prod(port.shape)), port.dtype)
    match random.integers(4):
        case 1:
            flat[:] = 1
        case 2:
            # the remainder keeps the ramp within the range of the narrowest types
            flat[:] = np.arange(flat.size) % 100
        case 3:
            flat[random.integers(flat.size)] = 1
    return flat.reshape(port.shape)
