"""The C++ sample: weights of two convolutions that enlarge and sharpen a picture, and the picture.

The first convolution interpolates at the four new pixel positions, by cubic and by linear filters; the second sharpens
the cubic result by unsharp masking with a blur of the linear one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import _sample_picture
import numpy as np
import numpy.typing as npt
from _sample_picture import Floats

Singles: TypeAlias = npt.NDArray[np.float32]

TOP, LEFT, HEIGHT, WIDTH = 40, 80, 48, 64
SHARPNESS = 0.6
GREY = (0.299, 0.587, 0.114)


def picture() -> Singles:
    """A part of the drawing in grey, shape (1, 1, 48, 64), values from 0 to 1."""
    part = _sample_picture.draw()[TOP : TOP + HEIGHT, LEFT : LEFT + WIDTH] / 255
    grey: Floats = part @ np.array(GREY)
    return grey.astype(np.float32)[None, None]


def weights() -> dict[str, Singles]:
    """Filters and biases in file order."""
    kernels = [_kernel(weigh, y, x) for weigh in (_cubic, _linear) for y in (-0.25, 0.25) for x in (-0.25, 0.25)]
    first = np.stack(kernels)[:, None]
    second = np.zeros((4, 8, 3, 3))
    blur = np.outer((1, 2, 1), (1, 2, 1)) / 16
    for phase in range(4):
        second[phase, phase, 1, 1] = 1 + SHARPNESS
        second[phase, 4 + phase] = -SHARPNESS * blur
    arrays = {"filter1": first, "bias1": np.zeros(8), "filter2": second, "bias2": np.zeros(4)}
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _kernel(weigh: Callable[[Floats], Floats], y: float, x: float) -> Floats:
    places = np.arange(-2, 3)
    return np.outer(weigh(np.abs(places - y)), weigh(np.abs(places - x)))


def _linear(distance: Floats) -> Floats:
    return np.maximum(1 - distance, 0)


def _cubic(distance: Floats) -> Floats:
    """The Catmull-Rom kernel."""
    near = 1.5 * distance**3 - 2.5 * distance**2 + 1
    far = -0.5 * distance**3 + 2.5 * distance**2 - 4 * distance + 2
    return np.where(distance < 1, near, np.where(distance < 2, far, 0))
