"""Nodes as calls of DirectMLX's functions, where it has one that makes the same descriptor.

The functions and the order of their arguments are those of every version of DirectMLX.h. Operators of which versions
differ (AVERAGE_POOLING), or that have no function, are made from their structures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.builder.attributes import ACTIVATION_DEFAULTS
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.programs.literals import array, enumerator, single

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WITH_SCALE = {
    **dict.fromkeys(["IDENTITY", "ABS", "CEIL", "COS", "EXP", "FLOOR", "LOG", "SIN", "SQRT", "TAN", "ERF"]),
    **dict.fromkeys(["SINH", "COSH", "TANH"]),
    "ACOS": "ACos",
    "ASIN": "ASin",
    "ATAN": "ATan",
    "ASINH": "ASinh",
    "ACOSH": "ACosh",
    "ATANH": "ATanh",
    "RECIP": "Recip",
}
_BINARY = {
    "ADD1": "Add",
    "SUBTRACT": "Subtract",
    "MULTIPLY": "Multiply",
    "DIVIDE": "Divide",
    "MAX": "Max",
    "MIN": "Min",
    "MEAN": "Mean",
    "ATAN_YX": "ATanYX",
    "LOGICAL_AND": "LogicalAnd",
    "LOGICAL_OR": "LogicalOr",
    "LOGICAL_XOR": "LogicalXor",
    "BIT_SHIFT_LEFT": "BitShiftLeft",
    "BIT_SHIFT_RIGHT": "BitShiftRight",
    "BIT_AND": "BitAnd",
    "BIT_OR": "BitOr",
    "BIT_XOR": "BitXor",
    "MODULUS_TRUNCATE": "ModulusTruncate",
    "MODULUS_FLOOR": "ModulusFloor",
}
OPERATORS = {"Subtract": "-", "Multiply": "*", "Divide": "/", "ModulusTruncate": "%"}
_COMPARISONS = {
    "LOGICAL_EQUALS": "Equals",
    "LOGICAL_GREATER_THAN": "GreaterThan",
    "LOGICAL_GREATER_THAN_OR_EQUAL": "GreaterThanOrEqual",
    "LOGICAL_LESS_THAN": "LessThan",
    "LOGICAL_LESS_THAN_OR_EQUAL": "LessThanOrEqual",
}
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
"""The attributes of activations, in the order in which functions and ``FusedActivation`` take them."""


class Inputs:
    """The texts of a node's input tensors, by their fields."""

    def __init__(self, texts: Callable[[str, int], str]) -> None:
        self._texts = texts

    def one(self, field: str) -> str:
        return self._texts(field, 0)

    def all(self, field: str, count: int) -> list[str]:
        return [self._texts(field, index) for index in range(count)]


def function_call(desc: OperatorDesc, inputs: Inputs) -> str | None:
    """The call of a function; ``None`` where there is none for the operator, or for these attributes.

    That outputs have the sizes and layouts which the function gives them is for the caller to know.
    """
    element_wise = desc.type.removeprefix("ELEMENT_WISE_")
    if desc.type != element_wise:
        return _element_wise(element_wise, desc, inputs)
    if desc.type.startswith("ACTIVATION_"):
        return _activation(desc.type.removeprefix("ACTIVATION_"), desc, inputs)
    made = _FUNCTIONS.get(desc.type)
    return None if made is None else made(desc, inputs)


def _call(name: str, arguments: Sequence[str], defaults: Sequence[str] = ()) -> str:
    """A call without the last arguments that are their defaults, which stand for the last of the arguments."""
    stated = list(arguments)
    for default in reversed(defaults):
        if not stated or stated[-1] != default:
            break
        stated.pop()
    return f"dml::{name}({', '.join(stated)})"


