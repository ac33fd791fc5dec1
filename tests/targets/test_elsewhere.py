"""Forms for OpenVINO, WebGPU and DirectML only, checked on the CPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dml2onnx.onnx_model import OnnxValue
from dml2onnx.targets import legal_type, target
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import check_case, operator, operators, t
from tests.lowering.test_convolution import convolution


def first(values: Sequence[OnnxValue | None]) -> OnnxValue:
    (value, *_) = values
    assert value is not None
    return value


@pytest.mark.parametrize("data_type", ["INT8", "UINT8"])
def test_sums_of_bytes_wrap(data_type):
    sizes = t(data_type, (300,))
    op = operator("ELEMENT_WISE_ADD", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    assert operators(check_case(op, extremes=True)) == ["Add"]
    assert operators(check_case(op, target="openvino", extremes=True)) == ["Cast", "Cast", "Add", "Cast"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_sums_of_bytes_are_widened_if_they_saturate(op):
    for name in ("int8", "uint8"):
        assert legal_type(target("cpu"), op, "T", name, modular=True) == name
        wide = legal_type(target("openvino"), op, "T", name, modular=True, bytes_wrap=False)
        assert wide not in ("int8", "uint8", None)
        assert legal_type(target("openvino"), op, "T", name) == name


@pytest.mark.parametrize(
    ("sizes", "scales", "mode", "forms"),
    [
        ((6,), (1.7,), "NEAREST_NEIGHBOR", ["Reshape", "Resize", "Reshape"]),
        ((2, 3, 1, 4, 6), (1, 1, 1, 1.7, 1.7), "NEAREST_NEIGHBOR", ["Reshape", "Resize", "Reshape"]),
        ((1, 6, 2, 3), (1, 1.7, 1, 1), "NEAREST_NEIGHBOR", ["Gather"]),
        ((1, 6, 5, 3), (1, 1.7, 1.7, 1), "LINEAR", None),
        ((2, 6, 5, 3), (1, 1.7, 1.7, 1.7), "LINEAR", None),
        ((5, 6), (1.7, 1.7), "LINEAR", None),
    ],
)
def test_resize_changes_planes_only(sizes, scales, mode, forms):
    """Resize has at most four axes and changes the last two."""
    op = operator(
        "RESAMPLE",
        InputTensor=t("FLOAT32", sizes),
        OutputTensor=t("FLOAT32", [int(n * s) for n, s in zip(sizes, scales, strict=True)]),
        InterpolationMode=mode,
        Scales=scales,
    )
    model = check_case(op, target="openvino", opset=17)
    assert forms is None or operators(model) == forms
    for node in model.lowered.nodes:
        if node.op_type == "Resize":
            before, after = first(node.inputs).shape, first(node.outputs).shape
            assert 1 < len(before) <= 4
            assert before[:-2] == after[:-2]


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize(("sizes", "kernel"), [((2, 4, 3, 5, 4), (1, 2, 2)), ((1, 4, 3, 2, 4), (2, 1, 3))])
def test_convolutions_with_three_dimensions_use_planes(direction, sizes, kernel):
    """An axis with windows of 1 joins the batch."""
    op = convolution(sizes, (4, 2, *kernel), direction=direction, groups=2)
    (node,) = [node for node in check_case(op, target="webgpu").lowered.nodes if node.op_type.startswith("Conv")]
    assert first(node.inputs).rank == 4


@pytest.mark.parametrize("bias", [False, True])
def test_groups_with_three_dimensions_are_split(bias):
    model = check_case(convolution((1, 4, 3, 3, 3), (4, 2, 2, 2, 2), groups=2, bias=bias), target="webgpu")
    assert operators(model)[bias:] == ["Split"] * (2 + bias) + ["Conv", "Conv", "Concat"]


def test_powers_of_a_column_and_a_row():
    sizes = t("FLOAT32", (2, 4))
    column, row = t("FLOAT32", (2, 4), (1, 0)), t("FLOAT32", (2, 4), (0, 1))
    op = operator("ELEMENT_WISE_POW", InputTensor=column, ExponentTensor=row, OutputTensor=sizes)
    assert operators(check_case(op, exact=False)) == ["Pow"]
    assert operators(check_case(op, target="webgpu", exact=False)) == ["Expand", "Expand", "Pow"]
    assert "Pow" in operators(check_case(op, target="webgpu"))


@pytest.mark.parametrize(("exponent", "forms"), [(0.25, True), (1.5, True), (1, False), (3, False), (-0.5, False)])
def test_roots_of_zero_and_infinity(exponent, forms):
    sizes = t("FLOAT32", (3, 5))
    op = operator("ELEMENT_WISE_CONSTANT_POW", InputTensor=sizes, OutputTensor=sizes, Exponent=exponent)
    check_case(op, target="webgpu", extremes=True)
    assert ("Where" in operators(check_case(op, target="webgpu", exact=False))) == forms


def test_clips_to_infinity():
    """In ``portable``, Max has no kernel and Where loses -0.0."""
    sizes = t("FLOAT32", (3, 5))
    for low, high in ((-1.5, np.inf), (-np.inf, 0.5), (-1.5, 0.5)):
        op = operator("ELEMENT_WISE_CLIP", InputTensor=sizes, OutputTensor=sizes, Min=low, Max=high)
        for name in ("webgpu", "portable"):
            check_case(op, target=name, extremes=True)
            found = operators(check_case(op, target=name, exact=False))
            assert found == (["Clip"] if np.isfinite([low, high]).all() else [found[0], "Where"])


def test_max_pool_indices_use_arg_max():
    op = operator(
        "MAX_POOLING1",
        InputTensor=t("FLOAT32", (1, 1, 4, 4)),
        OutputTensor=t("FLOAT32", (1, 1, 3, 3)),
        OutputIndicesTensor=t("UINT32", (1, 1, 3, 3)),
        Strides=(1, 1),
        WindowSize=(2, 2),
        StartPadding=(0, 0),
        EndPadding=(0, 0),
    )
    assert "MaxPool" not in operators(check_case(op, target="webgpu", extremes=True))
    (pool,) = [node for node in check_case(op, target="openvino").lowered.nodes if node.op_type == "MaxPool"]
    assert first(pool.outputs).dtype == np.float32


@pytest.mark.parametrize("target", ["openvino", "portable"])
@pytest.mark.parametrize("op", ["MAX", "MIN"])
def test_unsigned_extremes_are_not_compared_as_uint32(target, op):
    sizes = t("UINT32", (40,))
    op = operator(f"ELEMENT_WISE_{op}", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    compared = [
        node
        for node in check_case(op, target=target, extremes=True).lowered.nodes
        if node.op_type not in ("Cast", "Add", "Where", "Not")
    ]
    assert compared
    assert all(first(node.inputs).dtype != np.uint32 for node in compared)


@pytest.mark.parametrize("data_type", ["INT32", "UINT32"])
@pytest.mark.parametrize("function", ["MAX", "MIN", "ARGMAX"])
def test_integers_are_not_reduced_in_float(function, data_type):
    x, y = t(data_type, (3, 50)), t(data_type if function != "ARGMAX" else "UINT32", (3, 1))
    if function == "ARGMAX":
        op = operator("ARGMAX", InputTensor=x, OutputTensor=y, Axes=[1], AxisDirection="INCREASING")
    else:
        op = operator("REDUCE", InputTensor=x, OutputTensor=y, Function=function, Axes=[1])
    found = check_case(op, target="openvino", extremes=True).lowered.nodes
    assert "ArgM" in "".join(node.op_type for node in found)
    assert not any(node.op_type in ("ReduceMax", "ReduceMin") for node in found)


def test_top_k_of_unsigned_numbers():
    x, y, where = t("UINT32", (2, 20)), t("UINT32", (2, 3)), t("UINT32", (2, 3))
    op = operator("TOP_K", InputTensor=x, OutputValueTensor=y, OutputIndexTensor=where, Axis=1, K=3)
    for name in ("cpu", "openvino"):
        check_case(op, target=name, extremes=True)


def test_resize_of_the_first_axis_is_gathered():
    op = operator(
        "RESAMPLE",
        InputTensor=t("FLOAT32", (6, 5, 3)),
        OutputTensor=t("FLOAT32", (10, 5, 3)),
        InterpolationMode="LINEAR",
        Scales=(1.7, 1, 1),
    )
    assert operators(check_case(op, target="openvino")) == ["Gather", "Gather", "Mul", "Mul", "Add"]


def test_strides_of_filters_of_one_element_become_a_slice():
    op = convolution((1, 2, 5, 6), (3, 2, 1, 1), strides=[1, 2], start=[0, 1], end=[1, 1], bias=False)
    assert operators(check_case(op)) == ["Conv"]
    model = check_case(op, target="openvino")
    assert operators(model) == ["Pad", "Slice", "Conv"]
    assert model.lowered.nodes[-1].attributes["strides"] == (1, 1)


def test_average_pool_without_a_kernel():
    """A Conv replaces AveragePool in opsets after its last kernel."""
    op = operator(
        "AVERAGE_POOLING",
        InputTensor=t("FLOAT32", (2, 3, 5, 6)),
        OutputTensor=t("FLOAT32", (2, 3, 5, 6)),
        Strides=(1, 1),
        WindowSize=(3, 3),
        StartPadding=(1, 1),
        EndPadding=(1, 1),
        IncludePadding=False,
    )
    for opset, expected in ((18, "AveragePool"), (21, "Conv")):
        model = check_case(op, target="webgpu", opset=opset)
        assert expected in operators(model)
        assert model.warnings == ()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ACTIVATION_LOG_SOFTMAX1", {"Axes": [1]}),
        ("ACTIVATION_SCALED_ELU", {"Alpha": 1.6, "Gamma": 1.1}),
        ("ACTIVATION_SOFTSIGN", {}),
        ("ACTIVATION_PARAMETERIZED_RELU", {"SlopeTensor": t("FLOAT32", (3, 7))}),
        ("ELEMENT_WISE_MEAN", {"ATensor": t("FLOAT32", (3, 7)), "BTensor": t("FLOAT32", (3, 7))}),
    ],
)
def test_element_wise_operators_without_a_kernel(name, fields):
    tensor = t("FLOAT32", (3, 7))
    inputs = fields if "ATensor" in fields else {"InputTensor": tensor, **fields}
    assert check_case(operator(name, OutputTensor=tensor, **inputs), target="webgpu").warnings == ()


def test_caches_without_a_kernel_of_scatter_nd():
    """DirectML's last kernel of ScatterND is that of opset 17."""
    with_past = [op for op in descriptors()["DML_OPERATOR_MULTIHEAD_ATTENTION1"] if op.has("PastSequenceLengthsTensor")]
    assert with_past
    for op in with_past:
        assert "ScatterND" in operators(check_case(op))
        model = check_case(op, target="dml")
        assert "ScatterND" not in operators(model)
        assert "GatherElements" in operators(model)


def test_gelu_without_a_kernel():
    sizes = t("FLOAT32", (3, 5))
    op = operator("ACTIVATION_GELU", InputTensor=sizes, OutputTensor=sizes)
    assert "Gelu" in operators(check_case(op))
    model = check_case(op, target="dml", extremes=True)
    assert "Erf" in operators(model)
    (trace,) = model.traces
    assert trace.notes == ("Gelu has no kernel: Erf and its neighbors replace it",)


def test_bit_casts_need_no_doubles():
    sizes = t("FLOAT32", (3, 50))
    op = operator("ELEMENT_WISE_BIT_NOT", InputTensor=sizes, OutputTensor=sizes)
    for name in ("cpu", "dml", "openvino"):
        model = check_case(op, target=name, extremes=True)
        assert not any(first(node.outputs).dtype == np.float64 for node in model.lowered.nodes)
