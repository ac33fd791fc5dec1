"""Walks through a graph and finds the expression of every size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.ir.inputs import input_descs
from dml2onnx.sizes.expressions import Size, SymbolKind
from dml2onnx.sizes.layouts import (
    AS_WRITTEN,
    INSIDE,
    Axes,
    Match,
    Sized,
    StridedAxis,
    UnmatchedError,
    repeated,
    written,
)
from dml2onnx.sizes.operators import Flow, kept_dimensions
from dml2onnx.sizes.resized import is_same_view
from dml2onnx.sizes.solver import Requirement, Solver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dml2onnx.ir.graph import Graph, Node, Value, Write
    from dml2onnx.ir.tensor import TensorDesc


@dataclass(frozen=True, slots=True)
class SizedNode:
    """A node with variable sizes."""

    node: Node
    views: Mapping[tuple[str, int], Sized]
    attributes: Mapping[str, tuple[int, ...]]


@dataclass
class Traced:
    """A graph with variable sizes."""

    graph: Graph
    solver: Solver
    inputs: dict[str, tuple[TensorDesc, Sized]] = field(default_factory=dict)
    """The descriptor of each input for the caller, and its sizes."""
    nodes: dict[Node, SizedNode] = field(default_factory=dict)
    outputs: dict[tuple[Value, TensorDesc], Sized] = field(default_factory=dict)
    """The outputs of the graph, by value and descriptor."""
    layouts: dict[Value, Axes] = field(default_factory=dict)
    ends: dict[Value, tuple[TensorDesc, Sized]] = field(default_factory=dict)
    """The tensor that determines the size of a value's buffer."""
    bases: dict[Value, Value] = field(default_factory=dict)
    _changing: tuple[int, frozenset[Node | Value]] | None = None

    def changing(self) -> frozenset[Node | Value]:
        """Returns the nodes and values that may change."""
        known = len(self.solver.bound)  # grows again when NamedGraph fixes the sizes without names
        if self._changing is None or self._changing[0] != known:
            found: set[Node | Value] = {node for node, sized in self.nodes.items() if self._changes(sized)}
            found |= {value for value, (_, sized) in self.ends.items() if self._varies(sized)}
            self._changing = known, frozenset(found)
        return self._changing[1]

    def _changes(self, sized: SizedNode) -> bool:
        numbers = (number for own in sized.attributes.values() for number in own)
        return any(map(self._varies, sized.views.values())) or any(
            isinstance(number, Size) and not self.solver.is_constant(number) for number in numbers
        )

    def _varies(self, sized: Sized) -> bool:
        sizes = (*sized.sizes, *(sized.strides or ()), sized.offset)
        return not all(size is None or self.solver.is_constant(size) for size in sizes)


Judge: TypeAlias = "Callable[[Traced, SizedNode], bool]"


def trace(graph: Graph, solver: Solver, stated: Mapping[str, Sequence[Size]], judge: Judge | None = None) -> Traced:
    """Traces a checked graph; ``stated`` has the sizes of inputs that the caller requests.

    ``judge`` returns whether a node is valid at other sizes.
    """
    traced = Traced(graph, solver)
    nodes = graph.sorted_nodes()
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    for item, desc in zip(graph.inputs, input_descs(graph.inputs, nodes, ends), strict=True):
        sizes = stated.get(item.name) or [
            solver.symbol(f"{item.name}[{i}]", size, SymbolKind.INPUT) for i, size in enumerate(desc.sizes)
        ]
        for i, size in enumerate(sizes):
            symbol = size.expr.symbol
            if symbol is not None:
                solver.homes.setdefault(symbol, i)
        if _overlaps(desc):
            reader = next((node for node in nodes if item.value in node.sources), None)
            solver.fix(sizes, _place(reader, f"elements of {item.name} overlap"))
        traced.layouts[item.value], sized = written(desc, [solver.size(size) for size in sizes])
        traced.inputs[item.name] = desc, sized
        traced.ends[item.value] = desc, sized
    for node in nodes:
        _trace_node(node, traced, judge)
    for output in ends:
        traced.outputs[output.value, output.desc] = _output(output.name, output.value, output.desc, traced)
    return traced


