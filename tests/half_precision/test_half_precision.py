"""Rewriting to FLOAT16: what becomes FLOAT16, what stays FLOAT32, and that results are within the bounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.batching import batch
from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import Severity
from dml2onnx.half_precision import halved
from dml2onnx.half_precision.choice import BITS, IN_PLACE, POSITIONS, QUANTIZED, STEPS
from dml2onnx.half_precision.numbers import in_half, misfit
from dml2onnx.ir.data import ArrayData, FillData, PaddedData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import evaluate
from dml2onnx.test_cases import valid
from dml2onnx.verification import verify
from tests.buffer_views.test_buffers import SIZES, Copy, copies, program
from tests.lowering import harness
from tests.lowering.harness import operator, t

FLOAT, HALF = np.dtype(np.float32), np.dtype(np.float16)
RANDOM = np.random.default_rng(0).normal(size=(1, 1, 3, 4)).astype(np.float32)


def ports(model: CompiledModel) -> list[tuple[Any, ...]]:
    return [(port.name, port.dtype, port.shape, port.desc) for port in (*model.inputs, *model.outputs)]


def reasons(model: CompiledModel) -> dict[str, str]:
    """The reasons why nodes stay FLOAT32."""
    return {origin.node: origin.notes[0] for origin in model.traces if origin.node in model.stay_float32}


def kinds(model: CompiledModel) -> list[str]:
    return [node.op_type for node in model.lowered.nodes]


def weighted(weights: np.ndarray) -> Graph:
    """``relu(x * weights)``."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 2, weights.shape[2]])
    product = g.gemm(x, g.constant(weights, name="w"), name="product")
    return g.build({"y": g.activation_relu(product, name="relu")})


def test_weights_and_activations_are_float16_between_casts() -> None:
    graph = weighted(RANDOM)
    model, plain = dml2onnx.compile(graph, half=True), dml2onnx.compile(graph)
    assert ports(model) == ports(plain)
    assert (kinds(model)[0], kinds(model)[-1]) == ("Cast", "Cast")
    assert kinds(model).count("Cast") == 2
    assert model.weight_bytes * 2 == pytest.approx(plain.weight_bytes, abs=64)  # shapes of Reshape stay INT64
    inner = {value.dtype for node in model.lowered.nodes[1:-1] for value in node.outputs if value is not None}
    assert inner == {HALF}
    assert model.half
    assert not plain.half
    assert model.stay_float32 == ()
    assert "in FLOAT16" in repr(model)
    assert "in FLOAT16" in str(model)
    assert {item.key: item.value for item in model.model_proto.metadata_props}["dml2onnx_half"] == "true"
    onnx.checker.check_model(model.model_proto, full_check=True)


def test_names_of_inputs_outputs_and_weights_stay() -> None:
    proto = dml2onnx.compile(weighted(RANDOM), half=True).model_proto
    assert [item.name for item in (*proto.graph.input, *proto.graph.output)] == ["x", "y"]
    assert "w" in [item.name for item in proto.graph.initializer]
    assert {"product", "relu"} <= {item.name.rpartition("/")[0] for item in proto.graph.node}


def _valid() -> list[tuple[str, OperatorDesc]]:
    return [
        (f"{name} {number}", op) for name, several in valid.descriptors().items() for number, op in enumerate(several)
    ]


@pytest.mark.parametrize("part", range(8))
def test_every_operator_computes_within_the_bounds_of_float16(part: int) -> None:
    """Checks all nodes and outputs; ports do not change, and the FLOAT16 graph is valid."""
    wrong = []
    for name, op in _valid()[part::8]:
        graph = harness.make_case(op).graph
        if not any(desc.data_type is DataType.FLOAT32 for node in graph.nodes for desc in _descs(node)):
            continue
        plain = compile_outputs(graph, graph.outputs, exact=False)
        model = compile_outputs(graph, graph.outputs, exact=False, half=True)
        assert ports(model) == ports(plain), name
        found = check(halved(graph, graph.outputs).graph)
        assert not [item for item in found if item.severity is Severity.ERROR], name
        if not verify(graph, rounds=1, half=True).passed:
            wrong.append(name)
    assert not wrong


def _descs(node: Any) -> list[Any]:
    return [desc for *_, desc in (*node.views_in(), *node.views_out())]


# --- Range of FLOAT16 -------------------------------------------------------------------------------------------------


def test_a_graph_without_floats_is_reported() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.int32, [4])
    model = dml2onnx.compile(g.build({"y": x + x}), half=True)
    assert [item.code for item in model.warnings] == ["DML2013"]


