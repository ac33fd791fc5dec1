"""Forms for WebNN only, checked on the CPU. ``tests/runtimes/`` runs them in Chromium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.onnx_model import has_unknown, with_bodies
from dml2onnx.targets import target
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import check_form, make_case, operator, operators, t

ROW = t("FLOAT32", (1, 1, 2, 4))
LINE = t("FLOAT32", (1, 1, 1, 4))
PLACES = np.array([[[[1, 0, -4, 2], [-2, 1, 3, -3]]]], np.int32)


def forms(op: OperatorDesc, **how: Any) -> tuple[list[str], list[str]]:
    """The ONNX operators for any runtime and for WebNN; the results of both are checked."""
    return operators(check_form(op, target="onnx", **how)), operators(check_form(op, target="webnn", **how))


def of(name: str, number: int = 0) -> OperatorDesc:
    """A valid descriptor."""
    return descriptors()[f"DML_OPERATOR_{name}"][number]


def picked(name: str, desc: Any, places: np.ndarray, **tensors: Any) -> OperatorDesc:
    indices = t("INT32", places.shape)
    return operator(name, InputTensor=desc, IndicesTensor=indices, OutputTensor=desc, Axis=3, **tensors)


def test_computed_indices_use_gather_nd() -> None:
    plain, web = forms(picked("GATHER_ELEMENTS", ROW, PLACES), inputs={"IndicesTensor": PLACES})
    assert plain == ["GatherElements"]
    assert web == ["Cast", "Reshape", "Concat", "GatherND"]


def test_computed_indices_into_one_row_use_gather() -> None:
    _, web = forms(picked("GATHER_ELEMENTS", LINE, PLACES[:, :, :1]), inputs={"IndicesTensor": PLACES[:, :, :1]})
    assert web == ["Reshape", "Reshape", "Gather", "Reshape"]


def test_constant_indices_keep_gather_elements() -> None:
    op = picked("GATHER_ELEMENTS", ROW, PLACES)
    _, web = forms(op, inputs={"IndicesTensor": PLACES}, constants=["IndicesTensor"])
    assert web == ["GatherElements"]


@pytest.mark.parametrize("constants", [[], ["IndicesTensor"]])
def test_scatter_uses_scatter_nd(constants: list[str]) -> None:
    places = np.array([[[[1, 0, -1, 2], [3, 1, 0, 2]]]], np.int32)
    _, web = forms(
        picked("SCATTER", ROW, places, UpdatesTensor=ROW), inputs={"IndicesTensor": places}, constants=constants
    )
    assert web[-1] == "ScatterND"
    assert "ScatterElements" not in web


def refused(name: str, values: dict[str, Any]) -> bool:
    """Whether WebNN fails to build a node, or miscomputes it."""
    ones = lambda key: set(np.ravel(values.get(key, 1))) == {1}  # noqa: E731
    if name == "ConvTranspose":
        return bool(np.any(values.get("pads", 0))) or not ones("dilations") or values.get("group", 1) != 1
    if name in ("AveragePool", "MaxPool", "LpPool"):
        counts = name == "LpPool" or (name == "AveragePool" and not values.get("count_include_pad"))
        return not ones("dilations") or (counts and bool(np.any(values.get("pads", 0))))
    return name == "Pad" and values.get("mode") == "edge"


@pytest.mark.parametrize("name", sorted(descriptors()))
def test_no_operator_needs_what_webnn_refuses(name: str) -> None:
    for op in descriptors()[name]:
        graph = make_case(op).graph
        nodes = compile_outputs(graph, graph.outputs, target="webnn", exact=False).lowered.nodes
        computed = {item.name for item in graph.inputs} | {
            item.name for node in with_bodies(nodes) for item in node.outputs if item
        }
        for node in with_bodies(nodes):
            assert not refused(node.op_type, dict(node.attributes)), node
            if node.op_type == "GatherElements":
                assert node.inputs[1] is not None
                assert node.inputs[1].name not in computed, node
            if node.op_type == "ScatterElements":
                assert node.attributes.get("reduction", "none") != "none", node
            shape = node.inputs[0].shape if node.inputs and node.inputs[0] else ()
            if node.op_type.startswith("Reduce") and not has_unknown(shape):  # WebNN refuses unknown sizes anyway
                assert len(shape) <= 6, node
            if node.op_type == "DequantizeLinear":
                assert len(node.inputs) == 3, node


def test_other_targets_have_none_of_these_quirks() -> None:
    quirks = set(target("webnn").quirks)
    for name in ("onnx", "cpu", "webgpu", "dml"):
        assert not quirks & set(target(name).quirks)


@pytest.mark.parametrize("name", ["RESAMPLE", "RESAMPLE1", "RESAMPLE2", "UPSAMPLE_2D"])
def test_resizes_off_pixel_centers_are_gathered(name: str) -> None:
    """A linear Resize is kept only if it samples pixel centers; a nearest one, if it selects the same elements."""
    for op in descriptors()[f"DML_OPERATOR_{name}"]:
        model = check_form(op, target="webnn")
        for node in with_bodies(model.lowered.nodes):
            if node.op_type == "Resize" and node.attributes["mode"] == "linear":
                assert node.attributes["coordinate_transformation_mode"] == "half_pixel", node


def test_ties_of_nearest_resize_are_gathered() -> None:
    """The second of three samples is between two of four elements: DirectML takes the latter, Resize either."""
    op = operator(
        "RESAMPLE1",
        InputTensor=t("FLOAT32", (1, 1, 1, 4)),
        OutputTensor=t("FLOAT32", (1, 1, 1, 3)),
        InterpolationMode="NEAREST_NEIGHBOR",
        Scales=(1, 1, 1, 0.75),
        InputPixelOffsets=(0.5,) * 4,
        OutputPixelOffsets=(-0.5,) * 4,
    )
    assert "Resize" not in forms(op)[1]


def test_one_hot_is_replaced() -> None:
    plain, web = forms(of("ONE_HOT"))
    assert "OneHot" in plain
    assert "OneHot" not in web


def test_gru_with_reset_bias_is_unrolled() -> None:
    for op in descriptors()["DML_OPERATOR_GRU"]:
        _, web = forms(op)
        assert "GRU" not in web or not (op.flag("LinearBeforeReset") and op.tensors("BiasTensor"))
