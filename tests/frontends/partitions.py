"""Writes serialized graphs from the slot numbers of the format, independently of the package's own writer.

A graph is a dictionary, so that tests can edit it like a JSON model. Its members are ``nodes``, ``inputs`` and
``outputs``. A node has ``operator``, ``constant`` (a name) or ``raw`` (bytes). An attribute has ``name``, ``code`` and
``value``: bytes (a structure), a list of numbers (an array), a dictionary (an activation) or ``None`` (absent).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np

from dml2onnx.frontends import LoadOptions, load
from dml2onnx.ir.graph import Graph

from .models import Model

UINT, INT, FLOAT = struct.Struct("<I").pack, struct.Struct("<i").pack, struct.Struct("<f").pack


def tensor(data_type: str, *sizes: int, strides: Sequence[int] | None = None, total: int | None = None) -> Model:
    """A tensor descriptor; ``total`` defaults to the size of packed 4-byte elements."""
    size = 4 * int(np.prod(sizes)) if total is None else total
    return {"dataType": f"DML_TENSOR_DATA_TYPE_{data_type}", "sizes": list(sizes), "strides": strides, "total": size}


def attribute(name: str | None, code: int, value: Any = None) -> Model:
    return {"name": name, "code": code, "value": value}


def uint(name: str, value: int) -> Model:
    return attribute(name, 3, UINT(value))


def real(name: str, value: float) -> Model:
    return attribute(name, 6, FLOAT(value))


def node(
    kind: str,
    inputs: Sequence[Model],
    outputs: Sequence[Model],
    attributes: Sequence[Model] = (),
    *,
    reads: Sequence[str],
    writes: Sequence[str],
    name: str | None = None,
) -> Model:
    """An operator node; its name defaults to the operator's name in lower case."""
    return {
        "name": kind.lower() if name is None else name,
        "operator": f"DML_OPERATOR_{kind}",
        "inputs": list(inputs),
        "outputs": list(outputs),
        "attributes": list(attributes),
        "inputNames": list(reads),
        "outputNames": list(writes),
    }


RELU: Model = {"type": "DML_OPERATOR_ACTIVATION_RELU", "attributes": []}

PARTITION: Model = {
    "nodes": [
        {"name": "w", "constant": "w", "outputNames": ["w-nodeIdx:0-outputIdx:0"]},
        node(
            "ELEMENT_WISE_ADD1",
            [tensor("FLOAT32", 4), tensor("FLOAT32", 4)],
            [tensor("FLOAT32", 4)],
            [attribute("FusedActivation", 1, RELU)],
            reads=["x", "w-nodeIdx:0-outputIdx:0"],
            writes=["nodeIdx:1-outputIdx:0", ""],
            name="add",
        ),
        {"name": "two", "raw": FLOAT(2.0), "outputNames": ["two"]},
        node(
            "ELEMENT_WISE_MULTIPLY",
            [tensor("FLOAT32", 2, 2), tensor("FLOAT32", 2, 2, strides=[0, 0], total=4)],
            [tensor("FLOAT32", 2, 2)],
            reads=["nodeIdx:1-outputIdx:0", "two"],
            writes=["y"],
            name="mul",
        ),
    ],
    "inputs": ["x", ""],
    "outputs": ["y"],
}
"""y = 2 * relu(x + w): the sum is written as a row of four and read as a 2 x 2 matrix."""


def build(graph: Model) -> bytes:
    b = flatbuffers.Builder(256)
    nodes = offsets(b, [_node(b, node) for node in graph["nodes"]])
    inputs, outputs = strings(b, graph["inputs"]), strings(b, graph["outputs"])
    b.Finish(table(b, 3, {0: nodes, 1: inputs, 2: outputs}))
    return bytes(b.Output())


def write(directory: Path, graph: Model, name: str = "Partition_0.bin") -> Path:
    """Writes the graph and the data file of its constant ``w``."""
    (directory / "w.bin").write_bytes(np.array([1, -2, 3, -4], np.float32).tobytes())
    path = directory / name
    path.write_bytes(build(graph))
    return path


def load_partition(directory: Path, graph: Model, options: LoadOptions | None = None) -> Graph:
    path = write(directory, graph)
    return load(path) if options is None else load(path, options)


