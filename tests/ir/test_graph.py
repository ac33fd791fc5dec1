"""Order, life and cycles of graphs, in time linear in their size."""

from __future__ import annotations

import time
from collections.abc import Sequence

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from tests.lowering.harness import operator, t

DESC = t("FLOAT32", [4])
COPY = operator("ACTIVATION_IDENTITY", InputTensor=DESC, OutputTensor=DESC)
JOINS = {n: operator("JOIN", InputTensors=[DESC] * n, OutputTensor=t("FLOAT32", [4 * n]), Axis=0) for n in range(1, 5)}
POOL = operator(
    "MAX_POOLING2",
    InputTensor=t("FLOAT32", [1, 1, 1, 4]),
    OutputTensor=t("FLOAT32", [1, 1, 1, 4]),
    OutputIndicesTensor=t("UINT32", [1, 1, 1, 4]),
    Strides=(1, 1),
    WindowSize=(1, 1),
    StartPadding=(0, 0),
    EndPadding=(0, 0),
    Dilations=(1, 1),
)


def join(name: str, sources: Sequence[Value], target: Value, base: Value | None = None) -> Node:
    """A node that reads some values and makes one."""
    reads = {"InputTensors": tuple(Read(value) for value in sources)}
    return Node(name, JOINS[len(sources)], reads, {"OutputTensor": (Write(target, 0, base),)})


def values(count: int) -> list[Value]:
    return [Value(f"v{i}", 64) for i in range(count)]


def given_value(value: Value) -> tuple[GraphInput, ...]:
    return (GraphInput(value.name, value),)


def names(nodes: Sequence[Node]) -> str:
    return "".join(node.name for node in nodes)


def test_sorted_graphs_stay_as_they_are() -> None:
    v = values(4)
    nodes = (join("a", [v[0]], v[1]), join("b", [v[0]], v[2]), join("c", [v[2], v[1]], v[3]))
    graph = Graph(nodes, given_value(v[0]), ())
    assert graph.sorted_nodes() is nodes


def test_others_are_sorted_with_as_little_moved_as_possible() -> None:
    v = values(6)
    nodes = (
        join("e", [v[3], v[4]], v[5]),
        join("b", [v[0]], v[2]),
        join("c", [v[2], v[1]], v[3]),
        join("a", [v[0]], v[1]),
        join("d", [v[0]], v[4]),
    )
    graph = Graph(nodes, given_value(v[0]), ())
    assert names(graph.sorted_nodes()) == "bacde"
    assert graph.sorted_nodes() is graph.sorted_nodes()


def test_writes_follow_the_version_that_they_are_made_from() -> None:
    v = values(4)
    nodes = (
        join("c", [v[0]], v[3], base=v[2]),
        join("b", [v[0]], v[2], base=v[1]),
        join("a", [v[0]], v[1]),
    )
    graph = Graph(nodes, given_value(v[0]), ())
    assert names(graph.sorted_nodes()) == "abc"
    assert names(graph.live_nodes((GraphOutput("x", v[2], DESC),))) == "ab"


def test_outputs_of_one_node_made_from_each_other_are_no_cycle() -> None:
    v = values(3)
    writes = {"OutputTensor": (Write(v[1], 0, v[0]),), "OutputIndicesTensor": (Write(v[2], 16, v[1]),)}
    node = Node("both", POOL, {"InputTensor": (Read(v[0]),)}, writes)
    graph = Graph((node,), given_value(v[0]), ())
    assert node.sources == (v[0], v[0])
    assert node.targets == (v[1], v[2])
    assert graph.sorted_nodes() == (node,)
    assert graph.live_nodes((GraphOutput("x", v[2], DESC),)) == (node,)
    assert not list(graph.dependencies().edges)


def test_dependencies() -> None:
    v = values(4)
    a, b, c = join("a", [v[0]], v[1]), join("b", [v[1], v[1]], v[2]), join("c", [v[0]], v[3], base=v[1])
    graph = Graph((a, b, c), given_value(v[0]), ())
    assert set(graph.dependencies().edges) == {(a, b), (a, c)}
    assert list(graph.dependencies().nodes) == [a, b, c]
    assert graph.writers() == {v[1]: a, v[2]: b, v[3]: c}


@pytest.mark.parametrize("length", [1, 2, 5])
def test_cycles(length: int) -> None:
    v = values(length)
    nodes = tuple(join(f"n{i}", [v[i - 1]], v[i]) for i in range(length))
    graph = Graph(nodes, (), ())
    with pytest.raises(nx.NetworkXUnfeasible):
        graph.sorted_nodes()
    assert len(list(nx.simple_cycles(graph.dependencies()))) == 1


