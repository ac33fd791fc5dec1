"""Methods with DirectMLX's names: choice of the operator by feature level and arguments, and defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.builder import Activation, GraphBuilder, interleaved_channel
from dml2onnx.codes import building as codes
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from tests.builder.calls import recorded
from tests.refusals import refusal

Recipe = Callable[[GraphBuilder], Any]


def image(g: GraphBuilder, *sizes: int, data_type: str = "FLOAT32") -> Any:
    return g.input(f"x{len(g._inputs)}", data_type, sizes or (1, 4, 6, 8))


def slice_(g: GraphBuilder) -> Any:
    return g.slice(image(g), [0, 1, 0, 1], [1, 3, 6, 5], [1, 1, 3, 2])


def pooled(g: GraphBuilder) -> Any:
    return g.max_pooling(image(g), [2, 2])


def averaged(g: GraphBuilder) -> Any:
    return g.average_pooling(image(g), [1, 1], [2, 2])


def best(g: GraphBuilder) -> Any:
    return g.top_k(image(g), 2, 3, "DECREASING")


def gathered(g: GraphBuilder) -> Any:
    return g.gather_nd(image(g), image(g, 1, 1, 5, 2, data_type="UINT32"), 4, 2)


def resampled(g: GraphBuilder) -> Any:
    return g.resample(image(g), [1, 4, 3, 16], "LINEAR")


def normalized(g: GraphBuilder) -> Any:
    return g.mean_variance_normalization(image(g), None, None, [2, 3], True, True, 1e-5)


CHOICES: list[tuple[str, Recipe, str]] = [
    ("1_0", slice_, "SLICE"),
    ("2_1", slice_, "SLICE1"),
    ("1_0", pooled, "MAX_POOLING"),
    ("2_0", pooled, "MAX_POOLING1"),
    ("2_1", pooled, "MAX_POOLING2"),
    ("6_1", averaged, "AVERAGE_POOLING"),
    ("6_2", averaged, "AVERAGE_POOLING1"),
    ("1_0", best, "TOP_K"),
    ("2_1", best, "TOP_K1"),
    ("2_1", gathered, "GATHER_ND"),
    ("3_0", gathered, "GATHER_ND1"),
    ("2_1", resampled, "RESAMPLE1"),
    ("5_1", resampled, "RESAMPLE2"),
    ("6_4", resampled, "RESAMPLE3"),
    ("2_1", normalized, "MEAN_VARIANCE_NORMALIZATION1"),
    ("6_3", normalized, "MEAN_VARIANCE_NORMALIZATION2"),
    ("1_0", lambda g: g.space_to_depth(image(g), 2), "SPACE_TO_DEPTH"),
    ("2_1", lambda g: g.space_to_depth(image(g), 2), "SPACE_TO_DEPTH1"),
    ("1_0", lambda g: g.depth_to_space(image(g), 2), "DEPTH_TO_SPACE"),
    ("2_1", lambda g: g.depth_to_space(image(g), 2, "COLUMN_ROW_DEPTH"), "DEPTH_TO_SPACE1"),
    ("4_1", lambda g: g.negate(image(g)), "ELEMENT_WISE_IDENTITY"),
    ("5_0", lambda g: g.negate(image(g)), "ELEMENT_WISE_NEGATE"),
    ("6_4", lambda g: g.add(image(g), image(g)), "ELEMENT_WISE_ADD"),
    ("6_4", lambda g: g.add(image(g), image(g), Activation("RELU")), "ELEMENT_WISE_ADD1"),
    ("6_4", lambda g: g.pow(image(g), 2), "ELEMENT_WISE_CONSTANT_POW"),
    ("6_4", lambda g: g.pow(image(g), image(g)), "ELEMENT_WISE_POW"),
    ("6_4", lambda g: g.activation_softmax(image(g, 1, 1, 3, 4)), "ACTIVATION_SOFTMAX"),
    ("6_4", lambda g: g.activation_softmax(image(g), [1]), "ACTIVATION_SOFTMAX1"),
    ("6_4", lambda g: g.activation_log_softmax(image(g, 1, 1, 3, 4)), "ACTIVATION_LOG_SOFTMAX"),
    ("6_4", lambda g: g.activation_log_softmax(image(g), [1]), "ACTIVATION_LOG_SOFTMAX1"),
    ("6_4", lambda g: g.activation_hardmax(image(g, 1, 1, 3, 4)), "ACTIVATION_HARDMAX"),
    ("6_4", lambda g: g.activation_hardmax(image(g), [1]), "ACTIVATION_HARDMAX1"),
]


@pytest.mark.parametrize(("level", "recipe", "operator"), CHOICES, ids=[f"{a}-{c}" for a, _, c in CHOICES])
def test_choice(level: str, recipe: Recipe, operator: str) -> None:
    g = GraphBuilder(feature_level=level)
    assert recorded(g, recipe(g)).type == operator


NEWER: list[tuple[Recipe, str]] = [
    (lambda g: g.slice(image(g), [0, 0, 0, 0], [1, 4, 6, 8], [1, 1, 1, -1]), "SLICE1"),
    (lambda g: g.max_pooling(image(g), [2, 2], dilations=[2, 1]), "MAX_POOLING2"),
    (lambda g: g.max_pooling(image(g), [2, 2], output_indices=True), "MAX_POOLING1"),
    (lambda g: g.average_pooling(image(g), None, [2, 2], dilations=[2, 1]), "AVERAGE_POOLING1"),
    (lambda g: g.top_k(image(g), 3, 1, "INCREASING"), "TOP_K1"),
    (lambda g: g.resample(image(g), [1, 4, 6, 4], "LINEAR", "DECREASING"), "RESAMPLE2"),
    (lambda g: g.resample(image(g), [1, 4, 6, 4], "LINEAR", antialiased=True), "RESAMPLE3"),
    (lambda g: g.depth_to_space(image(g), 2, "COLUMN_ROW_DEPTH"), "DEPTH_TO_SPACE1"),
    (lambda g: g.space_to_depth(image(g), 2, "COLUMN_ROW_DEPTH"), "SPACE_TO_DEPTH1"),
]


@pytest.mark.parametrize(("recipe", "operator"), NEWER, ids=[name for _, name in NEWER])
def test_options_of_newer_operators_need_their_level(recipe: Recipe, operator: str) -> None:
    g = GraphBuilder(feature_level="1_0")
    with pytest.raises(DmlError) as caught:
        recipe(g)
    assert {(item.operator, item.code) for item in caught.value.diagnostics} >= {(operator, "DML1601")}


def attributes(desc: OperatorDesc) -> dict[str, Any]:
    return {field.name: value for field, value in desc.items() if not field.is_tensor}


class TestDefaults:
    def test_convolution(self) -> None:
        g = GraphBuilder()
        y = g.convolution(image(g), g.constant(np.zeros((3, 4, 3, 3), np.float32)))
        assert y.sizes == (1, 3, 4, 6)
        assert attributes(recorded(g, y)) == {
            "Mode": "CROSS_CORRELATION",
            "Direction": "FORWARD",
            "DimensionCount": 2,
            "Strides": (1, 1),
            "Dilations": (1, 1),
            "StartPadding": (0, 0),
            "EndPadding": (0, 0),
            "OutputPadding": (0, 0),
            "GroupCount": 1,
            "FusedActivation": None,
        }

    def test_empty_lists_are_defaults(self) -> None:
        g: Any = GraphBuilder()
        found = attributes(recorded(g, g.max_pooling(image(g), np.array([2, 2]), [], [], [], []).values))
        assert found["Strides"] == found["Dilations"] == (1, 1)
        assert found["StartPadding"] == found["EndPadding"] == (0, 0)

    def test_output_sizes_of_backward_convolutions(self) -> None:
        g = GraphBuilder()
        x, w = image(g), g.constant(np.zeros((4, 2, 3, 3), np.float32))
        assert g.convolution(x, w, direction="BACKWARD", strides=[2, 2]).sizes == (1, 2, 13, 17)
        larger = g.convolution(x, w, direction="BACKWARD", strides=[2, 2], output_sizes=[1, 2, 14, 18])
        assert larger.sizes == (1, 2, 14, 18)

    def test_resample(self) -> None:
        g = GraphBuilder()
        found = attributes(recorded(g, resampled(g)))
        assert found["Scales"] == (1.0, 1.0, 0.5, 2.0)
        assert found["InputPixelOffsets"] == (0.5,) * 4
        assert found["OutputPixelOffsets"] == (-0.5,) * 4
        assert (found["RoundingDirection"], found["Antialiased"]) == ("INCREASING", False)

    def test_reduce_and_comparisons(self) -> None:
        g = GraphBuilder()
        x = image(g)
        assert g.reduce(x, "SUM").sizes == (1, 1, 1, 1)
        largest = g.reduce(x, "ARGMAX", [3])
        assert (largest.sizes, largest.data_type.name) == ((1, 4, 6, 1), "UINT32")
        assert g.equals(x, x).data_type.name == "UINT8"

    def test_activations(self) -> None:
        g = GraphBuilder()
        found = attributes(recorded(g, g.activation_hard_sigmoid(image(g))))
        assert found == {"Alpha": np.float32(0.2), "Beta": 0.5}
        fused = g.add(image(g), image(g), Activation("LEAKY_RELU"))
        activation = recorded(g, fused).activation()
        assert activation is not None
        assert activation.float("Alpha") == np.float32(0.01)

    def test_named_outputs(self) -> None:
        g = GraphBuilder()
        x = image(g)
        assert g.max_pooling(x, [2, 2]).indices is None
        indices = g.max_pooling(x, [2, 2], [2, 2], output_indices=True).indices
        assert indices is not None
        assert (indices.sizes, indices.data_type.name) == ((1, 4, 3, 4), "UINT32")
        found = g.top_k(x, 1, 2, "INCREASING")
        assert (found.value.sizes, found.index.sizes) == ((1, 2, 6, 8), (1, 2, 6, 8))
        random = g.random_generator(g.input("state", "UINT32", [1, 1, 1, 6]), [2, 3])
        assert (random.values.sizes, random.state is not None) == ((2, 3), True)
        assert random._fields == ("values", "state")

    def test_recurrence(self) -> None:
        g = GraphBuilder()
        x, w, r = (image(g, *sizes) for sizes in ((1, 5, 2, 3), (1, 1, 12, 3), (1, 1, 12, 4)))
        activations = [Activation("SIGMOID"), Activation("TANH")]
        both = g.gru(x, w, r, None, None, None, activations, "FORWARD", True)
        assert both.sequence is not None
        assert both.single is not None
        assert (both.sequence.sizes, both.single.sizes) == ((5, 1, 2, 4), (1, 1, 2, 4))
        last = g.gru(x, w, r, None, None, None, activations, "FORWARD", True, output_sequence=False)
        assert last.sequence is None

    def test_regions(self) -> None:
        g = GraphBuilder()
        x, roi, batches = image(g), image(g, 5, 4), image(g, 5, data_type="UINT32")
        scales = (1.0, 1.0, 0.5, -0.5)
        y = g.roi_align(x, roi, batches, "AVERAGE", "LINEAR", *scales, 0.0, 1, 4, False, 7, 6)
        assert y.sizes == (5, 4, 7, 6)
        d = g.roi_align_grad(None, y, roi, batches, "AVERAGE", "LINEAR", *scales, 1, 4, False, 1, 6, 8, True, False)
        assert d.output_gradient is not None
        assert (d.output_gradient.sizes, d.output_roi_gradient) == ((1, 4, 6, 8), None)


class TestMovement:
    def test_values(self) -> None:
        g = GraphBuilder()
        x = g.input("x", "FLOAT32", [2, 6])
        left, middle, right = g.split(x, 1, [1, 2, 3])
        hot = g.one_hot(g.constant(np.array([[2], [0]], np.uint32)), g.constant(np.array([[0, 5]], np.float32)), 4, 1)
        joined = g.join([right, middle, left], 1)
        graph = g.build({"joined": joined, "hot": hot, "flat": g.reshape(x, [3, -1])})
        assert dml2onnx.check(graph) == []
        data = np.arange(12, dtype=np.float32).reshape(2, 6)
        results = dml2onnx.compile(graph).run({"x": data})
        np.testing.assert_array_equal(results["joined"], data[:, [3, 4, 5, 1, 2, 0]])
        np.testing.assert_array_equal(results["hot"], [[0, 0, 5, 0], [5, 0, 0, 0]])
        np.testing.assert_array_equal(results["flat"], data.reshape(3, 4))

    def test_reshape_packs_strided_tensors(self) -> None:
        g = GraphBuilder(policy=interleaved_channel)
        x = g.input("x", "FLOAT32", [1, 2, 2, 3])
        y = g.reshape(g.identity(x, ScaleBias(2, 0)), [2, 6])
        assert y.strides is None
        graph = g.build({"y": y})
        assert [node.operator.type for node in graph.nodes] == ["ELEMENT_WISE_IDENTITY"] * 2
        data = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
        np.testing.assert_array_equal(dml2onnx.compile(graph).run({"x": data})["y"], 2 * data.reshape(2, 6))

    @pytest.mark.parametrize(
        ("sizes", "reason"),
        [
            ([5], ": 12 elements are not 5"),
            ([1, 5], ": 12 elements are not 5"),
            ([2, -1, -1], ""),
            ([0, 12], ""),
            ([7, -1], ""),
            ([-2, -6], ""),
        ],
        ids=str,
    )
    def test_reshape_keeps_the_number_of_elements(self, sizes: list[int], reason: str) -> None:
        g = GraphBuilder()
        item = refusal(g.reshape, g.input("x", "FLOAT32", [2, 6]), sizes)
        assert (item.code, item.found) == (codes.DIFFERENT_ELEMENT_COUNTS.id, str(sizes))
        assert item.message == f"sizes [2, 6] cannot become {sizes}{reason}"

    def test_fill(self) -> None:
        g = GraphBuilder()
        y = g.fill_value_constant([2, 3], np.int16, -7)
        z = g.fill_value_sequence([4], "FLOAT32", 1, 0.5)
        results = dml2onnx.compile(g.build({"y": y, "z": z})).run({})
        np.testing.assert_array_equal(results["y"], np.full((2, 3), -7, np.int16))
        np.testing.assert_array_equal(results["z"], np.array([1, 1.5, 2, 2.5], np.float32))
