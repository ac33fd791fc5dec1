"""Small models as files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.frontends.models import GRAPH, f32, one_node


def native(length: int = 4, kind: str = "ACTIVATION_RELU", **members: object) -> dict[str, object]:
    """Returns a graph of one node."""
    return one_node(kind, {"OutputTensor": f32(length)}, f32(length), name="node") | members


BROKEN = native(kind="ACTIVATION_RELO")


def write(path: Path, value: object) -> Path:
    """Writes a JSON file, and creates its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def record(directory: Path, names: tuple[str, ...]) -> Path:
    """Writes a recording with these graphs."""
    listed = [{"name": name, "kind": "graph", "nodes": 1, "file": f"{name}.json"} for name in names]
    write(directory / "recording.json", {"dml2onnx_recording": 1, "graphs": listed})
    for name in names:
        write(directory / f"{name}.json", GRAPH)
    return directory
