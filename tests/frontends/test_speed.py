"""Large models load in linear time; the time is printed (``pytest -s``), and only bounded loosely."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dml2onnx.frontends import load

from .models import CONVOLUTION, Model, f32

NODES = 20_000


def conv_desc(index: int) -> Model:
    """A convolution unlike all others, so that nothing is read once only."""
    return {**CONVOLUTION, "EndPadding": [index, 0]}


def native() -> Model:
    nodes: list[Model] = []
    desc: Model
    for index in range(NODES // 2):
        desc = {key: value for key, value in conv_desc(index).items() if not key.startswith(("Input", "Filter"))}
        inputs = {"InputTensor": "x", "FilterTensor": "w"}
        nodes.append({"type": "CONVOLUTION", "desc": desc, "inputs": inputs, "outputs": {"OutputTensor": f"c{index}"}})
        add = {"ATensor": f"c{index}", "BTensor": f"a{index - 1}" if index else f"c{index}"}
        desc = {"OutputTensor": f32(1, 4, 6, 6)}
        nodes.append(
            {"type": "ELEMENT_WISE_ADD", "desc": desc, "inputs": add, "outputs": {"OutputTensor": f"a{index}"}}
        )
    declared = {"inputs": {"x": f32(1, 3, 8, 8)}, "constants": {"w": f32(4, 3, 3, 3, fill=1)}}
    return {"dml2onnx": 1, **declared, "nodes": nodes, "outputs": [f"a{NODES // 2 - 1}"]}


def dxdispatch() -> Model:
    def resource(count: int) -> Model:
        return {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 1}}

    tensor = f32(1, 4, 6, 6)
    dispatchables: Model = {
        f"c{index}": {"type": "CONVOLUTION", "desc": conv_desc(index)} for index in range(NODES // 2)
    }
    dispatchables["add"] = {
        "type": "ELEMENT_WISE_ADD",
        "desc": {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor},
    }
    commands: list[Model] = []
    for index in range(NODES // 2):
        fields = {"InputTensor": "x", "FilterTensor": "w", "OutputTensor": "c"}
        commands.append({"type": "dispatch", "dispatchable": f"c{index}", "bindings": fields})
        fields = {"ATensor": "c", "BTensor": "a", "OutputTensor": "a"}
        commands.append({"type": "dispatch", "dispatchable": "add", "bindings": fields})
    resources = {"x": resource(192), "w": resource(108), "c": resource(144), "a": resource(144)}
    return {"resources": resources, "dispatchables": dispatchables, "commands": commands}


@pytest.mark.parametrize("make", [native, dxdispatch], ids=lambda make: make.__name__)
def test_speed(make: type[object], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(make()), encoding="utf-8")
    start = time.process_time()
    graph = load(path)
    seconds = time.process_time() - start
    assert graph.findings == ()
    assert len(graph.nodes) == NODES
    print(f"{graph.format}: {seconds / NODES * 1e6:.1f} µs a node, {path.stat().st_size >> 10} KiB")
    assert seconds < 30


@pytest.mark.parametrize("count", [20_000])
def test_many_mistakes(count: int, tmp_path: Path) -> None:
    """Suggestions for thousands of misspelt names out of thousands must not take quadratic time."""
    nodes = [
        {
            "type": "ELEMENT_WISE_ABS" if index % 2 else f"ELEMENT_WISE_AB{index}",
            "desc": {"OutputTensor": f32(1)},
            "inputs": {"InputTensor": f"value{index}x"},
            "outputs": {"OutputTensor": f"value{index}"},
        }
        for index in range(count)
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"dml2onnx": 1, "nodes": nodes, "outputs": []}), encoding="utf-8")
    start = time.process_time()
    findings = load(path).findings
    assert len(findings) == 10_001
    assert time.process_time() - start < 30
