"""Every operator along every dimension of its inputs: other sizes are refused by the node, or resized correctly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import infer_outputs
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.sizes.operators import REPLACED_RULES, kept_dimensions
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.sizes.same import assert_same

NEVER = {
    "DIAGONAL_MATRIX", "FILL_VALUE_CONSTANT", "FILL_VALUE_SEQUENCE", "RANDOM_GENERATOR", "SLICE_GRAD",
}  # fmt: skip
"""Operators whose outputs follow their readers, because no input determines their sizes. The descriptors of SLICE_GRAD
here have windows that cannot be resized."""


def _errors(graph: Graph) -> list[str]:
    return [str(item) for item in dml2onnx.check(graph, remedies=False) if item.severity is Severity.ERROR]


def _others(op: OperatorDesc) -> Iterator[tuple[Graph, str, tuple[int, ...]]]:
    graph = single_node(op)
    for item, desc in zip(graph.inputs, input_descs(graph.inputs, graph.nodes, graph.outputs), strict=True):
        for i, size in enumerate(desc.sizes):
            for new in (size + 1, size * 2):
                yield graph, item.name, (*desc.sizes[:i], new, *desc.sizes[i + 1 :])


def _inferred(op: OperatorDesc) -> dict[str, tuple[int, ...]]:
    names = [field.name for field in op.schema.output_fields if isinstance(op.get(field.name), TensorDesc)]
    values = list(op.values)
    for name in names:
        values[op.schema.index[name]] = None
    found = infer_outputs(OperatorDesc(op.schema, tuple(values)), {}, {}, names).outputs
    return {name: sizes for name, (_, sizes) in found.items()}


def _resized(graph: Graph, field: str, sizes: tuple[int, ...]) -> Graph | None:
    refused: tuple[Diagnostic, ...] = ()
    try:
        return dml2onnx.resize(graph, {field: sizes})
    except DmlError as error:
        refused = error.diagnostics
    assert all(item.node == "node" for item in refused), refused
    return None


@pytest.mark.parametrize(
    ("name", "field", "dimensions"),
    [
        ("GEMM", "ATensor", {2, 3}),
        ("GEMM", "BTensor", {2, 3}),
        ("GEMM", "CTensor", set()),
        ("CONVOLUTION", "InputTensor", {1}),
        ("CONVOLUTION", "FilterTensor", {0, 1, 2, 3}),
        ("LSTM", "WeightTensor", {0, 1, 2, 3}),
        ("ELEMENT_WISE_ADD", "ATensor", set()),
    ],
)
def test_dimensions_of_sums_are_not_repeated(name: str, field: str, dimensions: set[int]) -> None:
    assert kept_dimensions(descriptors()[f"DML_OPERATOR_{name}"][0], field, 4) == dimensions


@pytest.mark.parametrize("name", catalog.operator_names())
def test_every_operator_along_every_dimension(name: str) -> None:
    """Refusals name the node; accepted sizes have the inferred outputs, if the original has."""
    free = 0
    for op in descriptors()[name]:
        if _errors(single_node(op)):
            continue
        before = _inferred(op)
        for graph, field, sizes in _others(op):
            found = _resized(graph, field, sizes)
            if found is None or _errors(found):  # such as a rule about the number of elements
                continue
            free += 1
            own = found.nodes[0].operator
            after = _inferred(own)
            for tensor, old in before.items():
                if old == op.tensor(tensor).sizes:
                    assert own.tensor(tensor).sizes == after[tensor], (field, sizes)
    assert free or name.removeprefix("DML_OPERATOR_") in NEVER


def test_a_window_up_to_the_end_is_ambiguous() -> None:
    window = {"Offsets": (1,), "Sizes": (2,), "Strides": (3,)}
    op = plain("SLICE", InputTensor=sized(5), OutputTensor=sized(2), **window)
    with pytest.raises(DmlError, match="whether they are counted from the front or from the end"):
        dml2onnx.resize(single_node(op), {"InputTensor0": (8,)})


def test_a_gradient_of_a_window_over_a_whole_dimension_follows() -> None:
    op = plain(
        "SLICE_GRAD",
        InputGradientTensor=sized(2, 3),
        OutputGradientTensor=sized(2, 5),
        InputWindowOffsets=(0, 1),
        InputWindowSizes=(2, 3),
        InputWindowStrides=(1, 1),
    )
    found = dml2onnx.resize(single_node(op), {"InputGradientTensor0": (7, 3)})
    assert found.nodes[0].operator.tensor("OutputGradientTensor").sizes == (7, 5)
    assert found.nodes[0].operator.uints("InputWindowSizes") == (7, 3)
    assert not dml2onnx.check(found)


@pytest.mark.parametrize("name", catalog.operator_names())
def test_operators_are_unchanged_at_their_own_sizes(name: str) -> None:
    for op in descriptors()[name]:
        graph = single_node(op)
        if not _errors(graph):
            traced = trace(graph, Solver(), {})
            assert_same(Resizer(traced, lambda symbol: symbol.old).graph(), graph)


def test_every_rule_has_a_formula_or_a_function() -> None:
    stems = {constraint.partition("/")[2] for constraint in rules_by_constraint()}
    assert stems >= REPLACED_RULES
    formulas = {name.partition("/")[2] for name, rule in rules_by_constraint().items() if rule.formulas}
    assert not (formulas - {"shapes"}) & REPLACED_RULES