def table(
    b: flatbuffers.Builder,
    slots: int,
    fields: dict[int, Any],
    codes: dict[int, int] | None = None,
    totals: dict[int, int] | None = None,
) -> int:
    """A table of offsets (``fields``), bytes (``codes``) and 64-bit integers (``totals``), each by slot number."""
    b.StartObject(slots)
    for slot, total in (totals or {}).items():
        b.PrependUint64Slot(slot, total, 0)
    for slot, code in (codes or {}).items():
        b.PrependUint8Slot(slot, code, 0)
    for slot, offset in fields.items():
        if offset is not None:
            b.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return int(b.EndObject())


def string(b: flatbuffers.Builder, text: str | bytes | None) -> int | None:
    return None if text is None else int(b.CreateString(text))


def offsets(b: flatbuffers.Builder, items: Sequence[int | None]) -> int:
    b.StartVector(4, len(items), 4)
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return int(b.EndVector())


def strings(b: flatbuffers.Builder, texts: Sequence[str | bytes] | None) -> int | None:
    return None if texts is None else offsets(b, [string(b, text) for text in texts])


def numbers(b: flatbuffers.Builder, values: Sequence[Any] | None, form: str) -> int | None:
    if values is None:
        return None
    b.StartVector(4, len(values), 4)
    for value in reversed(values):
        for byte in reversed(struct.pack(form, value)):
            b.PrependByte(byte)
    return int(b.EndVector())


def structure(b: flatbuffers.Builder, content: bytes) -> int:
    b.Prep(4, len(content))
    for byte in reversed(content):
        b.PrependByte(byte)
    return int(b.Offset())


def _node(b: flatbuffers.Builder, node: Model) -> int:
    name = string(b, node.get("name"))
    code, desc = (1, _operator(b, node)) if "operator" in node else (2, _constant(b, node))
    inputs, outputs = strings(b, node.get("inputNames")), strings(b, node.get("outputNames"))
    return table(b, 5, {1: desc, 2: name, 3: inputs, 4: outputs}, {0: node.get("code", code)})


def _constant(b: flatbuffers.Builder, node: Model) -> int:
    if "constant" in node:
        code, detail = 1, table(b, 1, {0: string(b, node["constant"])})
    else:
        code, detail = 2, table(b, 1, {0: None if node["raw"] is None else b.CreateByteVector(node["raw"])})
    return table(b, 2, {1: detail}, {0: node.get("detail", code)})


def _operator(b: flatbuffers.Builder, node: Model) -> int:
    inputs, outputs = (offsets(b, [_tensor(b, item) for item in node[side]]) for side in ("inputs", "outputs"))
    fields = {0: string(b, node["operator"]), 1: inputs, 2: outputs, 3: _attributes(b, node["attributes"])}
    return table(b, 4, fields)


def _tensor(b: flatbuffers.Builder, item: Model) -> int:
    fields = {
        0: string(b, item["dataType"]),
        1: numbers(b, item["sizes"], "<I"),
        2: numbers(b, item["strides"], "<I"),
    }
    return table(b, 4, fields, totals={3: item["total"]})


def _attributes(b: flatbuffers.Builder, items: Sequence[Model]) -> int:
    return offsets(b, [_attribute(b, item) for item in items])


def _attribute(b: flatbuffers.Builder, item: Model) -> int:
    name, value = string(b, item["name"]), _value(b, item["code"], item["value"])
    return table(b, 3, {0: name, 2: value}, {1: item["code"]})


def _value(b: flatbuffers.Builder, code: int, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return structure(b, value)
    if code == 1:
        return _activation(b, value)
    if code == 2:
        return table(b, 1, {0: offsets(b, [_activation(b, each) for each in value])})
    if code == 12:
        return table(b, 2, {1: structure(b, value["bytes"])}, {0: value.get("code", 1)})
    return table(b, 1, {0: numbers(b, value, {7: "<I", 8: "<i", 9: "<f"}[code])})


def _activation(b: flatbuffers.Builder, value: Model) -> int:
    return table(b, 2, {0: string(b, value["type"]), 1: _attributes(b, value["attributes"])})
