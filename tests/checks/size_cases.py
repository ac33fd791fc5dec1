"""One case for each rule about sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.codes import checking as codes
from tests.checks.build import op, t
from tests.checks.cases import Case, case

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc

X = t(1, 4, 8, 8)


def _conv(**fields: Any) -> OperatorDesc:
    return op(
        "CONVOLUTION",
        **{
            "InputTensor": X,
            "FilterTensor": t(6, 4, 3, 3),
            "OutputTensor": t(1, 6, 6, 6),
            "Direction": "FORWARD",
            "Strides": (1, 1),
            **fields,
        },
    )


def _transposed(**fields: Any) -> OperatorDesc:
    return _conv(**{"FilterTensor": t(4, 6, 3, 3), "OutputTensor": t(1, 6, 10, 10), "Direction": "BACKWARD", **fields})


def _pool(operator: str = "MAX_POOLING2", **fields: Any) -> OperatorDesc:
    return op(
        operator, **{"InputTensor": X, "OutputTensor": t(1, 4, 3, 3), "WindowSize": (3, 3), "Strides": (2, 2), **fields}
    )


def _gemm(a: TensorDesc, b: TensorDesc, output: TensorDesc, **fields: Any) -> OperatorDesc:
    return op("GEMM", ATensor=a, BTensor=b, OutputTensor=output, **fields)


def _join(*parts: TensorDesc, output: TensorDesc, axis: int = 3) -> OperatorDesc:
    return op("JOIN", InputTensors=parts, OutputTensor=output, Axis=axis)


def _pad(output: TensorDesc) -> OperatorDesc:
    return op("PADDING", InputTensor=X, OutputTensor=output, StartPadding=(0, 0, 1, 2), EndPadding=(0, 0, 3, 4))


def _slice1(**fields: Any) -> OperatorDesc:
    return op(
        "SLICE1",
        **{
            "InputTensor": X,
            "OutputTensor": t(1, 4, 2, 2),
            "InputWindowOffsets": (0, 0, 1, 1),
            "InputWindowSizes": (1, 4, 4, 4),
            "InputWindowStrides": (1, 1, 2, -2),
            **fields,
        },
    )


CASES: list[Case] = [
    case(
        "different sizes",
        op("ELEMENT_WISE_ADD", ATensor=X, BTensor=t(1, 4, 1, 1), OutputTensor=X),
        codes.DIFFERENT_SIZES,
        "BTensor/Sizes",
    ),
    case(
        "not broadcastable",
        op(
            "BATCH_NORMALIZATION",
            InputTensor=X,
            MeanTensor=t(1, 4, 1, 1),
            VarianceTensor=t(1, 4, 1, 1),
            ScaleTensor=t(1, 2, 1, 1),
            BiasTensor=t(1, 4, 1, 1),
            OutputTensor=X,
            Spatial=True,
        ),
        codes.NOT_BROADCASTABLE,
        "ScaleTensor/Sizes",
    ),
    # Padding
    case("padded size", _pad(t(1, 4, 12, 13)), codes.WRONG_SIZE, "OutputTensor/Sizes/3"),
    # Convolution
    case("convolved size", _conv(OutputTensor=t(1, 6, 6, 7)), codes.WRONG_SIZE, "OutputTensor/Sizes/3"),
    case("convolved batch", _conv(OutputTensor=t(2, 6, 6, 6)), codes.WRONG_SIZE, "OutputTensor/Sizes/0"),
    case("convolved channels", _conv(OutputTensor=t(1, 5, 6, 6)), codes.WRONG_SIZE, "OutputTensor/Sizes/1"),
    case(
        "convolved size rounds down",
        _conv(OutputTensor=t(1, 6, 4, 4), Strides=(2, 2)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
    ),
    case("filter does not fit", _conv(Dilations=(4, 1)), codes.WINDOW_TOO_LARGE, "StartPadding/0"),
    case("filter channels", _conv(FilterTensor=t(6, 3, 3, 3)), codes.WRONG_SIZE, "FilterTensor/Sizes/1"),
    case(
        "filters and groups",
        _conv(FilterTensor=t(5, 2, 3, 3), OutputTensor=t(1, 5, 6, 6), GroupCount=2),
        codes.INDIVISIBLE,
        "FilterTensor/Sizes/0",
    ),
    case("bias of another size", _conv(BiasTensor=t(1, 1, 1, 6)), codes.WRONG_SIZE, "BiasTensor/Sizes"),
    case("transposed channels", _transposed(OutputTensor=t(1, 5, 10, 10)), codes.WRONG_SIZE, "OutputTensor/Sizes/1"),
    case(
        "transposed to nothing",
        _transposed(StartPadding=(5, 0), EndPadding=(5, 0)),
        codes.WINDOW_TOO_LARGE,
        "StartPadding/0",
    ),
    case("transposed filter", _transposed(FilterTensor=t(3, 6, 3, 3)), codes.WRONG_SIZE, "FilterTensor/Sizes/0"),
    case(
        "transposed groups",
        _transposed(GroupCount=3, FilterTensor=t(4, 2, 3, 3)),
        codes.INDIVISIBLE,
        "InputTensor/Sizes/1",
    ),
    # Pooling
    case("pooled size", _pool(OutputTensor=t(1, 4, 3, 5)), codes.WRONG_SIZE, "OutputTensor/Sizes/3"),
    case(
        "pooled size too small",
        _pool("AVERAGE_POOLING1", OutputTensor=t(1, 4, 2, 3)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes/2",
    ),
    case("pooled channels", _pool(OutputTensor=t(1, 3, 3, 3)), codes.WRONG_SIZE, "OutputTensor/Sizes/1"),
    case("window does not fit", _pool(Dilations=(5, 1)), codes.WINDOW_TOO_LARGE, "WindowSize/0"),
    # Join
    case("joined size", _join(X, X, output=t(1, 4, 8, 15)), codes.WRONG_SIZE, "OutputTensor/Sizes/3"),
    case(
        "joined across", _join(X, t(1, 4, 7, 8), output=t(1, 4, 8, 16)), codes.DIFFERENT_SIZES, "InputTensors/1/Sizes/2"
    ),
    case(
        "split size",
        op("SPLIT", InputTensor=X, OutputTensors=(t(1, 4, 8, 4), t(1, 4, 8, 3)), Axis=3),
        codes.WRONG_SIZE,
        "OutputTensors",
    ),
    # Matrices
    case("product size", _gemm(t(1, 1, 2, 3), t(1, 1, 3, 4), t(1, 1, 4, 2)), codes.WRONG_SIZE, "OutputTensor/Sizes"),
    case("inner size", _gemm(t(1, 1, 2, 3), t(1, 1, 4, 5), t(1, 1, 2, 5)), codes.DIFFERENT_SIZES, "BTensor/Sizes"),
    case(
        "inner size of transposed matrices",
        _gemm(t(1, 1, 3, 2), t(1, 1, 3, 4), t(1, 1, 2, 3), TransA="TRANSPOSE", TransB="TRANSPOSE"),
        codes.DIFFERENT_SIZES,
        "BTensor/Sizes",
    ),
    case("batch size", _gemm(t(2, 1, 2, 3), t(1, 1, 3, 4), t(2, 1, 2, 4)), codes.DIFFERENT_SIZES, "BTensor/Sizes"),
    case(
        "size of C",
        _gemm(t(1, 1, 2, 3), t(1, 1, 3, 4), t(1, 1, 2, 4), CTensor=t(1, 1, 1, 4)),
        codes.DIFFERENT_SIZES,
        "OutputTensor/Sizes",
    ),
    # Others
    case(
        "depth does not divide",
        op("DEPTH_TO_SPACE", InputTensor=t(1, 6, 2, 2), OutputTensor=t(1, 1, 4, 4), BlockSize=2),
        codes.INDIVISIBLE,
        "InputTensor/Sizes/1",
    ),
    case("slice window", _slice1(InputWindowOffsets=(0, 0, 5, 1)), codes.OUT_OF_WINDOW, "InputWindowOffsets/2"),
    case("slice size", _slice1(OutputTensor=t(1, 4, 3, 2)), codes.WRONG_SIZE, "OutputTensor/Sizes/2"),
    case(
        "reduced size",
        op("REDUCE", Function="SUM", InputTensor=X, OutputTensor=t(1, 4, 1, 8), Axes=(3,)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
    ),
    case(
        "gathered size",
        op(
            "GATHER",
            InputTensor=t(3, 4),
            IndicesTensor=t(1, 5, type="UINT32"),
            OutputTensor=t(4, 4),
            Axis=0,
            IndexDimensions=1,
        ),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
    ),
    case(
        "gates of an LSTM",
        op(
            "LSTM",
            InputTensor=t(1, 2, 3, 4),
            WeightTensor=t(1, 1, 20, 4),
            RecurrenceTensor=t(1, 1, 15, 5),
            OutputSingleTensor=t(1, 1, 3, 5),
            ActivationDescs=(op("ACTIVATION_SIGMOID"), op("ACTIVATION_TANH"), op("ACTIVATION_TANH")),
            Direction="FORWARD",
        ),
        codes.WRONG_SIZE,
        "RecurrenceTensor/Sizes/2",
    ),
]
