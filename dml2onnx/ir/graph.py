"""Graphs of operators over buffers in SSA form.

A :class:`Value` is one version of one buffer: bytes, without a shape of its own. A node reads values through
the tensor descriptors of its operator (its views) and writes new ones. Where an operator writes only part of
a buffer, the new value is made from the old one (``Write.base``), whose other bytes it keeps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn, TypeVar

from dml2onnx.diagnostics import plural, quote, shortened
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.lazy import lazy_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import networkx as nx

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.data import Data


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One version of a buffer. ``name`` is the model's own, or else made of node and field."""

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Read:
    """A tensor read from a value, starting ``offset`` bytes into it."""

    value: Value
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Write:
    """A tensor written into a new value.

    ``base`` is the buffer's version before the write, whose bytes outside the tensor and in the gaps of its strides
    survive. Without it, these bytes are unspecified and read as 0.
    """

    value: Value
    offset: int = 0
    base: Value | None = None


_Bound = TypeVar("_Bound", Read, Write)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """One operator of the graph.

    ``reads`` and ``writes`` have an entry for every tensor field that is present, with one element for each
    tensor of an array field. ``source`` is the node's place in the input: a JSON pointer or a call site.
    """

    name: str
    operator: OperatorDesc
    reads: Mapping[str, tuple[Read, ...]]
    writes: Mapping[str, tuple[Write, ...]]
    source: str = ""
    sources: tuple[Value, ...] = field(init=False)
    """All values that the node depends on."""
    targets: tuple[Value, ...] = field(init=False)
    """All values that the node writes."""

    def __post_init__(self) -> None:
        sources: list[Value] = []
        targets: list[Value] = []
        bases: list[Value] = []
        for reads in self.reads.values():
            for read in reads:
                sources.append(read.value)
        for writes in self.writes.values():
            for write in writes:
                targets.append(write.value)
                if write.base is not None:
                    bases.append(write.base)
        if bases:  # several outputs into one buffer are versions made from each other
            made = set(targets)
            sources += [base for base in bases if base not in made]
        _set_sources(self, tuple(sources))
        _set_targets(self, tuple(targets))

    def __repr__(self) -> str:
        return f"<Node {quote(self.name)}: {self.operator.type}>"

    def before(self, write: Write) -> Value | None:
        """The version of a buffer when the node starts; ``None`` if its contents are unspecified."""
        base = write.base
        if base is None or base not in self.targets:
            return base
        bases = {other.value: other.base for writes in self.writes.values() for other in writes}
        while base in bases:
            base = bases[base]
        return base

    def views_in(self) -> list[tuple[str, int, Read, TensorDesc]]:
        """(field, index, read, descriptor) of every input tensor."""
        return _views(self.operator, self.reads)

    def views_out(self) -> list[tuple[str, int, Write, TensorDesc]]:
        """(field, index, write, descriptor) of every output tensor."""
        return _views(self.operator, self.writes)


_set_sources, _set_targets = (Node.__dict__[name].__set__ for name in ("sources", "targets"))


def _views(
    operator: OperatorDesc, bound: Mapping[str, tuple[_Bound, ...]]
) -> list[tuple[str, int, _Bound, TensorDesc]]:
    views: list[tuple[str, int, _Bound, TensorDesc]] = []
    values, positions = operator.values, operator.schema.index
    for name, items in bound.items():
        desc = values[positions[name]]
        if isinstance(desc, TensorDesc) and len(items) == 1:
            views.append((name, 0, items[0], desc))
            continue
        for index, (item, each) in enumerate(zip(items, operator.tensors(name), strict=True)):
            views.append((name, index, item, each))
    return views


