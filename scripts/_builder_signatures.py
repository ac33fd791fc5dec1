"""Names of DirectMLX's functions, and the order and defaults of their arguments.

Everything else follows the operator's structure, with required arguments first.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from dml2onnx.builder.attributes import ACTIVATION_DEFAULTS
from dml2onnx.catalog import FieldSchema

WRITTEN_BY_HAND = frozenset([
    "activation_hardmax", "activation_log_softmax", "activation_softmax", "add", "average_pooling", "depth_to_space",
    "gather_nd", "max_pooling", "mean_variance_normalization", "negate", "one_hot", "pow", "resample", "roi_align",
    "roi_align_grad", "slice", "space_to_depth", "split", "top_k",
])  # fmt: skip
"""Names of methods in ``directmlx.py``, which choose among versions or arguments of an operator."""

METHODS = {
    "NONZERO_COORDINATES": "non_zero_coordinates",
    "SCATTER": "scatter_elements",
    "ELEMENT_WISE_IF": "if_",
}
"""Names in DirectMLX that differ from the operator's."""

_NAMES = {
    "WindowSize": "window_sizes",
    "QuantizationTensors": "quantization_parameters",
}
_NAMES_OF = {
    ("CAST", "output_data_type"): "target_data_type",
}


def snake(name: str) -> str:
    """``InputPixelOffsets`` as ``input_pixel_offsets``, ``ROITensor`` as ``roi_tensor``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def parameter_name(operator: str, field: str) -> str:
    name = _NAMES_OF.get((operator, field)) or _NAMES.get(field)
    return name or snake(re.sub(r"Tensor(?=s?$)", "", field))


_ORDERS = {
    "AVERAGE_POOLING": "input strides window_sizes start_padding end_padding include_padding",
    "AVERAGE_POOLING1": "input strides window_sizes start_padding end_padding dilations include_padding",
    "BATCH_NORMALIZATION_TRAINING": "input scale bias fused_add epsilon fused_activation",
    "CONVOLUTION_INTEGER": "input input_zero_point filter filter_zero_point strides dilations start_padding"
    " end_padding group_count output_sizes",
    "DEQUANTIZE": "input quantization_parameters quantization_type",
    "QUANTIZE": "input quantization_parameters quantization_type output_data_type",
    "DIAGONAL_MATRIX": "output_sizes output_data_type offset value",
    "GRU": "input weight recurrence bias hidden_init sequence_lengths activation_descs direction linear_before_reset"
    " output_sequence output_single",
    "MEAN_VARIANCE_NORMALIZATION": "input scale bias cross_channel normalize_variance epsilon fused_activation",
    "MEAN_VARIANCE_NORMALIZATION1": "input scale bias axes normalize_variance epsilon fused_activation",
    "MEAN_VARIANCE_NORMALIZATION2": "input scale bias axes use_mean use_variance epsilon fused_activation",
    "QUANTIZED_LINEAR_CONVOLUTION": "input input_scale input_zero_point filter filter_scale filter_zero_point bias"
    " output_scale output_zero_point output_data_type strides dilations start_padding end_padding group_count"
    " output_sizes",
    "RANDOM_GENERATOR": "input_state output_sizes output_state type",
    "REDUCE": "input function axes output_data_type",
}
ORDERS = {operator: order.split() for operator, order in _ORDERS.items()}
"""Orders of arguments in DirectMLX that differ from the structure."""

_WINDOWED = [
    "AVERAGE_POOLING", "AVERAGE_POOLING1", "CONVOLUTION", "CONVOLUTION_INTEGER", "LP_POOLING", "LP_POOLING1",
    "MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2", "QUANTIZED_LINEAR_AVERAGE_POOLING", "QUANTIZED_LINEAR_CONVOLUTION",
    "SLICE", "SLICE1",
]  # fmt: skip
SIZES_OF_CHOICE = {
    **dict.fromkeys(_WINDOWED, ("OutputTensor",)),
    "MULTIHEAD_ATTENTION": ("OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor"),
    "MULTIHEAD_ATTENTION1": ("OutputTensor",),
    "NONZERO_COORDINATES": ("OutputCountTensor", "OutputCoordinatesTensor"),
}
"""Outputs whose sizes may be rounded up, extended, cut or given leading ones."""

TYPE_DEFAULTS = {"ELEMENT_WISE_QUANTIZE_LINEAR": "UINT8"}
"""DirectMLX's default data types of outputs, besides those of :data:`TRUTH`."""

TRUTH = frozenset({"UINT8", "UINT32"})
"""Data types of logical outputs and bit counts, independent of the inputs; DirectMLX's default is UINT8."""

TYPED_BY_AN_ARRAY = frozenset({"DEQUANTIZE"})
"""Operators whose output has the data type of the first element of an array of inputs."""

WANTED = frozenset({"GRU", "LSTM", "RANDOM_GENERATOR", "RNN"})
"""Operators whose optional outputs are computed by default."""


class Result(NamedTuple):
    """A structure of outputs: its name and the names of its members."""

    name: str
    fields: tuple[str, ...]


