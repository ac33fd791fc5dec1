"""REDUCE, ARGMIN and ARGMAX against the reference."""

from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.compiler import compile_outputs
from dml2onnx.emitter import Emitter
from dml2onnx.ir.tensor import DataType
from tests.lowering import harness
from tests.lowering.harness import check_case, make_case, operator, operators, t, whole_range

SHAPE = (3, 4, 5)
FLOAT_ONLY = ["AVERAGE", "L2", "LOG_SUM", "LOG_SUM_EXP"]
MODULAR = ["SUM", "L1", "SUM_SQUARE", "MULTIPLY"]
EXTREME = ["MIN", "MAX"]
INDEX = ["ARGMIN", "ARGMAX"]
FUNCTIONS = [*FLOAT_ONLY, *MODULAR, *EXTREME, *INDEX]
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
WIDE_INTEGERS = ["INT32", "INT64", "UINT32", "UINT64"]
LARGE = [
    ((128, 256), (0,)),
    ((128, 256), (1,)),
    ((128, 256), (0, 1)),
    ((16, 32, 64), (1,)),
    ((16, 32, 64), (0, 2)),
    ((4, 8, 16, 32), (1, 3)),
    ((16411, 2), (0,)),
    ((2, 16411), (1,)),
    ((1, 24576), (1,)),
    ((24576,), (0,)),
]
"""Sizes and Axes that change the form; two have a long prime axis."""


def reduced(sizes, axes):
    return tuple(1 if axis in axes else size for axis, size in enumerate(sizes))


def reduce(function, axes=(1,), data_type="FLOAT32", sizes=SHAPE, strides=None):
    output = t("UINT32" if function in INDEX else data_type, reduced(sizes, axes))
    return operator(
        "REDUCE",
        Function=function,
        InputTensor=t(data_type, sizes, strides),
        OutputTensor=output,
        AxisCount=len(axes),
        Axes=axes,
    )


def arg(name, direction, axes=(1,), data_type="FLOAT32", sizes=SHAPE):
    return operator(
        name,
        InputTensor=t(data_type, sizes),
        OutputTensor=t("UINT32", reduced(sizes, axes)),
        AxisCount=len(axes),
        Axes=axes,
        AxisDirection=direction,
    )


def every(data_type, **options):
    """Yields descriptors of all functions for a data type."""
    functions = FUNCTIONS if data_type.startswith("FLOAT") else [*EXTREME, *INDEX]
    functions = [*functions, *MODULAR] if data_type in WIDE_INTEGERS else functions
    yield from (reduce(function, data_type=data_type, **options) for function in functions)
    for name in INDEX:
        yield from (arg(name, direction, data_type=data_type, **options) for direction in ("INCREASING", "DECREASING"))


def evaluate(op, x):
    return harness.evaluate(op, InputTensor=x)


@pytest.mark.parametrize("data_type", WIDE_INTEGERS)
def test_target_dml_has_kernels_for_integers(data_type):
    for function, name in [("SUM", "ReduceSum"), ("MULTIPLY", "ReduceProd"), ("ARGMAX", "ArgMax")]:
        case = make_case(reduce(function, (0, 1), data_type))
        nodes = operators(compile_outputs(case.graph, case.graph.outputs, opset=21, target="dml"))
        assert nodes[nodes[0] == "Reshape"] == name


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
@pytest.mark.parametrize("axes", [(), (0,), (2,), (0, 2), (2, 0), (1, 2), (2, 1, 0)])
def test_every_function_over_every_kind_of_axes(data_type, axes):
    """Axes may be empty, and in any order."""
    for op in every(data_type, axes=axes):
        check_case(op, extremes=True)


@pytest.mark.parametrize("data_type", ["FLOAT32", "INT64", "UINT8"])
def test_axes_of_size_1_are_not_reduced(data_type):
    for op in every(data_type, axes=(0, 2), sizes=(1, 3, 1)):
        model = check_case(op, extremes=True)
        assert not any(name.startswith(("Reduce", "Arg")) for name in operators(model))


def test_without_axes_functions_are_element_wise():
    expected = {"L1": ["Abs"], "L2": ["Abs"], "SUM_SQUARE": ["Mul"], "LOG_SUM": ["Log"]}
    for function in [*FLOAT_ONLY, *MODULAR]:
        nodes = operators(check_case(reduce(function, ())))
        assert nodes == expected.get(function, nodes)
        assert not any(name.startswith("Reduce") for name in nodes)


# --- integers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sizes", "axes"), [*LARGE, ((5, 7), (1,))])
@pytest.mark.parametrize("data_type", WIDE_INTEGERS)
def test_integer_sums(data_type, sizes, axes):
    for function in MODULAR:
        evaluate(reduce(function, axes, data_type, sizes), whole_range(data_type, sizes))


