"""Every way to get a serialized graph wrong."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code
from dml2onnx.frontends import LoadOptions

from .models import REMOVE, Model, edited
from .partitions import (
    FLOAT,
    PARTITION,
    attribute,
    load_partition,
    real,
    tensor,
    uint,
)

if TYPE_CHECKING:
    from pathlib import Path


ADD, MUL = "/nodes/1", "/nodes/3"
F4 = tensor("FLOAT32", 4)


class Case(NamedTuple):
    """A graph and its findings, as (code, pointer)."""

    name: str
    model: Model
    findings: tuple[tuple[Code, str], ...]
    options: LoadOptions | None = None


def changed(
    name: str, changes: list[tuple[str, Any]], *findings: tuple[Code, str], options: LoadOptions | None = None
) -> Case:
    return Case(name, edited(PARTITION, *changes), findings, options)


GEMM: Model = {
    "name": "gemm",
    "operator": "DML_OPERATOR_GEMM",
    "inputs": [tensor("FLOAT32", 2, 2), tensor("FLOAT32", 2, 2)],
    "outputs": [tensor("FLOAT32", 2, 2)],
    "attributes": [
        uint("TransA", 0),
        uint("TransB", 1),
        real("Alpha", 1.0),
        real("Beta", 0.5),
        attribute(None, 1),
    ],
    "inputNames": ["y", "y", ""],
    "outputNames": ["z"],
}
WITH_GEMM = edited(PARTITION, ("/nodes/-", GEMM), ("/outputs/-", "z"))


def gemm(name: str, changes: list[tuple[str, Any]], *findings: tuple[Code, str]) -> Case:
    return Case(name, edited(WITH_GEMM, *changes), findings)


def nested(depth: int) -> Model:
    """A GEMM fused into itself, again and again."""
    inner = attribute("FusedActivation", 1, nested(depth - 1)) if depth else attribute(None, 1)
    return {"type": "DML_OPERATOR_GEMM", "attributes": [*GEMM["attributes"][:4], inner]}


G4 = "/nodes/4/desc"

REJECTED = [
    changed("no-name", [("/nodes/1/name", "")], (codes.MISSING_KEY, ADD + "/name")),
    changed("node-kind", [("/nodes/2/code", 3)], (codes.NODE_KIND, "/nodes/2/desc")),
    changed("no-kind", [("/nodes/2/code", 0)], (codes.NODE_KIND, "/nodes/2/desc")),
    changed("constant-kind", [("/nodes/2/detail", 3)], (codes.NODE_KIND, "/nodes/2/desc/data")),
    changed("constant-empty", [("/nodes/2/raw", b"")], (codes.NO_DATA, "/nodes/2/desc/data")),
    changed("constant-nothing", [("/nodes/2/raw", None)], (codes.NO_DATA, "/nodes/2/desc/data")),
    changed("constant-unnamed", [("/nodes/0/constant", None)], (codes.MISSING_KEY, "/nodes/0/desc/data/name")),
    changed("constant-no-file", [("/nodes/0/constant", "v")], (codes.MISSING_CONTENTS, "/nodes/0/desc/data/name")),
    changed("constant-zero", [("/nodes/0/constant", "a\0b")], (codes.FILE_UNREADABLE, "/nodes/0/desc/data/name")),
    changed("constant-outside", [("/nodes/0/constant", "../outside")], (codes.FILE_OUTSIDE, "/nodes/0/desc/data/name")),
    changed("constant-outputs", [("/nodes/2/outputNames/-", "b")], (codes.TENSOR_COUNT, "/nodes/2/outputNames/1")),
    changed("constant-short", [("/nodes/2/raw", b"\0")]),
    changed(
        "constant-too-short",
        [("/nodes/3/inputs/1", tensor("FLOAT32", 2, 2))],
        (codes.EDGE_BYTES, MUL + "/inputNames/1"),
    ),
    changed("operator", [("/nodes/1/operator", "DML_OPERATOR_ADD")], (codes.UNKNOWN_OPERATOR, ADD + "/desc/type")),
    changed(
        "operator-short", [("/nodes/1/operator", "ELEMENT_WISE_ADD1")], (codes.UNKNOWN_OPERATOR, ADD + "/desc/type")
    ),
    changed("operator-missing", [("/nodes/1/operator", None)], (codes.MISSING_FIELD, ADD + "/desc/type")),
    changed(
        "data-type", [("/nodes/1/inputs/0/dataType", "FLOAT32")], (codes.ENUMERATOR, ADD + "/desc/ATensor/DataType")
    ),
    changed(
        "no-data-type", [("/nodes/1/inputs/0/dataType", None)], (codes.MISSING_FIELD, ADD + "/desc/ATensor/DataType")
    ),
    changed(
        "total",
        [("/nodes/1/inputs/0/total", 0)],
        (codes.FIELD_RANGE, ADD + "/desc/ATensor/TotalTensorSizeInBytes"),
    ),
    changed("strides", [("/nodes/1/inputs/0/strides", [1, 1])], (codes.COUNT_MISMATCH, ADD + "/desc/ATensor/Strides")),
    changed("sizes", [("/nodes/1/inputs/0/sizes", [1] * 65)], (codes.TOO_MANY_SIZES, ADD + "/desc/ATensor/Sizes")),
    changed("descriptor-missing", [("/nodes/1/inputs/1", REMOVE)], (codes.TENSOR_COUNT, ADD + "/desc/BTensor")),
    changed("descriptor-surplus", [("/nodes/1/inputs/-", F4)], (codes.TENSOR_COUNT, ADD + "/desc/inputs")),
    changed("name-surplus", [("/nodes/1/outputNames/1", "more")], (codes.TENSOR_COUNT, ADD + "/desc/outputs")),
    changed(
        "name-missing",
        [("/nodes/1/inputNames/1", REMOVE)],
        (codes.UNCONNECTED_TENSOR, ADD + "/inputNames/1"),
    ),
    changed(
        "tensor-missing",
        [("/nodes/1/inputNames/1", ""), ("/nodes/1/inputs/1", REMOVE)],
        (codes.MISSING_FIELD, ADD + "/desc/BTensor"),
    ),
    changed("unknown", [("/nodes/3/inputNames/1", "three")], (codes.UNKNOWN_VALUE, MUL + "/inputNames/1")),
    changed("itself", [("/nodes/3/inputNames/1", "y")], (codes.NOT_YET_MADE, MUL + "/inputNames/1")),
    changed("later", [("/nodes/1/inputNames/1", "y")], (codes.NOT_YET_MADE, ADD + "/inputNames/1")),
    changed("larger", [("/nodes/3/inputs/0", tensor("FLOAT32", 2, 3))], (codes.EDGE_BYTES, MUL + "/inputNames/0")),
    changed(
        "name-again",
        [("/nodes/3/outputNames/0", "two")],
        (codes.DUPLICATE_NAME, MUL + "/outputNames/0"),
        (codes.UNKNOWN_VALUE, "/graphOutputNames/0"),
    ),
    changed("input-again", [("/inputs/-", "x")], (codes.DUPLICATE_NAME, "/graphInputNames/2")),
    changed("input-unused", [("/inputs/-", "u")], (codes.UNUSED_GRAPH_INPUT, "/graphInputNames/2")),
    changed("output-again", [("/outputs/-", "y")], (codes.DUPLICATE_NAME, "/graphOutputNames/1")),
    changed("output-unknown", [("/outputs/-", "z")], (codes.UNKNOWN_VALUE, "/graphOutputNames/1")),
    changed("output-of-input", [("/outputs/-", "x")], (codes.INPUT_AS_OUTPUT, "/graphOutputNames/1")),
    changed("output-of-constant", [("/outputs/-", "two")], (codes.CONSTANT_OUTPUT, "/graphOutputNames/1")),
    changed(
        "attribute-count",
        [("/nodes/1/attributes", [])],
        (codes.ATTRIBUTE_COUNT, ADD + "/desc/attributes"),
    ),
    changed(
        "attribute-surplus",
        [("/nodes/3/attributes", [uint("Axis", 0)])],
        (codes.ATTRIBUTE_COUNT, MUL + "/desc/attributes"),
    ),
    gemm("attribute-name", [("/nodes/4/attributes/2/name", "Beta")], (codes.ATTRIBUTE_NAME, G4 + "/Alpha")),
    gemm("attribute-kind", [("/nodes/4/attributes/2", uint("Alpha", 1))], (codes.ATTRIBUTE_KIND, G4 + "/Alpha")),
    gemm(
        "attribute-no-kind",
        [("/nodes/4/attributes/2", attribute("Alpha", 14, FLOAT(1)))],
        (codes.ATTRIBUTE_KIND, G4 + "/Alpha"),
    ),
    gemm("attribute-absent", [("/nodes/4/attributes/2", attribute(None, 6))], (codes.MISSING_FIELD, G4 + "/Alpha")),
    gemm("enumerator", [("/nodes/4/attributes/0", uint("TransA", 2))], (codes.ENUMERATOR, G4 + "/TransA")),
    gemm(
        "activation",
        [("/nodes/4/attributes/4", attribute("FusedActivation", 1, {"type": "ACTIVATION_RELU", "attributes": []}))],
        (codes.UNKNOWN_OPERATOR, G4 + "/FusedActivation/type"),
    ),
    gemm(
        "activation-untyped",
        [("/nodes/4/attributes/4", attribute("FusedActivation", 1, {"type": None, "attributes": []}))],
        (codes.MISSING_FIELD, G4 + "/FusedActivation/type"),
    ),
    gemm(
        "activation-attribute",
        [
            (
                "/nodes/4/attributes/4",
                attribute("FusedActivation", 1, {"type": "DML_OPERATOR_ACTIVATION_ELU", "attributes": []}),
            )
        ],
        (codes.ATTRIBUTE_COUNT, G4 + "/FusedActivation/Desc/attributes"),
    ),
    gemm(
        "activation-depth",
        [("/nodes/4/attributes/4", attribute("FusedActivation", 1, nested(9)))],
        (codes.NESTED_TOO_DEEP, G4 + "/FusedActivation" + "/Desc/FusedActivation" * 4),
    ),
    changed(
        "option",
        [],
        (codes.UNKNOWN_OPTION_NAME, ""),
        options=LoadOptions(inputs=frozenset({"w"})),
    ),
    changed("option-constant", [], (codes.NO_CONTENTS, ""), options=LoadOptions(constants=frozenset({"x"}))),
]


@pytest.mark.parametrize("rejected", REJECTED, ids=lambda item: item.name)
def test_rejected(rejected: Case, tmp_path: Path) -> None:
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    directory = tmp_path / "model"
    directory.mkdir()
    graph = load_partition(directory, rejected.model, rejected.options)
    found = [(item.code, item.pointer) for item in graph.findings]
    assert found == [(code.id, place) for code, place in rejected.findings], "\n".join(map(str, graph.findings))
    for finding in graph.findings:
        assert str(finding).isprintable()


def test_a_finding_says_where_in_the_file(tmp_path: Path) -> None:
    graph = load_partition(tmp_path, edited(WITH_GEMM, ("/nodes/4/attributes/0", uint("TransA", 2))))
    (finding,) = graph.findings
    assert (finding.node, finding.operator, finding.field) == ("gemm", "GEMM", "TransA")
    data = (tmp_path / "Partition_0.bin").read_bytes()
    place = int(finding.message.partition("(at byte ")[2].rstrip(")"))
    # the table of the attribute: the offset of its name leads to TransA
    vtable = place - struct.unpack_from("<i", data, place)[0]
    name = place + struct.unpack_from("<H", data, vtable + 4)[0]
    assert data[name + struct.unpack_from("<I", data, name)[0] + 4 :].startswith(b"TransA\0")
