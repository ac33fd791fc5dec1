"""One case for each rule about the fields of an operator, and about fused activations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType
from tests.checks.build import CONVOLUTION, op, t, unary
from tests.checks.cases import Case, case

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc

X = t(1, 1, 4, 4)
INF, NAN = float("inf"), float("nan")
_SOFTMAX = op("ACTIVATION_SOFTMAX")


def _padding1(value: Scalar, data_type: str = "FLOAT32") -> OperatorDesc:
    return unary(
        "PADDING1",
        X,
        PaddingValueDataType=data_type,
        PaddingValue=value,
        StartPadding=(0,) * 4,
        EndPadding=(0,) * 4,
    )


def _conv(**fields: Any) -> OperatorDesc:
    return op("CONVOLUTION", **{**CONVOLUTION, "DimensionCount": 2, **fields})


def _gemm(**fields: Any) -> OperatorDesc:
    return op("GEMM", **{"ATensor": X, "BTensor": X, "OutputTensor": X, **fields})


def _resample(**fields: Any) -> OperatorDesc:
    return unary("RESAMPLE1", X, **{"Scales": (1.0,) * 4, **fields})


def _add1(tensor: TensorDesc, **fields: Any) -> OperatorDesc:
    return op("ELEMENT_WISE_ADD1", ATensor=tensor, BTensor=tensor, OutputTensor=tensor, **fields)


def _gru(**fields: Any) -> OperatorDesc:
    relu = op("ACTIVATION_RELU")
    return op(
        "GRU",
        **{
            "InputTensor": t(1, 2, 3, 4),
            "WeightTensor": t(1, 1, 15, 4),
            "RecurrenceTensor": t(1, 1, 15, 5),
            "OutputSingleTensor": t(1, 1, 3, 5),
            "ActivationDescs": (relu, relu),
            "Direction": "FORWARD",
            **fields,
        },
    )


def _attention(**fields: Any) -> OperatorDesc:
    tensor = t(1, 2, 8)
    return op(
        "MULTIHEAD_ATTENTION",
        **{
            "QueryTensor": tensor,
            "KeyTensor": tensor,
            "ValueTensor": tensor,
            "OutputTensor": tensor,
            "HeadCount": 2,
            "MaskType": "NONE",
            **fields,
        },
    )


def _roi_gradient(**fields: Any) -> OperatorDesc:
    return op(
        "ROI_ALIGN_GRAD",
        **{
            "InputGradientTensor": t(2, 1, 2, 2),
            "ROITensor": t(2, 4),
            "BatchIndicesTensor": t(2, type="UINT32"),
            "OutputGradientTensor": t(1, 1, 4, 4),
            "ReductionFunction": "AVERAGE",
            **fields,
        },
    )


_MVN = {"InputTensor": X, "OutputTensor": X, "ScaleTensor": X, "Axes": (2, 3)}

CASES: list[Case] = [
    case(
        "bounds the wrong way round",
        op("ELEMENT_WISE_CLIP", InputTensor=X, OutputTensor=X, Min=6.0, Max=0.0),
        codes.MIN_ABOVE_MAX,
        "Min",
    ),
    case(
        "sizes where scales are meant",
        op(
            "RESAMPLE",
            InputTensor=t(1, 4, 8, 8),
            OutputTensor=t(1, 4, 16, 16),
            InterpolationMode="LINEAR",
            Scales=(1.0, 4.0, 16.0, 16.0),
        ),
        codes.SCALES_ARE_SIZES,
        "Scales",
    ),
    case(
        "an axis of one element",
        op("ACTIVATION_SOFTMAX1", InputTensor=X, OutputTensor=X, Axes=(0,)),
        codes.NO_EFFECT,
        "Axes",
    ),
    case("required tensor null", op("ACTIVATION_RELU", OutputTensor=X), codes.MISSING_FIELD, "InputTensor"),
    case(
        "unknown enumerator",
        unary("PADDING", X, PaddingMode="MIRROR", StartPadding=(0,) * 4, EndPadding=(0,) * 4),
        codes.UNKNOWN_ENUMERATOR,
        "PaddingMode",
    ),
    case("array too long", _conv(Strides=(1, 1, 1)), codes.ARRAY_LENGTH, "Strides"),
    case(
        "tensor array too short",
        op("JOIN", InputCount=2, InputTensors=(X,), OutputTensor=X, Axis=0),
        codes.ARRAY_LENGTH,
        "InputTensors",
    ),
    case(
        "two data types",
        op("ACTIVATION_RELU", InputTensor=X, OutputTensor=t(1, 1, 4, 4, type="FLOAT16")),
        codes.DIFFERENT_DATA_TYPES,
        "OutputTensor/DataType",
    ),
    case(
        "two dimension counts",
        op("ACTIVATION_RELU", InputTensor=X, OutputTensor=t(4, 4)),
        codes.DIFFERENT_DIMENSION_COUNTS,
        "OutputTensor/Sizes",
    ),
    case("scalar of another type", _padding1(Scalar(DataType.INT32, 1)), codes.SCALAR_TYPE, "PaddingValue"),
    case("infinite scale", _resample(Scales=(1.0, 1.0, INF, 1.0)), codes.NOT_FINITE, "Scales/2"),
    case("slope that is no number", unary("ACTIVATION_LEAKY_RELU", X, Alpha=NAN), codes.NOT_FINITE, "Alpha"),
    case(
        "infinite ScaleBias",
        unary("ELEMENT_WISE_IDENTITY", X, ScaleBias=ScaleBias(1.0, INF)),
        codes.NOT_FINITE,
        "ScaleBias/Bias",
    ),
    case("axis out of range", unary("ACTIVATION_SOFTMAX1", X, Axes=(4,)), codes.OUT_OF_RANGE, "Axes/0"),
    case("no axes", unary("ACTIVATION_SOFTMAX1", X, Axes=()), codes.OUT_OF_RANGE, "AxisCount"),
    case("join axis", op("JOIN", InputTensors=(X,), OutputTensor=X, Axis=4), codes.OUT_OF_RANGE, "Axis"),
    case("no groups", _conv(GroupCount=0), codes.OUT_OF_RANGE, "GroupCount"),
    case("scale of 0", _resample(Scales=(1.0, 1.0, 0.0, 1.0)), codes.OUT_OF_RANGE, "Scales/2"),
    case("negative scale", _resample(Scales=(1.0, 1.0, 1.0, -1.0)), codes.OUT_OF_RANGE, "Scales/3"),
    case("no scale", _resample(Scales=(1.0, 1.0, NAN, 1.0)), codes.NOT_FINITE, "Scales/2"),
    case("tiny scale", _resample(Scales=(1.0, 1.0, 1.0, 1e-7)), codes.OUT_OF_RANGE, "Scales/3"),
    case("steepness 0", unary("ACTIVATION_SOFTPLUS", X, Steepness=0.0), codes.OUT_OF_RANGE, "Steepness"),
    case(
        "steepness 0 at an old level",
        unary("ACTIVATION_SOFTPLUS", X, Steepness=0.0),
        codes.OUT_OF_RANGE,
        "Steepness",
        level="5_0",
    ),
    case(
        "small steepness at an old level",
        unary("ACTIVATION_SOFTPLUS", X, Steepness=0.5),
        codes.OUT_OF_RANGE,
        "Steepness",
        since="6_4",
        level="6_3",
    ),
    case(
        "member of a structure",
        op("UPSAMPLE_2D", InputTensor=X, OutputTensor=X, ScaleSize=Size2D(1, 0)),
        codes.OUT_OF_RANGE,
        "ScaleSize/Height",
        also=(codes.WRONG_SIZE,),
    ),
    case("not one of a few", _roi_gradient(ReductionFunction="SUM"), codes.OUT_OF_RANGE, "ReductionFunction"),
    case(
        "dimension count of arrays",
        _resample(Scales=(1.0, 1.0)),
        codes.NOT_EQUAL,
        "Scales",
    ),
    case(
        "data type of a scalar",
        _padding1(Scalar(DataType.INT32, 1), "INT32"),
        codes.NOT_EQUAL,
        "PaddingValueDataType",
    ),
    case("CELU with Alpha 0", unary("ACTIVATION_CELU", X, Alpha=0.0), codes.ZERO_ATTRIBUTE, "Alpha"),
    case("stride 0", _conv(Strides=(1, 0)), codes.ZERO_ATTRIBUTE, "Strides/1"),
    case("dilation 0", _conv(Dilations=(0, 1)), codes.ZERO_ATTRIBUTE, "Dilations/0"),
    case("axis named twice", unary("ACTIVATION_SOFTMAX1", X, Axes=(3, 2, 3)), codes.REPEATED_ENTRY, "Axes/2"),
    case(
        "two queries",
        _attention(StackedQueryKeyValueTensor=t(1, 2, 2, 3, 4)),
        codes.EXACTLY_ONE,
        "StackedQueryKeyValueTensor",
    ),
    case("no query", _attention(QueryTensor=None), codes.EXACTLY_ONE, "QueryTensor"),
    case(
        "no output of a GRU",
        _gru(OutputSingleTensor=None),
        codes.AT_LEAST_ONE,
        "OutputSequenceTensor",
        also=(codes.NO_OUTPUTS,),
    ),
    case(
        "scale without bias",
        op("MEAN_VARIANCE_NORMALIZATION1", **_MVN),
        codes.ALL_OR_NONE,
        "BiasTensor",
        since="5_2",
        level="5_1",
    ),
    case(
        "input needed for the maximum",
        _roi_gradient(ReductionFunction="MAX"),
        codes.REQUIRED_HERE,
        "InputTensor",
    ),
    case(
        "fused activation on integers",
        _add1(t(1, 1, 4, 4, type="INT32"), FusedActivation=op("ACTIVATION_RELU")),
        codes.WRONG_DATA_TYPE,
        "OutputTensor/DataType",
        also=(codes.DATA_TYPE_UNSUPPORTED,),
    ),
    case(
        "matrix of one dimension",
        op("DIAGONAL_MATRIX", OutputTensor=t(4)),
        codes.WRONG_DIMENSION_COUNT,
        "OutputTensor/Sizes",
    ),
    case(
        "scaled integers of 64 bits",
        unary("ELEMENT_WISE_IDENTITY", t(1, 1, 4, 4, type="INT64"), ScaleBias=ScaleBias(-1.0, 0.0)),
        codes.NOT_EQUAL,
        "ScaleBias",
    ),
    case(
        "the cells of an LSTM alone",
        op(
            "LSTM",
            InputTensor=t(1, 5, 2, 4),
            WeightTensor=t(1, 1, 12, 4),
            RecurrenceTensor=t(1, 1, 12, 3),
            OutputCellSingleTensor=t(1, 1, 2, 3),
            ActivationDescs=(op("ACTIVATION_SIGMOID"), op("ACTIVATION_TANH"), op("ACTIVATION_TANH")),
            Direction="FORWARD",
        ),
        codes.AT_LEAST_ONE,
        "OutputSequenceTensor",
    ),
    case("softmax of a cube", unary("ACTIVATION_SOFTMAX", t(1, 2, 3, 4)), codes.EFFECTIVE_RANK, "InputTensor/Sizes"),
    case("hardmax of a cube", unary("ACTIVATION_HARDMAX", t(1, 2, 3, 4)), codes.EFFECTIVE_RANK, "InputTensor/Sizes"),
    case(
        "log softmax of a cube", unary("ACTIVATION_LOG_SOFTMAX", t(2, 3, 4)), codes.EFFECTIVE_RANK, "InputTensor/Sizes"
    ),
    case(
        "count of two elements",
        op(
            "NONZERO_COORDINATES",
            InputTensor=t(2, 3),
            OutputCountTensor=t(2, type="UINT32"),
            OutputCoordinatesTensor=t(6, 2, type="UINT32"),
        ),
        codes.ELEMENT_COUNT,
        "OutputCountTensor/Sizes",
    ),
    case(
        "owned input of a GRU",
        _gru(WeightTensor=t(1, 1, 15, 4, owned=True)),
        codes.OWNED_NOT_ALLOWED,
        "WeightTensor/Flags",
    ),
    case(
        "no activation",
        _gru(ActivationDescs=(op("ACTIVATION_RELU"), op("ELEMENT_WISE_ABS"))),
        codes.NOT_AN_ACTIVATION,
        "ActivationDescs/1",
    ),
    case(
        "activation with tensors",
        _gru(ActivationDescs=(unary("ACTIVATION_RELU", X), op("ACTIVATION_RELU"))),
        codes.NOT_AN_ACTIVATION,
        "ActivationDescs/0/InputTensor",
    ),
    case(
        "activation of two tensors",
        _gru(ActivationDescs=(op("ACTIVATION_RELU"), op("ACTIVATION_PARAMETERIZED_RELU"))),
        codes.NOT_AN_ACTIVATION,
        "ActivationDescs/1",
    ),
    case(
        "wrong attribute of an activation in a list",
        _gru(ActivationDescs=(op("ACTIVATION_CELU", Alpha=0.0), op("ACTIVATION_RELU"))),
        codes.ZERO_ATTRIBUTE,
        "ActivationDescs/0/Alpha",
        level="3_0",
    ),
    case(
        "wrong axis of an activation in a list",
        _gru(ActivationDescs=(op("ACTIVATION_RELU"), op("ACTIVATION_SOFTMAX1", Axes=(4,)))),
        codes.OUT_OF_RANGE,
        "ActivationDescs/1/Axes/0",
        also=(codes.NOT_AN_ACTIVATION,),
    ),
    case(
        "gradient behind the end of what was sliced",
        op(
            "SLICE_GRAD",
            InputGradientTensor=t(5),
            OutputGradientTensor=t(4),
            InputWindowOffsets=(0,),
            InputWindowSizes=(4,),
            InputWindowStrides=(1,),
        ),
        codes.WRONG_SIZE,
        "InputGradientTensor/Sizes/0",
    ),
    case(
        "indices repeated by a stride",
        op(
            "SCATTER_ND",
            InputTensor=t(5, 4, 3),
            IndicesTensor=t(1, 6, 2, type="INT32", strides=(12, 0, 1)),
            UpdatesTensor=t(1, 6, 3),
            OutputTensor=t(5, 4, 3),
            InputDimensionCount=3,
            IndicesDimensionCount=2,
        ),
        codes.REPEATED_INDICES,
        "IndicesTensor/Strides/1",
    ),
    # Fused activations
    case("not fusable", _conv(FusedActivation=op("ACTIVATION_SWISH")), codes.NOT_FUSABLE, "FusedActivation"),
    case(
        "softmax into a convolution",
        _conv(FusedActivation=_SOFTMAX),
        codes.NOT_FUSABLE,
        "FusedActivation",
    ),
    case(
        "clip at an old level",
        _gemm(FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=6.0)),
        codes.FUSION_LEVEL,
        "FusedActivation",
        since="6_0",
        level="5_2",
    ),
    case(
        "gelu at an old level",
        _conv(FusedActivation=op("ACTIVATION_GELU")),
        codes.FUSION_LEVEL,
        "FusedActivation",
        since="5_1",
        level="5_0",
    ),
    case(
        "fused with a tensor",
        _conv(FusedActivation=op("ACTIVATION_RELU", InputTensor=X)),
        codes.FUSED_TENSORS,
        "FusedActivation/InputTensor",
    ),
    case(
        "fused clip with a scale",
        _gemm(FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=6.0, ScaleBias=ScaleBias(2.0, 0.0))),
        codes.FUSED_SCALE_BIAS,
        "FusedActivation/ScaleBias",
    ),
    case(
        "attribute of a fused activation",
        _conv(FusedActivation=op("ACTIVATION_CELU", Alpha=0.0)),
        codes.ZERO_ATTRIBUTE,
        "FusedActivation/Alpha",
    ),
    case(
        "attribute of a fused activation at an old level",
        _conv(FusedActivation=op("ACTIVATION_SOFTPLUS", Steepness=0.5)),
        codes.OUT_OF_RANGE,
        "FusedActivation/Steepness",
        since="6_4",
        level="6_0",
    ),
    case(
        "fused softmax of two matrices",
        op("GEMM", **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), t(2, 4, 4)), FusedActivation=_SOFTMAX),
        codes.EFFECTIVE_RANK,
        "FusedActivation",
    ),
    case(
        "axis of a fused softmax",
        _gemm(FusedActivation=op("ACTIVATION_SOFTMAX1", Axes=(4,))),
        codes.OUT_OF_RANGE,
        "FusedActivation/Axes/0",
    ),
]
