"""The networks of ``scripts/bench_sizes.py`` at sizes that are small enough for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import dml2onnx
from dml2onnx.ir.graph import Graph
from tests.conftest import shared_directory

ROOT = Path(__file__).parents[2]
SHARED = (shared_directory() or Path("shared")) / "models"

sys.path.insert(0, str(ROOT / "scripts"))

import bench_sizes  # type: ignore[import-not-found]  # noqa: E402

CASES: dict[str, Any] = {case.name: case for case in bench_sizes.cases()}
SMALL = {
    name: sizes
    for name, sizes in {
        "samples/picture": {"H": 32, "W": 40},
        "samples/digits": {},
        "transformer block": {"L": 3, "P": 2},
        "decoder": {"P": 5},
        "quantised convolutions": {"H": 16, "W": 24},
        "SqueezeNet": {"H": 64, "W": 80},
        "super-resolution NCHW": {"H": 12, "W": 16},
        "super-resolution NHWC": {"H": 12, "W": 16},
        "YOLOv4": {"H": 36, "W": 64},
    }.items()
    if name in CASES
}
"""Sizes other than the batch N, for networks whose inputs and outputs have it as their first dimension."""


def picture() -> Graph:
    """The sample that sharpens an image."""
    return dml2onnx.load(ROOT / "samples/picture/model.json")


def digits() -> Graph:
    """The sample that reads digits."""
    return dml2onnx.load(ROOT / "samples/digits/model.json")
