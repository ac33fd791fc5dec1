"""The networks for tools: benchmarks, samples and SqueezeNet, some with handwritten ONNX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

import dml2onnx
from dml2onnx.compiler import CompiledModel
from dml2onnx.ir.graph import Graph
from tests.runtimes.samples import benchmarks

SAMPLES = Path(__file__).parents[2] / "samples"
CALIBRATION = 4
"""Number of inputs for calibration."""

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A network and its feeds by public name, in the shapes of the model's inputs."""

    title: str
    graph: Graph
    model: CompiledModel
    feeds: Arrays
    by_hand: onnx.ModelProto | None = None
    """Equivalent handwritten ONNX; shapes may omit sizes of 1."""
    quant_format: str | None = None

    def compiled(self, *, target: str, opset: int) -> Subject:
        model = dml2onnx.compile(self.graph, target=target, opset=opset, quant_format=self.quant_format)
        return replace(self, model=model)


def subjects(shared: Path | None) -> Iterator[Subject]:
    """Yields all networks; ``shared`` has the weights of SqueezeNet."""
    for network in benchmarks().networks():
        yield _subject(network.name, network.graph, network.feeds, network.by_hand)
        if network.name.startswith("quantised"):
            qdq = f"{network.name}, QDQ"
            yield _subject(qdq, network.graph, network.feeds, network.by_hand, quant_format="qdq")
    images = np.load(SAMPLES / "digits" / "images.npy").astype(np.float32)
    yield _sample("digits", {"images": images}, DIGITS)
    picture = np.random.default_rng(0).random((1, 3, 120, 160)).astype(np.float32)
    yield _sample("picture", {"picture": picture}, PICTURE)
    if shared is not None:
        place = shared / "models" / "squeezenet"
        arrays = {path.stem: np.load(path) for path in (place / "inputs").glob("*.npy")}
        graph = dml2onnx.load(place / "model.json")
        yield _subject("SqueezeNet", graph, arrays, squeezenet_by_hand(arrays))


DIGITS = """g (float[360,1,8,8] images) => (float[360,10] probabilities) {
    scaled = Mul (images, factor)
    shifted = Add (scaled, offset_of_all)
    c1 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (shifted, filter1, bias1)
    r1 = Relu (c1)
    p1 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r1)
    c2 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (p1, filter2, bias2)
    r2 = Relu (c2)
    p2 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r2)
    flat = Flatten (p2)
    classes = Gemm (flat, matrix, offset)
    probabilities = Softmax (classes)
}"""
PICTURE = """g (float[1,3,120,160] picture) => (float[1,3,480,640] result) {
    padded = Pad <mode = "reflect"> (picture, by_two)
    sharp = Conv <group = 3, kernel_shape = [5, 5]> (padded, sharpening)
    grey = Conv <kernel_shape = [1, 1]> (padded, luma)
    slopes = Conv <kernel_shape = [3, 3]> (grey, compass)
    gradient = Relu (slopes)
    edges = Conv <kernel_shape = [1, 1]> (gradient, shares)
    ink = MaxPool <kernel_shape = [3, 3]> (edges)
    scaled = Mul (ink, contrast)
    shifted = Add (scaled, paper)
    drawn = Clip (shifted, zero, one)
    colours = MaxPool <kernel_shape = [8, 8], strides = [8, 8]> (picture)
    tiles = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">
        (colours, , by_sixteen)
    large = Resize <mode = "linear"> (picture, , twice)
    large_sharp = Resize <mode = "linear"> (sharp, , twice)
    large_ink = Resize <mode = "linear"> (drawn, , twice)
    upper = Concat <axis = 3> (large, large_sharp)
    coloured_ink = Expand (large_ink, three)
    lower = Concat <axis = 3> (coloured_ink, tiles)
    result = Concat <axis = 2> (upper, lower)
}"""
NUMBERS: Mapping[str, npt.ArrayLike] = {
    "factor": 0.0625, "offset_of_all": -0.5, "contrast": -1.25, "paper": 1.05, "zero": 0.0, "one": 1.0,
    "by_sixteen": (1.0, 1.0, 16.0, 16.0), "twice": (1.0, 1.0, 2.0, 2.0),
}  # fmt: skip


