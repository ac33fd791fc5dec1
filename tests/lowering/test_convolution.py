"""CONVOLUTION against the reference."""

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from tests.lowering.harness import check_case, make_case, operator, operators, t, type_cases

RELU = operator("ACTIVATION_RELU")
BIAS = "BiasTensor"


def convolution(
    sizes,
    kernel,
    *,
    output=None,
    data_type="FLOAT32",
    mode="CROSS_CORRELATION",
    direction="FORWARD",
    strides=None,
    dilations=None,
    start=None,
    end=None,
    blank=None,
    groups=1,
    bias=True,
    activation=None,
    layouts=None,
):
    """A descriptor; ``output`` are its spatial sizes if they are not the natural ones.

    ``blank`` is OutputPadding, ``layouts`` has strides by field.
    """
    count = len(sizes) - 2
    strides, dilations = strides or [1] * count, dilations or [1] * count
    start, end, blank = (item or [0] * count for item in (start, end, blank))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel[2:], dilations, strict=True)]
    axes = list(zip(sizes[2:], reach, strides, start, end, blank, strict=True))
    if direction == "FORWARD":
        channels = kernel[0]
        spatial = [(n + a + b - r) // s + 1 for n, r, s, a, b, _ in axes]
    else:
        channels = kernel[1] * groups
        spatial = [(n - 1) * s + r + o - a - b for n, r, s, a, b, o in axes]
    shape = (sizes[0], channels, *(output or spatial))
    layouts = layouts or {}
    return operator(
        "CONVOLUTION",
        InputTensor=t(data_type, sizes, layouts.get("InputTensor")),
        FilterTensor=t(data_type, kernel, layouts.get("FilterTensor")),
        BiasTensor=t(data_type, (1, channels, *[1] * count), layouts.get(BIAS)) if bias else None,
        OutputTensor=t(data_type, shape, layouts.get("OutputTensor")),
        Mode=mode,
        Direction=direction,
        Strides=strides,
        Dilations=dilations,
        StartPadding=start,
        EndPadding=end,
        OutputPadding=blank,
        GroupCount=groups,
        FusedActivation=activation,
    )


def backward(*args, **fields):
    return convolution(*args, direction="BACKWARD", **fields)


def attributes(model, op_type):
    """Returns the attributes of the only ONNX node of a type."""
    (node,) = [item for item in model.model_proto.graph.node if item.op_type == op_type]
    return {item.name: list(item.ints) or item.i for item in node.attribute}


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
@pytest.mark.parametrize(("data_type", "rank"), type_cases("CONVOLUTION"))
def test_every_data_type_and_rank(data_type, rank, mode, direction):
    op = convolution(
        (2, 4, 5, 4, 6)[:rank],
        (4, 2, 3, 2, 3)[:rank],
        data_type=data_type,
        mode=mode,
        direction=direction,
        strides=[2, 1, 2][: rank - 2],
        start=[1, 0, 1][: rank - 2],
        end=[0, 1, 1][: rank - 2],
        groups=2,
        activation=RELU,
    )
    check_case(op, constants=["FilterTensor", BIAS])
    check_case(op)


class TestForward:
    """FORWARD is one Conv."""

    def test_one_node_with_its_constants(self):
        model = check_case(convolution((1, 3, 8, 8), (4, 3, 3, 3)), constants=["FilterTensor", BIAS])
        assert operators(model) == ["Conv"]
        assert sorted(model.lowered.initializers) == [BIAS, "FilterTensor"]

    def test_relu_follows_conv(self):
        model = check_case(convolution((1, 3, 8, 8), (4, 3, 3, 3), activation=RELU), constants=["FilterTensor", BIAS])
        assert operators(model) == ["Conv", "Relu"]

    @pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 5, 4), (2, 3, 5, 4, 3)])
    def test_a_constant_filter_is_flipped_when_compiling(self, shape):
        op = convolution(shape, (4, 3, 3, 2, 2)[: len(shape)], mode="CONVOLUTION")
        assert operators(check_case(op, constants=["FilterTensor", BIAS])) == ["Conv"]

    def test_a_computed_filter_is_flipped_at_run_time(self):
        op = convolution((2, 3, 5, 4), (4, 3, 3, 2), mode="CONVOLUTION", bias=False)
        assert operators(check_case(op)) == ["Slice", "Conv"]

    def test_a_filter_of_one_element_needs_no_flip(self):
        op = convolution((2, 3, 5, 4), (4, 3, 1, 1), mode="CONVOLUTION", bias=False)
        assert operators(check_case(op)) == ["Conv"]

    def test_all_attributes_are_written(self):
        """As exporters do: some tools fail without them."""
        model = check_case(convolution((1, 3, 8, 8), (4, 3, 3, 3)))
        assert attributes(model, "Conv") == {
            "dilations": [1, 1],
            "group": 1,
            "kernel_shape": [3, 3],
            "pads": [0, 0, 0, 0],
            "strides": [1, 1],
        }

    def test_attributes(self):
        op = convolution(
            (1, 4, 9, 8), (6, 2, 3, 3), strides=[2, 1], dilations=[1, 2], start=[1, 2], end=[0, 3], groups=2
        )
        assert attributes(check_case(op), "Conv") == {
            "kernel_shape": [3, 3],
            "strides": [2, 1],
            "dilations": [1, 2],
            "pads": [1, 2, 0, 3],
            "group": 2,
        }

    @pytest.mark.parametrize("channels", [(4, 1), (8, 1)], ids=["depthwise", "depthwise-multiplier-2"])
    def test_depthwise(self, channels):
        assert operators(check_case(convolution((1, 4, 6, 6), (*channels, 3, 3), groups=4))) == ["Reshape", "Conv"]

    def test_padding_far_beyond_the_kernel(self):
        op = convolution((1, 2, 3, 4), (3, 2, 2, 2), start=[7, 0], end=[0, 9], strides=[1, 3])
        assert operators(check_case(op, constants=[BIAS])) == ["Conv"]

    def test_output_padding_has_no_bias(self):
        op = convolution((1, 2, 6, 5), (3, 2, 2, 2), blank=[1, 2], activation=RELU)
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["Conv", "Slice", "Pad", "Relu"]

    @pytest.mark.parametrize("bias", [True, False])
    def test_an_output_of_padding_only(self, bias):
        model = check_case(convolution((1, 2, 3, 3), (3, 2, 2, 2), blank=[2, 0], bias=bias))
        assert "Conv" not in operators(model)


