"""Compiles graphs with selected passes, and runs the models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime

from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array
from dml2onnx.passes import Pass
from dml2onnx.verification import contents


def compiled(graph: Graph, *passes: Pass, opset: int = 21, target: str = "cpu", exact: bool = True) -> CompiledModel:
    return compile_outputs(graph, graph.outputs, opset=opset, target=target, passes=passes, exact=exact)


def computed(model: CompiledModel, feeds: Mapping[str, Array], *, optimized: bool) -> list[Array]:
    """Runs a model in ONNX Runtime, with or without its optimisations."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.serialize(), options, ["CPUExecutionProvider"])
    names = {item.name for item in session.get_inputs()}
    return session.run(None, {name: array for name, array in feeds.items() if name in names})


def feeds_of(model: CompiledModel) -> dict[str, Array]:
    random = np.random.default_rng(3)
    return {port.onnx_name: contents(port, random, "ordinary") for port in model.inputs}


def require_same(first: CompiledModel, second: CompiledModel) -> None:
    """Asserts that two models have the same ports and the same results, with and without ONNX Runtime's optimiser."""
    assert first.inputs == second.inputs
    assert first.outputs == second.outputs
    feeds = feeds_of(first)
    for optimized in (False, True):
        one, other = (computed(model, feeds, optimized=optimized) for model in (first, second))
        for port, a, b in zip(first.outputs, one, other, strict=True):
            assert a.tobytes() == b.tobytes(), (port.name, optimized)
