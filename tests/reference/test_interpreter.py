from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import evaluate, evaluate_results
from dml2onnx.test_cases.descriptors import describe

F32 = DataType.FLOAT32


def relu(x, y, shape, name="relu"):
    desc = TensorDesc(F32, shape)
    op = describe("ACTIVATION_RELU", InputTensor=desc, OutputTensor=desc)
    return Node(name, op, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(y),)})


def test_dead_nodes_are_skipped():
    x, y, unused = Value("x", 4), Value("y", 4), Value("unused", 4)
    nodes = (relu(unused, Value("z", 4), (1,), "dead"), relu(x, y, (1,)))
    inputs = (GraphInput("x", x, ArrayData.of(np.array([-3], np.float32))), GraphInput("unused", unused))
    graph = Graph(nodes, inputs, (GraphOutput("y", y, TensorDesc(F32, (1,))),))
    assert evaluate(graph)["y"] == 0
    assert evaluate(graph, outputs=[GraphOutput("same", x, TensorDesc(F32, (1,)))])["same"] == -3


def test_short_inputs_are_zero_padded_and_long_ones_refused():
    x, y = Value("x", 8), Value("y", 8)
    graph = Graph((relu(x, y, (2,)),), (GraphInput("x", x),), (GraphOutput("y", y, TensorDesc(F32, (2,))),))
    np.testing.assert_array_equal(evaluate(graph, {"x": np.array([4], np.float32)})["y"], [4, 0])
    with pytest.raises(ValueError, match="12 bytes for 'x', which has 8"):
        evaluate(graph, {"x": np.zeros(3, np.float32)})
    with pytest.raises(KeyError, match="no contents for the input 'x'"):
        evaluate(graph)
    with pytest.raises(KeyError, match="no input z"):
        evaluate(graph, {"x": [1, 2], "z": [1]})


def chain(first, second, shape):
    x, y, z = (Value(name, 4 * int(np.prod(shape))) for name in "xyz")
    nodes = tuple(
        Node(str(i), op, {"InputTensor": (Read(a),)}, {"OutputTensor": (Write(b),)})
        for i, (op, a, b) in enumerate(((first, x, y), (second, y, z)))
    )
    return Graph(nodes, (GraphInput("x", x),), (GraphOutput("z", z, TensorDesc(F32, shape)),))


def test_errors_propagate_through_operators():
    desc = TensorDesc(F32, (3,))
    tanh = describe("ACTIVATION_TANH", InputTensor=desc, OutputTensor=desc)
    scale = describe("ACTIVATION_LINEAR", InputTensor=desc, OutputTensor=desc, Alpha=1000.0, Beta=0.0)
    x = np.array([0.1, 0.5, 2], np.float32)
    result = evaluate_results(chain(tanh, scale, (3,)), {"x": x})["z"]
    assert result.error is not None
    # a thousand times the error of tanh, within the margin of the samples
    assert (result.error >= 1000 * 1e-5 * np.tanh(x)).all()
    assert (result.error <= 0.1).all()


def test_unspecified_elements_propagate_through_operators():
    desc = TensorDesc(F32, (2, 2))
    relu_op = describe("ACTIVATION_CELU", InputTensor=desc, OutputTensor=desc, Alpha=1.0)
    soft = describe("ACTIVATION_SOFTMAX", InputTensor=desc, OutputTensor=desc)
    x = np.array([[np.nan, 1], [2, 3]], np.float32)
    result = evaluate_results(chain(relu_op, soft, (2, 2)), {"x": x})["z"]
    np.testing.assert_array_equal(result.unspecified, [[True, True], [False, False]])


def test_exact_results_stay_exact():
    desc = TensorDesc(F32, (2,))
    op = describe("ACTIVATION_IDENTITY", InputTensor=desc, OutputTensor=desc)
    result = evaluate_results(chain(op, op, (2,)), {"x": np.array([1, np.nan], np.float32)})["z"]
    assert result.error is None
    assert result.unspecified is None


def test_outputs_do_not_share_memory() -> None:
    desc = TensorDesc(DataType.FLOAT32, (3,))
    value = Value("x", 12)
    graph = Graph(
        (), (GraphInput("x", value, desc=desc),), (GraphOutput("a", value, desc), GraphOutput("b", value, desc))
    )
    x = np.arange(3, dtype=np.float32)
    results = evaluate(graph, {"x": x})
    results["a"][:] = 7
    assert results["b"].tolist() == x.tolist() == [0, 1, 2]
