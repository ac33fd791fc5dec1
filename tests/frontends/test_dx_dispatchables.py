"""DxDispatch dispatchables, in every spelling and with every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from dml2onnx.codes import reading as codes

from .models import DX, REMOVE, Model, edited, f32, load_model
from .rejections import changes_of, rejecting

changed, add = changes_of(DX), changes_of(DX, "/dispatchables/add")
ABS = {"InputTensor": f32(4), "OutputTensor": f32(4)}
FOLD: Model = {"InputTensor": f32(1, 1, 1), "OutputTensor": f32(1, 1, 1), "DimensionCount": 1}
FOLD |= {name: [1] for name in ("WindowSizes", "Strides", "Dilations")}
FOLD |= {name: [0] for name in ("StartPadding", "EndPadding")}

REJECTED = [
    add(codes.WRONG_KIND, ("", 1)),
    add(codes.MISSING_KEY, ("/type", REMOVE)),
    add(codes.MISSING_KEY, ("/type", REMOVE), ("/Type", "ELEMENT_WISE_ADD1")),
    add(codes.UNKNOWN_OPERATOR, ("/type", "ELEMENT_WISE_ADD2")),
    add(codes.UNKNOWN_OPERATOR, ("/type", "element_wise_add1")),
    add(codes.UNKNOWN_OPERATOR, ("/Type", "ELEMENT_WISE_ADD2")),
    add(codes.WRONG_KIND, ("/desc", [])),
    add(codes.IGNORED_KEY, ("/binding", {})),
    add(codes.WRONG_KIND, ("/dmlCompileType", "DmlCompileGrap")),
    add(codes.ENUMERATOR, ("/executionFlags", "FAST")),
    add(codes.ENUMERATOR, ("/executionFlags", ["NONE", 1]), at="/executionFlags/1"),
    *(add(codes.UNSUPPORTED_DISPATCHABLE, ("/type", kind)) for kind in ("hlsl", "ONNX")),
    changed(
        codes.NEWER_THAN_DXDISPATCH,
        ("/dispatchables/new", {"type": "FOLD", "desc": FOLD}),
        at="/dispatchables/new/type",
    ),
    changed(
        codes.COLLAPSED_GRAPH,
        ("/dispatchables/abs", {"type": "ELEMENT_WISE_ABS", **ABS, "dmlCompileType": "DmlCompileGraph"}),
    ),
    add(codes.OWNED_NOT_BOUND, ("/bindings", {}), at="/bindings/BTensor"),
    add(codes.WRONG_KIND, ("/bindings", [])),
    add(codes.BOUND_AT_INITIALIZATION, ("/bindings/ATensor", "x")),
    add(codes.IGNORED_BINDING, ("/bindings/OutputTensor", "y")),
    add(codes.IGNORED_BINDING, ("/bindings/CTensor", "y")),
    add(codes.UNKNOWN_RESOURCE, ("/bindings/BTensor", "v")),
    add(codes.CONNECTION_COUNT, ("/bindings/BTensor", ["w", "w"])),
]


test_rejected = rejecting(REJECTED)


# --- What is accepted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dispatchable", "source"),
    [
        ({"type": "ELEMENT_WISE_ABS", "desc": ABS}, "/dispatchables/op/desc"),
        ({"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "Desc": ABS}, "/dispatchables/op/Desc"),
        ({"type": "ELEMENT_WISE_ABS", "desc": {}, "Desc": ABS}, "/dispatchables/op/Desc"),
        ({"type": "ELEMENT_WISE_ABS", **ABS}, "/dispatchables/op"),
        ({"type": "anything", "Type": "ELEMENT_WISE_ABS", "desc": ABS}, "/dispatchables/op/desc"),
        ({"type": "ELEMENT_WISE_ABS", "desc": ABS, "dmlCompileType": "DmlCompileGraph"}, "/dispatchables/op/desc"),
        ({"type": "ELEMENT_WISE_ABS", "desc": ABS, "executionFlags": "NONE", "note": ""}, "/dispatchables/op/desc"),
        (
            {
                "type": "ELEMENT_WISE_ABS",
                **ABS,
                "executionFlags": ["DISABLE_META_COMMANDS", "DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE"],
                "bindings": {},
            },
            "/dispatchables/op",
        ),
    ],
)
def test_spellings(dispatchable: Model, source: str, tmp_path: Path) -> None:
    command = {"type": "Dispatch", "dispatchable": "op", "bindings": {"InputTensor": "x", "OutputTensor": "y"}}
    graph = load_model(tmp_path, edited(DX, ("/dispatchables/op", dispatchable), ("/commands/0", command)))
    assert graph.findings == ()
    (node,) = graph.nodes
    assert (node.operator.type, node.source, node.name) == ("ELEMENT_WISE_ABS", source, "op")


def test_a_field_called_type(tmp_path: Path) -> None:
    """RANDOM_GENERATOR has one, which the collapsed form takes for the operator's type."""
    desc = {
        "InputStateTensor": {"DataType": "UINT32", "Sizes": [6]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [4]},
        "Type": "PHILOX_4X32_10",
    }
    model = edited(DX, ("/dispatchables/random", {"type": "RANDOM_GENERATOR", "desc": desc}))
    assert load_model(tmp_path, model).findings == ()
    collapsed = load_model(tmp_path, edited(DX, ("/dispatchables/random", {"type": "RANDOM_GENERATOR", **desc})))
    assert [(item.code, item.pointer) for item in collapsed.findings] == [
        (codes.UNKNOWN_OPERATOR.id, "/dispatchables/random/Type")
    ]


def test_mixed_ownership(tmp_path: Path) -> None:
    tensors = [f32(4), f32(4, Flags="OWNED_BY_DML")]
    desc = {"InputCount": 2, "InputTensors": tensors, "OutputTensor": f32(8), "Axis": 0}
    join = {"type": "JOIN", "desc": desc, "bindings": {"InputTensors": ["x", "w"]}}
    (finding,) = load_model(tmp_path, edited(DX, ("/dispatchables/join", join))).findings
    assert (finding.code, finding.field) == (codes.BOUND_AT_INITIALIZATION.id, "InputTensors")
