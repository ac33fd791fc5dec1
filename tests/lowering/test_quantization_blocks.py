"""QUANTIZE, DEQUANTIZE and DYNAMIC_QUANTIZE_LINEAR against the reference."""

import itertools
import math

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.reference import disagreements, evaluate, evaluate_results
from dml2onnx.verification import verify
from tests.lowering.harness import check_case, left_by_optimiser, operator, operators, t

WIDTHS = ["INT8", "UINT8", "INT4", "UINT4"]


def blocks(name, whole, floats, sizes, counts=None, *, null=False, strides=(None, None, None, None)):
    """A descriptor; ``counts`` are the sizes of scale and zero point, ``strides`` those of all tensors in order."""
    x, y = (floats, whole) if name == "QUANTIZE" else (whole, floats)
    counts = counts or (1,) * len(sizes)
    tensors = [t(floats, counts, strides[1]), t(whole, counts, strides[2])]
    return operator(
        name,
        InputTensor=t(x, sizes, strides[0]),
        QuantizationType="SCALE" if null else "SCALE_ZERO_POINT",
        QuantizationTensors=tensors[:1] if null else tensors,
        OutputTensor=t(y, sizes, strides[3]),
    )


def check(op, *, constants=(), seed=0, signs=(1, 1, -1), **more):
    """Checks an operator with scales for which results fill the range; returns the ONNX operators."""
    rng = np.random.default_rng(seed)
    scale = op.tensors("QuantizationTensors")[0]
    values = (rng.choice(signs, scale.extent) * 2 ** rng.uniform(-4, 2, scale.extent)).astype(scale.data_type.dtype)
    inputs = {"QuantizationTensors[0]": values}
    return operators(check_case(op, inputs=inputs, constants=constants, seed=seed, extremes=True, **more))


def dynamic(target="UINT8", strides=(None, None)):
    return operator(
        "DYNAMIC_QUANTIZE_LINEAR",
        InputTensor=t("FLOAT32", (2, 3, 4), strides[0]),
        OutputTensor=t(target, (2, 3, 4), strides[1]),
        OutputScaleTensor=t("FLOAT32", (1, 1, 1)),
        OutputZeroPointTensor=t(target, (1, 1, 1)),
    )


def test_forms():
    constants = ["QuantizationTensors"]
    # ONNX Runtime's optimiser moves quantisations as if all scales were positive
    positive, negative = ({"constants": constants, "signs": (sign,)} for sign in (1, -1))
    assert check(blocks("QUANTIZE", "UINT8", "FLOAT32", (4, 6)), **positive) == ["QuantizeLinear"]
    assert check(blocks("QUANTIZE", "UINT8", "FLOAT32", (4, 6)), **negative) == ["Div", "QuantizeLinear"]
    assert check(blocks("DEQUANTIZE", "INT8", "FLOAT32", (4, 6)), **positive) == ["DequantizeLinear"]
    rows = blocks("DEQUANTIZE", "UINT8", "FLOAT32", (4, 128), (4, 1))
    assert check(rows, **positive) == ["DequantizeLinear"]
    assert check(rows, constants=[*constants, "InputTensor"]) == ["Identity"]
    for rank in (4, 5):  # splitting all dimensions gives 8, or too many
        nodes = check(blocks("DEQUANTIZE", "UINT8", "FLOAT32", (4,) * rank, (2,) * rank))
        assert ("GatherElements" in nodes) == (rank == 5)
    assert operators(check_case(dynamic())) == ["DynamicQuantizeLinear", "Reshape", "Reshape"]


@pytest.mark.parametrize("whole", ["INT4", "UINT4"])
def test_all_four_bit_numbers(whole):
    octets = np.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE], np.uint8)
    want = [*range(8), *range(-8, 0)] if whole == "INT4" else list(range(-8, 8))
    op = blocks("DEQUANTIZE", whole, "FLOAT32", (16,), null=True)
    inputs: dict[str, np.ndarray] = {"InputTensor": octets, "QuantizationTensors[0]": np.ones(1, np.float32)}
    for constants in ((), ("InputTensor",)):
        model = check_case(op, inputs=inputs, constants=constants)
        got = model.run({port.name: inputs[port.name] for port in model.inputs})
        np.testing.assert_array_equal(got["OutputTensor"], want)