def _element_wise(name: str, desc: OperatorDesc, inputs: Inputs) -> str | None:
    if name in _WITH_SCALE:
        function = _WITH_SCALE[name] or name.capitalize()
        return _call(function, [inputs.one("InputTensor"), _scale(desc)], ["dml::NullOpt"])
    if name in _BINARY:
        function, a, b = _BINARY[name], inputs.one("ATensor"), inputs.one("BTensor")
        if name == "ADD1" and desc.activation() is not None:
            fused = _fused(desc.activation())
            return None if fused is None else _call("Add", [a, b, fused])
        sign = "+" if name == "ADD1" else OPERATORS.get(function)
        return f"{a} {sign} {b}" if sign else _call(function, [a, b])
    if name in _COMPARISONS:
        kind = f"DML_TENSOR_DATA_TYPE_{desc.tensor('OutputTensor').data_type.name}"
        pair = [inputs.one("ATensor"), inputs.one("BTensor"), kind]
        return _call(_COMPARISONS[name], pair, ["DML_TENSOR_DATA_TYPE_UINT8"])
    match name:
        case "LOGICAL_NOT" | "BIT_NOT":
            return _call("LogicalNot" if name == "LOGICAL_NOT" else "BitNot", [inputs.one("InputTensor")])
        case "IF":
            return _call("If", [inputs.one(item) for item in ("ConditionTensor", "ATensor", "BTensor")])
        case "CLIP":
            limits = [single(desc.float("Min")), single(desc.float("Max"))]
            return _call("Clip", [inputs.one("InputTensor"), *limits, _scale(desc)], ["dml::NullOpt"])
        case "POW":
            pair = [inputs.one("InputTensor"), inputs.one("ExponentTensor"), _scale(desc)]
            return _call("Pow", pair, ["dml::NullOpt"])
        case "CONSTANT_POW":
            pair = [inputs.one("InputTensor"), single(desc.float("Exponent")), _scale(desc)]
            return _call("Pow", pair, ["dml::NullOpt"])
        case "ROUND":
            mode = enumerator(desc, "RoundingMode")
            return _call("Round", [inputs.one("InputTensor"), mode], ["DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN"])
    return None


def _activation(name: str, desc: OperatorDesc, inputs: Inputs) -> str | None:
    if name == "PARAMETERIZED_RELU":
        return _call("ActivationParameterizedRelu", [inputs.one("InputTensor"), inputs.one("SlopeTensor")])
    fields = _ACTIVATIONS.get(name)
    if fields is None:
        return None
    function = "Activation" + "".join(part.capitalize() for part in name.split("_"))
    defaults = [single(float(str(ACTIVATION_DEFAULTS.get(desc.type, {}).get(field, "nan")))) for field in fields]
    numbers = [single(desc.float(field)) for field in fields]
    return _call(function, [inputs.one("InputTensor"), *numbers], defaults)


def _fused(activation: OperatorDesc | None) -> str | None:
    """``FusedActivation`` for an activation; ``None`` where it has no function."""
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
    stated = desc.get("ScaleBias")
    if not isinstance(stated, ScaleBias):
        return "dml::NullOpt"
    return f"DML_SCALE_BIAS{{{single(stated.scale)}, {single(stated.bias)}}}"


def _convolution(desc: OperatorDesc, inputs: Inputs) -> str | None:
    fused = _fused(desc.activation())
    if fused is None:
        return None
    tensors = [inputs.one(name) for name in ("InputTensor", "FilterTensor", "BiasTensor") if desc.has(name)]
    usual = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "GroupCount": 1}
    usual |= {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0}
    said = ""
    for name, value in usual.items():
        stated = desc.get(name)
        if isinstance(stated, tuple):
            said += f".{name}({array(desc.uints(name))})" if set(stated) != {value} else ""
        elif stated != value:
            said += f".{name}({enumerator(desc, name) if isinstance(stated, str) else stated})"
    if desc.activation() is not None:
        said += f".FusedActivation({fused})"
    if not said:
        return _call("Convolution", tensors)
    return f"dml::ConvolutionBuilder({', '.join(tensors)}){said}.Build()"


