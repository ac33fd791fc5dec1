"""That tests reach all that there is."""

from __future__ import annotations

import ast
from itertools import chain
from pathlib import Path

from onnx import defs

import dml2onnx
from dml2onnx.compiler import compile_outputs
from dml2onnx.lowering.registry import lowerings
from dml2onnx.model import CONTROL_FLOW, with_bodies
from dml2onnx.verification.random_graphs import FAMILIES
from dml2onnx.verification.valid import descriptors
from scripts._node_cases import INPUTS
from tests.lowering.harness import make_case

LOWERING = Path(dml2onnx.__file__).parent / "lowering"


def test_all_onnx_operators_of_the_lowerings_have_their_kernels_run() -> None:
    """Those that their text names, which is more than any run would show."""
    strings = {
        item.value
        for path in LOWERING.rglob("*.py")
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    }
    named = {name for name in strings if defs.has(name, 23)}
    assert sorted(named - INPUTS.keys()) == []
    emitted: set[str] = set()
    for op in chain.from_iterable(descriptors().values()):
        graph = make_case(op).graph
        for opset, target in ((17, "cpu"), (23, "dml")):
            model = compile_outputs(graph, graph.outputs, opset=opset, target=target)
            emitted.update(node.op_type for node in with_bodies(model.lowered.nodes))
    assert len(emitted) > 100
    assert emitted <= named


def test_random_graphs_have_all_operators() -> None:
    names = [name for family in FAMILIES for name in family]
    assert sorted(names) == sorted(lowerings())


def test_the_operators_that_have_graphs_inside_are_those_of_onnx() -> None:
    schemas = [item for item in defs.get_all_schemas() if not item.domain]
    graph = defs.OpSchema.AttrType.GRAPH
    assert {item.name for item in schemas if any(a.type == graph for a in item.attributes.values())} == CONTROL_FLOW
