"""Compares graphs, ignoring the names of nodes and values."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import dml2onnx
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.tensor import TensorDesc
from tests.exporters.same import bits, contents


def _normalized(value: Any) -> Any:
    """Drops total sizes that equal the minimum."""
    if isinstance(value, tuple):
        return tuple(map(_normalized, value))
    is_minimal = isinstance(value, TensorDesc) and value.total_size == value.minimum_bytes
    return replace(value, total_size=0) if is_minimal else value


def described(graph: Graph) -> dict[str, Any]:
    """Everything in a graph except inner names and unused constants."""
    constants = {item.value: item for item in graph.constants}
    inputs = {item.value: number for number, item in enumerate(graph.inputs)}
    written: dict[Value, Any] = {}

    def value(item: Value | None) -> Any:
        if item is None:
            return None
        if item in constants:
            return "constant", item.nbytes, contents(constants[item].data, item.nbytes)
        return ("input", inputs[item]) if item in inputs else written[item]

    def node(number: int, item: Node) -> Any:
        reads = {name: [(value(r.value), r.offset) for r in reads] for name, reads in item.reads.items()}
        writes = {}
        for name, several in item.writes.items():
            for index, write in enumerate(several):
                base = value(write.base)
                written[write.value] = (number, name, index)
                writes[name, index] = (write.offset, base, write.value.nbytes)
        operator, values = bits(item.operator)
        return (operator, _normalized(values)), reads, writes

    def output(item: GraphOutput) -> Any:
        return item.name, value(item.value), _normalized(item.desc)

    descs = [_normalized(item) for item in input_descs(graph.inputs, graph.nodes, graph.outputs)]
    return {
        "name": graph.name,
        "feature level": graph.feature_level,
        "inputs": [
            (item.name, item.value.nbytes, desc, contents(item.default, item.value.nbytes))
            for item, desc in zip(graph.inputs, descs, strict=True)
        ],
        "nodes": [node(number, item) for number, item in enumerate(graph.sorted_nodes())],
        "outputs": [output(item) for item in graph.outputs],
        "results": [output(item) for item in graph.results],
    }


def compare(graph: Graph, other: Graph) -> None:
    expected, actual = described(graph), described(other)
    for part in expected:
        assert actual[part] == expected[part], part


def built(program: Path) -> Graph:
    """Runs a program; returns its graph."""
    graph: Graph = runpy.run_path(str(program))["build"]()
    return graph


def round_trip(graph: Graph, directory: Path) -> str:
    """Writes and runs the program of a graph, and compares the result; returns the text."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "program.py"
    dml2onnx.convert(graph, program)
    compare(graph, built(program))
    return program.read_text("utf-8")
