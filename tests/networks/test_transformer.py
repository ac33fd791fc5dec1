"""A transformer block: what it says of a sequence at once, and of its end with the keys and values of its beginning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import evaluate
from tests.networks.drawing import Floats, Network, causal_attention, normalized, perceptron

BATCH, LENGTH, BEGINNING = 2, 9, 5
HEADS, SIZE = 4, 8
WIDTH = HEADS * SIZE


def weights() -> dict[str, Floats]:
    """Of a block, in the last two dimensions where there are two."""
    random = np.random.default_rng(11)

    def matrix(rows: int, columns: int) -> Floats:
        return random.standard_normal((rows, columns)) / np.sqrt(rows)

    def vector(width: int, around: float = 0.0) -> Floats:
        return around + random.standard_normal(width) * 0.1

    made = {
        "first scale": vector(WIDTH, 1),
        "first bias": vector(WIDTH),
        "second scale": vector(WIDTH, 1),
        "second bias": vector(WIDTH),
        "stack": matrix(WIDTH, 3 * WIDTH),
        "stack bias": vector(3 * WIDTH),
        "join": matrix(WIDTH, WIDTH),
        "join bias": vector(WIDTH),
        "up": matrix(WIDTH, 4 * WIDTH),
        "up bias": vector(4 * WIDTH),
        "down": matrix(4 * WIDTH, WIDTH),
        "down bias": vector(WIDTH),
    }
    # what a FLOAT16 network is given, so that all that differs is how it is computed
    return {name: array.astype(np.float16).astype(np.float64) for name, array in made.items()}


def sequence() -> Floats:
    random = np.random.default_rng(12)
    return random.standard_normal((BATCH, LENGTH, WIDTH)).astype(np.float16).astype(np.float64)


def expected(x: Floats, w: Mapping[str, Floats]) -> Floats:
    """The block on { batch, length, width }; the columns of the stack are heads, then query, key and value."""
    stack = normalized(x, w["first scale"], w["first bias"]) @ w["stack"]
    parts = stack.reshape(*x.shape[:2], HEADS, 3, SIZE)
    biases = w["stack bias"].reshape(3, HEADS, SIZE)
    y = np.zeros((*x.shape[:2], HEADS, SIZE))
    for item in range(BATCH):
        for head in range(HEADS):
            y[item, :, head] = causal_attention(*(parts[item, :, head, i] + biases[i, head] for i in range(3)))
    x = x + y.reshape(x.shape) @ w["join"] + w["join bias"]
    return x + perceptron(normalized(x, w["second scale"], w["second bias"]), w)


def block(data_type: DataType, past: int, length: int) -> Graph:
    """The block on ``length`` positions behind ``past`` others, whose keys and values it is given."""
    network = Network(data_type)
    rows = BATCH * length
    w = {name: network.constant(name, array.reshape(1, 1, -1, array.shape[-1])) for name, array in weights().items()}
    x = network.input("x", (1, 1, rows, WIDTH))
    given = {"BiasTensor": w["stack bias"].viewed((3 * WIDTH,))}
    if past:
        given["PastKeyTensor"] = network.input("past keys", (BATCH, HEADS, past, SIZE))
        given["PastValueTensor"] = network.input("past values", (BATCH, HEADS, past, SIZE))
    first = network.normalized("first", x, w["first scale"], w["first bias"])
    stack = network.product("stack", first, w["stack"])
    total = past + length
    causal = network.constant("causal", np.tril(np.ones((length, total), np.int32), past))
    cache = (BATCH, HEADS, total, SIZE)
    y, keys, values = network.add(
        "attention",
        "MULTIHEAD_ATTENTION",
        {
            "StackedQueryKeyValueTensor": stack.viewed((BATCH, length, HEADS, 3, SIZE)),
            "MaskTensor": causal.viewed((BATCH, HEADS, length, total), (0, 0, total, 1)),
            **given,
        },
        {
            "OutputTensor": (BATCH, length, WIDTH),
            "OutputPresentKeyTensor": cache,
            "OutputPresentValueTensor": cache,
        },
        Scale=SIZE**-0.5,
        MaskFilterValue=-10000.0,
        HeadCount=HEADS,
        MaskType="BOOLEAN",
    )
    joined = network.product("join", y.viewed((1, 1, rows, WIDTH)), w["join"], w["join bias"])
    x = network.sum("after attention", x, joined)
    second = network.normalized("second", x, w["second scale"], w["second bias"])
    output = network.sum("output", x, network.perceptron("perceptron", second, w))
    return network.graph({"y": output, "keys": keys, "values": values})


def run(model: CompiledModel, x: Floats, **caches: np.ndarray) -> dict[str, np.ndarray]:
    dtype = {port.name: port.dtype for port in model.inputs}["x"]
    return model.run(
        {"x": x.astype(dtype).reshape(-1), **{name.replace("_", " "): array for name, array in caches.items()}}
    )


@pytest.mark.parametrize("opset", [17, 21, 23])
@pytest.mark.parametrize(("data_type", "tolerance"), [(DataType.FLOAT32, 5e-6), (DataType.FLOAT16, 1e-2)])
class TestBlock:
    def test_the_whole_sequence(self, data_type, tolerance, opset):
        y = run(compile(block(data_type, 0, LENGTH), opset=opset), sequence())["y"]
        np.testing.assert_allclose(y.reshape(BATCH, LENGTH, WIDTH), expected(sequence(), weights()), 0, tolerance)

    def test_its_end_behind_the_keys_and_values_of_its_beginning(self, data_type, tolerance, opset):
        x = sequence()
        begun = run(compile(block(data_type, 0, BEGINNING), opset=opset), x[:, :BEGINNING])
        model = compile(block(data_type, BEGINNING, LENGTH - BEGINNING), opset=opset)
        ended = run(model, x[:, BEGINNING:], past_keys=begun["keys"], past_values=begun["values"])
        y = np.concatenate([part.reshape(BATCH, -1, WIDTH) for part in (begun["y"], ended["y"])], 1)
        np.testing.assert_allclose(y, expected(x, weights()), 0, tolerance)
        np.testing.assert_array_equal(ended["keys"][:, :, :BEGINNING], begun["keys"])

    def test_is_what_the_reference_says(self, data_type, tolerance, opset):
        graph = block(data_type, BEGINNING, LENGTH - BEGINNING)
        model, random = compile(graph, opset=opset), np.random.default_rng(1)
        feeds = {port.name: random.standard_normal(port.shape).astype(port.dtype) for port in model.inputs}
        got: dict[str, np.ndarray] = model.run(feeds)
        wanted: dict[str, np.ndarray] = evaluate(graph, feeds)
        for name, want in wanted.items():
            np.testing.assert_allclose(got[name].reshape(want.shape), want, 0, tolerance, err_msg=name)


def test_the_block_has_no_more_nodes_than_it_needs():
    found = [node.op_type for node in compile(block(DataType.FLOAT32, BEGINNING, 1), opset=23).model_proto.graph.node]
    assert found.count("Attention") == 1
    assert found.count("Gemm") + found.count("MatMul") == 4
    assert "Transpose" not in found
