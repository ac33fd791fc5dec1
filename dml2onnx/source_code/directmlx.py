"""Nodes as calls of DirectMLX's functions, if a function creates the same descriptor.

Functions and the order of their arguments are those of DirectMLX.h, https://github.com/microsoft/DirectML. Operators
without a function, or with different ones in versions of DirectMLX (AVERAGE_POOLING), are created from their
structures. So are descriptors that a function cannot create, such as TOP_K1 along another axis than the last.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from dml2onnx.builder.attributes import ACTIVATION_DEFAULTS
from dml2onnx.frontends.descriptors import UNION_MEMBERS
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.source_code.literals import array, enumerator, scalar, single

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Inputs: TypeAlias = Callable[[str, int], str]

_OPERATORS = {"ADD1": "+", "SUBTRACT": "-", "MULTIPLY": "*", "DIVIDE": "/", "MODULUS_TRUNCATE": "%"}
"""Functions with a C++ operator."""
_ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "ELU": ("Alpha",),
    "HARDMAX": (),
    "HARD_SIGMOID": ("Alpha", "Beta"),
    "IDENTITY": (),
    "LEAKY_RELU": ("Alpha",),
    "LINEAR": ("Alpha", "Beta"),
    "LOG_SOFTMAX": (),
    "PARAMETRIC_SOFTPLUS": ("Alpha", "Beta"),
    "RELU": (),
    "SCALED_ELU": ("Alpha", "Gamma"),
    "SCALED_TANH": ("Alpha", "Beta"),
    "SIGMOID": (),
    "SOFTMAX": (),
    "SOFTPLUS": ("Steepness",),
    "SOFTSIGN": (),
    "TANH": (),
    "THRESHOLDED_RELU": ("Alpha",),
    "SHRINK": ("Bias", "Threshold"),
    "CELU": ("Alpha",),
}
"""The attributes of activations, in the order of the parameters of functions and of ``FusedActivation``."""


def function_call(desc: OperatorDesc, inputs: Inputs) -> str | None:
    """The call of a function; ``None`` if there is none for the operator, or for these attributes.

    ``inputs`` returns the text of an input tensor by its field and index. The caller checks that the outputs have the
    sizes and layouts that the function infers.
    """
    sign = _OPERATORS.get(desc.type.removeprefix("ELEMENT_WISE_"))
    if sign is not None and not desc.has("FusedActivation"):
        return f"{inputs('ATensor', 0)} {sign} {inputs('BTensor', 0)}"
    if desc.type.removeprefix("ACTIVATION_") in _ACTIVATIONS and desc.type.startswith("ACTIVATION_"):
        return _activation(desc.type.removeprefix("ACTIVATION_"), desc, inputs)
    if desc.type in _BY_FIELDS or desc.type in _ELEMENT_WISE:
        return _by_fields(desc, inputs)
    function = _FUNCTIONS.get(desc.type)
    return None if function is None else function(desc, inputs)


def _call(name: str, arguments: Sequence[str], defaults: Sequence[str] = ()) -> str:
    """A call without trailing arguments that equal their defaults; ``defaults`` are those of the last parameters."""
    required = list(arguments)
    for default in reversed(defaults):
        if not required or required[-1] != default:
            break
        required.pop()
    return f"dml::{name}({', '.join(required)})"


def _activation(name: str, desc: OperatorDesc, inputs: Inputs) -> str:
    fields = _ACTIVATIONS[name]
    function = "Activation" + "".join(part.capitalize() for part in name.split("_"))
    defaults = [single(float(str(ACTIVATION_DEFAULTS.get(desc.type, {}).get(field, "nan")))) for field in fields]
    numbers = [single(desc.float(field)) for field in fields]
    return _call(function, [inputs("InputTensor", 0), *numbers], defaults)


def _fused(activation: OperatorDesc | None) -> str | None:
    """``FusedActivation`` for an activation; ``None`` if it has no function."""
    if activation is None:
        return "dml::FusedActivation::None()"
    name = activation.type.removeprefix("ACTIVATION_")
    fields = _ACTIVATIONS.get(name)
    if fields is None or name in ("HARDMAX", "LOG_SOFTMAX", "SOFTMAX"):
        return None
    function = "".join(part.capitalize() for part in name.split("_"))
    numbers = ", ".join(single(activation.float(field)) for field in fields)
    return f"dml::FusedActivation::{function}({numbers})"


def _scale(desc: OperatorDesc) -> str:
    value = desc.get("ScaleBias")
    if not isinstance(value, ScaleBias):
        return "dml::NullOpt"
    return f"DML_SCALE_BIAS{{{single(value.scale)}, {single(value.bias)}}}"


def _convolution(desc: OperatorDesc, inputs: Inputs) -> str | None:
    fused = _fused(desc.activation())
    if fused is None:
        return None
    tensors = [inputs(name, 0) for name in ("InputTensor", "FilterTensor", "BiasTensor") if desc.has(name)]
    defaults = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "GroupCount": 1}
    defaults |= {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0}
    options = ""
    for name, default in defaults.items():
        value = desc.get(name)
        if isinstance(value, tuple):
            options += f".{name}({array(desc.uints(name))})" if set(value) != {default} else ""
        elif value != default:
            options += f".{name}({enumerator(desc, name) if isinstance(value, str) else value})"
    if desc.activation() is not None:
        options += f".FusedActivation({fused})"
    if not options:
        return _call("Convolution", tensors)
    return f"dml::ConvolutionBuilder({', '.join(tensors)}){options}.Build()"


def _gemm(desc: OperatorDesc, inputs: Inputs) -> str | None:
    fused = _fused(desc.activation())
    if fused is None or desc.tensor("OutputTensor").rank != 4:
        return None
    c = inputs("CTensor", 0) if desc.has("CTensor") else "dml::NullOpt"
    transforms = [enumerator(desc, "TransA"), enumerator(desc, "TransB")]
    factors = [single(desc.float("Alpha")), single(desc.float("Beta"))]
    none = "DML_MATRIX_TRANSFORM_NONE"
    defaults = ["dml::NullOpt", none, none, "1.0f", "1.0f", "dml::FusedActivation::None()"]
    return _call("Gemm", [inputs("ATensor", 0), inputs("BTensor", 0), c, *transforms, *factors, fused], defaults)


def _reduce(desc: OperatorDesc, inputs: Inputs) -> str:
    function, axes = enumerator(desc, "Function"), desc.uints("Axes")
    is_all = axes == tuple(range(desc.tensor("InputTensor").rank))
    return _call("Reduce", [inputs("InputTensor", 0), function, "{}" if is_all else array(axes)], ["{}"])


def _max_pooling(desc: OperatorDesc, inputs: Inputs) -> str:
    lists = [("Strides", 1), ("StartPadding", 0), ("EndPadding", 0), ("Dilations", 1)]
    texts = ["{}" if set(desc.uints(name)) == {default} else array(desc.uints(name)) for name, default in lists]
    indices = "true" if desc.has("OutputIndicesTensor") else "false"
    arguments = [inputs("InputTensor", 0), array(desc.uints("WindowSize")), *texts, indices]
    return _call("MaxPooling", arguments, [*["{}"] * 4, "false"])


def _split(desc: OperatorDesc, inputs: Inputs) -> str:
    axis = desc.uint("Axis")
    parts = array([item.sizes[axis] for item in desc.tensors("OutputTensors")])
    return _call("Split", [inputs("InputTensor", 0), str(axis), parts])


def _join(desc: OperatorDesc, inputs: Inputs) -> str:
    parts = ", ".join(inputs("InputTensors", index) for index in range(len(desc.tensors("InputTensors"))))
    return _call("Join", [f"{{{parts}}}", str(desc.uint("Axis"))])


def _gru(desc: OperatorDesc, inputs: Inputs) -> str | None:
    optional = ["BiasTensor", "HiddenInitTensor", "SequenceLengthsTensor"]
    present = [desc.has(name) for name in optional]
    if present != sorted(present, reverse=True):
        return None  # before DirectML 1.8 the function passed inputs after a missing one in the wrong position
    activations = [_fused(item) for item in desc.activations()]
    if None in activations:
        return None
    tensors = [inputs(name, 0) for name in ("InputTensor", "WeightTensor", "RecurrenceTensor")]
    tensors += [inputs(name, 0) if has else "dml::NullOpt" for name, has in zip(optional, present, strict=True)]
    before = "true" if desc.get("LinearBeforeReset") else "false"
    outputs = [desc.has("OutputSequenceTensor"), desc.has("OutputSingleTensor")]
    which = "Both" if all(outputs) else "Sequence" if outputs[0] else "Single"
    texts = f"{{{', '.join(str(item) for item in activations)}}}"
    return _call("GRU", [*tensors, texts, enumerator(desc, "Direction"), before, f"dml::GRUOutputOptions::{which}"])


def _filled(function: str, *fields: str) -> Callable[[OperatorDesc, Inputs], str | None]:
    def fill(desc: OperatorDesc, inputs: Inputs) -> str | None:
        output = desc.tensor("OutputTensor")
        kind = f"DML_TENSOR_DATA_TYPE_{output.data_type.name}"
        if desc.get("ValueDataType") != output.data_type.name:
            return None
        scalars = [_union(desc.get(field)) for field in fields]
        return _call(function, ["graph", f"dml::TensorDimensions{array(output.sizes)}", kind, *scalars])

    return fill


def _union(value: object) -> str:
    """A ``DML_SCALAR_UNION``, made by a lambda because C++17 has no literal for it."""
    assert isinstance(value, Scalar)
    member = f"u.{UNION_MEMBERS[value.data_type]} = {scalar(value.value, value.data_type)};"
    return f"[] {{ DML_SCALAR_UNION u = {{}}; {member} return u; }}()"


_FUNCTIONS: dict[str, Callable[[OperatorDesc, Inputs], Any]] = {
    "CONVOLUTION": _convolution,
    "GEMM": _gemm,
    "REDUCE": _reduce,
    "MAX_POOLING2": _max_pooling,
    "SPLIT": _split,
    "JOIN": _join,
    "GRU": _gru,
    "FILL_VALUE_CONSTANT": _filled("FillValueConstant", "Value"),
    "FILL_VALUE_SEQUENCE": _filled("FillValueSequence", "ValueStart", "ValueDelta"),
}

_GRADIENTS = {
    "OutputGradientTensor": "gradient",
    "OutputScaleGradientTensor": "scaleGradient",
    "OutputBiasGradientTensor": "biasGradient",
}
MEMBERS: dict[str, dict[str, str]] = {
    "MAX_POOLING2": {"OutputTensor": "values", "OutputIndicesTensor": "indices"},
    "TOP_K1": {"OutputValueTensor": "value", "OutputIndexTensor": "index"},
    "GRU": {"OutputSequenceTensor": "sequence", "OutputSingleTensor": "single"},
    "RANDOM_GENERATOR": {"OutputTensor": "values", "OutputStateTensor": "state"},
    "NONZERO_COORDINATES": {"OutputCountTensor": "count", "OutputCoordinatesTensor": "coordinates"},
    "BATCH_NORMALIZATION_GRAD": _GRADIENTS,
    "BATCH_NORMALIZATION_TRAINING_GRAD": _GRADIENTS,
    "BATCH_NORMALIZATION_TRAINING": {
        "OutputTensor": "output",
        "OutputMeanTensor": "mean",
        "OutputVarianceTensor": "variance",
    },
    "ROI_ALIGN_GRAD": {"OutputGradientTensor": "outputGradient", "OutputROIGradientTensor": "outputROIGradient"},
}
"""The members of the results of functions with several outputs, by the fields of the outputs."""


# --- Functions whose arguments are fields -----------------------------------------------------------------------------

SIZES = "="
"""Prefix of an output whose sizes are an argument."""
PRESENT = "?"
"""Prefix of an output whose presence is a Boolean argument."""
SIZED = frozenset(
    {
        *("RESAMPLE1", "RESAMPLE_GRAD", "SLICE_GRAD", "ONE_HOT", "RANDOM_GENERATOR", "FILL_VALUE_CONSTANT"),
        *("FILL_VALUE_SEQUENCE", "ROI_ALIGN1", "ROI_ALIGN_GRAD"),
    }
)
"""Operators whose functions have the sizes of the output as a parameter."""
_CAPITALS = "IDENTITY ABS CEIL COS EXP FLOOR LOG SIN SQRT TAN ERF SINH COSH TANH RECIP"
_WITH_SCALE = {
    **{name: name.capitalize() for name in _CAPITALS.split()},
    **{f"A{name}": f"A{name.capitalize()}" for name in ("COS", "SIN", "TAN", "SINH", "COSH", "TANH")},
}
_BINARY = {
    **{name: name.capitalize() for name in ("MAX", "MIN", "MEAN")},
    "ATAN_YX": "ATanYX",
    **{f"LOGICAL_{name}": f"Logical{name.capitalize()}" for name in ("AND", "OR", "XOR")},
    **{f"BIT_{name}": f"Bit{name.capitalize()}" for name in ("AND", "OR", "XOR")},
    "BIT_SHIFT_LEFT": "BitShiftLeft",
    "BIT_SHIFT_RIGHT": "BitShiftRight",
    "MODULUS_FLOOR": "ModulusFloor",
}
_COMPARISONS = {
    "EQUALS": "Equals",
    "GREATER_THAN": "GreaterThan",
    "GREATER_THAN_OR_EQUAL": "GreaterThanOrEqual",
    "LESS_THAN": "LessThan",
    "LESS_THAN_OR_EQUAL": "LessThanOrEqual",
}
_NORMALIZATION_GRAD = "InputTensor InputGradientTensor MeanTensor VarianceTensor ScaleTensor Epsilon"
_SAMPLES = "MinimumSamplesPerOutput MaximumSamplesPerOutput AlignRegionsToCorners"
_SCALED = "ReductionFunction InterpolationMode SpatialScaleX SpatialScaleY InputPixelOffset OutputPixelOffset"
_KIND = "#"
"""Prefix of an output whose data type is an argument."""
_ELEMENT_WISE = {
    **{f"ELEMENT_WISE_{name}": (function, "InputTensor ScaleBias") for name, function in _WITH_SCALE.items()},
    **{f"ELEMENT_WISE_{name}": (function, "ATensor BTensor") for name, function in _BINARY.items()},
    **{
        f"ELEMENT_WISE_LOGICAL_{name}": (function, "ATensor BTensor #OutputTensor")
        for name, function in _COMPARISONS.items()
    },
    "ELEMENT_WISE_ADD1": ("Add", "ATensor BTensor FusedActivation"),
    "ELEMENT_WISE_LOGICAL_NOT": ("LogicalNot", "InputTensor"),
    "ELEMENT_WISE_BIT_NOT": ("BitNot", "InputTensor"),
    "ELEMENT_WISE_IF": ("If", "ConditionTensor ATensor BTensor"),
    "ELEMENT_WISE_CLIP": ("Clip", "InputTensor Min Max ScaleBias"),
    "ELEMENT_WISE_POW": ("Pow", "InputTensor ExponentTensor ScaleBias"),
    "ELEMENT_WISE_CONSTANT_POW": ("Pow", "InputTensor Exponent ScaleBias"),
    "ELEMENT_WISE_ROUND": ("Round", "InputTensor RoundingMode"),
}
_BY_FIELDS = {
    "ACTIVATION_PARAMETERIZED_RELU": ("ActivationParameterizedRelu", "InputTensor SlopeTensor"),
    "CAST": ("Cast", "InputTensor #OutputTensor"),
    "SLICE1": ("Slice", "InputTensor InputWindowOffsets InputWindowSizes InputWindowStrides"),
    "PADDING": ("Padding", "InputTensor PaddingMode PaddingValue StartPadding EndPadding"),
    "GATHER": ("Gather", "InputTensor IndicesTensor Axis IndexDimensions"),
    "VALUE_SCALE_2D": ("ValueScale2D", "InputTensor Scale Bias"),
    "UPSAMPLE_2D": ("Upsample2D", "InputTensor ScaleSize InterpolationMode"),
    "GATHER_ELEMENTS": ("GatherElements", "InputTensor IndicesTensor Axis"),
    "GATHER_ND1": (
        "GatherND",
        "InputTensor IndicesTensor InputDimensionCount IndicesDimensionCount BatchDimensionCount",
    ),
    "SCATTER_ND": ("ScatterND", "InputTensor IndicesTensor UpdatesTensor InputDimensionCount IndicesDimensionCount"),
    "SPACE_TO_DEPTH1": ("SpaceToDepth", "InputTensor BlockSize Order"),
    "DEPTH_TO_SPACE1": ("DepthToSpace", "InputTensor BlockSize Order"),
    "TILE": ("Tile", "InputTensor Repeats"),
    "BATCH_NORMALIZATION": (
        "BatchNormalization",
        "InputTensor MeanTensor VarianceTensor ScaleTensor BiasTensor Spatial Epsilon FusedActivation",
    ),
    "MEAN_VARIANCE_NORMALIZATION1": (
        "MeanVarianceNormalization",
        "InputTensor ScaleTensor BiasTensor Axes NormalizeVariance Epsilon FusedActivation",
    ),
    "LOCAL_RESPONSE_NORMALIZATION": (
        "LocalResponseNormalization",
        "InputTensor CrossChannel LocalSize Alpha Beta Bias",
    ),
    "ONE_HOT": ("OneHot", "IndicesTensor ValuesTensor =OutputTensor Axis"),
    "RESAMPLE1": (
        "Resample",
        "InputTensor =OutputTensor InterpolationMode Scales InputPixelOffsets OutputPixelOffsets",
    ),
    "RESAMPLE_GRAD": (
        "ResampleGrad",
        "InputGradientTensor =OutputGradientTensor InterpolationMode Scales InputPixelOffsets OutputPixelOffsets",
    ),
    "SLICE_GRAD": (
        "SliceGrad",
        "InputGradientTensor =OutputGradientTensor InputWindowOffsets InputWindowSizes InputWindowStrides",
    ),
    "CUMULATIVE_SUMMATION": ("CumulativeSummation", "InputTensor Axis AxisDirection HasExclusiveSum"),
    "CUMULATIVE_PRODUCT": ("CumulativeProduct", "InputTensor Axis AxisDirection HasExclusiveProduct"),
    "REVERSE_SUBSEQUENCES": ("ReverseSubsequences", "InputTensor SequenceLengthsTensor Axis"),
    "SCATTER": ("ScatterElements", "InputTensor IndicesTensor UpdatesTensor Axis"),
    "TOP_K1": ("TopK", "InputTensor Axis K AxisDirection"),
    "NONZERO_COORDINATES": ("NonZeroCoordinates", "InputTensor"),
    "RANDOM_GENERATOR": ("RandomGenerator", "InputStateTensor =OutputTensor ?OutputStateTensor Type"),
    "BATCH_NORMALIZATION_GRAD": ("BatchNormalizationGrad", _NORMALIZATION_GRAD),
    "BATCH_NORMALIZATION_TRAINING_GRAD": ("BatchNormalizationTrainingGrad", _NORMALIZATION_GRAD),
    "BATCH_NORMALIZATION_TRAINING": (
        "BatchNormalizationTraining",
        "InputTensor ScaleTensor BiasTensor FusedAddTensor Epsilon FusedActivation",
    ),
    "ROI_ALIGN1": (
        "RoiAlign",
        f"InputTensor ROITensor BatchIndicesTensor {_SCALED} OutOfBoundsInputValue {_SAMPLES} "
        "OutputTensor[2] OutputTensor[3]",
    ),
    "ROI_ALIGN_GRAD": (
        "RoiAlignGrad",
        f"InputTensor InputGradientTensor ROITensor BatchIndicesTensor {_SCALED} {_SAMPLES} OutputGradientTensor[0] "
        "OutputGradientTensor[2] OutputGradientTensor[3] ?OutputGradientTensor ?OutputROIGradientTensor",
    ),
}
"""Functions, and the fields of their arguments in order."""
_LAST = {
    "FusedActivation": "dml::FusedActivation::None()",
    "Order": "DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW",
    "Type": "DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10",
    "ScaleBias": "dml::NullOpt",
    "RoundingMode": "DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN",
}
"""Defaults of last parameters."""


def _infers_outputs(desc: OperatorDesc) -> bool:
    """Whether functions that infer sizes in their own way infer those of the outputs."""

    def sizes(name: str) -> tuple[int, ...]:
        return desc.tensor(name).sizes

    match desc.type:
        case "TOP_K1":
            return desc.uint("Axis") == desc.tensor("InputTensor").rank - 1
        case "NONZERO_COORDINATES":
            coordinates = prod(sizes("InputTensor")), len(sizes("InputTensor"))
            return sizes("OutputCountTensor") == (1,) and sizes("OutputCoordinatesTensor") == coordinates
        case "RANDOM_GENERATOR":
            state = desc.get("OutputStateTensor")
            return state is None or state == desc.get("InputStateTensor")
        case "BATCH_NORMALIZATION_GRAD" | "BATCH_NORMALIZATION_TRAINING_GRAD":
            gradients = ("OutputScaleGradientTensor", "OutputBiasGradientTensor")
            return all(sizes(name) == sizes("MeanTensor") for name in gradients)
        case "BATCH_NORMALIZATION_TRAINING":
            return all(sizes(name) == sizes("ScaleTensor") for name in ("OutputMeanTensor", "OutputVarianceTensor"))
        case "ROI_ALIGN1":
            return sizes("OutputTensor")[:2] == (sizes("ROITensor")[-2:-1] or (1,))[:1] + sizes("InputTensor")[1:2]
        case "ROI_ALIGN_GRAD":
            return not desc.has("OutputGradientTensor") or desc.tensor("OutputGradientTensor").rank == 4
        case "SPACE_TO_DEPTH1" | "DEPTH_TO_SPACE1":
            return desc.tensor("InputTensor").rank == 4
    return True


def _by_fields(desc: OperatorDesc, inputs: Inputs) -> str | None:
    function, fields = _BY_FIELDS.get(desc.type) or _ELEMENT_WISE[desc.type]
    if not _infers_outputs(desc):
        return None
    arguments = [_argument(desc, field, inputs) for field in fields.split()]
    texts = [item for item in arguments if item is not None]
    last = fields.split()[-1]
    defaults = [_LAST[last]] if last in _LAST else []
    if last.startswith(_KIND) and desc.type != "CAST":
        defaults = ["DML_TENSOR_DATA_TYPE_UINT8"]
    return _call(function, texts, defaults) if len(texts) == len(arguments) else None


def _argument(desc: OperatorDesc, field: str, inputs: Inputs) -> str | None:
    """The text of an argument; ``None`` for activations without a function."""
    if field.startswith(SIZES):
        sizes = desc.tensor(field.removeprefix(SIZES)).sizes
        return str(sizes[desc.uint("Axis")]) if desc.type == "ONE_HOT" else f"dml::TensorDimensions{array(sizes)}"
    if field.startswith(_KIND):
        return f"DML_TENSOR_DATA_TYPE_{desc.tensor(field.removeprefix(_KIND)).data_type.name}"
    if field == "ScaleBias":
        return _scale(desc)
    if field.startswith(PRESENT):
        return "true" if desc.has(field.removeprefix(PRESENT)) else "false"
    if field.endswith("]"):
        name, _, dimension = field.removesuffix("]").partition("[")
        return str(desc.tensor(name).sizes[int(dimension)]) if desc.has(name) else "0"
    if field.endswith("Tensor"):
        return inputs(field, 0) if desc.has(field) else "dml::NullOpt"
    value = desc.get(field)
    if field == "FusedActivation":
        return _fused(desc.activation())
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return enumerator(desc, field)
        case int():
            return str(value)
        case float():
            return single(value)
        case Size2D():
            return f"DML_SIZE_2D{{{value.width}, {value.height}}}"
        case tuple():
            return f"{{{', '.join(single(item) if isinstance(item, float) else str(item) for item in value)}}}"
    return None
