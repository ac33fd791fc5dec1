"""Regression tests from campaigns: the smallest models and descriptors that failed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.checks import check
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.reference import evaluate
from dml2onnx.test_cases.relations import relations, with_identity
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.trial import trial
from tests.frontends.models import load_model
from tests.lowering.harness import operator, t

ROIS = {
    "InputGradientTensor": t("FLOAT32", (4, 1, 1, 3)),
    "ROITensor": t("FLOAT32", (4, 4)),
    "BatchIndicesTensor": t("UINT32", (4,)),
    "OutputGradientTensor": t("FLOAT32", (1, 1, 4, 4)),
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "NEAREST_NEIGHBOR",
    "SpatialScaleX": 3.0,
    "SpatialScaleY": 0.0,
    "InputPixelOffset": 1.0,
    "OutputPixelOffset": 0.0,
    "MinimumSamplesPerOutput": 1,
    "MaximumSamplesPerOutput": 1,
    "AlignRegionsToCorners": False,
}
LOCAL = {
    **dict.fromkeys(("InputTensor", "OutputTensor"), t("FLOAT32", (1, 3, 3, 3))),
    "CrossChannel": True,
    "LocalSize": 3,
    "Alpha": -1.0,
    "Beta": 0.5,
    "Bias": 3.0,
}
ONE = dict.fromkeys(("InputTensor", "OutputTensor"), t("FLOAT32", (1,)))
FOUR = dict.fromkeys(("InputTensor", "OutputTensor"), t("FLOAT32", (2, 4, 4)))
NORM = dict.fromkeys(("InputTensor", "OutputTensor"), t("FLOAT32", (1, 2, 3, 3)))


@pytest.mark.parametrize(
    ("op", "seed"),
    [
        # a NaN region may add its gradient anywhere
        pytest.param(operator("ROI_ALIGN_GRAD", **ROIS), 711, id="roi-nan"),
        # squares that underflow make a slice of zeros, which a negative Epsilon distinguishes
        pytest.param(operator("LP_NORMALIZATION", **NORM, Axis=0, Epsilon=-1, P=2), 101435, id="lp-negative-epsilon"),
        # -inf to a fractional power is 0 by IEEE 754, but NaN as a root
        pytest.param(operator("LOCAL_RESPONSE_NORMALIZATION", **LOCAL), 320190007, id="lrn-negative-infinity"),
        # a product below the smallest normal number has few digits or is 0, which its logarithm shows
        pytest.param(operator("ELEMENT_WISE_LOG", **ONE, ScaleBias=ScaleBias(1e-5, 0)), 320000723, id="log-vanishing"),
        pytest.param(operator("ELEMENT_WISE_LOG", **FOUR, ScaleBias=ScaleBias(1.5, 0)), 320000731, id="log-subnormal"),
    ],
)
def test_numbers(op: OperatorDesc, seed: int) -> None:
    assert trial(single_node(op), seed) == ""


@pytest.mark.parametrize(
    ("sizes", "indices", "output", "count"),
    [((1, 3, 2), (1, 2, 2), (2, 2, 2), 2), ((1, 1), (2, 1), (2, 2), 2)],
)
def test_an_axis_among_leading_ones_needs_its_dimension(
    sizes: tuple[int, ...], indices: tuple[int, ...], output: tuple[int, ...], count: int
) -> None:
    op = operator(
        "GATHER",
        InputTensor=t("FLOAT32", sizes),
        IndicesTensor=t("UINT32", indices),
        OutputTensor=t("FLOAT32", output),
        Axis=0,
        IndexDimensions=count,
    )
    assert [item.code for item in check(single_node(op), documented=True)] == ["DML1503"]


@pytest.mark.parametrize("format", ["dml_graph", "serialized"])
def test_inputs_are_as_large_as_their_largest_reader(tmp_path: Path, format: str) -> None:
    """The first reader reads one of its two numbers; DirectML's sizes are multiples of 4 bytes, so both fit."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT16", [1])
    whole = g.reinterpret(x, "FLOAT16", [2])
    graph = g.build({"first": g.tanh(x), "all": g.negate(whole)})
    path = tmp_path / {"serialized": "g.bin", "dml_graph": "g.json"}[format]
    dml2onnx.convert(graph, path, format)
    values = np.array([0.25, 0.5], np.float16)
    results = list(dml2onnx.run(path, {dml2onnx.compile(path).inputs[0].name: values}).values())
    assert sorted(result.size for result in results) == [1, 2]
    np.testing.assert_array_equal(max(results, key=np.size), -values)
    assert relations(dml2onnx.load(path), 1, random.Random(0), tmp_path)[0] == []


