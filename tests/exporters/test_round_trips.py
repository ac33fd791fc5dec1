"""Round trips of every graph of the tests and samples in every format."""

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
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from tests.conftest import shared_directory
from tests.source_code.graphs import FLAG_GOES, SAMPLES, every_graph, is_valid

from . import test_dml_graph, test_dxdispatch, test_serialized
from .same import round_trip
from .test_native import SCHEMA


def native(graph: Graph, directory: Path) -> None:
    """A round trip with validation by the schema."""
    SCHEMA.validate(json.loads(round_trip(graph, directory, compiles=False)["model.json"]))


ROUND_TRIPS: dict[str, Callable[[Graph, Path], object]] = {
    "native": native,
    "dml_graph": test_dml_graph.round_trip,
    "dxdispatch": test_dxdispatch.program_round_trip,
    "serialized": test_serialized.round_trip,
}
WHOLE_TENSORS = {codes.INNER_OFFSET, codes.PARTIAL_WRITE, codes.BUFFER_SIZE, codes.NO_NODE_OUTPUT}
REFUSALS = {
    "native": set(),
    "dml_graph": {*WHOLE_TENSORS, codes.EFFECT, codes.UNREAD_INPUT, codes.OTHER_VIEW},
    "dxdispatch": {
        *(codes.BUFFER_VERSIONS, codes.UNREAD_INPUT, codes.NO_NODE_OUTPUT, codes.UNSUITABLE_NAME, codes.TWO_OUTPUTS)
    },
    "serialized": {*WHOLE_TENSORS, codes.EFFECT, codes.UNREAD_INPUT, codes.TWO_OUTPUTS, codes.HIDDEN_VALUE},
}
"""Codes for which a format may refuse a valid graph, besides TOO_LARGE_TO_WRITE."""
NOT_STORED = {FLAG_GOES, "case of array too long"}
"""Graphs with members that DirectML ignores; only the native format stores them."""


def is_stored(format: str, graph: Graph, directory: Path) -> bool:
    """Checks the round trip of a graph, or the codes for which the format refuses it."""
    directory.mkdir(exist_ok=True)
    try:
        ROUND_TRIPS[format](graph, directory)
    except DmlError as error:
        refused = {item.code for item in error.diagnostics}
    else:
        return True
    assert refused <= {item.id for item in REFUSALS[format] | {codes.TOO_LARGE_TO_WRITE}}
    return False


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graph]:
    found = every_graph(shared_directory(), tmp_path_factory.mktemp("graphs"))
    return {name: graph for name, graph in found if is_valid(graph)}


@pytest.mark.parametrize("format", GRAPHS)
def test_every_graph(format: str, graphs: dict[str, Graph], tmp_path: Path) -> None:
    storable = [name for name in graphs if format == "native" or name not in NOT_STORED]
    stored = [name for n, name in enumerate(storable) if is_stored(format, graphs[name], tmp_path / str(n))]
    assert len(stored) > 0.9 * len(graphs), graphs.keys() - set(stored)


@pytest.mark.parametrize("format", GRAPHS)
@settings(deadline=None, derandomize=True, max_examples=100)
@given(sample=samples())
def test_random_graphs(format: str, sample: Sample) -> None:
    with tempfile.TemporaryDirectory() as directory:
        if is_valid(sample.graph):
            is_stored(format, sample.graph, Path(directory))


@pytest.mark.parametrize("format", GRAPHS)
@pytest.mark.parametrize("name", ["picture", "digits"])
def test_results_stay_the_same(format: str, name: str, tmp_path: Path) -> None:
    graph = dml2onnx.load(SAMPLES / name / "model.json", LoadOptions(freeze=name == "digits"))
    convert(replace(graph, effects=()), tmp_path / "graph", format)
    inputs = dml2onnx.compile(graph).complete(None)
    expected, actual = dml2onnx.run(graph, inputs), dml2onnx.run(tmp_path / "graph", inputs)
    for item in graph.outputs:
        np.testing.assert_array_equal(actual[item.name], expected[item.name])
