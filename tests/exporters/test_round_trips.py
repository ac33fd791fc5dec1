"""Every graph that there is, in every format and back: all comes back that the format can say."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import dml2onnx
from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters import GRAPHS, convert
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.graph import Graph
from dml2onnx.testing.random_graphs import samples
from dml2onnx.testing.random_graphs.draft import Sample
from tests.conftest import shared_directory
from tests.source_code.graphs import FLAG_GOES, SAMPLES, every_graph, is_valid

from . import test_dml_graph, test_dxdispatch, test_serialized
from .same import round_trip
from .test_native import SCHEMA


def native(graph: Graph, directory: Path) -> None:
    """All of it, in the form that the schema has."""
    SCHEMA.validate(json.loads(round_trip(graph, directory, compiles=False)["model.json"]))


WAYS: dict[str, Callable[[Graph, Path], object]] = {
    "native": native,
    "dml_graph": test_dml_graph.round_trip,
    "dxdispatch": test_dxdispatch.comes_back,
    "serialized": test_serialized.comes_back,
}
NO_GRAPH_OF_EDGES = {codes.INNER_OFFSET, codes.PARTIAL_WRITE, codes.BUFFER_SIZE, codes.NO_NODE_OUTPUT}
CANNOT_SAY = {
    "native": set(),
    "dml_graph": {*NO_GRAPH_OF_EDGES, codes.EFFECT, codes.UNREAD_INPUT, codes.OTHER_VIEW},
    "dxdispatch": {
        *(codes.BUFFER_VERSIONS, codes.UNREAD_INPUT, codes.NO_NODE_OUTPUT, codes.UNSUITABLE_NAME, codes.TWO_OUTPUTS)
    },
    "serialized": {*NO_GRAPH_OF_EDGES, codes.EFFECT, codes.UNREAD_INPUT, codes.TWO_OUTPUTS, codes.HIDDEN_VALUE},
}
"""What a format may refuse of a right graph."""
LARGE = {codes.TOO_LARGE_TO_WRITE}
"""And this any of them."""


NOT_STORED = {FLAG_GOES, "case of array too long"}
"""Graphs that DirectML takes though they say more than it reads; only the native format keeps that."""


def says(format: str, graph: Graph, directory: Path) -> bool:
    """Whether a graph comes back from a format; else it is refused for what that cannot say."""
    directory.mkdir(exist_ok=True)
    try:
        WAYS[format](graph, directory)
    except DmlError as error:
        refused = {item.code for item in error.diagnostics}
    else:
        return True
    assert refused <= {item.id for item in CANNOT_SAY[format] | LARGE}
    return False


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graph]:
    found = every_graph(shared_directory(), tmp_path_factory.mktemp("graphs"))
    return {name: graph for name, graph in found if is_valid(graph)}


@pytest.mark.parametrize("format", GRAPHS)
def test_every_graph(format: str, graphs: dict[str, Graph], tmp_path: Path) -> None:
    kept = {name: graph for name, graph in graphs.items() if format == "native" or name not in NOT_STORED}
    said = [name for number, (name, graph) in enumerate(kept.items()) if says(format, graph, tmp_path / str(number))]
    assert len(said) > 0.9 * len(graphs), graphs.keys() - set(said)


@pytest.mark.parametrize("format", GRAPHS)
@settings(deadline=None, derandomize=True, max_examples=100)
@given(sample=samples())
def test_random_graphs(format: str, sample: Sample) -> None:
    with tempfile.TemporaryDirectory() as directory:
        if is_valid(sample.graph):
            says(format, sample.graph, Path(directory))


@pytest.mark.parametrize("format", GRAPHS)
@pytest.mark.parametrize("name", ["picture", "digits"])
def test_what_comes_back_computes_the_same(format: str, name: str, tmp_path: Path) -> None:
    """Programs without their writeFile commands."""
    graph = dml2onnx.load(SAMPLES / name / "model.json", LoadOptions(freeze=name == "digits"))
    convert(replace(graph, effects=()), tmp_path / "graph", format)
    inputs = dml2onnx.compile(graph).complete(None)
    want, got = dml2onnx.run(graph, inputs), dml2onnx.run(tmp_path / "graph", inputs)
    for item in graph.outputs:
        np.testing.assert_array_equal(got[item.name], want[item.name])
