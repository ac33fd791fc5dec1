"""The GATHER and SCATTER operators, ONE_HOT and NONZERO_COORDINATES against the reference."""

from math import prod
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, evaluate, operator, operators, t

KINDS = ["INT32", "INT64", "UINT32", "UINT64"]
SHAPE = (3, 4, 5)


def gather(sizes=SHAPE, axis=1, indices=(2, 3), data_type="FLOAT32", kind="INT64", rank=None, **layouts):
    """``indices`` are the sizes of that tensor; all tensors have ``rank`` dimensions, by default as many as needed."""
    output = (*sizes[:axis], *indices, *sizes[axis + 1 :])
    rank = rank or max(len(sizes), len(indices), len(output))
    return operator(
        "GATHER",
        InputTensor=t(data_type, padded(sizes, rank), layouts.get("strides")),
        IndicesTensor=t(kind, padded(indices, rank), layouts.get("indices_strides")),
        OutputTensor=t(data_type, padded(output, rank), layouts.get("out")),
        Axis=axis + rank - len(sizes),
        IndexDimensions=len(indices),
    )


def gather_elements(sizes=SHAPE, axis=1, count=6, data_type="FLOAT32", kind="INT64", **layouts):
    to = (*sizes[:axis], count, *sizes[axis + 1 :])
    return operator(
        "GATHER_ELEMENTS",
        InputTensor=t(data_type, sizes, layouts.get("strides")),
        IndicesTensor=t(kind, to, layouts.get("indices_strides")),
        OutputTensor=t(data_type, to, layouts.get("out")),
        Axis=axis,
    )


def padded(sizes, rank):
    return (*(1,) * (rank - len(sizes)), *sizes)


def gather_nd(sizes=SHAPE, indices=(2, 3, 2), batches=None, data_type="FLOAT32", kind="INT64", rank=None, **layouts):
    """A GATHER_ND, or with ``batches`` a GATHER_ND1."""
    output = (*indices[:-1], *sizes[(batches or 0) + indices[-1] :]) or (1,)
    rank = rank or max(len(sizes), len(indices), len(output))
    extra = {} if batches is None else {"BatchDimensionCount": batches}
    return operator(
        "GATHER_ND" if batches is None else "GATHER_ND1",
        InputTensor=t(data_type, padded(sizes, rank), layouts.get("strides")),
        IndicesTensor=t(kind, padded(indices, rank), layouts.get("indices_strides")),
        OutputTensor=t(data_type, padded(output, rank), layouts.get("out")),
        InputDimensionCount=len(sizes),
        IndicesDimensionCount=len(indices),
        **extra,
    )


def scatter(sizes=SHAPE, axis=1, count=3, data_type="FLOAT32", kind="INT64", **layouts):
    each = (*sizes[:axis], count, *sizes[axis + 1 :])
    return operator(
        "SCATTER",
        InputTensor=t(data_type, sizes, layouts.get("strides")),
        IndicesTensor=t(kind, each, layouts.get("indices_strides")),
        UpdatesTensor=t(data_type, each, layouts.get("updates_strides")),
        OutputTensor=t(data_type, sizes, layouts.get("out")),
        Axis=axis,
    )


def scatter_nd(sizes=SHAPE, indices=(3, 2), data_type="FLOAT32", kind="INT64", rank=None, **layouts):
    updates = (*indices[:-1], *sizes[indices[-1] :]) or (1,)
    rank = rank or max(len(sizes), len(indices), len(updates))
    return operator(
        "SCATTER_ND",
        InputTensor=t(data_type, padded(sizes, rank), layouts.get("strides")),
        IndicesTensor=t(kind, padded(indices, rank), layouts.get("indices_strides")),
        UpdatesTensor=t(data_type, padded(updates, rank), layouts.get("updates_strides")),
        OutputTensor=t(data_type, padded(sizes, rank), layouts.get("out")),
        InputDimensionCount=len(sizes),
        IndicesDimensionCount=len(indices),
    )


def one_hot(sizes=SHAPE, axis=2, data_type="FLOAT32", kind="INT64", values=2, **layouts):
    return operator(
        "ONE_HOT",
        IndicesTensor=t(kind, (*sizes[:axis], 1, *sizes[axis + 1 :]), layouts.get("indices_strides")),
        ValuesTensor=t(data_type, padded((values,), len(sizes)), layouts.get("values_strides")),
        OutputTensor=t(data_type, sizes, layouts.get("out")),
        Axis=axis,
    )


