"""Remedies from the producers and consumers of a wrong tensor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.checks.build import found_in
from tests.frontends.models import DX, edited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.diagnostics import Diagnostic

SIZES = [1, 2, 3, 4]
UNARY = ("ACTIVATION_RELU", "ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", "ELEMENT_WISE_CLIP")
OTHERS = ([1, 2, 3, 3], [1, 2, 3, 5], [1, 2, 4, 3], [1, 24, 1, 1], [2, 3, 4])
"""Too small, too large, permuted, for as many elements, and without the first."""


def tensor(sizes: Sequence[int]) -> dict[str, object]:
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


def unary(kind: str, first: Sequence[int], last: Sequence[int]) -> dict[str, object]:
    attributes: dict[str, object] = {"Min": 0, "Max": 1} if kind == "ELEMENT_WISE_CLIP" else {}
    return {"InputTensor": tensor(first), "OutputTensor": tensor(last)} | attributes


def native(*descriptors: tuple[str, dict[str, object]]) -> list[Diagnostic]:
    """The findings about a chain of nodes ``n0``, ``n1``..."""
    nodes = [
        {
            "name": f"n{place}",
            "type": kind,
            "desc": desc,
            "inputs": {"InputTensor": f"v{place}"},
            "outputs": {"OutputTensor": f"v{place + 1}"},
        }
        for place, (kind, desc) in enumerate(descriptors)
    ]
    graph = {"dml2onnx": 1, "inputs": {"v0": tensor(SIZES)}, "nodes": nodes, "outputs": [f"v{len(nodes)}"]}
    return found_in(json.dumps(graph))


def edges(*descriptors: tuple[str, dict[str, object]]) -> list[Diagnostic]:
    """The same as a DML_GRAPH_DESC."""
    last = len(descriptors) - 1
    names = ("FromNodeIndex", "FromNodeOutputIndex", "ToNodeIndex", "ToNodeInputIndex")
    graph = {
        "Nodes": [
            {"Type": "OPERATOR", "Name": f"n{place}", "Desc": {"Operator": {"Type": kind, "Desc": desc}}}
            for place, (kind, desc) in enumerate(descriptors)
        ],
        "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}],
        "IntermediateEdges": [dict(zip(names, (place, 0, place + 1, 0), strict=True)) for place in range(last)],
        "OutputEdges": [{"GraphOutputIndex": 0, "FromNodeIndex": last, "FromNodeOutputIndex": 0}],
    }
    return found_in(json.dumps(graph))


FORMATS = pytest.mark.parametrize("found", [native, edges])


@FORMATS
@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_an_input_matches_its_producer(found, kind: str, other: list[int]) -> None:
    right = unary(kind, SIZES, SIZES)
    assert not found(("ELEMENT_WISE_NEGATE", unary("", SIZES, SIZES)), (kind, right))
    (item,) = found(("ELEMENT_WISE_NEGATE", unary("", SIZES, SIZES)), (kind, unary(kind, other, SIZES)))
    words = f'InputTensor of sizes {SIZES}, as OutputTensor of "n0" has them'
    assert words in [remedy.words for remedy in item.remedies]
    named = item.message + " ".join(place.message for place in item.places)
    assert str(other) in named or str(4 * 6 * other[-1]) in named


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_an_input_matches_the_input_of_the_graph(other: list[int]) -> None:
    (item,) = native(("ACTIVATION_RELU", unary("", other, SIZES)))
    assert f'InputTensor of sizes {SIZES}, as "v0" has them' in [remedy.words for remedy in item.remedies]


@FORMATS
@pytest.mark.parametrize("other", [[1, 2, 3, 3], [1, 2, 3, 5]], ids=str)
def test_both_tensors_of_a_reader_change(found, other: list[int]) -> None:
    findings = found(("ELEMENT_WISE_NEGATE", unary("", SIZES, SIZES)), ("ACTIVATION_RELU", unary("", other, other)))
    words = [remedy.words for item in findings for remedy in item.remedies]
    sizes = f"InputTensor of sizes {SIZES}, as"
    if found is edges or other[-1] > SIZES[-1]:  # a reader may read less of a buffer
        assert [text for text in words if text.startswith(sizes) and f"OutputTensor of sizes {SIZES}" in text]
    else:
        assert not findings


def test_an_output_matches_its_readers() -> None:
    """The same sizes are inferred from what the node joins."""
    reader = unary("", [1, 2, 3, 5], [1, 2, 3, 5])
    graph = {
        "dml2onnx": 1,
        "inputs": {"a": tensor([1, 2, 3, 2]), "b": tensor([1, 2, 3, 3])},
        "nodes": [
            {
                "name": "join",
                "type": "JOIN",
                "desc": {"OutputTensor": tensor(SIZES), "Axis": 3},
                "inputs": {"InputTensors": ["a", "b"]},
                "outputs": {"OutputTensor": "c"},
            },
            {
                "name": "relu",
                "type": "ACTIVATION_RELU",
                "desc": reader,
                "inputs": {"InputTensor": "c"},
                "outputs": {"OutputTensor": "d"},
            },
        ],
        "outputs": ["d"],
    }
    item, *_ = found_in(json.dumps(graph))
    assert item.node == "join"
    assert item.remedies[0].words.startswith("OutputTensor of sizes [1, 2, 3, 5]")


def test_a_place_shows_the_descriptor_of_the_producer() -> None:
    (item,) = native(
        ("ELEMENT_WISE_NEGATE", unary("", SIZES, SIZES)), ("ACTIVATION_RELU", unary("", [1, 2, 3, 3], SIZES))
    )
    assert item.places[0].message == f'OutputTensor of "n0" is FLOAT32 {SIZES}, read as [1, 2, 3, 3]'


def test_an_output_that_exceeds_its_buffer_has_the_inferred_sizes() -> None:
    desc = unary("", [1, 1, 8, 8], [1, 1, 4, 5]) | {
        "Strides": [2, 2],
        "WindowSize": [2, 2],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "DimensionCount": 2,
        "IncludePadding": False,
    }
    of_input, of_output = (
        {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 0}} for count in (64, 16)
    )
    graph = {
        "resources": {"a": of_input, "b": of_output},
        "dispatchables": {"pool": {"type": "DML_OPERATOR_AVERAGE_POOLING", "desc": desc}},
        "commands": [
            {"type": "dispatch", "dispatchable": "pool", "bindings": {"InputTensor": "a", "OutputTensor": "b"}},
            {"type": "print", "resource": "b"},
        ],
    }
    (item,) = found_in(json.dumps(graph))
    assert item.code == "DML1207"
    assert [remedy.words for remedy in item.remedies] == [
        "OutputTensor of sizes [1, 1, 4, 4], inferred from the other fields"
    ]


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_buffer_that_is_too_small_is_named_for_reads_and_writes(name: str) -> None:
    model = edited(DX, (f"/resources/{name}/initialValues", {"valueCount": 3, "value": 1}))
    (item,) = found_in(json.dumps(model))
    assert [place.message for place in item.places] == [f'"{name}" has 12 bytes']
