"""One case for each rule about tensor descriptors by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.codes import checking as codes
from tests.checks.build import op, t, unary
from tests.checks.cases import Case, case, cases

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc

X = t(1, 1, 4, 4)


def _relu(**tensors: Any) -> OperatorDesc:
    return op("ACTIVATION_RELU", **{"InputTensor": X, "OutputTensor": X, **tensors})


CASES: list[Case] = [
    *cases(
        codes.TOO_MANY_ELEMENTS,
        {
            "too many elements": ("InputTensor/Sizes", unary("ACTIVATION_RELU", t(1 << 16, 1 << 16))),
            "too many elements in whole words": (
                "InputTensor/Sizes",
                unary("ELEMENT_WISE_BIT_NOT", t((1 << 32) - 3, type="UINT8")),
            ),
            "room for too many elements": (
                "InputTensor/TotalTensorSizeInBytes",
                _relu(InputTensor=t(1, 1, 4, 4, total=1 << 34)),
            ),
            "product beyond 64 bits": ("InputTensor/Sizes", unary("ACTIVATION_RELU", t(*[1 << 31] * 8))),
            "last element too far": (
                "InputTensor/Strides",
                _relu(InputTensor=t(1, 1, 4, 4, strides=(1, 1, 1 << 31, 1))),
            ),
        },
    ),
    case("no dimensions", unary("ACTIVATION_RELU", t()), codes.DIMENSION_COUNT_LIMIT, "InputTensor/Sizes"),
    case(
        "nine dimensions",
        unary("ACTIVATION_RELU", t(*[1] * 9)),
        codes.DIMENSION_COUNT_LIMIT,
        "OutputTensor/Sizes",
    ),
    case("size 0", unary("ACTIVATION_RELU", t(1, 0, 3)), codes.ZERO_SIZE, "InputTensor/Sizes/1"),
    case(
        "three strides for four",
        _relu(InputTensor=t(1, 1, 4, 4, strides=(16, 4, 1))),
        codes.STRIDE_COUNT,
        "InputTensor/Strides",
    ),
    case(
        "broadcast output",
        _relu(OutputTensor=t(1, 1, 4, 4, strides=(0, 0, 0, 1))),
        codes.OVERLAPPING_OUTPUT,
        "OutputTensor/Strides",
    ),
    case(
        "overlapping output",
        _relu(OutputTensor=t(1, 1, 4, 4, strides=(1, 1, 3, 1))),
        codes.OVERLAPPING_OUTPUT,
        "OutputTensor/Strides",
    ),
    case(
        "total size too small",
        _relu(InputTensor=t(1, 1, 4, 4, total=60)),
        codes.TOTAL_SIZE_TOO_SMALL,
        "InputTensor/TotalTensorSizeInBytes",
    ),
    case(
        "alignment no power of two",
        _relu(InputTensor=t(1, 1, 4, 4, alignment=24)),
        codes.BAD_ALIGNMENT,
        "InputTensor/GuaranteedBaseOffsetAlignment",
    ),
    case(
        "alignment below the element",
        _relu(InputTensor=t(1, 1, 4, 4, alignment=2)),
        codes.BAD_ALIGNMENT,
        "InputTensor/GuaranteedBaseOffsetAlignment",
    ),
    case("owned output", _relu(OutputTensor=t(1, 1, 4, 4, owned=True)), codes.OWNED_OUTPUT, "OutputTensor/Flags"),
]
