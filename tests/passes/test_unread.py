"""Models have no dead nodes and no unused constants."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.checks import check
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.lowering.registry import lowerings
from dml2onnx.onnx_model import bodies, with_bodies
from dml2onnx.passes import chosen
from dml2onnx.test_cases import valid
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from dml2onnx.test_cases.single_node import single_node

CHUNKS = 4
VECTOR = "concat-053-offsets-float64"


def unread(model: CompiledModel) -> list[str]:
    """Returns the names of dead nodes and unused constants."""
    nodes = list(with_bodies(model.lowered.nodes))
    read = {port.onnx_name for port in model.outputs}
    for node in nodes:
        read.update(item.name for item in node.inputs if item is not None)
        read.update(item.name for body in bodies(node) for item in body.outputs)
    dead = [node.name for node in nodes if not any(item is not None and item.name in read for item in node.outputs)]
    return dead + [name for name in model.lowered.initializers if name not in read]


def unread_in_all_models(graph: Graph) -> list[str]:
    """Checks default and exact models of a graph at every level."""
    wrong = []
    for exact in (False, True):
        for level in (0, 1, 2):
            try:
                model = compile_outputs(
                    graph, graph.outputs, target="cpu" if exact else "onnx", exact=exact, passes=chosen(level)
                )
            except DmlError:  # the target has no form for the operator
                continue
            wrong += [f"exact={exact} -O{level}: {name}" for name in unread(model)]
    return wrong


def test_every_operator_has_a_descriptor() -> None:
    assert set(lowerings()) <= {name.removeprefix("DML_OPERATOR_") for name in valid.descriptors()}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_operator(chunk: int) -> None:
    wrong = []
    for name, descs in sorted(valid.descriptors().items())[chunk::CHUNKS]:
        for op in descs:
            for constant in (False, True):
                found = unread_in_all_models(single_node(op, constant=constant))
                wrong += [f"{name}, constant={constant}: {text}" for text in found]
    assert not wrong


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(samples(), st.booleans(), st.sampled_from([0, 1, 2]))
def test_random_graphs(sample: Sample, exact: bool, level: int) -> None:
    assume(not any(item.severity is Severity.ERROR for item in check(sample.graph)))
    outputs = sample.graph.outputs
    try:
        model = compile_outputs(
            sample.graph, outputs, target="cpu" if exact else "onnx", exact=exact, passes=chosen(level)
        )
    except DmlError:
        assume(False)
    assert not unread(model)


def test_a_program_without_changes_by_passes(corpus: Path) -> None:
    """A regression: dead Slices were kept because no pass changed the model."""
    directory = corpus / VECTOR
    assert json.loads((directory / "case.json").read_text())["operators"]
    graph = dml2onnx.load(directory / "model.json")
    assert not unread_in_all_models(graph if isinstance(graph, Graph) else graph.graph)


def test_inputs_of_dead_nodes_are_dropped() -> None:
    """Only one output of TOP_K is used."""
    g = GraphBuilder()
    values, _ = g.top_k1(g.input("x", "FLOAT32", (1, 1, 2, 8)), 3, 3, "DECREASING")
    scaled = g.add(values, g.broadcast(g.constant(np.ones((1, 1, 1, 1), np.float32)), values.sizes))
    assert not unread_in_all_models(g.build({"y": scaled}))
