"""The functions of PyDirectML: one operator each, with PyDirectML's output sizes.

Results have the data type of the first operand, unless documented otherwise. An invalid operator raises
:class:`~dml2onnx.diagnostics.DmlError` in the call. Required parameters that follow optional ones are marked
``REQUIRED``. https://github.com/microsoft/DirectML/blob/master/Python/src/module.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.ir.operator import Size2D as IrSize2D
from dml2onnx.pydirectml.arguments import (
    INT32_MAX,
    INT32_MIN,
    REQUIRED,
    Flag,
    Integers,
    Number,
    dimension,
    dimensions,
    flag,
    instance,
    instances,
    integer,
    integers,
    number,
    numbers,
    public,
)
from dml2onnx.pydirectml.enums import (
    ConvolutionDirection,
    ConvolutionMode,
    InterpolationMode,
    MatrixTransform,
    OutputOptions,
    PaddingMode,
    RecurrentNetworkDirection,
    TensorDataType,
)
from dml2onnx.pydirectml.expression import Expression, record, record_all
from dml2onnx.pydirectml.tensors import NO_ACTIVATION, FusedActivation, Size2D

if TYPE_CHECKING:
    from dml2onnx.builder.attributes import Activation

MAX_ACTIVATIONS = 4
"""The most activations of a GRU: two for each direction."""


@dataclass(slots=True)
class MaxPoolingOutputs:
    """Outputs of max pooling; ``indices`` is a null expression unless requested."""

    values: Expression
    indices: Expression


@dataclass(slots=True)
class GRUOutputs:
    """Outputs of a GRU; those not requested are null expressions."""

    sequence: Expression
    single: Expression


# --- Arguments ------------------------------------------------------------------------------------------------------


def _sizes(name: str, expression: Expression, *ranks: int) -> list[int]:
    """Returns the sizes of an operand, which must have one of these dimension counts."""
    sizes = instance(name, expression, Expression).get_output_desc().sizes
    if ranks and len(sizes) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ValueError(f"{name} has sizes {sizes}; {wanted} of them are needed")
    return sizes


def _optional(name: str, expression: Expression | None) -> Expression | None:
    return None if expression is None else instance(name, expression, Expression)


def _activation(supplied: FusedActivation) -> Activation | None:
    return instance("fused_activation", supplied, FusedActivation).activation()


def _list(name: str, supplied: Integers, length: int, default: int | None = None) -> list[int]:
    """Converts to a list of ``length`` numbers; an empty one is filled with the default, if any."""
    found = integers(name, supplied)
    if not found and default is not None:
        return [default] * length
    if len(found) != length:
        raise ValueError(f"{name} has {len(found)} numbers; {length} are needed")
    return found


def _steps(name: str, supplied: Integers, length: int) -> list[int]:
    """Converts strides of windows, by default 1."""
    found = _list(name, supplied, length, 1)
    if 0 in found:
        raise ValueError(f"{name} is {found}; no stride may be 0")
    return found


def _unary(operator: str, input: Expression) -> Expression:
    """Records an operator with one tensor and no attributes."""
    return record(operator, {"InputTensor": instance("input", input, Expression)}, {})


# --- Convolution, matrices, pooling ---------------------------------------------------------------------------------


@public
def convolution(
    input: Expression,
    filter: Expression,
    bias: Expression | None = None,
    mode: ConvolutionMode = ConvolutionMode.CROSS_CORRELATION,
    direction: ConvolutionDirection = ConvolutionDirection.FORWARD,
    strides: Integers = (),
    dilations: Integers = (),
    start_padding: Integers = (),
    end_padding: Integers = (),
    output_padding: Integers = (),
    group_count: int = 1,
    fused_activation: FusedActivation = NO_ACTIVATION,
    output_sizes: Integers = (),
) -> Expression:
    """``CONVOLUTION`` of 4 or 5 sizes. BACKWARD needs ``output_sizes`` (all of them); FORWARD counts windows."""
    sizes = _sizes("input", input, 4, 5)
    filter_sizes = _sizes("filter", filter, len(sizes))
    count = len(sizes) - 2
    backward = instance("direction", direction, ConvolutionDirection) == ConvolutionDirection.BACKWARD
    steps, spread = _steps("strides", strides, count), _list("dilations", dilations, count, 1)
    start, end = _list("start_padding", start_padding, count, 0), _list("end_padding", end_padding, count, 0)
    output = _list("output_sizes", output_sizes, len(sizes)) if integers("output_sizes", output_sizes) else []
    if not output and backward:
        raise ValueError("a BACKWARD convolution needs output_sizes")
    if not output:
        output = [sizes[0], filter_sizes[0]]
        for i in range(count):
            kernel = 1 + (filter_sizes[i + 2] - 1) * spread[i]
            output.append(1 + (sizes[i + 2] + start[i] + end[i] - kernel) // steps[i])
    attributes = {
        "Mode": instance("mode", mode, ConvolutionMode),
        "Direction": direction,
        "Strides": steps,
        "Dilations": spread,
        "StartPadding": start,
        "EndPadding": end,
        "OutputPadding": _list("output_padding", output_padding, count, 0),
        "GroupCount": integer("group_count", group_count),
        "FusedActivation": _activation(fused_activation),
    }
    tensors = {"InputTensor": input, "FilterTensor": filter, "BiasTensor": _optional("bias", bias)}
    return record("CONVOLUTION", tensors, attributes, output)


@public
def gemm(
    a: Expression,
    b: Expression,
    c: Expression | None = None,
    trans_a: MatrixTransform = MatrixTransform.NONE,
    trans_b: MatrixTransform = MatrixTransform.NONE,
    alpha: Number = 1,
    beta: Number = 1,
    fused_activation: FusedActivation = NO_ACTIVATION,
) -> Expression:
    """``GEMM`` of 4 sizes: ``[a[0], a[1], m, n]``. ``c`` has the output's sizes, with zero strides to repeat."""
    a_sizes, b_sizes = _sizes("a", a, 4), _sizes("b", b, 4)
    attributes = {
        "TransA": instance("trans_a", trans_a, MatrixTransform),
        "TransB": instance("trans_b", trans_b, MatrixTransform),
        "Alpha": number("alpha", alpha),
        "Beta": number("beta", beta),
        "FusedActivation": _activation(fused_activation),
    }
    rows = a_sizes[3 if trans_a == MatrixTransform.TRANSPOSE else 2]
    columns = b_sizes[2 if trans_b == MatrixTransform.TRANSPOSE else 3]
    tensors = {"ATensor": a, "BTensor": b, "CTensor": _optional("c", c)}
    return record("GEMM", tensors, attributes, [*a_sizes[:2], rows, columns])