class TestBackward:
    """BACKWARD is one ConvTranspose for any size of the output that its kernel can reach."""

    def test_one_node(self):
        op = backward((1, 4, 5, 5), (4, 3, 3, 3), activation=RELU)
        assert operators(check_case(op, constants=["FilterTensor", BIAS])) == ["ConvTranspose", "Relu"]

    def test_attributes(self):
        op = backward((1, 4, 5, 6), (4, 3, 3, 3), strides=[2, 3], dilations=[2, 1], start=[1, 2], end=[0, 3], groups=2)
        assert attributes(check_case(op), "ConvTranspose") == {
            "kernel_shape": [3, 3],
            "strides": [2, 3],
            "dilations": [2, 1],
            "pads": [1, 2, 0, 3],
            "group": 2,
        }

    @pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
    def test_orientation_of_the_filter(self, mode):
        taps = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
        op = backward((1, 1, 1, 1), (1, 1, 2, 3), mode=mode, bias=False)
        model = check_case(op, inputs={"InputTensor": np.ones((1, 1, 1, 1)), "FilterTensor": taps})
        got = model.run({"InputTensor": np.ones(1, np.float32), "FilterTensor": taps.reshape(-1)})["OutputTensor"]
        assert got.tolist() == (taps if mode == "CROSS_CORRELATION" else np.flip(taps)).tolist()

    def test_a_larger_output_is_output_padding(self):
        op = backward((1, 2, 3, 4), (2, 3, 3, 3), strides=[3, 2], output=[10, 10])
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose"]
        assert attributes(model, "ConvTranspose")["output_padding"] == [1, 1]

    def test_a_larger_output_reduces_padding_at_the_end(self):
        op = backward((1, 2, 3, 4), (2, 3, 3, 3), strides=[3, 2], start=[1, 1], end=[2, 1], output=[9, 7])
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose"]
        assert attributes(model, "ConvTranspose")["output_padding"] == [1, 0]
        assert attributes(model, "ConvTranspose")["pads"] == [1, 1, 0, 1]

    @pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
    @pytest.mark.parametrize("dilations", [[1, 1], [4, 3]], ids=["dense", "dilated"])
    @pytest.mark.parametrize("bias", [True, False])
    def test_an_output_beyond_output_padding_is_padded(self, strides, dilations, bias):
        op = backward((1, 2, 3, 4), (2, 3, 2, 2), strides=strides, dilations=dilations, output=[13, 20], bias=bias)
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose", "Pad", *["Add"] * bias]
        assert any("does not reach" in note for trace in model.lowered.traces for note in trace.notes)

    @pytest.mark.parametrize(("size", "pads"), [(12, []), (13, ["Pad"])])
    def test_output_padding_is_less_than_the_stride(self, size, pads):
        """ONNX allows it if it is less than the dilation, ONNX Runtime refuses it."""
        op = backward((1, 1, 1, 4), (1, 1, 1, 2), strides=[1, 2], dilations=[1, 4], output=[1, size], bias=False)
        assert operators(check_case(op, constants=["FilterTensor"])) == ["ConvTranspose", *pads]

    def test_a_smaller_output_is_cropped_at_the_end(self):
        op = backward((1, 2, 3, 4), (2, 3, 3, 3), start=[1, 0], output=[2, 3])
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose"]
        assert attributes(model, "ConvTranspose")["pads"] == [1, 0, 2, 3]

    def test_padding_beyond_the_kernel(self):
        op = backward((1, 2, 9, 8), (2, 3, 2, 3), start=[5, 0], end=[2, 7], strides=[2, 1])
        assert operators(check_case(op, constants=[BIAS])) == ["ConvTranspose"]

    def test_output_padding_has_no_bias(self):
        op = backward((1, 2, 3, 3), (2, 3, 3, 3), strides=[2, 2], start=[1, 1], blank=[1, 2], activation=RELU)
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose", "Pad", "Relu"]

    def test_output_padding_crops_contributions(self):
        op = backward((1, 2, 3, 3), (2, 3, 3, 3), end=[1, 2], blank=[2, 1])
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["ConvTranspose", "Pad"]

    @pytest.mark.parametrize("bias", [True, False])
    def test_an_output_without_contributions(self, bias):
        op = backward((1, 2, 1, 1), (2, 3, 2, 2), start=[2, 0], blank=[1, 0], output=[3, 2], bias=bias, activation=RELU)
        assert "ConvTranspose" not in operators(check_case(op))

    def test_infinities_do_not_spread(self):
        w = np.full((1, 1, 2, 2), np.inf, np.float32)
        op = backward((1, 1, 2, 2), (1, 1, 2, 2), output=[5, 6], bias=False)
        model = check_case(op, inputs={"InputTensor": np.ones((1, 1, 2, 2)), "FilterTensor": w})
        assert operators(model) == ["ConvTranspose", "Pad"]


