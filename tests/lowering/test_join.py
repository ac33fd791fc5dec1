"""JOIN: any number of inputs one behind the other, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.checks import check
from dml2onnx.compiler import compile
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.testing.runnable import RUNNABLE_OPSETS
from tests.lowering.examples import run_examples
from tests.lowering.harness import check_case, each_row, make_case, operator, operators, support_cases, t

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
    """A descriptor; ``layouts`` are the strides of the inputs."""
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
    """``sizes`` once for each length of one axis."""
    return [[*sizes[:axis], length, *sizes[axis + 1 :]] for length in lengths]


@each_row("JOIN")
def test_every_row_of_the_support_table(level: str, data_type: str, rank: int) -> None:
    sizes = (2, 1, 3, 2, 1, 2, 1, 2)[:rank]
    for axis in {0, rank // 2, rank - 1}:
        op = join(data_type, along(sizes, axis, 2, 1, 3), axis)
        assert check(make_case(op).graph, level) == []
        assert operators(check_case(op, extremes=True)) == ["Concat"]


@pytest.mark.parametrize("rank", range(1, 9))
def test_every_axis(rank: int) -> None:
    for axis in range(rank):
        check_case(join("INT32", along((2, 3, 1, 2, 1, 2, 1, 1)[:rank], axis, 1, 2), axis))


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


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT64"])
@pytest.mark.parametrize(
    ("sizes", "layouts"),
    [
        pytest.param([(2, 3, 4, 4)] * 2, [NHWC, None], id="nhwc"),
        pytest.param([(2, 3, 4, 4)] * 2, [(0, 16, 4, 1), (0, 1, 0, 0)], id="broadcast"),
        pytest.param([(2, 3, 4, 4)] * 2, [(0, 0, 0, 0), (48, 16, 4, 1)], id="one-element"),
        pytest.param([(2, 3, 4, 4)] * 2, [(96, 24, 5, 1), (2, 40, 8, 2)], id="padded"),
        pytest.param([(2, 3, 4, 4)] * 2, [(1, 1, 1, 1), (3, 2, 1, 2)], id="overlapping"),
        pytest.param([(2, 1, 4, 4), (2, 5, 4, 4)], [(16, 0, 1, 4), (80, 16, 1, 4)], id="transposed"),
    ],
)
def test_strided_inputs(data_type: str, sizes: list[tuple[int, ...]], layouts: list[tuple[int, ...]]) -> None:
    check_case(join(data_type, sizes, 1, layouts=layouts), extremes=True)


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param((96, 1, 24, 6), id="nhwc"),
        pytest.param((200, 32, 8, 1), id="padded-rows"),
        pytest.param((1, 2, 48, 12), id="batch-innermost"),
        pytest.param((192, 32, 8, 2), id="every-other-element"),
    ],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "INT16"])
def test_strided_outputs(layout: tuple[int, ...], data_type: str) -> None:
    check_case(join(data_type, [(2, 2, 4, 4), (2, 4, 4, 4)], 1, output_layout=layout), extremes=True)


@pytest.mark.parametrize("opset", RUNNABLE_OPSETS)
@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_every_opset(opset: int, data_type: str) -> None:
    check_case(join(data_type, along((2, 1), 1, 1, 4), 1), opset=opset)


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


def test_joined_names_follow_the_graph() -> None:
    graph = compile(make_case(join("INT8", [(2,), (3,)], 0)).graph).model_proto.graph
    assert [item.name for item in graph.input] == ["InputTensors[0]", "InputTensors[1]"]
    assert [item.name for item in graph.output] == ["OutputTensor"]
    (node,) = graph.node
    assert node.name == "node/Concat"
    assert {item.key: item.value for item in node.metadata_props} == {"dml_node": "node", "dml_operator": "JOIN"}
    assert onnx.helper.get_node_attr_value(node, "axis") == 0


def test_documentation_examples() -> None:
    assert run_examples("JOIN")


@st.composite
def descriptors(draw: st.DrawFn) -> OperatorDesc:
    rank = draw(st.integers(1, 8))
    sizes = draw(st.lists(st.integers(1, 3 if rank < 5 else 2), min_size=rank, max_size=rank))
    axis = draw(st.integers(0, rank - 1))
    inputs = along(sizes, axis, *draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    strides = st.none() | st.lists(st.integers(0, 9), min_size=rank, max_size=rank)
    total = list(sizes)
    total[axis] = sum(item[axis] for item in inputs)
    output, step = [0] * rank, draw(st.integers(1, 2))
    for moved in draw(st.permutations(range(rank))):
        output[moved] = step
        step *= total[moved] + draw(st.sampled_from([0, 0, 1]))
    return join(
        draw(st.sampled_from(DATA_TYPES)),
        inputs,
        axis,
        layouts=[draw(strides) for _ in inputs],
        output_layout=draw(st.sampled_from([None, tuple(output)])),
    )


@settings(max_examples=150, deadline=None)
@given(op=descriptors(), opset=st.sampled_from(RUNNABLE_OPSETS), seed=st.integers(0, 99), constant=st.booleans())
def test_lowered_equals_reference(op: OperatorDesc, opset: int, seed: int, constant: bool) -> None:
    constants = ["InputTensors"] if constant else []
    check_case(op, opset=opset, constants=constants, seed=seed, extremes=True)
