"""Forms for Qualcomm's NPU only, checked on the CPU. ``tests/runtimes/`` runs them on its emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.builder import Expression
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.onnx_model import ELEMENT_TYPES, OnnxNode, with_bodies
from dml2onnx.targets import Target, bound, target
from dml2onnx.targets.kernels import DEVICES
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import check_form, make_case, operator, operators, t

ROW = t("FLOAT32", (1, 1, 2, 4))
BACKWARDS = np.array([[[[-1, 0, -4, 2], [-2, 1, 3, -3]]]], np.int32)


def forms(op: OperatorDesc, **how: Any) -> tuple[list[str], list[str]]:
    """The ONNX operators for any runtime and for the NPU; the results of both are checked."""
    return operators(check_form(op, target="onnx", **how)), operators(check_form(op, target="qnn-npu", **how))


def indexed(name: str, **tensors: Any) -> OperatorDesc:
    indices = t("INT32", BACKWARDS.shape)
    return operator(name, InputTensor=ROW, IndicesTensor=indices, OutputTensor=ROW, Axis=3, **tensors)


@pytest.mark.parametrize(
    ("op", "kernel"),
    [
        (indexed("GATHER_ELEMENTS"), "GatherElements"),
        (indexed("SCATTER", UpdatesTensor=ROW), "ScatterElements"),
    ],
)
def test_negative_indices_are_replaced(op, kernel):
    plain, npu = forms(op, inputs={"IndicesTensor": BACKWARDS})
    assert plain == [kernel]
    assert npu == ["Less", "Add", "Where", kernel]


def test_constant_indices_need_no_nodes():
    _, npu = forms(indexed("GATHER_ELEMENTS"), inputs={"IndicesTensor": BACKWARDS}, constants=["IndicesTensor"])
    assert npu == ["GatherElements"]


def test_negative_coordinates_are_replaced():
    op = operator(
        "SCATTER_ND",
        InputTensor=t("FLOAT32", (3, 4)),
        IndicesTensor=t("INT32", (2, 2)),
        UpdatesTensor=t("FLOAT32", (1, 2)),
        OutputTensor=t("FLOAT32", (3, 4)),
        InputDimensionCount=2,
        IndicesDimensionCount=2,
    )
    _, npu = forms(op, inputs={"IndicesTensor": np.array([[-1, -1], [0, -4]], np.int32)})
    assert npu[-4:] == ["Less", "Add", "Where", "ScatterND"]


@pytest.mark.parametrize(("data_type", "adds"), [("FLOAT32", False), ("INT32", True)])
def test_only_gather_of_integers_replaces_negative_indices(data_type, adds):
    x, indices = t(data_type, (2, 4)), t("INT32", (1, 3))
    op = operator(
        "GATHER", InputTensor=x, IndicesTensor=indices, OutputTensor=t(data_type, (2, 3)), Axis=1, IndexDimensions=1
    )
    _, npu = forms(op, inputs={"IndicesTensor": np.array([[-1, 0, -4]], np.int32)})
    assert ("Less" in npu) is adds


@pytest.mark.parametrize(("mode", "kernel"), [("EDGE", "Gather"), ("REFLECTION", "Pad")])
def test_edge_padding_uses_gather(mode, kernel):
    op = operator(
        "PADDING",
        InputTensor=ROW,
        OutputTensor=t("FLOAT32", (1, 1, 2, 7)),
        PaddingMode=mode,
        PaddingValue=0,
        StartPadding=(0, 0, 0, 1),
        EndPadding=(0, 0, 0, 2),
    )
    assert forms(op) == (["Pad"], [kernel])


def test_bytes_are_cast_to_floats_through_integers():
    op = operator("CAST", InputTensor=t("UINT8", (1, 1, 2, 4)), OutputTensor=ROW)
    assert forms(op) == (["Cast"], ["Cast", "Cast"])


def test_negative_integers_are_true():
    """Masks of attention may have other numbers than 0 and 1."""
    op = next(op for op in descriptors()["DML_OPERATOR_MULTIHEAD_ATTENTION"] if op.enum("MaskType") == "BOOLEAN")
    plain, npu = forms(op)
    assert plain.count("Cast") > npu.count("Cast")
    assert {"Equal", "Not"} <= set(npu)


@pytest.mark.parametrize("name", ["ELEMENT_WISE_ADD", "ELEMENT_WISE_MULTIPLY"])
def test_sums_of_bytes_wrap(name):
    byte = t("UINT8", (300,))
    op = operator(name, ATensor=byte, BTensor=byte, OutputTensor=byte)
    _, npu = forms(op)
    assert npu[-2:] == ["Mod", "Cast"]


def test_quantized_numbers_are_above_integers():
    """Rounding down and rounding to nearest then give the same result."""
    (op, *_) = descriptors()["DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR"]
    plain, npu = forms(op)
    assert plain.count("Round") <= npu.count("Round")
    assert npu[-2:] == ["Add", "QuantizeLinear"]


@pytest.mark.parametrize("steepness", [0.5, 1, 3])
def test_softplus_is_a_formula(steepness):
    op = operator("ACTIVATION_SOFTPLUS", InputTensor=ROW, OutputTensor=ROW, Steepness=steepness)
    plain, npu = forms(op)
    assert "Softplus" in plain
    assert {"Exp", "Log"} <= set(npu)


@pytest.mark.parametrize(("offset", "kernel"), [(0.5, "Resize"), (0, "Gather")])
def test_nearest_resize_uses_the_modes_of_the_npu(offset, kernel):
    """The NPU rounds halves up at pixel centers, but not at asymmetric coordinates."""
    op = operator(
        "RESAMPLE1",
        InputTensor=t("FLOAT32", (1, 1, 3, 4)),
        OutputTensor=t("FLOAT32", (1, 1, 7, 9)),
        InterpolationMode="NEAREST_NEIGHBOR",
        Scales=(1, 1, 7 / 3, 9 / 4),
        InputPixelOffsets=(offset,) * 4,
        OutputPixelOffsets=(-offset,) * 4,
    )
    _, npu = forms(op)
    assert kernel in npu
    assert ("Gather" in npu) is (kernel == "Gather")


def test_extremes_of_many_dimensions_are_flattened():
    sizes = t("INT32", (2, 1, 3, 1, 2, 1, 2))
    op = operator("ELEMENT_WISE_MIN", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    plain, npu = forms(op)
    assert plain == ["Min"]
    assert npu == ["Reshape", "Reshape", "Min", "Reshape"]


def test_extremes_that_broadcast_use_where():
    sizes = t("INT32", (2, 1, 3, 1, 2, 1, 2))
    some = t("INT32", (2, 1, 3, 1, 2, 1, 2), (2, 0, 4, 0, 0, 0, 1))
    op = operator("ELEMENT_WISE_MAX", ATensor=sizes, BTensor=some, OutputTensor=sizes)
    assert {"Greater", "Where"} <= set(forms(op)[1])


def warnings(op: OperatorDesc) -> list[tuple[str, str]]:
    graph = make_case(op).graph
    model = compile_outputs(graph, graph.outputs, target="qnn-npu", exact=False)
    return [(item.code, item.message) for item in model.warnings]


def test_bits_of_floats_are_reported():
    op = operator("ELEMENT_WISE_BIT_AND", ATensor=ROW, BTensor=ROW, OutputTensor=ROW)
    assert any(code == "DML2011" and "fewer bits" in text for code, text in warnings(op))
    whole = t("UINT32", (1, 1, 2, 4))
    op = operator("ELEMENT_WISE_BIT_AND", ATensor=whole, BTensor=whole, OutputTensor=whole)
    assert all(code != "DML2011" for code, _ in warnings(op))


def test_many_dimensions_are_reported():
    sizes = t("FLOAT32", (2, 1, 3, 1, 2, 2))
    found = warnings(operator("ELEMENT_WISE_ABS", InputTensor=sizes, OutputTensor=sizes))
    assert [code for code, _ in found] == ["DML2009"]
    assert "kernels of Abs for 5 dimensions at most" in found[0][1]
    assert warnings(operator("ELEMENT_WISE_ABS", InputTensor=ROW, OutputTensor=ROW)) == []


@pytest.mark.parametrize("name", [*DEVICES, "windows-ml"])
def test_every_operator_has_a_form_for_each_device(name):
    """Nodes without a known kernel run on the CPU, and are reported."""
    for several in descriptors().values():
        graph = single_node(several[0])
        model = compile_outputs(graph, graph.outputs, target=name, exact=False)
        chosen = target(name)
        elsewhere = [node.op_type for node in with_bodies(model.lowered.nodes) if not _has_kernel(chosen, node)]
        assert bool(elsewhere) == any(item.code == "DML2009" for item in model.warnings), several[0].type


def _has_kernel(chosen: Target, node: OnnxNode) -> bool:
    types = [
        [None if value is None else ELEMENT_TYPES[value.dtype][1] for value in values]
        for values in (node.inputs, node.outputs)
    ]
    most = max((value.rank for value in (*node.inputs, *node.outputs) if value is not None), default=0)
    is_wide = chosen.has("EXTREMES_END_AT_5") and most > 5
    return not is_wide and chosen.has_kernel(node.op_type, bound(node.op_type, chosen.opset, *types))


def test_windows_ml_has_what_all_devices_have():
    shared = target("windows-ml", exact=False)
    for name in ("cpu", "dml", *DEVICES):
        assert set(shared.quirks) >= set(target(name).quirks)
    for types in ("float", "float16", "double", "int32"):
        everywhere = all(target(name, exact=False).has_kernel("Mul", {"T": types}) for name in ("cpu", "dml", *DEVICES))
        assert shared.has_kernel("Mul", {"T": types}) is everywhere
    assert shared.falls_back


# --- Resampling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*DEVICES, "windows-ml"])
@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize(("mode", "offsets"), [("LINEAR", (0.5, -0.5)), ("NEAREST_NEIGHBOR", (0.0, 0.0))])
def test_axes_of_resize_are_stated(name: str, opset: int, mode: str, offsets: tuple[float, float]) -> None:
    """winml-cli has measured no Resize without axes, and no linear one with another nearest_mode than floor."""
    op = operator(
        "RESAMPLE2",
        InputTensor=t("FLOAT32", (1, 3, 4, 5)),
        OutputTensor=t("FLOAT32", (1, 3, 8, 10)),
        InterpolationMode=mode,
        RoundingDirection="DECREASING" if mode == "NEAREST_NEIGHBOR" else "INCREASING",
        Scales=[1, 1, 2, 2],
        InputPixelOffsets=[offsets[0]] * 4,
        OutputPixelOffsets=[offsets[1]] * 4,
    )
    (node,) = [item for item in check_form(op, target=name, opset=opset).lowered.nodes if item.op_type == "Resize"]
    assert node.attributes.get("axes") == ((0, 1, 2, 3) if opset >= 18 else None)
    assert node.attributes["nearest_mode"] == "floor"


# --- Sequences --------------------------------------------------------------------------------------------------------


def lstm(direction: str, *, cell: bool = False) -> OperatorDesc:
    """Four sequences of up to six steps."""
    ways = 2 if direction == "BIDIRECTIONAL" else 1
    return operator(
        "LSTM",
        InputTensor=t("FLOAT32", (1, 6, 4, 5)),
        WeightTensor=t("FLOAT32", (1, ways, 12, 5)),
        RecurrenceTensor=t("FLOAT32", (1, ways, 12, 3)),
        BiasTensor=t("FLOAT32", (1, 1, ways, 24)),
        SequenceLengthsTensor=t("UINT32", (1, 1, 1, 4)),
        OutputSequenceTensor=t("FLOAT32", (6, ways, 4, 3)),
        OutputSingleTensor=t("FLOAT32", (1, ways, 4, 3)),
        OutputCellSingleTensor=t("FLOAT32", (1, ways, 4, 3)) if cell else None,
        ActivationDescs=[operator(f"ACTIVATION_{name}") for name in ("SIGMOID", "TANH", "TANH") * ways],
        Direction=direction,
        UseClipThreshold=False,
        CoupleInputForget=False,
        ClipThreshold=0.0,
    )


def npu_lstms(lengths: list[int], direction: str, *, constant: bool = True, cell: bool = False) -> list[OnnxNode]:
    """The LSTM nodes for the NPU, after checking the results."""
    inputs = {"SequenceLengthsTensor": np.array(lengths, np.uint32).reshape(1, 1, 1, 4)}
    constants = ["SequenceLengthsTensor", "WeightTensor", "RecurrenceTensor", "BiasTensor"] if constant else []
    model = check_form(lstm(direction, cell=cell), target="qnn-npu", inputs=inputs, constants=constants)
    return [node for node in model.lowered.nodes if node.op_type == "LSTM"]


@pytest.mark.parametrize(("direction", "ways"), [("FORWARD", 1), ("BACKWARD", 1), ("BIDIRECTIONAL", 2)])
def test_known_lengths_are_dropped(direction, ways):
    found = npu_lstms([6, 3, 1, 5], direction)
    assert len(found) == ways
    assert all(len(node.inputs) < 5 or node.inputs[4] is None for node in found)
    assert all("direction" not in node.attributes for node in found)


def test_lengths_of_all_steps_are_dropped():
    (node,) = npu_lstms([6, 6, 6, 6], "BIDIRECTIONAL")
    assert len(node.inputs) < 5


@pytest.mark.parametrize(("shortest", "how"), [(1, {"constant": False}), (1, {"cell": True}), (0, {})])
def test_other_lengths_are_kept(shortest, how):
    (node,) = npu_lstms([6, 3, shortest, 5], "BIDIRECTIONAL", **how)
    assert node.inputs[4] is not None


# --- Forms that winml-cli has measured --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["qnn-npu", "qnn-gpu", "openvino", "openvino-npu", "openvino-gpu", "tensorrt-rtx", "windows-ml"]
)
def test_slices_state_their_steps(name):
    """Other targets omit steps of 1."""
    x, part = t("FLOAT32", (1, 1, 4, 4)), t("FLOAT32", (1, 1, 2, 4))
    op = operator("SLICE", InputTensor=x, OutputTensor=part, Offsets=(0, 0, 1, 0), Sizes=(1, 1, 2, 4), Strides=(1,) * 4)
    assert [len(node.inputs) for node in check_form(op, target="onnx").lowered.nodes] == [4]
    model = check_form(op, target=name)
    (node,) = model.lowered.nodes
    steps = node.inputs[4]
    assert steps is not None
    assert model.lowered.initializers[steps.name].tolist() == [1]


@pytest.mark.parametrize(("axis", "taken", "stated"), [(2, (1, 1, 2, 4), 2), (3, (1, 1, 4, 2), -1)])
def test_the_last_axis_of_top_k_is_negative(axis, taken, stated):
    values, indices = t("FLOAT32", taken), t("UINT32", taken)
    x = t("FLOAT32", (1, 1, 4, 4))
    op = operator("TOP_K", InputTensor=x, OutputValueTensor=values, OutputIndexTensor=indices, Axis=axis, K=2)
    (node,) = (node for node in check_form(op, target="onnx").lowered.nodes if node.op_type == "TopK")
    assert node.attributes["axis"] == stated


def test_adam_has_no_scalars():
    """OpenVINO's processors do not run them."""
    (op, *_) = descriptors()["DML_OPERATOR_ADAM_OPTIMIZER"]
    nodes = check_form(op, target="openvino-npu").lowered.nodes
    assert all(value.shape for node in nodes for value in node.outputs if value is not None)


