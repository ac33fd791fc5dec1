"""Passes fire where they should, and nothing but the nodes depends on them: no bit of any result, no name of a port."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.model import Array, OnnxGraph
from dml2onnx.passes import PASSES, ROUNDING, Draft, Pass, apply, chosen
from dml2onnx.targets import target
from dml2onnx.testing.random_graphs import samples
from dml2onnx.testing.random_graphs.draft import Sample
from dml2onnx.verification import contents, verify
from tests.passes.examples import EXAMPLES, Example, read_twice

NAMES = [item.name for item in PASSES]


def compiled(graph: Graph, *passes: Pass, opset: int = 21, target: str = "cpu", exact: bool = True) -> CompiledModel:
    return compile_outputs(graph, graph.outputs, opset=opset, target=target, through=passes, exact=exact)


def computed(model: CompiledModel, feeds: Mapping[str, Array], *, optimized: bool) -> list[Array]:
    """What ONNX Runtime makes of a model, with its own passes or without them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.serialize(), options, ["CPUExecutionProvider"])
    wanted = {item.name for item in session.get_inputs()}
    return session.run(None, {name: array for name, array in feeds.items() if name in wanted})


def feeds_of(model: CompiledModel) -> dict[str, Array]:
    random = np.random.default_rng(3)
    return {port.onnx_name: contents(port, random, "ordinary") for port in model.inputs}


def require_same(first: CompiledModel, second: CompiledModel) -> None:
    """Two models of one graph: the same ports, and the same bits, whether ONNX Runtime optimises them or not."""
    assert first.inputs == second.inputs
    assert first.outputs == second.outputs
    feeds = feeds_of(first)
    for optimized in (False, True):
        one, other = (computed(model, feeds, optimized=optimized) for model in (first, second))
        for port, a, b in zip(first.outputs, one, other, strict=True):
            assert a.tobytes() == b.tobytes(), (port.name, optimized)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_each_pass_fires(example: Example) -> None:
    graph = example.build()
    (only,) = [item for item in PASSES if item.name == example.name]
    exact = example.exact
    literal, passed = compiled(graph, exact=exact), compiled(graph, only, exact=exact)
    assert Counter(node.op_type for node in literal.lowered.nodes) == example.before
    assert Counter(node.op_type for node in passed.lowered.nodes) == example.after
    require_same(literal, passed)
    require_same(literal, compiled(graph, *PASSES, exact=exact))
    result = verify(graph, rounds=1)
    assert result.passed
    assert {item.node for item in result.nodes} == {node.name for node in graph.nodes}
    # whatever became of a node, it is told of all of them
    assert [item.node for item in passed.traces] == [item.node for item in literal.traces]
    gone = [a.node for a, b in zip(passed.traces, literal.traces, strict=True) if len(a.nodes) < len(b.nodes)]
    assert all(item.notes for item in passed.traces if item.node in gone)


def test_every_pass_has_an_example_and_a_sentence() -> None:
    assert {item.name for item in EXAMPLES} == set(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    assert all(item.description.endswith(".") and len(item.description) > 30 for item in PASSES)


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


def test_the_page_lists_every_pass() -> None:
    page = (Path(__file__).parents[2] / "docs" / "optimisation.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{item.name}` | {item.description} |" for item in (*PASSES, *ROUNDING)]


def test_a_model_with_nothing_to_do_is_handed_on() -> None:
    g = dml2onnx.GraphBuilder()
    lowered = compiled(g.build({"y": g.activation_relu(g.input("x", "FLOAT32", (2, 3)))})).lowered
    assert apply(lowered, PASSES, 21, target("cpu")) is lowered
    assert Draft(lowered, 21, target("cpu")).finish() is lowered


def test_levels_and_names_choose() -> None:
    assert chosen() == PASSES
    assert chosen(0) == ()
    assert [item.name for item in chosen(1, NAMES[:1])] == NAMES[1:]
    graph = read_twice()
    assert dml2onnx.compile(graph, optimize=0).passes == ()
    assert dml2onnx.compile(graph).passes == tuple(NAMES)
    assert dml2onnx.compile(graph, optimize=0).node_count > dml2onnx.compile(graph).node_count
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    results = [dml2onnx.run(graph, {"x": x}, optimize=level)["y"] for level in (0, 1)]
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize(
    ("level", "without"), [(3, ()), (-1, ()), ("1", ()), (True, ()), (1, ["sharing"]), (1, "share-moves")]
)
def test_others_are_refused(level: object, without: object) -> None:
    with pytest.raises(DmlError) as caught:
        chosen(level, without)
    assert [item.code for item in caught.value.diagnostics] == ["DML3017"]


@pytest.mark.parametrize("command", ["compile", "run", "verify", "explain", "report"])
def test_commands_take_the_level(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.json"
    dml2onnx.convert(read_twice(), model)
    np.save(tmp_path / "x.npy", np.ones((2, 3, 4), np.float32))
    given = [f"--input=x={tmp_path / 'x.npy'}"] if command in ("run", "verify") else []
    names = {}
    for options in (["-O0"], [], [f"--no-pass={name}" for name in NAMES]):
        assert main([command, str(model), "--json", *given, *options]) == 0
        answer = json.loads(capsys.readouterr().out)
        names[" ".join(options)] = (answer.get("onnx") or answer).get("passes")
    if command != "verify":  # which says what differs, whatever the model went through
        assert list(names.values()) == [[], NAMES, []]
    assert main([command, str(model), "--no-pass", "sharing"]) == 2
    assert 'there is no pass "sharing"; the passes are share-moves, ' in capsys.readouterr().err


def counts(graph: OnnxGraph) -> Counter[str]:
    return Counter(node.op_type for node in graph.nodes)


def test_what_a_draft_loses_takes_its_makers_and_constants_along() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", (2, 3))
    y = g.add(g.multiply(x, g.constant(np.full((2, 3), 2, np.float32))), g.abs(x))
    lowered = compiled(g.build({"y": y})).lowered
    draft = Draft(lowered, 21, target("cpu"))
    add = next(draft.nodes(frozenset({"Add"})))
    draft.replace(add, draft.node("Abs", [add.inputs[1]], add.outputs), note="no longer added")
    result = draft.finish()
    assert counts(result) == {"Abs": 2}
    assert not result.initializers
    assert [origin.notes for origin in result.traces][-1] == ("no longer added",)
    assert [origin.node for origin in result.origins] == [origin.node for origin in lowered.origins]
    assert counts(lowered) == {"Mul": 1, "Abs": 1, "Add": 1}  # the one that was given is as it was


def test_names_in_a_draft_are_new() -> None:
    lowered = compiled(read_twice()).lowered
    draft = Draft(lowered, 21, target("cpu"))
    taken = {"x", "y", *(value.name for node in lowered.nodes for value in node.outputs if value is not None)}
    assert draft.value("x", np.dtype(np.float32), (1,)).name not in taken
    stored = [draft.store(np.zeros(2, np.float32), "w").name for _ in range(2)]
    assert stored == ["w", "w_2"]
