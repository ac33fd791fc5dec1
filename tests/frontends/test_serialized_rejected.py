"""Every mistake in serialized graphs."""

from __future__ import annotations

import struct
from pathlib import Path

from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions

from .models import REMOVE, Model, edited
from .partitions import FLOAT, PARTITION, attribute, load_partition, node, real, tensor, uint
from .rejections import changes_of, rejecting

F4 = tensor("FLOAT32", 4)
GEMM = node(
    "GEMM",
    [tensor("FLOAT32", 2, 2), tensor("FLOAT32", 2, 2)],
    [tensor("FLOAT32", 2, 2)],
    [uint("TransA", 0), uint("TransB", 1), real("Alpha", 1.0), real("Beta", 0.5), attribute(None, 1)],
    reads=["y", "y", ""],
    writes=["z"],
)
WITH_GEMM = edited(PARTITION, ("/nodes/-", GEMM), ("/outputs/-", "z"))


changed, gemm = changes_of(PARTITION), changes_of(WITH_GEMM)


def nested(depth: int) -> Model:
    """A GEMM with nested GEMMs as fused activations."""
    inner = attribute("FusedActivation", 1, nested(depth - 1)) if depth else attribute(None, 1)
    return {"type": "DML_OPERATOR_GEMM", "attributes": [*GEMM["attributes"][:4], inner]}


