"""Live nodes, inputs, outputs and names of lowered graphs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import InternalError
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.lowering import driver
from dml2onnx.reference import evaluate
from tests.lowering.harness import make_case, operator, operators, t

FOUR = t("FLOAT32", [4])


def unary(name: str, source: Value, target: Value, desc: TensorDesc = FOUR, base: Value | None = None) -> Node:
    """A RELU node, or an IDENTITY if the name starts with ``copy``."""
    kind = "ACTIVATION_IDENTITY" if name.startswith("copy") else "ACTIVATION_RELU"
    op = operator(kind, InputTensor=desc, OutputTensor=desc)
    return Node(name, op, {"InputTensor": (Read(source),)}, {"OutputTensor": (Write(target, 0, base),)})


def binary(name: str, a: Value, b: Value, target: Value) -> Node:
    op = operator("ELEMENT_WISE_ADD", ATensor=FOUR, BTensor=FOUR, OutputTensor=FOUR)
    return Node(name, op, {"ATensor": (Read(a),), "BTensor": (Read(b),)}, {"OutputTensor": (Write(target),)})


def value(name: str) -> Value:
    return Value(name, 16)


def compiled(
    nodes: Sequence[Node],
    inputs: Mapping[str, Value],
    outputs: Sequence[tuple[str, Value]],
    constants: Mapping[Value, np.ndarray] | None = None,
) -> CompiledModel:
    """Compiles a graph and compares its results with the reference."""
    graph = Graph(
        tuple(nodes),
        tuple(GraphInput(name, item) for name, item in inputs.items()),
        tuple(GraphOutput(name, item, FOUR) for name, item in outputs),
        tuple(Constant(item, ArrayData.of(array)) for item, array in (constants or {}).items()),
    )
    model = compile_outputs(graph, graph.outputs, exact=False)
    onnx.checker.check_model(model.model_proto, full_check=True)
    feeds = {port.name: np.array([-2, -1, 1, 2], port.dtype) for port in model.inputs}
    got, want = model.run(feeds), evaluate(graph, feeds)
    assert list(got) == [name for name, _ in outputs]
    for name, array in want.items():
        np.testing.assert_array_equal(got[name], array, err_msg=name)
    return model


def onnx_names(model: CompiledModel) -> tuple[list[str], list[str]]:
    graph = model.model_proto.graph
    return [item.name for item in graph.input], [item.name for item in graph.output]


# --- names --------------------------------------------------------------------------------------------------------


def test_outputs_keep_their_names() -> None:
    x, h, y = value("x"), value("h"), value("y")
    model = compiled([unary("a", x, h), unary("b", h, y)], {"x": x}, [("y", y)])
    assert operators(model) == ["Relu", "Relu"]
    assert onnx_names(model) == (["x"], ["y"])


def test_an_output_that_another_node_reads() -> None:
    x, h, y = value("x"), value("h"), value("y")
    model = compiled([unary("a", x, h), unary("b", h, y)], {"x": x}, [("h", h), ("y", y)])
    assert operators(model) == ["Relu", "Relu"]
    assert model.model_proto.graph.node[1].input[0] == "h"


def test_an_output_with_the_name_of_an_input() -> None:
    x, x1 = value("x"), value("x")
    model = compiled([unary("a", x, x1, base=x)], {"x": x}, [("x", x1)])
    assert onnx_names(model) == (["x"], ["x_out"])
    assert [(port.name, port.onnx_name) for port in model.outputs] == [("x", "x_out")]


def test_generated_names_of_outputs_are_unique() -> None:
    """``x_out`` and ``x_out_out`` are names of another output and of a constant."""
    x, x1, y, w = value("x"), value("x"), value("y"), value("x_out_out")
    nodes = [unary("a", x, x1, base=x), binary("b", x, w, y)]
    model = compiled(nodes, {"x": x}, [("x", x1), ("x_out", y)], {w: np.arange(4, dtype=np.float32)})
    graph = model.model_proto.graph
    names = [item.name for item in (*graph.input, *graph.initializer)] + [n for i in graph.node for n in i.output]
    assert len(names) == len(set(names))


def test_an_output_called_like_a_constant() -> None:
    x, y, w = value("x"), value("y"), value("w")
    compiled([binary("b", x, w, y)], {"x": x}, [("w", y)], {w: np.arange(4, dtype=np.float32)})


def test_nodes_called_like_ports() -> None:
    x, h, y = value("x"), value("h"), value("y")
    compiled([unary("x", x, h), unary("y/Relu", h, y)], {"y/Relu/Relu": x}, [("x/Relu", y)])


def test_nodes_of_one_name() -> None:
    """Checks refuse them, but lowering gives them different names too."""
    x, h, y = value("x"), value("h"), value("y")
    model = compiled([unary("a", x, h), unary("a", h, y)], {"x": x}, [("h", h), ("y", y)])
    assert len({node.name for node in model.model_proto.graph.node}) == 2


# --- outputs without a node of their own --------------------------------------------------------------------------


def test_an_output_that_is_an_input() -> None:
    x = value("x")
    model = compiled([], {"x": x}, [("y", x)])
    assert operators(model) == ["Identity"]
    model = compiled([], {"x": x}, [("x", x)])
    assert onnx_names(model) == (["x"], ["x_out"])


def test_an_output_that_is_a_constant() -> None:
    w = value("w")
    assert operators(compiled([], {}, [("y", w)], {w: np.arange(4, dtype=np.float32)})) == ["Identity"]


def test_a_folded_output() -> None:
    w, y = value("w"), value("y")
    model = compiled([binary("sum", w, w, y)], {}, [("y", y)], {w: np.arange(4, dtype=np.float32)})
    assert operators(model) == ["Identity"]


def test_two_outputs_of_one_value() -> None:
    x, y = value("x"), value("y")
    model = compiled([unary("a", x, y)], {"x": x}, [("y", y), ("again", y)])
    assert operators(model) == ["Relu", "Identity"]
    model = compiled([unary("a", x, y)], {"x": x}, [("y", y), ("again", y), ("x", x), ("other", y)])
    assert len(set(onnx_names(model)[1])) == 4


def test_an_output_of_a_node_that_does_nothing() -> None:
    """A copy returns the tensor of an earlier node, which may be named already or have other readers."""
    x, h, y, z = value("x"), value("h"), value("y"), value("z")
    compiled([unary("a", x, h), unary("copy", h, y)], {"x": x}, [("y", y)])
    compiled([unary("a", x, h), unary("b", h, z), unary("copy", h, y)], {"x": x}, [("y", y), ("z", z)])
    compiled([unary("a", x, h), unary("copy", h, y)], {"x": x}, [("y", y), ("h", h)])
    compiled([unary("a", x, h), unary("copy1", h, y), unary("copy2", y, z)], {"x": x}, [("z", z), ("y", y), ("h", h)])


def test_one_value_under_two_descriptors() -> None:
    value_ = Value("m", 24)
    x = Value("x", 24)
    node = unary("a", x, value_, t("FLOAT32", [2, 3]))
    outputs = (
        GraphOutput("rows", value_, t("FLOAT32", [2, 3])),
        GraphOutput("columns", value_, t("FLOAT32", [3, 2], [1, 3])),
        GraphOutput("flat", value_, t("FLOAT32", [6])),
        GraphOutput("bits", value_, t("UINT32", [6])),
    )
    graph = Graph((node,), (GraphInput("x", x),), outputs)
    model = compile_outputs(graph, outputs)
    onnx.checker.check_model(model.model_proto, full_check=True)
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3) - 2}
    got = model.run(feeds)
    for name, want in evaluate(graph, feeds).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)
    assert [port.shape for port in model.outputs] == [(2, 3), (2, 3), (6,), (6,)]


# --- inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("views", "shape"),
    [
        pytest.param([(FOUR, 0)], (4,), id="first-reader"),
        pytest.param([(t("FLOAT32", [2, 2], [1, 2]), 0)], (2, 2), id="in-memory-order"),
        pytest.param([(t("FLOAT32", [3, 4], [0, 1]), 0)], (1, 4), id="broadcast"),
        pytest.param([(t("FLOAT32", [2, 2], [3, 1]), 0)], (5,), id="padded"),
        pytest.param([(t("FLOAT32", [2, 4]), 0), (FOUR, 16)], (2, 4), id="second-reads-a-part"),
        pytest.param([(FOUR, 0), (t("FLOAT32", [2, 4]), 0)], (8,), id="second-reads-more"),
        pytest.param([(FOUR, 16)], (8,), id="from-an-offset"),
        pytest.param([(FOUR, 16), (FOUR, 0)], (8,), id="first-from-an-offset"),
    ],
)
def test_inputs_have_the_shape_of_their_first_reader(
    views: list[tuple[TensorDesc, int]], shape: tuple[int, ...]
) -> None:
    x = Value("x", 64)
    nodes, outputs = [], []
    for index, (desc, offset) in enumerate(views):
        y = Value(f"y{index}", desc.packed().minimum_bytes)
        op = operator("ACTIVATION_RELU", InputTensor=desc, OutputTensor=desc.packed())
        node = Node(f"n{index}", op, {"InputTensor": (Read(x, offset),)}, {"OutputTensor": (Write(y),)})
        nodes.append(node)
        outputs.append(GraphOutput(y.name, y, desc.packed()))
    graph = Graph(tuple(nodes), (GraphInput("x", x),), tuple(outputs))
    model = compile_outputs(graph, outputs)
    (port,) = model.inputs
    assert port.shape == shape
    feeds = {"x": np.linspace(-3, 9, port.desc.extent, dtype=np.float32)}
    got = model.run(feeds)
    for name, want in evaluate(graph, feeds).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


def test_an_input_with_a_descriptor_keeps_it() -> None:
    x, y = Value("x", 16), value("y")
    node = unary("a", x, y)
    graph = Graph((node,), (GraphInput("x", x, desc=t("FLOAT32", [2, 2], [1, 2])),), (GraphOutput("y", y, FOUR),))
    model = compile_outputs(graph, graph.outputs, exact=False)
    assert model.inputs[0].desc == t("FLOAT32", [2, 2], [1, 2])
    got = model.run({"x": np.array([-1, 2, 3, 4], np.float32)})["y"]
    np.testing.assert_array_equal(got, [0, 2, 3, 4])


def test_inputs_are_large_enough_for_outputs() -> None:
    x, y = Value("x", 64), value("y")
    outputs = (GraphOutput("all", x, t("FLOAT32", [8])), GraphOutput("y", y, FOUR))
    graph = Graph((unary("a", x, y),), (GraphInput("x", x),), outputs)
    model = compile_outputs(graph, outputs)
    got = model.run({"x": np.arange(8, dtype=np.float32)})
    np.testing.assert_array_equal(got["all"], np.arange(8))
    np.testing.assert_array_equal(got["y"], np.arange(4))


def test_unused_inputs_are_kept() -> None:
    """Callers bind inputs by name, whichever part of the graph is compiled."""
    x, unused, y = value("x"), Value("unused", 12), value("y")
    model = compiled([unary("a", x, y)], {"x": x}, [("y", y)])
    assert [port.name for port in model.inputs] == ["x"]
    graph = Graph((unary("a", x, y),), (GraphInput("x", x), GraphInput("unused", unused)), (GraphOutput("y", y, FOUR),))
    model = compile_outputs(graph, graph.outputs, exact=False)
    assert [(port.name, port.shape, port.dtype) for port in model.inputs][1] == ("unused", (12,), np.dtype(np.uint8))


def test_a_buffer_that_is_written_in_part_is_an_input_as_a_whole() -> None:
    x, x1 = Value("x", 32), Value("x", 32)
    source = value("s")
    graph = Graph(
        (unary("a", source, x1, base=x),),
        (GraphInput("x", x), GraphInput("s", source)),
        (GraphOutput("x", x1, t("FLOAT32", [8])),),
    )
    model = compile_outputs(graph, graph.outputs, exact=False)
    feeds: dict[str, np.ndarray] = {"x": np.arange(8, dtype=np.float32), "s": np.array([-1, 1, 2, 3], np.float32)}
    np.testing.assert_array_equal(model.run(feeds)["x"], [0, 1, 2, 3, 4, 5, 6, 7])


# --- nodes --------------------------------------------------------------------------------------------------------


def test_dead_nodes_are_dropped() -> None:
    x, y, z = value("x"), value("y"), value("z")
    model = compiled([unary("a", x, y), unary("dead", y, z)], {"x": x}, [("y", y)])
    assert [trace.node for trace in model.traces] == ["a"]


def test_a_node_without_onnx_nodes_has_a_trace() -> None:
    case = make_case(operator("JOIN", InputTensors=[FOUR], OutputTensor=FOUR, Axis=0))
    model = compile_outputs(case.graph, case.graph.outputs)
    (trace,) = model.traces
    assert (trace.node, trace.operator, trace.operators) == ("node", "JOIN", ())


def test_nodes_refer_to_their_origin() -> None:
    x, y = value("x"), value("y")
    (node,) = compiled([unary("first", x, y)], {"x": x}, [("y", y)]).model_proto.graph.node
    assert node.name == "first/Relu"
    metadata = {item.key: item.value for item in node.metadata_props}
    assert metadata == {"dml_node": "first", "dml_operator": "ACTIVATION_RELU"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(lambda node, e: e.Reshape(node.tensor("InputTensor"), (2, 2)), r"\[2, 2\]", id="shape"),
        pytest.param(lambda node, e: e.Cast(node.tensor("InputTensor"), np.dtype("int64")), "int64", id="type"),
        pytest.param(lambda node, e: {}, "returned nothing for OutputTensor", id="missing"),
    ],
)
def test_wrong_results_are_internal_errors(monkeypatch: pytest.MonkeyPatch, wrong: object, message: str) -> None:
    x, y = value("x"), value("y")
    monkeypatch.setattr(driver, "lowering", lambda schema: wrong)
    graph = Graph((unary("a", x, y),), (GraphInput("x", x),), (GraphOutput("y", y, FOUR),))
    with pytest.raises(InternalError, match=message) as caught:
        compile_outputs(graph, graph.outputs, exact=False)
    assert "ACTIVATION_RELU" in str(caught.value)
    assert "please report" in str(caught.value)


def test_only_exact_models_cast_float16() -> None:
    half = t("FLOAT16", [3])
    op: OperatorDesc = operator("ELEMENT_WISE_ADD", ATensor=half, BTensor=half, OutputTensor=half)
    graph = make_case(op).graph
    for exact, found in ((True, ["Cast", "Cast", "Add", "Cast"]), (False, ["Add"])):
        model = compile_outputs(graph, graph.outputs, exact=exact)
        assert operators(model) == found
        assert model.outputs[0].dtype == np.float16


def test_values_keep_their_names(tmp_path: Path) -> None:
    """Edges, resources, and nodes of the builder; unnamed values are named after their node and field."""
    tensor = {"DataType": "FLOAT32", "Sizes": [4]}
    model = {
        "dml2onnx": 1,
        "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [4]}},
        "nodes": [
            {"name": f"n{i}", "type": f"ACTIVATION_{kind}", "desc": {"OutputTensor": tensor},
             "inputs": {"InputTensor": source}, "outputs": {"OutputTensor": target}}
            for i, (kind, source, target) in enumerate(
                [("RELU", "x", "hidden"), ("TANH", "hidden", "deep"), ("RELU", "deep", "y")]
            )
        ],
        "outputs": ["y"],
    }  # fmt: skip

    def loaded(document: object) -> Graph:
        path = tmp_path / "model.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return dml2onnx.load(path)

    assert value_names(loaded(model)) == ["hidden", "deep", "y"]
    relu = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}
    graph = {
        "Nodes": [{"Type": "OPERATOR", "Desc": {"Operator": {"Type": "ACTIVATION_RELU", "Desc": relu}}}] * 3,
        "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": "x"}],
        "OutputEdges": [{"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0, "Name": "y"}],
        "IntermediateEdges": [
            {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0, "Name": "hidden"},
            {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0},
        ],
    }
    assert value_names(loaded(graph)) == ["hidden", "activation_relu_1.OutputTensor", "y"]
    g = GraphBuilder()
    h = g.activation_relu(g.input("x", "FLOAT32", [4]), name="hidden")
    assert value_names(g.build({"y": g.activation_tanh(g.activation_relu(h))}))[0] == "hidden"


def test_names_of_values_are_unique() -> None:
    """Values may have the names of graph inputs and outputs."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    graph = g.build({"y": g.abs(g.activation_tanh(g.abs(x, name="y"), name="x"))})
    names = value_names(graph)
    assert names[-1] == "y"
    assert len({*names, "x"}) == 4


