"""JOIN against the reference, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dml2onnx.ir.operator import OperatorDesc
from tests.lowering.harness import check_case, operator, operators, support_cases, t

DATA_TYPES = sorted({case.values[1] for case in support_cases("JOIN")})
NHWC = (48, 1, 12, 3)
"""Strides of sizes (2, 3, 4, 4)."""


def join(
    data_type: str,
    sizes: Sequence[Sequence[int]],
    axis: int,
    *,
    layouts: Sequence[Sequence[int] | None] = (),
    output_layout: Sequence[int] | None = None,
) -> OperatorDesc:
    """A descriptor; ``layouts`` has the strides of the inputs."""
    total = list(sizes[0])
    total[axis] = sum(item[axis] for item in sizes)
    strides = list(layouts) or [None] * len(sizes)
    return operator(
        "JOIN",
        InputTensors=[t(data_type, item, layout) for item, layout in zip(sizes, strides, strict=True)],
        OutputTensor=t(data_type, total, output_layout),
        Axis=axis,
    )


def along(sizes: Sequence[int], axis: int, *lengths: int) -> list[list[int]]:
    """Returns ``sizes`` with each length along one axis."""
    return [[*sizes[:axis], length, *sizes[axis + 1 :]] for length in lengths]


@pytest.mark.parametrize("count", [2, 3, 17, 200])
def test_any_number_of_inputs(count: int) -> None:
    lengths = [1 + index % 3 for index in range(count)]
    assert operators(check_case(join("FLOAT32", along((2, 1, 2), 1, *lengths), 1))) == ["Concat"]


@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_one_input_is_a_copy(data_type: str) -> None:
    model = check_case(join(data_type, [(2, 3)], 1), extremes=True)
    assert operators(model) == ["Identity"]


def test_one_input_may_change_the_layout() -> None:
    assert operators(check_case(join("FLOAT16", [(2, 3, 4, 4)], 2, layouts=[NHWC]))) == ["Transpose"]
    assert operators(check_case(join("FLOAT16", [(2, 3, 4, 4)], 2, output_layout=NHWC))) == ["Transpose"]


def test_constants_fold() -> None:
    op = join("FLOAT32", along((2, 1, 3), 1, 2, 4), 1, layouts=[(0, 3, 1), (1, 2, 8)])
    model = check_case(op, constants=["InputTensors"])
    assert operators(model) == ["Identity"]
    (weight,) = model.model_proto.graph.initializer
    assert list(weight.dims) == [2, 6, 3]
