"""Normalisations for DirectML and in FLOAT16; BATCH_NORMALIZATION against the reference."""

from dataclasses import replace

import numpy as np
import pytest

import dml2onnx
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Read
from tests.lowering.harness import check_case, left_by_optimiser, make_case, operators
from tests.lowering.normalizations import (
    CHANNELS,
    PARAMETERS,
    RELU,
    SHAPE,
    VERSIONS,
    batch,
    check_batch,
    computing,
    following,
    lrn,
    mvn,
    statistics,
)
from tests.lowering.test_convolution import convolution

# --- all operators ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [17, 21, 22, 23])
def test_target_dml(opset):
    check_batch(batch(), opset=opset, target="dml")
    check_batch(batch(parameters=SHAPE), opset=opset, target="dml")
    for axes in [(2, 3), (1, 2, 3), (0, 2)]:
        check_case(mvn(axes=axes, scale=CHANNELS, bias=CHANNELS), opset=opset, target="dml")
    check_case(mvn(VERSIONS[2], mean=False), opset=opset, target="dml")
    for size in (2, 3):
        for across in (True, False):
            check_case(lrn(size=size, across=across), opset=opset, target="dml")


@pytest.mark.parametrize(
    ("op", "opset", "expected"),
    [
        (batch(data_type="FLOAT16"), 21, ["BatchNormalization"]),
        (mvn(data_type="FLOAT16"), 21, ["InstanceNormalization"]),
        (lrn(data_type="FLOAT16"), 21, ["LRN"]),
        # without a kernel, in FLOAT32
        (mvn(data_type="FLOAT16", variance=False), 21, ["Cast", "ReduceMean", "Sub", "Cast"]),
        (mvn(VERSIONS[2], data_type="FLOAT16", variance=False, mean=False), 21, ["Cast", "Cast"]),
        (
            mvn(),
            22,
            ["ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"],
        ),
        (
            batch(parameters=SHAPE, data_type="FLOAT16"),
            21,
            ["Cast", "Cast", "Cast", "Cast", "Cast", "Add", "Sqrt", "Div", "Sub", "Mul", "Add", "Cast"],
        ),
    ],
)
def test_target_dml_has_kernels_for_float16(op, opset, expected):
    graph = make_case(op).graph
    assert computing(compile_outputs(graph, graph.outputs, opset=opset, target="dml")) == expected


@pytest.mark.parametrize("axes", [(1,), (2, 3)])
@pytest.mark.parametrize("opset", [21, 22])
def test_target_dml_squares_no_float16(axes, opset):
    """300 squared is infinite in FLOAT16, and 1e-5 almost 0, so the model casts to FLOAT32."""
    for mean in (True, False):
        op = mvn(VERSIONS[2], axes=axes, mean=mean, data_type="FLOAT16")
        graph = make_case(op).graph
        nodes = operators(compile_outputs(graph, graph.outputs, opset=opset, target="dml"))
        assert "InstanceNormalization" in nodes or nodes[0] == "Cast"


def test_float16_is_rounded_once_after_the_activation():
    op = batch(data_type="FLOAT16", activation=RELU)
    assert computing(check_batch(op, constants=PARAMETERS)) == ["Cast", "BatchNormalization", "Relu", "Cast"]
    op = mvn(data_type="FLOAT16", activation=RELU)
    assert computing(check_case(op)) == ["Cast", "InstanceNormalization", "Relu", "Cast"]


