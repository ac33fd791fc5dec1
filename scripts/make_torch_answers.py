"""What PyTorch computes for the networks of tests/pydirectml/programs, kept in tests/pydirectml/answers, and for the
operators of tests/reference/torch_cases.py, kept in tests/reference/torch_answers.npz.

    python scripts/make_torch_answers.py            # writes the answers
    python scripts/make_torch_answers.py --check    # computes them again and compares

Needs PyTorch, which the tests do without: each file of answers holds the SHA-256 of the program or the cases, and of
the script, that it was made for. Weights, pictures and operands are random numbers from a seed, and are made anew by
whoever needs them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "pydirectml" / "programs"
ANSWERS = ROOT / "tests" / "pydirectml" / "answers"
REFERENCE = ROOT / "tests" / "reference"
DIGEST = "sha256"
TOLERANCE = 1e-5
"""Between versions of PyTorch and processors."""

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Tensors: TypeAlias = Mapping[str, Any]
"""The same as tensors of PyTorch."""


class Maker:
    """Random arrays by name."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def normal(self, name: str, *shape: int, scale: float = 1.0, mean: float = 0.0) -> None:
        """Numbers around ``mean``."""
        numbers = self._random.standard_normal(shape) * scale + mean
        self.arrays[name] = numbers.astype(np.float32)

    def uniform(self, name: str, *shape: int, low: float, high: float) -> None:
        """Numbers from ``low`` to ``high``."""
        self.arrays[name] = self._random.uniform(low, high, shape).astype(np.float32)

    def filter(self, name: str, *shape: int) -> None:
        """Weights that keep the size of what they weigh."""
        self.normal(name, *shape, scale=float(np.sqrt(2 / np.prod(shape[1:]))))


# --- The classifier -------------------------------------------------------------------------------------------------


def classifier_arrays() -> Arrays:
    make = Maker(1)
    make.uniform("image", 3, 32, 32, low=0, high=255)  # no batch: only the bytes count
    for name, outputs, inputs, window in (
        ("stem", 16, 3, 3),
        ("squeeze", 8, 16, 1),
        ("expand1", 16, 8, 1),
        ("expand3", 16, 8, 3),
        ("first", 32, 32, 3),
        ("second", 32, 32, 3),
    ):
        make.filter(f"{name}.weight", outputs, inputs, window, window)
        make.normal(f"{name}.bias", outputs, scale=0.1)
    for name in ("first_norm", "second_norm"):
        make.normal(f"{name}.mean", 32, scale=0.2)
        make.uniform(f"{name}.variance", 32, low=0.5, high=2)
        make.uniform(f"{name}.scale", 32, low=0.5, high=1.5)
        make.normal(f"{name}.bias", 32, scale=0.1)
    make.filter("classify.weight", 10, 32)
    make.normal("classify.bias", 10)
    return make.arrays


