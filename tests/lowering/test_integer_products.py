"""Convolutions and matrix products of integers against the reference."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.compiler import compile, compile_outputs
from tests.lowering.harness import check_case, combined, make_case, operator, operators, t

BYTES = ["INT8", "UINT8"]
WIDE = ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32"]
FLOATS = ["FLOAT32", "FLOAT16"]
INTEGER_CONVOLUTION, QUANTIZED_CONVOLUTION = "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION"
INTEGER, TO_FLOAT = "MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"
QUANTIZED = "QUANTIZED_LINEAR_MATRIX_MULTIPLY"


def place(count, rank, axis, of):
    """Returns sizes of ``rank`` dimensions with ``count`` elements along an axis of a tensor of rank ``of``."""
    if rank == 1:
        return (count,)
    at = axis if axis < 2 and axis < rank and of > 2 else rank - (of - axis)
    return tuple(count if i == at else 1 for i in range(rank))


def convolution(
    types=("UINT8", "UINT8"), output=None, x=(2, 4, 5, 6), w=(6, 2, 3, 2), *, steps=((1, 1), (1, 1), (0, 0), (0, 0)),
    groups=2, channels=True, rank=None, nulls="", bias=True, layouts=(None, None, None),
):  # fmt: skip
    """A descriptor, quantized if ``output`` is set; ``steps`` are strides, dilations and paddings."""
    rank = rank or len(x)
    sizes = tuple((n + p + q - (k - 1) * d - 1) // s + 1 for n, k, s, d, p, q in zip(x[2:], w[2:], *steps, strict=True))
    one, each = (1,) * rank, place(w[0] if channels else 1, rank, 1, len(x))
    fields = {
        "InputTensor": t(types[0], x, layouts[0]),
        "InputZeroPointTensor": None if "I" in nulls else t(types[0], one),
        "FilterTensor": t(types[1], w, layouts[1]),
        "FilterZeroPointTensor": None if "F" in nulls else t(types[1], each),
        "OutputTensor": t(output or "INT32", (x[0], w[0], *sizes), layouts[2]),
        "DimensionCount": len(sizes),
        "GroupCount": groups,
    }
    fields |= dict(zip(("Strides", "Dilations", "StartPadding", "EndPadding"), map(list, steps), strict=True))
    if output is None:
        return operator(INTEGER_CONVOLUTION, **fields)
    fields |= {
        "InputScaleTensor": t("FLOAT32", one),
        "FilterScaleTensor": t("FLOAT32", each),
        "BiasTensor": t("INT32", (1, w[0], *(1,) * len(sizes))) if bias else None,
        "OutputScaleTensor": t("FLOAT32", one),
        "OutputZeroPointTensor": None if "O" in nulls else t(output, one),
    }
    return operator(QUANTIZED_CONVOLUTION, **fields)


def matrices(
    name, types=("UINT8", "UINT8"), output=None, sizes=(2, 3, 4, 5, 6), *, each="AB", rank=None, nulls="",
    layouts=(None, None, None, None),
):  # fmt: skip
    """A descriptor; ``sizes`` are batches, M, K and N; ``each`` names tensors with parameters of rows or columns."""
    *batches, m, k, n = sizes
    full = len(batches) + 2
    rank = rank or full
    rows = {key: place(m if key in each else 1, rank, full - 2, full) for key in "AO"}
    columns = place(n if "B" in each else 1, rank, full - 1, full)
    fields = {
        "ATensor": t(types[0], (*batches, m, k), layouts[0]),
        "AZeroPointTensor": None if "A" in nulls else t(types[0], rows["A"]),
        "BTensor": t(types[1], (*batches, k, n), layouts[1]),
        "BZeroPointTensor": None if "B" in nulls else t(types[1], columns),
        "OutputTensor": t(output or "INT32", (*batches, m, n), layouts[3]),
    }
    if name == INTEGER:
        return operator(name, **fields)
    scale = output if name == TO_FLOAT else "FLOAT32"
    fields |= {"AScaleTensor": t(scale, rows["A"]), "BScaleTensor": t(scale, columns)}
    if name == TO_FLOAT:
        fields["BiasTensor"] = None if "C" in nulls else t(output, (*batches, m, n), layouts[2])
        return operator(name, **fields)
    fields["OutputScaleTensor"] = t("FLOAT32", rows["O"])
    fields["OutputZeroPointTensor"] = None if "O" in nulls else t(output, rows["O"])
    return operator(name, **fields)


def check(op, *, constants=(), seed=0, **inputs):
    """Checks an operator as :func:`checked` does; returns the ONNX operators."""
    return operators(checked(op, constants=constants, seed=seed, **inputs))


def checked(op, *, constants=(), seed=0, target="cpu", exact=True, **inputs):
    """Checks an operator on :func:`contents`; returns the model."""
    inputs = {**contents(op, seed), **inputs}
    return check_case(op, inputs=inputs, constants=constants, seed=seed, target=target, exact=exact)


def contents(op, seed=0):
    """Returns numbers from the whole range of the types, and scales for which results fill the output's range."""
    inputs: dict[str, np.ndarray] = {}
    rng = np.random.default_rng(seed)
    for item in op.schema.input_fields:
        if not op.has(item.name):
            continue
        desc = op.tensor(item.name)
        count, dtype = desc.extent, desc.data_type.dtype
        if item.name.endswith("ScaleTensor"):
            low, high = (-1, 1) if op.type == TO_FLOAT else (4, 7) if item.name.startswith("Output") else (-3, -1)
            values = rng.choice([1, 1, -1], count) * 2.0 ** rng.uniform(low, high, count)
        elif desc.data_type.is_float:
            values = rng.normal(0, 1000, count)
        else:
            low, high = desc.data_type.limits
            values = rng.integers(low, high, count, endpoint=True)
            if item.name == "BiasTensor":
                values //= 1 << 16
        inputs.setdefault(item.name, values.astype(dtype))
    return inputs


