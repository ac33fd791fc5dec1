"""The texts of findings."""

from __future__ import annotations

import pytest

from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from tests.checks.build import one, op, t, unary
from tests.checks.structure_cases import reading
from tests.checks.test_cases import CASES

TEXTS = {
    "data type of a later level": (
        'DML1602 error: node "node" (RESAMPLE1), /nodes/0/desc/InputTensor/DataType: '
        "INT8 needs feature level 6_2; the target is 5_1."
    ),
    "dimension count of a later level": (
        'DML1604 error: node "node" (RESAMPLE1), /nodes/0/desc/InputTensor/Sizes: '
        "DimensionCount 2 needs feature level 5_1; the target is 5_0, which has 4."
    ),
    "data type of no level": (
        'DML1603 error: node "node" (ACTIVATION_SIGMOID), /nodes/0/desc/InputTensor/DataType: '
        "INT32 is supported at no feature level; InputTensor may be FLOAT32, FLOAT16."
    ),
    "padded size": (
        'DML1503 error: node "node" (PADDING), /nodes/0/desc/OutputTensor/Sizes/3: '
        "OutputTensor.Sizes[3] is 13; it has to be 14 = 8 + StartPadding 2 + EndPadding 4."
    ),
    "pooled size": (
        'DML1503 error: node "node" (MAX_POOLING2), /nodes/0/desc/OutputTensor/Sizes/3: '
        "OutputTensor.Sizes[3] is 5; it has to be 3 or 4 = (8 - 3) / Strides[1] 2 + 1."
    ),
    "cycle of two": (
        'DML1203 error: node "one" (ACTIVATION_RELU), /nodes/0/desc/InputTensor: '
        'The graph has a cycle: "one" -> "two" -> "one"; '
        'InputTensor reads "b", which depends on this node\'s output.'
    ),
    "cycle of twelve": (
        'DML1203 error: node "n0" (ACTIVATION_RELU), /nodes/0/desc/InputTensor: The graph has a cycle: '
        '"n0" -> "n1" -> "n2" -> "n3" -> "n4" -> "n5" -> "n6" -> "n7" -> "n8" -> "n9" -> "n10" -> "n11" -> "n0"; '
        'InputTensor reads "v11", which depends on this node\'s output.'
    ),
    "cycle of thirteen": (
        'DML1203 error: node "n0" (ACTIVATION_RELU), /nodes/0/desc/InputTensor: The graph has a cycle: '
        '"n0" -> "n1" -> "n2" -> "n3" -> "n4" -> "n5" -> (4 more) -> "n10" -> "n11" -> "n12" -> "n0"; '
        'InputTensor reads "v12", which depends on this node\'s output.'
    ),
    "small steepness at an old level": (
        'DML1408 error: node "node" (ACTIVATION_SOFTPLUS), /nodes/0/desc/Steepness: '
        "Steepness is 0.5; it has to be at least 1, before feature level 6_4; the target is 6_3."
    ),
    "clip at an old level": (
        'DML1702 error: node "node" (GEMM), /nodes/0/desc/FusedActivation: '
        "Fusing ELEMENT_WISE_CLIP needs feature level 6_0; the target is 5_2."
    ),
    "different sizes": (
        'DML1501 error: node "node" (ELEMENT_WISE_ADD), /nodes/0/desc/BTensor/Sizes: '
        "BTensor has sizes [1, 4, 1, 1] and ATensor has [1, 4, 8, 8]; they need the same."
    ),
    "read beyond by its offset": (
        'DML1207 error: node "node" (ACTIVATION_RELU), /nodes/0/desc/InputTensor: '
        'InputTensor needs bytes 16 to 80 of "x", which has 64.'
    ),
    "no outputs": "DML1217 error: The graph has no outputs.",
}


