"""Whole DxDispatch models: text, sections, and programs as the tool would run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dml2onnx.checks import check
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.ir.graph import Graph

from .models import DX, dx_operator, edited, load_model, load_text

OWNED = """{
  "resources": {
    "x": { "initialValuesDataType": "FLOAT32", "initialValues": [1, -2, 3] },
    "w": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 0, 0, 1, 1, 1] },
    "b": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 2, "value": 0.5 } },
    "h": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 2, "value": 0 } }
  },
  "dispatchables": {
    "layer": {
      "type": "DML_OPERATOR_GEMM",
      "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 3] },
        "BTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 3, 2], "Flags": "OWNED_BY_DML" },
        "CTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 2] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 2] },
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1,
        "FusedActivation": { "Type": "ACTIVATION_RELU" }
      },
      "bindings": { "BTensor": "w" }
    },
    "double_and_shift": {
      "type": "ELEMENT_WISE_IDENTITY",
      "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
        "ScaleBias": { "Scale": 2, "Bias": -10 }
      }
    }
  },
  "commands": [
    { "type": "dispatch", "dispatchable": "layer",
      "bindings": { "ATensor": "x", "CTensor": "b", "OutputTensor": "h" } },
    { "type": "print", "resource": "h" },
    { "type": "dispatch", "dispatchable": "double_and_shift", "bindings": { "InputTensor": "h", "OutputTensor": "h" } },
    { "type": "print", "resource": "h" },
    { "type": "dispatch", "dispatchable": "double_and_shift", "bindings": { "InputTensor": "w", "OutputTensor": "w" } },
    { "type": "print", "resource": "w" },
    { "type": "dispatch", "dispatchable": "layer",
      "bindings": { "ATensor": "x", "CTensor": "b", "OutputTensor": "h" } },
    { "type": "print", "resource": "h" }
  ]
}"""

POOLED = """{
  // a pool of twelve floats: 0, 1, ..., 11
  "resources": {
    "pool": { "initialValuesDataType": "FLOAT32",
              "initialValues": { "valueCount": 12, "valueStart": 0, "valueDelta": 1 } },
    "row": { "initialValuesDataType": "FLOAT32", "initialValues": [10, 20, 30] },
    "joined": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 8, "value": -1 } },
    "sum": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 6, "value": 0 } },
    "halves": { "initialValuesDataType": "FLOAT16", "initialValues": [1.2, 3.4, "inf", -5], },  /* 8 bytes */
  },
  "dispatchables": {
    "join": {
      "type": "JOIN",
      "desc": {
        "InputCount": 2,
        "InputTensors": [ { "DataType": "FLOAT32", "Sizes": [2] }, { "DataType": "FLOAT32", "Sizes": [4] } ],
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [6] },
        "Axis": 0
      }
    },
    "add_row": {
      "type": "ELEMENT_WISE_ADD",
      "ATensor": { "DataType": "FLOAT32", "Sizes": [2, 3] },
      "BTensor": { "DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [0, 1] },
      "OutputTensor": { "Type": "BUFFER", "Desc": { "DataType": "FLOAT32", "Sizes": [2, 3] } }
    },
    "clip": {
      "type": "ELEMENT_WISE_CLIP1",
      "desc": {
        "InputTensor": { "DataType": "FLOAT16", "Sizes": [4] },
        "OutputTensor": { "DataType": "FLOAT16", "Sizes": [4] },
        "MinMaxDataType": "FLOAT16", "Min": 0, "Max": { "UInt16": 17408 }
      }
    }
  },
  "commands": [
    { "type": "dispatch", "dispatchable": "join",
      "bindings": { "InputTensors": [ { "name": "pool", "elementOffset": 4 }, "pool" ], "OutputTensor": "joined" } },
    { "type": "print", "resource": "joined" },
    { "type": "dispatch", "dispatchable": "add_row",
      "bindings": { "ATensor": "joined", "BTensor": "row", "OutputTensor": "sum" } },
    { "type": "print", "resource": "sum" },
    { "type": "dispatch", "dispatchable": "clip", "bindings": { "InputTensor": "halves", "OutputTensor": "halves" } },
    { "type": "print", "resource": "halves" }
  ]
}"""


def bytes_of(graph: Graph, name: str) -> bytes:
    for item in graph.inputs:
        if item.name == name:
            assert item.default is not None
            return item.default.read().tobytes()
    return next(item.data.read().tobytes() for item in graph.constants if item.value.name == name)


def test_owned_weights_and_updates_in_place(tmp_path: Path) -> None:
    graph = load_text(tmp_path, OWNED)
    assert graph.findings == ()
    assert [item.name for item in graph.inputs] == ["x", "b"]
    (w,) = graph.constants
    assert w.data.read().view(np.float32).tolist() == [1, 0, 0, 1, 1, 1]
    layer, shift, shift_w, again = graph.nodes
    assert [node.name for node in graph.nodes] == ["layer", "double_and_shift", "double_and_shift#2", "layer#2"]
    assert layer.operator is again.operator
    h1, h2, w1, h3 = (node.writes["OutputTensor"][0] for node in graph.nodes)
    assert shift.reads["InputTensor"][0].value is h1.value
    assert (h1.base, h2.base, h3.base) == (None, None, None)
    # The first two of six floats are overwritten; the layer still reads the weights it was initialized with.
    assert shift_w.reads["InputTensor"][0].value is w.value
    assert w1.base is w.value
    assert again.reads["BTensor"][0].value is w.value
    assert [effect.output.value for effect in graph.effects] == [h1.value, h2.value, w1.value, h3.value]
    assert [str(effect.output.desc) for effect in graph.effects] == ["FLOAT32 [2]"] * 2 + ["FLOAT32 [6]", "FLOAT32 [2]"]
    assert [(item.name, item.value) for item in graph.outputs] == [("h", h3.value), ("w", w1.value)]
    assert graph.sorted_nodes() == graph.nodes


def test_offsets_arrays_and_halves(tmp_path: Path) -> None:
    graph = load_text(tmp_path, POOLED)
    assert graph.findings == ()
    assert [item.name for item in graph.inputs] == ["pool", "row", "halves"]
    assert [item.value.name for item in graph.constants] == ["joined"]
    assert bytes_of(graph, "pool") == np.arange(12, dtype=np.float32).tobytes()
    assert bytes_of(graph, "halves") == np.array([0x3CCC, 0x42CC, 0x7C00, 0xC500], np.uint16).tobytes()
    join, add, clip = graph.nodes
    assert [(read.value.name, read.offset) for read in join.reads["InputTensors"]] == [("pool", 16), ("pool", 0)]
    (joined,) = join.writes["OutputTensor"]
    assert joined.base is not None
    assert add.reads["ATensor"][0].value is joined.value
    assert add.operator.tensor("BTensor").total_bytes == 12
    assert clip.operator.scalar("Max").value == 4.0
    assert clip.writes["OutputTensor"][0].base is None
    assert [str(effect.output.desc) for effect in graph.effects] == ["FLOAT32 [8]", "FLOAT32 [6]", "FLOAT16 [4]"]
    assert [(item.name, str(item.desc)) for item in graph.outputs] == [
        ("joined", "FLOAT32 [8]"),
        ("sum", "FLOAT32 [2, 3]"),
        ("halves", "FLOAT16 [4]"),
    ]


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


def test_a_program_without_commands_is_no_graph(tmp_path: Path) -> None:
    """Whatever a reader remarks besides: a model of nothing does not even load."""
    tensors = {"InputTensor": [1, 4, 1], "OutputTensor": [1, 1, 4]}
    desc = {name: {"DataType": "FLOAT32", "Sizes": sizes} for name, sizes in tensors.items()}
    fold = {
        "DimensionCount": 1,
        "WindowSizes": [4],
        "Strides": [1],
        "Dilations": [1],
        "StartPadding": [0],
        "EndPadding": [0],
    }
    graph = load_model(tmp_path, dx_operator("FOLD", {**desc, **fold}))
    assert [item.code for item in check(graph)] == ["DML1113", "DML1217"]


def test_places_in_relaxed_text(tmp_path: Path) -> None:
    """Comments are blanked out, not cut out, so lines and columns stay."""
    with pytest.raises(UnreadableError, match=r"model\.json:3:16: "):
        load_text(tmp_path, '{ // one\n /* two\n three */ "a": , "resources": {} }')


def test_the_last_of_a_name_counts(tmp_path: Path) -> None:
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
    assert bytes_of(graph, "x") == bytes([2, 0, 0, 0])
    assert str(graph.nodes[0].operator.tensor("InputTensor")) == "INT8 [1]"


def test_names_with_slashes(tmp_path: Path) -> None:
    model = edited(DX, ("/dispatchables/a~1b~0c", {"type": "RELU"}))
    (finding,) = load_model(tmp_path, model).findings
    assert finding.pointer == "/dispatchables/a~1b~0c/type"
    assert finding.node == "a/b~c"


def test_one_finding_for_one_mistake(tmp_path: Path) -> None:
    """A resource and an operator that cannot be read are reported once, however often they are used."""
    model = edited(DX, ("/resources/x/initialValues", "none"), ("/dispatchables/add/desc/FusedActivation", 1))
    model["commands"] *= 5
    graph = load_model(tmp_path, model)
    assert [item.pointer for item in graph.findings] == [
        "/resources/x/initialValues",
        "/dispatchables/add/desc/FusedActivation",
    ]
    assert len(graph.nodes) == 5