def _overlaps(desc: TensorDesc) -> bool:
    """Whether elements overlap other than by a stride of 0."""
    single = tuple(1 if stride == 0 else size for size, stride in zip(desc.sizes, desc.effective_strides, strict=True))
    return replace(desc, sizes=single, total_size=0).is_overlapping


def _place(node: Node | None, words: str) -> Requirement:
    return (
        Requirement("", "", "", words)
        if node is None
        else Requirement(node.name, node.operator.type, node.source, words)
    )


def _trace_node(node: Node, traced: Traced, judge: Judge | None) -> None:
    """Traces a node. If dimensions of size 1 may be in several positions, uses the first without conflicts."""
    solver = traced.solver
    state = solver.state()
    conflicts, is_ambiguous = _attempt(node, traced, AS_WRITTEN, judge)
    if not conflicts or not is_ambiguous:
        return
    least = conflicts, AS_WRITTEN
    for preference in (INSIDE, *range(max(desc.rank for _, _, _, desc in node.views_in()))):
        solver.restore(state)
        conflicts, _ = _attempt(node, traced, preference, judge)
        if not conflicts:
            return
        least = min(least, (conflicts, preference), key=lambda item: item[0])
    solver.restore(state)
    _attempt(node, traced, least[1], judge)


def _attempt(node: Node, traced: Traced, preference: int, judge: Judge | None) -> tuple[int, bool]:
    """The number of conflicts with this preference, and whether another one could give a different result."""
    solver = traced.solver
    before = _count_bound(solver)
    views: dict[tuple[str, int], Sized] = {}
    tensors: dict[str, list[list[Size]]] = {}
    is_ambiguous = False
    for name, index, read, desc in node.views_in():
        place = Requirement(node.name, node.operator.type, node.source, f"it reads {name}")
        view, others = _view(read.value, read.offset, desc, traced, place, preference)
        is_ambiguous = is_ambiguous or others
        sized = repeated(view, desc, solver, f"{node.name}.{name}", kept_dimensions(node.operator, name, desc.rank))
        views[name, index] = sized
        tensors.setdefault(name, []).append(list(sized.sizes))
    flow = Flow(node, solver, tensors)
    flow.flow()
    for (name, index), sized in list(views.items()):
        views[name, index] = Sized(tuple(flow.tensors[name][index]), sized.strides, sized.offset)
    for name, index, write, desc in node.views_out():
        sizes = [solver.size(size) for size in flow.tensors[name][index]]
        views[name, index] = _write(node, write, desc, sizes, traced, flow.place(f"it writes {name}"))
    traced.nodes[node] = SizedNode(node, views, flow.attributes)
    conflicts = _count_bound(solver) - before + _repeated_again(node, views, solver)
    if is_ambiguous and judge is not None and not judge(traced, traced.nodes[node]):
        conflicts += 1
    return conflicts, is_ambiguous


def _repeated_again(node: Node, views: Mapping[tuple[str, int], Sized], solver: Solver) -> int:
    """The number of variable tensors that are also repeated along another variable dimension."""
    count = 0
    for name, index, _, _ in node.views_in():
        sized = views[name, index]
        varies = [not solver.is_constant(size) for size in sized.sizes]
        repeats = [step is None and vary for step, vary in zip(sized.strides or (), varies, strict=False)]
        count += any(repeats) and sum(varies) > sum(repeats)
    return count


def _count_bound(solver: Solver) -> int:
    """The number of requested sizes that are fixed, or tied to others."""
    return sum(symbol.kind is SymbolKind.REQUESTED for symbol in (*solver.reasons, *solver.ties))


