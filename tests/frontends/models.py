"""Small valid models of each format, and ``edited`` to break them in one place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from dml2onnx.frontends import LoadOptions, load
from dml2onnx.ir.graph import Graph

Model = dict[str, Any]

REMOVE = object()


def f32(*sizes: int, **more: Any) -> Model:
    """A FLOAT32 tensor descriptor."""
    return {"DataType": "FLOAT32", "Sizes": list(sizes), **more}


def input_edge(source: int, node: int, number: int, **more: Any) -> Model:
    """An input edge of a DML_GRAPH_DESC, to the input ``number`` of a node."""
    return {"GraphInputIndex": source, "ToNodeIndex": node, "ToNodeInputIndex": number, **more}


def inner_edge(source: int, node: int, number: int, **more: Any) -> Model:
    """An intermediate edge, from the output 0 of the node ``source`` to the input ``number`` of another one."""
    ends = {"FromNodeIndex": source, "FromNodeOutputIndex": 0, "ToNodeIndex": node, "ToNodeInputIndex": number}
    return {**ends, **more}


def output_edge(node: int, number: int, target: int, **more: Any) -> Model:
    """An output edge, from the output ``number`` of a node."""
    return {"FromNodeIndex": node, "FromNodeOutputIndex": number, "GraphOutputIndex": target, **more}


CONVOLUTION: Model = {
    "InputTensor": f32(1, 3, 8, 8),
    "FilterTensor": f32(4, 3, 3, 3),
    "OutputTensor": f32(1, 4, 6, 6),
    "Mode": "CROSS_CORRELATION",
    "Direction": "FORWARD",
    "DimensionCount": 2,
    "Strides": [1, 1],
    "Dilations": [1, 1],
    "StartPadding": [0, 0],
    "EndPadding": [0, 0],
    "OutputPadding": [0, 0],
    "GroupCount": 1,
}

PADDING1: Model = {
    "InputTensor": f32(4),
    "OutputTensor": f32(6),
    "PaddingMode": "CONSTANT",
    "PaddingValueDataType": "FLOAT32",
    "PaddingValue": 0,
    "DimensionCount": 1,
    "StartPadding": [1],
    "EndPadding": [1],
}

NATIVE: Model = {
    "dml2onnx": 1,
    "name": "tiny",
    "feature_level": "5_0",
    "inputs": {"x": f32(4)},
    "constants": {"w": f32(4, values=[1, 2.5, "inf", -1])},
    "nodes": [
        {
            "name": "add",
            "type": "ELEMENT_WISE_ADD1",
            "desc": {"OutputTensor": f32(4), "FusedActivation": {"type": "ACTIVATION_RELU"}},
            "inputs": {"ATensor": "x", "BTensor": "w"},
            "outputs": {"OutputTensor": "h"},
        },
        {
            "name": "join",
            "type": "DML_OPERATOR_JOIN",
            "desc": {"OutputTensor": f32(8), "Axis": 0},
            "inputs": {"InputTensors": ["h", {"value": "x", "offset": 0}]},
            "outputs": {"OutputTensor": "y"},
        },
        {
            "name": "split",
            "type": "SPLIT",
            "desc": {"OutputTensors": [f32(3), f32(5)], "Axis": 0},
            "inputs": {"InputTensor": "y"},
            "outputs": {"OutputTensors": ["a", None]},
        },
    ],
    "outputs": ["h", "a"],
}

GRAPH: Model = {
    "InputCount": 2,
    "OutputCount": 1,
    "NodeCount": 3,
    "Nodes": [
        {
            "Type": "DML_GRAPH_NODE_TYPE_OPERATOR",
            "Desc": {
                "Name": "add",
                "Operator": {
                    "Type": "ELEMENT_WISE_ADD",
                    "Desc": {"ATensor": f32(4), "BTensor": f32(4), "OutputTensor": f32(4)},
                },
            },
        },
        {"Type": 2, "Desc": {"Data": [0, 0, 128, 63] * 4, "DataSize": 16, "Name": "ones"}},
        {
            "Type": "OPERATOR",
            "Name": "gemm",
            "Desc": {
                "Type": "DML_OPERATOR_GEMM",
                "Desc": {
                    "ATensor": f32(1, 4, Flags="OWNED_BY_DML"),
                    "BTensor": f32(4, 1),
                    "CTensor": None,
                    "OutputTensor": f32(1, 1),
                    "TransA": 0,
                    "TransB": "DML_MATRIX_TRANSFORM_NONE",
                    "Alpha": 1,
                    "Beta": 0.5,
                    "FusedActivation": None,
                },
            },
        },
    ],
    "InputEdges": [input_edge(0, 0, 0, Name="x"), {"Type": "INPUT", "Desc": input_edge(1, 2, 0)}],
    "OutputEdges": [output_edge(2, 0, 0, Name="y")],
    "IntermediateEdges": [inner_edge(1, 0, 1), inner_edge(0, 2, 1)],
}

DX: Model = {
    "resources": {
        "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, -2, 3, -4]},
        "w": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 2}},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}},
    },
    "dispatchables": {
        "add": {
            "type": "ELEMENT_WISE_ADD1",
            "desc": {
                "ATensor": f32(4),
                "BTensor": f32(4, Flags=["OWNED_BY_DML"]),
                "OutputTensor": f32(4),
                "FusedActivation": {"Type": "ACTIVATION_RELU"},
            },
            "bindings": {"BTensor": "w"},
        },
    },
    "commands": [
        {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "x", "OutputTensor": "y"}},
        {"type": "print", "resource": "y"},
    ],
}


def edited(model: Model, *changes: tuple[str, Any]) -> Model:
    """Returns a copy with each value set at its JSON pointer (``-`` appends), or removed (``REMOVE``)."""
    model = copy.deepcopy(model)
    for pointer, value in changes:
        *path, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
        target: Any = model
        for token in path:
            target = target[int(token)] if isinstance(target, list) else target[token]
        key: Any = last
        if isinstance(target, list):
            key = len(target) if last == "-" else int(last)
            if key == len(target):
                target.append(None)
        if value is REMOVE:
            del target[key]
        else:
            target[key] = value
    return model


def dx_operator(operator: str, desc: Model, **more: Any) -> Model:
    """A DxDispatch model with one dispatchable, ``op``, and no commands."""
    return {"resources": {}, "dispatchables": {"op": {"type": operator, "desc": desc, **more}}, "commands": []}


def one_node(kind: str, desc: Model, x: Model, *, name: str = "n", **more: Any) -> Model:
    """A native model with one node that reads ``x`` and writes ``y``; ``more`` are members of the node."""
    node = {"name": name, "type": kind, "desc": desc, "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": "y"}}
    return {"dml2onnx": 1, "inputs": {"x": x}, "nodes": [{**node, **more}], "outputs": ["y"]}


def load_text(directory: Path, text: str, options: LoadOptions | None = None) -> Graph:
    path = directory / "model.json"
    path.write_text(text, encoding="utf-8")
    return load(path) if options is None else load(path, options)


def load_model(directory: Path, model: Any, options: LoadOptions | None = None) -> Graph:
    return load_text(directory, json.dumps(model), options)