_MAX_POOLING = Result("MaxPoolingOutputs", ("values", "indices"))
_TOP_K = Result("TopKOutputs", ("value", "index"))
_GRADIENTS = Result("BatchNormalizationGradOutputs", ("gradient", "scale_gradient", "bias_gradient"))
_ATTENTION = Result("MultiheadAttentionOutputs", ("output", "present_key", "present_value"))
RESULTS = {
    "ADAM_OPTIMIZER": Result("AdamOptimizerOutputs", ("parameters", "first_moment", "second_moment")),
    "BATCH_NORMALIZATION_GRAD": _GRADIENTS,
    "BATCH_NORMALIZATION_TRAINING": Result("BatchNormalizationTrainingOutputs", ("output", "mean", "variance")),
    "BATCH_NORMALIZATION_TRAINING_GRAD": _GRADIENTS,
    "DYNAMIC_QUANTIZE_LINEAR": Result("DynamicQuantizeLinearOutputs", ("output", "scale", "zero_point")),
    "GRU": Result("GRUOutputs", ("sequence", "single")),
    "LSTM": Result("LSTMOutputs", ("sequence", "single", "cell_single")),
    "MAX_POOLING1": _MAX_POOLING,
    "MAX_POOLING2": _MAX_POOLING,
    "MULTIHEAD_ATTENTION": _ATTENTION,
    "MULTIHEAD_ATTENTION1": _ATTENTION,
    "NONZERO_COORDINATES": Result("NonZeroCoordinatesOutputs", ("count", "coordinates")),
    "RANDOM_GENERATOR": Result("RandomGeneratorOutputs", ("values", "state")),
    "RNN": Result("RNNOutputs", ("sequence", "single")),
    "ROI_ALIGN_GRAD": Result("RoiAlignGradOutputs", ("output_gradient", "output_roi_gradient")),
    "TOP_K": _TOP_K,
    "TOP_K1": _TOP_K,
}

_DEFAULTS = {
    "Antialiased": "False",
    "Direction": '"FORWARD"',
    "FusedActivation": "None",
    "GroupCount": "1",
    "InfinityMode": '"EITHER"',
    "Mode": '"CROSS_CORRELATION"',
    "Order": '"DEPTH_COLUMN_ROW"',
    "RoundingDirection": '"INCREASING"',
    "RoundingMode": '"HALVES_TO_NEAREST_EVEN"',
    "ScaleBias": "None",
    "TransA": '"NONE"',
    "TransB": '"NONE"',
    "Type": '"PHILOX_4X32_10"',
}
_DEFAULTS_OF = {
    ("GEMM", "Alpha"): "1.0",
    ("GEMM", "Beta"): "1.0",
    # DirectMLX requires both; they have one usual value
    ("BATCH_NORMALIZATION", "Spatial"): "True",
    ("BATCH_NORMALIZATION", "Epsilon"): "1e-5",
    ("BATCH_NORMALIZATION_TRAINING", "Epsilon"): "1e-5",
}
_REQUIRED = frozenset({"PADDING", "PADDING1", "SLICE", "SLICE1", "SLICE_GRAD"})
"""Operators whose omitted arrays do not mean unit steps and no padding."""
_FILLINGS = {"Strides": "1", "Dilations": "1", "StartPadding": "0", "EndPadding": "0", "OutputPadding": "0"}
_RECURRENT = ("GRU", "LSTM", "RNN")


def attribute_default(operator: str, field: FieldSchema) -> tuple[str | None, str]:
    """The default of an attribute's argument or None, and the expression that the method passes on, or ""."""
    name = parameter_name(operator, field.name)
    if field.name in _FILLINGS and operator not in _REQUIRED:
        if "CONVOLUTION" in operator:
            return "None", f"filled({name}, sizes_of(input)[2:], {_FILLINGS[field.name]})"
        return "None", f"filled({name}, window_sizes, {_FILLINGS[field.name]})"
    if field.name in ("Scales", "InputPixelOffsets", "OutputPixelOffsets") and operator != "RESAMPLE":
        return "None", _resampling(operator, field.name, name)
    if operator == "REDUCE" and field.name == "Axes":
        return "None", "all_axes(axes, input)"
    if operator in ACTIVATION_DEFAULTS and field.name in ACTIVATION_DEFAULTS[operator]:
        return json.dumps(ACTIVATION_DEFAULTS[operator][field.name]), ""
    if (operator, field.name) in _DEFAULTS_OF:
        return _DEFAULTS_OF[operator, field.name], ""
    if field.name in _DEFAULTS and not (field.name == "Direction" and operator in _RECURRENT):
        return _DEFAULTS[field.name], ""
    return ("None", "") if field.optional else (None, "")


def _resampling(operator: str, field: str, name: str) -> str:
    gradient = operator.startswith("RESAMPLE_GRAD")
    tensor = "input_gradient" if gradient else "input"
    if field == "Scales":
        # output sizes of the forward operator over its input sizes
        if gradient:
            return "ratios(scales, sizes_of(input_gradient), output_gradient_sizes)"
        return "ratios(scales, output_sizes, sizes_of(input))"
    return f"filled({name}, sizes_of({tensor}), {'0.5' if field == 'InputPixelOffsets' else '-0.5'})"