def test_halves_go_to_even_before_the_zero_point():
    x = np.arange(-20, 20, dtype=np.float32) / 2
    for whole, (low, high) in {"INT4": (-8, 7), "UINT4": (0, 15), "INT8": (-128, 127), "UINT8": (0, 255)}.items():
        op = blocks("QUANTIZE", whole, "FLOAT32", x.shape)
        inputs: dict[str, np.ndarray] = {"InputTensor": x, "QuantizationTensors[0]": np.ones(1, np.float32)}
        inputs["QuantizationTensors[1]"] = np.array([3], np.uint8)
        model = check_case(op, inputs=inputs)
        feeds = {port.name: inputs[port.name].view(port.dtype) for port in model.inputs}
        np.testing.assert_array_equal(model.run(feeds)["OutputTensor"], np.clip(np.rint(x) + 3, low, high))


def test_infinities_saturate():
    x = np.array([math.inf, -math.inf, 1e30, -1e30], np.float32)
    for whole in WIDTHS:
        op = blocks("QUANTIZE", whole, "FLOAT32", x.shape, null=True)
        check_case(op, inputs={"InputTensor": x, "QuantizationTensors[0]": np.array([0.5])})


def test_4_bit_values_between_operators_and_as_outputs():
    """15 elements are quantized, read with other strides, and are an output too."""
    x, scale, whole, y = (Value(name, size) for name, size in (("x", 60), ("scale", 4), ("whole", 8), ("y", 60)))
    first = blocks("QUANTIZE", "INT4", "FLOAT32", (3, 5), null=True)
    second = blocks("DEQUANTIZE", "INT4", "FLOAT32", (5, 3), null=True, strides=((1, 5), None, None, None))
    nodes = (
        Node("q", first, {"InputTensor": (Read(x),), "QuantizationTensors": (Read(scale),)},
             {"OutputTensor": (Write(whole),)}, "/nodes/0/desc"),
        Node("d", second, {"InputTensor": (Read(whole),), "QuantizationTensors": (Read(scale),)},
             {"OutputTensor": (Write(y),)}, "/nodes/1/desc"),
    )  # fmt: skip
    inputs = (GraphInput("x", x, desc=t("FLOAT32", (3, 5))), GraphInput("scale", scale, desc=t("FLOAT32", (1, 1))))
    outputs = (GraphOutput("whole", whole, t("INT4", (3, 5))), GraphOutput("y", y, t("FLOAT32", (5, 3))))
    graph = Graph(nodes, inputs, outputs, ())
    values = np.arange(-7, 8, dtype=np.float32).reshape(3, 5) / 2
    feeds: dict[str, np.ndarray] = {"x": values, "scale": np.full((1, 1), 0.5, np.float32)}
    got, want = compile_outputs(graph, outputs).run(feeds), evaluate(graph, feeds)
    np.testing.assert_array_equal(got["whole"], np.arange(-7, 8).reshape(3, 5))
    for name in ("whole", "y"):
        assert got[name].dtype == want[name].dtype
        np.testing.assert_array_equal(got[name], want[name])
    assert all(item.wrong == 0 for item in verify(graph).comparisons)


@pytest.mark.parametrize("strides", [None, (1, 3), (10, 2)])
def test_bits_between_4_bit_elements_are_kept(strides):
    """Writing a tensor does not change the memory between and after its elements."""
    x, scale, before, after = (Value(name, size) for name, size in (("x", 60), ("s", 4), ("before", 20), ("after", 20)))
    op = blocks("QUANTIZE", "UINT4", "FLOAT32", (3, 5), null=True, strides=(None, None, None, strides))
    reads = {"InputTensor": (Read(x),), "QuantizationTensors": (Read(scale),)}
    node = Node("q", op, reads, {"OutputTensor": (Write(after, 4, before),)}, "/nodes/0/desc")
    inputs = (
        GraphInput("x", x, desc=t("FLOAT32", (3, 5))),
        GraphInput("s", scale, desc=t("FLOAT32", (1, 1))),
        GraphInput("before", before, desc=t("UINT8", (20,))),
    )
    outputs = (GraphOutput("after", after, t("UINT8", (20,))),)
    graph = Graph((node,), inputs, outputs, ())
    feeds: dict[str, np.ndarray] = {
        "x": np.arange(-7, 8, dtype=np.float32).reshape(3, 5),
        "s": np.ones((1, 1), np.float32),
        "before": np.arange(100, 120, dtype=np.uint8),
    }
    got, want = compile_outputs(graph, outputs).run(feeds), evaluate(graph, feeds)
    np.testing.assert_array_equal(got["after"], want["after"])


