"""Every function: signatures, recorded operators, sizes, and refusals."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import dml2onnx.pydirectml as dml
from dml2onnx.diagnostics import DmlError
from dml2onnx.pydirectml.arguments import REQUIRED
from dml2onnx.pydirectml.tensors import NO_ACTIVATION
from tests.pydirectml.helpers import F, compute, nodes, start

CROSS, FORWARD = dml.ConvolutionMode.CROSS_CORRELATION, dml.ConvolutionDirection.FORWARD
PLAIN = dml.MatrixTransform.NONE
RELU = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)


def functions():
    """Functions with the expected signatures, by name."""

    def input_tensor(scope, input_index, tensor_desc): ...
    def convolution(
        input,
        filter,
        bias=None,
        mode=CROSS,
        direction=FORWARD,
        strides=(),
        dilations=(),
        start_padding=(),
        end_padding=(),
        output_padding=(),
        group_count=1,
        fused_activation=NO_ACTIVATION,
        output_sizes=(),
    ): ...
    def up_sample_2d(input, scale_size, interpolation_mode): ...
    def activation_relu(input): ...
    def activation_sigmoid(input): ...
    def activation_identity(input): ...
    def activation_tanh(input): ...
    def activation_soft_max(input): ...
    def activation_linear(input, alpha, beta): ...
    def add(a, b, fused_activation=NO_ACTIVATION): ...
    def subtract(a, b): ...
    def multiply(a, b): ...
    def divide(a, b): ...
    def padding(input, padding_mode, padding_value, start_padding, end_padding): ...
    def mean_variance_normalization(
        input,
        scale=None,
        bias=None,
        axes=(),
        normalize_variance=REQUIRED,
        epsilon=REQUIRED,
        fused_activation=NO_ACTIVATION,
    ): ...
    def slice(input, input_window_offsets, input_window_sizes, input_window_strides): ...
    def value_scale_2d(input, scale, bias): ...
    def batch_normalization(input, mean, variance, scale, bias, spatial, epsilon, fused_activation=NO_ACTIVATION): ...
    def local_response_normalization(input, cross_channel, local_size, alpha, beta, bias): ...
    def gemm(a, b, c=None, trans_a=PLAIN, trans_b=PLAIN, alpha=1, beta=1, fused_activation=NO_ACTIVATION): ...
    def average_pooling(input, strides, window_sizes, start_padding, end_padding, include_padding): ...
    def max_pooling(
        input, window_sizes, strides=(), start_padding=(), end_padding=(), dilations=(), output_indices=False
    ): ...
    def reinterpret(input, new_type, new_size, new_strides): ...
    def join(input, axis): ...
    def gru(
        input,
        weight,
        recurrence,
        bias=None,
        hidden_init=None,
        sequence_lengths=None,
        activation_descs=REQUIRED,
        direction=REQUIRED,
        linear_before_reset=1,
        output_options=REQUIRED,
    ): ...
    def gather(input, indices, axis, index_dimensions): ...

    return locals()


def classes():
    """Functions with the signatures of constructors, by class."""

    def Device(use_gpu=True, use_debug_layer=False): ...
    def FusedActivation(activation, param_1=0, param_2=0): ...
    def Binding(expr, data): ...
    def MaxPoolingOutputs(values, indices): ...
    def GRUOutputs(sequence, single): ...
    def GraphBuilder(device): ...
    def Expression(): ...

    return locals()


@pytest.mark.parametrize(("name", "expected"), {**functions(), **classes()}.items())
def test_names_order_and_defaults(name, expected):
    actual, expected = (inspect.signature(item).parameters.values() for item in (getattr(dml, name), expected))
    assert [(item.name, item.kind, item.default) for item in actual] == [
        (item.name, item.kind, item.default) for item in expected
    ]


def test_there_are_no_other_functions():
    assert {name for name in dml.__all__ if inspect.isfunction(getattr(dml, name))} == set(functions())


def spatial(operator):
    return operator.tensor("OutputTensor").sizes[2:]


@pytest.mark.parametrize(
    ("name", "args", "operator", "attributes"),
    [
        ("activation_relu", (), "ACTIVATION_RELU", {}),
        ("activation_sigmoid", (), "ACTIVATION_SIGMOID", {}),
        ("activation_identity", (), "ACTIVATION_IDENTITY", {}),
        ("activation_tanh", (), "ACTIVATION_TANH", {}),
        ("activation_soft_max", (), "ACTIVATION_SOFTMAX", {}),
        ("activation_linear", (150, 0), "ACTIVATION_LINEAR", {"Alpha": 150.0, "Beta": 0.0}),
        ("value_scale_2d", (2, [1, 2, 3]), "VALUE_SCALE_2D", {"Scale": 2.0, "Bias": (1.0, 2.0, 3.0)}),
        (
            "mean_variance_normalization",
            (None, None, [0, 2, 3], 1, 0.5),
            "MEAN_VARIANCE_NORMALIZATION1",
            {"Axes": (0, 2, 3), "NormalizeVariance": True, "Epsilon": 0.5, "FusedActivation": None},
        ),
        (
            "local_response_normalization",
            (None, 3, 0.5, 0.25, 1),
            "LOCAL_RESPONSE_NORMALIZATION",
            {"CrossChannel": False, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.25, "Bias": 1.0},
        ),
    ],
)
def test_functions_that_keep_sizes(name, args, operator, attributes):
    sizes = [1, 1, 4, 5] if name == "activation_soft_max" else [1, 3, 4, 5]  # softmax has two dimensions at most
    graph, x = start(sizes)
    y = getattr(dml, name)(x, *args)
    assert y.get_output_desc().sizes == sizes
    [desc] = nodes(graph, y)
    assert desc.type == operator
    assert {field: desc.get(field) for field in attributes} == attributes


@pytest.mark.parametrize("name", ["subtract", "multiply", "divide"])
def test_binary_functions(name):
    graph, a, b = start([2, 2], [2, 2])
    [desc] = nodes(graph, getattr(dml, name)(a=a, b=b))
    assert desc.type == f"ELEMENT_WISE_{name.upper()}"


def test_add_and_plus_are_different_operators():
    graph, a, b = start([2], [2])
    plain, fused, plus = dml.add(a, b), dml.add(a, b, RELU), a + b
    types = [desc.type for desc in nodes(graph, plain, fused, plus)]
    assert types == ["ELEMENT_WISE_ADD1", "ELEMENT_WISE_ADD1", "ELEMENT_WISE_ADD"]
    assert [desc.has("FusedActivation") for desc in nodes(graph, plain)[:2]] == [False, True]


class TestConvolution:
    @pytest.mark.parametrize(
        ("options", "sizes"),
        [
            ({}, [1, 4, 6, 7]),
            ({"strides": [2, 3]}, [1, 4, 3, 3]),
            ({"start_padding": [1, 1], "end_padding": (1, 2)}, [1, 4, 8, 10]),
            ({"dilations": np.array([3, 2])}, [1, 4, 2, 5]),
            ({"output_sizes": [1, 4, 6, 7]}, [1, 4, 6, 7]),
        ],
    )
    def test_forward(self, options, sizes):
        graph, x, w = start([1, 2, 8, 9], [4, 2, 3, 3])
        y = dml.convolution(x, w, **options)
        assert y.get_output_desc().sizes == sizes
        assert nodes(graph, y)[0].uints("Strides") == tuple(options.get("strides", [1, 1]))

    def test_three_dimensions(self):
        _, x, w = start([1, 2, 5, 6, 7], [4, 2, 3, 3, 3])
        assert dml.convolution(x, w).get_output_desc().sizes == [1, 4, 3, 4, 5]

    def test_backward_needs_output_sizes(self):
        graph, x, w = start([1, 2, 3, 3], [2, 1, 3, 3])
        backward = dml.ConvolutionDirection.BACKWARD
        with pytest.raises(ValueError, match="needs output_sizes"):
            dml.convolution(x, w, direction=backward)
        for side in (7, 8):
            y = dml.convolution(x, w, direction=backward, strides=[2, 2], output_sizes=[1, 1, side, side])
            assert y.get_output_desc().sizes == [1, 1, side, side]
        [array] = compute(graph, [x, w], [np.ones(18), np.ones(18)], y)
        assert array.sum() == 9 * 2 * 9  # 3 x 3 elements, each with 9 weights of 2 channels
        assert not array[0, 0, 7].any()

    def test_mistakes(self):
        _, x, w = start([1, 2, 8, 9], [4, 2, 3, 3])
        with pytest.raises(ValueError, match="strides has 1 numbers; 2 are needed"):
            dml.convolution(x, w, strides=[1])
        with pytest.raises(ValueError, match="no stride may be 0"):
            dml.convolution(x, w, strides=[0, 1])
        with pytest.raises(ValueError, match="output_sizes has 2 numbers; 4 are needed"):
            dml.convolution(x, w, output_sizes=[6, 7])
        with pytest.raises(TypeError, match="mode has to be of ConvolutionMode, not int 1"):
            dml.convolution(x, w, mode=1)  # type: ignore[arg-type]  # the mistake
        with pytest.raises(TypeError, match="mode has to be of ConvolutionMode"):
            dml.convolution(x, w, mode=dml.CONVOLUTION)  # a member of OperatorType
        with pytest.raises(TypeError, match="direction has to be of ConvolutionDirection"):
            dml.convolution(x, w, direction=dml.RecurrentNetworkDirection.FORWARD)  # type: ignore[arg-type]  # the mistake
        with pytest.raises(TypeError, match="fused_activation has to be of FusedActivation, not NoneType"):
            dml.convolution(x, w, fused_activation=None)  # type: ignore[arg-type]  # the mistake
        suggestion = r"convolution.*no argument padding; did you mean start_padding and end_padding"
        with pytest.raises(TypeError, match=suggestion):
            dml.convolution(x, w, padding=[1, 1])  # type: ignore[call-arg]  # the mistake
        with pytest.raises(DmlError, match="DML1302"):
            dml.convolution(x, w, dilations=[9, 9])


class TestPooling:
    @pytest.mark.parametrize(
        ("options", "sizes"),
        [
            ({}, (6, 7)),
            ({"strides": [2, 2]}, (3, 4)),
            ({"start_padding": [1, 0], "end_padding": [1, 1], "strides": [3, 3]}, (3, 3)),
            ({"dilations": [2, 1]}, (4, 7)),
            ({"dilations": [1, 1], "end_padding": [0, 0], "strides": [6, 7]}, (1, 1)),
        ],
    )
    def test_max(self, options, sizes):
        graph, x = start([1, 2, 8, 9])
        outputs = dml.max_pooling(x, [3, 3], **options)
        assert spatial(nodes(graph, outputs.values)[0]) == sizes
        with pytest.raises(RuntimeError, match="null expression"):
            outputs.indices.get_output_desc()

    def test_a_window_larger_than_the_input(self):
        """DirectML accepts it."""
        graph, x = start([1, 1, 2, 2])
        pooled = dml.max_pooling(x, [3, 3]).values
        assert pooled.get_output_desc().sizes == [1, 1, 1, 1]
        (largest,) = compute(graph, [x], [np.arange(4)], pooled)
        assert largest.tolist() == [[[[3]]]]

    def test_three_dimensions(self):
        graph, x = start([1, 1, 3, 4, 5])
        pooled = dml.max_pooling(x, [2, 2, 2], output_indices=True)
        mean = dml.average_pooling(x, [1, 1, 1], [3, 4, 5], [0, 0, 0], [0, 0, 0], False)
        indices, average = compute(graph, [x], [np.arange(60)], pooled.indices, mean)
        assert indices.view(np.uint32)[0, 0, 0].tolist() == [[26, 27, 28, 29], [31, 32, 33, 34], [36, 37, 38, 39]]
        assert average.tolist() == [[[[[29.5]]]]]

    def test_indices_are_uint32(self):
        graph, x = start([1, 1, 3, 3])
        outputs = dml.max_pooling(x, [2, 2], output_indices=1)
        desc = outputs.indices.get_output_desc()
        assert (desc.data_type, desc.sizes) == (dml.UINT32, [1, 1, 2, 2])
        values, indices = compute(graph, [x], [np.arange(9)], outputs.values, outputs.indices)
        assert indices.view(np.uint32).reshape(-1).tolist() == [4, 5, 7, 8]
        assert values.reshape(-1).tolist() == [4, 5, 7, 8]

    def test_average_has_strides_before_windows(self):
        graph, x = start([1, 1, 4, 4])
        y = dml.average_pooling(x, [1, 2], [2, 2], [0, 0], [0, 0], False)
        assert spatial(nodes(graph, y)[0]) == (3, 2)
        with pytest.raises(ValueError, match="strides has 0 numbers; 2 are needed"):
            dml.average_pooling(x, [], [2, 2], [0, 0], [0, 0], False)

    @pytest.mark.parametrize("yes", [True, 1, 0.5, np.float32(2), np.True_])
    @pytest.mark.parametrize("no", [False, 0, 0.0, None])
    def test_flags_are_truth_values(self, yes, no):
        graph, x = start([1, 1, 2, 2])
        y = dml.average_pooling(x, [1, 1], [2, 2], [1, 1], [0, 0], yes)
        z = dml.average_pooling(x, [1, 1], [2, 2], [1, 1], [0, 0], no)
        assert [desc.get("IncludePadding") for desc in nodes(graph, y, z)] == [True, False]

    @pytest.mark.parametrize("flag", ["yes", [], [1], ()])
    def test_invalid_flags(self, flag):
        _, x = start([1, 1, 2, 2])
        with pytest.raises(TypeError, match="include_padding has to be a bool or a number"):
            dml.average_pooling(x, [1, 1], [2, 2], [1, 1], [0, 0], flag)

    def test_the_outputs_object_can_be_written_to(self):
        _, x = start([1, 1, 3, 3])
        outputs = dml.max_pooling(x, [2, 2])
        outputs.values = outputs.values * 2
        assert outputs.values.get_output_desc().sizes == [1, 1, 2, 2]


class TestGemm:
    @pytest.mark.parametrize(
        ("a", "b", "options"),
        [
            ([1, 2, 3, 4], [1, 2, 4, 5], {}),
            ([1, 2, 4, 3], [1, 2, 4, 5], {"trans_a": dml.MatrixTransform.TRANSPOSE}),
            ([1, 2, 3, 4], [1, 2, 5, 4], {"trans_b": dml.MatrixTransform.TRANSPOSE}),
        ],
    )
    def test_sizes(self, a, b, options):
        _, left, right = start(a, b)
        assert dml.gemm(left, right, **options).get_output_desc().sizes == [1, 2, 3, 5]

    def test_numbers(self):
        graph, a, b, c = start([1, 1, 1, 2], [1, 1, 2, 2], dml.TensorDesc(F, [1, 1, 1, 2], [0, 0, 0, 0]))
        y = dml.gemm(a, b, c, alpha=2, beta=10, fused_activation=RELU)
        [array] = compute(graph, [a, b, c], [[1, 2], [1, 2, 3, -9], [1]], y)
        assert array.tolist() == [[[[24, 0]]]]

    def test_four_sizes_are_needed(self):
        _, a, b = start([3, 4], [4, 5])
        with pytest.raises(ValueError, match=r"a has sizes \[3, 4\]; 4 of them are needed"):
            dml.gemm(a, b)

    def test_mismatched_sizes_raise_in_the_call(self):
        _, a, b = start([1, 1, 3, 4], [1, 1, 5, 6])
        with pytest.raises(DmlError) as caught:
            dml.gemm(a, b)
        assert "test_functions.py" in caught.value.diagnostics[0].pointer


class TestMovement:
    def test_up_sample(self):
        _, x = start([1, 2, 3, 4])
        y = dml.up_sample_2d(x, dml.Size2D(5, 2), dml.InterpolationMode.NEAREST_NEIGHBOR)
        assert y.get_output_desc().sizes == [1, 2, 6, 20]
        _, x = start([1, 1, 2, 3, 4])
        y = dml.up_sample_2d(x, dml.Size2D(5, 2), dml.InterpolationMode.NEAREST_NEIGHBOR)
        assert y.get_output_desc().sizes == [1, 1, 2, 6, 20]

    def test_padding(self):
        _, x = start([1, 2, 3, 4])
        y = dml.padding(x, dml.PaddingMode.EDGE, 0, [0, 0, 1, 1], [0, 0, 2, 3])
        assert y.get_output_desc().sizes == [1, 2, 6, 8]
        with pytest.raises(ValueError, match="start_padding has 2 numbers; 4 are needed"):
            dml.padding(x, dml.PaddingMode.EDGE, 0, [1, 1], [0, 0, 2, 3])

    def test_slice(self):
        graph, x = start([1, 1, 2, 6])
        y = dml.slice(x, [0, 0, 0, 1], [1, 1, 2, 5], [1, 1, 1, -2])
        [array] = compute(graph, [x], [np.arange(12)], y)
        assert array.tolist() == [[[[5, 3, 1], [11, 9, 7]]]]
        with pytest.raises(ValueError, match="4 numbers other than 0"):
            dml.slice(x, [0, 0, 0, 1], [1, 1, 2, 5], [1, 1, 1, 0])
        with pytest.raises(DmlError):
            dml.slice(x, [0, 0, 0, 3], [1, 1, 2, 5], [1, 1, 1, 1])

    def test_join(self):
        graph, a, b = start([1, 1, 1, 2], [1, 1, 3, 2])
        y = dml.join([a, b, a], 2)
        [array] = compute(graph, [a, b], [[1, 2], np.zeros(6)], y)
        assert array[0, 0, :, 0].tolist() == [1, 0, 0, 0, 1]
        with pytest.raises(TypeError, match="input has to be a list, not Expression"):
            dml.join(a, 2)
        with pytest.raises(ValueError, match="empty list"):
            dml.join([], 0)
        with pytest.raises(ValueError, match="axis is 4"):
            dml.join([a, b], 4)

    @pytest.mark.parametrize(
        ("input", "indices", "axis", "count", "sizes"),
        [
            ([1, 1, 2, 3], [1, 1, 1, 4], 3, 1, [1, 1, 2, 4]),
            ([1, 1, 2, 3], [1, 1, 1, 4], 2, 1, [1, 1, 4, 3]),
            ([1, 1, 2, 3], [1, 1, 5, 4], 2, 2, [1, 5, 4, 3]),
            ([1, 1, 2, 3], [1, 1, 5, 4], 3, 2, [1, 2, 5, 4]),
            ([5, 6, 7], [1, 1, 4], 0, 1, [4, 6, 7]),
        ],
    )
    def test_gather(self, input, indices, axis, count, sizes):
        _, x, i = start(input, dml.TensorDesc(dml.UINT32, indices))
        assert dml.gather(x, i, axis, count).get_output_desc().sizes == sizes

    def test_gather_reads_the_bits_of_its_indices(self):
        graph, x, i = start([1, 1, 2, 3], dml.TensorDesc(dml.UINT32, [1, 1, 1, 2]))
        [array] = compute(
            graph, [x, i], [np.arange(6), np.array([2, 0], np.uint32).view(np.float32)], dml.gather(x, i, 3, 1)
        )
        assert array.tolist() == [[[[2, 0], [5, 3]]]]

    def test_gather_mistakes(self):
        _, x, i = start([1, 1, 2, 3], dml.TensorDesc(dml.UINT32, [1, 1, 1, 2]))
        with pytest.raises(ValueError, match="index_dimensions is 3; it may be 2 at most"):
            dml.gather(x, i, 1, 3)
        with pytest.raises(ValueError, match="axis is 4"):
            dml.gather(x, i, 4, 1)
        with pytest.raises(TypeError, match=r"axis has to be an int, not float 3\.0"):
            dml.gather(x, i, 3.0, 1)  # type: ignore[arg-type]  # the mistake


class TestRecurrence:
    def network(self) -> tuple[tuple[dml.Expression, dml.Expression, dml.Expression], list[dml.FusedActivation]]:
        _, x, w, r = start([1, 7, 3, 5], [1, 1, 18, 5], [1, 1, 18, 6])
        return (x, w, r), [dml.FusedActivation(dml.ACTIVATION_SIGMOID), dml.FusedActivation(dml.ACTIVATION_TANH)]

    @pytest.mark.parametrize(
        ("option", "sequence", "single"),
        [("Both", True, True), ("Sequence", True, False), ("Single", False, True)],
    )
    def test_outputs(self, option, sequence, single):
        inputs, activations = self.network()
        forward = dml.RecurrentNetworkDirection.FORWARD
        outputs = dml.gru(
            *inputs,
            activation_descs=activations,
            direction=forward,
            linear_before_reset=True,
            output_options=getattr(dml.OutputOptions, option),
        )
        assert outputs.sequence.is_null is not sequence
        assert outputs.single.is_null is not single
        if sequence:
            assert outputs.sequence.get_output_desc().sizes == [7, 1, 3, 6]
        if single:
            assert outputs.single.get_output_desc().sizes == [1, 1, 3, 6]

    def test_four_activations_of_two_directions(self):
        _, x, w, r = start([1, 7, 3, 5], [1, 2, 18, 5], [1, 2, 18, 6])
        both = dml.RecurrentNetworkDirection.BIDIRECTIONAL
        activations = self.network()[1] * 2
        outputs = dml.gru(
            x, w, r, activation_descs=activations, direction=both, linear_before_reset=True,
            output_options=dml.OutputOptions.Single,
        )  # fmt: skip
        assert outputs.single.get_output_desc().sizes == [1, 2, 3, 6]

    def test_mistakes(self):
        inputs, activations = self.network()
        rest: dict[str, Any] = {
            "direction": dml.RecurrentNetworkDirection.FORWARD,
            "output_options": dml.OutputOptions.Both,
        }
        with pytest.raises(TypeError, match="activation_descs must be given"):
            dml.gru(*inputs, **rest)
        with pytest.raises(TypeError, match="direction, output_options must be given"):
            dml.gru(*inputs, activation_descs=activations)
        with pytest.raises(ValueError, match="has 5 elements; 4 are the most"):
            dml.gru(*inputs, activation_descs=activations[:1] * 5, **rest)
        with pytest.raises(ValueError, match="type INVALID"):
            dml.gru(*inputs, activation_descs=[*activations[:1], NO_ACTIVATION], **rest)
        with pytest.raises(TypeError, match=r"linear_before_reset has to be an int, not float 1.0"):
            dml.gru(*inputs, activation_descs=activations, linear_before_reset=1.0, **rest)  # type: ignore[arg-type]  # no int
        with pytest.raises(TypeError, match="direction has to be of RecurrentNetworkDirection"):
            dml.gru(*inputs, activation_descs=activations, direction=dml.FORWARD, output_options=dml.OutputOptions.Both)


def test_mean_variance_normalization_has_two_required_numbers():
    _, x = start([1, 1, 2, 2])
    with pytest.raises(TypeError, match="normalize_variance, epsilon must be given"):
        dml.mean_variance_normalization(x, None, None, [2, 3])


@pytest.mark.parametrize(
    ("activation", "params", "attributes"),
    [
        ("HARD_SIGMOID", (0.5, 0.25), {"Alpha": 0.5, "Beta": 0.25}),
        ("LINEAR", (0.5, 0.25), {"Alpha": 0.5, "Beta": 0.25}),
        ("PARAMETRIC_SOFTPLUS", (0.5, 0.25), {"Alpha": 0.5, "Beta": 0.25}),
        ("SCALED_TANH", (0.5, 0.25), {"Alpha": 0.5, "Beta": 0.25}),
        ("SCALED_ELU", (0.5, 0.25), {"Alpha": 0.5, "Gamma": 0.25}),
        ("SHRINK", (0.5, 0.25), {"Bias": 0.5, "Threshold": 0.25}),
        ("ELU", (0.5, 0.25), {"Alpha": 0.5}),
        ("LEAKY_RELU", (), {"Alpha": 0.0}),
        ("THRESHOLDED_RELU", (0.5,), {"Alpha": 0.5}),
        ("SOFTPLUS", (2,), {"Steepness": 2.0}),
        ("RELU", (1, 2), {}),
    ],
)
def test_parameters_of_activations(activation, params, attributes):
    """They default to 0 for every activation."""
    graph, a = start([1, 1, 2, 2])
    fused = dml.FusedActivation(dml.OperatorType[f"ACTIVATION_{activation}"], *params)
    [desc] = nodes(graph, dml.add(a, a, fused))
    nested = desc.get("FusedActivation")
    assert nested.type == f"ACTIVATION_{activation}"
    assert {field.name: value for field, value in nested.items() if not field.is_tensor} == attributes


def test_invalid_activations():
    _, a = start([2])
    with pytest.raises(TypeError, match="activation has to be of OperatorType"):
        dml.FusedActivation("ACTIVATION_RELU")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ValueError, match="is no activation"):
        dml.add(a, a, dml.FusedActivation(dml.GEMM))
    with pytest.raises(DmlError, match="cannot be fused"):
        dml.add(a, a, dml.FusedActivation(dml.ACTIVATION_SOFTMAX))


def test_messages_contain_the_signature():
    with pytest.raises(TypeError) as caught:
        dml.activation_relu([1, 2])  # type: ignore[arg-type]  # the mistake
    assert str(caught.value).splitlines()[0] == (
        "activation_relu(): incompatible function arguments: input has to be of Expression, not list [1, 2]."
        " The following arguments are supported:"
    )