def classifier(w: Tensors) -> Tensors:
    import torch
    from torch.nn import functional as f

    def convolution(x: Any, name: str, **options: Any) -> Any:
        weight = w[f"{name}.weight"]
        return f.conv2d(x, weight, w[f"{name}.bias"], padding=weight.shape[-1] // 2, **options)

    def normalized(x: Any, name: str) -> Any:
        mean, variance, scale, bias = (w[f"{name}.{part}"] for part in ("mean", "variance", "scale", "bias"))
        return f.batch_norm(x, mean, variance, scale, bias, eps=1e-5)

    x = w["image"][None] / 64 + w["image"].new_tensor([-1.9, -1.8, -1.6]).reshape(1, 3, 1, 1)
    x = f.relu(convolution(x, "stem", stride=2))
    x = f.local_response_norm(x, 5, alpha=0.2, beta=0.75, k=1.0)
    x = f.max_pool2d(x, 3, 2, ceil_mode=True)
    squeezed = f.relu(convolution(x, "squeeze"))
    x = torch.cat([f.relu(convolution(squeezed, "expand1")), f.relu(convolution(squeezed, "expand3"))], 1)
    y = f.relu(normalized(convolution(x, "first"), "first_norm"))
    x = f.relu(x + normalized(convolution(y, "second"), "second_norm"))
    x = x.mean((2, 3)) @ w["classify.weight"].T + w["classify.bias"]
    return {"probabilities": x.softmax(1).reshape(-1)}


# --- Style transfer -------------------------------------------------------------------------------------------------


def style_transfer_arrays() -> Arrays:
    make = Maker(2)
    make.uniform("picture", 3, 24, 24, low=0, high=1)
    blocks = ("block0.a", "block0.b", "block1.a", "block1.b")
    for name, outputs, inputs, window in (
        ("enter", 8, 3, 9),
        ("down", 16, 8, 3),
        *((block, 16, 16, 3) for block in blocks),
        ("leave", 3, 8, 9),
    ):
        make.filter(f"{name}.weight", outputs, inputs, window, window)
        make.uniform(f"{name}.scale", outputs, low=0.5, high=1.5)
        make.normal(f"{name}.bias", outputs, scale=0.2)
    make.filter("up.weight", 16, 8, 3, 3)
    make.uniform("up.scale", 8, low=0.5, high=1.5)
    make.normal("up.bias", 8, scale=0.2)
    return make.arrays


def style_transfer(w: Tensors) -> Tensors:
    from torch.nn import functional as f

    def normalized(x: Any, name: str) -> Any:
        return f.instance_norm(x, weight=w[f"{name}.scale"], bias=w[f"{name}.bias"], eps=1e-5)

    def convolution(x: Any, name: str, **options: Any) -> Any:
        return normalized(f.conv2d(x, w[f"{name}.weight"], **options), name)

    x = f.pad(w["picture"][None], (8, 8, 8, 8), mode="reflect")
    x = f.relu(convolution(x, "enter", padding=4))
    x = f.relu(convolution(x, "down", stride=2, padding=1))
    for block in ("block0", "block1"):
        x = x[:, :, 2:-2, 2:-2] + convolution(f.relu(convolution(x, f"{block}.a")), f"{block}.b")
    x = f.conv_transpose2d(x, w["up.weight"], stride=2, output_padding=1)
    x = f.relu(normalized(x, "up"))[:, :, 1:-1, 1:-1]
    return {"picture": convolution(x, "leave", padding=4).tanh() * 0.5 + 0.5}


# --- Digits ---------------------------------------------------------------------------------------------------------


def digit_recognizer_arrays() -> Arrays:
    make = Maker(3)
    make.uniform("image", 1, 1, 28, 28, low=0, high=1)
    make.filter("filter1", 8, 1, 5, 5)
    make.normal("bias1", 8, scale=0.1)
    make.filter("filter2", 16, 8, 5, 5)
    make.normal("bias2", 16, scale=0.1)
    make.normal("weight", 16, 4, 4, 10, scale=0.1)
    make.normal("bias3", 10)
    return make.arrays


def digit_recognizer(w: Tensors) -> Tensors:
    from torch.nn import functional as f

    x = f.max_pool2d(f.relu(f.conv2d(w["image"], w["filter1"], w["bias1"], padding=2)), 2)
    x = f.max_pool2d(f.relu(f.conv2d(x, w["filter2"], w["bias2"], padding=2)), 3)
    return {"scores": (x.reshape(1, 256) @ w["weight"].reshape(256, 10) + w["bias3"]).reshape(-1)}


# --- Super-resolution -----------------------------------------------------------------------------------------------


def super_resolution_arrays() -> Arrays:
    make = Maker(4)
    make.uniform("picture", 1, 1, 20, 20, low=0, high=1)
    for number, outputs, inputs, window in ((1, 16, 1, 5), (2, 16, 16, 3), (3, 8, 16, 3), (4, 9, 8, 3)):
        make.filter(f"conv{number}.weight", outputs, inputs, window, window)
        make.normal(f"conv{number}.bias", 1, outputs, 1, 1, scale=0.1)
    return make.arrays


def super_resolution(w: Tensors) -> Tensors:
    from torch.nn import functional as f

    def convolution(x: Any, number: int) -> Any:
        weight = w[f"conv{number}.weight"]
        return f.conv2d(x, weight, w[f"conv{number}.bias"].reshape(-1), padding=weight.shape[-1] // 2)

    x = convolution(w["picture"], 1).relu()
    x = convolution(convolution(x, 2).tanh(), 3).sigmoid()
    details = f.pixel_shuffle(convolution(x, 4), 3)
    smooth = f.interpolate(w["picture"], scale_factor=3, mode="bilinear", align_corners=False)
    return {"picture": smooth + details * 0.25, "details": details}


# --- Gated recurrence -----------------------------------------------------------------------------------------------

STEPS, BATCH, FEATURES, HIDDEN = 7, 3, 5, 6


def gated_recurrence_arrays() -> Arrays:
    make = Maker(5)
    make.normal("signal", STEPS, BATCH, FEATURES)
    make.normal("weight", 2, 3 * HIDDEN, FEATURES, scale=0.5)
    make.normal("recurrence", 2, 3 * HIDDEN, HIDDEN, scale=0.5)
    make.normal("bias", 2, 6 * HIDDEN, scale=0.3)
    make.normal("start", 2, BATCH, HIDDEN, scale=0.5)
    make.normal("judge", 2 * HIDDEN, 1)
    make.arrays["lengths"] = np.array([7, 4, 2])
    return make.arrays


def gated_recurrence(w: Tensors) -> Tensors:
    import torch
    from torch.nn.utils import rnn

    def gates(rows: Any) -> Any:
        """DirectML has update, reset, new; PyTorch reset, update, new."""
        update, reset, new = rows.split(HIDDEN)
        return torch.cat([reset, update, new])

    network = torch.nn.GRU(FEATURES, HIDDEN, bidirectional=True)
    for direction, suffix in enumerate(("l0", "l0_reverse")):
        of_input, of_state = w["bias"][direction].split(3 * HIDDEN)
        for name, rows in (
            ("weight_ih", w["weight"][direction]),
            ("weight_hh", w["recurrence"][direction]),
            ("bias_ih", of_input),
            ("bias_hh", of_state),
        ):
            setattr(network, f"{name}_{suffix}", torch.nn.Parameter(gates(rows)))
    packed = rnn.pack_padded_sequence(w["signal"], w["lengths"])
    states, last = network(packed, w["start"])
    sequence = rnn.pad_packed_sequence(states, total_length=STEPS)[0].reshape(STEPS, BATCH, 2, HIDDEN)
    scores = torch.cat([last[0], last[1]], 1) @ w["judge"]
    return {
        "sequence": sequence.permute(0, 2, 1, 3).detach(),
        "decision": (1 - scores.sigmoid() * 2).reshape(-1).detach(),
    }


# --- Files ----------------------------------------------------------------------------------------------------------


class Network(NamedTuple):
    """What a program reads, and what PyTorch makes of the same arrays."""

    arrays: Callable[[], Arrays]
    compute: Callable[[Tensors], Tensors]


NETWORKS = {
    "classifier": Network(classifier_arrays, classifier),
    "style_transfer": Network(style_transfer_arrays, style_transfer),
    "digit_recognizer": Network(digit_recognizer_arrays, digit_recognizer),
    "super_resolution": Network(super_resolution_arrays, super_resolution),
    "gated_recurrence": Network(gated_recurrence_arrays, gated_recurrence),
}


OPERATORS = "operators"
"""The name of the answers of ``tests/reference/torch_cases.py``, beside those of networks."""


def torch_answers(name: str) -> Arrays:
    """What PyTorch computes: of a network, or of operators in float64, by case and output field."""
    import torch

    if name == OPERATORS:
        return _operator_answers()
    network = NETWORKS[name]
    tensors = {key: torch.from_numpy(array) for key, array in network.arrays().items()}
    return {key: np.asarray(tensor) for key, tensor in network.compute(tensors).items()}


def _operator_answers() -> Arrays:
    sys.path.insert(0, str(ROOT))
    import torch
    from _torch_operators import compute

    from tests.reference.torch_cases import CASES, arrays

    answers = {}
    for name in CASES:
        tensors = {
            key: torch.from_numpy(array.astype(np.float64 if array.dtype.kind == "f" else np.int64))
            for key, array in arrays(name).items()
        }
        for field, tensor in compute(name, tensors).items():
            answers[f"{name}/{field}"] = tensor.detach().numpy()
    return answers


def digest(name: str) -> str:
    """The SHA-256 of what is computed: the program or the cases, and PyTorch's side, whatever ends their lines."""
    paths = [PROGRAMS / f"{name}.py", Path(__file__)]
    if name == OPERATORS:
        paths = [REFERENCE / "torch_cases.py", Path(__file__).with_name("_torch_operators.py")]
    return hashlib.sha256(b"\0".join(path.read_bytes().replace(b"\r\n", b"\n") for path in paths)).hexdigest()


def _file(name: str) -> Path:
    return REFERENCE / "torch_answers.npz" if name == OPERATORS else ANSWERS / f"{name}.npz"


def kept_answers(name: str) -> tuple[Arrays, str]:
    """The answers of the file, and the SHA-256 of what they were made for."""
    with np.load(_file(name)) as file:
        return {key: file[key] for key in file.files if key != DIGEST}, str(file[DIGEST])


def _differs(name: str) -> bool:
    kept, made_for = kept_answers(name)
    answers = torch_answers(name)
    if made_for != digest(name) or kept.keys() != answers.keys():
        return True
    near = 1e-9 if name == OPERATORS else TOLERANCE
    return any(not np.allclose(kept[key], answers[key], near, near) for key in answers)


def main() -> int:
    parser = argparse.ArgumentParser(description="What PyTorch computes for networks and operators of the tests.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    names = [*NETWORKS, OPERATORS]
    if parser.parse_args().check:
        stale = [name for name in names if _differs(name)]
        if stale:
            print(f"not what PyTorch computes: {', '.join(stale)}; run python scripts/make_torch_answers.py")
        return 1 if stale else 0
    for name in names:
        made = {**torch_answers(name), DIGEST: np.array(digest(name))}
        np.savez_compressed(_file(name), **made)  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    sys.exit(main())