def test_a_constant_that_overflows_is_reported_and_stays() -> None:
    weights = np.ones((1, 1, 3, 4), np.float32)
    weights[0, 0, 1, 2] = -1e6
    model = dml2onnx.compile(weighted(weights), half=True)
    (warning,) = model.warnings
    assert (warning.code, warning.node) == ("DML2012", "product")
    assert '"w"' in warning.message
    assert "1e+06" in warning.message
    assert reasons(model) == {"product": 'stays FLOAT32: FLOAT16 does not hold "w"'}
    assert model.lowered.initializers["w"].dtype == FLOAT
    relu = next(node for node in model.lowered.nodes if node.op_type == "Relu")
    assert relu.outputs[0] is not None
    assert relu.outputs[0].dtype == HALF
    x = np.array([[[[0, 0.01, 0], [0.5, 0, 0]]]], np.float32)
    assert model.run({"x": x})["y"] == pytest.approx(np.maximum(x @ weights, 0), rel=1e-3)


def test_a_constant_that_underflows_is_reported_and_stays() -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 1, 2])
    small = g.constant(np.full((1, 1, 1, 2), 1e-12, np.float32), name="epsilon")
    graph = g.build({"y": g.recip(g.add(x, small, name="add"), name="recip")})
    model = dml2onnx.compile(graph, half=True)
    assert [item.code for item in model.warnings] == ["DML2012"]
    assert "epsilon" in model.warnings[0].message
    assert set(model.stay_float32) == {"add"}


def test_weights_that_partly_underflow_are_float16() -> None:
    weights = np.ones((1, 1, 3, 4), np.float32)
    weights[0, 0, 0] = 1e-12
    assert not dml2onnx.compile(weighted(weights), half=True).warnings


@pytest.mark.parametrize("value", [1e6, -3e38, 1e-10])
def test_an_attribute_out_of_range_is_reported_and_stays(value: float) -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 1, 2])
    graph = g.build({"y": g.padding(x, "CONSTANT", value, [0, 0, 0, 1], [0, 0, 0, 0], name="pad")})
    model = dml2onnx.compile(graph, half=True)
    assert [(item.code, item.node) for item in model.warnings] == [("DML2012", "pad")]
    assert reasons(model) == {"pad": "stays FLOAT32: FLOAT16 does not hold its PaddingValue"}
    assert model.run({"x": np.zeros((1, 1, 1, 2), np.float32)})["y"].reshape(-1)[0] == np.float32(value)


def test_unreachable_limits_are_ignored() -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 1, 2])
    graph = g.build({"y": g.clip(x, 0.0, 3.4e38)})
    model = dml2onnx.compile(graph, half=True)
    assert not model.warnings
    assert not model.stay_float32
    assert model.run({"x": np.array([[[[-1, 60000]]]], np.float32)})["y"].reshape(-1) == pytest.approx(
        [0, 60000], rel=1e-3
    )


def test_infinite_constants_are_infinite_in_float16_too() -> None:
    assert misfit(ArrayData.of(np.array([np.inf, -np.inf, np.nan, 1], np.float32))) is None


@pytest.mark.parametrize("number", [65519.0, 65520.0, 2.0**-25, np.nextafter(np.float32(2.0**-25), 1)])
def test_limits_of_float16(number: float) -> None:
    with np.errstate(over="ignore"):
        made = np.float32(number).astype(np.float16)
    is_out_of_range = bool(np.isinf(made) or made == 0)
    assert (misfit(ArrayData.of(np.array(number, np.float32))) is not None) == is_out_of_range


def test_fills_are_converted_without_expansion() -> None:
    pattern = np.float32(1 / 3).tobytes()
    made = in_half(PaddedData(FillData(pattern, 4 << 40), 8 << 40))
    assert made.nbytes == 4 << 40
    assert made.read(2, 2).view(HALF) == np.float16(1 / 3)
    assert misfit(FillData(np.float32(1e9).tobytes(), 4 << 40)) is not None


# --- Nodes that stay by their meaning ---------------------------------------------------------------------------------


def test_positions_in_floats_stay() -> None:
    """FLOAT32 between integers and integers, as in programs that count in floats; other nodes are FLOAT16."""
    g = GraphBuilder()
    ids = g.input("ids", "INT32", [1, 1, 1, 4])
    x = g.input("x", "FLOAT32", [1, 1, 1, 4])
    counted = g.identity(g.cast(ids, "FLOAT32", name="count"), scale_bias=ScaleBias(2.0, 1.0), name="odd")
    back = g.cast(counted, "INT32", name="back")
    graph = g.build({"back": back, "y": g.multiply(x, x, name="square")})
    model = dml2onnx.compile(graph, half=True)
    assert reasons(model) == dict.fromkeys(("count", "odd", "back"), POSITIONS)
    given = np.array([[[[1, 3000, 40001, 1 << 20]]]], np.int32)
    found = model.run({"ids": given, "x": np.ones((1, 1, 1, 4), np.float32)})["back"]
    assert (found == given * 2 + 1).all()