def nonzero(sizes=SHAPE, width=None, data_type="FLOAT32", rank=None, **layouts):
    rank = rank or max(len(sizes), 2)
    return operator(
        "NONZERO_COORDINATES",
        InputTensor=t(data_type, sizes, layouts.get("strides")),
        OutputCountTensor=t("UINT32", (1,) * rank),
        OutputCoordinatesTensor=t("UINT32", padded((prod(sizes), width or len(sizes)), rank), layouts.get("out")),
    )


def axis_sizes(op):
    """Returns the sizes of the axes that indices refer to."""
    if op.type == "ONE_HOT":
        return (op.tensor("OutputTensor").sizes[op.uint("Axis")],)
    sizes = op.tensor("InputTensor").sizes
    if op.has("Axis"):
        return (sizes[op.uint("Axis")],)
    relevant = sizes[len(sizes) - op.uint("InputDimensionCount") :]
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    return relevant[batches : batches + op.tensor("IndicesTensor").sizes[-1]]


def indices_for(op, rng, *, outside=False, repeated=True):
    """Returns random indices, some negative; unique unless ``repeated``."""
    desc, sizes = op.tensor("IndicesTensor"), axis_sizes(op)
    dtype = desc.data_type.dtype
    if repeated:
        count = prod(desc.sizes[:-1] if len(sizes) > 1 else desc.sizes)
        values = np.stack([rng.integers(0, n, count) for n in sizes], -1).reshape(desc.sizes)
    elif op.has("Axis"):
        axis = op.uint("Axis")
        values = np.argsort(rng.random((*desc.sizes[:axis], sizes[0], *desc.sizes[axis + 1 :])), axis)
        values = values.take(range(desc.sizes[axis]), axis)
    else:
        chosen = rng.permutation(prod(sizes))[: prod(desc.sizes[:-1])]
        values = np.stack(np.unravel_index(chosen, sizes), -1).reshape(desc.sizes)
    if dtype.kind == "i":
        values = np.where(rng.random(desc.sizes) < 0.5, values, values - np.array(sizes))
    values = values.astype(dtype)
    if outside:
        low, high = desc.data_type.limits
        most = max(sizes)
        far = [most, most + 1, high, high // 2, high // 2 + 2, *([-most - 1, low] if low else [])]
        values = np.where(rng.random(desc.sizes) < 0.3, rng.choice(np.array(far, dtype), desc.sizes), values)
    return values


def check(op, *, outside=False, constants=()):
    """Checks an operator with indices in range."""
    rng = np.random.default_rng(0)
    indices = indices_for(op, rng, outside=outside, repeated=not op.type.startswith("SCATTER"))
    return check_case(op, inputs={"IndicesTensor": indices}, constants=constants, extremes=True)


def sparse(data_type, sizes, seed=0):
    """Returns zeros of either sign, subnormal numbers, NaN and ordinary numbers."""
    rng = np.random.default_rng(seed)
    dtype: np.dtype[Any] = DataType[data_type].dtype
    if dtype.kind != "f":
        return rng.choice(np.array([0, 0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype), sizes)
    tiny = np.finfo(dtype).smallest_subnormal
    return rng.choice(np.array([0.0, -0.0, 0.0, 0.5, -2, np.nan, np.inf, tiny], dtype), sizes)


# --- indices ---------------------------------------------------------------------------------------------------------

SIGNED = ["Add", "Less", "Where", "Cast"]
PLACES = {"INT32": SIGNED, "INT64": SIGNED, "UINT32": [], "UINT64": ["Cast", *SIGNED]}
"""The nodes that convert indices to UINT32 and resolve negative ones."""
FAR = {
    "INT32": [-(2**31), -6, -5, -1, 0, 4, 5, 2**31 - 1],
    "INT64": [-(2**63), -(2**32) - 1, -6, -5, -1, 0, 4, 5, 2**31, 2**32 + 1, 2**53 + 1, 2**63 - 1],
    "UINT32": [0, 4, 5, 2**31, 2**32 - 1],
    "UINT64": [0, 4, 5, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 2**32 - 2, 2**64 - 6, 2**64 - 1],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constants", [[], ["IndicesTensor"]])
def test_indices_out_of_range(kind, constants):
    """Gather reads the last element, scatter writes nothing [decisions X2, X8]."""
    far = np.array(FAR[kind], kind.lower())
    inside = (far >= 0) & (far < 5) if kind[0] == "U" else (far >= -5) & (far < 5)
    once = np.concatenate([far[~inside], np.array([0, 4], far.dtype)])
    for op, indices in (
        (gather((5,), 0, far.shape, kind=kind), far),
        (gather_elements((5,), 0, len(far), kind=kind), far),
        (gather_nd((5,), (len(far), 1), kind=kind, rank=2), far),
        (scatter((5,), 0, len(once), kind=kind), once),
        (scatter_nd((5,), (len(once), 1), kind=kind, rank=2), once),
        (one_hot((len(far), 5), 1, "INT8", kind), far),
    ):
        check_case(op, inputs={"IndicesTensor": indices}, constants=constants)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constants", [[], ["IndicesTensor"]])
def test_tuples_out_of_range(kind, constants):
    """They are dropped if the flat offset is out of range [decision X8]."""
    low, high = DataType[kind].limits
    tuples = [(0, 4), (0, 5), (2, 0), (3, 0), (high, 1), (1, high)]
    if low:
        tuples += [(-3, -3), (-4, 1), (1, -5), (low, 0), (1, low), (-2, -1)]
    op = scatter_nd((3, 4), (len(tuples), 2), kind=kind)
    check_case(op, inputs={"IndicesTensor": np.array(tuples, kind.lower())}, constants=constants)


# --- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(gather, ["Gather"], id="gather"),
        pytest.param(gather_elements, ["GatherElements"], id="gather-elements"),
        pytest.param(lambda kind: gather_nd((4, 5), (3, 1), kind=kind), ["Gather"], id="gather-nd-of-one"),
        pytest.param(lambda kind: gather((1, 5), 1, (300,), kind=kind), ["GatherElements"], id="vector"),
    ],
)
def test_form_of_gather(make, expected, kind):
    op = make(kind=kind)
    nodes = [item for item in operators(check(op)) if item != "Reshape"]
    assert nodes[: len(PLACES[kind])] == PLACES[kind]
    rest = [item for item in nodes[len(PLACES[kind]) :] if item not in ("Mul", "Add")]
    assert rest == ["Min", "Cast", "GatherElements"]
    assert [item for item in operators(check(op, constants=["IndicesTensor"])) if item != "Reshape"] == expected
    assert operators(check(op, constants=["IndicesTensor", "InputTensor"])) == ["Identity"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(gather(indices=(), rank=3), ["Gather"], id="scalar"),
        pytest.param(gather((5,), 0, (7,)), ["Gather"], id="short-vector"),
        pytest.param(gather((5,), 0, (300,)), ["GatherElements"], id="vector"),
        pytest.param(gather((1, 5, 1), 1, (20, 15)), ["GatherElements"], id="vector-in-ones"),
        pytest.param(gather_nd((5,), (300, 1)), ["GatherElements"], id="vector-nd"),
        pytest.param(gather((3, 1, 5)), ["Expand"], id="one-element"),
        pytest.param(gather(strides=(0, 0, 5, 1)), ["Gather", "Expand"], id="broadcast-elsewhere"),
        pytest.param(gather(strides=(0, 5, 0, 1)), ["Expand"], id="broadcast-along"),
        pytest.param(gather_elements((3, 1, 5)), ["Expand"], id="elements-of-one"),
        pytest.param(gather_elements(indices_strides=(0, 1, 0)), ["Gather"], id="elements-of-rows"),
        pytest.param(gather_elements(indices_strides=(0, 5, 1)), ["GatherElements"], id="elements-of-broadcast"),
        pytest.param(gather_nd(), ["GatherND"], id="tuples"),
        pytest.param(gather_nd(strides=(20, 0, 1)), ["Pad", "Slice", "Expand", "GatherND"], id="tuples-of-broadcast"),
        pytest.param(gather_nd((4, 4, 5), (2, 3, 2)), ["GatherND"], id="tuples-of-equal-sizes"),
        pytest.param(gather_nd((2, 4, 5), (2, 3, 1), 1), ["GatherND"], id="batches"),
        pytest.param(gather_nd((1, 4, 5), (1, 3, 1), 1), ["Gather"], id="one-batch"),
        pytest.param(gather_nd((2, 3, 4), (2, 3, 1), 2), ["GatherND"], id="two-batches"),
        pytest.param(scatter(), ["ScatterElements"], id="scatter"),
        pytest.param(scatter_nd(), ["ScatterND"], id="scatter-nd"),
        pytest.param(scatter_nd((4, 5), (3, 1)), ["ScatterND"], id="scatter-rows"),
    ],
)
def test_form_with_constant_indices(op, expected):
    nodes = operators(check(op, constants=["IndicesTensor"]))
    assert [item for item in nodes if item != "Reshape"] == expected
    check(op)
    check(op, outside=True)
    everything = ["InputTensor", "IndicesTensor", "UpdatesTensor"]
    assert operators(check(op, constants=everything)) == ["Identity"]


