"""Texts of findings about typos: the pointer, the suggestion, and the expected value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic

from .models import CONVOLUTION, DX, NATIVE, REMOVE, Model, edited, f32, load_model, one_node


def only(directory: Path, model: Model) -> Diagnostic:
    (finding,) = load_model(directory, model).findings
    return finding


ACTIVATION, OPERATOR = "/nodes/0/desc/FusedActivation/type", codes.UNKNOWN_OPERATOR.id
BOUND, COUNTED = "/commands/0/bindings/ATensor", "/dispatchables/add/bindings/BTensor"


def picture(*dimensions: int) -> Model:
    return {"type": "writeFile", "resource": "y", "targetPath": "a.png", "dimensions": list(dimensions)}


TEXTS: list[tuple[Model, str, Any, dict[str, str]]] = [
    (NATIVE, ACTIVATION, "Relu", {"code": OPERATOR, "message": '; did you mean "ACTIVATION_RELU"?'}),
    (NATIVE, ACTIVATION, "ACTIVATION_RELUU", {"code": OPERATOR, "message": '; did you mean "ACTIVATION_RELU"?'}),
    (NATIVE, ACTIVATION, "CLIP", {"code": OPERATOR, "expected": ", ACTIVATION_RELU, "}),
    (NATIVE, "/inputs/x/Sizes", [1, 4, 0], {"pointer": "/inputs/x/Sizes/2", "expected": "at least 1", "found": "0"}),
    (NATIVE, "/inputs/w", f32(4), {"pointer": "/constants/w", "message": 'at "/inputs/w"'}),
    (NATIVE, "/outputs", ["h", "h"], {"pointer": "/outputs/1", "message": 'at "/outputs/0"'}),
    (NATIVE, "/constants/w", f32(4, file="../outside.bin"), {"expected": "--allow-path DIR"}),
    (NATIVE, "/constants/k", f32(1, 1, 2, 2, values=[[0, 1], [1, -4], [0, 1]]), {"found": "arrays nested as [3, 2]"}),
    (NATIVE, "/constants/k", f32(1, 1, 2, 2, values=[[0, 1], [1]]), {"found": "unevenly nested arrays"}),
    (NATIVE, "/constants/k", f32(1, 1, 2, 2, values=[[0, 1], 1]), {"found": "unevenly nested arrays"}),
    (NATIVE, "/constants/k", f32(1, 1, 2, 2, values=[0, 1]), {"found": "2 values"}),
    (DX, "/commands/-", picture(4), {"expected": "[1, C, H, W] with C of 1, 3 or 4", "found": "[4]"}),
    (DX, "/commands/-", picture(1, 2, 2, 1), {"message": "N, C, H and W, with N = 1 and C of 1, 3 or 4"}),
    (DX, "/commands/-", picture(4, 1, 1, 1), {"message": "N, C, H and W, with N = 1 and C of 1, 3 or 4"}),
    (DX, "/commands/-", picture(1, 1, 3, 3), {"expected": "1 to 4 elements of FLOAT32", "found": "[1, 1, 3, 3]"}),
    (DX, BOUND, {"name": "x", "elementOfset": 0}, {"code": codes.UNKNOWN_KEY.id, "message": "did you mean"}),
    (DX, BOUND, {"name": "x", "elementSizeInByte": 0}, {"code": codes.UNKNOWN_KEY.id, "message": "did you mean"}),
    (DX, COUNTED, {"name": "w", "elementCount": 2}, {"expected": "16 bytes or more", "found": "8 bytes"}),
]


@pytest.mark.parametrize(("model", "place", "value", "texts"), TEXTS)
def test_texts(model: Model, place: str, value: Any, texts: dict[str, str], directory: Path) -> None:
    finding = only(directory, edited(model, (place, value)))
    assert [name for name, text in texts.items() if text not in getattr(finding, name)] == []


def test_one_array_with_a_different_length(directory: Path) -> None:
    desc: dict[str, Any] = {**CONVOLUTION, "Strides": [1, 1, 1]}
    del desc["DimensionCount"], desc["InputTensor"], desc["FilterTensor"]
    reads = {"InputTensor": "x", "FilterTensor": "w"}
    model = one_node("CONVOLUTION", desc, f32(1, 3, 8, 8), inputs=reads)
    model["inputs"]["w"] = f32(4, 3, 3, 3)
    finding = only(directory, model)
    assert (finding.pointer, finding.expected, finding.found) == ("/nodes/0/desc/Strides", "2 elements", "3 elements")


def test_the_rank_decides_which_of_two_arrays_is_wrong(directory: Path) -> None:
    desc = {"OutputTensor": f32(6), "PaddingMode": "CONSTANT", "PaddingValue": 0, "PaddingValueDataType": "FLOAT32"}
    desc |= {"StartPadding": [1, 0], "EndPadding": [1]}
    finding = only(directory, one_node("PADDING1", desc, f32(4)))
    assert finding.pointer == "/nodes/0/desc/StartPadding"


def test_values_without_leading_ones(directory: Path) -> None:
    kernel = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    graph = load_model(directory, edited(NATIVE, ("/constants/k", f32(1, 1, 3, 3, values=kernel))))
    assert graph.findings == ()
    (data,) = [item.data for item in graph.constants if item.value.name == "k"]
    assert data.nbytes == 36
    wrong = edited(NATIVE, ("/constants/k", f32(1, 1, 3, 3, values=[[0, 1, 0], [1, None, 1], [0, 1, 0]])))
    assert only(directory, wrong).pointer == "/constants/k/values/1/1"


def test_messages_have_no_control_characters(directory: Path) -> None:
    name = "a\x1b[31m\nb"
    model = edited(NATIVE, ("/nodes/0/name", name), ("/nodes/0/inputs/ATensor", name), ("/outputs/0", name))
    model = edited(model, (f"/inputs/{name}2", f32(0)), ("/nodes/1/desc/Axis", REMOVE))
    findings = load_model(directory, model).findings
    assert len(findings) >= 3
    for finding in findings:
        assert str(finding).isprintable()
        assert (finding.message + finding.expected + finding.found).isprintable()