def test_networks_for_images_of_bytes_are_float16() -> None:
    g = GraphBuilder()
    picture = g.input("picture", "UINT8", [1, 1, 4, 4])
    w = g.constant(np.ones((1, 1, 3, 3), np.float32), name="w")
    read = g.cast(picture, "FLOAT32", name="read")
    made = g.convolution(read, w, start_padding=[1, 1], end_padding=[1, 1], name="blur")
    model = dml2onnx.compile(g.build({"y": g.cast(made, "UINT8", name="write")}), half=True)
    assert "blur" not in model.stay_float32


@pytest.mark.parametrize(("count", "delta", "stays"), [(2048, 1.0, False), (4097, 1.0, True), (8, 0.1, True)])
def test_sequences_that_float16_cannot_count_stay(count: int, delta: float, stays: bool) -> None:
    g = GraphBuilder()
    row = g.fill_value_sequence([1, 1, 1, count], "FLOAT32", 0.0, delta, name="row")
    x = g.input("x", "FLOAT32", [1, 1, 1, count])
    model = dml2onnx.compile(g.build({"y": g.add(row, x)}), half=True)
    assert (model.stay_float32 == ("row",)) == stays


def test_coordinates_of_regions_and_steps_of_optimizers_stay() -> None:
    wanted = {"ROI_ALIGN": POSITIONS, "ROI_POOLING": POSITIONS, "ADAM_OPTIMIZER": STEPS}
    for name, reason in wanted.items():
        graph = harness.make_case(valid.descriptors()[f"DML_OPERATOR_{name}"][0]).graph
        model = compile_outputs(graph, graph.outputs, exact=False, half=True)
        assert set(reasons(model).values()) == {reason}


