"""The model tests at load time whether the processor's kernels are exact, and gives the same results on all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel
from dml2onnx.onnx_model import Body
from dml2onnx.passes import PASSES
from dml2onnx.passes.draft import Draft
from dml2onnx.targets import target
from dml2onnx.verification import CONTENTS, contents
from tests.lowering.harness import left_by_optimiser
from tests.passes import folding
from tests.passes.running import compiled
from tests.passes.test_folding import quantised, require_same_bits

PRODUCTS = {
    "convolutions": folding.quantised_layers,
    "signed": folding.quantised_signed_layers,
    "dequantised": folding.dequantised_weights,
}


def on_inexact_processor(model: CompiledModel) -> CompiledModel:
    """Returns the model as on a processor with inexact products."""
    initializers = dict(model.lowered.initializers)
    initializers["processor/exact"] = np.array(1, np.int32)
    return replace(model, lowered=replace(model.lowered, initializers=initializers))


def weights_of(model: CompiledModel, directory: Path) -> dict[str, set[str]]:
    """Returns the types of weights of quantised products in the optimised model."""
    graph = left_by_optimiser(model, directory)
    types = {item.name: onnx.TensorProto.DataType.Name(item.data_type) for item in graph.initializer}
    found: dict[str, set[str]] = {}
    for node in graph.node:
        # all of them have a scale and a zero point after each factor
        if node.op_type in ("QLinearConv", "QLinearMatMul", "QGemm", "If"):
            found.setdefault(node.op_type, set()).add(types.get(node.input[3], "") if len(node.input) > 3 else "")
    return found


def has_exact_products() -> bool:
    """Whether this processor computes the test product exactly."""
    a, b = np.full((8, 64), 255, np.uint8), np.full((64, 32), 127, np.int8)
    node = onnx.helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    ends = [onnx.helper.make_tensor_value_info(name, kind, None) for name, kind in (("a", 2), ("b", 3), ("y", 6))]
    graph = onnx.helper.make_graph([node], "product", ends[:2], ends[2:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"a": a, "b": b})
    return bool((y == a.astype(np.int32) @ b.astype(np.int32)).all())


@pytest.mark.parametrize("name", PRODUCTS)
def test_onnx_runtime_decides_when_it_loads_the_model(name: str, tmp_path: Path) -> None:
    model = compiled(PRODUCTS[name](), *PASSES)
    assert [node.op_type for node in model.lowered.nodes].count("MatMulInteger") == 1
    here, there = weights_of(model, tmp_path), weights_of(on_inexact_processor(model), tmp_path)
    assert here.keys() == there.keys()
    assert "QLinearConv" in here
    assert "If" not in here
    assert set().union(*there.values()) == {"UINT8"}
    assert set().union(*here.values()) == {"INT8" if has_exact_products() else "UINT8"}


@pytest.mark.parametrize("opset", [17, 21, 23])
@pytest.mark.parametrize("name", PRODUCTS)
def test_results_on_all_processors(name: str, opset: int) -> None:
    graph = PRODUCTS[name]()
    literal, passed = compiled(graph, opset=opset), compiled(graph, *PASSES, opset=opset)
    assert "If" in {node.op_type for node in passed.lowered.nodes}
    for kind in CONTENTS:
        feeds = {"x": contents(literal.inputs[0], np.random.default_rng(opset), kind)}
        require_same_bits(literal, passed, feeds)
        require_same_bits(literal, on_inexact_processor(passed), feeds)


@pytest.mark.parametrize(("most", "is_tested"), [(64, False), (127, True), (128, False)])
def test_only_some_weights_need_the_test(most: int, is_tested: bool) -> None:
    model = compiled(quantised("UINT8", most, 0.5, 3), *PASSES)
    assert ("If" in {node.op_type for node in model.lowered.nodes}) == is_tested


def test_branches_have_nothing_to_fold() -> None:
    """ONNX Runtime 1.24 loses constants that it folds inside a branch."""
    model = compiled(folding.quantised_layers(), *PASSES)
    choices = [node for node in model.lowered.nodes if node.op_type == "If"]
    assert len(choices) == 3
    for choice in choices:
        for body in choice.attributes.values():
            assert isinstance(body, Body)
            (inner,) = body.nodes
            assert inner.inputs[0] is not None
            assert inner.inputs[0].name not in model.lowered.initializers
            # names in branches are reserved
            output = inner.outputs[0]
            assert output is not None
            assert Draft(model.lowered, target("cpu")).value(output.name, output.dtype, ()).name != output.name


def test_other_targets_have_no_test() -> None:
    model = compiled(folding.quantised_layers(), *PASSES, target="dml")
    assert "If" not in {node.op_type for node in model.lowered.nodes}


def test_no_test_for_products_of_constants() -> None:
    """ONNX Runtime would compute the branch before it selects it."""
    g = GraphBuilder()
    weights = g.constant(np.resize(np.arange(-127, 128), (4, 4, 3, 3)).astype(np.int8))
    scale = g.constant(np.full((1, 1, 1, 1), 0.01, np.float32))

    def convolved(x: Expression) -> Expression:
        return g.quantized_linear_convolution(x, scale, None, weights, scale, None, None, scale, None, "UINT8")

    fixed = g.cast(g.floor(g.constant(np.full((1, 4, 7, 7), 3.5, np.float32))), "UINT8")
    twice = convolved(convolved(g.input("x", "UINT8", (1, 4, 7, 7))))
    model = compiled(g.build({"fixed": convolved(convolved(fixed)), "y": twice}), *PASSES)
    assert Counter(node.op_type for node in model.lowered.nodes)["If"] == 2