def pairs(name, tensor):
    """Returns all pairs of a tensor's rank and a rank of the scales and zero points that some level allows."""
    found = set()
    for row in catalog.operator(name).support:
        low, high = row.tensors[tensor].dimension_counts
        parameters = [item for key, item in row.tensors.items() if "ZeroPoint" in key or "Scale" in key]
        lowest = max(item.dimension_counts[0] for item in parameters)
        assert all(set(item.data_types) <= {*BYTES, "FLOAT32"} for item in parameters)
        found |= set(itertools.product(range(low, high + 1), range(lowest, 5)))
    return sorted(found)


def by_rank(name):
    """Returns pytest parameters (rank, ranks of the scales and zero points) for every rank of the input."""
    groups = itertools.groupby(pairs(name, "InputTensor"), lambda pair: pair[0])
    return [pytest.param(rank, [pair[1] for pair in group], id=f"{rank}d") for rank, group in groups]


# --- convolutions ----------------------------------------------------------------------------------------------------

PADDED = ((2, 1), (1, 2), (1, 3), (0, 2))
LINE = {"x": (2, 4, 9), "w": (6, 2, 3)}


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
@pytest.mark.parametrize(("rank", "ranks"), by_rank(INTEGER_CONVOLUTION))
def test_convolution_every_data_type_and_rank(rank, ranks, types, is_exhaustive):
    steps = PADDED if rank == 4 else tuple(item[:1] for item in PADDED)
    sizes = {} if rank == 4 else LINE
    for parameters, channels, nulls in combined(is_exhaustive, ranks, [False, True], ["", "I", "F", "IF"]):
        check(convolution(types, steps=steps, channels=channels, rank=parameters, nulls=nulls, **sizes))


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES, BYTES)))
@pytest.mark.parametrize(("rank", "ranks"), by_rank(QUANTIZED_CONVOLUTION))
def test_quantized_convolution_every_data_type_and_rank(rank, ranks, types, is_exhaustive):
    steps = PADDED if rank == 4 else tuple(item[:1] for item in PADDED)
    sizes = {} if rank == 4 else LINE
    for parameters, channels, nulls in combined(is_exhaustive, ranks, [False, True], ["", "I", "F", "O", "IFO"]):
        bias = nulls != "O"
        op = convolution(
            types[:2], types[2], steps=steps, channels=channels, rank=parameters, nulls=nulls, bias=bias, **sizes
        )
        check(op)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