def test_no_identity_of_broadcast_elements() -> None:
    """A mean of 3 numbers rounds differently from that of 12 numbers, each of them four times."""
    mean = operator(
        "MEAN_VARIANCE_NORMALIZATION1",
        InputTensor=t("FLOAT32", (3, 4), (1, 0)),
        OutputTensor=t("FLOAT32", (3, 4)),
        Axes=[0, 1],
        NormalizeVariance=True,
        Epsilon=1e-5,
    )
    assert with_identity(single_node(mean), random.Random(0)) is None


def test_inputs_may_be_larger_than_declared() -> None:
    """Callers use the shape of its declaration, unless a reader reads beyond it."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT16", [1])
    whole = g.reinterpret(x, "FLOAT16", [2])
    model = dml2onnx.compile(g.build({"all": g.negate(whole)}))
    assert model.inputs[0].shape == (2,)
    np.testing.assert_array_equal(model.run({"x": np.array([0.25, 0.5], np.float16)})["all"], [-0.25, -0.5])


def test_bytes_after_an_in_place_write_belong_to_the_input() -> None:
    """The first of two numbers is overwritten in place, and the second is read from the result."""
    one, two = t("FLOAT16", [1]), t("FLOAT16", [2])
    x, y, z = Value("x", 4), Value("y", 4), Value("z", 4)
    relu = operator("ACTIVATION_RELU", InputTensor=one, OutputTensor=one)
    copy = operator("ELEMENT_WISE_IDENTITY", InputTensor=two, OutputTensor=two)
    nodes = (
        Node("relu", relu, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(y, 0, x),)}),
        Node("copy", copy, {"InputTensor": (Read(y),)}, {"OutputTensor": (Write(z),)}),
    )
    for seen in (one, None):
        graph = Graph(nodes, (GraphInput("x", x, desc=seen),), (GraphOutput("z", z, two),))
        model = dml2onnx.compile(graph)
        feeds = {"x": np.array([-1, -2], np.float16)}
        np.testing.assert_array_equal(model.run(feeds)["z"], np.array([0, -2], np.float16))
        np.testing.assert_array_equal(evaluate(graph, feeds)["z"], np.array([0, -2], np.float16))


def test_readers_of_an_input_share_its_views() -> None:
    """In any order of five readers, one of which reads another rank."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT16", [1])
    outputs = {f"y{index}": g.activation_celu(x, 0.25) for index in range(4)}
    graph = g.build({**outputs, "z": g.activation_celu(g.reinterpret(x, "FLOAT16", [1, 1]), 0.25)})
    graph = replace(graph, inputs=tuple(replace(item, desc=None) for item in graph.inputs))
    counts = set()
    for first in range(len(graph.nodes)):
        nodes = (graph.nodes[first], *graph.nodes[:first], *graph.nodes[first + 1 :])
        counts.add(dml2onnx.compile(replace(graph, nodes=nodes)).node_count)
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("described", "codes"), [(True, ["DML1012"]), (False, ["DML1409"])], ids=["described", "not described"]
)
def test_an_empty_list_of_inputs_is_a_list(tmp_path: Path, described: bool, codes: list[str]) -> None:
    picture = {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]}
    other = {**picture, "DataType": "INT8"}
    desc: dict[str, Any] = {"InputTensor": picture, "OutputTensor": other, "QuantizationType": "SCALE"}
    if described:
        desc["QuantizationTensors"] = [{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}]
    node = {"type": "QUANTIZE", "desc": desc, "inputs": {"InputTensor": "x", "QuantizationTensors": []}}
    model = {"dml2onnx": 1, "inputs": {"x": picture}, "nodes": [{**node, "outputs": {"OutputTensor": "y"}}]}
    assert [item.code for item in check(load_model(tmp_path, {**model, "outputs": ["y"]}))] == codes
