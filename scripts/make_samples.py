"""Generates the samples: draws the picture, trains the network that reads digits, writes the models.

    python scripts/make_samples.py            needs scikit-learn for its digits data set
    python scripts/make_samples.py --check    compares the picture, the models and what they compute

The last bits of trained weights depend on the machine, so the check tests their accuracy.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import textwrap
from pathlib import Path

import _sample_broken
import _sample_cpp
import _sample_digits
import _sample_picture
import numpy as np
import numpy.typing as npt
from PIL import Image

import dml2onnx
from dml2onnx.execution import execute, write_effect

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
PICTURE, DIGITS, BROKEN, CPP = SAMPLES / "picture", SAMPLES / "digits", SAMPLES / "broken", SAMPLES / "cpp"
MODELS = {PICTURE: _sample_picture.model, DIGITS: _sample_digits.model, BROKEN: _sample_broken.model}
ACCURACY = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes or checks the samples.")
    parser.add_argument("--check", action="store_true", help="compare with the existing files, write nothing")
    if parser.parse_args().check:
        differences = check()
        print("\n".join(differences) or "the samples are what scripts/make_samples.py makes")
        return 1 if differences else 0
    make()
    return 0


def make() -> None:
    """Writes everything below ``samples/``."""
    for directory, model in MODELS.items():
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "model.json").write_text(layout(model()) + "\n", encoding="utf-8", newline="\n")
    Image.fromarray(_sample_picture.draw()).save(PICTURE / "lake.png", optimize=True)
    _run_picture(PICTURE)
    images, labels, test_images, test_labels = _sample_digits.data()
    weights = _sample_digits.train(images, labels)
    (DIGITS / "weights.bin").write_bytes(b"".join(weights[name].astype("<f4").tobytes() for name in weights))
    np.save(DIGITS / "images.npy", test_images)
    np.save(DIGITS / "labels.npy", test_labels.astype(np.uint8))
    (CPP / "weights.bin").write_bytes(_cpp_weights())
    np.save(CPP / "picture.npy", _sample_cpp.picture())
    print(f"accuracy on {len(test_labels)} test digits: {accuracy():.4f}")


def check() -> list[str]:
    """Describes the files that differ from what :func:`make` would write."""
    differences = [
        f"{directory / 'model.json'} differs"
        for directory, model in MODELS.items()
        if (directory / "model.json").read_text(encoding="utf-8") != layout(model()) + "\n"
    ]
    if _distance(_sample_picture.draw(), _pixels(PICTURE / "lake.png")) > 1:
        differences.append(f"{PICTURE / 'lake.png'} differs from the drawing")
    with tempfile.TemporaryDirectory() as directory:
        if _distance(_pixels(_run_picture(Path(directory))), _pixels(PICTURE / "result.png")) > 1:
            differences.append(f"{PICTURE / 'result.png'} differs from what the model computes")
    if (CPP / "weights.bin").read_bytes() != _cpp_weights():
        differences.append(f"{CPP / 'weights.bin'} differs")
    if np.abs(np.load(CPP / "picture.npy") - _sample_cpp.picture()).max() > 1 / 255:
        differences.append(f"{CPP / 'picture.npy'} differs from the drawing")
    reached = accuracy()
    if reached < ACCURACY:
        differences.append(f"the digits are read with accuracy {reached:.4f}, less than {ACCURACY}")
    return differences


def _cpp_weights() -> bytes:
    return b"".join(array.astype("<f4").tobytes() for array in _sample_cpp.weights().values())


def accuracy() -> float:
    """The compiled model's accuracy on the test digits."""
    answers = dml2onnx.run(DIGITS / "model.json")["probabilities"].reshape(-1, _sample_digits.CLASSES)
    return float((answers.argmax(axis=1) == np.load(DIGITS / "labels.npy")).mean())


def _run_picture(directory: Path) -> Path:
    """Executes the program's writeFile command and returns the file."""
    execution = execute(dml2onnx.load(PICTURE / "model.json"), {})
    ((effect, array),) = execution.shown
    return write_effect(effect, array, directory)


def _pixels(path: Path) -> npt.NDArray[np.uint8]:
    with Image.open(path) as picture:
        return np.asarray(picture)


def _distance(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> float:
    if one.shape != other.shape:
        return np.inf
    return float(np.abs(one.astype(np.int16) - other.astype(np.int16)).max())


def layout(value: object, indent: str = "", space: int = 0, width: int = 116) -> str:
    """JSON with short values on one line and wrapped lists of numbers; ``space`` characters of the line are used."""
    short = json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list) or len(indent) + space + len(short) <= width:
        return short
    deeper = indent + "  "
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        filled = textwrap.fill(short[1:-1], width, initial_indent=deeper, subsequent_indent=deeper)
        return f"[\n{filled}\n{indent}]"
    if isinstance(value, dict):
        opening, closing = "{", "}"
        parts = []
        for key, item in value.items():
            name = f"{json.dumps(key)}: "
            parts.append(name + layout(item, deeper, len(name) + 1, width))
    else:
        opening, closing = "[", "]"
        parts = [layout(item, deeper, 1, width) for item in value]
    body = ",\n".join(deeper + part for part in parts)
    return f"{opening}\n{body}\n{indent}{closing}"


if __name__ == "__main__":
    sys.exit(main())
