"""Compares graphs: values by their connections, numbers by their bits."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dml2onnx
from dml2onnx.codes.reading import NEWER_THAN_DXDISPATCH
from dml2onnx.compiler import compile
from dml2onnx.exporters import convert
from dml2onnx.ir.data import Data
from dml2onnx.ir.graph import Effect, Graph, GraphOutput, Node, Value
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias


def bits(value: Any) -> Any:
    """A field's value with floats as bytes, so that NaN equals itself and -0.0 does not equal 0.0."""
    match value:
        case float():
            return struct.pack("<d", value)
        case tuple():
            return tuple(bits(item) for item in value)
        case ScaleBias(scale, bias):
            return bits((scale, bias))
        case Scalar(data_type, number):
            return data_type, bits(float(number) if data_type.is_float else number)
        case OperatorDesc():
            return value.type, bits(value.values)
    return value


def contents(data: Data | None, nbytes: int) -> bytes | None:
    if data is None:
        return None
    assert data.nbytes <= nbytes
    raw = data.read(0, nbytes)
    return np.concatenate([raw, np.zeros(nbytes - raw.size, np.uint8)]).tobytes()


def described(graph: Graph) -> dict[str, Any]:
    """Everything in a graph except positions in its source."""
    numbers: dict[Value, int] = {}

    def value(item: Value | None) -> Any:
        return item and (numbers.setdefault(item, len(numbers)), item.name, item.nbytes)

    def node(item: Node) -> Any:
        reads = {name: [(value(r.value), r.offset) for r in reads] for name, reads in item.reads.items()}
        writes = {
            name: [(value(w.value), w.offset, value(w.base)) for w in writes] for name, writes in item.writes.items()
        }
        return item.name, bits(item.operator), reads, writes

    def output(item: GraphOutput) -> Any:
        return item.name, value(item.value), item.desc

    def effect(item: Effect) -> Any:
        return item.kind, output(item.output), item.path, item.dimensions, item.verbose

    return {
        "name": graph.name,
        "feature level": graph.feature_level,
        "inputs": [
            (item.name, value(item.value), item.desc, contents(item.default, item.value.nbytes))
            for item in graph.inputs
        ],
        "constants": [(value(item.value), contents(item.data, item.value.nbytes)) for item in graph.constants],
        "nodes": [node(item) for item in graph.nodes],
        "outputs": [output(item) for item in graph.outputs],
        "results": [output(item) for item in graph.results],
        "effects": [effect(item) for item in graph.effects],
    }


def compare(graph: Graph, other: Graph) -> None:
    expected, actual = described(graph), described(other)
    for part in expected:
        assert actual[part] == expected[part], part


def compiled(graph: Graph) -> bytes:
    """The ONNX model, without the format of the graph's source."""
    return compile(replace(graph, format="")).model_proto.SerializeToString()


def round_trip(graph: Graph, directory: Path, format: str = "native", *, compiles: bool = True) -> dict[str, bytes]:
    """Converts a graph twice and checks that it stays the same, as does its model; returns the files."""
    once, twice = directory / "once", directory / "twice"
    files = []
    for place in (once, twice):
        place.mkdir(parents=True)
        written = convert(graph, place / "model.json", format)
        back = dml2onnx.load(place / "model.json")
        assert [str(item) for item in back.findings if item.code != NEWER_THAN_DXDISPATCH.id] == []
        compare(graph, back)
        files.append({path.name: path.read_bytes() for path in written})
        original, graph = graph, back
        if compiles and place is once:
            assert compiled(back) == compiled(original)
    assert files[0] == files[1]
    return files[0]