def test_form_of_scatter():
    ends = ["Mul", "Add", "Min", "Cast", "Slice", "Concat", "ScatterElements", "Slice"]
    for kind in KINDS:
        nodes = [n for n in operators(check(scatter(kind=kind))) if n != "Reshape"]
        assert sorted(nodes) == sorted([*PLACES[kind], *ends])
    nodes = [n for n in operators(check(scatter_nd((4, 5), (3, 1), kind="UINT32"))) if n != "Reshape"]
    assert nodes == ["Min", "Cast", "Slice", "Concat", "ScatterND", "Slice"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(one_hot(kind="UINT64"), ["Min", "Cast", "Equal", "Cast", "GatherElements"], id="unsigned"),
        pytest.param(one_hot(), [*SIGNED, "Equal", "Cast", "GatherElements"], id="signed"),
        pytest.param(one_hot(kind="UINT32", values=3), ["Equal", "Cast", "GatherElements"], id="spare-values"),
        pytest.param(
            one_hot(kind="UINT32", indices_strides=(0, 0, 1)),
            ["Equal", "Cast", "GatherElements", "Expand"],
            id="broadcast",
        ),
    ],
)
def test_form_of_one_hot(op, expected):
    for constants in ([], ["ValuesTensor"]):
        assert [item for item in operators(check(op, constants=constants)) if item != "Reshape"] == expected
    assert operators(check(op, constants=["IndicesTensor", "ValuesTensor"])) == ["Identity"]