# --- Quantization -----------------------------------------------------------------------------------------------------


def quantised(*, filters: int = 1, moved: bool = False, computed: bool = False) -> dml2onnx.Graph:
    """Two 8-bit convolutions, each followed by a maximum."""
    rng = np.random.default_rng(3)
    g = dml2onnx.GraphBuilder()

    def one(value: float, data_type: type = np.float32) -> Expression:
        return g.constant(np.full((1, 1, 1, 1), value, data_type))

    x = g.input("x", "UINT8", [1, 4, 16, 16])
    read = g.slice1(x, [0, 0, 1, 0], [1, 4, 14, 16], [1, 1, 1, 1]) if moved else x
    scale = g.input("scale", "FLOAT32", [1, 1, 1, 1]) if computed else one(0.02)
    steps = g.constant(rng.uniform(0.005, 0.01, (1, filters, 1, 1)).astype(np.float32))
    for count, size in ((8, 4), (8, 8)):
        weights = g.constant(rng.integers(-60, 60, (count, size, 3, 3)).astype(np.int8))
        zeros = g.constant(np.zeros((1, filters, 1, 1), np.int8))
        result = g.quantized_linear_convolution(
            read, scale, one(128, np.uint8), weights, steps, zeros, None, one(0.04), one(100, np.uint8), "UINT8"
        )
        read, scale = g.max_pooling(result, [2, 2], [1, 1]).values, one(0.04)
    return g.build({"y": read})


@pytest.mark.parametrize("filters", [1, 8])
def test_quantized_networks_consist_of_qdq_units(filters):
    model = dml2onnx.compile(quantised(filters=filters), target="qnn-npu")
    assert "DML2009" not in {item.code for item in model.warnings}
    unit = ["DequantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear"]
    pool = ["DequantizeLinear", "MaxPool", "QuantizeLinear"]
    assert operators(model) == [*unit, *pool, *unit, *pool]
    x = np.random.default_rng(4).integers(0, 256, (1, 4, 16, 16)).astype(np.uint8)
    want, got = dml2onnx.run(quantised(filters=filters), {"x": x})["y"], model.run({"x": x})["y"]
    assert np.abs(got.astype(int) - want).max() <= 1  # ties of sums


@pytest.mark.parametrize("how", [{"moved": True}, {"computed": True}])
def test_products_that_are_no_qdq_units_use_integers(how):
    """A unit reads a graph input, a constant or another unit, with constant parameters."""
    model = dml2onnx.compile(quantised(**how), target="qnn-npu")
    assert operators(model).count("ConvInteger") == 2
    assert "Conv" not in operators(model)