@pytest.mark.parametrize(("sizes", "axes"), LARGE)
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
def test_large_extremes(data_type, sizes, axes):
    x = np.random.default_rng(0).normal(0, 3, sizes) if data_type.startswith("FLOAT") else whole_range(data_type, sizes)
    for function in [*EXTREME, *INDEX]:
        evaluate(reduce(function, axes, data_type, sizes), np.asarray(x, DataType[data_type].dtype))


def test_large_extremes_are_found_in_two_steps():
    """Of blocks of at least 8 rows; 64-bit integers in one."""
    two = ["Reshape", "ReduceMax", "ReduceMax", "Reshape"]
    for data_type, rows, form in (
        ("FLOAT32", 4096, two),
        ("INT32", 7 * 1024, two),
        ("INT32", 4099, ["ReduceMax"]),
        ("FLOAT32", 4 * 1031, ["ReduceMax"]),
        ("INT64", 4096, ["ArgMax", "GatherElements"]),
    ):
        case = make_case(reduce("MAX", (0,), data_type, (rows, 4)))
        assert operators(compile_outputs(case.graph, case.graph.outputs, opset=21, target="cpu")) == form


@pytest.mark.parametrize(("sizes", "axes"), [*LARGE, (SHAPE, (1,))])
def test_integer_sums_are_products_with_short_vectors_of_ones(sizes, axes):
    case = make_case(reduce("SUM", axes, "INT64", sizes))
    model = compile_outputs(case.graph, case.graph.outputs, opset=21)
    assert set(operators(model)) <= {"Reshape", "MatMul", "Pad"}
    assert ("Pad" in operators(model)) == (16411 in sizes)
    assert all(array.size <= 4096 for array in model.lowered.initializers.values())


def test_products_of_floats_over_the_first_axis_are_split():
    assert "ReduceProd" not in operators(check_case(reduce("MULTIPLY", (0,), sizes=(128, 256))))
    for axes in [(1,), (0, 1)]:
        assert "ReduceProd" in operators(check_case(reduce("MULTIPLY", axes, sizes=(128, 256))))


def test_products_of_integers_take_few_nodes():
    for sizes, axes in LARGE:
        case = make_case(reduce("MULTIPLY", axes, "INT32", sizes))
        nodes = operators(compile_outputs(case.graph, case.graph.outputs, opset=21))
        assert set(nodes) <= {"Reshape", "Split", "Mul", "Concat"}
        assert len(nodes) < 60


@pytest.mark.parametrize("data_type", INTEGERS)
@pytest.mark.parametrize("seed", range(3))
def test_integers_compare_exactly(data_type, seed):
    x = whole_range(data_type, (6, 9), seed)
    for axes in [(0,), (1,), (0, 1)]:
        for function in [*EXTREME, *INDEX]:
            evaluate(reduce(function, axes, data_type, x.shape), x)
        for name in INDEX:
            for direction in ["INCREASING", "DECREASING"]:
                evaluate(arg(name, direction, axes, data_type, x.shape), x)


@pytest.mark.parametrize("data_type", ["INT64", "UINT64"])
def test_no_kernels_that_compare_64_bits_wrongly(data_type):
    for function in EXTREME:
        for sizes, axes in [(SHAPE, (0, 2)), *LARGE]:
            case = make_case(reduce(function, axes, data_type, sizes))
            nodes = operators(compile_outputs(case.graph, case.graph.outputs, opset=21))
            wrong = {"ReduceMax", "ReduceMin"} | ({"Max", "Min"} if data_type == "INT64" else set())
            assert wrong.isdisjoint(nodes)


# --- floats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("function", [*FLOAT_ONLY, *MODULAR, *EXTREME])
def test_special_numbers(function, data_type):
    dtype: np.dtype[Any] = DataType[data_type].dtype
    tiny, largest = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.0, tiny, -tiny, largest, -largest], dtype)
    a, b = (array.reshape(-1) for array in np.meshgrid(special, special))
    x = np.stack([a, b, np.ones_like(a)])
    evaluate(reduce(function, (0,), data_type, x.shape), x)
    evaluate(reduce(function, (0,), data_type, (2, len(a))), x[:2])


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_log_sum_exp_does_not_overflow(data_type):
    x = np.array([[1000, 1001, 999], [-1000, -1001, -999], [-np.inf, 5, 4], [-np.inf] * 3, [np.inf, 1, -np.inf]])
    _, nodes = evaluate(reduce("LOG_SUM_EXP", (1,), data_type, x.shape), x.astype(DataType[data_type].dtype))
    assert "ReduceLogSumExp" not in nodes