class TestBatchNormalization:
    """BATCH_NORMALIZATION is BatchNormalization if possible."""

    def test_constants_by_channel_are_one_node(self):
        for sizes in [(2, 3, 4), SHAPE, (2, 3, 4, 5, 2)]:
            model = check_batch(batch(sizes, following(sizes, 1)), constants=PARAMETERS)
            assert operators(model) == ["BatchNormalization"]
            assert sorted(model.lowered.initializers) == sorted(PARAMETERS)

    @pytest.mark.parametrize("axes", [(), (0,), (0, 1), (1, 2), (2,), (0, 1, 2), (3,), (1, 3)])
    def test_parameters_along_other_axes_are_one_node_between_reshapes(self, axes):
        model = check_batch(batch(parameters=following(SHAPE, *axes)), constants=PARAMETERS)
        assert computing(model) == ["BatchNormalization"]

    def test_parameters_along_all_axes_are_a_mul_and_an_add(self):
        assert operators(check_batch(batch(parameters=SHAPE), constants=PARAMETERS)) == ["Mul", "Add"]

    def test_parameters_of_different_sizes(self):
        shapes = [following(SHAPE, axis) for axis in range(4)]
        for turned in range(4):
            op = batch(parameters=shapes[turned:] + shapes[:turned])
            assert operators(check_batch(op, constants=PARAMETERS)) == ["Mul", "Add"]
            check_batch(op)
        op = batch(parameters=[CHANNELS, following(SHAPE), following(SHAPE, 2), following(SHAPE, 1, 2)])
        assert computing(check_batch(op, constants=PARAMETERS)) == ["BatchNormalization"]
        check_batch(op)

    @pytest.mark.parametrize("constant", [c for n in range(4) for c in [PARAMETERS[:n], PARAMETERS[n:]]])
    @pytest.mark.parametrize("parameters", [CHANNELS, following(SHAPE, 3), SHAPE])
    def test_some_constants(self, parameters, constant):
        check_batch(batch(parameters=parameters), constants=constant)

    def test_a_variable_mean_is_subtracted_first(self):
        assert computing(check_batch(batch())) == ["Sub", "BatchNormalization"]
        assert computing(check_batch(batch(parameters=SHAPE))) == ["Add", "Sqrt", "Div", "Sub", "Mul", "Add"]

    def test_a_mean_of_0_is_dropped(self):
        zero = {"MeanTensor": np.zeros(CHANNELS)}
        assert computing(check_batch(batch(), inputs=zero, constants=["MeanTensor"])) == ["BatchNormalization"]
        op = batch(parameters=SHAPE)
        zero = {"MeanTensor": np.zeros(SHAPE)}
        assert computing(check_batch(op, inputs=zero, constants=["MeanTensor"])) == ["Add", "Sqrt", "Div", "Mul", "Add"]

    def test_factors_of_1_and_terms_of_0_are_dropped(self):
        sizes = SHAPE
        numbers = dict(zip(PARAMETERS, (0, 4, 2, 0), strict=True))
        known = {name: np.full(sizes, number) for name, number in numbers.items()}
        op = batch(parameters=sizes, epsilon=0)
        assert computing(check_batch(op, inputs=known, constants=PARAMETERS)) == ["Identity"]

    @pytest.mark.parametrize("parameters", [CHANNELS, following(SHAPE, 3)])
    @pytest.mark.parametrize("constant", [True, False])
    @pytest.mark.parametrize("offset", [300.0, 1e5])
    def test_a_large_mean_costs_no_digits(self, parameters, constant, offset):
        """The error is a few units in the last place; merging the mean into the bias would lose digits."""
        op = batch(parameters=parameters, epsilon=1e-6)
        rng = np.random.default_rng(0)
        arrays = {
            "InputTensor": (offset + rng.normal(0, 0.5, SHAPE)).astype(np.float32),
            "MeanTensor": np.full(parameters, offset, np.float32),
            "VarianceTensor": np.full(parameters, 0.25, np.float32),
            "ScaleTensor": np.full(parameters, 1.5, np.float32),
            "BiasTensor": np.full(parameters, 0.25, np.float32),
        }
        model = check_case(op, inputs=arrays, constants=PARAMETERS if constant else ())
        assert "Sub" in operators(model)
        x, mean, variance, scale, bias = (array.astype(np.float64) for array in arrays.values())
        want = scale * ((x - mean) / np.sqrt(variance + np.float32(1e-6))) + bias
        feeds = {port.name: arrays[port.name].reshape(-1) for port in model.inputs}
        got: np.ndarray = model.run(feeds)["OutputTensor"]
        np.testing.assert_allclose(got, want, rtol=0, atol=2**-21)

    def test_a_small_mean_costs_few_digits(self):
        op = batch(epsilon=1e-5)
        arrays = statistics(op) | {"MeanTensor": np.full(CHANNELS, 0.5, np.float32)}
        x = np.random.default_rng(0).normal(0, 2, SHAPE).astype(np.float32)
        model = check_case(op, inputs={**arrays, "InputTensor": x}, constants=PARAMETERS)
        assert operators(model) == ["BatchNormalization"]

    def test_a_note_explains_the_subtraction(self):
        notes = [note for trace in check_batch(batch()).lowered.traces for note in trace.notes]
        assert any("loses precision if the mean is large" in note for note in notes)

    @pytest.mark.parametrize("constant", [True, False])
    @pytest.mark.parametrize("parameters", [CHANNELS, SHAPE])
    def test_no_variance_and_no_epsilon(self, parameters, constant):
        """Division by 0 gives infinities, and NaN for 0."""
        op = batch(parameters=parameters, epsilon=0.0)
        x = np.arange(-60.0, 60).reshape(SHAPE)
        arrays = {"InputTensor": x, "VarianceTensor": np.zeros(parameters), "MeanTensor": np.zeros(parameters)}
        model = check_batch(op, inputs=arrays, constants=PARAMETERS if constant else ())
        feeds = {**statistics(op), **arrays}
        got = model.run({port.name: feeds[port.name].astype(np.float32).reshape(-1) for port in model.inputs})
        assert np.isinf(got["OutputTensor"]).sum() == x.size - 1
        assert np.isnan(got["OutputTensor"]).sum() == 1

    @pytest.mark.parametrize("epsilon", [0.0, 1e-5, 0.5, -0.25, 1e30, 3e38])
    @pytest.mark.parametrize("parameters", [CHANNELS, SHAPE])
    @pytest.mark.parametrize("constant", [True, False])
    def test_epsilon_and_negative_variances(self, parameters, epsilon, constant):
        op = batch(parameters=parameters, epsilon=epsilon)
        check_case(op, constants=PARAMETERS if constant else (), seed=3)

    def test_parameters_of_zero_stride_are_not_expanded(self):
        at = dict.fromkeys(PARAMETERS, (0, 1, 0, 0))
        assert computing(check_batch(batch(parameters=SHAPE, **at), constants=PARAMETERS)) == ["BatchNormalization"]
        assert computing(check_batch(batch(parameters=SHAPE, **at))) == ["Sub", "BatchNormalization"]

    def test_onnx_runtime_fuses_it_into_a_conv(self, tmp_path):
        """Neither BatchNormalization nor Relu is left in the optimised model."""
        conv = make_case(convolution((1, 3, 8, 8), (4, 3, 3, 3), bias=False), constants=["FilterTensor"])
        op = batch((1, 4, 6, 6), (1, 4, 1, 1), activation=RELU)
        norm = make_case(op, inputs=statistics(op), constants=PARAMETERS)
        (first,), (second,) = conv.graph.nodes, norm.graph.nodes
        between = Read(first.writes["OutputTensor"][0].value)
        graph = replace(
            conv.graph,
            nodes=(
                replace(first, name="conv"),
                replace(second, name="norm", reads={**second.reads, "InputTensor": (between,)}),
            ),
            outputs=norm.graph.outputs,
            constants=(*conv.graph.constants, *norm.graph.constants),
        )
        model = compile_outputs(graph, graph.outputs)
        assert operators(model) == ["Conv", "BatchNormalization", "Relu"]
        assert (
            len({item.op_type for item in left_by_optimiser(model, tmp_path).node} - {"ReorderInput", "ReorderOutput"})
            == 1
        )
        assert dml2onnx.verify(graph).passed
