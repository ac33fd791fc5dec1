"""Tests cover every operator of DirectML and every ONNX operator that we emit."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from onnx import defs

import dml2onnx
from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.lowering.registry import lowerings
from dml2onnx.onnx_model import CONTROL_FLOW, with_bodies
from dml2onnx.reference.registry import references
from dml2onnx.test_cases.random_graphs import FAMILIES
from dml2onnx.test_cases.valid import descriptors
from scripts._node_cases import INPUTS
from tests.lowering.harness import make_case
from tests.reference.test_numpy import COMPARED

PACKAGE = Path(dml2onnx.__file__).parent
TESTS = Path(__file__).parent

NOT_DRAWN: dict[str, str] = {}
"""Operators that random graphs do not have, with the reasons."""


@cache
def strings(*paths: Path) -> frozenset[str]:
    """Returns every string constant in these modules."""
    return frozenset(
        item.value
        for path in paths
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    )


def named_in_tests(family: str) -> frozenset[str]:
    """Returns the strings in the test modules of a family's lowerings and in the modules that these share."""
    own = (TESTS / "lowering").glob(f"test_{family}*.py")
    shared = (path for path in (TESTS / "lowering").glob("*.py") if not path.stem.startswith("test_"))
    return strings(*sorted(own), *sorted(shared))


@pytest.mark.parametrize("name", [name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()])
def test_every_operator_has_all_that_it_needs(name: str) -> None:
    """A lowering with tests that name it, a reference, a valid descriptor, and a place in the random graphs.

    ``tests/reference/test_examples.py`` has the sources of expected results, ``test_numpy.py`` other definitions.
    """
    family = catalog.operator(name).family
    lacks = {
        "a lowering": name not in lowerings(),
        "a reference": name not in references(),
        "something to compare its reference with": name not in COMPARED,
        "a valid descriptor": not descriptors().get(f"DML_OPERATOR_{name}"),
        "a place in the random graphs": not any(name in names for names in FAMILIES) and not NOT_DRAWN.get(name),
    }
    called = {name, re.sub(r"^(ACTIVATION|CUMULATIVE|ELEMENT_WISE)_((BIT|LOGICAL)_)?", "", name)}
    called.add(re.sub(r"^ELEMENT_WISE_", "", name))
    lacks["a test module of the lowering"] = not (TESTS / "lowering" / f"test_{family}.py").exists()
    lacks["a test of the lowering that names it"] = not called & named_in_tests(family)
    assert not [what for what, is_missing in lacks.items() if is_missing]


def test_random_graphs_have_every_operator_once() -> None:
    drawn = [name for family in FAMILIES for name in family]
    assert len(drawn) == len(set(drawn))
    assert set(drawn) | NOT_DRAWN.keys() == lowerings().keys()
    assert not NOT_DRAWN.keys() & set(drawn)


def test_all_onnx_operators_of_lowerings_and_passes_have_their_kernels_run() -> None:
    """Those named in the source, which are more than any run would show."""
    of_lowerings, of_passes = (
        {name for item in packages for name in strings(*sorted((PACKAGE / item).rglob("*.py"))) if defs.has(name, 23)}
        for packages in (("emitter", "legalise", "lowering"), ("passes",))
    )
    named = of_lowerings | of_passes
    assert of_passes - {"If"} <= of_lowerings  # with which a model tests the processor
    assert sorted(named - INPUTS.keys()) == []
    emitted: set[str] = set()
    for op in chain.from_iterable(descriptors().values()):
        graph = make_case(op).graph
        for opset, target in ((17, "cpu"), (23, "dml")):
            model = compile_outputs(graph, graph.outputs, opset=opset, target=target)
            emitted.update(node.op_type for node in with_bodies(model.lowered.nodes))
    assert len(emitted) > 100
    assert emitted <= named


def test_control_flow_operators_are_those_of_onnx() -> None:
    schemas = [item for item in defs.get_all_schemas() if not item.domain]
    graph = defs.OpSchema.AttrType.GRAPH
    assert {item.name for item in schemas if any(a.type == graph for a in item.attributes.values())} == CONTROL_FLOW
