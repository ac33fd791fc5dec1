"""Every way to get the native format wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dml2onnx.codes import checking
from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions

from .models import NATIVE, REMOVE, Model, edited, f32
from .rejections import Case, case, check

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.diagnostics import Code


N0, D0 = "/nodes/0", "/nodes/0/desc"


H = N0 + "/outputs/OutputTensor"
WITHOUT_H: list[tuple[str, Any]] = [("/nodes/1/inputs/InputTensors/0", "x"), ("/outputs", ["a"])]
PRINT: Model = {"type": "print", "value": "y"}
JOINED: list[tuple[str, Any]] = [("/nodes/1/desc/InputTensors", [f32(4), f32(4)])]
BUFFER: list[tuple[str, Any]] = [("/inputs/x", {"bytes": 16}), (D0 + "/ATensor", f32(4)), *JOINED]
"""An input without a tensor of its own, and readers that say what they see."""


def nested_activations(depth: int) -> Model:
    desc: Model = {"Type": "ELEMENT_WISE_ADD1"}
    return {**desc, "FusedActivation": nested_activations(depth - 1)} if depth else desc


def changed(name: str, changes: list[tuple[str, Any]], *findings: tuple[Code, str]) -> Case:
    return case(name, edited(NATIVE, *changes), *findings)


REJECTED = [
    changed("member", [("/node", [])], (codes.UNKNOWN_KEY, "/node")),
    changed("node-member", [(N0 + "/Inputs", {})], (codes.UNKNOWN_KEY, N0 + "/Inputs")),
    changed("no-nodes", [("/nodes", REMOVE), ("/outputs", [])], (codes.MISSING_KEY, "/nodes")),
    changed("no-outputs", [("/outputs", REMOVE)], (codes.MISSING_KEY, "/outputs")),
    changed("outputs-kind", [("/outputs", "y")], (codes.WRONG_KIND, "/outputs")),
    changed("output-kind", [("/outputs/0", 1)], (codes.WRONG_KIND, "/outputs/0")),
    changed("output-unknown", [("/outputs/0", "hh")], (codes.UNKNOWN_VALUE, "/outputs/0")),
    changed("output-twice", [("/outputs", ["h", "h"])], (codes.DUPLICATE_NAME, "/outputs/1")),
    changed("node-kind", [("/nodes/-", 1)], (codes.WRONG_KIND, "/nodes/3")),
    changed("node-name", [(N0 + "/name", 1)], (codes.WRONG_KIND, N0 + "/name")),
    changed("level", [("/feature_level", "5_9")], (codes.UNKNOWN_FEATURE_LEVEL, "/feature_level")),
    changed("level-kind", [("/feature_level", 5.0)], (codes.WRONG_KIND, "/feature_level")),
    changed("twice", [("/constants/x", f32(1, fill=0))], (codes.DUPLICATE_NAME, "/constants/x")),
    changed(
        "output-name-twice",
        [("/nodes/1/outputs/OutputTensor", "h"), ("/nodes/2/inputs/InputTensor", "h")],
        (codes.DUPLICATE_NAME, "/nodes/1/outputs/OutputTensor"),
    ),
    changed("unknown-value", [(N0 + "/inputs/ATensor", "z")], (codes.UNKNOWN_VALUE, N0 + "/inputs/ATensor")),
    changed(
        "unknown-element",
        [("/nodes/1/inputs/InputTensors/1/value", "z")],
        (codes.UNKNOWN_VALUE, "/nodes/1/inputs/InputTensors/1"),
    ),
    changed("source-kind", [(N0 + "/inputs/ATensor", 1)], (codes.WRONG_KIND, N0 + "/inputs/ATensor")),
    changed(
        "source-array", [("/nodes/1/inputs/InputTensors", "h")], (codes.WRONG_KIND, "/nodes/1/inputs/InputTensors")
    ),
    changed(
        "source-member",
        [("/nodes/1/inputs/InputTensors/1/of", 1)],
        (codes.UNKNOWN_KEY, "/nodes/1/inputs/InputTensors/1/of"),
    ),
    changed(
        "source-offset",
        [("/nodes/1/inputs/InputTensors/1/offset", -1)],
        (codes.WRONG_KIND, "/nodes/1/inputs/InputTensors/1/offset"),
    ),
    changed(
        "source-nothing",
        [("/nodes/1/inputs/InputTensors/1", {})],
        (codes.MISSING_KEY, "/nodes/1/inputs/InputTensors/1/value"),
    ),
    changed("no-input", [(N0 + "/inputs/BTensor", REMOVE)], (codes.MISSING_FIELD, N0 + "/inputs/BTensor")),
    changed(
        "unconnected",
        [(N0 + "/inputs/BTensor", None), (D0 + "/BTensor", f32(4))],
        (codes.UNCONNECTED_TENSOR, D0 + "/BTensor"),
    ),
    changed("input-unknown", [(N0 + "/inputs/CTensor", "x")], (codes.UNKNOWN_TENSOR, N0 + "/inputs/CTensor")),
    changed("output-unknown-tensor", [(N0 + "/outputs/Output", "q")], (codes.UNKNOWN_TENSOR, N0 + "/outputs/Output")),
    changed(
        "output-as-input", [(N0 + "/inputs/OutputTensor", "x")], (codes.UNKNOWN_TENSOR, N0 + "/inputs/OutputTensor")
    ),
    changed(
        "output-name",
        [(N0 + "/outputs/OutputTensor", 1), ("/nodes/1/inputs/InputTensors/0", "x"), ("/outputs", ["a"])],
        (codes.WRONG_KIND, N0 + "/outputs/OutputTensor"),
    ),
    changed(
        "output-array",
        [("/nodes/2/outputs/OutputTensors", "a"), ("/outputs", ["h"])],
        (codes.WRONG_KIND, "/nodes/2/outputs/OutputTensors"),
        (codes.CONNECTION_COUNT, "/nodes/2/outputs/OutputTensors"),
    ),
    changed(
        "outputs-count",
        [("/nodes/2/outputs/OutputTensors/-", "b")],
        (codes.CONNECTION_COUNT, "/nodes/2/outputs/OutputTensors"),
    ),
    changed(
        "inputs-count",
        [("/nodes/1/desc/InputTensors", [f32(4)])],
        (codes.CONNECTION_COUNT, "/nodes/1/inputs/InputTensors"),
    ),
    changed(
        "no-outputs-of-node",
        [(N0 + "/outputs", REMOVE), ("/nodes/1/inputs/InputTensors/0", "x"), ("/outputs", ["a"])],
        (codes.MISSING_KEY, N0 + "/outputs"),
    ),
    changed("no-desc", [("/nodes/1/desc", REMOVE)], (codes.MISSING_KEY, "/nodes/1/desc")),
    changed(
        "undescribed-output",
        [
            (
                "/nodes/2",
                {
                    "name": "fill",
                    "type": "FILL_VALUE_CONSTANT",
                    "desc": {"ValueDataType": "FLOAT32", "Value": 1},
                    "outputs": {"OutputTensor": "a"},
                },
            )
        ],
        (codes.MISSING_FIELD, "/nodes/2/desc/OutputTensor"),
    ),
    changed("operator", [(N0 + "/type", "ELEMENT_WISE_AD")], (codes.UNKNOWN_OPERATOR, N0 + "/type")),
    changed("operator-kind", [(N0 + "/type", 1)], (codes.UNKNOWN_OPERATOR, N0 + "/type")),
    changed("no-operator", [(N0 + "/type", REMOVE)], (codes.MISSING_KEY, N0 + "/type")),
    changed("field", [(D0 + "/ScaleBais", None)], (codes.UNKNOWN_FIELD, D0 + "/ScaleBais")),
    changed(
        "unreadable-output",
        [(D0 + "/OutputTensor/DataType", "FLOAT8")],
        (codes.ENUMERATOR, D0 + "/OutputTensor/DataType"),
    ),
    changed(
        "nested-tensor",
        [(D0 + "/FusedActivation/InputTensor", f32(4))],
        (codes.NESTED_TENSOR, D0 + "/FusedActivation/InputTensor"),
    ),
    changed(
        "nested-deep",
        [(D0 + "/FusedActivation", nested_activations(20))],
        (codes.NESTED_TOO_DEEP, D0 + "/FusedActivation" * 5),
    ),
    changed(
        "inputs-kind",
        [("/inputs", [])],
        (codes.WRONG_KIND, "/inputs"),
    ),
    changed("type-of-another", [(N0 + "/type", "CONVOLUTION")], (codes.OTHER_OPERATOR, N0 + "/type")),
    changed("input-kind", [("/inputs/x", 1)], (codes.WRONG_KIND, "/inputs/x")),
    changed("input-member", [("/inputs/x/Size", 1)], (codes.UNKNOWN_KEY, "/inputs/x/Size")),
    changed("no-contents", [("/constants/w/values", REMOVE)], (codes.DATA_SOURCE, "/constants/w")),
    changed("two-contents", [("/constants/w/fill", 1)], (codes.DATA_SOURCE, "/constants/w")),
    changed("offset-of-values", [("/constants/w/offset", 1)], (codes.UNKNOWN_KEY, "/constants/w/offset")),
    changed("too-few", [("/constants/w/values", [1, 2, 3])], (codes.WRONG_VALUE_COUNT, "/constants/w/values")),
    changed("nesting", [("/constants/w/values", [[1, 2], [3]])], (codes.WRONG_VALUE_COUNT, "/constants/w/values")),
    changed("values-kind", [("/constants/w/values", 1)], (codes.WRONG_KIND, "/constants/w/values")),
    changed("value", [("/constants/w/values", [1, 2, None, 4])], (codes.BAD_VALUE, "/constants/w/values/2")),
    changed(
        "nested-value",
        [
            ("/constants/w", {"DataType": "INT8", "Sizes": [2, 2], "values": [[1, 2], [3, 128]]}),
            (D0 + "/BTensor", f32(1)),
        ],
        (codes.BAD_VALUE, "/constants/w/values/1/1"),
    ),
    changed(
        "fill",
        [("/constants/w", {"DataType": "UINT4", "Sizes": [4], "fill": 16})],
        (codes.BAD_VALUE, "/constants/w/fill"),
    ),
    changed("empty", [("/constants/w", f32(4, values=[]))], (codes.WRONG_VALUE_COUNT, "/constants/w/values")),
    changed("no-elements", [("/inputs/x", f32(1, 0))], (checking.ZERO_SIZE, "/inputs/x/Sizes/1")),
    changed(
        "constant-without-elements",
        [("/constants/w", f32(0, values=[]))],
        (checking.ZERO_SIZE, "/constants/w/Sizes/0"),
    ),
    changed("no-dimensions", [("/inputs/x", f32())], (checking.DIMENSION_COUNT_LIMIT, "/inputs/x/Sizes")),
    changed(
        "beyond-range",
        [("/constants/w", f32(4, values=[1, "inf", 1e39, 1]))],
        (codes.BEYOND_RANGE, "/constants/w/values/2"),
    ),
    changed("fill-beyond-range", [("/constants/w", f32(4, fill=1e39))], (codes.BEYOND_RANGE, "/constants/w/fill")),
    case("option-constant", NATIVE, (codes.UNKNOWN_OPTION_NAME, ""), options=LoadOptions(inputs=frozenset({"w"}))),
    changed("empty-npy", [("/constants/w", {"file": "empty.npy"})], (codes.NO_DATA, "/constants/w/file")),
    changed("file-kind", [("/constants/w", f32(4, file=1))], (codes.WRONG_KIND, "/constants/w/file")),
    changed("file-missing", [("/constants/w", f32(4, file="none.bin"))], (codes.FILE_UNREADABLE, "/constants/w/file")),
    changed("file-directory", [("/constants/w", f32(4, file="sub"))], (codes.FILE_UNREADABLE, "/constants/w/file")),
    changed("file-nul", [("/constants/w", f32(4, file="a\0b"))], (codes.FILE_UNREADABLE, "/constants/w/file")),
    changed(
        "declared-size",
        [
            ("/inputs/x/TotalTensorSizeInBytes", 12),
            ("/nodes/0/desc/ATensor", f32(4)),
            ("/nodes/1/desc/InputTensors", [f32(4), f32(4)]),
        ],
        (checking.TOTAL_SIZE_TOO_SMALL, "/inputs/x/TotalTensorSizeInBytes"),
    ),
    changed(
        "declared-size-of-a-constant",
        [("/constants/w/TotalTensorSizeInBytes", 12), ("/nodes/0/desc/BTensor", f32(4))],
        (checking.TOTAL_SIZE_TOO_SMALL, "/constants/w/TotalTensorSizeInBytes"),
    ),
    changed(
        "seen-size",
        [("/outputs/0", {"value": "h", **f32(4, TotalTensorSizeInBytes=8)})],
        (checking.TOTAL_SIZE_TOO_SMALL, "/outputs/0/TotalTensorSizeInBytes"),
    ),
    changed("file-long", [("/constants/w", f32(4, file="a" * 5000))], (codes.FILE_UNREADABLE, "/constants/w/file")),
    changed(
        "file-outside", [("/constants/w", f32(4, file="../outside.bin"))], (codes.FILE_OUTSIDE, "/constants/w/file")
    ),
    changed("file-absolute", [("/constants/w", f32(4, file="/etc/passwd"))], (codes.FILE_OUTSIDE, "/constants/w/file")),
    changed("file-link", [("/constants/w", f32(4, file="link.bin"))], (codes.FILE_OUTSIDE, "/constants/w/file")),
    changed("file-loop", [("/constants/w", f32(4, file="loop"))], (codes.FILE_UNREADABLE, "/constants/w/file")),
    changed("file-long", [("/constants/w", f32(4, file="more.bin"))], (codes.FILE_TOO_LONG, "/constants/w/file")),
    changed("file-trailing", [("/constants/w", {"file": "trailing.npy"})], (codes.FILE_TOO_LONG, "/constants/w/file")),
    changed("file-pointer", [("/constants/w", f32(4, file="pointer.bin"))], (codes.LFS_POINTER, "/constants/w/file")),
    changed(
        "file-short", [("/constants/w", f32(4, file="data.bin", offset=1))], (codes.FILE_TOO_SHORT, "/constants/w/file")
    ),
    changed(
        "file-length",
        [("/constants/w", f32(4, file="data.bin", length=15))],
        (codes.FILE_TOO_SHORT, "/constants/w/file"),
    ),
    changed("npy-type", [("/constants/w", f32(4, file="i32.npy"))], (codes.WRONG_VALUE_COUNT, "/constants/w/file")),
    changed(
        "npy-offset", [("/constants/w", {"file": "f32.npy", "offset": 8})], (codes.UNKNOWN_KEY, "/constants/w/offset")
    ),
    changed("npy-no-magic", [("/constants/w", {"file": "fake.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-cut", [("/constants/w", {"file": "cut.npy"})], (codes.FILE_TOO_SHORT, "/constants/w/file")),
    changed("npy-order", [("/constants/w", {"file": "columns.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-endian", [("/constants/w", {"file": "big.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-complex", [("/constants/w", {"file": "complex.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-structured", [("/constants/w", {"file": "structured.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-version", [("/constants/w", {"file": "version.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-header", [("/constants/w", {"file": "header.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-long-header", [("/constants/w", {"file": "long.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("npy-shape", [("/constants/w", {"file": "shape.npy"})], (codes.BAD_NPY, "/constants/w/file")),
    changed("target-member", [(H, {"value": "h", "of": 1})], (codes.UNKNOWN_KEY, H + "/of")),
    changed("target-nothing", [(H, {"base": "x"}), *WITHOUT_H], (codes.MISSING_KEY, H + "/value")),
    changed("target-value", [(H, {"value": 1}), *WITHOUT_H], (codes.WRONG_KIND, H + "/value")),
    changed("target-offset", [(H, {"value": "h", "offset": -1})], (codes.WRONG_KIND, H + "/offset")),
    changed("target-bytes", [(H, {"value": "h", "bytes": "16"})], (codes.WRONG_KIND, H + "/bytes")),
    changed("target-twice", [(H, {"value": "x"}), *WITHOUT_H], (codes.DUPLICATE_NAME, H)),
    changed("base-unknown", [(H, {"value": "h", "base": "z"})], (codes.UNKNOWN_VALUE, H + "/base")),
    changed("base-itself", [(H, {"value": "h", "base": "h"})], (codes.NOT_YET_MADE, H + "/base")),
    changed(
        "base-later-output",
        [("/nodes/2/outputs/OutputTensors", [{"value": "a", "base": "b", "bytes": 64}, {"value": "b", "bytes": 64}])],
        (codes.NOT_YET_MADE, "/nodes/2/outputs/OutputTensors/0/base"),
    ),
    changed(
        "output-view", [("/outputs/0", {"value": "h", "Sizes": [4]})], (codes.MISSING_FIELD, "/outputs/0/DataType")
    ),
    changed(
        "output-view-member",
        [("/outputs/0", {"value": "h", **f32(4), "of": 1})],
        (codes.UNKNOWN_FIELD, "/outputs/0/of"),
    ),
    changed(
        "output-view-empty", [("/outputs/0", {"value": "h", **f32(0)})], (checking.ZERO_SIZE, "/outputs/0/Sizes/0")
    ),
    changed("output-view-unknown", [("/outputs/0", {"value": "hh"})], (codes.UNKNOWN_VALUE, "/outputs/0/value")),
    changed("output-view-nothing", [("/outputs/0", f32(4))], (codes.MISSING_KEY, "/outputs/0/value")),
    changed("output-of-a-buffer", [*BUFFER, ("/outputs/-", "x")], (codes.MISSING_FIELD, "/outputs/2")),
    changed("results-kind", [("/results", "y")], (codes.WRONG_KIND, "/results")),
    changed("results-unknown", [("/results", {"y": "q"})], (codes.UNKNOWN_VALUE, "/results/y")),
    changed("results-twice", [("/results", ["y", {"value": "y"}])], (codes.DUPLICATE_NAME, "/results/1")),
    changed("commands-kind", [("/commands", {})], (codes.WRONG_KIND, "/commands")),
    changed("command-kind", [("/commands", ["y"])], (codes.WRONG_KIND, "/commands/0")),
    changed("no-command", [("/commands", [{"value": "y"}])], (codes.MISSING_KEY, "/commands/0/type")),
    changed("command", [("/commands", [{"type": "show", "value": "y"}])], (codes.UNKNOWN_COMMAND, "/commands/0/type")),
    changed("command-value", [("/commands", [{"type": "print"}])], (codes.MISSING_KEY, "/commands/0/value")),
    changed("command-unknown", [("/commands", [{**PRINT, "value": "q"}])], (codes.UNKNOWN_VALUE, "/commands/0/value")),
    changed("command-flag", [("/commands", [{**PRINT, "verbose": 1}])], (codes.WRONG_KIND, "/commands/0/verbose")),
    changed(
        "command-member",
        [("/commands", [{**PRINT, **f32(8), "targetPath": "y"}])],
        (codes.UNKNOWN_FIELD, "/commands/0/targetPath"),
    ),
    changed(
        "command-path",
        [("/commands", [{"type": "writeFile", "value": "y"}])],
        (codes.MISSING_KEY, "/commands/0/targetPath"),
    ),
    changed(
        "command-dimensions",
        [("/commands", [{"type": "writeFile", "value": "y", "targetPath": "y", "dimensions": [8, -1]}])],
        (codes.WRONG_KIND, "/commands/0/dimensions/1"),
    ),
    changed("buffer-unseen", [("/inputs/x", {"bytes": 16}), *JOINED], (codes.MISSING_FIELD, D0 + "/ATensor")),
    changed(
        "buffer-unseen-array",
        [("/inputs/x", {"bytes": 16}), (D0 + "/ATensor", f32(4))],
        (codes.MISSING_FIELD, "/nodes/1/desc/InputTensors"),
    ),
    changed("buffer-of-nothing", [("/inputs/x/bytes", 0)], (codes.WRONG_KIND, "/inputs/x/bytes")),
    changed("buffer-kind", [("/inputs/x/bytes", "16")], (codes.WRONG_KIND, "/inputs/x/bytes")),
    changed("buffer-name", [("/inputs/x/name", 1)], (codes.WRONG_KIND, "/inputs/x/name")),
    changed(
        "buffer-type",
        [*BUFFER, ("/inputs/x", {"bytes": 16, "DataType": "INT8"})],
        (codes.UNKNOWN_KEY, "/inputs/x/DataType"),
    ),
    changed(
        "buffer-strides",
        [*BUFFER, ("/inputs/x", {"bytes": 16, "fill": 1, "Strides": [1]})],
        (codes.UNKNOWN_KEY, "/inputs/x/Strides"),
    ),
    changed(
        "buffer-element",
        [*BUFFER, ("/inputs/x", {"bytes": 16, "DataType": "FLOAT8", "fill": 1})],
        (codes.ENUMERATOR, "/inputs/x/DataType"),
    ),
    changed(
        "buffer-too-small",
        [*BUFFER, ("/inputs/x", {"bytes": 2, "DataType": "FLOAT32", "fill": 1})],
        (codes.WRONG_VALUE_COUNT, "/inputs/x/bytes"),
    ),
    changed(
        "buffer-values",
        [*BUFFER, ("/inputs/x", {"bytes": 16, "DataType": "FLOAT32", "values": [1, 2, 3]})],
        (codes.WRONG_VALUE_COUNT, "/inputs/x/values"),
    ),
    changed("buffer-smaller", [("/constants/w/bytes", 8)], (codes.WRONG_VALUE_COUNT, "/constants/w/bytes")),
    changed(
        "buffer-smaller-file",
        [("/constants/w", f32(4, file="data.bin", bytes=8))],
        (codes.WRONG_VALUE_COUNT, "/constants/w/bytes"),
    ),
    changed(
        "buffer-smaller-npy",
        [("/constants/w", {"file": "f32.npy", "bytes": 8}), (D0 + "/BTensor", f32(1))],
        (codes.WRONG_VALUE_COUNT, "/constants/w/bytes"),
    ),
    case("freeze", NATIVE, (codes.NOTHING_FROZEN, ""), options=LoadOptions(freeze=True)),
    case("option", NATIVE, (codes.UNKNOWN_OPTION_NAME, ""), options=LoadOptions(constants=frozenset({"y"}))),
    case(
        "option-contents",
        NATIVE,
        (codes.NO_CONTENTS, "/inputs/x"),
        options=LoadOptions(constants=frozenset({"x"})),
    ),
]


@pytest.mark.parametrize("rejected", REJECTED, ids=lambda item: item.name)
def test_rejected(rejected: Case, directory: Path) -> None:
    check(rejected, directory)