def test_no_sum_saturates(types, exact):
    """The sum of two products of UINT8 and INT8 may exceed 16 bits; default models keep INT8."""
    forms = [
        (
            convolution(types, x=(1, 32, 6, 6), w=(16, 32, 3, 3), groups=1, channels=False, nulls="IF"),
            ("InputTensor", "FilterTensor"),
            ("INT8", "UINT8"),
        ),
        (
            matrices(INTEGER, types, sizes=(8, 64, 16), each="", nulls="AB"),
            ("ATensor", "BTensor"),
            ("UINT8", "INT8"),
        ),
    ]
    extremes = itertools.product(*((np.iinfo(kind.lower()).min, np.iinfo(kind.lower()).max) for kind in types))
    for numbers, (op, names, raised) in itertools.product(extremes, forms):
        inputs = {name: np.full(op.tensor(name).sizes, value) for name, value in zip(names, numbers, strict=True)}
        for constants in ((), names[1:]):
            model = checked(op, constants=constants, target="cpu" if exact else "onnx", exact=exact, **inputs)
            is_raised = "INT8" in types if exact else types == raised
            assert ("Add" in operators(model)) == is_raised or constants


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
def test_default_windows(types):
    """Padding is the zero point, also if channels of the filter have different zero points."""
    for channels in (False, True):
        checked(convolution(types, steps=PADDED, channels=channels), target="onnx", exact=False)


