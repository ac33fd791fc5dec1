"""The network of ``bench_compile.py`` as a DxDispatch program and as a serialized graph."""

from __future__ import annotations

import json
from pathlib import Path

import dml2onnx
from dml2onnx.exporters.descriptors import fields
from dml2onnx.ir.graph import Graph

Json = dict[str, object]


def serialized(model: Path) -> Path:
    path = _beside(model, "serialized") / f"{model.stem}.bin"
    dml2onnx.convert(model, path)
    return path


def program(model: Path) -> Path:
    """Writes a native model as a DxDispatch program: a buffer for each value, a dispatch for each node."""
    graph = dml2onnx.load(model)
    path = _beside(model, "program") / model.name
    path.write_text(json.dumps(_document(graph, path.parent)), encoding="utf-8")
    return path


def _beside(model: Path, name: str) -> Path:
    directory = model.with_name(f"{model.stem}-{name}")
    directory.mkdir(exist_ok=True)
    return directory


def _document(graph: Graph, directory: Path) -> Json:
    resources: Json = {}
    for constant in graph.constants:
        file = f"{constant.value.name}.bin"
        (directory / file).write_bytes(constant.data.read(0, constant.value.nbytes).tobytes())
        resources[constant.value.name] = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": file}}
    for value in (*(item.value for item in graph.inputs), *(value for node in graph.nodes for value in node.targets)):
        zeros = {"valueCount": value.nbytes // 4, "value": 0}
        resources[value.name] = {"initialValuesDataType": "FLOAT32", "initialValues": zeros}
    owned = {constant.value for constant in graph.constants}
    dispatchables: Json = {}
    commands: list[Json] = []
    for node in graph.nodes:
        whole = fields(node.operator, whole=True)
        desc = {name: value for name, value in whole.items() if value is not None}
        captured: Json = {}
        bindings: Json = {name: [write.value.name for write in writes] for name, writes in node.writes.items()}
        for name, reads in node.reads.items():
            if reads[0].value in owned:
                tensor = desc[name]
                assert isinstance(tensor, dict)
                desc[name] = {**tensor, "Flags": "OWNED_BY_DML"}
            bound = captured if reads[0].value in owned else bindings
            bound[name] = [read.value.name for read in reads]
        dispatchables[node.name] = {"type": node.operator.type, "desc": desc, "bindings": captured}
        commands.append({"type": "dispatch", "dispatchable": node.name, "bindings": bindings})
    commands += [{"type": "print", "resource": output.name} for output in graph.outputs]
    return {"resources": resources, "dispatchables": dispatchables, "commands": commands}