def _sample(name: str, feeds: Arrays, text: str) -> Subject:
    """A sample and its handwritten ONNX with the sample's weights."""
    graph = dml2onnx.load(SAMPLES / name / "model.json")
    weights = {item.name: numpy_helper.to_array(item) for item in dml2onnx.compile(graph).model_proto.graph.initializer}
    weights.update({key: np.asarray(value, np.float32) for key, value in NUMBERS.items()})
    weights.update(by_two=np.array([0, 0, 2, 2, 0, 0, 2, 2]), three=np.array([1, 3, 1, 1]))
    return _subject(name, graph, feeds, benchmarks().parsed(text, weights))


def _subject(
    title: str,
    graph: Graph,
    feeds: Mapping[str, np.ndarray],
    by_hand: onnx.ModelProto | None = None,
    quant_format: str | None = None,
) -> Subject:
    model = dml2onnx.compile(graph, quant_format=quant_format)
    complete = model.complete({name: np.asarray(array).reshape(-1) for name, array in feeds.items()})
    shaped = {port.name: np.ascontiguousarray(complete[port.name]).reshape(port.shape) for port in model.inputs}
    return Subject(title, graph, model, shaped, by_hand, quant_format)


def fed(model: onnx.ModelProto, feeds: Arrays) -> Arrays:
    """Numbered feeds for calibration in the shapes of a model's inputs: the inputs and rolled copies."""
    feeds_by_number = {}
    for item in model.graph.input:
        array = feeds[item.name].reshape([size.dim_value for size in item.type.tensor_type.shape.dim])
        axis = int(np.argmax(array.shape)) if array.ndim else 0
        for number in range(CALIBRATION):
            rolled = np.roll(array, number * array.shape[axis] // CALIBRATION, axis) if number else array
            feeds_by_number[f"{number}/{item.name}"] = rolled
    return feeds_by_number


def squeezenet_by_hand(arrays: Arrays) -> onnx.ModelProto:
    """Handwritten SqueezeNet 1.1; weights are in the order of their numbers."""
    names = iter(sorted((name for name in arrays if name != "data"), key=lambda name: int(name[1:])))
    lines: list[str] = []
    weights: Arrays = {}

    def layer(text: str) -> str:
        lines.append(f"v{len(lines)} = {text}")
        return f"v{len(lines) - 1}"

    def convolution(x: str, window: int, stride: int = 1, padding: int = 0) -> str:
        kernel, bias = next(names), next(names)
        weights.update({kernel: arrays[kernel], bias: arrays[bias].reshape(-1)})
        how = f"kernel_shape = [{window}, {window}], strides = [{stride}, {stride}], pads = {[padding] * 4}"
        return layer(f"Relu ({layer(f'Conv <{how}> ({x}, {kernel}, {bias})')})")

    def fire(x: str) -> str:
        squeezed = convolution(x, 1)
        return layer(f"Concat <axis = 1> ({convolution(squeezed, 1)}, {convolution(squeezed, 3, padding=1)})")

    def pool(x: str) -> str:
        return layer(f"MaxPool <kernel_shape = [3, 3], strides = [2, 2]> ({x})")

    x = pool(convolution("data", 3, stride=2))
    for fires in (2, 2):
        for _ in range(fires):
            x = fire(x)
        x = pool(x)
    for _ in range(4):
        x = fire(x)
    x = layer(f"Flatten ({layer(f'GlobalAveragePool ({convolution(x, 1)})')})")
    body = "\n".join([*lines, f"softmax = Softmax <axis = 1> ({x})"])
    return benchmarks().parsed(f"g (float[1,3,224,224] data) => (float[1,1000] softmax) {{\n{body}\n}}", weights)