REJECTED = [
    changed(codes.MISSING_KEY, ("/nodes/1/name", "")),
    changed(codes.NODE_KIND, ("/nodes/2/code", 3), at="/nodes/2/desc"),
    changed(codes.NODE_KIND, ("/nodes/2/code", 0), at="/nodes/2/desc"),
    changed(codes.NODE_KIND, ("/nodes/2/detail", 3), at="/nodes/2/desc/data"),
    changed(codes.NO_DATA, ("/nodes/2/raw", b""), at="/nodes/2/desc/data"),
    changed(codes.NO_DATA, ("/nodes/2/raw", None), at="/nodes/2/desc/data"),
    changed(codes.MISSING_KEY, ("/nodes/0/constant", None), at="/nodes/0/desc/data/name"),
    changed(codes.MISSING_CONTENTS, ("/nodes/0/constant", "v"), at="/nodes/0/desc/data/name"),
    changed(codes.FILE_UNREADABLE, ("/nodes/0/constant", "a\0b"), at="/nodes/0/desc/data/name"),
    changed(codes.FILE_OUTSIDE, ("/nodes/0/constant", "../outside"), at="/nodes/0/desc/data/name"),
    changed(codes.TENSOR_COUNT, ("/nodes/2/outputNames/-", "b"), at="/nodes/2/outputNames/1"),
    changed([], ("/nodes/2/raw", b"\0")),
    changed(codes.EDGE_BYTES, ("/nodes/3/inputs/1", tensor("FLOAT32", 2, 2)), at="/nodes/3/inputNames/1"),
    changed(codes.UNKNOWN_OPERATOR, ("/nodes/1/operator", "DML_OPERATOR_ADD"), at="/nodes/1/desc/type"),
    changed(codes.UNKNOWN_OPERATOR, ("/nodes/1/operator", "ELEMENT_WISE_ADD1"), at="/nodes/1/desc/type"),
    changed(codes.MISSING_FIELD, ("/nodes/1/operator", None), at="/nodes/1/desc/type"),
    changed(codes.ENUMERATOR, ("/nodes/1/inputs/0/dataType", "FLOAT32"), at="/nodes/1/desc/ATensor/DataType"),
    changed(codes.MISSING_FIELD, ("/nodes/1/inputs/0/dataType", None), at="/nodes/1/desc/ATensor/DataType"),
    changed(codes.FIELD_RANGE, ("/nodes/1/inputs/0/total", 0), at="/nodes/1/desc/ATensor/TotalTensorSizeInBytes"),
    changed(codes.COUNT_MISMATCH, ("/nodes/1/inputs/0/strides", [1, 1]), at="/nodes/1/desc/ATensor/Strides"),
    changed(codes.TOO_MANY_SIZES, ("/nodes/1/inputs/0/sizes", [1] * 65), at="/nodes/1/desc/ATensor/Sizes"),
    changed(codes.TENSOR_COUNT, ("/nodes/1/inputs/1", REMOVE), at="/nodes/1/desc/BTensor"),
    changed(codes.TENSOR_COUNT, ("/nodes/1/inputs/-", F4), at="/nodes/1/desc/inputs"),
    changed(codes.TENSOR_COUNT, ("/nodes/1/outputNames/1", "more"), at="/nodes/1/desc/outputs"),
    changed(codes.UNCONNECTED_TENSOR, ("/nodes/1/inputNames/1", REMOVE)),
    changed(
        codes.MISSING_FIELD, ("/nodes/1/inputNames/1", ""), ("/nodes/1/inputs/1", REMOVE), at="/nodes/1/desc/BTensor"
    ),
    changed(codes.UNKNOWN_VALUE, ("/nodes/3/inputNames/1", "three")),
    changed(codes.NOT_YET_MADE, ("/nodes/3/inputNames/1", "y")),
    changed(codes.NOT_YET_MADE, ("/nodes/1/inputNames/1", "y")),
    changed(codes.EDGE_BYTES, ("/nodes/3/inputs/0", tensor("FLOAT32", 2, 3)), at="/nodes/3/inputNames/0"),
    changed(
        [(codes.DUPLICATE_NAME, "/nodes/3/outputNames/0"), (codes.UNKNOWN_VALUE, "/graphOutputNames/0")],
        ("/nodes/3/outputNames/0", "two"),
    ),
    changed(codes.DUPLICATE_NAME, ("/inputs/-", "x"), at="/graphInputNames/2"),
    changed(codes.UNUSED_GRAPH_INPUT, ("/inputs/-", "u"), at="/graphInputNames/2"),
    changed(codes.DUPLICATE_NAME, ("/outputs/-", "y"), at="/graphOutputNames/1"),
    changed(codes.UNKNOWN_VALUE, ("/outputs/-", "z"), at="/graphOutputNames/1"),
    changed(codes.INPUT_AS_OUTPUT, ("/outputs/-", "x"), at="/graphOutputNames/1"),
    changed(codes.CONSTANT_OUTPUT, ("/outputs/-", "two"), at="/graphOutputNames/1"),
    changed(codes.ATTRIBUTE_COUNT, ("/nodes/1/attributes", []), at="/nodes/1/desc/attributes"),
    changed(codes.ATTRIBUTE_COUNT, ("/nodes/3/attributes", [uint("Axis", 0)]), at="/nodes/3/desc/attributes"),
    gemm(codes.ATTRIBUTE_NAME, ("/nodes/4/attributes/2/name", "Beta"), at="/nodes/4/desc/Alpha"),
    gemm(codes.ATTRIBUTE_KIND, ("/nodes/4/attributes/2", uint("Alpha", 1)), at="/nodes/4/desc/Alpha"),
    gemm(codes.ATTRIBUTE_KIND, ("/nodes/4/attributes/2", attribute("Alpha", 14, FLOAT(1))), at="/nodes/4/desc/Alpha"),
    gemm(codes.MISSING_FIELD, ("/nodes/4/attributes/2", attribute(None, 6)), at="/nodes/4/desc/Alpha"),
    gemm(codes.ENUMERATOR, ("/nodes/4/attributes/0", uint("TransA", 2)), at="/nodes/4/desc/TransA"),
    gemm(
        codes.UNKNOWN_OPERATOR,
        ("/nodes/4/attributes/4", attribute("FusedActivation", 1, {"type": "ACTIVATION_RELU", "attributes": []})),
        at="/nodes/4/desc/FusedActivation/type",
    ),
    gemm(
        codes.MISSING_FIELD,
        ("/nodes/4/attributes/4", attribute("FusedActivation", 1, {"type": None, "attributes": []})),
        at="/nodes/4/desc/FusedActivation/type",
    ),
    gemm(
        codes.ATTRIBUTE_COUNT,
        (
            "/nodes/4/attributes/4",
            attribute("FusedActivation", 1, {"type": "DML_OPERATOR_ACTIVATION_ELU", "attributes": []}),
        ),
        at="/nodes/4/desc/FusedActivation/Desc/attributes",
    ),
    gemm(
        codes.NESTED_TOO_DEEP,
        ("/nodes/4/attributes/4", attribute("FusedActivation", 1, nested(9))),
        at="/nodes/4/desc/FusedActivation/Desc/FusedActivation/Desc/FusedActivation/Desc/FusedActivation/Desc/FusedActivation",
    ),
    changed(codes.UNKNOWN_OPTION_NAME, at="", options=LoadOptions(inputs=frozenset({"w"}))),
    changed(codes.NO_CONTENTS, at="", options=LoadOptions(constants=frozenset({"x"}))),
]


test_rejected = rejecting(REJECTED, load_partition)


def test_a_finding_says_where_in_the_file(tmp_path: Path) -> None:
    graph = load_partition(tmp_path, edited(WITH_GEMM, ("/nodes/4/attributes/0", uint("TransA", 2))))
    (finding,) = graph.findings
    assert (finding.node, finding.operator, finding.field) == ("gemm", "GEMM", "TransA")
    data = (tmp_path / "Partition_0.bin").read_bytes()
    place = int(finding.message.partition("(at byte ")[2].rstrip(")"))
    # The first field of the attribute's table is the offset of its name, TransA.
    vtable = place - struct.unpack_from("<i", data, place)[0]
    name = place + struct.unpack_from("<H", data, vtable + 4)[0]
    assert data[name + struct.unpack_from("<I", data, name)[0] + 4 :].startswith(b"TransA\0")