def value_names(graph: Graph) -> list[str]:
    model = compile_outputs(graph, graph.outputs, passes=(), exact=False)
    onnx.checker.check_model(model.model_proto, full_check=True)
    return [name for node in model.model_proto.graph.node for name in node.output]


@pytest.mark.parametrize("empty", [["input"], ["constant"], ["middle"], ["output"], ["input", "output"]])
def test_empty_names(empty: list[str]) -> None:
    """An empty name means a missing value in ONNX, but buffers may have it."""
    names = {"input": "x", "constant": "w", "middle": "h", "output": "y"} | dict.fromkeys(empty, "")
    x, w, y = (Value(names[role], 16) for role in ("input", "constant", "output"))
    desc, padded = t("FLOAT32", [4]), t("FLOAT32", [6])
    middle, last = Value(names["middle"], 16), Value(y.name, 24)
    add = operator("ELEMENT_WISE_ADD", ATensor=desc, BTensor=desc, OutputTensor=desc)
    pad = operator(
        "PADDING", InputTensor=desc, OutputTensor=padded, PaddingMode="CONSTANT", PaddingValue=2.0,
        StartPadding=[1], EndPadding=[1],
    )  # fmt: skip
    nodes = (
        Node("add", add, {"ATensor": (Read(x),), "BTensor": (Read(w),)}, {"OutputTensor": (Write(middle),)}),
        Node("pad", pad, {"InputTensor": (Read(middle),)}, {"OutputTensor": (Write(last),)}),
    )
    graph = Graph(
        nodes,
        (GraphInput(x.name, x),),
        (GraphOutput(y.name, last, padded),),
        (Constant(w, ArrayData.of(np.arange(4, dtype=np.float32))),),
    )
    model = compile_outputs(graph, graph.outputs, exact=False)
    onnx.checker.check_model(model.model_proto, full_check=True)
    got = model.run({x.name: np.ones(4, np.float32)})
    np.testing.assert_array_equal(got[y.name], [2, 1, 2, 3, 4, 2])
