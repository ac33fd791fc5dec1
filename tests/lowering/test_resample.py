"""RESAMPLE to RESAMPLE3 and UPSAMPLE_2D: results and ONNX forms."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import CompiledModel
from dml2onnx.ir.operator import OperatorDesc, Size2D
from dml2onnx.ir.tensor import DataType
from dml2onnx.legalise.resizing import _samples_same, _selects_same
from dml2onnx.lowering.sampling import SampledAxis, coordinates
from tests.lowering.harness import check_case, operator, operators, t

NAMES = ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
CENTRES = (0.5, -0.5)
CORNERS = (0.0, 0.0)


def resample(
    name: str,
    mode: str,
    sizes: tuple[int, ...],
    output: tuple[int, ...],
    *,
    scales: tuple[float, ...] | None = None,
    offsets: tuple[float, float] | list[tuple[float, float]] = CENTRES,
    rounding: str = "DECREASING",
    antialiased: bool = False,
    data_type: str = "FLOAT32",
    strides: tuple[int, ...] | None = None,
) -> OperatorDesc:
    """A descriptor; scales default to output / input, offsets (input, output) may differ per axis."""
    per_axis = offsets if isinstance(offsets, list) else [offsets] * len(sizes)
    fields: dict[str, Any] = {
        "InputTensor": t(data_type, sizes, strides),
        "OutputTensor": t(data_type, output),
        "InterpolationMode": mode,
        "Scales": list(scales or (o / i for o, i in zip(output, sizes, strict=True))),
    }
    if name != "RESAMPLE":
        fields |= {"InputPixelOffsets": [a for a, _ in per_axis], "OutputPixelOffsets": [b for _, b in per_axis]}
    if name in ("RESAMPLE2", "RESAMPLE3"):
        fields["RoundingDirection"] = rounding
    if name == "RESAMPLE3":
        fields["Antialiased"] = antialiased
    return operator(name, **fields)


def nearest(*args: Any, name: str = "RESAMPLE2", **fields: Any) -> OperatorDesc:
    return resample(name, "NEAREST_NEIGHBOR", *args, **fields)


def linear(*args: Any, name: str = "RESAMPLE2", **fields: Any) -> OperatorDesc:
    return resample(name, "LINEAR", *args, **fields)


# --- forms -----------------------------------------------------------------------------------------------------------


def resize(model: CompiledModel) -> dict[str, str]:
    """Returns the attributes of the only Resize, and which input has the scale."""
    (node,) = (node for node in model.lowered.nodes if node.op_type == "Resize")
    by = "sizes" if node.inputs[3:] else "scales"
    return {**{key: str(value) for key, value in node.attributes.items()}, "by": by}


IMAGE = (1, 3, 4, 5)
TWICE = (1, 3, 8, 10)
UP = (1, 3, 7, 13)
DOWN = (1, 3, 3, 2)

NEAREST_FORMS = [
    ("pixel centres, twice", nearest(IMAGE, TWICE, name="RESAMPLE"), "asymmetric", "floor"),
    ("pixel centres, twice, 1", nearest(IMAGE, TWICE, name="RESAMPLE1"), "asymmetric", "floor"),
    ("corners, twice", nearest(IMAGE, TWICE, offsets=CORNERS), "asymmetric", "floor"),
    ("corners, any scale", nearest(IMAGE, UP, offsets=CORNERS), "asymmetric", "floor"),
    ("corners, upward", nearest(IMAGE, UP, offsets=CORNERS, rounding="INCREASING"), "asymmetric", "ceil"),
    ("corners, halves up", nearest(IMAGE, UP, name="RESAMPLE1", offsets=CORNERS), "asymmetric", "round_prefer_ceil"),
    ("centres, halves up", nearest(IMAGE, UP, name="RESAMPLE1"), "half_pixel", "round_prefer_ceil"),
    ("S3: round_prefer_ceil", nearest(IMAGE, UP, offsets=(0.0, -0.5)), "half_pixel", "round_prefer_ceil"),
    (
        "S3: round_prefer_floor",
        nearest(IMAGE, UP, offsets=(1.0, -0.5), rounding="INCREASING"),
        "half_pixel",
        "round_prefer_floor",
    ),
    ("centres, down", nearest(IMAGE, UP), "half_pixel", "floor"),
    ("centres, up", nearest(IMAGE, UP, rounding="INCREASING", name="RESAMPLE3"), "half_pixel", "ceil"),
    ("8 bits", nearest(IMAGE, TWICE, name="RESAMPLE1", data_type="INT8"), "half_pixel", "floor"),
    (
        "antialiasing has no effect",
        nearest((9, 10), (4, 4), name="RESAMPLE3", antialiased=True),
        "asymmetric",
        "round_prefer_ceil",
    ),
]


@pytest.mark.parametrize(
    ("op", "coordinates", "rounding"), [pytest.param(*row[1:], id=row[0]) for row in NEAREST_FORMS]
)
def test_nearest_is_one_resize(op: OperatorDesc, coordinates: str, rounding: str) -> None:
    model = check_case(op)
    assert operators(model) == ["Resize"]
    assert resize(model) == {
        "mode": "nearest",
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": rounding,
        "by": "sizes",
    }


ALIGNED = (1.0, 1.0, 6 / 3, 12 / 4)

LINEAR_FORMS = [
    ("centres", linear(IMAGE, UP), "half_pixel", ["Resize"]),
    ("centres, shrinking", linear(IMAGE, DOWN), "half_pixel", ["Resize"]),
    ("corners", linear(IMAGE, UP, offsets=CORNERS), "asymmetric", ["Resize"]),
    ("aligned corners", linear(IMAGE, UP, scales=ALIGNED, offsets=CORNERS), "align_corners", ["Resize"]),
    ("channels last", linear((2, 4, 5, 3), (2, 9, 7, 3)), "half_pixel", ["Resize"]),
    ("image alone", linear((4, 5), (9, 7)), "half_pixel", ["Resize"]),
    ("half precision", linear(IMAGE, UP, data_type="FLOAT16"), "half_pixel", ["Cast", "Resize", "Cast"]),
    ("8 bits", linear(IMAGE, UP, data_type="UINT8"), "half_pixel", ["Cast", "Resize", "Mul", "Cast"]),
    ("signed 8 bits", linear(IMAGE, UP, data_type="INT8"), "half_pixel", ["Cast", "Resize", "Mul", "Cast"]),
    ("a row", linear((5,), (8,)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
    ("rows of a batch", linear((3, 5), (3, 8)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
    ("height only", linear(IMAGE, (1, 3, 7, 5)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
    ("volume", linear((3, 4, 5), (5, 3, 8)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
    ("batch only", linear((3, 4, 5, 2), (4, 4, 5, 2)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
    ("to one", linear((4, 6), (1, 1)), "half_pixel", ["Resize"]),
    ("half, the other kept", linear((4, 6), (4, 3)), "half_pixel", ["Reshape", "Resize", "Reshape"]),
]


@pytest.mark.parametrize(("op", "coordinates", "expected"), [pytest.param(*r[1:], id=r[0]) for r in LINEAR_FORMS])
def test_linear_is_one_resize(op: OperatorDesc, coordinates: str, expected: list[str]) -> None:
    model = check_case(op)
    assert operators(model) == expected
    assert resize(model) == {"mode": "linear", "coordinate_transformation_mode": coordinates, "by": "sizes"}


def test_scales_that_differ_from_the_ratio_of_sizes() -> None:
    near = check_case(nearest((5,), (7,), scales=(1.5,), offsets=CORNERS, rounding="INCREASING"))
    line = check_case(linear(IMAGE, (1, 3, 6, 7), scales=(1.0, 1.0, 1.7, 1.5)))
    assert (operators(near), resize(near)["by"]) == (["Resize"], "scales")
    assert (operators(line), resize(line)["by"]) == (["Resize"], "scales")


SUM = ["Mul", "Mul", "Add"]
PIECES = [
    (
        "whole scales",
        operator(
            "UPSAMPLE_2D",
            InputTensor=t("FLOAT32", IMAGE),
            OutputTensor=t("FLOAT32", (1, 3, 8, 15)),
            ScaleSize=Size2D(3, 2),
            InterpolationMode="LINEAR",
        ),
        ["Resize"],
    ),
    ("a copy", nearest((3, 4), (3, 4)), ["Identity"]),
    ("a linear copy", linear((3, 4), (3, 4)), ["Identity"]),
    ("every other element", nearest((8, 6), (4, 3), offsets=CORNERS), ["Slice"]),
    ("every third, cropped", nearest((10, 6), (2, 6), scales=(1 / 3, 1), offsets=CORNERS), ["Slice"]),
    ("a shifted window", nearest((8,), (3,), scales=(1.0,), offsets=(-2.0, 0.0)), ["Slice"]),
    ("half precision moves natively", nearest((8, 6), (4, 3), offsets=CORNERS, data_type="FLOAT16"), ["Slice"]),
    ("half precision, uneven", nearest((4,), (6,), scales=(2,), offsets=CORNERS, data_type="FLOAT16"), ["Gather"]),
    ("one element everywhere", nearest((1, 4), (5, 4)), ["Expand"]),
    ("scale of a size of 1", nearest((1, 4), (5, 4), scales=(3.4e38, 1), rounding="INCREASING"), ["Expand"]),
    ("cropped", nearest((4,), (6,), scales=(2.0,), offsets=CORNERS), ["Gather"]),
    ("the edge repeats", nearest((4,), (11,), scales=(2.0,), offsets=CORNERS), ["Gather"]),
    ("the start repeats", nearest((4,), (8,), scales=(1.0,), offsets=(2.5, 0.0)), ["Gather"]),
    ("two axes apart", nearest((4, 4), (6, 11), scales=(2, 2), offsets=CORNERS), ["Gather", "Gather"]),
    (
        "each axis in its own way",
        nearest((8, 4, 5), (4, 6, 10), scales=(0.5, 2, 2), offsets=CORNERS),
        ["Slice", "Gather", "Resize"],
    ),
    ("linear, all whole", linear((8, 6), (4, 3), offsets=CORNERS), ["Slice"]),
    ("8 bits, all whole", linear((8, 6), (4, 3), offsets=CORNERS, data_type="UINT8"), ["Slice"]),
    ("linear, one whole", linear((8, 4, 5), (4, 7, 9), offsets=CORNERS), ["Slice", "Reshape", "Resize", "Reshape"]),
    ("linear, one repeated", linear((1, 5), (4, 9)), ["Reshape", "Resize", "Reshape", "Expand"]),
    ("four axes", linear((2, 3, 4, 5), (3, 2, 7, 8)), ["Reshape", "Resize", "Reshape", "Resize", "Reshape"]),
    ("axes apart", linear((2, 3, 4, 5), (3, 3, 7, 5)), ["Reshape", "Resize", "Reshape", "Resize", "Reshape"]),
    ("three axes and channels", linear((2, 3, 4, 5), (3, 2, 7, 5)), ["Resize", "Reshape", "Resize", "Reshape"]),
    ("linear, shifted", linear((5,), (5,), offsets=(0.25, 0.0)), ["Gather", *SUM]),
    ("linear, cropped", linear((4,), (6,), scales=(2.0,)), ["Gather", "Gather", *SUM]),
    (
        "8 bits, beyond their neighbours",
        linear((5,), (5,), offsets=(1.5, 0.0), data_type="UINT8"),
        ["Cast", "Gather", "Gather", *SUM, "Clip", "Mul", "Cast"],
    ),
    (
        "8 bits, shifted",
        linear((5,), (5,), offsets=(0.25, 0.0), data_type="INT8"),
        ["Cast", "Gather", *SUM, "Mul", "Cast"],
    ),
    (
        "antialiased, halves to odd",
        linear((6,), (2,), name="RESAMPLE3", antialiased=True),
        ["Reshape", "Resize", "Resize", "Reshape"],
    ),
    (
        "antialiased, odd",
        linear((1, 1, 7, 5), (1, 1, 3, 2), name="RESAMPLE3", antialiased=True),
        ["Resize", "Resize"],
    ),
    (
        "antialiased, every second one",
        linear((9, 8), (9, 2), offsets=(0.0, 0.0), name="RESAMPLE3", antialiased=True),
        ["Slice"],
    ),
    ("antialiased, a half", linear((6, 8), (3, 4), name="RESAMPLE3", antialiased=True), ["Resize"]),
]


@pytest.mark.parametrize(("op", "expected"), [pytest.param(*row[1:], id=row[0]) for row in PIECES])
def test_pieces(op: OperatorDesc, expected: list[str]) -> None:
    assert operators(check_case(op)) == expected


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_gather_for_inexact_ties() -> None:
    """Whether 4 / (8 / 7) is a half depends on rounding; 15 by 0.3, less a half, is one only by the reciprocal."""
    op = nearest((7,), (8,), name="RESAMPLE1", offsets=CORNERS)
    model = check_case(op)
    assert operators(model) == ["Resize"]
    assert resize(model)["nearest_mode"] == "round_prefer_floor"
    assert operators(check_case(nearest((20,), (6,), scales=(0.3,), name="RESAMPLE1"))) == ["Gather"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rounding", ["INCREASING", "DECREASING"])
@pytest.mark.parametrize("scale", [0.3, 0.9, 1.3, 1.7, 7.0])
def test_nearest_multiplies_by_the_reciprocal(name: str, rounding: str, scale: float) -> None:
    """Division by Scale gives other elements [decision S17]."""
    for offsets in (CORNERS, CENTRES):
        check_case(nearest((40,), (int(40 * scale),), scales=(scale,), name=name, offsets=offsets, rounding=rounding))


INFINITE = np.array([np.inf, -np.inf, np.nan, 1, 0, -2])


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", ["RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"])
@pytest.mark.parametrize(
    ("sizes", "to"),
    [((3,), (9,)), ((4,), (8,)), ((6,), (9,)), ((9,), (3,)), ((3, 3), (6, 9)), ((2, 1, 4, 3), (2, 1, 8, 9))],
)
def test_infinities_with_a_weight_of_0(name: str, sizes: tuple[int, ...], to: tuple[int, ...], data_type: str) -> None:
    """An infinity next to a whole coordinate is multiplied by 0 or not read; both are allowed."""
    rng = np.random.default_rng(0)
    op = linear(sizes, to, name=name, data_type=data_type)
    for share in (0.1, 0.3, 1.0):
        for _ in range(4):
            x = np.where(rng.random(sizes) < share, rng.choice(INFINITE, sizes), rng.normal(0, 2, sizes))
            check_case(op, inputs={"InputTensor": x.astype(DataType[data_type].dtype)})


@pytest.mark.parametrize(("size", "output"), [(4, 3), (2, 2), (2, 4), (9, 8), (9, 5), (9, 10), (1, 3)])
def test_antialiasing_with_an_enlarging_axis(size: int, output: int) -> None:
    op = linear((3, size), (3, output), scales=(2, 0.25), name="RESAMPLE3", antialiased=True)
    check_case(op)


@pytest.mark.parametrize("offsets", [(0.5, 0.0), (0.0, -0.5), (0.0, 0.0), (1.0, 0.25)])
@pytest.mark.parametrize("data_type", ["FLOAT32", "UINT8"])
def test_antialiasing_with_offsets(offsets: tuple[float, float], data_type: str) -> None:
    """Offsets apply in every stage, to every axis."""
    how: dict[str, Any] = {"offsets": offsets, "data_type": data_type, "name": "RESAMPLE3", "antialiased": True}
    for sizes, output, scales in (((9, 4), (2, 4), None), ((17, 5), (2, 4), (0.1, 2.0)), ((6, 9), (3, 2), (0.25, 1.0))):
        for exact in (True, False):
            check_case(linear(sizes, output, scales=scales, **how), exact=exact)


@pytest.mark.parametrize("scale", [1e-45, 1e-3, 0.02, 0.3])
def test_tiny_scales_end(scale: float) -> None:
    check_case(linear((9, 4), (5, 4), scales=(scale, 1), name="RESAMPLE3", antialiased=True))
    check_case(nearest((9, 4), (5, 4), scales=(scale, 1), name="RESAMPLE1"))


def test_enormous_scale_takes_the_first_element() -> None:
    for mode, name in itertools.product(("NEAREST_NEIGHBOR", "LINEAR"), NAMES[1:]):
        op = resample(name, mode, (3,), (4,), scales=(3.4e38,), offsets=CORNERS, rounding="INCREASING")
        check_case(op)


@pytest.mark.parametrize("offsets", [CENTRES, CORNERS, (0.25, 0.125), (0.3, 0.1)], ids=str)
def test_constant_8_bit_images_stay_constant(offsets: tuple[float, float]) -> None:
    shades = np.broadcast_to(np.arange(256)[:, None, None], (256, 5, 7))
    for height, width in ((3, 11), (13, 9), (7, 5)):
        pairs = [CORNERS, offsets, offsets]
        op = linear((256, 5, 7), (256, height, width), offsets=pairs, data_type="UINT8")
        check_case(op, inputs={"InputTensor": shades.astype(np.uint8)})
    volumes = np.broadcast_to(np.arange(-128, 128)[:, None, None, None], (256, 3, 4, 5))
    op = linear((256, 3, 4, 5), (256, 5, 7, 9), offsets=[CORNERS, offsets, offsets, offsets], data_type="INT8")
    check_case(op, inputs={"InputTensor": volumes.astype(np.int8)})


# --- memory, constants, versions, targets ----------------------------------------------------------------------------


def test_broadcast_elements_are_resampled_once() -> None:
    row = linear((1, 3, 4, 5), (1, 3, 8, 10), strides=(0, 0, 0, 1))
    assert operators(check_case(row)) == ["Resize", "Expand"]
    plane = nearest((1, 3, 4, 5), (1, 3, 8, 10), strides=(20, 0, 5, 1), name="RESAMPLE1")
    assert operators(check_case(plane)) == ["Resize", "Expand"]


@pytest.mark.parametrize(
    "op",
    [
        nearest(IMAGE, TWICE, name="RESAMPLE1"),
        nearest(IMAGE, TWICE, name="RESAMPLE1", data_type="FLOAT16"),
        linear(IMAGE, UP, data_type="INT8"),
        linear((7, 9), (3, 2), name="RESAMPLE3", antialiased=True),
        linear(IMAGE, UP, offsets=(0.3, 0.1), strides=(60, 1, 15, 3)),
    ],
    ids=str,
)
def test_constants_fold(op: OperatorDesc) -> None:
    assert operators(check_case(op, constants=["InputTensor"])) == ["Identity"]


def test_equal_descriptors_are_analysed_once() -> None:
    check_case(linear(IMAGE, UP))
    caches: tuple[Any, ...] = (_samples_same, _selects_same)
    before = [cache.cache_info().misses for cache in caches]
    check_case(linear(IMAGE, UP), seed=1)
    assert [cache.cache_info().misses for cache in caches] == before


def test_memory_of_the_coordinate_cache() -> None:
    tracemalloc.start()
    try:
        for size in range(50_000, 50_200):
            coordinates(SampledAxis(size, size, 1.0, 0.5, -0.5))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 8 << 20, "all of them are 40 MB"
