"""Compares two graphs as programs."""

from __future__ import annotations

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph, Value
from dml2onnx.ir.tensor import TensorDesc
from tests.sizes.programs import Program


def _moved(desc: TensorDesc) -> tuple[object, ...]:
    """The parts of a descriptor that matter; strides of single elements do not."""
    strides = tuple(0 if size == 1 else stride for size, stride in zip(desc.sizes, desc.effective_strides, strict=True))
    return desc.data_type, desc.sizes, strides, desc.owned_by_dml, desc.total_bytes


def shape_of(graph: Graph) -> list[object]:
    """The parts of a graph that matter, with values numbered in order of appearance."""
    numbers: dict[Value | None, int] = {None: -1}

    def number(value: Value | None) -> int:
        return numbers.setdefault(value, len(numbers))

    found: list[object] = []
    for node in graph.sorted_nodes():
        attributes = [value for field, value in node.operator.items() if not field.is_tensor]
        views = [(name, i, _moved(desc), number(read.value), read.offset) for name, i, read, desc in node.views_in()]
        written = [
            (name, i, _moved(desc), number(write.value), write.offset, number(write.base))
            for name, i, write, desc in node.views_out()
        ]
        found.append((node.operator.type, attributes, views, written))
    found.append([(item.name, number(item.value), item.value.nbytes, item.desc) for item in graph.inputs])
    found.append([(item.name, number(item.value), _moved(item.desc)) for item in (*graph.outputs, *graph.results)])
    return found


def written_for(program: Program, sizes: tuple[int, int, int]) -> Graph | None:
    """The program for these sizes; ``None`` if a window does not fit."""
    try:
        return program.at(*sizes)
    except DmlError:
        return None


def assert_same(found: Graph, wanted: Graph) -> None:
    """Asserts that two graphs are the same program, node by node."""
    for one, other in zip(shape_of(found), shape_of(wanted), strict=True):
        assert one == other
