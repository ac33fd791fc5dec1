"""One case for each rule about sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.codes import checking as codes
from tests.checks.build import op, t
from tests.checks.cases import Case, case, cases

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
    *cases(
        codes.DIFFERENT_SIZES,
        {
            "different sizes": (
                "BTensor/Sizes",
                op("ELEMENT_WISE_ADD", ATensor=X, BTensor=t(1, 4, 1, 1), OutputTensor=X),
            ),
            "joined across": ("InputTensors/1/Sizes/2", _join(X, t(1, 4, 7, 8), output=t(1, 4, 8, 16))),
            "inner size": ("BTensor/Sizes", _gemm(t(1, 1, 2, 3), t(1, 1, 4, 5), t(1, 1, 2, 5))),
            "inner size of transposed matrices": (
                "BTensor/Sizes",
                _gemm(t(1, 1, 3, 2), t(1, 1, 3, 4), t(1, 1, 2, 3), TransA="TRANSPOSE", TransB="TRANSPOSE"),
            ),
            "batch size": ("BTensor/Sizes", _gemm(t(2, 1, 2, 3), t(1, 1, 3, 4), t(2, 1, 2, 4))),
            "size of C": (
                "OutputTensor/Sizes",
                _gemm(t(1, 1, 2, 3), t(1, 1, 3, 4), t(1, 1, 2, 4), CTensor=t(1, 1, 1, 4)),
            ),
        },
    ),
    *cases(
        codes.WRONG_SIZE,
        {
            "padded size": ("OutputTensor/Sizes/3", _pad(t(1, 4, 12, 13))),
            "convolved size": ("OutputTensor/Sizes/3", _conv(OutputTensor=t(1, 6, 6, 7))),
            "convolved batch": ("OutputTensor/Sizes/0", _conv(OutputTensor=t(2, 6, 6, 6))),
            "convolved channels": ("OutputTensor/Sizes/1", _conv(OutputTensor=t(1, 5, 6, 6))),
            "convolved size rounds down": ("OutputTensor/Sizes", _conv(OutputTensor=t(1, 6, 4, 4), Strides=(2, 2))),
            "filter channels": ("FilterTensor/Sizes/1", _conv(FilterTensor=t(6, 3, 3, 3))),
            "bias of another size": ("BiasTensor/Sizes", _conv(BiasTensor=t(1, 1, 1, 6))),
            "transposed channels": ("OutputTensor/Sizes/1", _transposed(OutputTensor=t(1, 5, 10, 10))),
            "transposed filter": ("FilterTensor/Sizes/0", _transposed(FilterTensor=t(3, 6, 3, 3))),
            "pooled size": ("OutputTensor/Sizes/3", _pool(OutputTensor=t(1, 4, 3, 5))),
            "pooled size too small": ("OutputTensor/Sizes/2", _pool("AVERAGE_POOLING1", OutputTensor=t(1, 4, 2, 3))),
            "pooled channels": ("OutputTensor/Sizes/1", _pool(OutputTensor=t(1, 3, 3, 3))),
            "joined size": ("OutputTensor/Sizes/3", _join(X, X, output=t(1, 4, 8, 15))),
            "split size": (
                "OutputTensors",
                op("SPLIT", InputTensor=X, OutputTensors=(t(1, 4, 8, 4), t(1, 4, 8, 3)), Axis=3),
            ),
            "product size": ("OutputTensor/Sizes", _gemm(t(1, 1, 2, 3), t(1, 1, 3, 4), t(1, 1, 4, 2))),
            "slice size": ("OutputTensor/Sizes/2", _slice1(OutputTensor=t(1, 4, 3, 2))),
            "reduced size": (
                "OutputTensor/Sizes",
                op("REDUCE", Function="SUM", InputTensor=X, OutputTensor=t(1, 4, 1, 8), Axes=(3,)),
            ),
            "gathered size": (
                "OutputTensor/Sizes",
                op(
                    "GATHER",
                    InputTensor=t(3, 4),
                    IndicesTensor=t(1, 5, type="UINT32"),
                    OutputTensor=t(4, 4),
                    Axis=0,
                    IndexDimensions=1,
                ),
            ),
            "gates of an LSTM": (
                "RecurrenceTensor/Sizes/2",
                op(
                    "LSTM",
                    InputTensor=t(1, 2, 3, 4),
                    WeightTensor=t(1, 1, 20, 4),
                    RecurrenceTensor=t(1, 1, 15, 5),
                    OutputSingleTensor=t(1, 1, 3, 5),
                    ActivationDescs=(op("ACTIVATION_SIGMOID"), op("ACTIVATION_TANH"), op("ACTIVATION_TANH")),
                    Direction="FORWARD",
                ),
            ),
        },
    ),
    *cases(
        codes.WINDOW_TOO_LARGE,
        {
            "filter does not fit": ("StartPadding/0", _conv(Dilations=(4, 1))),
            "transposed to nothing": ("StartPadding/0", _transposed(StartPadding=(5, 0), EndPadding=(5, 0))),
            "window does not fit": ("WindowSize/0", _pool(Dilations=(5, 1))),
        },
    ),
    *cases(
        codes.INDIVISIBLE,
        {
            "filters and groups": (
                "FilterTensor/Sizes/0",
                _conv(FilterTensor=t(5, 2, 3, 3), OutputTensor=t(1, 5, 6, 6), GroupCount=2),
            ),
            "transposed groups": ("InputTensor/Sizes/1", _transposed(GroupCount=3, FilterTensor=t(4, 2, 3, 3))),
            "depth does not divide": (
                "InputTensor/Sizes/1",
                op("DEPTH_TO_SPACE", InputTensor=t(1, 6, 2, 2), OutputTensor=t(1, 1, 4, 4), BlockSize=2),
            ),
        },
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
    case("slice window", _slice1(InputWindowOffsets=(0, 0, 5, 1)), codes.OUT_OF_WINDOW, "InputWindowOffsets/2"),
]
