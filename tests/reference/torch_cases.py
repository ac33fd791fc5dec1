"""Operators that PyTorch has too: what they get, as DirectML has it; ``scripts/_torch_operators.py`` is the other side.

The numbers come from a seed, so that only PyTorch's answers are kept.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

IMAGE = (2, 3, 6, 7)


@dataclass(frozen=True)
class Case:
    """One operator: sizes of its inputs, fields, and sizes of its outputs."""

    operator: str
    inputs: dict[str, tuple[int, ...]]
    outputs: dict[str, tuple[int, ...]]
    fields: dict[str, object] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    positive: tuple[str, ...] = ()
    """Inputs of positive numbers."""
    masks: tuple[str, ...] = ()
    """Inputs of INT32 that are 0 or 1, never 0 in all of a row."""


def arrays(name: str) -> Arrays:
    """The inputs of a case, FLOAT32 but for sequence lengths and masks."""
    case, rng = CASES[name], np.random.default_rng(zlib.crc32(name.encode()))
    made: Arrays = {key: rng.normal(size=sizes).astype(np.float32) for key, sizes in case.inputs.items()}
    for key in case.positive:
        made[key] = np.abs(made[key]) + np.float32(0.5)
    for key in case.masks:
        made[key] = (made[key] > 0).astype(np.int32)
        made[key][..., 0] = 1
    if case.lengths:
        made["SequenceLengthsTensor"] = np.array(case.lengths, np.uint32).reshape(1, 1, 1, -1)
    return made


def _same(operator: str, sizes: tuple[int, ...] = IMAGE, **fields: object) -> Case:
    return Case(operator, {"InputTensor": sizes}, {"OutputTensor": sizes}, fields)


def _pool(operator: str, output: tuple[int, ...], **fields: object) -> Case:
    return Case(operator, {"InputTensor": IMAGE}, {"OutputTensor": output}, fields)


def _convolution(filter: tuple[int, ...], output: tuple[int, ...], **fields: object) -> Case:
    inputs = {"InputTensor": IMAGE, "FilterTensor": filter, "BiasTensor": (1, output[1], 1, 1)}
    settings = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "OutputPadding": (0, 0), **fields}
    return Case("CONVOLUTION", inputs, {"OutputTensor": output}, settings)


STEPS, BATCH, SIZE, HIDDEN = 5, 3, 4, 6
LENGTHS = (5, 2, 4)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {
    "RNN": ["ACTIVATION_TANH"],
    "GRU": ["ACTIVATION_SIGMOID", "ACTIVATION_TANH"],
    "LSTM": ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"],
}


def _recurrent(operator: str, lengths: tuple[int, ...] = (), **fields: object) -> Case:
    rows = GATES[operator] * HIDDEN
    states = (1, 2, BATCH, HIDDEN)
    inputs = {
        "InputTensor": (1, STEPS, BATCH, SIZE),
        "WeightTensor": (1, 2, rows, SIZE),
        "RecurrenceTensor": (1, 2, rows, HIDDEN),
        "BiasTensor": (1, 1, 2, 2 * rows),
        "HiddenInitTensor": states,
    }
    outputs = {"OutputSequenceTensor": (STEPS, 2, BATCH, HIDDEN), "OutputSingleTensor": states}
    if operator == "LSTM":
        inputs["CellMemInitTensor"] = states
        outputs["OutputCellSingleTensor"] = states
    return Case(operator, inputs, outputs, {"Direction": "BIDIRECTIONAL", **fields}, lengths)


def _attention(extra: dict[str, tuple[int, ...]], groups: int = 4, **fields: object) -> Case:
    """Five queries of seven keys by four heads, of values of another size."""
    inputs = {"QueryTensor": (2, 5, 32), "KeyTensor": (2, 7, 8 * groups), "ValueTensor": (2, 7, 3 * groups), **extra}
    counts = {"HeadCount": 4} if groups == 4 else {"QueryHeadCount": 4, "KeyValueHeadCount": groups}
    settings = {"Scale": 0.7, "MaskFilterValue": -1e30, "MaskType": "NONE", **counts, **fields}
    operator = "MULTIHEAD_ATTENTION" if groups == 4 else "MULTIHEAD_ATTENTION1"
    masks = tuple(key for key in extra if key == "MaskTensor")
    return Case(operator, inputs, {"OutputTensor": (2, 5, 12)}, settings, masks=masks)


_WINDOW = {"Strides": (2, 1), "WindowSize": (3, 2), "StartPadding": (1, 1), "EndPadding": (1, 1)}
_PADDED, _PLAIN = (2, 3, 3, 8), (2, 3, 2, 6)
_BARE = {"Strides": (2, 1), "WindowSize": (3, 2), "StartPadding": (0, 0), "EndPadding": (0, 0)}
_UP = {"Scales": (1.0, 1.0, 1.5, 2.0), "InputPixelOffsets": (0.5,) * 4, "OutputPixelOffsets": (-0.5,) * 4}
_DOWN = {"InputPixelOffsets": (-0.5,) * 4, "OutputPixelOffsets": (0.5,) * 4}
_STATISTICS = {"MeanTensor": (1, 3, 1, 1), "VarianceTensor": (1, 3, 1, 1), "ScaleTensor": (1, 3, 1, 1)}
_RESPONSE = {"CrossChannel": True, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 1.5}
_BOTH = {"InputTensor": IMAGE, "InputGradientTensor": IMAGE}

CASES = {
    "convolution": _convolution(
        (4, 3, 3, 2), (2, 4, 3, 7), Strides=(2, 1), Dilations=(1, 2), StartPadding=(1, 1), EndPadding=(1, 1),
        GroupCount=1,
    ),
    "depthwise": _convolution(
        (6, 1, 3, 3), (2, 6, 4, 5), Strides=(1, 1), Dilations=(1, 1), StartPadding=(0, 0), EndPadding=(0, 0),
        GroupCount=3,
    ),
    "transposed": _convolution(
        (3, 4, 3, 2), (2, 4, 11, 6), Direction="BACKWARD", Strides=(2, 1), Dilations=(1, 1), StartPadding=(1, 1),
        EndPadding=(1, 1), GroupCount=1,
    ),
    "gemm": Case(
        "GEMM", {"ATensor": (1, 1, 4, 5), "BTensor": (1, 1, 3, 5), "CTensor": (1, 1, 4, 3)},
        {"OutputTensor": (1, 1, 4, 3)}, {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.5, "Beta": 2.0},
    ),
    "average": _pool("AVERAGE_POOLING", _PADDED, **_WINDOW, IncludePadding=False),
    "average with padding": _pool("AVERAGE_POOLING", _PADDED, **_WINDOW, IncludePadding=True),
    "maximum": _pool("MAX_POOLING", _PADDED, **_WINDOW),
    "p-norm": _pool("LP_POOLING", _PLAIN, **_BARE, P=3),
    "linear": Case(
        "RESAMPLE1", {"InputTensor": IMAGE}, {"OutputTensor": (2, 3, 9, 14)}, {"InterpolationMode": "LINEAR", **_UP}
    ),
    "batch": Case(
        "BATCH_NORMALIZATION", {"InputTensor": IMAGE, **_STATISTICS, "BiasTensor": (1, 3, 1, 1)},
        {"OutputTensor": IMAGE}, {"Spatial": True, "Epsilon": 0.01}, positive=("VarianceTensor",),
    ),
    "layer": Case(
        "MEAN_VARIANCE_NORMALIZATION1", {"InputTensor": IMAGE, "ScaleTensor": IMAGE, "BiasTensor": IMAGE},
        {"OutputTensor": IMAGE}, {"Axes": [1, 2, 3], "NormalizeVariance": True, "Epsilon": 0.01},
    ),
    "response": _same("LOCAL_RESPONSE_NORMALIZATION", **_RESPONSE),
    "softmax": _same("ACTIVATION_SOFTMAX1", Axes=[1]),
    "log softmax": _same("ACTIVATION_LOG_SOFTMAX1", Axes=[3]),
    "elu": _same("ACTIVATION_ELU", Alpha=0.75),
    "celu": _same("ACTIVATION_CELU", Alpha=0.75),
    "selu": _same("ACTIVATION_SCALED_ELU", Alpha=1.6732632423543772, Gamma=1.0507009873554805),
    "gelu": _same("ACTIVATION_GELU"),
    "swish": _same("ACTIVATION_SWISH", SigmoidInputScale=1.0),
    "hard swish": _same("ACTIVATION_HARD_SWISH", Alpha=1 / 6, Beta=0.5),
    "leaky": _same("ACTIVATION_LEAKY_RELU", Alpha=0.2),
    "softplus": _same("ACTIVATION_SOFTPLUS", Steepness=2.0),
    "softsign": _same("ACTIVATION_SOFTSIGN"),
    "shrink": _same("ACTIVATION_SHRINK", Bias=0.5, Threshold=0.5),
    "erf": _same("ELEMENT_WISE_ERF"),
    "running sum": _same("CUMULATIVE_SUMMATION", Axis=2, AxisDirection="INCREASING", HasExclusiveSum=False),
    "running product": _same("CUMULATIVE_PRODUCT", Axis=3, AxisDirection="INCREASING", HasExclusiveProduct=False),
    "reflection": Case(
        "PADDING", {"InputTensor": IMAGE}, {"OutputTensor": (2, 3, 9, 12)},
        {"PaddingMode": "REFLECTION", "PaddingValue": 0.0, "StartPadding": (0, 0, 1, 3), "EndPadding": (0, 0, 2, 2)},
    ),
    "rnn": _recurrent("RNN"),
    "rnn of lengths": _recurrent("RNN", LENGTHS),
    "gru": _recurrent("GRU", LinearBeforeReset=True),
    "gru of lengths": _recurrent("GRU", LENGTHS, LinearBeforeReset=True),
    "lstm": _recurrent("LSTM", ClipThreshold=0.0, UseClipThreshold=False, CoupleInputForget=False),
    "lstm of lengths": _recurrent("LSTM", LENGTHS, ClipThreshold=0.0, UseClipThreshold=False, CoupleInputForget=False),
    "attention": _attention({}),
    "attention by a mask": _attention({"MaskTensor": (2, 4, 5, 7)}, MaskType="BOOLEAN"),
    "attention and positions": _attention({"RelativePositionBiasTensor": (2, 4, 5, 7)}),
    "attention of groups": _attention({"MaskTensor": (2, 4, 5, 7)}, 2, MaskType="BOOLEAN"),
    "gradient of relu": Case("ACTIVATION_RELU_GRAD", _BOTH, {"OutputGradientTensor": IMAGE}),
    "gradient of clip": Case(
        "ELEMENT_WISE_CLIP_GRAD", _BOTH, {"OutputGradientTensor": IMAGE}, {"Min": -0.5, "Max": 1.0}
    ),
    "gradient of average": Case(
        "AVERAGE_POOLING_GRAD", {"InputGradientTensor": _PADDED}, {"OutputGradientTensor": IMAGE},
        {**_WINDOW, "IncludePadding": False},
    ),
    "gradient of maximum": Case(
        "MAX_POOLING_GRAD", {"InputTensor": IMAGE, "InputGradientTensor": _PADDED}, {"OutputGradientTensor": IMAGE},
        {**_WINDOW, "Dilations": (1, 1)},
    ),
    "gradient of linear": Case(
        "RESAMPLE_GRAD", {"InputGradientTensor": (2, 3, 9, 14)}, {"OutputGradientTensor": IMAGE},
        {"InterpolationMode": "LINEAR", **_UP, **_DOWN},
    ),
    "gradient of batch": Case(
        "BATCH_NORMALIZATION_GRAD", {**_BOTH, **_STATISTICS},
        {
            "OutputGradientTensor": IMAGE,
            "OutputScaleGradientTensor": (1, 3, 1, 1),
            "OutputBiasGradientTensor": (1, 3, 1, 1),
        },
        {"Epsilon": 0.01}, positive=("VarianceTensor",),
    ),
    "gradient of response": Case(
        "LOCAL_RESPONSE_NORMALIZATION_GRAD", _BOTH, {"OutputGradientTensor": IMAGE}, _RESPONSE
    ),
}  # fmt: skip
