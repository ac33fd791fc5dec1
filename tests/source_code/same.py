"""Whether two graphs are the same but for the names of their nodes and values."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dml2onnx
from dml2onnx.ir.data import Data
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.tensor import TensorDesc
from tests.exporters.same import bits


def _contents(data: Data | None, nbytes: int) -> bytes | None:
    if data is None:
        return None
    raw = data.read(0, nbytes)
    return np.concatenate([raw, np.zeros(nbytes - raw.size, np.uint8)]).tobytes()


def _usual(value: Any) -> Any:
    """A total size that is the smallest one says no more than none."""
    if isinstance(value, tuple):
        return tuple(map(_usual, value))
    is_usual = isinstance(value, TensorDesc) and value.total_size == value.minimum_bytes
    return replace(value, total_size=0) if is_usual else value


def described(graph: Graph) -> dict[str, Any]:
    """All that a graph says, but for names that nobody outside of it knows, and what nothing reads."""
    constants = {item.value: item for item in graph.constants}
    inputs = {item.value: number for number, item in enumerate(graph.inputs)}
    made: dict[Value, Any] = {}

    def value(item: Value | None) -> Any:
        if item is None:
            return None
        if item in constants:
            return "constant", item.nbytes, _contents(constants[item].data, item.nbytes)
        return ("input", inputs[item]) if item in inputs else made[item]

    def node(number: int, item: Node) -> Any:
        reads = {name: [(value(r.value), r.offset) for r in reads] for name, reads in item.reads.items()}
        writes = {}
        for name, several in item.writes.items():
            for index, write in enumerate(several):
                base = value(write.base)
                made[write.value] = (number, name, index)
                writes[name, index] = (write.offset, base, write.value.nbytes)
        operator, values = bits(item.operator)
        return (operator, _usual(values)), reads, writes

    def output(item: GraphOutput) -> Any:
        return item.name, value(item.value), _usual(item.desc)

    seen = [_usual(item) for item in input_descs(graph.inputs, graph.nodes, graph.outputs)]
    return {
        "name": graph.name,
        "feature level": graph.feature_level,
        "inputs": [
            (item.name, item.value.nbytes, desc, _contents(item.default, item.value.nbytes))
            for item, desc in zip(graph.inputs, seen, strict=True)
        ],
        "nodes": [node(number, item) for number, item in enumerate(graph.sorted_nodes())],
        "outputs": [output(item) for item in graph.outputs],
        "results": [output(item) for item in graph.results],
    }


def compare(graph: Graph, other: Graph) -> None:
    """Fails where two graphs differ in more than names."""
    want, got = described(graph), described(other)
    for part in want:
        assert got[part] == want[part], part


def built(program: Path) -> Graph:
    """The graph that a program builds."""
    graph: Graph = runpy.run_path(str(program))["build"]()
    return graph


def round_trip(graph: Graph, directory: Path) -> str:
    """Writes the program of a graph, runs it, and compares; returns its text."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "program.py"
    dml2onnx.convert(graph, program)
    compare(graph, built(program))
    return program.read_text("utf-8")
