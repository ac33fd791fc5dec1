"""Graphs and compiled models as Python objects: texts, copies, pickles, and other processes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.ir.data import FileData

SAMPLES = Path(__file__).parent.parent / "samples"
DIGITS = SAMPLES / "digits" / "model.json"

OTHER_PROCESS = """
import pickle, sys
import dml2onnx
graph = pickle.load(sys.stdin.buffer)
again = dml2onnx.load(sys.argv[1])
pairs = list(zip(graph.nodes, again.nodes, strict=True))
assert all(one.operator == two.operator and hash(one.operator) == hash(two.operator) for one, two in pairs)
pickle.dump(dml2onnx.run(graph), sys.stdout.buffer)
"""


@pytest.fixture(scope="module")
def graph() -> dml2onnx.Graph:
    return dml2onnx.load(DIGITS)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_copies_compute_the_same(graph: dml2onnx.Graph) -> None:
    expected = dml2onnx.run(graph)
    for other in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert same(dml2onnx.run(other), expected)


def test_another_process_can_run_a_pickled_graph(graph: dml2onnx.Graph) -> None:
    """Hashes of strings differ there."""
    command = [sys.executable, "-c", OTHER_PROCESS, str(DIGITS)]
    done = subprocess.run(command, input=pickle.dumps(graph), stdout=subprocess.PIPE, check=True)
    assert same(pickle.loads(done.stdout), dml2onnx.run(graph))


def test_a_copy_has_the_same_weights() -> None:
    """They may be gigabytes, and are never written to."""
    g = dml2onnx.GraphBuilder()
    graph = g.build({"y": g.constant(np.float32(1)) + 1})
    assert copy.deepcopy(graph).constants[0].data is graph.constants[0].data


def test_a_compiled_model_pickles(graph: dml2onnx.Graph) -> None:
    model = dml2onnx.compile(graph)
    assert pickle.loads(pickle.dumps(model)).serialize() == model.serialize()


def test_reprs_fit_a_line(graph: dml2onnx.Graph) -> None:
    assert repr(graph) == '<Graph "digits": 7 nodes, 1 input, 6 constants, 1 output>'
    assert repr(graph.nodes[0]) == '<Node "scale": ELEMENT_WISE_IDENTITY>'
    model = dml2onnx.compile(graph)
    assert repr(model) == f'<CompiledModel "digits": {model.node_count} nodes, opset 21, target onnx>'
    long = dml2onnx.GraphBuilder("name" * 100)
    assert len(repr(long.build(long.input("x", "FLOAT32", [1])))) < 120
    assert len(repr(graph.nodes[0].operator)) < 600


def test_texts_are_summaries(graph: dml2onnx.Graph) -> None:
    lines = str(graph).splitlines()
    assert lines[0] == 'DirectML graph "digits", feature level 1_0'
    assert "  input  images: FLOAT32 [360, 1, 8, 8]" in lines
    assert "       2 CONVOLUTION" in lines
    model = dml2onnx.compile(graph)
    lines = str(model).splitlines()
    assert lines[0] == 'ONNX model "digits", opset 21, target onnx'
    assert "  input  images: float32 [360, 1, 8, 8]" in lines
    assert f"  {model.node_count} nodes" in lines


def test_summaries_are_short() -> None:
    g = dml2onnx.GraphBuilder()
    inputs = [g.input(f"x{i}", "FLOAT32", [1]) for i in range(100)]
    assert "  ... and 80 more" in str(g.build({"y": inputs[0] + 1})).splitlines()


def test_errors_pickle_with_their_findings() -> None:
    with pytest.raises(dml2onnx.UnreadableError) as caught:
        dml2onnx.load(SAMPLES / "nowhere.json")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is dml2onnx.UnreadableError
    assert again.diagnostics == caught.value.diagnostics
    assert str(again) == str(caught.value)


def test_public_functions_are_found_by_other_processes() -> None:
    for name in dml2onnx.__all__:
        public = getattr(dml2onnx, name)
        assert pickle.loads(pickle.dumps(public)) is public, name


def test_results_pickle(graph: dml2onnx.Graph) -> None:
    model = dml2onnx.compile(graph)
    findings = dml2onnx.check(SAMPLES / "broken" / "model.json")
    assert findings
    results = [
        findings,
        dml2onnx.minimum_feature_level(graph),
        model.inputs,
        model.outputs,
        dml2onnx.verify(graph, rounds=1),
        dml2onnx.LoadOptions(freeze=True),
    ]
    for item in results:
        assert pickle.loads(pickle.dumps(item)) == item


def test_mapped_constants_pickle(graph: dml2onnx.Graph) -> None:
    again = pickle.loads(pickle.dumps(graph))
    assert any(isinstance(item.data, FileData) for item in graph.constants)
    for one, other in zip(graph.constants, again.constants, strict=True):
        assert one.data.nbytes == other.data.nbytes
        assert np.array_equal(one.data.read(), other.data.read())
