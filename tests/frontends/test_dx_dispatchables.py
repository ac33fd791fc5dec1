"""DxDispatch dispatchables: every spelling, and every way to get it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dml2onnx.codes import reading as codes

from .models import DX, REMOVE, Model, edited, f32, load_model
from .rejections import Case, case, check

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.diagnostics import Code


ADD_DESC = "/dispatchables/add/desc"


def changed(name: str, changes: list[tuple[str, Any]], *findings: tuple[Code, str]) -> Case:
    return case(name, edited(DX, *changes), *findings)


REJECTED = [
    changed("dispatchable-kind", [("/dispatchables/add", 1)], (codes.WRONG_KIND, "/dispatchables/add")),
    changed("no-type", [("/dispatchables/add/type", REMOVE)], (codes.MISSING_KEY, "/dispatchables/add/type")),
    changed(
        "no-lower-type",
        [("/dispatchables/add/type", REMOVE), ("/dispatchables/add/Type", "ELEMENT_WISE_ADD1")],
        (codes.MISSING_KEY, "/dispatchables/add/type"),
    ),
    changed(
        "operator",
        [("/dispatchables/add/type", "ELEMENT_WISE_ADD2")],
        (codes.UNKNOWN_OPERATOR, "/dispatchables/add/type"),
    ),
    changed(
        "operator-case",
        [("/dispatchables/add/type", "element_wise_add1")],
        (codes.UNKNOWN_OPERATOR, "/dispatchables/add/type"),
    ),
    changed(
        "operator-upper",
        [("/dispatchables/add/Type", "ELEMENT_WISE_ADD2")],
        (codes.UNKNOWN_OPERATOR, "/dispatchables/add/Type"),
    ),
    changed("desc-kind", [(ADD_DESC, [])], (codes.WRONG_KIND, ADD_DESC)),
    changed(
        "slip-in-dispatchable", [("/dispatchables/add/binding", {})], (codes.IGNORED_KEY, "/dispatchables/add/binding")
    ),
    changed(
        "compile-type",
        [("/dispatchables/add/dmlCompileType", "DmlCompileGrap")],
        (codes.WRONG_KIND, "/dispatchables/add/dmlCompileType"),
    ),
    changed(
        "execution-flag",
        [("/dispatchables/add/executionFlags", "FAST")],
        (codes.ENUMERATOR, "/dispatchables/add/executionFlags"),
    ),
    changed(
        "execution-flags",
        [("/dispatchables/add/executionFlags", ["NONE", 1])],
        (codes.ENUMERATOR, "/dispatchables/add/executionFlags/1"),
    ),
    *(
        changed(kind, [("/dispatchables/add/type", kind)], (codes.UNSUPPORTED_DISPATCHABLE, "/dispatchables/add/type"))
        for kind in ("hlsl", "ONNX")
    ),
    changed(
        "newer",
        [
            (
                "/dispatchables/new",
                {
                    "type": "FOLD",
                    "desc": {
                        "InputTensor": f32(1, 1, 1),
                        "OutputTensor": f32(1, 1, 1),
                        "DimensionCount": 1,
                        "WindowSizes": [1],
                        "Strides": [1],
                        "Dilations": [1],
                        "StartPadding": [0],
                        "EndPadding": [0],
                    },
                },
            )
        ],
        (codes.NEWER_THAN_DXDISPATCH, "/dispatchables/new/type"),
    ),
    changed(
        "collapsed-graph",
        [
            (
                "/dispatchables/abs",
                {
                    "type": "ELEMENT_WISE_ABS",
                    "InputTensor": f32(1),
                    "OutputTensor": f32(1),
                    "dmlCompileType": "DmlCompileGraph",
                },
            )
        ],
        (codes.COLLAPSED_GRAPH, "/dispatchables/abs"),
    ),
    changed(
        "owned-not-bound",
        [("/dispatchables/add/bindings", {})],
        (codes.OWNED_NOT_BOUND, "/dispatchables/add/bindings/BTensor"),
    ),
    changed(
        "bindings-kind",
        [("/dispatchables/add/bindings", [])],
        (codes.WRONG_KIND, "/dispatchables/add/bindings"),
    ),
    changed(
        "bound-at-initialization",
        [("/dispatchables/add/bindings/ATensor", "x")],
        (codes.BOUND_AT_INITIALIZATION, "/dispatchables/add/bindings/ATensor"),
    ),
    changed(
        "initialization-output",
        [("/dispatchables/add/bindings/OutputTensor", "y")],
        (codes.IGNORED_BINDING, "/dispatchables/add/bindings/OutputTensor"),
    ),
    changed(
        "initialization-unknown",
        [("/dispatchables/add/bindings/CTensor", "y")],
        (codes.IGNORED_BINDING, "/dispatchables/add/bindings/CTensor"),
    ),
    changed(
        "initialization-resource",
        [("/dispatchables/add/bindings/BTensor", "v")],
        (codes.UNKNOWN_RESOURCE, "/dispatchables/add/bindings/BTensor"),
    ),
    changed(
        "initialization-count",
        [("/dispatchables/add/bindings/BTensor", ["w", "w"])],
        (codes.CONNECTION_COUNT, "/dispatchables/add/bindings/BTensor"),
    ),
]


@pytest.mark.parametrize("rejected", REJECTED, ids=lambda item: item.name)
def test_rejected(rejected: Case, directory: Path) -> None:
    check(rejected, directory)


# --- What is accepted -------------------------------------------------------------------------------------------------

ABS = {"InputTensor": f32(4), "OutputTensor": f32(4)}


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
    """RANDOM_GENERATOR has one, which the collapsed form cannot hold beside the operator's."""
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
    desc = {
        "InputCount": 2,
        "InputTensors": [f32(4), f32(4, Flags="OWNED_BY_DML")],
        "OutputTensor": f32(8),
        "Axis": 0,
    }
    join = {"type": "JOIN", "desc": desc, "bindings": {"InputTensors": ["x", "w"]}}
    (finding,) = load_model(tmp_path, edited(DX, ("/dispatchables/join", join))).findings
    assert (finding.code, finding.field) == (codes.BOUND_AT_INITIALIZATION.id, "InputTensors")
