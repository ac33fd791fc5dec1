"""What findings say to whoever made a slip: the place, the remedy, and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic

from .models import CONVOLUTION, DX, NATIVE, REMOVE, Model, edited, f32, load_model


def only(directory: Path, model: Model) -> Diagnostic:
    """The one finding of a model."""
    (finding,) = load_model(directory, model).findings
    return finding


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("RELU", '; did you mean "ACTIVATION_RELU"?'),
        ("Relu", '; did you mean "ACTIVATION_RELU"?'),
        ("ACTIVATION_RELUU", '; did you mean "ACTIVATION_RELU"?'),
        ("CLIP", ""),
    ],
)
def test_an_activation_without_prefix(name: str, suggestion: str, directory: Path) -> None:
    finding = only(directory, edited(NATIVE, ("/nodes/0/desc/FusedActivation/type", name)))
    assert finding.code == codes.UNKNOWN_OPERATOR.id
    assert suggestion in finding.message
    assert "ACTIVATION_RELU" in finding.expected.split(", ")
    assert "CONVOLUTION" not in finding.expected


def test_one_array_of_another_length(directory: Path) -> None:
    desc: dict[str, Any] = {**CONVOLUTION, "Strides": [1, 1, 1]}
    del desc["DimensionCount"], desc["InputTensor"], desc["FilterTensor"]
    node = {
        "type": "CONVOLUTION",
        "desc": desc,
        "inputs": {"InputTensor": "x", "FilterTensor": "w"},
        "outputs": {"OutputTensor": "y"},
    }
    model = {
        "dml2onnx": 1,
        "inputs": {"x": f32(1, 3, 8, 8), "w": f32(4, 3, 3, 3)},
        "nodes": [node],
        "outputs": ["y"],
    }
    finding = only(directory, model)
    assert (finding.pointer, finding.expected, finding.found) == ("/nodes/0/desc/Strides", "2 elements", "3 elements")


def test_of_two_arrays_the_rank_decides(directory: Path) -> None:
    desc = {"OutputTensor": f32(6), "PaddingMode": "CONSTANT", "PaddingValue": 0, "PaddingValueDataType": "FLOAT32"}
    node = {
        "type": "PADDING1",
        "desc": {**desc, "StartPadding": [1, 0], "EndPadding": [1]},
        "inputs": {"InputTensor": "x"},
        "outputs": {"OutputTensor": "y"},
    }
    finding = only(directory, {"dml2onnx": 1, "inputs": {"x": f32(4)}, "nodes": [node], "outputs": ["y"]})
    assert finding.pointer == "/nodes/0/desc/StartPadding"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([[0, 1], [1, -4], [0, 1]], "arrays nested as [3, 2]"),
        ([[0, 1], [1]], "unevenly nested arrays"),
        ([[0, 1], 1], "unevenly nested arrays"),
        ([0, 1], "2 values"),
    ],
)
def test_the_shape_of_values(values: list[Any], found: str, directory: Path) -> None:
    finding = next(
        item
        for item in load_model(directory, edited(NATIVE, ("/constants/w", f32(1, 1, 2, 2, values=values)))).findings
        if item.code == codes.WRONG_VALUE_COUNT.id
    )
    assert finding.found == found


def test_values_without_leading_ones(directory: Path) -> None:
    kernel = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    graph = load_model(directory, edited(NATIVE, ("/constants/k", f32(1, 1, 3, 3, values=kernel))))
    assert graph.findings == ()
    (data,) = [item.data for item in graph.constants if item.value.name == "k"]
    assert data.nbytes == 36
    wrong = edited(NATIVE, ("/constants/k", f32(1, 1, 3, 3, values=[[0, 1, 0], [1, None, 1], [0, 1, 0]])))
    assert only(directory, wrong).pointer == "/constants/k/values/1/1"


def test_a_tensor_without_elements_is_reported_once(directory: Path) -> None:
    finding = only(directory, edited(NATIVE, ("/inputs/x/Sizes", [1, 4, 0])))
    assert (finding.pointer, finding.expected, finding.found) == ("/inputs/x/Sizes/2", "at least 1", "0")


def test_where_the_name_is_taken(directory: Path) -> None:
    finding = only(directory, edited(NATIVE, ("/inputs/w", f32(4))))
    assert finding.pointer == "/constants/w"
    assert 'at "/inputs/w"' in finding.message


def test_where_the_output_is_named(directory: Path) -> None:
    finding = only(directory, edited(NATIVE, ("/outputs", ["h", "h"])))
    assert finding.pointer == "/outputs/1"
    assert 'at "/outputs/0"' in finding.message


def test_how_to_allow_a_directory(directory: Path) -> None:
    finding = only(directory, edited(NATIVE, ("/constants/w", f32(4, file="../outside.bin"))))
    assert "--allow-path DIR" in finding.expected


@pytest.mark.parametrize("dimensions", [[4], [1, 2, 2, 1], [4, 1, 1, 1]])
def test_dimensions_of_an_image(dimensions: list[int], directory: Path) -> None:
    command = {"type": "writeFile", "resource": "y", "targetPath": "a.png", "dimensions": dimensions}
    finding = only(directory, edited(DX, ("/commands/-", command)))
    assert finding.message == "a .png file has dimensions N, C, H and W, with N = 1 and C of 1, 3 or 4"
    assert finding.expected == "[1, C, H, W] with C of 1, 3 or 4"
    assert finding.found == str(dimensions)


def test_dimensions_beyond_the_resource(directory: Path) -> None:
    command = {"type": "writeFile", "resource": "y", "targetPath": "a.png", "dimensions": [1, 1, 3, 3]}
    finding = only(directory, edited(DX, ("/commands/-", command)))
    assert (finding.expected, finding.found) == ("1 to 4 elements of FLOAT32", "[1, 1, 3, 3]")


@pytest.mark.parametrize("name", ["elementOfset", "elementSizeInByte"])
def test_a_slip_in_a_binding(name: str, directory: Path) -> None:
    finding = only(directory, edited(DX, ("/commands/0/bindings/ATensor", {"name": "x", name: 0})))
    assert finding.code == codes.UNKNOWN_KEY.id
    assert "did you mean" in finding.message


def test_what_a_count_stands_for(directory: Path) -> None:
    finding = only(directory, edited(DX, ("/dispatchables/add/bindings/BTensor", {"name": "w", "elementCount": 2})))
    assert finding.code == codes.ELEMENT_COUNT_IGNORED.id
    assert (finding.expected, finding.found) == ("16 bytes or more", "8 bytes")


def test_control_characters_stay_out_of_messages(directory: Path) -> None:
    name = "a\x1b[31m\nb"
    model = edited(NATIVE, ("/nodes/0/name", name), ("/nodes/0/inputs/ATensor", name), ("/outputs/0", name))
    model = edited(model, (f"/inputs/{name}2", f32(0)), ("/nodes/1/desc/Axis", REMOVE))
    findings = load_model(directory, model).findings
    assert len(findings) >= 3
    for finding in findings:
        assert str(finding).isprintable()
        assert (finding.message + finding.expected + finding.found).isprintable()
