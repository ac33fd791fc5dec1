"""Valid descriptors of all operators."""

from __future__ import annotations

from functools import cache
from typing import Any

from dml2onnx import catalog
from dml2onnx.catalog import LATEST, FieldType, OperatorSchema
from dml2onnx.checks.operators import findings_of
from dml2onnx.ir.operator import OperatorDesc, ScaleBias, Size2D
from dml2onnx.test_cases import valid_attention as attention
from dml2onnx.test_cases.descriptors import plain as op
from dml2onnx.test_cases.descriptors import sized as t
from dml2onnx.test_cases.descriptors import unary
from dml2onnx.test_cases.examples import examples

X, ONE, BYTE = t(1, 2, 3, 4), t(1, 1, 1, 1), t(1, 1, 1, 1, type="UINT8")
STATE = t(1, 1, 1, 6, type="UINT32")
_PRODUCT: dict[str, Any] = {"ATensor": t(1, 2, 3, 4, type="UINT8"), "BTensor": t(1, 2, 4, 5, type="INT8")}
_SCALES = {"AScaleTensor": t(1, 1, 3, 1), "BScaleTensor": t(1, 1, 1, 5)}
_CONVOLUTION: dict[str, Any] = {
    "InputTensor": t(2, 3, 9, 8, type="UINT8"),
    "FilterTensor": t(4, 3, 3, 2, type="INT8"),
    "Strides": (2, 1),
    "StartPadding": (1, 0),
    "EndPadding": (0, 2),
}
_ADAM = ("Parameters", "FirstMoment", "SecondMoment")
_POOL: dict[str, Any] = {
    "InputTensor": t(2, 3, 9, 8),
    "OutputTensor": t(2, 3, 4, 7),
    "Strides": (2, 1),
    "WindowSize": (3, 2),
}
_ROUNDED_UP: dict[str, Any] = {**_POOL, "InputTensor": t(2, 3, 8, 8)}
_DEEP = t(2, 8, 6, 4)
_RECURRENT: dict[str, Any] = {
    "InputTensor": t(1, 5, 2, 3),
    "OutputSequenceTensor": t(5, 2, 2, 4),
    "OutputSingleTensor": t(1, 2, 2, 4),
    "Direction": "BIDIRECTIONAL",
}
_ROIS: dict[str, Any] = {"InputTensor": X, "ROITensor": t(5, 4), "BatchIndicesTensor": t(5, type="UINT32")}
_FILL: dict[str, Any] = {"OutputTensor": X, "ValueDataType": "FLOAT32"}


def _recurrent(operator: str, gates: int, activations: int, **fields: object) -> OperatorDesc:
    return op(
        operator,
        **_RECURRENT,
        WeightTensor=t(1, 2, gates * 4, 3),
        RecurrenceTensor=t(1, 2, gates * 4, 4),
        ActivationDescs=(op("ACTIVATION_TANH"),) * activations,
        **fields,
    )


def _alike(schema: OperatorSchema) -> OperatorDesc | None:
    """A descriptor whose tensors all have the same sizes; ``None`` if there is none."""
    table = schema.rows_at(LATEST)[0].tensors
    preferred = ("FLOAT32", "UINT8", "INT32", "UINT32", "INT8")
    tensors = {
        field.name: t(*X.sizes, type=next(item for item in preferred if item in table[field.name].data_types))
        for field in schema.tensor_fields
        if field.type is FieldType.TENSOR
    }
    types = {field.scalar_type: "FLOAT32" for field in schema.fields if field.scalar_type is not None}
    try:
        desc = op(schema.short_name, **tensors, **types)
    except ValueError:  # an array of unknown length
        return None
    return None if findings_of(desc, LATEST) else desc


