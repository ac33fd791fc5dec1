"""The picture sample: a drawing of a lake at dusk, and a DxDispatch program that processes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Json: TypeAlias = dict[str, object]

WIDTH, HEIGHT = 160, 120
SAMPLES_PER_PIXEL = 4
HORIZON = 76.0
SUN = (113.0, 57.0)
PEAKS = ((0, 58), (14, 44), (22, 51), (37, 31), (52, 50), (62, 45), (78, 60), (96, 52), (118, 64), (136, 49), (160, 62))
HILLS = ((0, 66), (20, 62), (44, 69), (70, 72), (92, 71), (120, 73), (140, 67), (160, 64))
PINES = ((6, 114, 40), (18, 118, 29), (29, 119, 20), (139, 119, 19), (149, 117, 31), (158, 116, 24))


def draw() -> npt.NDArray[np.uint8]:
    """The picture, height by width by red, green and blue."""
    step = 1 / SAMPLES_PER_PIXEL
    x, y = np.meshgrid(np.arange(step / 2, WIDTH, step), np.arange(step / 2, HEIGHT, step))
    fine = _foreground(_boat(_lake(x, y), x, y), x, y)
    pixels: Floats = fine.reshape(HEIGHT, SAMPLES_PER_PIXEL, WIDTH, SAMPLES_PER_PIXEL, 3).mean(axis=(1, 3))
    return np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def _paint(below: Floats, colour: Sequence[float] | Floats, cover: npt.ArrayLike) -> Floats:
    alpha = np.asarray(cover, np.float64)[..., None]
    return below * (1 - alpha) + np.asarray(colour) * alpha


def _land(x: Floats, y: Floats) -> Floats:
    """Sky, sun, clouds and mountains; also what the lake mirrors."""
    height = np.clip(y / HORIZON, 0, 1)
    stops = (0.0, 0.45, 0.8, 1.0)
    sky = np.stack(
        [
            np.interp(height, stops, (0.09, 0.36, 0.93, 1.00)),
            np.interp(height, stops, (0.14, 0.34, 0.55, 0.80)),
            np.interp(height, stops, (0.34, 0.55, 0.42, 0.55)),
        ],
        axis=-1,
    )
    distance = np.hypot(x - SUN[0], y - SUN[1])
    picture = _paint(sky, (1.0, 0.86, 0.60), 0.55 * np.exp(-distance / 16))
    picture = _paint(picture, (1.0, 0.95, 0.76), distance < 10)
    for centre, top, width, thickness in ((34, 17, 26, 2.0), (50, 20, 17, 1.6), (121, 28, 30, 1.8), (96, 33, 16, 1.2)):
        cloud = 1 - ((x - centre) / width) ** 2 - ((y - top) / thickness) ** 2
        picture = _paint(picture, (0.98, 0.72, 0.60), 0.8 * np.clip(2 * cloud, 0, 1))
    ridge = _outline(x, PEAKS) + 0.7 * np.sin(1.7 * x) + 0.4 * np.sin(4.3 * x)
    picture = _paint(picture, (0.40, 0.33, 0.50), y > ridge)
    snow_line = 47 + 2.2 * np.sin(0.9 * x) + 1.4 * np.sin(2.6 * x)
    picture = _paint(picture, (0.93, 0.86, 0.90), (y > ridge) & (y < snow_line))
    hills = _outline(x, HILLS) + 0.5 * np.sin(2.9 * x)
    return _paint(picture, (0.20, 0.20, 0.34), y > hills)


def _outline(x: Floats, corners: Sequence[tuple[int, int]]) -> Floats:
    return np.interp(x, [corner[0] for corner in corners], [corner[1] for corner in corners])


def _lake(x: Floats, y: Floats) -> Floats:
    depth = np.clip(y - HORIZON, 0, None)
    ripple = np.sin(3.4 * y + 0.35 * np.sin(0.25 * x)) * (0.4 + 0.06 * depth)
    mirrored = _land(x + 1.6 * ripple, HORIZON - depth * 1.35 - 0.8 * ripple)
    water = _paint(mirrored * (0.80, 0.84, 0.92), (0.07, 0.13, 0.27), 0.25 + 0.010 * depth)
    glitter = np.abs(x - SUN[0]) < 3 + 0.22 * depth + 2 * np.sin(1.3 * y)
    water = _paint(water, (1.0, 0.86, 0.58), 0.75 * (glitter & (np.sin(3.4 * y + 0.2 * x) > 0.35)))
    return np.where((y > HORIZON)[..., None], water, _land(x, y))


def _triangle(x: Floats, y: Floats, *corners: tuple[float, float]) -> npt.NDArray[np.bool_]:
    sides = []
    for (ax, ay), (bx, by) in zip(corners, (*corners[1:], corners[0]), strict=True):
        sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0)
    return np.asarray(np.all(sides, axis=0) | ~np.any(sides, axis=0))


def _boat(picture: Floats, x: Floats, y: Floats) -> Floats:
    shadow = (np.abs(x - 62) < 12 - 0.9 * (y - 97)) & (y > 97) & (y < 106) & (np.sin(3.4 * y) > -0.3)
    picture = _paint(picture, (0.16, 0.10, 0.18), 0.7 * shadow)
    picture = _paint(picture, (0.55, 0.13, 0.15), (y > 92) & (y < 97) & (np.abs(x - 62) < 13 - 0.9 * (y - 92)))
    picture = _paint(picture, (0.95, 0.93, 0.88), (y > 92) & (y < 93) & (np.abs(x - 62) < 13))
    picture = _paint(picture, (0.98, 0.95, 0.89), _triangle(x, y, (62.6, 62), (62.6, 90.5), (76, 90.5)))
    picture = _paint(picture, (0.96, 0.55, 0.25), _triangle(x, y, (60.6, 66), (60.6, 90.5), (50, 90.5)))
    return _paint(picture, (0.24, 0.14, 0.12), (np.abs(x - 61.6) < 0.5) & (y > 59) & (y < 92))


def _foreground(picture: Floats, x: Floats, y: Floats) -> Floats:
    dark = (0.04, 0.07, 0.11)
    shore = 122 - 9 * np.exp(-(((x - 8) / 24) ** 2)) - 8 * np.exp(-(((x - 153) / 17) ** 2)) + 0.5 * np.sin(2.2 * x)
    picture = _paint(picture, dark, y > shore)
    for centre, foot, size in PINES:
        down = (y - (foot - size)) / size
        tiers = 0.55 + 0.45 * np.mod(down * 5, 1)
        picture = _paint(picture, dark, (np.abs(x - centre) < 0.22 * size * down * tiers) & (down > 0) & (down <= 1))
        picture = _paint(picture, dark, (np.abs(x - centre) < 0.03 * size) & (down > 0.5) & (y < foot + 3))
    return picture


def model() -> Json:
    """Four pictures in one: as drawn, sharpened, in ink, in tiles; each twice as large as the drawing."""
    return {
        "resources": _resources(),
        "dispatchables": {
            "pad": _operator(
                "PADDING",
                InputTensor=_tensor(1, 3, 120, 160),
                OutputTensor=_tensor(1, 3, 124, 164),
                PaddingMode="REFLECTION",
                PaddingValue=0,
                DimensionCount=4,
                StartPadding=[0, 0, 2, 2],
                EndPadding=[0, 0, 2, 2],
            ),
            "sharpen": _convolution("sharpening", (3, 124, 164), (3, 1, 5, 5), groups=3),
            "brightness": _convolution("luma", (3, 124, 164), (1, 3, 1, 1)),
            # the slope in each of eight directions; their sum is the steepness
            "slopes": _convolution("compass", (1, 124, 164), (8, 1, 3, 3), activation="ACTIVATION_RELU"),
            "steepness": _convolution("shares", (8, 122, 162), (1, 8, 1, 1)),
            "thicken": _max_pooling((1, 1, 122, 162), (1, 1, 120, 160), window=3, stride=1),
            "ink_on_paper": _operator(
                "ELEMENT_WISE_CLIP",
                InputTensor=_tensor(1, 1, 120, 160),
                OutputTensor=_tensor(1, 1, 120, 160),
                ScaleBias={"Scale": -1.25, "Bias": 1.05},
                Min=0,
                Max=1,
            ),
            "brightest_of_tile": _max_pooling((1, 3, 120, 160), (1, 3, 15, 20), window=8, stride=8),
            "tiles": _resample("NEAREST_NEIGHBOR", (3, 15, 20), 16),
            "double": _resample("LINEAR", (3, 120, 160), 2),
            "double_ink": _resample("LINEAR", (1, 120, 160), 2),
            "side_by_side": _join([_tensor(1, 3, 240, 320)] * 2, (1, 3, 240, 640), axis=3),
            # the ink drawing has one channel; a stride of 0 reads it three times
            "ink_beside_tiles": _join(
                [
                    {**_tensor(1, 3, 240, 320), "Strides": [76800, 0, 320, 1]},
                    _tensor(1, 3, 240, 320),
                ],
                (1, 3, 240, 640),
                axis=3,
            ),
            "one_above_the_other": _join([_tensor(1, 3, 240, 640)] * 2, (1, 3, 480, 640), axis=2),
        },
        "commands": _commands(),
    }


def _commands() -> list[Json]:
    return [
        _dispatch("pad", InputTensor="picture", OutputTensor="padded"),
        _dispatch("sharpen", InputTensor="padded", OutputTensor="sharp"),
        _dispatch("brightness", InputTensor="padded", OutputTensor="grey"),
        _dispatch("slopes", InputTensor="grey", OutputTensor="gradient"),
        _dispatch("steepness", InputTensor="gradient", OutputTensor="edges"),
        _dispatch("thicken", InputTensor="edges", OutputTensor="ink"),
        _dispatch("ink_on_paper", InputTensor="ink", OutputTensor="ink"),
        _dispatch("brightest_of_tile", InputTensor="picture", OutputTensor="colours"),
        _dispatch("tiles", InputTensor="colours", OutputTensor="large_tiles"),
        _dispatch("double", InputTensor="picture", OutputTensor="large_picture"),
        _dispatch("double", InputTensor="sharp", OutputTensor="large_sharp"),
        _dispatch("double_ink", InputTensor="ink", OutputTensor="large_ink"),
        _dispatch("side_by_side", InputTensors=["large_picture", "large_sharp"], OutputTensor="upper"),
        _dispatch("ink_beside_tiles", InputTensors=["large_ink", "large_tiles"], OutputTensor="lower"),
        _dispatch("one_above_the_other", InputTensors=["upper", "lower"], OutputTensor="result"),
        {"type": "writeFile", "resource": "result", "targetPath": "result.png", "dimensions": [1, 3, 480, 640]},
    ]


def _resources() -> Json:
    blur = np.outer((1, 4, 6, 4, 1), (1, 4, 6, 4, 1)) / 256
    sharpening = -1.5 * blur
    sharpening[2, 2] += 2.5
    slope = np.outer((1, 2, 1), (-1, 0, 1)) / 2
    angles = np.arange(8)[:, None, None] * np.pi / 4
    compass = np.cos(angles) * slope + np.sin(angles) * slope.T
    empty = {
        "padded": 3 * 124 * 164,
        "sharp": 3 * 120 * 160,
        "grey": 124 * 164,
        "gradient": 8 * 122 * 162,
        "edges": 122 * 162,
        "ink": 120 * 160,
        "colours": 3 * 15 * 20,
        "large_tiles": 3 * 240 * 320,
        "large_picture": 3 * 240 * 320,
        "large_sharp": 3 * 240 * 320,
        "large_ink": 240 * 320,
        "upper": 3 * 240 * 640,
        "lower": 3 * 240 * 640,
        "result": 3 * 480 * 640,
    }
    return {
        "picture": {
            "initialValuesDataType": "FLOAT32",
            "initialValues": {"sourcePath": "lake.png"},
            "resampleSize": [1, 3, HEIGHT, WIDTH],
        },
        "sharpening": _floats(np.tile(sharpening.ravel(), 3)),
        "luma": _floats(np.array([0.299, 0.587, 0.114])),
        "compass": _floats(compass.round(6).ravel()),
        "shares": _floats(np.full(8, 0.4)),
        **{
            name: {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 0}}
            for name, count in empty.items()
        },
    }


def _floats(values: Floats) -> Json:
    return {"initialValuesDataType": "FLOAT32", "initialValues": values.tolist()}


def _tensor(*sizes: int) -> Json:
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


def _operator(kind: str, **fields: object) -> Json:
    return {"type": kind, "desc": fields}


def _convolution(
    weights: str,
    inputs: tuple[int, int, int],
    filters: tuple[int, int, int, int],
    groups: int = 1,
    activation: str = "",
) -> Json:
    """A convolution without padding, since the picture is padded already, with a constant filter."""
    _, height, width = inputs
    operator = _operator(
        "CONVOLUTION",
        InputTensor=_tensor(1, *inputs),
        FilterTensor={**_tensor(*filters), "Flags": "OWNED_BY_DML"},
        OutputTensor=_tensor(1, filters[0], height - filters[2] + 1, width - filters[3] + 1),
        Mode="CROSS_CORRELATION",
        Direction="FORWARD",
        DimensionCount=2,
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        OutputPadding=[0, 0],
        GroupCount=groups,
        **({"FusedActivation": {"Type": activation}} if activation else {}),
    )
    return {**operator, "bindings": {"FilterTensor": weights}}


def _max_pooling(inputs: tuple[int, ...], outputs: tuple[int, ...], window: int, stride: int) -> Json:
    return _operator(
        "MAX_POOLING",
        InputTensor=_tensor(*inputs),
        OutputTensor=_tensor(*outputs),
        DimensionCount=2,
        Strides=[stride, stride],
        WindowSize=[window, window],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
    )


def _resample(mode: str, sizes: tuple[int, int, int], factor: int) -> Json:
    """Enlarges by an integer factor with aligned pixel centers."""
    channels, height, width = sizes
    return _operator(
        "RESAMPLE1",
        InputTensor=_tensor(1, *sizes),
        OutputTensor=_tensor(1, channels, height * factor, width * factor),
        InterpolationMode=mode,
        DimensionCount=4,
        Scales=[1, 1, factor, factor],
        InputPixelOffsets=[0.5] * 4,
        OutputPixelOffsets=[-0.5] * 4,
    )


def _join(inputs: list[Json], output: tuple[int, ...], axis: int) -> Json:
    return _operator("JOIN", InputCount=len(inputs), InputTensors=inputs, OutputTensor=_tensor(*output), Axis=axis)


def _dispatch(dispatchable: str, **bindings: object) -> Json:
    return {"type": "dispatch", "dispatchable": dispatchable, "bindings": bindings}
