"""Quantized networks in QDQ form: kernels and speed, compared with the same network written in ONNX.

    python scripts/bench_quantized.py [--repeat 20]

The network has two convolutions with Relu and 8-bit activations and weights. Each row has the kernels of the
convolutions after ONNX Runtime's optimiser, the processor time of a run on one thread in milliseconds, and the largest
difference between the optimised and the unoptimised model in quantization steps. The difference matters most: ONNX
Runtime makes the handwritten network fast, but not always correct.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from dml2onnx import GraphBuilder, compile
from dml2onnx.builder import Expression

Array = npt.NDArray[Any]

SIZES = (1, 32, 28, 28)
INPUT_SCALE, HIDDEN_SCALE, OUTPUT_SCALE = 0.05, 0.07, 0.11
OPSET = 21


class Form(NamedTuple):
    """The types of a network."""

    activations: str
    weights: str
    per_channel: bool

    def __str__(self) -> str:
        return f"{self.activations} x {self.weights} {'per channel' if self.per_channel else 'per tensor'}"

    @property
    def zero_point(self) -> int:
        """The zero point of activations, which are positive after a Relu."""
        return int(np.iinfo(self.activations).min)


class Layer(NamedTuple):
    """Quantized weights with their scales and zero points."""

    weights: Array
    scales: Array
    zero_point: Array
    output_scale: float


def layers(form: Form) -> Iterator[Layer]:
    """Yields random layers, the same in each call."""
    rng = np.random.default_rng(0)
    low, high, middle = (0, 256, 128) if form.weights == "uint8" else (-127, 128, 0)
    for output_scale in (HIDDEN_SCALE, OUTPUT_SCALE):
        weights = rng.integers(low, high, (32, 32, 3, 3)).astype(form.weights)
        scales = rng.uniform(0.0004, 0.0006, 32 if form.per_channel else 1).astype(np.float32)
        yield Layer(weights, scales, np.full(scales.shape, middle, form.weights), output_scale)


def built(form: Form) -> bytes:
    """Builds the network as a DirectML graph and compiles it."""
    g = GraphBuilder()

    def broadcast(values: Array, x: Expression) -> Expression:
        first = g.constant(values.reshape(-1, *(1,) * (x.rank - 1)))
        return g.broadcast(first, x.sizes)

    def parameters(x: Expression, scale: float) -> tuple[Expression, Expression]:
        return broadcast(np.asarray([scale], np.float32), x), broadcast(
            np.full(1, form.zero_point, form.activations), x
        )

    x, scale = g.input("x", form.activations.upper(), SIZES), INPUT_SCALE
    for layer in layers(form):
        weights = g.constant(layer.weights)
        weights = g.dequantize_linear(weights, broadcast(layer.scales, weights), broadcast(layer.zero_point, weights))
        numbers = g.dequantize_linear(x, *parameters(x, scale))
        y = g.activation_relu(g.convolution(numbers, weights, start_padding=[1, 1], end_padding=[1, 1]))
        scale = layer.output_scale
        x = g.quantize_linear(y, *parameters(y, scale), output_data_type=form.activations.upper())
    return bytes(compile(g.build({"y": x}), opset=OPSET).model_proto.SerializeToString())


def written(form: Form) -> bytes:
    """The network as exporters of training frameworks write it."""
    constants: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []

    def constant(value: Array) -> str:
        constants.append(numpy_helper.from_array(value, f"c{len(constants)}"))
        return constants[-1].name

    def node(op: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, inputs, [f"t{len(nodes)}"], **attributes))
        return str(nodes[-1].output[0])

    def parameters(scale: float) -> tuple[str, str]:
        return constant(np.asarray(scale, np.float32)), constant(np.asarray(form.zero_point, form.activations))

    x, scale = "x", INPUT_SCALE
    for layer in layers(form):
        shape = (-1,) if form.per_channel else ()
        parameters_of_weights = constant(layer.scales.reshape(shape)), constant(layer.zero_point.reshape(shape))
        axis: dict[str, Any] = {"axis": 0} if form.per_channel else {}
        weights = node("DequantizeLinear", constant(layer.weights), *parameters_of_weights, **axis)
        y = node("Relu", node("Conv", node("DequantizeLinear", x, *parameters(scale)), weights, pads=[1] * 4))
        scale = layer.output_scale
        x = node("QuantizeLinear", y, *parameters(scale))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(form.activations))
    ends = [helper.make_tensor_value_info(name, kind, SIZES) for name in ("x", x)]
    graph = helper.make_graph(nodes, "written", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    return bytes(model.SerializeToString())


class Row(NamedTuple):
    """The measurements of a model."""

    kernels: str
    milliseconds: float
    steps: int


def measured(model: bytes, form: Form, repeat: int, directory: Path) -> Row:
    """Measures the kernels of convolutions, the processor time, and the error of the optimiser."""
    path = directory / "optimised.onnx"
    options, plain = onnxruntime.SessionOptions(), onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(path)
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for item in (options, plain):
        item.intra_op_num_threads = 1
        item.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    kernels = sorted({node.op_type for node in onnx.load(path).graph.node if "Conv" in node.op_type})
    limits = np.iinfo(form.activations)
    x = np.random.default_rng(1).integers(limits.min, limits.max + 1, SIZES).astype(form.activations)
    times = []
    for _ in range(repeat):
        before = time.process_time()
        (y,) = session.run(None, {"x": x})
        times.append(time.process_time() - before)
    (exact,) = onnxruntime.InferenceSession(model, plain, ["CPUExecutionProvider"]).run(None, {"x": x})
    steps = int(np.abs(np.asarray(y, np.int16) - np.asarray(exact, np.int16)).max())
    return Row(", ".join(kernels), 1000 * min(times), steps)


FORMS = [Form(*choice) for choice in itertools.product(("uint8", "int8"), ("uint8", "int8"), (False, True))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=20, help="runs of each model; the fastest counts")
    repeat = parser.parse_args().repeat
    print(f"{'activations x weights':28}  {'compiled':>22} {'ms':>7} steps  {'by hand':>22} {'ms':>7} steps")
    with tempfile.TemporaryDirectory() as directory:
        for form in FORMS:
            if (form.activations, form.weights) == ("int8", "uint8"):
                continue  # ONNX Runtime has no kernel for this unusual case
            rows = [measured(make(form), form, repeat, Path(directory)) for make in (built, written)]
            print(
                f"{form!s:28}  " + "  ".join(f"{row.kernels:>22} {row.milliseconds:7.3f} {row.steps:5}" for row in rows)
            )


if __name__ == "__main__":
    main()
