"""Every mistake in the native format."""

from __future__ import annotations

from typing import Any

from dml2onnx.codes import checking
from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions

from .models import NATIVE, REMOVE, Model, f32
from .rejections import changes_of, rejecting

N0, D0 = "/nodes/0", "/nodes/0/desc"


H = N0 + "/outputs/OutputTensor"
WITHOUT_H: list[tuple[str, Any]] = [("/nodes/1/inputs/InputTensors/0", "x"), ("/outputs", ["a"])]
PRINT: Model = {"type": "print", "value": "y"}
FILL: Model = {
    "type": "FILL_VALUE_CONSTANT",
    "desc": {"ValueDataType": "FLOAT32", "Value": 1},
    "outputs": {"OutputTensor": "a"},
}
JOINED: list[tuple[str, Any]] = [("/nodes/1/desc/InputTensors", [f32(4), f32(4)])]
BUFFER: list[tuple[str, Any]] = [("/inputs/x", {"bytes": 16}), (D0 + "/ATensor", f32(4)), *JOINED]
"""An input without a tensor descriptor, whose readers have one."""


def nested_activations(depth: int) -> Model:
    desc: Model = {"Type": "ELEMENT_WISE_ADD1"}
    return {**desc, "FusedActivation": nested_activations(depth - 1)} if depth else desc


changed = changes_of(NATIVE)
add, join = changes_of(NATIVE, "/nodes/0"), changes_of(NATIVE, "/nodes/1")
x, weights = changes_of(NATIVE, "/inputs/x"), changes_of(NATIVE, "/constants/w")
output, shown = changes_of(NATIVE, "/outputs/0"), changes_of(NATIVE, "/commands")
target = changes_of(NATIVE, "/nodes/0/outputs/OutputTensor")