@public
def average_pooling(
    input: Expression,
    strides: Integers,
    window_sizes: Integers,
    start_padding: Integers,
    end_padding: Integers,
    include_padding: Flag,
) -> Expression:
    """``AVERAGE_POOLING``. Note the order: strides before window sizes."""
    sizes = _sizes("input", input, 4, 5)
    count = len(sizes) - 2
    steps, windows = integers("strides", strides), _list("window_sizes", window_sizes, count)
    steps = _steps("strides", _list("strides", steps, count), count)
    start, end = _list("start_padding", start_padding, count), _list("end_padding", end_padding, count)
    attributes = {
        "Strides": steps,
        "WindowSize": windows,
        "StartPadding": start,
        "EndPadding": end,
        "IncludePadding": flag("include_padding", include_padding),
    }
    spatial = [
        (size + before + after - window) // step + 1
        for size, before, after, window, step in zip(sizes[2:], start, end, windows, steps, strict=True)
    ]
    return record("AVERAGE_POOLING", {"InputTensor": input}, attributes, [*sizes[:2], *spatial])


@public
def max_pooling(
    input: Expression,
    window_sizes: Integers,
    strides: Integers = (),
    start_padding: Integers = (),
    end_padding: Integers = (),
    dilations: Integers = (),
    output_indices: Flag = False,
) -> MaxPoolingOutputs:
    """``MAX_POOLING2`` with strides of 1 by default. A window larger than the input yields one element.

    ``indices`` are UINT32, with the sizes of ``values``.
    """
    sizes = _sizes("input", input, 4, 5)
    count = len(sizes) - 2
    windows = _list("window_sizes", window_sizes, count)
    steps = _steps("strides", strides, count)
    start, end = _list("start_padding", start_padding, count, 0), _list("end_padding", end_padding, count, 0)
    spread = _list("dilations", dilations, count, 1)
    output = list(sizes[:2])
    for i in range(count):
        space, window = sizes[i + 2] + start[i] + end[i], 1 + (windows[i] - 1) * spread[i]
        output.append(1 if window >= space else (space - window) // steps[i] + 1)
    attributes = {
        "Strides": steps,
        "WindowSize": windows,
        "StartPadding": start,
        "EndPadding": end,
        "Dilations": spread,
    }
    outputs: dict[str, tuple[Sequence[int] | None, TensorDataType | None]] = {"OutputTensor": (output, None)}
    if flag("output_indices", output_indices):
        outputs["OutputIndicesTensor"] = output, TensorDataType.UINT32
    made = record_all("MAX_POOLING2", {"InputTensor": input}, attributes, outputs)
    return MaxPoolingOutputs(made["OutputTensor"], made.get("OutputIndicesTensor", Expression()))


# --- Activations and element-wise operators -------------------------------------------------------------------------


@public
def activation_relu(input: Expression) -> Expression:
    """``ACTIVATION_RELU``."""
    return _unary("ACTIVATION_RELU", input)


@public
def activation_sigmoid(input: Expression) -> Expression:
    """``ACTIVATION_SIGMOID``."""
    return _unary("ACTIVATION_SIGMOID", input)


@public
def activation_identity(input: Expression) -> Expression:
    """``ACTIVATION_IDENTITY``."""
    return _unary("ACTIVATION_IDENTITY", input)


@public
def activation_tanh(input: Expression) -> Expression:
    """``ACTIVATION_TANH``."""
    return _unary("ACTIVATION_TANH", input)


@public
def activation_soft_max(input: Expression) -> Expression:
    """``ACTIVATION_SOFTMAX``, the form without axes: along the last dimension."""
    return _unary("ACTIVATION_SOFTMAX", input)


@public
def activation_linear(input: Expression, alpha: Number, beta: Number) -> Expression:
    """``ACTIVATION_LINEAR``: ``alpha * x + beta``."""
    attributes = {"Alpha": number("alpha", alpha), "Beta": number("beta", beta)}
    return record("ACTIVATION_LINEAR", {"InputTensor": instance("input", input, Expression)}, attributes)


def _binary(operator: str, a: Expression, b: Expression, **attributes: object) -> Expression:
    tensors = {"ATensor": instance("a", a, Expression), "BTensor": instance("b", b, Expression)}
    return record(operator, tensors, attributes)


@public
def add(a: Expression, b: Expression, fused_activation: FusedActivation = NO_ACTIVATION) -> Expression:
    """``ELEMENT_WISE_ADD1``, even without an activation; ``a + b`` is ``ELEMENT_WISE_ADD``."""
    return _binary("ELEMENT_WISE_ADD1", a, b, FusedActivation=_activation(fused_activation))


@public
def subtract(a: Expression, b: Expression) -> Expression:
    """``ELEMENT_WISE_SUBTRACT``."""
    return _binary("ELEMENT_WISE_SUBTRACT", a, b)


@public
def multiply(a: Expression, b: Expression) -> Expression:
    """``ELEMENT_WISE_MULTIPLY``."""
    return _binary("ELEMENT_WISE_MULTIPLY", a, b)


@public
def divide(a: Expression, b: Expression) -> Expression:
    """``ELEMENT_WISE_DIVIDE``."""
    return _binary("ELEMENT_WISE_DIVIDE", a, b)


@public
def value_scale_2d(input: Expression, scale: Number, bias: Sequence[Number]) -> Expression:
    """``VALUE_SCALE_2D``: ``scale * x + bias[channel]``."""
    attributes = {"Scale": number("scale", scale), "Bias": numbers("bias", bias)}
    return record("VALUE_SCALE_2D", {"InputTensor": instance("input", input, Expression)}, attributes)


# --- Normalization --------------------------------------------------------------------------------------------------


@public
def mean_variance_normalization(
    input: Expression,
    scale: Expression | None = None,
    bias: Expression | None = None,
    axes: Integers = (),
    normalize_variance: Flag = REQUIRED,
    epsilon: Number = REQUIRED,
    fused_activation: FusedActivation = NO_ACTIVATION,
) -> Expression:
    """``MEAN_VARIANCE_NORMALIZATION1``; empty ``axes`` mean no axes, not all."""
    tensors = {
        "InputTensor": instance("input", input, Expression),
        "ScaleTensor": _optional("scale", scale),
        "BiasTensor": _optional("bias", bias),
    }
    attributes = {
        "Axes": dimensions("axes", axes, len(input.get_output_desc().sizes)),
        "NormalizeVariance": flag("normalize_variance", normalize_variance),
        "Epsilon": number("epsilon", epsilon),
        "FusedActivation": _activation(fused_activation),
    }
    return record("MEAN_VARIANCE_NORMALIZATION1", tensors, attributes)


@public
def batch_normalization(
    input: Expression,
    mean: Expression,
    variance: Expression,
    scale: Expression,
    bias: Expression,
    spatial: Flag,
    epsilon: Number,
    fused_activation: FusedActivation = NO_ACTIVATION,
) -> Expression:
    """``BATCH_NORMALIZATION``: ``scale * (x - mean) / sqrt(variance + epsilon) + bias``."""
    tensors = {
        "InputTensor": instance("input", input, Expression),
        "MeanTensor": instance("mean", mean, Expression),
        "VarianceTensor": instance("variance", variance, Expression),
        "ScaleTensor": instance("scale", scale, Expression),
        "BiasTensor": instance("bias", bias, Expression),
    }
    attributes = {
        "Spatial": flag("spatial", spatial),
        "Epsilon": number("epsilon", epsilon),
        "FusedActivation": _activation(fused_activation),
    }
    return record("BATCH_NORMALIZATION", tensors, attributes)


@public
def local_response_normalization(
    input: Expression, cross_channel: Flag, local_size: int, alpha: Number, beta: Number, bias: Number
) -> Expression:
    """``LOCAL_RESPONSE_NORMALIZATION``."""
    attributes = {
        "CrossChannel": flag("cross_channel", cross_channel),
        "LocalSize": integer("local_size", local_size),
        "Alpha": number("alpha", alpha),
        "Beta": number("beta", beta),
        "Bias": number("bias", bias),
    }
    return record("LOCAL_RESPONSE_NORMALIZATION", {"InputTensor": instance("input", input, Expression)}, attributes)


# --- Movement -------------------------------------------------------------------------------------------------------


@public
def up_sample_2d(input: Expression, scale_size: Size2D, interpolation_mode: InterpolationMode) -> Expression:
    """``UPSAMPLE_2D``: multiplies the last two sizes by height and width."""
    sizes = _sizes("input", input, 4, 5)
    factor = instance("scale_size", scale_size, Size2D)
    attributes = {
        "ScaleSize": IrSize2D(factor.width, factor.height),
        "InterpolationMode": instance("interpolation_mode", interpolation_mode, InterpolationMode),
    }
    output = [*sizes[:-2], sizes[-2] * factor.height, sizes[-1] * factor.width]
    return record("UPSAMPLE_2D", {"InputTensor": input}, attributes, output)


@public
def padding(
    input: Expression, padding_mode: PaddingMode, padding_value: Number, start_padding: Integers, end_padding: Integers
) -> Expression:
    """``PADDING``, with one number per dimension."""
    sizes = _sizes("input", input)
    start = _list("start_padding", start_padding, len(sizes))
    end = _list("end_padding", end_padding, len(sizes))
    attributes = {
        "PaddingMode": instance("padding_mode", padding_mode, PaddingMode),
        "PaddingValue": number("padding_value", padding_value),
        "StartPadding": start,
        "EndPadding": end,
    }
    output = [sum(parts) for parts in zip(sizes, start, end, strict=True)]
    return record("PADDING", {"InputTensor": input}, attributes, output)


@public
def slice(
    input: Expression, input_window_offsets: Integers, input_window_sizes: Integers, input_window_strides: Integers
) -> Expression:
    """``SLICE1``, with one number per dimension; negative strides go backwards through the window."""
    rank = len(_sizes("input", input))
    offsets = _list("input_window_offsets", input_window_offsets, rank)
    windows = _list("input_window_sizes", input_window_sizes, rank)
    steps = integers("input_window_strides", input_window_strides, INT32_MIN, INT32_MAX)
    if len(steps) != rank or 0 in steps:
        raise ValueError(f"input_window_strides is {steps}; {rank} numbers other than 0 are needed")
    attributes = {"InputWindowOffsets": offsets, "InputWindowSizes": windows, "InputWindowStrides": steps}
    output = [(window - 1) // abs(step) + 1 for window, step in zip(windows, steps, strict=True)]
    return record("SLICE1", {"InputTensor": input}, attributes, output)


@public
def join(input: Sequence[Expression], axis: int) -> Expression:
    """``JOIN`` of a list: has the sizes of the first, with the sum of all along ``axis``."""
    parts = instances("input", input, Expression)
    if not parts:
        raise ValueError("input is an empty list; at least one expression is needed")
    sizes = parts[0].get_output_desc().sizes
    position = dimension("axis", axis, len(sizes))
    if any(position >= len(part.get_output_desc().sizes) for part in parts):
        raise ValueError(f"axis is {position}, which is no dimension of sizes {sizes}")
    sizes[position] = sum(part.get_output_desc().sizes[position] for part in parts)
    return record("JOIN", {"InputTensors": parts}, {"Axis": position}, sizes)


@public
def gather(input: Expression, indices: Expression, axis: int, index_dimensions: int) -> Expression:
    """``GATHER``: the last ``index_dimensions`` sizes of ``indices`` replace size ``axis`` of ``input``."""
    sizes = _sizes("input", input)
    index_sizes = _sizes("indices", indices, len(sizes))
    position, count = dimension("axis", axis, len(sizes)), integer("index_dimensions", index_dimensions)
    if position >= len(sizes):
        raise ValueError(f"axis is {position}, which is no dimension of sizes {sizes}")
    if count > position + 1:
        raise ValueError(f"index_dimensions is {count}; it may be {position + 1} at most, with axis {position}")
    space = position + 1 - count
    leading = [*([1] * space), *sizes[:position]]
    output = [*leading[len(leading) - space :], *index_sizes[len(sizes) - count :], *sizes[position + 1 :]]
    attributes = {"Axis": position, "IndexDimensions": count}
    return record("GATHER", {"InputTensor": input, "IndicesTensor": indices}, attributes, output)


# --- Recurrence -----------------------------------------------------------------------------------------------------


@public
def gru(
    input: Expression,
    weight: Expression,
    recurrence: Expression,
    bias: Expression | None = None,
    hidden_init: Expression | None = None,
    sequence_lengths: Expression | None = None,
    activation_descs: Sequence[FusedActivation] = REQUIRED,
    direction: RecurrentNetworkDirection = REQUIRED,
    linear_before_reset: int = 1,
    output_options: OutputOptions = REQUIRED,
) -> GRUOutputs:
    """``GRU``: ``sequence`` is ``[steps, directions, batch, hidden]``, ``single`` the same of one step."""
    sizes = _sizes("input", input, 4)
    _sizes("weight", weight, 4)
    hidden = _sizes("recurrence", recurrence, 4)[3]
    supplied = instances("activation_descs", activation_descs, FusedActivation)
    if len(supplied) > MAX_ACTIVATIONS:
        raise ValueError(f"activation_descs has {len(supplied)} elements; {MAX_ACTIVATIONS} are the most")
    activations = [item.activation() for item in supplied]
    if None in activations:
        raise ValueError("activation_descs has an element of type INVALID; each has to be an activation")
    instance("direction", direction, RecurrentNetworkDirection)
    options = instance("output_options", output_options, OutputOptions)
    directions = 2 if direction == RecurrentNetworkDirection.BIDIRECTIONAL else 1
    tensors = {
        "InputTensor": input,
        "WeightTensor": weight,
        "RecurrenceTensor": recurrence,
        "BiasTensor": _optional("bias", bias),
        "HiddenInitTensor": _optional("hidden_init", hidden_init),
        "SequenceLengthsTensor": _optional("sequence_lengths", sequence_lengths),
    }
    attributes = {
        "ActivationDescs": activations,
        "Direction": direction,
        "LinearBeforeReset": bool(integer("linear_before_reset", linear_before_reset, INT32_MIN, INT32_MAX)),
    }
    outputs: dict[str, tuple[Sequence[int] | None, TensorDataType | None]] = {}
    if options != OutputOptions.Single:
        outputs["OutputSequenceTensor"] = [sizes[1], directions, sizes[2], hidden], None
    if options != OutputOptions.Sequence:
        outputs["OutputSingleTensor"] = [1, directions, sizes[2], hidden], None
    made = record_all("GRU", tensors, attributes, outputs)
    return GRUOutputs(made.get("OutputSequenceTensor", Expression()), made.get("OutputSingleTensor", Expression()))
