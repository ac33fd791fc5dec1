"""Checks of arbitrary descriptors never raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.checks.build import one

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

numbers = st.one_of(st.integers(0, 4), st.sampled_from([7, 2**31, 2**32 - 1]))
floats = st.floats(width=32)
data_types = st.sampled_from(DataType)
small = st.sampled_from([1, 1, 2, 3, 4, 6])


@st.composite
def tensors(draw: st.DrawFn) -> TensorDesc:
    sizes = draw(st.one_of(st.lists(small, min_size=4, max_size=4), st.lists(numbers, max_size=9)))
    strides = draw(st.none() | st.lists(numbers, min_size=max(len(sizes) - 1, 0), max_size=len(sizes)))
    return TensorDesc(
        draw(data_types),
        tuple(sizes),
        None if strides is None else tuple(strides),
        draw(st.booleans()),
        draw(numbers),
        draw(numbers),
    )


def arrays(items: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    return st.one_of(st.lists(items, max_size=5), st.lists(items, min_size=2, max_size=4)).map(tuple)


def contents(field: FieldSchema, depth: int) -> SearchStrategy[Any]:
    match field.type:
        case FieldType.TENSOR:
            return tensors()
        case FieldType.TENSOR_ARRAY:
            return arrays(tensors())
        case FieldType.UINT:
            return numbers
        case FieldType.INT:
            return st.integers(-4, 4)
        case FieldType.FLOAT:
            return floats
        case FieldType.BOOL:
            return st.booleans()
        case FieldType.ENUM:
            assert field.enum is not None
            return st.sampled_from([*catalog.enum_schema(field.enum).values, "NOTHING_OF_THE_KIND"])
        case FieldType.UINT_ARRAY:
            return arrays(numbers)
        case FieldType.INT_ARRAY:
            return arrays(st.integers(-4, 4))
        case FieldType.FLOAT_ARRAY:
            return arrays(floats)
        case FieldType.SCALE_BIAS:
            return st.builds(ScaleBias, floats, floats)
        case FieldType.SIZE_2D:
            return st.builds(Size2D, numbers, numbers)
        case FieldType.SCALAR_UNION:
            return st.builds(Scalar, data_types, st.one_of(st.integers(-4, 4), floats))
        case FieldType.OPERATOR:
            return st.none() if depth else descriptors(1)
        case FieldType.OPERATOR_ARRAY:
            return st.just(()) if depth else arrays(descriptors(1))


@st.composite
def descriptors(draw: st.DrawFn, depth: int = 0) -> OperatorDesc:
    schema = catalog.operator(draw(st.sampled_from(catalog.operator_names())))
    absent = st.sampled_from([None, None, UNREADABLE])
    values = [draw(contents(field, depth) if draw(st.integers(0, 9)) else absent) for field in schema.fields]
    # Often one shape for all tensors, so that later rules are reached, too.
    if draw(st.booleans()):
        shared = draw(tensors())
        values = [shared if isinstance(item, TensorDesc) else item for item in values]
    return OperatorDesc(schema, tuple(values))


def well_formed(item: Diagnostic) -> bool:
    return bool(item.message.endswith(".") and item.documentation and item.code.startswith("DML1"))


@settings(max_examples=600, deadline=None)
@given(descriptors(), st.sampled_from(catalog.feature_levels()))
def test_descriptors(desc: OperatorDesc, level: catalog.FeatureLevel) -> None:
    graph = one(desc)
    findings = check(graph, level)
    assert all(map(well_formed, findings))
    assert findings == check(graph, level)
    order = [desc.schema.index.get(item.field, -1) for item in findings if item.node]
    assert order == sorted(order)
    minimum = minimum_feature_level(graph)
    if minimum is not None:
        assert not [item for item in check(graph, minimum) if item.severity.value == "error"]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Nodes that read and write a few values at random."""
    values = [Value(f"v{i}", draw(st.sampled_from([0, 4, 64, 256]))) for i in range(5)]
    some = st.sampled_from(values)
    offsets = st.sampled_from([0, 0, 16, 3])
    nodes = []
    for i in range(draw(st.integers(0, 4))):
        desc = draw(descriptors())
        fields = [field.name for field in desc.schema.tensor_fields]
        reads = {
            name: tuple(draw(st.lists(st.builds(Read, some, offsets), max_size=3)))
            for name in draw(st.lists(st.sampled_from([*fields, "Nonsense"]), max_size=3))
        }
        writes = {
            name: tuple(draw(st.lists(st.builds(Write, some, offsets, st.none() | some), max_size=3)))
            for name in draw(st.lists(st.sampled_from([*fields, "Nonsense"]), max_size=3))
        }
        nodes.append(Node(draw(st.sampled_from(["a", "b", f"n{i}"])), desc, reads, writes, f"/nodes/{i}/desc"))
    outputs = draw(st.lists(st.builds(GraphOutput, st.sampled_from("xy"), some, tensors()), max_size=2))
    inputs = draw(st.lists(st.builds(GraphInput, st.sampled_from("xy"), some), max_size=2))
    return Graph(tuple(nodes), tuple(inputs), tuple(outputs))


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_graphs(graph: Graph) -> None:
    findings = check(graph)
    assert all(map(well_formed, findings))
    assert [str(item) for item in findings] == [str(item) for item in check(graph)]
