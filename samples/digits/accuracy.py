"""How many of the 360 test digits the network reads right: the Python interface on ``model.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dml2onnx

Array = npt.NDArray[Any]
HERE = Path(__file__).resolve().parent


def main() -> None:
    """Compiles and runs the network, and shows a few digits, among them those that it gets wrong."""
    images = np.load(HERE / "images.npy")
    labels = np.load(HERE / "labels.npy")
    model = dml2onnx.compile(dml2onnx.load(HERE / "model.json"))
    answers = model.run({"images": images})["probabilities"].reshape(len(labels), 10)
    right = answers.argmax(axis=1) == labels
    print(f"{right.sum()} of {len(labels)} digits read right: accuracy {right.mean():.4f}\n")
    _show(images, labels, answers, [0, 1, 2, 3, *np.flatnonzero(~right)[:2]])


def _show(images: Array, labels: Array, answers: Array, chosen: list[int]) -> None:
    """A few digits side by side, dark to bright."""
    for row in range(8):
        print("   ".join("".join(2 * " .:*#"[int(pixel) * 4 // 16] for pixel in images[i, 0, row]) for i in chosen))
    captions = [f"{labels[i]} → {answers[i].argmax()} ({answers[i].max():.0%})" for i in chosen]
    print("   ".join(f"{caption:16}" for caption in captions))


if __name__ == "__main__":
    main()