REJECTED = [
    changed(codes.UNKNOWN_KEY, ("/node", [])),
    add(codes.UNKNOWN_KEY, ("/Inputs", {})),
    changed(codes.MISSING_KEY, ("/nodes", REMOVE), ("/outputs", [])),
    changed(codes.MISSING_KEY, ("/outputs", REMOVE)),
    changed(codes.WRONG_KIND, ("/outputs", "y")),
    output(codes.WRONG_KIND, ("", 1)),
    output(codes.UNKNOWN_VALUE, ("", "hh")),
    changed(codes.DUPLICATE_NAME, ("/outputs", ["h", "h"]), at="/outputs/1"),
    changed(codes.WRONG_KIND, ("/nodes/-", 1), at="/nodes/3"),
    add(codes.WRONG_KIND, ("/name", 1)),
    changed(codes.UNKNOWN_FEATURE_LEVEL, ("/feature_level", "5_9")),
    changed(codes.WRONG_KIND, ("/feature_level", 5.0)),
    changed(codes.DUPLICATE_NAME, ("/constants/x", f32(1, fill=0))),
    changed(codes.DUPLICATE_NAME, ("/nodes/1/outputs/OutputTensor", "h"), ("/nodes/2/inputs/InputTensor", "h")),
    add(codes.UNKNOWN_VALUE, ("/inputs/ATensor", "z")),
    join(codes.UNKNOWN_VALUE, ("/inputs/InputTensors/1/value", "z"), at="/inputs/InputTensors/1"),
    add(codes.WRONG_KIND, ("/inputs/ATensor", 1)),
    join(codes.WRONG_KIND, ("/inputs/InputTensors", "h")),
    join(codes.UNKNOWN_KEY, ("/inputs/InputTensors/1/of", 1)),
    join(codes.WRONG_KIND, ("/inputs/InputTensors/1/offset", -1)),
    join(codes.MISSING_KEY, ("/inputs/InputTensors/1", {}), at="/inputs/InputTensors/1/value"),
    add(codes.MISSING_FIELD, ("/inputs/BTensor", REMOVE)),
    add(codes.UNCONNECTED_TENSOR, ("/inputs/BTensor", None), ("/desc/BTensor", f32(4)), at="/desc/BTensor"),
    add(codes.UNKNOWN_TENSOR, ("/inputs/CTensor", "x")),
    add(codes.UNKNOWN_TENSOR, ("/outputs/Output", "q")),
    add(codes.UNKNOWN_TENSOR, ("/inputs/OutputTensor", "x")),
    changed(codes.WRONG_KIND, (H, 1), *WITHOUT_H),
    changed(
        [
            (codes.WRONG_KIND, "/nodes/2/outputs/OutputTensors"),
            (codes.CONNECTION_COUNT, "/nodes/2/outputs/OutputTensors"),
        ],
        ("/nodes/2/outputs/OutputTensors", "a"),
        ("/outputs", ["h"]),
    ),
    changed(codes.CONNECTION_COUNT, ("/nodes/2/outputs/OutputTensors/-", "b"), at="/nodes/2/outputs/OutputTensors"),
    join(codes.CONNECTION_COUNT, ("/desc/InputTensors", [f32(4)]), at="/inputs/InputTensors"),
    changed(codes.MISSING_KEY, ("/nodes/0/outputs", REMOVE), *WITHOUT_H),
    join(codes.MISSING_KEY, ("/desc", REMOVE)),
    changed(codes.MISSING_FIELD, ("/nodes/2", FILL), at="/nodes/2/desc/OutputTensor"),
    add(codes.UNKNOWN_OPERATOR, ("/type", "ELEMENT_WISE_AD")),
    add(codes.UNKNOWN_OPERATOR, ("/type", 1)),
    add(codes.MISSING_KEY, ("/type", REMOVE)),
    add(codes.UNKNOWN_FIELD, ("/desc/ScaleBais", None)),
    add(codes.ENUMERATOR, ("/desc/OutputTensor/DataType", "FLOAT8")),
    add(codes.NESTED_TENSOR, ("/desc/FusedActivation/InputTensor", f32(4))),
    add(
        codes.NESTED_TOO_DEEP,
        ("/desc/FusedActivation", nested_activations(20)),
        at="/desc/FusedActivation/FusedActivation/FusedActivation/FusedActivation/FusedActivation",
    ),
    changed(codes.WRONG_KIND, ("/inputs", [])),
    add(codes.OTHER_OPERATOR, ("/type", "CONVOLUTION")),
    x(codes.WRONG_KIND, ("", 1)),
    x(codes.UNKNOWN_KEY, ("/Size", 1)),
    weights(codes.DATA_SOURCE, ("/values", REMOVE), at=""),
    weights(codes.DATA_SOURCE, ("/fill", 1), at=""),
    weights(codes.UNKNOWN_KEY, ("/offset", 1)),
    weights(codes.WRONG_VALUE_COUNT, ("/values", [1, 2, 3])),
    weights(codes.WRONG_VALUE_COUNT, ("/values", [[1, 2], [3]])),
    weights(codes.WRONG_KIND, ("/values", 1)),
    weights(codes.BAD_VALUE, ("/values", [1, 2, None, 4]), at="/values/2"),
    changed(
        codes.BAD_VALUE,
        ("/constants/w", {"DataType": "INT8", "Sizes": [2, 2], "values": [[1, 2], [3, 128]]}),
        ("/nodes/0/desc/BTensor", f32(1)),
        at="/constants/w/values/1/1",
    ),
    weights(codes.BAD_VALUE, ("", {"DataType": "UINT4", "Sizes": [4], "fill": 16}), at="/fill"),
    weights(codes.WRONG_VALUE_COUNT, ("", f32(4, values=[])), at="/values"),
    x(checking.ZERO_SIZE, ("", f32(1, 0)), at="/Sizes/1"),
    weights(checking.ZERO_SIZE, ("", f32(0, values=[])), at="/Sizes/0"),
    x(checking.DIMENSION_COUNT_LIMIT, ("", f32()), at="/Sizes"),
    weights(codes.BEYOND_RANGE, ("", f32(4, values=[1, "inf", 1e39, 1])), at="/values/2"),
    weights(codes.BEYOND_RANGE, ("", f32(4, fill=1e39)), at="/fill"),
    changed(codes.UNKNOWN_OPTION_NAME, at="", options=LoadOptions(inputs=frozenset({"w"}))),
    weights(codes.NO_DATA, ("", {"file": "empty.npy"}), at="/file"),
    weights(codes.WRONG_KIND, ("", f32(4, file=1)), at="/file"),
    *(
        weights(codes.FILE_UNREADABLE, ("", f32(4, file=name)), at="/file")
        for name in ("none.bin", "sub", "a\0b", "a" * 5000, "loop")
    ),
    changed(
        checking.TOTAL_SIZE_TOO_SMALL,
        ("/inputs/x/TotalTensorSizeInBytes", 12),
        ("/nodes/0/desc/ATensor", f32(4)),
        *JOINED,
    ),
    changed(
        checking.TOTAL_SIZE_TOO_SMALL, ("/constants/w/TotalTensorSizeInBytes", 12), ("/nodes/0/desc/BTensor", f32(4))
    ),
    output(
        checking.TOTAL_SIZE_TOO_SMALL,
        ("", {"value": "h", **f32(4, TotalTensorSizeInBytes=8)}),
        at="/TotalTensorSizeInBytes",
    ),
    *(
        weights(codes.FILE_OUTSIDE, ("", f32(4, file=name)), at="/file")
        for name in ("../outside.bin", "/etc/passwd", "link.bin")
    ),
    weights(codes.FILE_TOO_LONG, ("", f32(4, file="more.bin")), at="/file"),
    weights(codes.FILE_TOO_LONG, ("", {"file": "trailing.npy"}), at="/file"),
    weights(codes.LFS_POINTER, ("", f32(4, file="pointer.bin")), at="/file"),
    weights(codes.FILE_TOO_SHORT, ("", f32(4, file="data.bin", offset=1)), at="/file"),
    weights(codes.FILE_TOO_SHORT, ("", f32(4, file="data.bin", length=15)), at="/file"),
    weights(codes.WRONG_VALUE_COUNT, ("", f32(4, file="i32.npy")), at="/file"),
    weights(codes.UNKNOWN_KEY, ("", {"file": "f32.npy", "offset": 8}), at="/offset"),
    weights(codes.FILE_TOO_SHORT, ("", {"file": "cut.npy"}), at="/file"),
    *(
        weights(codes.BAD_NPY, ("", {"file": f"{name}.npy"}), at="/file")
        for name in ("fake", "columns", "big", "complex", "structured", "version", "header", "padding", "long", "shape")
    ),
    target(codes.UNKNOWN_KEY, ("", {"value": "h", "of": 1}), at="/of"),
    changed(codes.MISSING_KEY, (H, {"base": "x"}), *WITHOUT_H, at=H + "/value"),
    changed(codes.WRONG_KIND, (H, {"value": 1}), *WITHOUT_H, at=H + "/value"),
    target(codes.WRONG_KIND, ("", {"value": "h", "offset": -1}), at="/offset"),
    target(codes.WRONG_KIND, ("", {"value": "h", "bytes": "16"}), at="/bytes"),
    changed(codes.DUPLICATE_NAME, (H, {"value": "x"}), *WITHOUT_H),
    target(codes.UNKNOWN_VALUE, ("", {"value": "h", "base": "z"}), at="/base"),
    target(codes.NOT_YET_MADE, ("", {"value": "h", "base": "h"}), at="/base"),
    changed(
        codes.NOT_YET_MADE,
        ("/nodes/2/outputs/OutputTensors", [{"value": "a", "base": "b", "bytes": 64}, {"value": "b", "bytes": 64}]),
        at="/nodes/2/outputs/OutputTensors/0/base",
    ),
    output(codes.MISSING_FIELD, ("", {"value": "h", "Sizes": [4]}), at="/DataType"),
    output(codes.UNKNOWN_FIELD, ("", {"value": "h", **f32(4), "of": 1}), at="/of"),
    output(checking.ZERO_SIZE, ("", {"value": "h", **f32(0)}), at="/Sizes/0"),
    output(codes.UNKNOWN_VALUE, ("", {"value": "hh"}), at="/value"),
    output(codes.MISSING_KEY, ("", f32(4)), at="/value"),
    changed(codes.MISSING_FIELD, *BUFFER, ("/outputs/-", "x"), at="/outputs/2"),
    changed(codes.WRONG_KIND, ("/results", "y")),
    changed(codes.UNKNOWN_VALUE, ("/results", {"y": "q"}), at="/results/y"),
    changed(codes.DUPLICATE_NAME, ("/results", ["y", {"value": "y"}]), at="/results/1"),
    shown(codes.WRONG_KIND, ("", {})),
    shown(codes.WRONG_KIND, ("", ["y"]), at="/0"),
    shown(codes.MISSING_KEY, ("", [{"value": "y"}]), at="/0/type"),
    shown(codes.UNKNOWN_COMMAND, ("", [{"type": "show", "value": "y"}]), at="/0/type"),
    shown(codes.MISSING_KEY, ("", [{"type": "print"}]), at="/0/value"),
    shown(codes.UNKNOWN_VALUE, ("", [{**PRINT, "value": "q"}]), at="/0/value"),
    shown(codes.WRONG_KIND, ("", [{**PRINT, "verbose": 1}]), at="/0/verbose"),
    shown(codes.UNKNOWN_FIELD, ("", [{**PRINT, **f32(8), "targetPath": "y"}]), at="/0/targetPath"),
    shown(codes.MISSING_KEY, ("", [{"type": "writeFile", "value": "y"}]), at="/0/targetPath"),
    shown(
        codes.WRONG_KIND,
        ("", [{"type": "writeFile", "value": "y", "targetPath": "y", "dimensions": [8, -1]}]),
        at="/0/dimensions/1",
    ),
    changed(codes.MISSING_FIELD, ("/inputs/x", {"bytes": 16}), *JOINED, at="/nodes/0/desc/ATensor"),
    changed(
        codes.MISSING_FIELD,
        ("/inputs/x", {"bytes": 16}),
        ("/nodes/0/desc/ATensor", f32(4)),
        at="/nodes/1/desc/InputTensors",
    ),
    x(codes.WRONG_KIND, ("/bytes", 0)),
    x(codes.WRONG_KIND, ("/bytes", "16")),
    x(codes.WRONG_KIND, ("/name", 1)),
    changed(codes.UNKNOWN_KEY, *BUFFER, ("/inputs/x", {"bytes": 16, "DataType": "INT8"}), at="/inputs/x/DataType"),
    changed(
        codes.UNKNOWN_KEY, *BUFFER, ("/inputs/x", {"bytes": 16, "fill": 1, "Strides": [1]}), at="/inputs/x/Strides"
    ),
    changed(
        codes.ENUMERATOR,
        *BUFFER,
        ("/inputs/x", {"bytes": 16, "DataType": "FLOAT8", "fill": 1}),
        at="/inputs/x/DataType",
    ),
    changed(
        codes.WRONG_VALUE_COUNT,
        *BUFFER,
        ("/inputs/x", {"bytes": 2, "DataType": "FLOAT32", "fill": 1}),
        at="/inputs/x/bytes",
    ),
    changed(
        codes.WRONG_VALUE_COUNT,
        *BUFFER,
        ("/inputs/x", {"bytes": 16, "DataType": "FLOAT32", "values": [1, 2, 3]}),
        at="/inputs/x/values",
    ),
    weights(codes.WRONG_VALUE_COUNT, ("/bytes", 8)),
    weights(codes.WRONG_VALUE_COUNT, ("", f32(4, file="data.bin", bytes=8)), at="/bytes"),
    changed(
        codes.WRONG_VALUE_COUNT,
        ("/constants/w", {"file": "f32.npy", "bytes": 8}),
        ("/nodes/0/desc/BTensor", f32(1)),
        at="/constants/w/bytes",
    ),
    changed(codes.NOTHING_FROZEN, at="", options=LoadOptions(freeze=True)),
    changed(codes.UNKNOWN_OPTION_NAME, at="", options=LoadOptions(constants=frozenset({"y"}))),
    changed(codes.NO_CONTENTS, at="/inputs/x", options=LoadOptions(constants=frozenset({"x"}))),
]


test_rejected = rejecting(REJECTED)
