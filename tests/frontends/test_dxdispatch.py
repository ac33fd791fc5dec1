"""Whole DxDispatch models: their text, and findings across sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from dml2onnx.checks import check
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import UnreadableError

from .models import DX, dx_operator, edited, load_model, load_text
from .test_dx_dispatchables import FOLD

EMPTY = '"resources": {}, "dispatchables": {}, "commands": []'


@pytest.mark.parametrize(
    "text",
    [
        f"{{{EMPTY},}}",
        f"{{{EMPTY}}} text behind",
        f"// first\n{{{EMPTY}}}",
        f'/* first */ {{{EMPTY}, "$schema": "//no comment/*" }}',
        f'{{{EMPTY}, "x": [1, 2 /* three */, // four\n ]}}',
        f'{{{EMPTY}, "x": "\\"//", /* */ "y": "\\\\" /**/}}',
        f'{{{EMPTY}, "x": [",]", "{{,}}"],}}',
        f'{{{EMPTY}, "x": {"9" * 6000}}}',
    ],
)
def test_tolerated_text(text: str, tmp_path: Path) -> None:
    graph = load_text(tmp_path, text)
    assert graph.findings == ()
    assert graph.format == "dxdispatch"


def test_a_program_without_commands_is_an_error(tmp_path: Path) -> None:
    """The check reports it in addition to the reader's findings."""
    assert [item.code for item in check(load_model(tmp_path, dx_operator("FOLD", FOLD)))] == ["DML1113", "DML1217"]


def test_places_in_relaxed_text(tmp_path: Path) -> None:
    """Lines and columns count comments."""
    with pytest.raises(UnreadableError, match=r"model\.json:3:16: "):
        load_text(tmp_path, '{ // one\n /* two\n three */ "a": , "resources": {} }')


def test_the_last_of_duplicate_members_wins(tmp_path: Path) -> None:
    text = (
        '{"resources": {"x": {"initialValuesDataType": "INT8", "initialValues": [1]},'
        ' "x": {"initialValuesDataType": "INT8", "initialValues": [2]}},'
        ' "dispatchables": {"op": {"type": "ELEMENT_WISE_ABS",'
        ' "InputTensor": {"DataType": "INT8", "DataType": "INT4", "Sizes": [1]},'
        ' "OutputTensor": {"DataType": "INT8", "Sizes": [1]}}},'
        ' "commands": [{"type": "dispatch", "dispatchable": "op",'
        ' "bindings": {"InputTensor": "x", "OutputTensor": "x"}}]}'
    )
    graph = load_text(tmp_path, text)
    assert sorted((item.code, item.pointer) for item in graph.findings) == [
        (codes.REPEATED_KEY.id, "/dispatchables/op/InputTensor/DataType"),
        (codes.REPEATED_KEY.id, "/resources/x"),
    ]
    (x,) = graph.inputs
    assert x.default is not None
    assert x.default.read().tobytes() == bytes([2, 0, 0, 0])
    assert str(graph.nodes[0].operator.tensor("InputTensor")) == "INT8 [1]"


def test_names_with_slashes(tmp_path: Path) -> None:
    model = edited(DX, ("/dispatchables/a~1b~0c", {"type": "RELU"}))
    (finding,) = load_model(tmp_path, model).findings
    assert finding.pointer == "/dispatchables/a~1b~0c/type"
    assert finding.node == "a/b~c"


def test_one_finding_for_one_mistake(tmp_path: Path) -> None:
    """An invalid resource or operator is reported once, however often it is used."""
    model = edited(DX, ("/resources/x/initialValues", "none"), ("/dispatchables/add/desc/FusedActivation", 1))
    model["commands"] *= 5
    graph = load_model(tmp_path, model)
    assert [item.pointer for item in graph.findings] == [
        "/resources/x/initialValues",
        "/dispatchables/add/desc/FusedActivation",
    ]
    assert len(graph.nodes) == 5
