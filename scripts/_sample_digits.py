"""The digits sample: a small convolutional network in plain numpy, trained on scikit-learn's 8 by 8 digits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

Floats: TypeAlias = npt.NDArray[np.float32]
Integers: TypeAlias = npt.NDArray[np.int64]
Weights: TypeAlias = dict[str, Floats]
Json: TypeAlias = dict[str, object]

CHANNELS = (1, 16, 32)
CLASSES = 10
TEST_COUNT = 360
EPOCHS = 60
BATCH = 48
BRIGHTEST = 16.0
SHAPES = {
    "filter1": (16, 1, 3, 3),
    "bias1": (1, 16, 1, 1),
    "filter2": (32, 16, 3, 3),
    "bias2": (1, 32, 1, 1),
    "matrix": (1, 1, 128, CLASSES),
    "offset": (1, 1, 1, CLASSES),
}


def data() -> tuple[Floats, Integers, Floats, Integers]:
    """Training images (N, 1, 8, 8; 0 to 16) and labels, then test images and labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(7).permutation(len(digits.images))
    images = digits.images[order, None].astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    return images[TEST_COUNT:], labels[TEST_COUNT:], images[:TEST_COUNT], labels[:TEST_COUNT]


def train(images: Floats, labels: Integers) -> Weights:
    """Adam on the cross entropy, with some of the images shifted by a pixel."""
    random = np.random.default_rng(1)
    weights: Weights = {}
    for name, shape in SHAPES.items():
        fan_in = np.prod(shape[1:]) if name.startswith("filter") else shape[2]
        scale = 0.0 if name.startswith(("bias", "offset")) else np.sqrt(2 / fan_in)
        weights[name] = (random.standard_normal(shape) * scale).astype(np.float32)
    first = {name: np.zeros_like(array) for name, array in weights.items()}
    second = {name: np.zeros_like(array) for name, array in weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 2e-3 * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for chosen in np.array_split(random.permutation(len(images)), len(images) // BATCH):
            # every fourth batch is shifted vertically by a pixel; horizontally the digits fill the image
            shift = int(random.choice([0, 0, 0, 0, 0, 0, -1, 1]))
            gradients = _gradients(weights, np.roll(images[chosen], shift, 2), labels[chosen])
            step += 1
            for name, gradient in gradients.items():
                first[name] = 0.9 * first[name] + 0.1 * gradient
                second[name] = 0.999 * second[name] + 0.001 * gradient**2
                mean, square = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                weights[name] = (weights[name] - rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
    return weights


def _gradients(weights: Weights, images: Floats, labels: Integers) -> Weights:
    x0 = images / np.float32(BRIGHTEST) - np.float32(0.5)
    a1, columns1 = _convolve(x0, weights["filter1"], weights["bias1"])
    h1 = np.maximum(a1, 0)
    p1, winner1 = _pool(h1)
    a2, columns2 = _convolve(p1, weights["filter2"], weights["bias2"])
    h2 = np.maximum(a2, 0)
    p2, winner2 = _pool(h2)
    flat = p2.reshape(len(images), -1)
    scores = flat @ weights["matrix"][0, 0] + weights["offset"][0, 0, 0]
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    d_scores = exponentials / exponentials.sum(axis=1, keepdims=True)
    d_scores[np.arange(len(labels)), labels] -= 1
    d_scores /= len(labels)
    d_p2 = (d_scores @ weights["matrix"][0, 0].T).reshape(p2.shape)
    d_a2 = _unpool(d_p2, winner2) * (a2 > 0)
    d_a1 = _unpool(_convolve_back(d_a2, weights["filter2"]), winner1) * (a1 > 0)
    return {
        "filter1": np.tensordot(d_a1, columns1, ([0, 2, 3], [0, 1, 2])).reshape(SHAPES["filter1"]),
        "bias1": d_a1.sum(axis=(0, 2, 3)).reshape(SHAPES["bias1"]),
        "filter2": np.tensordot(d_a2, columns2, ([0, 2, 3], [0, 1, 2])).reshape(SHAPES["filter2"]),
        "bias2": d_a2.sum(axis=(0, 2, 3)).reshape(SHAPES["bias2"]),
        "matrix": (flat.T @ d_scores).reshape(SHAPES["matrix"]),
        "offset": d_scores.sum(axis=0).reshape(SHAPES["offset"]),
    }


def _columns(x: Floats) -> Floats:
    """The 3 by 3 surroundings of every pixel: N, H, W, C * 9."""
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    count, channels, height, width = x.shape
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(count, height, width, channels * 9)


def _convolve(x: Floats, filters: Floats, bias: Floats) -> tuple[Floats, Floats]:
    columns = _columns(x)
    product = columns @ filters.reshape(len(filters), -1).T
    return product.transpose(0, 3, 1, 2) + bias, columns


def _convolve_back(gradient: Floats, filters: Floats) -> Floats:
    turned = filters[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return (_columns(gradient) @ turned.reshape(len(turned), -1).T).transpose(0, 3, 1, 2)


def _pool(x: Floats) -> tuple[Floats, Floats]:
    count, channels, height, width = x.shape
    blocks = x.reshape(count, channels, height // 2, 2, width // 2, 2)
    best = blocks.max(axis=(3, 5))
    return best, (blocks == best[:, :, :, None, :, None]).astype(np.float32)


def _unpool(gradient: Floats, winner: Floats) -> Floats:
    spread = gradient[:, :, :, None, :, None] * winner
    count, channels, height, _, width, _ = spread.shape
    return spread.reshape(count, channels, 2 * height, 2 * width)


def model() -> Json:
    """The network for all test images at once, with consecutive weights in ``weights.bin``."""
    constants: Json = {}
    offset = 0
    for name, shape in SHAPES.items():
        constants[name] = {**_tensor(*shape), "file": "weights.bin", "offset": offset}
        offset += 4 * int(np.prod(shape))
    count = TEST_COUNT
    nodes = [
        _node(
            "scale",
            "ELEMENT_WISE_IDENTITY",
            {"InputTensor": "images"},
            (count, 1, 8, 8),
            ScaleBias={"Scale": 1 / BRIGHTEST, "Bias": -0.5},
        ),
        _convolution(1, "scale", (count, 16, 8, 8)),
        _pooling(1, (count, 16, 4, 4)),
        _convolution(2, "pool1", (count, 32, 4, 4)),
        _pooling(2, (count, 32, 2, 2)),
        # one buffer, two views: what was written as N, 32, 2, 2 is read as a matrix of N rows
        _node(
            "classify",
            "GEMM",
            {"ATensor": "pool2", "BTensor": "matrix", "CTensor": "offset"},
            (1, 1, count, CLASSES),
            ATensor=_tensor(1, 1, count, 128),
            CTensor={**_tensor(1, 1, count, CLASSES), "Strides": [CLASSES, CLASSES, 0, 1]},
            TransA="NONE",
            TransB="NONE",
            Alpha=1,
            Beta=1,
        ),
        _node("softmax", "ACTIVATION_SOFTMAX", {"InputTensor": "classify"}, (1, 1, count, CLASSES)),
    ]
    return {
        "dml2onnx": 1,
        "name": "digits",
        "feature_level": "1_0",
        "inputs": {"images": {**_tensor(count, 1, 8, 8), "file": "images.npy"}},
        "constants": constants,
        "nodes": nodes,
        "outputs": {"probabilities": "softmax"},
    }


def _tensor(*sizes: int) -> Json:
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


def _node(name: str, kind: str, inputs: dict[str, str], sizes: tuple[int, ...], **fields: object) -> Json:
    """A node with one output of the same name."""
    desc = {**fields, "OutputTensor": _tensor(*sizes)}
    return {"name": name, "type": kind, "desc": desc, "inputs": inputs, "outputs": {"OutputTensor": name}}


def _convolution(number: int, source: str, sizes: tuple[int, ...]) -> Json:
    return _node(
        f"conv{number}",
        "CONVOLUTION",
        {"InputTensor": source, "FilterTensor": f"filter{number}", "BiasTensor": f"bias{number}"},
        sizes,
        Mode="CROSS_CORRELATION",
        Direction="FORWARD",
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[1, 1],
        EndPadding=[1, 1],
        OutputPadding=[0, 0],
        GroupCount=1,
        FusedActivation={"type": "ACTIVATION_RELU"},
    )


def _pooling(number: int, sizes: tuple[int, ...]) -> Json:
    return _node(
        f"pool{number}",
        "MAX_POOLING",
        {"InputTensor": f"conv{number}"},
        sizes,
        Strides=[2, 2],
        WindowSize=[2, 2],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
    )
