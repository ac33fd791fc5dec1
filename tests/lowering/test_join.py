"""JOIN against the reference, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dml2onnx.compiler import compile
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, make_case, operator, operators, support_cases, t

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


@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64"])
@pytest.mark.parametrize("layout", [None, (1, 2)], ids=["packed", "transposed"])
def test_nans_keep_their_bits(data_type: str, layout: tuple[int, int] | None) -> None:
    """Elements are copied [decision X24]: signalling and quiet NaNs of any payload and both signs."""
    dtype = DataType[data_type].dtype
    width = 8 * dtype.itemsize
    infinity = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    payloads = [0, 1, 5, (1 << (width // 4)) - 1, infinity >> 1 & ~infinity]
    bits = np.array([infinity | sign | p for sign in (0, 1 << (width - 1)) for p in payloads], f"uint{width}")
    memory = bits.view(dtype)
    case = make_case(join(data_type, [(2, 5), (2, 5)], 0, layouts=[layout, None]))
    got = compile(case.graph).run({port.name: memory for port in compile(case.graph).inputs})["OutputTensor"]
    first = bits.reshape(5, 2).T if layout else bits.reshape(2, 5)
    np.testing.assert_array_equal(got.view(bits.dtype), np.concatenate([first, bits.reshape(2, 5)]))


def test_constants_fold() -> None:
    op = join("FLOAT32", along((2, 1, 3), 1, 2, 4), 1, layouts=[(0, 3, 1), (1, 2, 8)])
    model = check_case(op, constants=["InputTensors"])
    assert operators(model) == ["Identity"]
    (weight,) = model.model_proto.graph.initializer
    assert list(weight.dims) == [2, 6, 3]