def test_values_that_nothing_provides_do_not_hinder_sorting() -> None:
    v = values(4)
    nodes = (join("b", [v[2], v[0]], v[3]), join("a", [v[1]], v[2]))
    assert names(Graph(nodes, (), ()).sorted_nodes()) == "ab"


def test_functions_that_are_looked_for_among_members() -> None:
    saved = "dml2onnx.convert(graph, FILE) writes it, dml2onnx.compile(graph).save(FILE) an ONNX model"
    said = {"compile": "dml2onnx.compile(graph) does that", "run": "dml2onnx.run(graph, inputs) does that"}
    for name, how in {**said, "to_onnx": saved}.items():
        with pytest.raises(AttributeError) as raised:
            getattr(Graph((), (), (), ()), name)
        assert str(raised.value) == f"a Graph has no {name}; {how}"


def test_views_pair_tensors_with_their_buffers() -> None:
    v = values(4)
    reads = {"InputTensor": (Read(v[0], 16),)}
    writes = {"OutputTensor": (Write(v[1]),), "OutputIndicesTensor": (Write(v[2], 32, v[3]),)}
    node = Node("pool", POOL, reads, writes)
    assert list(node.views_in()) == [("InputTensor", 0, Read(v[0], 16), POOL.tensor("InputTensor"))]
    assert list(node.views_out()) == [
        ("OutputTensor", 0, Write(v[1]), POOL.tensor("OutputTensor")),
        ("OutputIndicesTensor", 0, Write(v[2], 32, v[3]), POOL.tensor("OutputIndicesTensor")),
    ]
    both = join("both", v[:2], v[2])
    assert [(name, index) for name, index, *_ in both.views_in()] == [("InputTensors", 0), ("InputTensors", 1)]


@st.composite
def shuffled(draw: st.DrawFn) -> Graph:
    """An acyclic graph whose nodes stand in any order."""
    v = [Value("v0", 64)]
    nodes = []
    for i in range(draw(st.integers(1, 9))):
        sources = draw(st.lists(st.sampled_from(v), min_size=1, max_size=3))
        base = draw(st.none() | st.sampled_from(v))
        v.append(Value(f"v{i + 1}", 64))
        nodes.append(join(f"n{i}", sources, v[-1], base))
    chosen = draw(st.lists(st.sampled_from(v), min_size=1, max_size=3))
    outputs = tuple(GraphOutput(f"o{i}", value, DESC) for i, value in enumerate(chosen))
    return Graph(tuple(draw(st.permutations(nodes))), given_value(v[0]), outputs)


@settings(max_examples=200, deadline=None)
@given(shuffled())
def test_order_and_life_of_any_graph(graph: Graph) -> None:
    order = graph.sorted_nodes()
    assert sorted(map(id, order)) == sorted(map(id, graph.nodes))
    position = {node: i for i, node in enumerate(order)}
    digraph = graph.dependencies()
    assert all(position[a] < position[b] for a, b in digraph.edges)
    writers = graph.writers()
    targets = {writers[output.value] for output in graph.outputs if output.value in writers}
    needed = targets.union(*(nx.ancestors(digraph, node) for node in targets))
    live = graph.live_nodes(graph.outputs)
    assert set(live) == needed
    assert list(live) == sorted(live, key=position.__getitem__)


def chain(count: int, *, backwards: bool = False) -> Graph:
    v = values(count + 1)
    reads = [{"InputTensor": (Read(value),)} for value in v]
    nodes = tuple(Node(f"n{i}", COPY, reads[i], {"OutputTensor": (Write(v[i + 1]),)}) for i in range(count))
    outputs = (GraphOutput("y", v[-1], DESC),)
    return Graph(nodes[::-1] if backwards else nodes, given_value(v[0]), outputs)


def seconds(graph: Graph) -> float:
    """Processor time of sorting and finding what lives: other programs on the machine do not count."""
    started = time.process_time()
    assert len(graph.sorted_nodes()) == len(graph.nodes) == len(graph.live_nodes(graph.outputs))
    return time.process_time() - started


@pytest.mark.parametrize("backwards", [False, True])
def test_time_is_linear(backwards: bool) -> None:
    """Ten times the nodes take some ten times as long; a quadratic algorithm would take a hundred times."""
    small = min(seconds(chain(2000, backwards=backwards)) for _ in range(3))
    large = min(seconds(chain(20000, backwards=backwards)) for _ in range(2))
    assert large < 40 * small + 0.05
