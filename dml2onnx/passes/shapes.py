"""Eliminates Reshapes around element-wise nodes.

DirectML's tensors have four dimensions or more, ONNX's products two, so a sum between two products is reshaped to four
dimensions and back. Element-wise nodes work in any shape: each connected group gets the shape with the fewest Reshapes.

Before:
    (float[2,3] x) => (float[2,3] y)
    <int64[4] four = {1, 1, 2, 3}, int64[2] two = {2, 3}>
    { a = Softmax (x) b = Reshape (a, four) c = Exp (b) d = Reshape (c, two) y = Softmax (d) }
After:
    (float[2,3] x) => (float[2,3] y)
    { a = Softmax (x) c = Exp (a) y = Softmax (c) }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dml2onnx.onnx_model import Array, OnnxNode, OnnxValue, has_unknown
from dml2onnx.passes.draft import Draft, only_output

Shape = tuple[int, ...]

OPERATORS = frozenset({"Reshape"})

_UNARY = frozenset(
    {
        "Abs", "BitwiseNot", "Ceil", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "LeakyRelu",
        "Log", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh",
        "ThresholdedRelu",
    }
)  # fmt: skip
_BINARY = frozenset({"Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"})

_MATCHED = frozenset({"BatchNormalization", "Conv", "ConvTranspose", "MatMul"})
"""Operators that ONNX Runtime fuses with adjacent element-wise nodes, which changes rounding. This pass changes no bit,
so it neither adds nor removes neighbors of these."""

_FUSED_WITH_GEMM = frozenset(
    {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}
)
"""Activations that ONNX Runtime fuses into a preceding Gemm, with different kernels."""


def drop_reshapes(draft: Draft) -> None:
    """Reshapes each group of connected element-wise nodes to the shape of its neighbors."""
    order: dict[str, int] = {}
    grouped: set[str] = set()
    for reshape in draft.nodes(OPERATORS):
        if not draft.is_there(reshape):
            continue
        for node in (draft.maker(reshape.inputs[0]), *draft.readers(reshape.outputs[0])):
            if node is None or node.name in grouped or not draft.is_there(node) or not _is_element_wise(draft, node):
                continue
            if not order:  # the order before any change; few models need it
                order = {other.name: place for place, other in enumerate(draft.in_order())}
            if node.name in order:
                group = _Group(draft, node, order)
                grouped.update(item.name for item in group.nodes)
                group.settle()


def _is_element_wise(draft: Draft, node: OnnxNode) -> bool:
    """Whether a node is element-wise on floats, with inputs of its output's shape or constants."""
    if node.op_type not in _UNARY and node.op_type not in _BINARY:
        return False
    (result,) = node.outputs
    if result is None or result.dtype.kind != "f" or result.size <= 1 or has_unknown(result.shape):
        return False
    if node.op_type in _UNARY:
        return True
    return all(_is_data(item, result) or _row(draft, item) is not None for item in node.inputs)


def _is_data(item: OnnxValue | None, result: OnnxValue) -> bool:
    return item is not None and item.shape == result.shape


def _row(draft: Draft, item: OnnxValue | None) -> Shape | None:
    """The shape of a constant without leading ones; ``None`` for other values."""
    if item is None or draft.constant(item) is None:
        return None
    first = next((axis for axis, size in enumerate(item.shape) if size != 1), item.rank)
    return item.shape[first:]


@dataclass(slots=True)
class _Edge:
    """An input or output of a group, and the shapes in which it needs no Reshape."""

    value: OnnxValue
    free: list[Shape] = field(default_factory=list)