class TestTensors:
    """Layouts, constants and data types of the operands."""

    def test_nhwc_costs_one_transpose_in_and_one_out(self):
        model = check_case(
            convolution(
                (1, 3, 6, 5),
                (4, 3, 3, 3),
                layouts={"InputTensor": (90, 1, 15, 3), "OutputTensor": (48, 1, 12, 4), "FilterTensor": (27, 1, 9, 3)},
                activation=RELU,
            ),
            constants=["FilterTensor", BIAS],
        )
        assert operators(model) == ["Transpose", "Conv", "Relu", "Transpose"]

    def test_a_broadcast_bias_is_one_value_per_channel(self):
        op = convolution((1, 2, 4, 4), (3, 2, 2, 2), layouts={BIAS: (0, 0, 0, 0)})
        assert operators(check_case(op, constants=["FilterTensor", BIAS])) == ["Conv"]
        assert operators(check_case(op))[-1] == "Conv"

    def test_float16_is_rounded_once_after_the_activation(self):
        op = convolution((1, 3, 5, 5), (4, 3, 3, 3), data_type="FLOAT16", activation=RELU)
        model = check_case(op, constants=["FilterTensor", BIAS])
        assert operators(model) == ["Cast", "Conv", "Relu", "Cast"]

    def test_directml_computes_in_float16(self):
        op = convolution((1, 3, 5, 5), (4, 3, 3, 3), data_type="FLOAT16", activation=RELU)
        graph = make_case(op, constants=["FilterTensor", BIAS]).graph
        assert operators(compile_outputs(graph, graph.outputs, target="dml")) == ["Conv", "Relu"]

    def test_partial_sums_beyond_float16(self):
        op = convolution((1, 4, 1, 1), (1, 4, 1, 1), data_type="FLOAT16", bias=False)
        x, w = np.full(4, 6e4), np.array([1.0, 1.0, -1.0, -0.5]).reshape(1, 4, 1, 1)
        check_case(op, inputs={"InputTensor": x.reshape(1, 4, 1, 1), "FilterTensor": w})
