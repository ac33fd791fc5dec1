"""Feature levels: what they allow, what they forbid, and the minimum level of a graph."""

from __future__ import annotations

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import FeatureLevel
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from tests.checks.build import CONVOLUTION, graph, node, one, op, t, unary, value
from tests.checks.cases import Case
from tests.checks.support_cases import CASES

X = t(1, 1, 4, 4)


def resample(operator: str, data_type: str, rank: int) -> OperatorDesc:
    tensor = t(*[2] * rank, type=data_type)
    return unary(operator, tensor, Scales=(1.0,) * rank)


def padding(mode: str, data_type: str, rank: int) -> OperatorDesc:
    return unary(
        "PADDING",
        t(*[2] * rank, type=data_type),
        PaddingMode=mode,
        StartPadding=(0,) * rank,
        EndPadding=(0,) * rank,
    )


MINIMA = [
    (resample("RESAMPLE1", "FLOAT32", 4), "2_1"),
    (resample("RESAMPLE1", "FLOAT32", 2), "5_1"),
    (resample("RESAMPLE1", "INT8", 4), "6_2"),
    (resample("RESAMPLE2", "UINT8", 4), "6_2"),
    (resample("RESAMPLE1", "INT32", 4), None),
    (padding("CONSTANT", "FLOAT32", 4), "1_0"),
    (padding("CONSTANT", "INT8", 5), "2_1"),
    (padding("SYMMETRIC", "FLOAT32", 4), "3_0"),
    (padding("EDGE", "FLOAT32", 1), "3_1"),
    (padding("EDGE", "FLOAT64", 1), "5_0"),
    (padding("WRAP", "FLOAT32", 4), "6_4"),
    (unary("ACTIVATION_SOFTPLUS", X, Steepness=0.5), "6_4"),
    (unary("ACTIVATION_SOFTPLUS", X, Steepness=2.0), "1_0"),
    (unary("ACTIVATION_CELU", X, Alpha=1.0), "3_0"),
    (unary("ACTIVATION_GELU", X), "5_1"),
    (op("CONVOLUTION", **CONVOLUTION), "1_0"),
    (op("CONVOLUTION", **CONVOLUTION, FusedActivation=op("ACTIVATION_SHRINK")), "2_0"),
    (op("CONVOLUTION", **CONVOLUTION, FusedActivation=op("ACTIVATION_CELU")), "3_0"),
    (op("CONVOLUTION", **CONVOLUTION, FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=6.0)), "6_0"),
    (op("CONVOLUTION", **CONVOLUTION, FusedActivation=op("ACTIVATION_SOFTPLUS", Steepness=0.5)), "6_4"),
    (op("CONVOLUTION", **{**CONVOLUTION, "OutputTensor": t(1, 2, 3, 3)}), None),
    (op("GEMM", ATensor=X, BTensor=X, OutputTensor=X, FusedActivation=op("ACTIVATION_SOFTMAX1", Axes=(3,))), "6_1"),
    (op("JOIN", InputTensors=(t(*[1] * 8),), OutputTensor=t(*[1] * 8), Axis=0), "3_1"),
    (op("SLICE", InputTensor=X, OutputTensor=X, Offsets=(0,) * 4, Sizes=X.sizes, Strides=(1,) * 4), "1_0"),
    (op("SLICE", InputTensor=t(3), OutputTensor=t(3), Offsets=(0,), Sizes=(3,), Strides=(1,)), "3_0"),
]


@pytest.mark.parametrize(("desc", "level"), MINIMA, ids=lambda item: getattr(item, "type", item))
def test_minimum(desc: OperatorDesc, level: str | None) -> None:
    minimum = minimum_feature_level(one(desc))
    assert (None if minimum is None else minimum.name) == level
    for candidate in catalog.feature_levels():
        allowed = minimum is not None and candidate >= minimum
        assert (check(one(desc), candidate) == []) == allowed, candidate


@pytest.mark.parametrize("case", [case for case in CASES if case.since], ids=lambda case: case.name)
def test_since_lifts(case: Case) -> None:
    assert check(case.graph, case.since) == []


def test_minimum_of_several_nodes() -> None:
    x, y, z = value("x", X), value("y", X), value("z", X)
    nodes = [
        node(unary("ACTIVATION_CELU", X), {"InputTensor": [x]}, {"OutputTensor": [y]}, "a"),
        node(unary("ACTIVATION_GELU", X), {"InputTensor": [y]}, {"OutputTensor": [z]}, "b"),
    ]
    minimum = minimum_feature_level(graph(nodes, [x], [(z, X)]))
    assert minimum == FeatureLevel("5_1")
    assert minimum is not None
    assert minimum.info.directml_version.startswith("1.")


def test_broken_structure_has_no_minimum() -> None:
    y = value("y", X)
    assert (
        minimum_feature_level(graph([node(unary("ACTIVATION_RELU", X), {}, {"OutputTensor": [y]})], [], [(y, X)]))
        is None
    )
    assert minimum_feature_level(graph([])) is None


def test_level_of_the_graph_is_the_default() -> None:
    desc = unary("ACTIVATION_GELU", X)
    assert check(one(desc)) == []
    assert check(one(desc, feature_level="5_1")) == []
    assert [item.since for item in check(one(desc, feature_level="5_0"))] == ["5_1"]
    assert check(one(desc, feature_level="5_0"), "6_0") == []
    with pytest.raises(DmlError, match="7_7"):
        check(one(desc), "7_7")


def test_tensors_that_must_match_are_one_finding() -> None:
    desc = op(
        "ELEMENT_WISE_ADD1",
        ATensor=t(2, 3, type="INT8"),
        BTensor=t(2, 3, type="INT8"),
        OutputTensor=t(2, 3, type="INT8"),
    )
    pointers = [item.pointer.removeprefix("/nodes/0/desc/") for item in check(one(desc), "2_0")]
    assert pointers == [
        "ATensor/DataType",
        "ATensor/Sizes",
    ]


def test_unreadable_fields_suppress_only_their_own_rules() -> None:
    desc = op("CONVOLUTION", **{**CONVOLUTION, "Strides": UNREADABLE, "DimensionCount": 2, "GroupCount": 0})
    assert [item.field for item in check(one(desc))] == ["GroupCount"]
    desc = op("CONVOLUTION", **{**CONVOLUTION, "InputTensor": UNREADABLE, "FilterTensor": t(1, 1, 3, 3, type="INT8")})
    assert [item.field for item in check(one(desc))] == ["FilterTensor"]  # which the output has to match
