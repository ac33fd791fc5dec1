"""DxDispatch commands: versions of buffers, effects, and every mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.graph import Graph

from .models import CONVOLUTION, DX, REMOVE, Model, edited, f32, load_model
from .rejections import changes_of, rejecting

C0 = "/commands/0"
U: Model = {"initialValues": [{"type": "INT32", "value": 1}]}

changed, dispatch = changes_of(DX), changes_of(DX, C0)


def saved(path: str, dimensions: list[Any]) -> tuple[str, Model]:
    """Appends a ``writeFile``."""
    return "/commands/-", {"type": "writeFile", "resource": "y", "targetPath": path, "dimensions": dimensions}


REJECTED = [
    changed(codes.WRONG_KIND, ("/commands/-", 1), at="/commands/2"),
    changed(codes.UNKNOWN_COMMAND, ("/commands/-", {"type": "printf"}), at="/commands/2/type"),
    changed(codes.MISSING_KEY, ("/commands/-", {}), at="/commands/2/type"),
    dispatch(codes.IGNORED_KEY, ("/binding", 1)),
    dispatch(codes.UNKNOWN_DISPATCHABLE, ("/dispatchable", "ad")),
    dispatch(codes.MISSING_KEY, ("/dispatchable", REMOVE)),
    dispatch(codes.MISSING_KEY, ("/bindings", REMOVE)),
    dispatch(codes.WRONG_KIND, ("/bindings", "x")),
    *(
        dispatch(codes.WRONG_KIND, ("/threadGroupCount", counts))
        for counts in ([1, 1], [1, 1, -1], [1 << 32, 1, 1], [1, 1.0, 1], [True, 1, 1])
    ),
    dispatch(codes.UNCONNECTED_TENSOR, ("/bindings/ATensor", REMOVE)),
    dispatch(codes.UNCONNECTED_TENSOR, ("/bindings/OutputTensor", REMOVE)),
    dispatch(codes.UNKNOWN_RESOURCE, ("/bindings/ATensor", "xx")),
    dispatch(codes.UNKNOWN_RESOURCE, ("/bindings/ATensor", [{"name": "xx"}]), at="/bindings/ATensor/0/name"),
    dispatch(codes.WRONG_KIND, ("/bindings/ATensor", None)),
    dispatch(codes.CONNECTION_COUNT, ("/bindings/ATensor", ["x", "x"])),
    dispatch(codes.CONNECTION_COUNT, ("/bindings/ATensor", [])),
    dispatch(
        codes.WRONG_KIND,
        ("/bindings/ATensor", {"name": "x", "elementOffset": -1}),
        at="/bindings/ATensor/elementOffset",
    ),
    dispatch(codes.MISSING_KEY, ("/bindings/ATensor", {"elementOffset": 1}), at="/bindings/ATensor/name"),
    dispatch(
        codes.IGNORED_KEY,
        ("/bindings/ATensor", {"name": "x", "elementStride": 4}),
        at="/bindings/ATensor/elementStride",
    ),
    dispatch(
        codes.UNKNOWN_KEY, ("/bindings/ATensor", {"name": "x", "elementOfset": 4}), at="/bindings/ATensor/elementOfset"
    ),
    dispatch(codes.ELEMENT_COUNT_IGNORED, ("/bindings/ATensor", {"name": "x", "elementCount": 3})),
    dispatch(
        codes.UNKNOWN_RESOURCE, ("/bindings/ATensor", {"name": "x", "counter": "c"}), at="/bindings/ATensor/counter"
    ),
    changed(
        codes.OFFSET_WITHOUT_SIZE,
        ("/resources/u", {"initialValues": [{"type": "INT32", "value": 1}] * 8}),
        ("/commands/0/bindings/ATensor", {"name": "u", "elementOffset": 4}),
        at="/commands/0/bindings/ATensor/elementOffset",
    ),
    dispatch(codes.OWNED_BOUND_TWICE, ("/bindings/BTensor", "w")),
    changed(
        codes.OWNED_BOUND_AT_DISPATCH,
        ("/dispatchables/add/bindings", {}),
        ("/commands/0/bindings/BTensor", "w"),
        at="/commands/0/bindings/BTensor",
    ),
    dispatch(codes.IGNORED_BINDING, ("/bindings/CTensor", "w")),
    dispatch(
        [(codes.UNKNOWN_RESOURCE, "/bindings/CTensor"), (codes.IGNORED_BINDING, "/bindings/CTensor")],
        ("/bindings/CTensor", "v"),
    ),
    changed(codes.UNKNOWN_RESOURCE, ("/commands/1/resource", "z")),
    changed(codes.MISSING_KEY, ("/commands/1/resource", REMOVE)),
    changed(codes.WRONG_KIND, ("/commands/1/verbose", 1)),
    changed(codes.UNPRINTABLE, ("/resources/u", U), ("/commands/1/resource", "u"), at="/commands/1/resource"),
    changed(codes.MISSING_KEY, ("/commands/-", {"type": "writeFile", "resource": "y"}), at="/commands/2/targetPath"),
    *(
        changed(codes.DIMENSIONS_DIFFER, saved("a.npy", dimensions), at="/commands/2/dimensions")
        for dimensions in ([5], [0], [2**31] * 64)
    ),
    changed(codes.WRONG_KIND, saved("a.bin", [1.5]), at="/commands/2/dimensions/0"),
    changed(codes.DIMENSIONS_DIFFER, saved("a.PNG", [4]), at="/commands/2/dimensions"),
    changed(
        codes.UNPRINTABLE,
        ("/resources/u", U),
        ("/commands/-", {"type": "writeFile", "resource": "u", "targetPath": "a.npy"}),
        at="/commands/2/resource",
    ),
]


test_rejected = rejecting(REJECTED)


# --- Valid programs ---------------------------------------------------------------------------------------------------

U8 = {"DataType": "UINT8"}


def resource(count: int, data_type: str = "FLOAT32", **more: Any) -> Model:
    return {"initialValuesDataType": data_type, "initialValues": {"valueCount": count, "value": 0}, **more}


def program(
    directory: Path, resources: Model, desc: Model, *bindings: Model, commands: tuple[Model, ...] = ()
) -> Graph:
    """Dispatches an ELEMENT_WISE_IDENTITY once for each of ``bindings``, then runs ``commands``."""
    dispatches = [{"type": "dispatch", "dispatchable": "op", "bindings": item} for item in bindings]
    model = {
        "resources": resources,
        "dispatchables": {"op": {"type": "ELEMENT_WISE_IDENTITY", "desc": desc}},
        "commands": [*dispatches, *commands],
    }
    graph = load_model(directory, model)
    assert graph.findings == ()
    assert graph.sorted_nodes() == graph.nodes
    return graph


def identity(desc: Model, output: Model | None = None) -> Model:
    return {"InputTensor": desc, "OutputTensor": output or desc}


@pytest.mark.parametrize(
    ("buffer", "output", "offset", "covers"),
    [
        (resource(4), f32(4), 0, True),
        (resource(4), f32(2, 2, Strides=[1, 2]), 0, True),
        (resource(5), f32(4), 0, False),
        (resource(8), f32(4), 4, False),
        (resource(7), f32(4, Strides=[2]), 0, False),
        (resource(3, "UINT8"), {**U8, "Sizes": [3]}, 0, True),
        (resource(4, "UINT8"), {**U8, "Sizes": [3]}, 0, False),
        (resource(3, "UINT8", sizeInBytes=4), {**U8, "Sizes": [3]}, 0, True),
        (resource(3, "UINT8", sizeInBytes=8), {**U8, "Sizes": [3]}, 0, False),
        (resource(4), {"DataType": "FLOAT64", "Sizes": [2]}, 0, True),
        (resource(2, "UINT8"), {"DataType": "UINT4", "Sizes": [4]}, 0, True),
        (resource(2, "UINT8"), {"DataType": "UINT4", "Sizes": [2]}, 0, False),
    ],
)
def test_partial_writes(buffer: Model, output: Model, offset: int, covers: bool, tmp_path: Path) -> None:
    source = {"name": "y", "elementOffset": offset} if offset else "y"
    graph = program(
        tmp_path,
        {"x": resource(64), "y": buffer},
        {"InputTensor": {**output, "Strides": []}, "OutputTensor": output},
        {"InputTensor": "x", "OutputTensor": source},
    )
    (write,) = graph.nodes[0].writes["OutputTensor"]
    assert write.offset == 4 * offset
    assert (write.base is None) is covers
    assert [item.value.name for item in graph.constants] == ([] if covers else ["y"])
    assert [item.name for item in graph.inputs] == ["x"]


@pytest.mark.parametrize("lengths", [True, False])
def test_caches_keep_their_contents_if_past_lengths_are_bound(tmp_path: Path, lengths: bool) -> None:
    """The operator then writes a part of the cache, although its tensors cover the buffers."""
    token, cache = f32(1, 1, 2), f32(1, 1, 3 if lengths else 1, 2)
    desc: Model = {
        **dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor"), token),
        **dict.fromkeys(("OutputPresentKeyTensor", "OutputPresentValueTensor"), cache),
        "Scale": 1.0,
        "MaskFilterValue": 0.0,
        "QueryHeadCount": 1,
        "KeyValueHeadCount": 1,
        "MaskType": "DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE",
    }
    bindings: Model = {"QueryTensor": "x", "KeyTensor": "x", "ValueTensor": "x", "OutputTensor": "y"}
    bindings |= {"OutputPresentKeyTensor": "keys", "OutputPresentValueTensor": "values"}
    if lengths:
        desc["PastSequenceLengthsTensor"] = {"DataType": "INT32", "Sizes": [1]}
        bindings["PastSequenceLengthsTensor"] = "past"
    caches = dict.fromkeys(("keys", "values"), resource(6 if lengths else 2))
    model = {
        "resources": {"x": resource(2), "y": resource(2), "past": resource(1, "INT32"), **caches},
        "dispatchables": {"op": {"type": "MULTIHEAD_ATTENTION1", "desc": desc}},
        "commands": [{"type": "dispatch", "dispatchable": "op", "bindings": bindings}] * 2,
    }
    graph = load_model(tmp_path, model)
    assert graph.findings == ()
    first, second = (node.writes["OutputPresentKeyTensor"][0] for node in graph.nodes)
    if lengths:
        assert first.base is not None
        assert first.base.name == "keys"
        assert second.base is first.value
    else:
        assert first.base is second.base is None
    assert {item.name for item in graph.inputs} == ({"x", "past", "keys", "values"} if lengths else {"x"})


def test_outputs(tmp_path: Path) -> None:
    """Printed and saved resources, or else those that are written and not read afterwards."""
    resources = {"x": resource(4), "h": resource(4), "y": resource(4)}
    bindings = [{"InputTensor": "x", "OutputTensor": "h"}, {"InputTensor": "h", "OutputTensor": "y"}]
    graph = program(tmp_path, resources, identity(f32(4)), *bindings)
    assert [item.name for item in graph.outputs] == ["y"]
    assert [item.name for item in graph.results] == ["h", "y"]
    printed = program(tmp_path, resources, identity(f32(4)), *bindings, commands=({"type": "PRINT", "resource": "h"},))
    assert [item.name for item in printed.outputs] == ["h"]


def test_views_of_results(tmp_path: Path) -> None:
    resources = {"x": resource(4), "y": resource(12), "z": resource(4, "INT16")}
    graph = program(
        tmp_path,
        resources,
        identity(f32(2, Strides=[1])),
        {"InputTensor": "x", "OutputTensor": {"name": "y", "elementOffset": 8, "elementSizeInBytes": 2}},
        {"InputTensor": "x", "OutputTensor": "z"},
    )
    assert [(item.name, str(item.desc)) for item in graph.results] == [("y", "FLOAT32 [12]"), ("z", "FLOAT32 [2]")]


def test_effects(tmp_path: Path) -> None:
    """An effect has the current version of the resource; files contain padding, printed values do not."""
    show = {"type": "print", "resource": "x", "verbose": True}
    dispatch = {"type": "dispatch", "dispatchable": "op", "bindings": {"InputTensor": "x", "OutputTensor": "x"}}
    model = {
        "resources": {"x": resource(3, "FLOAT16"), "n": resource(1)},
        "dispatchables": {
            "op": {"type": "ELEMENT_WISE_IDENTITY", "desc": identity({"DataType": "FLOAT16", "Sizes": [3]})}
        },
        "commands": [
            show,
            dispatch,
            {"type": "writefile", "resource": "x", "targetPath": "out/x.npy", "dimensions": [2, 2]},
            {"type": "writeFile", "resource": "x", "targetPath": "x.bin"},
            {"type": "print", "resource": "n"},
        ],
    }
    graph = load_model(tmp_path, model)
    assert graph.findings == ()
    printed, saved, raw, constant = graph.effects
    assert (printed.kind, printed.verbose, str(printed.output.desc)) == ("print", True, "FLOAT16 [3]")
    assert printed.output.value is graph.inputs[0].value
    assert (saved.kind, saved.path, saved.dimensions) == ("writeFile", "out/x.npy", (2, 2))
    assert saved.output.value is graph.nodes[0].writes["OutputTensor"][0].value
    assert str(raw.output.desc) == "FLOAT16 [4]"
    assert [item.value for item in graph.constants] == [constant.output.value]
    assert [item.name for item in graph.outputs] == ["x"]


def test_printing_temporary_memory_has_no_effect(tmp_path: Path) -> None:
    """DxDispatch prints the operator's temporary resource, if it has one."""
    kinds = ("printInitTemporary", "printExecTemporary")
    commands = [("/commands/-", {"type": kind, "dataType": "FLOAT32", "offset": 0}) for kind in kinds]
    graph = load_model(tmp_path, edited(DX, *commands))
    assert graph.findings == ()
    assert [item.kind for item in graph.effects] == [item.kind for item in load_model(tmp_path, DX).effects]


