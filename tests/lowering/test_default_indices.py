"""Default forms of operators with indices, axes or sequences: one ONNX operator each."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lowering.default_forms import check_default
from tests.lowering.test_attention import attention
from tests.lowering.test_gathering import (
    gather,
    gather_elements,
    gather_nd,
    indices_for,
    nonzero,
    one_hot,
    scatter,
    scatter_nd,
    sparse,
)
from tests.lowering.test_ordering import cumulative, top_k
from tests.lowering.test_recurrent import NODE, SCAN, contents, recurrent
from tests.lowering.test_slicing import reverse

TYPES = ["FLOAT32", "FLOAT16"]
COUNTED = ["Equal", "Cast", "Sub", "CumSum", "Mul", "Add", "Sub", "Mul"]
COORDINATES = ["Div", "Slice", "Mul", "Slice", "Sub", "Slice", "Concat", "Transpose"]


@pytest.mark.parametrize("data_type", [*TYPES, "INT8", "INT64"])
@pytest.mark.parametrize("kind", ["INT64", "UINT32"])
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(gather, "Gather", id="gather"),
        pytest.param(gather_elements, "GatherElements", id="gather-elements"),
        pytest.param(gather_nd, "GatherND", id="gather-nd"),
        pytest.param(scatter, "ScatterElements", id="scatter"),
        pytest.param(scatter_nd, "ScatterND", id="scatter-nd"),
    ],
)
def test_indices(make, expected, kind, data_type):
    op = make(data_type=data_type, kind=kind)
    indices = {"IndicesTensor": indices_for(op, np.random.default_rng(0), repeated=expected.startswith("G"))}
    check_default(op, [expected, *(["Cast"] if kind == "UINT32" else [])], inputs=indices)
    check_default(op, [expected], inputs=indices, constants=["IndicesTensor"])


@pytest.mark.parametrize("data_type", TYPES)
def test_one_hot(data_type):
    op = one_hot(data_type=data_type)
    check_default(op, ["OneHot"], inputs={"IndicesTensor": indices_for(op, np.random.default_rng(0))})


@pytest.mark.parametrize("data_type", TYPES)
def test_nonzero_coordinates(data_type):
    model = check_default(
        nonzero(data_type=data_type),
        [*COUNTED, "ScatterElements", "Slice", "Cast", *COORDINATES, "Cast"],
        inputs={"InputTensor": np.nan_to_num(sparse(data_type, (3, 4, 5)), posinf=1)},
    )
    assert len(model.outputs) == 2


@pytest.mark.parametrize("kind", ["UINT32", "UINT64"])
def test_reverse_subsequences(kind):
    op = reverse(axis=2, kind=kind)
    lengths = {"SequenceLengthsTensor": np.random.default_rng(0).integers(1, 6, (3, 4, 1)).astype(kind.lower())}
    check_default(op, ["Max", "Cast", "ReverseSequence"], inputs=lengths)


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", ["TOP_K", "TOP_K1"])
def test_top_k(data_type, name):
    check_default(top_k(name=name, data_type=data_type), ["TopK", "Cast"])


@pytest.mark.parametrize("data_type", TYPES)
def test_cumulative_summation(data_type):
    check_default(cumulative("CUMULATIVE_SUMMATION", data_type=data_type), ["CumSum"])


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD", "BIDIRECTIONAL"])
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_recurrent(name, direction, data_type):
    op = recurrent(name, NODE[name], direction=direction, data_type=data_type)
    check_default(op, [name, "Cast"], inputs=contents(op, [1, 3]))


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_activations_that_onnx_does_not_have(name):
    """Default models have no Scan, so the steps are unrolled."""
    op = recurrent(name, SCAN[name], direction="BIDIRECTIONAL", without=("SequenceLengthsTensor",))
    check_default(op, None, inputs=contents(op))


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(
    ("options", "more"),
    [
        pytest.param({"past": 0}, [], id="plain"),
        pytest.param({"present": ("past", "present key", "present value")}, [], id="past"),
        pytest.param({"present": ("position",), "past": 0}, [], id="position"),
    ],
)
def test_attention(options, more, data_type):
    check_default(attention(data_type=data_type, Scale=0.35, **options), ["Attention", *more], opset=23)