class _Group:
    """Element-wise nodes of one shape that read one another."""

    def __init__(self, draft: Draft, start: OnnxNode, order: Mapping[str, int]) -> None:
        self._draft = draft
        first = only_output(start)
        self.shape: Shape = first.shape
        found, waiting = {start}, [start]
        while waiting:
            for other in self._neighbours(waiting.pop()):
                if other not in found and other.name in order and _is_element_wise(draft, other):
                    found.add(other)
                    waiting.append(other)
        self.nodes: dict[OnnxNode, None] = dict.fromkeys(sorted(found, key=lambda node: order[node.name]))

    def settle(self) -> None:
        """Changes the shape if that leaves fewer Reshapes."""
        edges = [*self._inputs(), *self._outputs()]
        if any(edge.value.shape == self.shape and not edge.free for edge in edges):
            return
        known = dict.fromkeys(shape for edge in edges for shape in edge.free)
        current = self._cost(edges, self.shape)
        # ties go to the fewest axes, as in products
        best = min(known, key=lambda shape: (self._cost(edges, shape), len(shape)), default=self.shape)
        if best != self.shape and self._cost(edges, best) < current and self._takes(best):
            _Reshaped(self._draft, self.nodes, self.shape, best).build()

    # --- members -----------------------------------------------------------------------------------------------------

    def _neighbours(self, node: OnnxNode) -> Iterator[OnnxNode]:
        for item in node.inputs:
            maker = self._draft.maker(item)
            if maker is not None:
                yield maker
        yield from self._draft.readers(node.outputs[0])

    # --- edges -------------------------------------------------------------------------------------------------------

    def _inputs(self) -> Iterator[_Edge]:
        """The values that it reads from others. An edge without free shapes forbids a change."""
        seen: set[str] = set()
        for node in self.nodes:
            for item in node.inputs[: 1 if node.op_type in _UNARY else None]:
                maker = self._draft.maker(item)
                if item is None or maker in self.nodes or item.name in seen:
                    continue
                seen.add(item.name)
                if self._draft.constant(item) is None:
                    yield _Edge(item, self._free(item, maker))

    def _free(self, item: OnnxValue, maker: OnnxNode | None) -> list[Shape]:
        if maker is None:
            return [self.shape]
        if maker.op_type != "Reshape":
            return [] if maker.op_type in _MATCHED else [self.shape]
        source = maker.inputs[0]
        assert source is not None
        producer = self._draft.maker(source)
        if source.shape == item.shape or has_unknown(source.shape) or (producer and producer.op_type in _MATCHED):
            return []
        if producer is not None and producer.op_type == "Gemm" and self._meets_gemm(item):
            return []
        is_shared = self._draft.is_pinned(item) or any(x not in self.nodes for x in self._draft.readers(item))
        return [source.shape, self.shape] if is_shared else [source.shape]

    def _meets_gemm(self, item: OnnxValue) -> bool:
        return any(reader.op_type in _FUSED_WITH_GEMM for reader in self._draft.readers(item))

    def _outputs(self) -> Iterator[_Edge]:
        """The values that others read from it."""
        for node in self.nodes:
            result = only_output(node)
            shapes: dict[Shape, None] = {}
            if self._draft.is_pinned(result):
                shapes[self.shape] = None
            for reader in self._draft.readers(result):
                if reader in self.nodes:
                    continue
                if reader.op_type in _MATCHED:
                    yield _Edge(result)
                output = reader.outputs[0]
                is_reshape = reader.op_type == "Reshape" and output is not None and output.shape != self.shape
                if is_reshape and output is not None:
                    if any(item.op_type in _MATCHED for item in self._draft.readers(output)):
                        yield _Edge(result)
                    shapes[
                        self.shape if self._draft.is_pinned(output) or has_unknown(output.shape) else output.shape
                    ] = None
                else:
                    shapes[self.shape] = None
            for shape in shapes:
                yield _Edge(result, [shape])

    @staticmethod
    def _cost(edges: list[_Edge], shape: Shape) -> int:
        return sum(shape not in edge.free for edge in edges)

    def _takes(self, shape: Shape) -> bool:
        """Whether constants broadcast to the new shape in the same way."""
        for node in self.nodes:
            if node.op_type in _BINARY:
                for item in node.inputs:
                    row = _row(self._draft, item)
                    if item is None or row is None or item.shape == self.shape:
                        continue
                    if row and (shape[-len(row) :] != row or self.shape[-len(row) :] != row):
                        return False
        return True


class _Reshaped:
    """Rewrites a group to another shape, with the Reshapes that are still needed."""

    def __init__(self, draft: Draft, nodes: dict[OnnxNode, None], old: Shape, new: Shape) -> None:
        self._draft = draft
        self._nodes = nodes
        self._old = old
        self._new = new
        self._inner: dict[str, OnnxValue] = {}

    def build(self) -> None:
        """Creates all results first, since nodes may be in any order."""
        for node in self._nodes:
            result = only_output(node)
            self._inner[result.name] = self._draft.value(f"{result.name}/reshaped", result.dtype, self._new)
        for node in self._nodes:
            self._rewrite(node)

    def _rewrite(self, node: OnnxNode) -> None:
        draft = self._draft
        result = only_output(node)
        output = self._inner[result.name]
        before: list[OnnxNode] = []
        after: list[OnnxNode] = []
        inputs = [
            item if item is None or (index and node.op_type in _UNARY) else self._read(item, before)
            for index, item in enumerate(node.inputs)
        ]
        readers = draft.readers(result)
        for reader in readers:
            again = reader.outputs[0]
            if reader.op_type != "Reshape" or again is None or draft.is_pinned(again):
                continue
            if again.shape == self._new:
                draft.redirect(again, output)
                draft.replace(reader, note=f"{node.name} has this shape now")
            elif again.shape != self._old:
                draft.replace(reader, replace(reader, inputs=(output, *reader.inputs[1:])))
        if draft.is_pinned(result) or any(reader not in self._nodes for reader in draft.readers(result)):
            after.append(draft.node("Reshape", [output, self._sizes(self._old)], [result]))
        new = draft.node(node.op_type, inputs, [output], node.attributes)
        makers = [draft.maker(item) for item in node.inputs]
        draft.replace(node, *before, new, *after, note="has the shape of its neighbors now")
        for maker in makers:
            if maker is not None and maker.op_type == "Reshape":
                draft.let_go(maker, f"{new.name} has the shape before the Reshape now")

    def _read(self, item: OnnxValue, before: list[OnnxNode]) -> OnnxValue:
        """An input in the new shape."""
        if item.name in self._inner:
            return self._inner[item.name]
        values = self._draft.constant(item)
        if values is not None:
            return self._constant(item, values)
        maker = self._draft.maker(item)
        if maker is not None and maker.op_type == "Reshape" and maker.inputs[0] is not None:
            source = maker.inputs[0]
            if source.shape == self._new:
                return source
            item = source
        output = self._draft.value(f"{item.name}/reshaped", item.dtype, self._new)
        before.append(self._draft.node("Reshape", [item, self._sizes(self._new)], [output]))
        self._inner[item.name] = output
        return output

    def _constant(self, item: OnnxValue, values: Array) -> OnnxValue:
        """Drops surplus leading axes of a constant."""
        shape = self._new if item.shape == self._old else item.shape[max(0, item.rank - len(self._new)) :]
        if shape == item.shape:
            return item
        output = self._draft.store(values.reshape(shape), f"{item.name}/reshaped")
        self._inner[item.name] = output
        return output

    def _sizes(self, shape: Shape) -> OnnxValue:
        return self._draft.store(np.array(shape, np.int64), "shape")
