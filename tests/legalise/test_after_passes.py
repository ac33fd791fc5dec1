"""What passes have made goes through the rules of the target, as what was emitted did."""

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
from dml2onnx.onnx_model import FLOAT, Node
from dml2onnx.passes import PASSES, ROUNDING, Draft
from tests.passes.test_reinterpretations import program, rows

TARGETS = ("onnx", "cpu", "dml", "openvino", "portable", "qnn-npu", "webgpu")


def widely_padded() -> Graph:
    """A margin in which whole windows of a convolution lie."""
    g = GraphBuilder()
    x = g.padding(g.input("x", "FLOAT32", (1, 2, 4, 4)), "CONSTANT", 0.0, [0, 0, 3, 0], [0, 0, 0, 3])
    return g.build({"y": g.convolution(x, g.constant(np.ones((1, 2, 2, 2), np.float32)))})


def unevenly_padded() -> Graph:
    """A margin at the end only, around a mean that counts it."""
    g = GraphBuilder()
    x = g.padding(g.input("x", "FLOAT32", (1, 2, 4, 5)), "CONSTANT", 0.0, [0] * 4, [0, 0, 1, 1])
    return g.build({"y": g.average_pooling0(x, [1, 1], [2, 2], [0, 0], [0, 0], True)})


def bytes_as_floats() -> Graph:
    """Bytes that become floats over integers."""
    g = GraphBuilder()
    return g.build({"y": g.cast(g.cast(g.input("x", "UINT8", (1, 1, 2, 3)), "INT32"), "FLOAT32")})


def kinds(model: CompiledModel) -> list[str]:
    return [node.op_type for node in model.lowered.nodes]


def same_numbers(graph: Callable[[], Graph], target: str) -> tuple[CompiledModel, CompiledModel]:
    """Models without passes and with them, which give the same numbers."""
    literal, passed = (compile(graph(), target=target, optimize=level) for level in (0, 1))
    (port,) = literal.inputs
    numbers = np.random.default_rng(3).integers(0, 200, port.shape).astype(port.dtype)
    one, other = (model.run({"x": numbers})["y"] for model in (literal, passed))
    np.testing.assert_array_equal(one, other)
    return literal, passed


def test_no_window_of_a_convolution_lies_in_padding_on_openvino() -> None:
    literal, passed = same_numbers(widely_padded, "openvino")
    assert kinds(literal) == ["Pad", "Conv"]
    assert kinds(passed) == ["Conv", "Pad"]
    window = Window((2, 2), (1, 1), (1, 1), passed.lowered.nodes[0].attributes["pads"][:2], (0, 0))  # type: ignore[index, arg-type]
    assert not any(in_padding(window, axis, 4)[0] for axis in (0, 1))


def test_means_count_an_uneven_margin() -> None:
    """ONNX Runtime 1.24 divides by other counts where the pads of AveragePool are uneven: no pass makes such."""
    _, passed = same_numbers(unevenly_padded, "onnx")
    assert kinds(passed) == ["Pad", "Reshape", "AveragePool"]


def test_bytes_become_floats_over_integers_on_an_npu() -> None:
    """Whose own Cast of them gives 1 for all."""
    _, passed = same_numbers(bytes_as_floats, "qnn-npu")
    assert kinds(passed) == ["Cast", "Cast"]
    assert kinds(compile(bytes_as_floats())) == ["Cast"]


def form(node: Node) -> tuple[object, ...]:
    """What a rule may end in itself: the same of another input of that type."""
    types = [None if item is None else str(item.dtype) for item in node.inputs]
    return node.op_type, str(sorted(node.attributes.items(), key=str)), tuple(types)


def answered(model: CompiledModel, target: targets.Target, monkeypatch: pytest.MonkeyPatch) -> list[Node]:
    """The nodes that stand in a model in spite of a rule."""
    draft = Draft(model.lowered, target)
    with monkeypatch.context() as patch:
        patch.setattr(Draft, "made", Draft.in_order)
        LEGALISATION.run(draft)
    behind = {form(node) for node in draft.in_order()}
    return [node for node in model.lowered.nodes if form(node) not in behind]


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
@given(rows(), st.sampled_from(TARGETS), st.booleans(), st.booleans())
def test_no_node_stands_in_spite_of_a_rule(
    monkeypatch: pytest.MonkeyPatch, row: tuple[str, list[str]], name: str, exact: bool, rounds: bool
) -> None:
    """In models of margins, casts, pools and convolutions, of which passes make others."""
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
    found = answered(model, targets.target(name, exact=exact), monkeypatch)
    assert [node.op_type for node in found if form(node) not in emitted] == []


def test_what_stands_in_spite_of_a_rule_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, target = bytes_as_floats(), targets.target("qnn-npu", exact=False)
    with monkeypatch.context() as patch:
        patch.setattr(Draft, "made", lambda _: [])
        model = compile_outputs(graph, graph.outputs, target="qnn-npu", exact=False, opset=21)
    assert [node.inputs[0].dtype for node in model.lowered.nodes if node.inputs[0]] == [np.uint8]
    assert model.lowered.nodes[0].outputs[0].dtype == FLOAT  # type: ignore[union-attr]
    assert [node.op_type for node in answered(model, target, monkeypatch)] == ["Cast"]