def test_options(tmp_path: Path) -> None:
    def names(options: LoadOptions) -> tuple[list[str], list[str]]:
        """The names of inputs and constants."""
        graph = load_model(tmp_path, model, options)
        assert [item.code for item in graph.findings] == (["DML1017"] if options.freeze and options.inputs else [])
        return [item.name for item in graph.inputs], [item.value.name for item in graph.constants]

    model = edited(
        DX, (C0 + "/bindings/OutputTensor", {"name": "y", "elementOffset": 4}), ("/resources/y", resource(9))
    )
    assert names(LoadOptions()) == (["x"], ["w", "y"])
    assert names(LoadOptions(constants=frozenset({"x"}))) == ([], ["x", "w", "y"])
    assert names(LoadOptions(freeze=True)) == ([], ["x", "w", "y"])
    assert names(LoadOptions(freeze=True, inputs=frozenset({"x"}))) == (["x"], ["w", "y"])
    graph = load_model(tmp_path, model, LoadOptions(inputs=frozenset({"w"})))
    assert [item.code for item in graph.findings] == ["DML1015"]


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        ("x", 0),
        (["x"], 0),
        ({"name": "x"}, 0),
        ([{"name": "x", "elementOffset": 4}], 16),
        ({"name": "x", "elementOffset": 8, "elementSizeInBytes": 2}, 16),
        ({"name": "x", "elementOffset": 4, "elementSizeInBytes": 0, "elementCount": 4, "format": "R32_FLOAT"}, 16),
        ({"name": "x", "shape": [1], "counter": "y", "counterOffsetBytes": 4, "comment": ""}, 0),
    ],
)
def test_sources(source: object, offset: int, tmp_path: Path) -> None:
    graph = program(
        tmp_path, {"x": resource(8), "y": resource(4)}, identity(f32(4)), {"InputTensor": source, "OutputTensor": "y"}
    )
    assert graph.nodes[0].reads["InputTensor"][0].offset == offset