def quantized_product() -> Graph:
    """A product between quantizations, then one with dequantized weights."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 3, 4])

    def scaled(*sizes: int) -> tuple[Expression, Expression]:
        return g.constant(np.full(sizes, 1 / 64, np.float32)), g.constant(np.zeros(sizes, np.uint8))

    scales = scaled(1, 1, 3, 4)
    small = g.dequantize_linear(g.quantize_linear(x, *scales, name="q"), *scales, name="dq")
    again = g.quantize_linear(g.activation_relu(small, name="between"), *scales, name="q2")
    packed = g.constant(np.arange(12, dtype=np.uint8).reshape(1, 1, 4, 3), name="packed")
    weights = g.dequantize_linear(packed, *scaled(1, 1, 4, 3), name="weights")
    product = g.gemm(g.dequantize_linear(again, *scales, name="dq2"), weights, name="product")
    return g.build({"y": product})


def test_quantized_nodes_stay_and_dequantized_weights_become_float16() -> None:
    model = dml2onnx.compile(quantized_product(), half=True)
    assert reasons(model) == dict.fromkeys(("q", "dq", "between", "q2"), QUANTIZED)
    assert verify(quantized_product(), rounds=2, half=True).passed


# --- Memory -----------------------------------------------------------------------------------------------------------


def test_memory_read_as_bits_stays() -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 1, 4])
    y = g.multiply(x, x, name="square")
    bits = g.reinterpret(y, "UINT32")
    graph = g.build({"y": g.activation_relu(y, name="relu"), "sign": g.bit_shift_right(bits, bits, name="bits")})
    model = dml2onnx.compile(graph, half=True)
    assert reasons(model) == {"square": BITS}


NBYTES = 64
"""Bytes of a buffer that is written in two parts."""


def in_parts(factor: float) -> Graph:
    """Two nodes write parts of one buffer, whose first version is an input."""
    half = t("FLOAT32", [1, 1, 1, 8])
    x, weights = Value("x", NBYTES), Value("weights", NBYTES // 2)
    first, second = Value("first", NBYTES), Value("second", NBYTES)
    relu = operator("ACTIVATION_RELU", InputTensor=half, OutputTensor=half)
    multiply = operator("ELEMENT_WISE_MULTIPLY", ATensor=half, BTensor=half, OutputTensor=half)
    nodes = (
        Node("relu", relu, {"InputTensor": (Read(x, 32),)}, {"OutputTensor": (Write(first, 0, x),)}),
        Node(
            "multiply",
            multiply,
            {"ATensor": (Read(first),), "BTensor": (Read(weights),)},
            {"OutputTensor": (Write(second, 32, first),)},
        ),
    )
    whole = t("FLOAT32", [1, 1, 2, 8])
    data = ArrayData.of(np.full(8, factor, np.float32))
    return Graph(nodes, (GraphInput("x", x),), (GraphOutput("y", second, whole),), (Constant(weights, data),))


@pytest.mark.parametrize(("factor", "stays"), [(2.0, False), (1e6, True)])
def test_writers_of_one_buffer_have_one_type(factor: float, stays: bool) -> None:
    graph = in_parts(factor)
    model = compile_outputs(graph, graph.outputs, half=True)
    if stays:
        assert reasons(model) == {"relu": IN_PLACE, "multiply": 'stays FLOAT32: FLOAT16 does not hold "weights"'}
    else:
        assert not model.stay_float32
    x = np.arange(-8, 8, dtype=np.float32)
    assert model.run({"x": x})["y"].reshape(-1).tolist() == evaluate(graph, {"x": x})["y"].reshape(-1).tolist()


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(copies(["FLOAT32"]), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_programs_of_floats_over_shared_buffers(steps: list[Copy], seed: int) -> None:
    """Offsets, strides, gaps and versions of buffers: numbers in the range of FLOAT16 keep their positions."""
    made = program(steps)
    rng = np.random.default_rng(seed)
    contents = [Constant(item.value, ArrayData.of(numbers(rng, item.value.nbytes))) for item in made.constants]
    outputs = [replace(item, desc=t("FLOAT32", [item.value.nbytes // 4])) for item in made.outputs]
    inputs = [replace(item, desc=t("FLOAT32", [item.value.nbytes // 4])) for item in made.inputs]
    graph = replace(made, inputs=tuple(inputs), outputs=tuple(outputs), constants=tuple(contents))
    model = compile_outputs(graph, graph.outputs, half=True)
    assert not model.stay_float32
    onnx.checker.check_model(model.model_proto, full_check=True)
    feeds = {"buffer0": numbers(rng, SIZES[0])}
    got = model.run(feeds)
    for name, want in evaluate(graph, feeds).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


def numbers(rng: np.random.Generator, nbytes: int) -> np.ndarray:
    return rng.integers(-99, 99, nbytes // 4).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(copies(["FLOAT32", "UINT32", "FLOAT16", "UINT8"]), min_size=1, max_size=4), seed=st.integers(0, 99)
)
def test_programs_of_bits_over_shared_buffers(steps: list[Copy], seed: int) -> None:
    """Memory that is also read as other types keeps every bit, as without ``half``."""
    graph = program(steps)
    feeds = {"buffer0": np.random.default_rng(seed).integers(0, 256, SIZES[0]).astype(np.uint8)}
    plain, model = compile_outputs(graph, graph.outputs), compile_outputs(graph, graph.outputs, half=True)
    assert ports(model) == ports(plain)
    want, got = plain.run(feeds), model.run(feeds)
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)


def test_weights_from_one_blob_are_converted_view_by_view() -> None:
    """A constant with parts of several types, read at their offsets."""
    g = GraphBuilder()
    blob = np.arange(16, dtype=np.float32)
    raw = g.constant(np.concatenate([blob.view(np.uint32), np.arange(4, dtype=np.uint32)]).reshape(1, 1, 1, 20))
    x = g.input("x", "FLOAT32", [1, 1, 1, 4])
    first = g.reinterpret(raw, "FLOAT32", sizes=[1, 1, 1, 4], offset=16)
    second = g.reinterpret(raw, "UINT32", sizes=[1, 1, 1, 4], offset=64)
    graph = g.build({"y": g.add(x, first, name="add"), "n": g.add(second, second, name="twice")})
    model = dml2onnx.compile(graph, half=True)
    assert not model.stay_float32
    found = model.run({"x": np.zeros((1, 1, 1, 4), np.float32)})
    assert found["y"].reshape(-1).tolist() == [4, 5, 6, 7]
    assert found["n"].reshape(-1).tolist() == [0, 2, 4, 6]
    assert [array.dtype for array in model.lowered.initializers.values() if array.dtype.kind == "f"] == [HALF]


@pytest.mark.parametrize("strides", [(16, 1, 8, 2), (0, 0, 0, 1), None])
def test_layouts_of_ports_do_not_change(strides: tuple[int, ...] | None) -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 2, 2, 4], strides=strides)
    graph = g.build({"y": g.activation_tanh(x)})
    model, plain = dml2onnx.compile(graph, half=True), dml2onnx.compile(graph)
    assert ports(model) == ports(plain)
    given = np.random.default_rng(1).normal(size=plain.inputs[0].shape).astype(np.float32)
    assert model.run({"x": given})["y"] == pytest.approx(plain.run({"x": given})["y"], abs=2e-3)
    assert verify(graph, half=True).passed


# --- With other options -----------------------------------------------------------------------------------------------


def test_named_sizes() -> None:
    model = dml2onnx.compile(weighted(RANDOM), sizes={"x": (1, 1, "n", 3)}, half=True)
    assert model.half
    x = np.random.default_rng(1).normal(size=(1, 1, 5, 3)).astype(np.float32)
    assert model.run({"x": x})["y"] == pytest.approx(np.maximum(x @ RANDOM, 0), abs=1e-2)
    assert verify(weighted(RANDOM), sizes={"x": (1, 1, "n", 3)}, rounds=2, half=True).passed


def test_exact_models_and_literal_translations() -> None:
    graph = weighted(RANDOM)
    assert verify(graph, half=True, exact=True).passed
    assert verify(graph, half=True, optimize=0).passed
    assert verify(graph, half=True, optimize=2).passed


def test_a_wrong_float16_model_is_found(tmp_path: Path) -> None:
    """An error of 1/8 exceeds the bounds of FLOAT16; a correct FLOAT16 model exceeds those of FLOAT32."""
    graph = weighted(RANDOM)
    dml2onnx.compile(weighted(RANDOM * np.float32(1.125)), half=True).save(tmp_path / "wrong.onnx")
    dml2onnx.compile(graph, half=True).save(tmp_path / "right.onnx")
    assert not verify(graph, half=True, against=tmp_path / "wrong.onnx").passed
    assert verify(graph, half=True, against=tmp_path / "right.onnx").passed
    assert not verify(graph, against=tmp_path / "right.onnx").passed


def test_half_is_a_bool() -> None:
    with pytest.raises(dml2onnx.DmlError, match="half is the text"):
        dml2onnx.compile(weighted(RANDOM), half="yes")  # type: ignore[arg-type]


def test_graphs_of_float16_or_integers_do_not_change() -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT16", [1, 1, 2, 4])
    n = g.input("n", "INT32", [1, 1, 2, 4])
    graph = g.build({"y": g.activation_tanh(x), "m": g.add(n, n)})
    assert dml2onnx.compile(graph, half=True).lowered.node_count == dml2onnx.compile(graph).lowered.node_count


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = np.ones((1, 1, 3, 4), np.float32)
    weights[0, 0, 0, 0] = 1e5
    dml2onnx.convert(weighted(weights), tmp_path / "model.json")
    model = str(tmp_path / "model.json")
    assert main(["compile", model, "--half", "-o", str(tmp_path / "half.onnx")]) == 0
    captured = capsys.readouterr()
    assert "FLOAT16, 1 node in FLOAT32" in captured.out
    assert "DML2012" in captured.out + captured.err
    assert main(["explain", model, "--half"]) == 0
    assert 'stays FLOAT32: FLOAT16 does not hold "w"' in " ".join(capsys.readouterr().out.split())
    assert main(["verify", model, "--half"]) == 0
    assert "rounded to 11 bits" in capsys.readouterr().out
    assert main(["run", model, "--half", "--json", "--input", _zeros(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["compile", model, "--half", "--json", "-o", str(tmp_path / "half.onnx")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["half"], answer["stay_float32"]) == (True, ["product"])
    assert main(["report", model, "--half", "--json", "-o", str(tmp_path / "half.html")]) == 0
    assert json.loads(capsys.readouterr().out)["onnx"]["half"] is True


def _zeros(directory: Path) -> str:
    np.save(directory / "x.npy", np.zeros((1, 1, 2, 3), np.float32))
    return f"x={directory / 'x.npy'}"


def test_batches_recompile_for_half(tmp_path: Path) -> None:
    """A FLOAT32 result is not reused for FLOAT16."""
    (tmp_path / "in").mkdir()
    dml2onnx.convert(weighted(RANDOM), tmp_path / "in" / "model.json")
    done = []
    for half in (False, True, True):
        done.append(len(list(batch([tmp_path / "in"], "compile", output=tmp_path / "out", jobs=1, half=half))))
    (made,) = (tmp_path / "out").rglob("*.onnx")
    types = {item.data_type for item in onnx.load(made).graph.initializer}
    assert onnx.TensorProto.FLOAT16 in types
    assert onnx.TensorProto.FLOAT not in types
    assert done