# --- DYNAMIC_QUANTIZE_LINEAR -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", WIDTHS[:2])
def test_dynamic_strides_and_ranges(target):
    for layout, out in itertools.product([None, (0, 4, 1), (1, 2, 6), (24, 8, 2)], [None, (1, 2, 6), (24, 8, 2)]):
        check_case(dynamic(target=target, strides=(layout, out)))
    for low, high in ((1, 5), (-5, -1), (-1, 1000), (-1e-6, 1e-7), (-1e30, 1e30), (0, 0), (-math.inf, 1), (0, 1e-42)):
        x = np.linspace(low, high, 24, dtype=np.float32) if math.isfinite(low) else np.array([low, high] * 12)
        check_case(dynamic(target=target), inputs={"InputTensor": x})
        check_case(dynamic(target=target), inputs={"InputTensor": x}, constants=["InputTensor"])


# --- packed weights --------------------------------------------------------------------------------------------------


def weighted(whole, rows, columns, block, *, null=False, floats="FLOAT32"):
    """A row times a constant matrix of type ``whole`` with a scale for each block of a column."""
    rng = np.random.default_rng(3)
    matrix, counts = (rows, columns), (rows // block, columns)
    x, y = Value("x", rows * 4), Value("y", columns * 4)
    scale = t(floats, counts)
    tensors = [("weights", t(whole, matrix)), ("scales", scale), ("zeros", t(whole, counts))][: 2 if null else 3]
    constants = []
    for name, desc in tensors:
        octets = rng.integers(0, 256, desc.minimum_bytes, np.uint8)
        if name == "scales":
            octets = np.zeros(desc.minimum_bytes, np.uint8)
            numbers = rng.uniform(0.01, 0.1, counts).astype(desc.data_type.dtype).reshape(-1)
            octets[: numbers.nbytes] = numbers.view(np.uint8)
        constants.append(Constant(Value(name, desc.minimum_bytes), ArrayData(octets)))
    dense = Value("dense", t(floats, matrix).minimum_bytes)
    widened = operator(
        "DEQUANTIZE",
        InputTensor=tensors[0][1],
        QuantizationType="SCALE" if null else "SCALE_ZERO_POINT",
        QuantizationTensors=[desc for _, desc in tensors[1:]],
        OutputTensor=t(floats, matrix),
    )
    product = operator(
        "GEMM",
        ATensor=t("FLOAT32", (1, rows)),
        BTensor=t("FLOAT32", matrix),
        OutputTensor=t("FLOAT32", (1, columns)),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=0.0,
    )
    values = [Read(item.value) for item in constants]
    reads = {"InputTensor": (values[0],), "QuantizationTensors": tuple(values[1:])}
    nodes = [Node("widen", widened, reads, {"OutputTensor": (Write(dense),)})]
    if floats == "FLOAT32":
        nodes.append(
            Node("multiply", product, {"ATensor": (Read(x),), "BTensor": (Read(dense),)}, {"OutputTensor": (Write(y),)})
        )
        inputs = (GraphInput("x", x, desc=t("FLOAT32", (1, rows))),)
        return Graph(tuple(nodes), inputs, (GraphOutput("y", y, t("FLOAT32", (1, columns))),), tuple(constants))
    return Graph(tuple(nodes), (), (GraphOutput("y", dense, t(floats, matrix)),), tuple(constants))


def compare(graph, model):
    feeds = {
        port.name: np.random.default_rng(1).standard_normal(port.shape).astype(port.dtype) for port in model.inputs
    }
    got = model.run(feeds)["y"]
    (result,) = evaluate_results(graph, feeds).values()
    assert not disagreements(got.reshape(result.values.shape), result, graph.outputs[0].desc.data_type).any()


class TestPackedWeights:
    """4-bit constants take half a byte in the file, and are ordinary weights after loading."""

    @pytest.mark.parametrize("opset", [21, 22, 23])
    @pytest.mark.parametrize("null", [False, True])
    @pytest.mark.parametrize("whole", ["INT4", "UINT4"])
    def test_bytes_per_element(self, whole, null, opset):
        graph = weighted(whole, 128, 48, 32, null=null)
        model = compile_outputs(graph, graph.outputs, opset=opset)
        onnx.checker.check_model(model.model_proto, full_check=True)
        (weights,) = [item for item in model.model_proto.graph.initializer if item.name == "weights"]
        assert weights.data_type == {"INT4": onnx.TensorProto.INT4, "UINT4": onnx.TensorProto.UINT4}[whole]
        assert len(weights.raw_data) == 128 * 48 // 2
        assert weights.raw_data == graph.constants[0].data.read().tobytes()
        scales = 4 * 48 * 4
        assert model.weight_bytes < 128 * 48 // 2 + scales * (1 if null else 2) + 100
        compare(graph, model)

    @pytest.mark.parametrize("whole", ["INT4", "UINT4"])
    def test_an_odd_number_of_elements(self, whole):
        graph = weighted(whole, 33, 33, 11, floats="FLOAT16")
        model = compile_outputs(graph, graph.outputs)
        assert len(next(iter(model.model_proto.graph.initializer)).raw_data) == (33 * 33 + 1) // 2
        compare(graph, model)

    def test_large_zero_points_are_packed_too(self):
        graph = weighted("UINT4", 256, 128, 8)
        model = compile_outputs(graph, graph.outputs)
        kinds = [item.data_type for item in model.model_proto.graph.initializer]
        assert kinds.count(onnx.TensorProto.UINT4) == 2
        compare(graph, model)

    def test_in_external_data(self, tmp_path):
        graph = weighted("INT4", 128, 48, 32)
        model = compile_outputs(graph, graph.outputs)
        written = model.save(tmp_path / "model.onnx", external_data=True)
        assert len(written) == 2
        feed = np.random.default_rng(1).standard_normal((1, 128)).astype(np.float32)
        session = onnxruntime.InferenceSession(written[0], providers=["CPUExecutionProvider"])
        np.testing.assert_array_equal(session.run(None, {"x": feed})[0], model.run({"x": feed})["y"])

    def test_the_runtime_folds_dequantisation(self, tmp_path):
        """The optimised model has neither MatMulNBits, which quantises the other factor, nor DequantizeLinear."""
        graph = weighted("UINT4", 128, 48, 32)
        model = compile_outputs(graph, graph.outputs)
        assert [node.op_type for node in left_by_optimiser(model, tmp_path).node] == ["MatMul"]

    @pytest.mark.parametrize(("opset", "target"), [(20, "cpu"), (21, "dml")])
    def test_opsets_and_targets_without_4_bit_types(self, opset, target):
        graph = weighted("UINT4", 128, 48, 32)
        model = compile_outputs(graph, graph.outputs, opset=opset, target=target)
        assert not {item.data_type for item in model.model_proto.graph.initializer} & {
            onnx.TensorProto.INT4,
            onnx.TensorProto.UINT4,
        }
        compare(graph, model)

    def test_small_tensors_are_ordinary_constants(self):
        graph = weighted("UINT4", 16, 16, 8)
        model = compile_outputs(graph, graph.outputs)
        assert operators(model) == ["MatMul"]
        compare(graph, model)

    def test_scales_of_run_time(self):
        for whole, expected in (("INT4", ["Cast", "Mul"]), ("UINT4", ["Cast", "Sub", "Mul"])):
            op = blocks("DEQUANTIZE", whole, "FLOAT32", (64, 32), (2, 32), null=True)
            found = check(op, constants=["InputTensor"])
            assert [item for item in found if item != "Reshape"] == expected