def _gemm(desc: OperatorDesc, inputs: Inputs) -> str | None:
    fused = _fused(desc.activation())
    if fused is None or desc.tensor("OutputTensor").rank != 4:
        return None
    c = inputs.one("CTensor") if desc.has("CTensor") else "dml::NullOpt"
    transforms = [enumerator(desc, "TransA"), enumerator(desc, "TransB")]
    factors = [single(desc.float("Alpha")), single(desc.float("Beta"))]
    none = "DML_MATRIX_TRANSFORM_NONE"
    defaults = ["dml::NullOpt", none, none, "1.0f", "1.0f", "dml::FusedActivation::None()"]
    return _call("Gemm", [inputs.one("ATensor"), inputs.one("BTensor"), c, *transforms, *factors, fused], defaults)


def _reduce(desc: OperatorDesc, inputs: Inputs) -> str:
    function, axes = enumerator(desc, "Function"), desc.uints("Axes")
    everything = axes == tuple(range(desc.tensor("InputTensor").rank))
    return _call("Reduce", [inputs.one("InputTensor"), function, "{}" if everything else array(axes)], ["{}"])


def _max_pooling(desc: OperatorDesc, inputs: Inputs) -> str | None:
    lists = [("Strides", 1), ("StartPadding", 0), ("EndPadding", 0), ("Dilations", 1)]
    stated = ["{}" if set(desc.uints(name)) == {usual} else array(desc.uints(name)) for name, usual in lists]
    indices = "true" if desc.has("OutputIndicesTensor") else "false"
    arguments = [inputs.one("InputTensor"), array(desc.uints("WindowSize")), *stated, indices]
    made = _call("MaxPooling", arguments, [*["{}"] * 4, "false"])
    return made if indices == "true" else f"{made}.values"


def _slice(desc: OperatorDesc, inputs: Inputs) -> str:
    names = ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")
    return _call("Slice", [inputs.one("InputTensor"), *(array(desc.uints(name)) for name in names)])


def _cast(desc: OperatorDesc, inputs: Inputs) -> str:
    kind = f"DML_TENSOR_DATA_TYPE_{desc.tensor('OutputTensor').data_type.name}"
    return _call("Cast", [inputs.one("InputTensor"), kind])


def _split(desc: OperatorDesc, inputs: Inputs) -> str:
    axis = desc.uint("Axis")
    parts = array([item.sizes[axis] for item in desc.tensors("OutputTensors")])
    return _call("Split", [inputs.one("InputTensor"), str(axis), parts])


def _join(desc: OperatorDesc, inputs: Inputs) -> str:
    parts = ", ".join(inputs.all("InputTensors", len(desc.tensors("InputTensors"))))
    return _call("Join", [f"{{{parts}}}", str(desc.uint("Axis"))])


def _padding(desc: OperatorDesc, inputs: Inputs) -> str:
    padding = [array(desc.uints("StartPadding")), array(desc.uints("EndPadding"))]
    value = [enumerator(desc, "PaddingMode"), single(desc.float("PaddingValue"))]
    return _call("Padding", [inputs.one("InputTensor"), *value, *padding])


def _gather(desc: OperatorDesc, inputs: Inputs) -> str:
    numbers = [str(desc.uint("Axis")), str(desc.uint("IndexDimensions"))]
    return _call("Gather", [inputs.one("InputTensor"), inputs.one("IndicesTensor"), *numbers])


_FUNCTIONS: dict[str, Callable[[OperatorDesc, Inputs], Any]] = {
    "CONVOLUTION": _convolution,
    "GEMM": _gemm,
    "REDUCE": _reduce,
    "MAX_POOLING2": _max_pooling,
    "SLICE1": _slice,
    "CAST": _cast,
    "SPLIT": _split,
    "JOIN": _join,
    "PADDING": _padding,
    "GATHER": _gather,
}
