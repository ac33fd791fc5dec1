"""Passes change neither results nor ports; options that select them; drafts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.onnx_model import OnnxGraph
from dml2onnx.passes import PASSES, Draft, apply
from dml2onnx.passes.draft import only_output
from dml2onnx.targets import target
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from tests.passes.examples import transposed_twice
from tests.passes.running import compiled, require_same

NAMES = [item.name for item in PASSES]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(samples(), st.sampled_from([17, 21, 23]), st.sampled_from(["cpu", "dml"]))
def test_random_graphs_compute_the_same_bits(sample: Sample, opset: int, target: str) -> None:
    assume(not any(item.severity is Severity.ERROR for item in check(sample.graph)))
    try:
        literal = compiled(sample.graph, opset=opset, target=target)
    except DmlError:
        assume(False)
    passed = compiled(sample.graph, *PASSES, opset=opset, target=target)
    if passed.lowered is not literal.lowered and target == "cpu":
        require_same(literal, passed)


def test_an_unchanged_model_is_the_same_object() -> None:
    g = dml2onnx.GraphBuilder()
    lowered = compiled(g.build({"y": g.activation_relu(g.input("x", "FLOAT32", (2, 3)))})).lowered
    assert apply(lowered, PASSES, target("cpu")) is lowered
    assert Draft(lowered, target("cpu")).finish() is lowered


@pytest.mark.parametrize("command", ["compile", "run", "verify", "explain", "report"])
def test_commands_take_the_level(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.json"
    dml2onnx.convert(transposed_twice(), model)
    np.save(tmp_path / "x.npy", np.ones((2, 3, 4), np.float32))
    inputs = [f"--input=x={tmp_path / 'x.npy'}"] if command in ("run", "verify") else []
    names = {}
    for options in (["-O0"], [], [f"--no-pass={name}" for name in NAMES]):
        assert main([command, str(model), "--json", *inputs, *options]) == 0
        answer = json.loads(capsys.readouterr().out)
        names[" ".join(options)] = (answer.get("onnx") or answer).get("passes")
    if command != "verify":  # its answer has no passes
        assert list(names.values()) == [[], NAMES, []]
    assert main([command, str(model), "--no-pass", "sharing"]) == 2
    assert 'there is no pass "sharing"; the passes are share-moves, ' in capsys.readouterr().err


def counts(graph: OnnxGraph) -> Counter[str]:
    return Counter(node.op_type for node in graph.nodes)


def test_a_draft_drops_dead_producers_and_constants() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", (2, 3))
    y = g.add(g.multiply(x, g.constant(np.full((2, 3), 2, np.float32))), g.abs(x))
    lowered = compiled(g.build({"y": y})).lowered
    draft = Draft(lowered, target("cpu"))
    add = next(draft.nodes(frozenset({"Add"})))
    draft.replace(add, draft.node("Abs", [add.inputs[1]], add.outputs), note="no longer added")
    result = draft.finish()
    assert counts(result) == {"Abs": 2}
    assert not result.initializers
    assert [origin.notes for origin in result.traces][-1] == ("no longer added",)
    assert [origin.node for origin in result.origins] == [origin.node for origin in lowered.origins]
    assert counts(lowered) == {"Mul": 1, "Abs": 1, "Add": 1}  # the original is unchanged


def test_a_walk_visits_a_replaced_node_once() -> None:
    g = dml2onnx.GraphBuilder()
    lowered = compiled(g.build({"y": g.negate(g.abs(g.input("x", "FLOAT32", (2, 3))))})).lowered
    draft = Draft(lowered, target("cpu"))
    walk = draft.nodes(frozenset({"Abs", "Neg"}))
    (later,) = draft.readers(next(walk).outputs[0])
    draft.replace(later, draft.node("Abs", later.inputs, later.outputs))
    assert [node.op_type for node in walk] == ["Abs"]


@pytest.mark.parametrize("is_new", [False, True])
def test_another_input_does_not_change_whether_a_node_is_new(is_new: bool) -> None:
    draft = Draft(compiled(transposed_twice()).lowered, target("cpu"))
    first, second = draft.nodes(frozenset({"Transpose"}))
    (reader,) = draft.readers(second.outputs[0])
    if is_new:
        draft.replace(reader, draft.node(reader.op_type, reader.inputs, reader.outputs))
    old, new = only_output(second), only_output(first)
    draft.redirect(old, new)
    assert [node.inputs for node in draft.new_nodes()] == ([(new,)] if is_new else [])
    assert draft.readers(old) == ()


def test_names_in_a_draft_are_new() -> None:
    lowered = compiled(transposed_twice()).lowered
    draft = Draft(lowered, target("cpu"))
    taken = {"x", "y", *(value.name for node in lowered.nodes for value in node.outputs if value is not None)}
    assert draft.value("x", np.dtype(np.float32), (1,)).name not in taken
    stored = [draft.store(np.zeros(2, np.float32), "w").name for _ in range(2)]
    assert stored == ["w", "w_2"]