def test_a_data_type_is_compared_with_the_target() -> None:
    (finding,) = check(one(unary("RESAMPLE1", t(1, 1, 4, 4, type="INT8"), Scales=(1.0,) * 4)), "5_1")[:1]
    assert (finding.expected, finding.found, finding.since) == ("FLOAT32, FLOAT16", "INT8", "6_2")


def test_fusable_operators_are_listed_once() -> None:
    fused = op("ELEMENT_WISE_ABS", InputTensor=None, OutputTensor=None, ScaleBias=None)
    tensor = t(1, 1, 4, 4)
    gemm = op("GEMM", ATensor=tensor, BTensor=tensor, OutputTensor=tensor, FusedActivation=fused)
    (finding,) = [item for item in check(one(gemm)) if item.code == codes.NOT_FUSABLE.id]
    assert finding.message == "ELEMENT_WISE_ABS cannot be fused into GEMM."
    assert "ACTIVATION_RELU" in finding.expected


def test_required_and_available_bytes() -> None:
    tensor = t(3, 3)
    short = Value("a\n", 12)
    desc = unary("ELEMENT_WISE_ABS", tensor)
    output = Value("y", 36)
    graph = Graph(
        nodes=(Node("node", desc, {"InputTensor": (Read(short),)}, {"OutputTensor": (Write(output),)}),),
        inputs=(GraphInput("a", short),),
        outputs=(GraphOutput("y", output, tensor),),
    )
    (finding,) = check(graph)
    assert finding.code == codes.OUT_OF_BOUNDS.id
    assert (finding.expected, finding.found) == ("36 bytes or more", "12 bytes")
    assert finding.message.isprintable()


def test_elements_available_behind_an_offset() -> None:
    whole = [1, 1, 1, 1]
    window = op("SLICE", InputTensor=t(1, 1, 4, 4), OutputTensor=t(*whole), Offsets=[0] * 4, Sizes=whole, Strides=whole)
    finding = check(reading(Read(Value("x", 64), 16), window))[0]
    assert finding.code == codes.OUT_OF_BOUNDS.id
    sizes = ([1, 1, 3, 4], [1, 1, 4, 3])
    assert [remedy.words for remedy in finding.remedies] == [f"InputTensor of sizes {right}" for right in sizes]


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    assert str(check(case.graph, case.level, documented=True)[0]) == TEXTS[name]


def test_expected_sizes_are_numbers_without_quotes() -> None:
    """Other findings about sizes list two possible sizes, as text."""
    desc = op(
        "MAX_POOLING",
        InputTensor=t(1, 16, 64, 64),
        OutputTensor=t(1, 16, 30, 30),
        WindowSize=(2, 2),
        Strides=(2, 2),
    )
    found = [item for item in check(one(desc), documented=True) if item.code == "DML1503"]
    assert [item.expected for item in found] == ["[1, 16, 32, 32]"]


def test_errors_do_not_depend_on_remedies() -> None:
    fewer = 0
    for case in CASES:
        with_them, without = (check(case.graph, case.level, remedies=flag) for flag in (True, False))
        assert any(item.is_error for item in with_them) == any(item.is_error for item in without)
        assert not any(item.remedies for item in without if item.node)
        fewer += any(item.remedies for item in with_them if item.node)
    assert fewer > 50


@pytest.mark.parametrize(
    ("scales", "words"),
    [
        ((1.0, 1.0, 0.5, 0.5), "scale OutputTensor to InputTensor"),
        ((2.0, 2.0, 1.0, 1.0), "are in another order than the dimensions"),
        ((1.0, 1.0, 8.0, 8.0), "are off by a factor of 2 or more"),
    ],
)
def test_suspicious_scales(scales: tuple[float, ...], words: str) -> None:
    sizes = {"InputTensor": t(1, 4, 8, 8), "OutputTensor": t(1, 4, 16, 16)}
    (finding,) = check(one(op("RESAMPLE", **sizes, InterpolationMode="LINEAR", Scales=scales)))
    assert words in finding.message
