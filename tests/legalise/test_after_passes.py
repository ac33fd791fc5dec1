"""The rules of a target also apply to nodes made by passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx import targets
from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import CompiledModel, compile, compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.emitter.windows import Window
from dml2onnx.ir.graph import Graph
from dml2onnx.legalise import LEGALISATION
from dml2onnx.legalise.quirks.convolutions import in_padding
from dml2onnx.onnx_model import FLOAT, OnnxNode
from dml2onnx.passes import PASSES, ROUNDING, Draft
from tests.passes.test_reinterpretations import program, rows

TARGETS = ("onnx", "cpu", "dml", "openvino", "portable", "qnn-npu", "webgpu")


def widely_padded() -> Graph:
    """A margin as wide as the windows of a convolution."""
    g = GraphBuilder()
    x = g.padding(g.input("x", "FLOAT32", (1, 2, 4, 4)), "CONSTANT", 0.0, [0, 0, 3, 0], [0, 0, 0, 3])
    return g.build({"y": g.convolution(x, g.constant(np.ones((1, 2, 2, 2), np.float32)))})


def unevenly_padded() -> Graph:
    """A margin at the end only, before a mean that counts it."""
    g = GraphBuilder()
    x = g.padding(g.input("x", "FLOAT32", (1, 2, 4, 5)), "CONSTANT", 0.0, [0] * 4, [0, 0, 1, 1])
    return g.build({"y": g.average_pooling0(x, [1, 1], [2, 2], [0, 0], [0, 0], True)})


def bytes_as_floats() -> Graph:
    """Bytes cast to floats through integers."""
    g = GraphBuilder()
    return g.build({"y": g.cast(g.cast(g.input("x", "UINT8", (1, 1, 2, 3)), "INT32"), "FLOAT32")})


def kinds(model: CompiledModel) -> list[str]:
    return [node.op_type for node in model.lowered.nodes]


def same_numbers(graph: Callable[[], Graph], target: str) -> tuple[CompiledModel, CompiledModel]:
    """Compiles without and with passes, and checks that both models compute the same."""
    literal, passed = (compile(graph(), target=target, optimize=level) for level in (0, 1))
    (port,) = literal.inputs
    numbers = np.random.default_rng(3).integers(0, 200, port.shape).astype(port.dtype)
    one, other = (model.run({"x": numbers})["y"] for model in (literal, passed))
    np.testing.assert_array_equal(one, other)
    return literal, passed


def test_openvino_gets_no_convolution_windows_in_padding() -> None:
    literal, passed = same_numbers(widely_padded, "openvino")
    assert kinds(literal) == ["Pad", "Conv"]
    assert kinds(passed) == ["Conv", "Pad"]
    window = Window((2, 2), (1, 1), (1, 1), passed.lowered.nodes[0].attributes["pads"][:2], (0, 0))  # type: ignore[index, arg-type]
    assert not any(in_padding(window, axis, 4)[0] for axis in (0, 1))


def test_means_count_an_uneven_margin() -> None:
    """ONNX Runtime 1.24 miscounts uneven pads of AveragePool, so no pass may create them."""
    _, passed = same_numbers(unevenly_padded, "onnx")
    assert kinds(passed) == ["Pad", "Reshape", "AveragePool"]


def test_npu_casts_bytes_to_floats_through_integers() -> None:
    """A direct Cast yields 1 for all numbers but 0."""
    _, passed = same_numbers(bytes_as_floats, "qnn-npu")
    assert kinds(passed) == ["Cast", "Cast"]
    assert kinds(compile(bytes_as_floats())) == ["Cast"]


def form(node: OnnxNode) -> tuple[object, ...]:
    """Identifies a node up to its inputs' values: a rule may emit its own operator for another input."""
    types = [None if item is None else str(item.dtype) for item in node.inputs]
    return node.op_type, str(sorted(node.attributes.items(), key=str)), tuple(types)


def replaced(model: CompiledModel, target: targets.Target, monkeypatch: pytest.MonkeyPatch) -> list[OnnxNode]:
    """The nodes of a model that a rule would replace."""
    draft = Draft(model.lowered, target)
    with monkeypatch.context() as patch:
        patch.setattr(Draft, "new_nodes", Draft.in_order)
        LEGALISATION.run(draft)
    remaining = {form(node) for node in draft.in_order()}
    return [node for node in model.lowered.nodes if form(node) not in remaining]


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
@given(rows(), st.sampled_from(TARGETS), st.booleans(), st.booleans())
def test_rules_apply_to_nodes_made_by_passes(
    monkeypatch: pytest.MonkeyPatch, row: tuple[str, list[str]], name: str, exact: bool, rounds: bool
) -> None:
    """Models of margins, casts, pools and convolutions, which passes rewrite."""
    graph = program(*row)
    passes = (*PASSES, *ROUNDING) if rounds else PASSES
    try:
        literal, model = (
            compile_outputs(graph, graph.outputs, target=name, exact=exact, passes=item, opset=21)
            for item in ((), passes)
        )
    except DmlError:
        return
    emitted = {form(node) for node in literal.lowered.nodes}
    found = replaced(model, targets.target(name, exact=exact), monkeypatch)
    assert [node.op_type for node in found if form(node) not in emitted] == []


def test_the_check_above_detects_skipped_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, target = bytes_as_floats(), targets.target("qnn-npu", exact=False)
    with monkeypatch.context() as patch:
        patch.setattr(Draft, "new_nodes", lambda _: [])
        model = compile_outputs(graph, graph.outputs, target="qnn-npu", exact=False, opset=21)
    assert [node.inputs[0].dtype for node in model.lowered.nodes if node.inputs[0]] == [np.uint8]
    assert model.lowered.nodes[0].outputs[0].dtype == FLOAT  # type: ignore[union-attr]
    assert [node.op_type for node in replaced(model, target, monkeypatch)] == ["Cast"]