def test_minus_zero_keeps_its_sign():
    values = np.array([-0.0, -0.0], np.float32)
    got, _ = evaluate(one_hot((2, 3), 1), IndicesTensor=np.array([0, 1]), ValuesTensor=values)
    assert np.signbit(got).all()


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT32", "INT16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes_of_one_hot(axis, data_type):
    check(one_hot(axis=axis, data_type=data_type), outside=True)
    check(one_hot(axis=axis, data_type=data_type, values_strides=(0, 0, 0)))


# --- NONZERO_COORDINATES ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(nonzero((7,)), id="vector"),
        pytest.param(nonzero((1, 1, 3, 4), 2), id="narrow"),
        pytest.param(nonzero((1, 1, 3, 4), 3), id="wider"),
        pytest.param(nonzero((1, 1, 3, 4), 4, rank=8), id="widest"),
        pytest.param(nonzero((1, 1), 1), id="one-element"),
        pytest.param(nonzero(strides=(1, 3, 12)), id="permuted"),
        pytest.param(nonzero(strides=(0, 5, 1)), id="broadcast"),
        pytest.param(nonzero(out=(0, 1, 60)), id="into-strides"),
    ],
)
def test_coordinates(op):
    desc = op.tensor("InputTensor")
    for values in (sparse("FLOAT32", (desc.extent,)), np.zeros(desc.extent), np.ones(desc.extent)):
        memory = {"InputTensor": values.astype(np.float32)}
        check_case(op, inputs=memory)
        assert set(operators(check_case(op, inputs=memory, constants=["InputTensor"]))) == {"Identity"}


# --- large and shared tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT64"])
@pytest.mark.parametrize(
    ("sizes", "indices", "output"),
    [
        pytest.param((1, 1, 200, 150), (1, 1, 1, 100), (1, 1, 200, 100), id="columns"),
        pytest.param((1, 4, 60, 80), (1, 1, 20, 6), (4, 60, 20, 6), id="columns-by-a-matrix"),
    ],
)
def test_many_columns_are_gathered_as_rows(
    data_type: str, sizes: tuple[int, ...], indices: tuple[int, ...], output: tuple[int, ...]
) -> None:
    op = operator(
        "GATHER",
        InputTensor=t(data_type, sizes),
        IndicesTensor=t("INT32", indices),
        OutputTensor=t(data_type, output),
        Axis=3,
        IndexDimensions=sum(size > 1 for size in indices),
    )
    places = np.random.default_rng(0).integers(-sizes[3], sizes[3], indices).astype(np.int32)
    model = check_case(op, inputs={"IndicesTensor": places}, constants=["IndicesTensor"])
    assert operators(model).count("Transpose") == 2


def test_rows_of_a_table_are_one_gather() -> None:
    """The indices keep their shape, so that only the result is reshaped."""
    g = dml2onnx.GraphBuilder()
    table = np.arange(12, dtype=np.float32).reshape(1, 1, 4, 3)
    words = g.input("words", "INT32", (1, 1, 2, 5))
    graph = g.build({"y": g.gather(g.constant(table), words, 2, 2)})
    model = dml2onnx.compile(graph)
    gather, reshape = model.lowered.nodes
    assert (gather.op_type, gather.attributes["axis"], reshape.op_type) == ("Gather", 0, "Reshape")
    indices = np.random.default_rng(0).integers(0, 4, (1, 1, 2, 5)).astype(np.int32)
    np.testing.assert_array_equal(model.run({"words": indices})["y"], table[0, 0][indices[0]])