def _view(
    value: Value, offset: int, desc: TensorDesc, traced: Traced, place: Requirement, preference: int = AS_WRITTEN
) -> tuple[Sized, bool]:
    """A view of a value with variable sizes, and whether others are possible."""
    solver = traced.solver
    layout = _resolved(traced.layouts.get(value), solver)
    plain = _constant_view(desc, offset)
    if layout is None or all(axis.size.is_constant for axis in layout.axes):
        return plain, False
    known = _as_written(value, offset, desc, traced) if preference == AS_WRITTEN else None
    if known is not None:
        single = [size for size, old in zip(known.sizes, desc.sizes, strict=True) if old == 1]
        return known, len(single) > 1 and not all(size.is_constant for size in single)
    match = Match(layout, desc, offset, solver, place, preference)
    try:
        return match.view(), match.is_ambiguous
    except UnmatchedError as problem:
        words = f"{place.words} as {list(desc.sizes)}, and {problem}"
        solver.fix([axis.size for axis in layout.axes], Requirement(place.node, place.operator, place.source, words))
        return plain, False


def _constant_view(desc: TensorDesc, offset: int) -> Sized:
    strides = [Size(stride) if size > 1 and stride else None for size, stride in _steps(desc)]
    return Sized(tuple(map(Size, desc.sizes)), tuple(strides), Size(offset))


def _steps(desc: TensorDesc) -> zip[tuple[int, int]]:
    return zip(desc.sizes, desc.effective_strides, strict=True)


def _as_written(value: Value, offset: int, desc: TensorDesc, traced: Traced) -> Sized | None:
    """The view with which a value was written, if it is read in the same way."""
    if value not in traced.ends or offset:
        return None
    own, sized = traced.ends[value]
    if (own.data_type, own.sizes) != (desc.data_type, desc.sizes) or not is_same_view(own, desc):
        return None
    sizes = tuple(traced.solver.size(size) for size in sized.sizes)
    steps = sized.strides or _packed(sizes)
    strides = [None if size.expr.number == 1 else step for size, step in zip(sizes, steps, strict=True)]
    return Sized(sizes, tuple(strides))


def _packed(sizes: tuple[Size, ...]) -> list[Size]:
    steps = [Size(1)]
    for size in reversed(sizes[1:]):
        steps.append(steps[-1] * size)
    return steps[::-1]


def _resolved(layout: Axes | None, solver: Solver) -> Axes | None:
    if layout is None:
        return None
    return Axes(
        tuple(
            StridedAxis(solver.size(axis.size), solver.size(axis.stride), axis.old_stride, axis.index)
            for axis in layout.axes
        )
    )


def _write(node: Node, write: Write, desc: TensorDesc, sizes: list[Size], traced: Traced, place: Requirement) -> Sized:
    base = write.base
    layout, sized = written(desc, sizes)
    if base is None or _is_all(write, desc):
        if write.offset and not all(size.is_constant for size in sizes):
            traced.solver.fix(sizes, place)
        if not write.offset:
            traced.layouts[write.value] = layout
        traced.ends[write.value] = desc, sized
        return Sized(sized.sizes, sized.strides, Size(write.offset))
    traced.bases[write.value] = base
    known = traced.layouts.get(base)
    if known is None:
        traced.solver.fix(sizes, place)
        return _constant_view(desc, write.offset)
    view, _ = _view(base, write.offset, desc, traced, place)
    for own, seen in zip(sizes, view.sizes, strict=True):
        traced.solver.equal(own, seen, place)
    traced.layouts[write.value] = known
    return view


def _is_all(write: Write, desc: TensorDesc) -> bool:
    """Whether a write replaces the whole buffer."""
    return write.base is not None and write.offset == 0 and desc.is_dense and desc.minimum_bytes >= write.base.nbytes


def _output(name: str, value: Value, desc: TensorDesc, traced: Traced) -> Sized:
    place = Requirement("", "", "", f"the graph's output {name} is read")
    return _view(value, 0, desc, traced, place)[0]