@pytest.mark.parametrize("steps", [PADDED, ((1, 1), (1, 1), (5, 4), (3, 6)), ((3, 2), (2, 1), (0, 0), (1, 0))])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_windows(steps, groups):
    for types in itertools.product(BYTES, BYTES):
        check(convolution(types, w=(4, 4 // groups, 2, 3), steps=steps, groups=groups))
        check(convolution(types, "INT8", w=(8, 4 // groups, 2, 3), steps=steps, groups=groups))


def test_forms_of_convolutions():
    parameters = ["InputZeroPointTensor", "FilterZeroPointTensor", "FilterTensor"]
    assert check(convolution(channels=False), constants=parameters) == ["ConvInteger"]
    assert check(convolution(("UINT8", "INT8"), channels=False), constants=parameters) == ["ConvInteger"]
    assert check(convolution(), constants=parameters) == [
        "ConvInteger", "ConvInteger", "Reshape", "Mul", "Reshape", "Sub",
    ]  # fmt: skip
    assert check(convolution(nulls="IF"), constants=parameters) == ["ConvInteger"]
    scales = ["InputScaleTensor", "FilterScaleTensor", "OutputScaleTensor", "BiasTensor", "OutputZeroPointTensor"]
    op = convolution(output="UINT8", channels=False)
    assert check(op, constants=[*parameters, *scales]) == ["QLinearConv"]


QUANTIZING = ["FilterTensor", "InputScaleTensor", "FilterScaleTensor", "OutputScaleTensor", "BiasTensor"]
SCALES: dict[str, np.ndarray] = {
    "InputScaleTensor": np.array([0.01], np.float32),
    "OutputScaleTensor": np.array([2], np.float32),
}
SCALES["FilterScaleTensor"] = np.linspace(0.5, 1, 6, dtype=np.float32)


def test_a_zero_point_for_each_scale():
    """ONNX requires as many zero points as scales, which DirectML does not."""
    model = checked(convolution(output="UINT8", nulls="IFO", groups=1, w=(6, 4, 3, 2)), constants=QUANTIZING, **SCALES)
    (product,) = (node for node in model.lowered.nodes if node.op_type == "QLinearConv")
    assert product.inputs[4].shape == product.inputs[5].shape == (6,)


@pytest.mark.parametrize("target", ["cpu", "dml"])
@pytest.mark.parametrize("output", [None, "INT8"])
def test_int8_stays_int8_for_directml(output, target):
    scales = {} if output is None else SCALES
    constants = ["FilterTensor"] if output is None else QUANTIZING
    op = convolution(("INT8", "UINT8"), output, nulls="IFO", groups=1, w=(6, 4, 3, 2))
    model = checked(op, constants=constants, target=target, **scales)
    casts = [node for node in model.lowered.nodes if node.op_type == "Cast"]
    pairs = {(node.inputs[0].dtype.name, node.outputs[0].dtype.name) for node in casts}
    assert (("int8", "uint8") in pairs) is (target == "cpu")
    assert (("uint8", "int8") in pairs) is (target == "cpu" and output is not None)


@pytest.mark.parametrize("target", ["cpu", "dml"])
def test_scales_of_rows_and_columns_stay_separate_for_directml(target):
    model = checked(matrices(TO_FLOAT, output="FLOAT32"), target=target)
    scales = {port.onnx_name for port in model.inputs if "Scale" in port.name}
    products = [node for node in model.lowered.nodes if node.op_type == "Mul"]
    merged = [node for node in products if {item.name for item in node.inputs} == scales]
    assert len(merged) == (target == "cpu")


# --- matrices --------------------------------------------------------------------------------------------------------

SIZES = (2, 3, 4, 5, 6)


@pytest.mark.parametrize("name", [INTEGER, QUANTIZED])
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
def test_matrices_every_data_type_and_rank(name, types, is_exhaustive):
    for row in catalog.operator(name).support:
        assert set(row.tensors["ATensor"].data_types) == set(row.tensors["BTensor"].data_types) == set(BYTES)
    outputs = BYTES if name == QUANTIZED else [None]
    forms = [("", ""), ("AB", ""), ("ABO", "A"), ("BO", "AB"), ("A", "ABO")]
    for (rank, parameters), output, (each, nulls) in combined(is_exhaustive, pairs(name, "ATensor"), outputs, forms):
        check(matrices(name, types, output, SIZES[4 - rank :], each=each, rank=parameters, nulls=nulls))


@pytest.mark.parametrize("types", list(itertools.product(WIDE, WIDE)))
def test_to_float_every_data_type_and_rank(types, is_exhaustive):
    (row,) = catalog.operator(TO_FLOAT).support
    assert set(row.tensors["ATensor"].data_types) == set(row.tensors["BTensor"].data_types) == set(WIDE)
    ranks = list(itertools.product((2, 3, 4), range(1, 5)))
    forms = [("", ""), ("AB", "C"), ("B", "A"), ("A", "ABC")]
    for (rank, parameters), output, (each, nulls) in combined(is_exhaustive, ranks, FLOATS, forms):
        check(matrices(TO_FLOAT, types, output, SIZES[4 - rank :], each=each, rank=parameters, nulls=nulls))


def test_sums_wrap():
    for types in (("UINT8", "UINT8"), ("INT8", "UINT8")):
        ends = [np.iinfo(kind.lower()).max for kind in types]
        op = matrices(INTEGER, types, sizes=(2, 70000, 3), each="", nulls="AB")
        check(op, ATensor=np.full((2, 70000), ends[0]), BTensor=np.full((70000, 3), ends[1]))


def test_sums_of_more_than_8_bits_are_floats():
    """They do not wrap [decision Q16]."""
    check(matrices(TO_FLOAT, ("INT32", "UINT32"), "FLOAT32", (3, 40, 4)), seed=5)
    op = matrices(TO_FLOAT, ("UINT16", "UINT16"), "FLOAT32", (1, 3, 1), each="", nulls="AB")
    most, one = np.full(3, 65535, np.uint16), np.ones(1, np.float32)
    scales = {"AScaleTensor": one, "BScaleTensor": one, "BiasTensor": 0 * one}
    case = make_case(op, inputs={"ATensor": most, "BTensor": most, **scales})
    for exact in (False, True):
        model = compile_outputs(case.graph, case.graph.outputs, target="onnx", exact=exact)
        (got,) = model.run({port.name: case.memory[port.name] for port in model.inputs}).values()
        np.testing.assert_allclose(got.reshape(-1), [3 * 65535.0**2], rtol=1e-6)


def test_forms_of_matrices():
    parameters = ["AZeroPointTensor", "BZeroPointTensor", "BTensor"]
    assert check(matrices(INTEGER, each="B"), constants=parameters) == ["MatMulInteger"]
    assert check(matrices(INTEGER, ("UINT8", "INT8"), each="B"), constants=parameters) == ["MatMulInteger"]
    assert check(matrices(INTEGER), constants=parameters) == ["MatMulInteger", "Sub"]
    scales = ["AScaleTensor", "BScaleTensor", "OutputScaleTensor", "OutputZeroPointTensor"]
    quantized = check(matrices(QUANTIZED, output="INT8", each="B"), constants=[*parameters, *scales])
    assert quantized == ["MatMulInteger", "Cast", "Mul", "QuantizeLinear"]
    floating = check(matrices(TO_FLOAT, output="FLOAT32", each="B"), constants=[*parameters, *scales])
    assert floating == ["MatMulInteger", "Cast", "Mul", "Add"]


# --- generated -------------------------------------------------------------------------------------------------------


@st.composite
def descriptors(draw):
    """Draws any of the five operators with any types and sizes."""
    name = draw(st.sampled_from([INTEGER_CONVOLUTION, QUANTIZED_CONVOLUTION, INTEGER, TO_FLOAT, QUANTIZED]))
    some, nulls = st.integers(1, 4), draw(st.sampled_from(["", "A", "B", "I", "F", "O", "C", "ABIFOC"]))
    rank = draw(some)
    if "CONVOLUTION" not in name:
        types = draw(st.tuples(*[st.sampled_from(WIDE if name == TO_FLOAT else BYTES)] * 2))
        outputs: dict[str, list[Any]] = {TO_FLOAT: FLOATS, QUANTIZED: BYTES, INTEGER: [None]}
        output = draw(st.sampled_from(outputs[name]))
        sizes = draw(st.lists(st.integers(1, 7), min_size=3, max_size=5))
        return matrices(
            name, types, output, sizes, each=draw(st.sampled_from(["", "A", "B", "ABO"])), rank=rank, nulls=nulls
        )
    dimensions = draw(st.integers(1, 2))
    groups, inside, outside = draw(some), draw(some), draw(some)
    each = st.tuples(*[some] * dimensions)
    window, strides, dilations = draw(each), draw(each), draw(each)
    start, end = (tuple(n - 1 for n in draw(each)) for _ in range(2))
    least = [(k - 1) * d + 1 - p - q for k, d, p, q in zip(window, dilations, start, end, strict=True)]
    x = (draw(st.integers(1, 2)), groups * inside, *(max(n, 1) + draw(some) for n in least))
    types = draw(st.tuples(*[st.sampled_from(BYTES)] * 2))
    output = None if name == INTEGER_CONVOLUTION else draw(st.sampled_from(BYTES))
    return convolution(
        types, output, x, (groups * outside, inside, *window), steps=(strides, dilations, start, end), groups=groups,
        channels=draw(st.booleans()), rank=rank, nulls=nulls, bias=draw(st.booleans()),
    )  # fmt: skip


@pytest.mark.parametrize("scales", [1, 6])
def test_scales_known_at_run_time(scales):
    """QLinearConv and QLinearMatMul take them; INT8 filters are converted to UINT8 first."""

    def computing(op):
        return [name for name in operators(checked(op, target="onnx", exact=False)) if name != "Reshape"]

    op = convolution(output="UINT8", channels=scales > 1, nulls="F")
    assert computing(op) == ["QLinearConv"]
    assert operators(checked(op, target="cpu")).count("QLinearConv") == 0  # a scale may be negative
    signed = convolution(("UINT8", "INT8"), "UINT8", channels=scales > 1, nulls="F")
    assert computing(signed)[-1] == "QLinearConv"
    product = matrices(QUANTIZED, output="UINT8", sizes=(3, 4, 6), each="B" if scales > 1 else "", nulls="B")
    assert computing(product) == ["QLinearMatMul"]


@pytest.mark.parametrize("optimize", [0, 1])
@pytest.mark.parametrize("opset", [17, 21, 23, 28])
@pytest.mark.parametrize("data_type", BYTES)
@pytest.mark.parametrize("known", [False, True])
def test_default_models_have_one_node(data_type, opset, optimize, known):
    """It has the scales of the graph, and INT8 stays INT8."""
    ops = [
        convolution((data_type, data_type), data_type, nulls="F", groups=1, w=(6, 4, 3, 2)),
        matrices(QUANTIZED, (data_type, data_type), data_type, sizes=(3, 4, 6), each="B", nulls="B"),
    ]
    for op in ops:
        scales = {name: np.abs(values) for name, values in contents(op).items() if name.endswith("ScaleTensor")}
        case = make_case(op, inputs=scales, constants=list(scales) if known else ())
        model = compile(case.graph, opset=opset, optimize=optimize)
        (node,) = (item for item in model.lowered.nodes if item.op_type != "Reshape")
        assert node.op_type in ("QLinearConv", "QLinearMatMul")
        x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = node.inputs[:8]
        assert {item.dtype.name for item in (x, x_point, w, w_point, y_point) if item} == {data_type.lower()}
        if known:
            stored = [model.lowered.initializers[item.name].reshape(-1) for item in (x_scale, w_scale, y_scale) if item]
            assert all(map(np.array_equal, stored, scales.values()))


@pytest.mark.parametrize("target", ["onnx", "cpu"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES, BYTES)))
def test_default_results(types, known, target):
    """One node is right for all types, also with the session option for exact products."""
    forms = (
        (convolution(types[:2], types[2], nulls="F"), ["FilterTensor"]),
        (matrices(QUANTIZED, types[:2], types[2], (3, 64, 6), each="B", nulls="B"), ["BTensor"]),
    )
    for op, weights in forms:
        scales = {name: np.abs(values) for name, values in contents(op).items() if name.endswith("ScaleTensor")}
        constants = [*weights, *(scales if known else ())]
        model = checked(op, target=target, exact=False, constants=constants, **scales)
        kinds = {node.op_type for node in model.lowered.nodes}
        assert kinds & {"QLinearConv", "QLinearMatMul", "If"}