def test_an_absent_tensor_that_is_bound(tmp_path: Path) -> None:
    desc = {**CONVOLUTION, "InputTensor": f32(1, 1, 1, 1), "FilterTensor": f32(1, 1, 1, 1)}
    desc["OutputTensor"] = f32(1, 1, 1, 1)
    fields = {"InputTensor": "x", "FilterTensor": "x", "BiasTensor": "x", "OutputTensor": "y"}
    model = {
        "resources": {"x": resource(1), "y": resource(1)},
        "dispatchables": {"c": {"type": "CONVOLUTION", "desc": desc}},
        "commands": [{"type": "dispatch", "dispatchable": "c", "bindings": fields}],
    }
    graph = load_model(tmp_path, model)
    assert [(item.code, item.pointer) for item in graph.findings] == [
        (codes.IGNORED_BINDING.id, "/commands/0/bindings/BiasTensor")
    ]
    assert set(graph.nodes[0].reads) == {"InputTensor", "FilterTensor"}


def test_thread_groups_and_comments(tmp_path: Path) -> None:
    counts = [0, 1, (1 << 32) - 1]
    graph = load_model(tmp_path, edited(DX, (C0 + "/threadGroupCount", counts), (C0 + "/$comment", "a note")))
    assert graph.findings == ()
    assert len(graph.nodes) == 1


def test_an_unreadable_output_is_a_version(tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(DX, ("/dispatchables/add/desc/OutputTensor/DataType", "FLOAT8")))
    assert [item.code for item in graph.findings] == [codes.ENUMERATOR.id]
    assert graph.nodes[0].writes == {}
    (result,) = graph.results
    assert (result.value.name, str(result.desc)) == ("y#1", "FLOAT32 [4]")
