"""Builds a graph at other sizes: the same nodes with other descriptors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.ir.graph import Constant, Effect, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc, packed_strides
from dml2onnx.sizes.expressions import Size

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.sizes.expressions import Expr, Symbol
    from dml2onnx.sizes.layouts import Sized
    from dml2onnx.sizes.tracing import SizedNode, Traced


class Resizer:
    """Builds a traced graph for these values of its symbols."""

    def __init__(self, traced: Traced, values: Callable[[Symbol], int]) -> None:
        self.traced = traced
        self.values = values
        self._new_values: dict[Value, Value] = {}
        self._numbers: dict[Expr, int] = {}
        self._changing: frozenset[Node | Value] | None = None
        """Nodes and values that may change, once known: most of a graph depends on weights alone."""

    def number(self, size: int) -> int:
        """Returns the new value of a size."""
        if not isinstance(size, Size):
            return size
        number = size.expr.number
        if number is None:
            number = self._numbers.get(size.expr)
        if number is None:
            number = self._numbers[size.expr] = self.traced.solver.resolved(size.expr).at(self.values)
        return number

    def graph(self) -> Graph:
        """Returns the graph, in which values and descriptors that do not change are shared."""
        graph = self.traced.graph
        self._changing = self.traced.changing()
        constants = tuple(Constant(self._value(item.value), item.data) for item in graph.constants)
        inputs = tuple(self._input(item) for item in graph.inputs)
        nodes = tuple(self._node(self.traced.nodes[node]) for node in graph.sorted_nodes())
        return replace(
            graph,
            nodes=nodes,
            inputs=inputs,
            ranges={},
            constants=constants,
            outputs=tuple(map(self._output, graph.outputs)),
            results=tuple(map(self._output, graph.results)),
            effects=tuple(map(self._effect, graph.effects)),
        )

    def _may_change(self, item: Node | Value) -> bool:
        return self._changing is None or item in self._changing

    # --- Buffers ---

    def _value(self, value: Value) -> Value:
        if value not in self._new_values:
            nbytes = self._nbytes(value)
            self._new_values[value] = value if nbytes == value.nbytes else Value(value.name, nbytes)
        return self._new_values[value]

    def _nbytes(self, value: Value) -> int:
        """The old byte count plus the growth of the tensor."""
        base = self.traced.bases.get(value)
        if base is not None:
            return self._value(base).nbytes + value.nbytes - base.nbytes
        if value not in self.traced.ends or not self._may_change(value):
            return value.nbytes
        desc, sized = self.traced.ends[value]
        return value.nbytes + self.desc(desc, sized).minimum_bytes - desc.minimum_bytes

    def _input(self, item: GraphInput) -> GraphInput:
        value = self._value(item.value)
        desc, sized = self.traced.inputs[item.name]
        own = self.desc(desc, sized)
        if own is desc and value is item.value:
            return replace(item, sizes=()) if item.sizes else item
        return replace(item, value=value, default=None, desc=own if item.desc is not None else None, sizes=())

    def _output(self, item: GraphOutput) -> GraphOutput:
        sized = self.traced.outputs[item.value, item.desc]
        return GraphOutput(item.name, self._value(item.value), self.desc(item.desc, sized))

    def _effect(self, item: Effect) -> Effect:
        output = self._output(item.output)
        dimensions = item.dimensions
        if output.desc is not item.output.desc and dimensions:
            dimensions = self._dimensions(item) or (output.desc.element_count,)
        return replace(item, output=output, dimensions=dimensions)

    def _dimensions(self, item: Effect) -> tuple[int, ...]:
        """The sizes that an effect shows, if they are those of its tensor, or of the tensor that was written."""
        seen = [(item.output.desc, self.traced.outputs[item.output.value, item.output.desc])]
        seen += [self.traced.ends[item.output.value]] if item.output.value in self.traced.ends else []
        for desc, sized in seen:
            if desc.sizes == item.dimensions:
                return self.desc(desc, sized).sizes
        return ()

    # --- Nodes ---

    def _node(self, sized: SizedNode) -> Node:
        node = sized.node
        operator = self.operator(sized)
        reads = {
            name: tuple(
                Read(self._value(item.value), self._offset(sized, name, index, item.offset))
                for index, item in enumerate(items)
            )
            for name, items in node.reads.items()
        }
        writes = {
            name: tuple(
                Write(
                    self._value(item.value),
                    self._offset(sized, name, index, item.offset),
                    None if item.base is None else self._value(item.base),
                )
                for index, item in enumerate(items)
            )
            for name, items in node.writes.items()
        }
        return Node(node.name, operator, reads, writes, node.source)

    def _offset(self, sized: SizedNode, name: str, index: int, old: int) -> int:
        view = sized.views.get((name, index))
        return old if view is None else self.number(view.offset)

    def operator(self, sized: SizedNode) -> OperatorDesc:
        """Returns the new descriptor of a node."""
        operator = sized.node.operator
        if not self._may_change(sized.node):
            return operator
        values = list(operator.values)
        index = operator.schema.index
        for name in dict.fromkeys(name for name, _ in sized.views):
            old = operator.get(name)
            if isinstance(old, TensorDesc):
                values[index[name]] = self.desc(old, sized.views[name, 0])
            else:
                descs = operator.tensors(name)
                values[index[name]] = tuple(self.desc(desc, sized.views[name, i]) for i, desc in enumerate(descs))
        for name, numbers in sized.attributes.items():
            values[index[name]] = tuple(map(self.number, numbers))
        new = tuple(values)
        return operator if new == operator.values else OperatorDesc(operator.schema, new)

    def desc(self, old: TensorDesc, sized: Sized) -> TensorDesc:
        """Returns the new descriptor of a tensor; the old one if it does not change."""
        sizes = tuple(map(self.number, sized.sizes))
        new = TensorDesc(old.data_type, sizes, self._strides(old, sizes, sized), old.owned_by_dml, 0, old.alignment)
        if sizes == old.sizes and is_same_view(new, old):
            return old
        if not old.total_size:
            return new
        return replace(new, total_size=new.minimum_bytes + old.total_size - old.minimum_bytes)

    def _strides(self, old: TensorDesc, sizes: tuple[int, ...], sized: Sized) -> tuple[int, ...] | None:
        """The strides: 0 for repeated elements, those of packed tensors where nothing else is known."""
        if sized.strides is None:
            return None
        repeated = [self._is_repeated(old, i, sizes, sized) for i in range(old.rank)]
        before = packed_strides(old.sizes)
        packed = packed_strides(tuple(1 if is_repeated else n for is_repeated, n in zip(repeated, sizes, strict=True)))
        strides: list[int] = []
        for i, step in enumerate(sized.strides):
            own = old.effective_strides[i]
            if step is not None:
                strides.append(self.number(step))
            elif repeated[i] or (own == 0 and old.sizes[i] > 1):
                strides.append(0)
            else:
                strides.append(packed[i] if own == before[i] else own)
        return tuple(strides)

    def _is_repeated(self, old: TensorDesc, i: int, sizes: tuple[int, ...], sized: Sized) -> bool:
        return sizes[i] > 1 and old.sizes[i] == 1 and sized.strides is not None and sized.strides[i] is None


def is_same_view(one: TensorDesc, other: TensorDesc) -> bool:
    """Whether strides are the same in dimensions of more than one element."""
    steps = zip(one.sizes, one.effective_strides, other.effective_strides, strict=True)
    return all(size == 1 or left == right for size, left, right in steps)