OTHERS = [
    unary("ACTIVATION_HARDMAX", t(1, 1, 2, 3)),
    op(
        "ADAM_OPTIMIZER",
        **{f"{way}{name}Tensor": X for way in ("Input", "Output") for name in _ADAM},
        GradientTensor=X,
        TrainingStepTensor=t(1, 1, 1, 1, type="UINT32"),
    ),
    op(
        "DYNAMIC_QUANTIZE_LINEAR",
        InputTensor=X,
        OutputTensor=t(1, 2, 3, 4, type="UINT8"),
        OutputScaleTensor=ONE,
        OutputZeroPointTensor=BYTE,
    ),
    op(
        "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
        ATensor=t(1, 2, 3, 4, type="INT8"),
        BTensor=t(1, 2, 3, 4, type="UINT8"),
        **dict.fromkeys(("AScaleTensor", "BScaleTensor", "OutputScaleTensor"), ONE),
        OutputZeroPointTensor=BYTE,
        OutputTensor=t(1, 2, 3, 4, type="UINT8"),
    ),
    op("MATRIX_MULTIPLY_INTEGER", **_PRODUCT, OutputTensor=t(1, 2, 3, 5, type="INT32")),
    op("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", **_PRODUCT, **_SCALES, OutputTensor=t(1, 2, 3, 5)),
    op(
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
        **_PRODUCT,
        **_SCALES,
        OutputScaleTensor=ONE,
        OutputTensor=t(1, 2, 3, 5, type="INT8"),
    ),
    op("CONVOLUTION_INTEGER", **_CONVOLUTION, OutputTensor=t(2, 4, 4, 9, type="INT32")),
    op(
        "QUANTIZED_LINEAR_CONVOLUTION",
        **_CONVOLUTION,
        **dict.fromkeys(("InputScaleTensor", "FilterScaleTensor", "OutputScaleTensor"), ONE),
        OutputZeroPointTensor=BYTE,
        OutputTensor=t(2, 4, 4, 9, type="UINT8"),
    ),
    *(
        op(
            "QUANTIZED_LINEAR_AVERAGE_POOLING",
            **{**_POOL, "InputTensor": t(2, 3, height, 8, type="INT8"), "OutputTensor": t(2, 3, 4, 7, type="INT8")},
            InputScaleTensor=ONE,
            OutputScaleTensor=ONE,
        )
        for height in (9, 8)
    ),
    *(
        op(name, **pool)
        for name in ("AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1")
        for pool in (_POOL, _ROUNDED_UP)
    ),
    *(
        op(name, **pool, OutputIndicesTensor=t(2, 3, 4, 7, type=data_type))
        for name in ("MAX_POOLING1", "MAX_POOLING2")
        for pool, data_type in ((_POOL, "UINT32"), (_ROUNDED_UP, "UINT64"))
    ),
    op(
        "AVERAGE_POOLING_GRAD",
        InputGradientTensor=t(1, 1, 2, 2),
        OutputGradientTensor=t(1, 1, 5, 4),
        WindowSize=(2, 2),
        Strides=(2, 2),
    ),
    op(
        "MAX_UNPOOLING",
        InputTensor=t(1, 1, 2, 2),
        IndicesTensor=t(1, 1, 2, 2, type="UINT32"),
        OutputTensor=t(1, 1, 4, 5),
    ),
    op("RANDOM_GENERATOR", InputStateTensor=STATE, OutputTensor=t(1, 1, 1, 9, type="UINT32"), OutputStateTensor=STATE),
    op("RESAMPLE3", InputTensor=X, OutputTensor=t(1, 2, 6, 2), Scales=(1.0, 1.0, 2.0, 0.5)),
    _recurrent("RNN", 1, 2, BiasTensor=t(1, 1, 2, 8)),
    _recurrent("GRU", 3, 4),
    _recurrent("LSTM", 4, 6, OutputCellSingleTensor=t(1, 2, 2, 4)),
    op("ROI_ALIGN", **_ROIS, OutputTensor=t(5, 2, 7, 6), ReductionFunction="AVERAGE"),
    op("ROI_POOLING", InputTensor=X, ROITensor=t(1, 1, 5, 5), OutputTensor=t(5, 2, 7, 6), PooledSize=Size2D(6, 7)),
    unary("VALUE_SCALE_2D", t(2, 3, 4, 5), Scale=2.0, Bias=(1.0, 2.0, 3.0)),
    unary("ACTIVATION_LOG_SOFTMAX", t(1, 1, 2, 3)),
    *(unary(f"ACTIVATION_{name}1", X, Axes=(1, 2)) for name in ("SOFTMAX", "LOG_SOFTMAX", "HARDMAX")),
    *(unary(f"MEAN_VARIANCE_NORMALIZATION{version}", X, Axes=(2, 3)) for version in (1, 2)),
    op("RESAMPLE", InputTensor=X, OutputTensor=t(1, 2, 6, 2), Scales=(1.0, 1.0, 2.0, 0.5)),
    op("UPSAMPLE_2D", InputTensor=X, OutputTensor=t(1, 2, 9, 8), ScaleSize=Size2D(2, 3)),
    op(
        "SCATTER_ND",
        InputTensor=t(5, 4, 3),
        IndicesTensor=t(1, 6, 2, type="INT32"),
        UpdatesTensor=t(1, 6, 3),
        OutputTensor=t(5, 4, 3),
        InputDimensionCount=3,
        IndicesDimensionCount=2,
    ),
    op(
        "SLICE1",
        InputTensor=t(6, 4),
        OutputTensor=t(2, 1),
        InputWindowOffsets=(1, 0),
        InputWindowSizes=(4, 3),
        InputWindowStrides=(-2, 1),
    ),
    *(
        op(
            name,
            InputTensor=t(3, 5, 2),
            OutputValueTensor=t(3, 4, 2),
            OutputIndexTensor=t(3, 4, 2, type="UINT64"),
            Axis=1,
            K=4,
        )
        for name in ("TOP_K", "TOP_K1")
    ),
    op(
        "SLICE_GRAD",
        InputGradientTensor=t(2, 3),
        OutputGradientTensor=t(6, 4),
        InputWindowOffsets=(1, 0),
        InputWindowSizes=(4, 3),
        InputWindowStrides=(-2, 1),
    ),
    op("FILL_VALUE_CONSTANT", **_FILL),
    op("FILL_VALUE_SEQUENCE", **_FILL),
    op("DIAGONAL_MATRIX", OutputTensor=X),
    op("DIAGONAL_MATRIX1", OutputTensor=X, ValueDataType="FLOAT32"),
    op("DIAGONAL_MATRIX1", InputTensor=X, OutputTensor=X, ValueDataType="FLOAT32"),
    op("REDUCE", InputTensor=X, OutputTensor=t(1, 1, 3, 1, type="INT64"), Function="ARGMAX", Axes=(1, 3)),
    op("REDUCE", InputTensor=X, OutputTensor=t(1, 1, 3, 1), Function="SUM", Axes=(1, 3)),
    op("ARGMIN", InputTensor=X, OutputTensor=t(1, 1, 3, 4, type="INT64"), Axes=(1,)),
    op("SPACE_TO_DEPTH1", InputTensor=_DEEP, OutputTensor=t(2, 32, 3, 2), BlockSize=2),
    op("DEPTH_TO_SPACE1", InputTensor=_DEEP, OutputTensor=t(2, 2, 12, 8), BlockSize=2),
    op("TILE", InputTensor=X, OutputTensor=t(2, 2, 9, 4), Repeats=(2, 1, 3, 1)),
    op(
        "QUANTIZE",
        InputTensor=X,
        QuantizationType="SCALE",
        QuantizationTensors=(t(1, 2, 1, 2),),
        OutputTensor=t(1, 2, 3, 4, type="INT8"),
    ),
    op(
        "QUANTIZE",
        InputTensor=X,
        QuantizationType="SCALE_ZERO_POINT",
        QuantizationTensors=(t(1, 1, 1, 2), t(1, 1, 1, 2, type="UINT4")),
        OutputTensor=t(1, 2, 3, 4, type="UINT4"),
    ),
]
"""Descriptors that :func:`_alike` cannot build, or with choices that no documented example makes."""

