"""Forms that other runtimes than ONNX Runtime need: exact everywhere, and taken for their targets only."""

from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.targets import legal_type, target
from tests.lowering.harness import check_case, operator, operators, t
from tests.lowering.test_convolution import convolution


@pytest.mark.parametrize(("name", "rank"), [("cpu", 4), ("openvino", 0), ("portable", 0)])
def test_the_rank_of_a_condition(name, rank):
    """A maximum whose form is chosen by what the input holds."""
    op = operator(
        "MAX_POOLING",
        InputTensor=t("FLOAT32", (1, 1, 4, 4)),
        OutputTensor=t("FLOAT32", (1, 1, 3, 3)),
        Strides=(1, 1),
        WindowSize=(2, 2),
        StartPadding=(0, 0),
        EndPadding=(0, 0),
    )
    model = check_case(op, target=name, extremes=True)
    (condition,) = [node.inputs[0] for node in model.lowered.nodes if node.op_type == "If"]
    assert condition is not None
    assert len(condition.shape) == rank


@pytest.mark.parametrize("data_type", ["INT8", "UINT8"])
def test_sums_of_bytes_go_round(data_type):
    sizes = t(data_type, (300,))
    op = operator("ELEMENT_WISE_ADD", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    assert operators(check_case(op, extremes=True)) == ["Add"]
    assert operators(check_case(op, target="openvino", extremes=True)) == ["Cast", "Cast", "Add", "Cast"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_types_in_which_bytes_go_round(op):
    for name in ("int8", "uint8"):
        assert legal_type(target("cpu"), op, 21, "T", name, modular=True) == name
        assert legal_type(target("openvino"), op, 21, "T", name, modular=True) not in ("int8", "uint8", None)
        assert legal_type(target("openvino"), op, 21, "T", name) == name


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
def test_planes_are_resized(sizes, scales, mode, forms):
    """No axis but the last two of four, whatever is to be resized."""
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
            before, after = node.inputs[0].shape, node.outputs[0].shape
            assert 1 < len(before) <= 4
            assert before[:-2] == after[:-2]


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize(("sizes", "kernel"), [((2, 4, 3, 5, 4), (1, 2, 2)), ((1, 4, 3, 2, 4), (2, 1, 3))])
def test_planes_are_convolved(direction, sizes, kernel):
    """An axis along which nothing moves joins the batch."""
    op = convolution(sizes, (4, 2, *kernel), direction=direction, groups=2)
    (node,) = [node for node in check_case(op, target="webgpu").lowered.nodes if node.op_type.startswith("Conv")]
    assert len(node.inputs[0].shape) == 4


def test_groups_are_convolved_one_by_one():
    model = check_case(convolution((1, 4, 3, 3, 3), (4, 2, 2, 2, 2), groups=2, bias=False), target="webgpu")
    assert operators(model) == ["Split", "Split", "Conv", "Conv", "Concat"]


def test_powers_of_a_column_and_a_row():
    sizes = t("FLOAT32", (2, 4))
    column, row = t("FLOAT32", (2, 4), (1, 0)), t("FLOAT32", (2, 4), (0, 1))
    op = operator("ELEMENT_WISE_POW", InputTensor=column, ExponentTensor=row, OutputTensor=sizes)
    assert operators(check_case(op)) == ["Pow"]
    assert operators(check_case(op, target="webgpu")) == ["Expand", "Expand", "Pow"]


@pytest.mark.parametrize(("exponent", "forms"), [(0.25, True), (1.5, True), (1, False), (3, False), (-0.5, False)])
def test_roots_of_what_has_no_logarithm(exponent, forms):
    sizes = t("FLOAT32", (3, 5))
    op = operator("ELEMENT_WISE_CONSTANT_POW", InputTensor=sizes, OutputTensor=sizes, Exponent=exponent)
    assert ("Where" in operators(check_case(op, target="webgpu", extremes=True))) == forms


def test_clips_to_infinity():
    """Where Max has no kernel, and Where loses -0.0 besides, as for what is portable."""
    sizes = t("FLOAT32", (3, 5))
    for low, high in ((-1.5, np.inf), (-np.inf, 0.5), (-1.5, 0.5)):
        op = operator("ELEMENT_WISE_CLIP", InputTensor=sizes, OutputTensor=sizes, Min=low, Max=high)
        for name in ("webgpu", "portable"):
            found = operators(check_case(op, target=name, extremes=True))
            assert found == (["Clip"] if np.isfinite([low, high]).all() else [found[0], "Where"])


def test_indices_are_searched():
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
    assert pool.outputs[0].dtype == np.float32
