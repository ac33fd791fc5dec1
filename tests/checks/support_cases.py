"""One case for each limit of a feature level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.codes import checking as codes
from tests.checks.build import op, t, unary
from tests.checks.cases import Case, case, cases

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc

X = t(1, 1, 4, 4)


def _padding(mode: str, tensor: TensorDesc = X, operator: str = "PADDING") -> OperatorDesc:
    zeros = (0,) * tensor.rank
    return unary(operator, tensor, PaddingMode=mode, StartPadding=zeros, EndPadding=zeros)


def _resample(operator: str, tensor: TensorDesc) -> OperatorDesc:
    rank = tensor.rank
    return unary(operator, tensor, Scales=(1.0,) * rank)


def _quantize(**fields: Any) -> OperatorDesc:
    return op(
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        **{"InputTensor": X, "ScaleTensor": X, "OutputTensor": t(1, 1, 4, 4, type="UINT8"), **fields},
    )


def _reduce(function: str, data_type: str) -> OperatorDesc:
    return op(
        "REDUCE",
        Function=function,
        InputTensor=t(1, 1, 4, 4, type=data_type),
        OutputTensor=t(1, 1, 4, 1, type=data_type),
        Axes=(3,),
    )


CASES: list[Case] = [
    *cases(
        codes.DATA_TYPE_UNSUPPORTED,
        {
            "average of integers": ("InputTensor/DataType", _reduce("AVERAGE", "INT32")),
            "data type of no level": ("InputTensor/DataType", unary("ACTIVATION_SIGMOID", t(1, 1, 4, 4, type="INT32"))),
            "4-bit data elsewhere": (
                "InputTensor/DataType",
                unary("ELEMENT_WISE_IDENTITY", t(1, 1, 4, 4, type="UINT4")),
            ),
        },
    ),
    case(
        "operator too new", unary("ACTIVATION_GELU", X), codes.OPERATOR_LEVEL, "/nodes/0/type", since="5_1", level="5_0"
    ),
    case(
        "activation of a list too new",
        op(
            "RNN",
            InputTensor=t(1, 2, 3, 4),
            WeightTensor=t(1, 1, 5, 4),
            RecurrenceTensor=t(1, 1, 5, 5),
            OutputSingleTensor=t(1, 1, 3, 5),
            ActivationDescs=(op("ACTIVATION_GELU"),),
            Direction="FORWARD",
        ),
        codes.OPERATOR_LEVEL,
        "ActivationDescs/0",
        since="5_1",
        level="5_0",
    ),
    case(
        "data type of a later level",
        _resample("RESAMPLE1", t(1, 1, 4, 4, type="INT8")),
        codes.DATA_TYPE_LEVEL,
        "InputTensor/DataType",
        since="6_2",
        level="5_1",
    ),
    case(
        "RESAMPLE2 takes 8-bit integers from 6_2 on",
        _resample("RESAMPLE2", t(1, 1, 4, 4, type="UINT8")),
        codes.DATA_TYPE_LEVEL,
        "InputTensor/DataType",
        since="6_2",
        level="6_1",
    ),
    case(
        "64-bit padding",
        _padding("CONSTANT", t(1, 1, 4, 4, type="FLOAT64")),
        codes.DATA_TYPE_LEVEL,
        "InputTensor/DataType",
        since="5_0",
        level="4_1",
    ),
    case(
        "reduction of integers",
        _reduce("SUM", "INT64"),
        codes.DATA_TYPE_LEVEL,
        "InputTensor/DataType",
        since="5_0",
        level="4_1",
    ),
    case(
        "dimension count of a later level",
        _resample("RESAMPLE1", t(4, 4)),
        codes.DIMENSION_COUNT_LEVEL,
        "InputTensor/Sizes",
        since="5_1",
        level="5_0",
    ),
    case(
        "eight dimensions of JOIN",
        op("JOIN", InputTensors=(t(*[1] * 8),), OutputTensor=t(*[1] * 8), Axis=0),
        codes.DIMENSION_COUNT_LEVEL,
        "InputTensors/0/Sizes",
        since="3_1",
        level="3_0",
    ),
    case(
        "dimension count of no level",
        _resample("RESAMPLE1", t(1, 1, 1, 4, 4)),
        codes.DIMENSION_COUNT_UNSUPPORTED,
        "InputTensor/Sizes",
    ),
    case("symmetric padding", _padding("SYMMETRIC"), codes.VALUE_LEVEL, "PaddingMode", since="3_0", level="2_1"),
    case("wrapped padding", _padding("WRAP"), codes.VALUE_LEVEL, "PaddingMode", since="6_4", level="6_3"),
    case(
        "zero point left out",
        _quantize(),
        codes.OPTIONAL_LEVEL,
        "ZeroPointTensor",
        since="6_2",
        level="6_1",
    ),
]