_IMAGE = t(1, 4, 8, 8)
_BACKWARD: dict[str, Any] = {"InputTensor": _IMAGE, "Direction": "BACKWARD", "Strides": (2, 2)}
_FORWARD: dict[str, Any] = {"InputTensor": _IMAGE, "Direction": "FORWARD", "Strides": (1, 1)}
_POOLED: dict[str, Any] = {"InputTensor": _IMAGE, "WindowSize": (3, 3), "Strides": (2, 2)}

EASILY_DOUBTED = {
    **attention.VALID,
    "transposed, larger than natural": op(
        "CONVOLUTION", **_BACKWARD, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 2, 18, 19)
    ),
    "transposed, smaller than natural": op(
        "CONVOLUTION", **_BACKWARD, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 2, 16, 1)
    ),
    "transposed with groups": op(
        "CONVOLUTION", **_BACKWARD, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 4, 17, 17), GroupCount=2
    ),
    "depthwise": op("CONVOLUTION", **_FORWARD, FilterTensor=t(8, 1, 3, 3), OutputTensor=t(1, 8, 6, 6), GroupCount=4),
    "biased": op(
        "CONVOLUTION",
        **_FORWARD,
        FilterTensor=t(8, 4, 3, 3),
        BiasTensor=t(1, 8, 1, 1),
        OutputTensor=t(1, 8, 6, 6),
        FusedActivation=op("ACTIVATION_RELU"),
    ),
    "pooled, rounded down": op("MAX_POOLING", **_POOLED, OutputTensor=t(1, 4, 3, 3)),
    "pooled, rounded up": op("MAX_POOLING", **_POOLED, OutputTensor=t(1, 4, 4, 3)),
    "padding wider than the window": op(
        "AVERAGE_POOLING1", **_POOLED, StartPadding=(4, 0), EndPadding=(0, 0), OutputTensor=t(1, 4, 5, 3)
    ),
    "resampled to any size": op(
        "RESAMPLE1", InputTensor=_IMAGE, OutputTensor=t(3, 1, 100, 2), Scales=(1.0, 1.0, 0.1, 7.0)
    ),
    "matrices of two dimensions": op(
        "GEMM", ATensor=t(3, 2), BTensor=t(4, 3), OutputTensor=t(2, 4), TransA="TRANSPOSE", TransB="TRANSPOSE"
    ),
    "broadcast input": op(
        "ELEMENT_WISE_ADD", ATensor=_IMAGE, BTensor=t(1, 4, 8, 8, strides=(0, 1, 0, 0)), OutputTensor=_IMAGE
    ),
    "one softmax row per cube": unary("ACTIVATION_SOFTMAX", t(1, 1, 3, 4)),
    "infinite bounds": unary("ELEMENT_WISE_CLIP", _IMAGE, Min=float("-inf"), Max=float("inf")),
    "fused CLIP that scales by 1": op(
        "GEMM",
        ATensor=t(1, 1, 2, 2),
        BTensor=t(1, 1, 2, 2),
        OutputTensor=t(1, 1, 2, 2),
        FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=1.0, ScaleBias=ScaleBias(1.0, 0.0)),
    ),
    "permuted output": op("ACTIVATION_RELU", InputTensor=_IMAGE, OutputTensor=t(1, 4, 8, 8, strides=(256, 1, 32, 4))),
    "output with padded rows": op(
        "ACTIVATION_RELU", InputTensor=_IMAGE, OutputTensor=t(1, 4, 8, 8, strides=(512, 128, 16, 1))
    ),
    "stride 0 where nothing repeats": op(
        "ACTIVATION_RELU", InputTensor=_IMAGE, OutputTensor=t(1, 4, 8, 8, strides=(0, 64, 8, 1))
    ),
    "4-bit weights": op(
        "DEQUANTIZE",
        InputTensor=t(1, 1, 4, 8, type="UINT4", alignment=16),
        QuantizationType="SCALE_ZERO_POINT",
        QuantizationTensors=(t(1, 1, 4, 2), t(1, 1, 4, 2, type="UINT4")),
        OutputTensor=t(1, 1, 4, 8),
    ),
}
"""Valid descriptors that look like mistakes, by their feature."""


@cache
def descriptors() -> dict[str, list[OperatorDesc]]:
    """The descriptors of each operator by full name; none has findings at the latest level."""
    found: dict[str, list[OperatorDesc]] = {name: [] for name in catalog.operator_names()}
    printed = [example for name in catalog.operator_names() for example in examples(name, as_printed=True)]
    documented = [example.operator for example in printed if not example.suspect]
    alike = [_alike(catalog.operator(name)) for name in catalog.operator_names()]
    for desc in (*documented, *EASILY_DOUBTED.values(), *OTHERS, *(desc for desc in alike if desc is not None)):
        found[desc.schema.name].append(desc)
    return found