def test_float16_is_summed_in_float32():
    x = np.full((1, 4096), 1.0, np.float16)
    got, nodes = evaluate(reduce("SUM", (1,), "FLOAT16", x.shape), x)
    assert got.item() == 4096
    assert nodes == ["Cast", "ReduceSum", "Cast"]


@pytest.mark.parametrize(
    ("function", "nodes"),
    [
        ("SUM", ["ReduceSum"]),
        ("AVERAGE", ["ReduceMean"]),
        ("MULTIPLY", ["ReduceProd"]),
        ("MIN", ["ReduceMin"]),
        ("MAX", ["ReduceMax"]),
        ("L1", ["Abs", "ReduceSum"]),
        ("L2", ["Mul", "ReduceSum", "Sqrt"]),
        ("SUM_SQUARE", ["Mul", "ReduceSum"]),
        ("LOG_SUM", ["ReduceSum", "Log"]),
        ("ARGMIN", ["ArgMin", "Cast"]),
    ],
)
def test_forms(function, nodes):
    assert [name for name in operators(check_case(reduce(function))) if name != "Reshape"] == nodes


@pytest.mark.parametrize("name", INDEX)
def test_indices_of_rows_with_nan_are_in_range(name):
    x = np.full((4, 5), np.nan, np.float32)
    x[1, 2], x[2, 0], x[3, 4] = 1, -np.inf, np.inf
    for direction in ["INCREASING", "DECREASING"]:
        got, _ = evaluate(arg(name, direction, (1,), sizes=x.shape), x)
        assert (got < 5).all()


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2)])
def test_ties(data_type, axes):
    """The first of equal elements with INCREASING and in REDUCE, the last with DECREASING; -0 equals 0."""
    x = np.random.default_rng(1).integers(0, 3, (4, 5, 6)).astype(DataType[data_type].dtype)
    x = np.where(x == 0, -x, x)
    for function in INDEX:
        evaluate(reduce(function, axes, data_type, x.shape), x)
        for direction in ["INCREASING", "DECREASING"]:
            evaluate(arg(function, direction, axes, data_type, x.shape), x)


def test_adjacent_axes_need_no_transpose():
    for axes, moved in [((1, 2), False), ((0, 1, 2), False), ((0, 2), True)]:
        assert ("Transpose" in operators(check_case(arg("ARGMAX", "INCREASING", axes)))) == moved


# --- layouts ---------------------------------------------------------------------------------------------------------


def test_broadcast_elements_are_computed_once():
    assert "Expand" not in operators(check_case(reduce("MAX", (0, 1), strides=(0, 5, 1))))
    nodes = operators(check_case(reduce("SUM", (1,), strides=(0, 5, 1))))
    assert nodes[-2:] == ["ReduceSum", "Expand"]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", *INTEGERS])
@pytest.mark.parametrize("axes", [(), (1,), (0, 2)])
def test_constants_fold(data_type, axes):
    for op in every(data_type, axes=axes):
        nodes = operators(check_case(op, constants=["InputTensor"], extremes=True))
        assert set(nodes) <= {"Identity", "Expand"}, op


# --- emitter ---------------------------------------------------------------------------------------------------------


def test_folded_indices_equal_the_kernels():
    x = np.array([[3, 1, 3, 1], [2, 2, 2, 2]], np.float32)
    e = Emitter()
    for last in [False, True]:
        np.testing.assert_array_equal(
            e.ArgMax(e.constant(x), 1, last=last).constant, [[2], [3]] if last else [[0], [0]]
        )
        np.testing.assert_array_equal(
            e.ArgMin(e.constant(x), 1, last=last).constant, [[3], [3]] if last else [[1], [0]]
        )


@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
@pytest.mark.parametrize(("indices", "read"), [("UINT32", "FLOAT32"), ("INT32", "FLOAT32"), ("INT64", "FLOAT64")])
def test_an_index_read_as_a_float_is_looked_up(indices: str, read: str, exact: bool) -> None:
    """As in yolov4: a table has the bits of every possible index."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", (2, 80, 3))
    found = g.argmax(x, indices, axes=[1], axis_direction="INCREASING")
    bits = g.reinterpret(found, data_type=read)
    graph = g.build({"y": g.join([bits, g.input("z", read, (2, 1, 3))], axis=1)})
    model = dml2onnx.compile(graph, opset=21, exact=exact)
    assert [node.op_type for node in model.lowered.nodes if node.op_type != "Cast"] == ["ArgMax", "Gather", "Concat"]
    values = np.random.default_rng(0).normal(size=(2, 80, 3)).astype(np.float32)
    got = model.run({"x": values, "z": np.zeros((2, 1, 3), read.lower())})["y"][:, :1]
    np.testing.assert_array_equal(got.view(indices.lower()), values.argmax(1)[:, None])
