"""Small models as files."""

from __future__ import annotations

import json
from pathlib import Path


def native(length: int = 4, kind: str = "ACTIVATION_RELU", **members: object) -> dict[str, object]:
    """A graph of one node."""
    tensor = {"DataType": "FLOAT32", "Sizes": [length]}
    node = {
        "name": "node",
        "type": kind,
        "desc": {"OutputTensor": tensor},
        "inputs": {"InputTensor": "x"},
        "outputs": {"OutputTensor": "y"},
    }
    return {"dml2onnx": 1, "inputs": {"x": tensor}, "nodes": [node], "outputs": ["y"], **members}


BROKEN = native(kind="ACTIVATION_RELO")
GRAPH = {
    "Nodes": [
        {
            "Type": "DML_GRAPH_NODE_TYPE_OPERATOR",
            "Desc": {
                "Type": "DML_OPERATOR_ACTIVATION_RELU",
                "Desc": {
                    "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                },
            },
        }
    ],
    "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}],
    "OutputEdges": [{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0}],
}


def write(path: Path, value: object) -> Path:
    """A JSON file, with its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def record(directory: Path, names: tuple[str, ...]) -> Path:
    """A recording with these graphs."""
    listed = [{"name": name, "kind": "graph", "nodes": 1, "file": f"{name}.json"} for name in names]
    write(directory / "recording.json", {"dml2onnx_recording": 1, "graphs": listed})
    for name in names:
        write(directory / f"{name}.json", GRAPH)
    return directory
