"""Round trips of every graph of the tests and samples as programs of the builder and of DirectMLX."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters.whole_tensors import obstacles
from dml2onnx.ir.graph import Graph
from dml2onnx.test_cases.valid import descriptors
from tests.conftest import shared_directory

from .graphs import every_graph, is_network, is_valid
from .same import round_trip
from .test_python import assert_tidy

LEFT_OUT = {
    "no output": "a graph needs an output",
    "DML1901": "DirectMLX has no tensors that start inside a buffer",
    "DML1902": "no writes into a part of a buffer",
    "DML1903": "no buffers with a different size than their tensors",
    "DML1905": "no outputs without a node that writes them",
    "DML1908": "no unused inputs",
    "DML1910": "no tensors above the largest size",
}
"""Reasons why a valid graph has no program of DirectMLX."""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graph]:
    found = list(every_graph(shared_directory(), tmp_path_factory.mktemp("graphs")))
    names = Counter(name for name, _ in found)
    assert not [name for name, count in names.items() if count > 1]
    return {name: graph for name, graph in found if is_valid(graph)}


def test_counts(graphs: dict[str, Graph]) -> None:
    assert {name.removeprefix("DML_OPERATOR_") for name in descriptors()} <= graphs.keys()
    kinds = Counter(re.split(r"[ /]", name)[0] for name in graphs)
    assert kinds["sample"] == 4
    assert min(kinds[kind] for kind in ("pass", "case", "fixture", "program", "documented", "newcomers'")) > 2


def test_builder(graphs: dict[str, Graph], tmp_path: Path) -> None:
    """Graphs with outputs, which ``build`` requires."""
    written, refused = 0, dict[str, set[str]]()
    for number, (name, graph) in enumerate(graphs.items()):
        if not graph.outputs:
            continue
        try:
            round_trip(graph, tmp_path / str(number))
        except DmlError as error:
            refused[name] = {item.code for item in error.diagnostics}
            continue
        except AssertionError as error:
            raise AssertionError(name) from error
        written += 1
    assert refused == {"case of array too long": {"DML1109"}}  # DirectML accepts it, the builder does not
    assert written > len(graphs) * 0.95
    assert_tidy(tmp_path)


def test_directmlx(graphs: dict[str, Graph], tmp_path: Path) -> None:
    """Every graph has a program or a reason for the refusal; ``test_cpp`` compiles the programs of networks."""
    written = 0
    for name, graph in graphs.items():
        reasons = {item.code for item in obstacles(graph)} | ({"no output"} if not graph.outputs else set())
        assert reasons <= LEFT_OUT.keys(), name
        program = tmp_path / f"{written}.cpp"
        if reasons:
            with pytest.raises(DmlError):
                dml2onnx.convert(graph, program)
            continue
        if not is_network(name, graph):
            dml2onnx.convert(graph, program)
            assert "IDMLCompiledOperator> Compile(" in program.read_text("utf-8")
            written += 1
    assert written > 300