@dataclass(frozen=True, slots=True, eq=False)
class GraphInput:
    """A buffer that the caller binds. ``default`` are sample contents of the model, if any.

    ``desc`` is the caller's view of the buffer, unless the graph reads beyond it; ``None`` means the view of the first
    reader.
    """

    name: str
    value: Value
    default: Data | None = None
    desc: TensorDesc | None = None
    source: str = ""
    """The JSON pointer of its declaration; empty if there is none."""
    sizes: tuple[int | str, ...] = ()
    """Its sizes, if some of them are names; else empty."""


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A buffer with constant bytes; ``desc`` if the model declares its tensor."""

    value: Value
    data: Data
    desc: TensorDesc | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GraphOutput:
    """A value returned to the caller as ``desc``, usually the descriptor of its last writer."""

    name: str
    value: Value
    desc: TensorDesc


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """A ``print`` or ``writeFile`` command of a sequential program, which shows a value at that moment."""

    kind: str
    """``"print"`` or ``"writeFile"``."""
    output: GraphOutput
    path: str = ""
    dimensions: tuple[int, ...] = ()
    verbose: bool = False


_SAVED = "dml2onnx.convert(graph, FILE) writes it, dml2onnx.compile(graph).save(FILE) an ONNX model"
_FUNCTIONS = {
    **dict.fromkeys(("save", "write", "export", "dump", "to_json", "to_onnx", "convert"), _SAVED),
    **{name: f"dml2onnx.{name}(graph) does that" for name in ("check", "compile", "verify")},
    "run": "dml2onnx.run(graph, inputs) does that",
}
"""Functions that users look for as methods of a graph."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """Nodes in any order, with the graph's inputs, constants and outputs.

    ``results`` are the final contents of every buffer that the program writes; ``outputs`` are those compiled by
    default. ``findings`` come from the reader and are part of every check; ``unresolved`` are values without a writer
    because of such a finding, ``unread_nodes`` counts the nodes missing here because of one; ``sources`` are the files
    that were read.

    Descriptors always have numbers. If inputs have named sizes, the numbers are the sizes at which the graph was
    written, and ``ranges`` has the limits of some of the names.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[GraphInput, ...]
    outputs: tuple[GraphOutput, ...]
    constants: tuple[Constant, ...] = ()
    results: tuple[GraphOutput, ...] = ()
    effects: tuple[Effect, ...] = ()
    name: str = "graph"
    feature_level: str | None = None
    findings: tuple[Diagnostic, ...] = ()
    format: str = ""
    unresolved: frozenset[Value] = frozenset()
    sources: tuple[Path, ...] = ()
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unread_nodes: int = 0
    _order: list[tuple[Node, ...]] = field(default_factory=list, init=False)

    def __repr__(self) -> str:
        counts = (
            plural(len(self.nodes), "node"),
            plural(len(self.inputs), "input"),
            plural(len(self.constants), "constant"),
            plural(len(self.outputs), "output"),
        )
        return f"<Graph {quote(self.name)}: {', '.join(counts)}>"

    _repr_html_ = lazy_method("dml2onnx.report.notebooks", "graph_html")

    if not TYPE_CHECKING:  # type checkers would accept any member

        def __getattr__(self, name: str) -> NoReturn:
            how = _FUNCTIONS.get(name, "")
            raise AttributeError(f"a Graph has no {name}{how and f'; {how}'}", name=name, obj=self)

    def __str__(self) -> str:
        """A summary: inputs, outputs, and counts of operators."""
        kinds = Counter(node.operator.type for node in self.nodes)
        weights = sum(item.value.nbytes for item in self.constants)
        level = f", feature level {self.feature_level}" if self.feature_level else ""
        return "\n".join(
            [
                f"DirectML graph {quote(self.name)}{level}",
                *some(
                    f"  input  {shortened(item.name)}: {item.desc or plural(item.value.nbytes, 'byte')}"
                    + (f", {' × '.join(map(str, item.sizes))}" if item.sizes else "")
                    for item in self.inputs
                ),
                *some(f"  output {shortened(item.name)}: {item.desc}" for item in self.outputs),
                f"  {plural(len(self.constants), 'constant')}, {plural(weights, 'byte')}",
                f"  {plural(len(self.nodes), 'node')}",
                *some(f"  {count:>6,} {name}" for name, count in kinds.most_common()),
            ]
        )

    @property
    def named_sizes(self) -> dict[str, tuple[int | str, ...]]:
        """The sizes of inputs with named sizes."""
        return {item.name: item.sizes for item in self.inputs if item.sizes}

    def without_names(self) -> Graph:
        """The graph at the sizes at which it was written."""
        if not self.named_sizes:
            return self
        return replace(self, inputs=tuple(replace(item, sizes=()) for item in self.inputs), ranges={})

    def writers(self) -> dict[Value, Node]:
        """The node that writes each value."""
        return {value: node for node in self.nodes for value in node.targets}

    def sorted_nodes(self) -> tuple[Node, ...]:
        """Nodes in topological order; ``networkx.NetworkXUnfeasible`` on a cycle."""
        if not self._order:
            self._order.append(self._sort())
        return self._order[0]

    def _sort(self) -> tuple[Node, ...]:
        if self.is_in_order():
            return self.nodes
        import networkx as nx  # slow to import, and rarely needed

        digraph = self.dependencies()
        position = {node: i for i, node in enumerate(self.nodes)}
        return tuple(nx.lexicographical_topological_sort(digraph, key=position.__getitem__))

    def is_in_order(self) -> bool:
        """Whether the nodes are in topological order, as programs and exporters nearly always write them."""
        available = {item.value for item in self.inputs}
        available.update(item.value for item in self.constants)
        for node in self.nodes:
            if not available.issuperset(node.sources):
                return False
            available.update(node.targets)
        return True

    def dependencies(self) -> nx.DiGraph[Node]:
        """The graph of nodes, with an edge from each writer to each reader of its values."""
        import networkx as nx

        digraph: nx.DiGraph[Node] = nx.DiGraph()
        digraph.add_nodes_from(self.nodes)
        writers = self.writers()
        for node in self.nodes:
            for value in node.sources:
                if value in writers:
                    digraph.add_edge(writers[value], node)
        return digraph

    def live_nodes(self, outputs: tuple[GraphOutput, ...]) -> tuple[Node, ...]:
        """The nodes that contribute to ``outputs``, in topological order."""
        needed = {output.value for output in outputs}
        live: list[Node] = []
        for node in reversed(self.sorted_nodes()):
            if not needed.isdisjoint(node.targets):
                live.append(node)
                needed.update(node.sources)
        return tuple(reversed(live))


MOST_LISTED = 20
"""Lines of one kind in a summary."""


def some(lines: Iterable[str]) -> list[str]:
    """The first lines, and the number of the others."""
    listed = list(lines)
    rest = len(listed) - MOST_LISTED
    return listed if rest <= 0 else [*listed[:MOST_LISTED], f"  ... and {rest:,} more"]
