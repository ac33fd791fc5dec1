"""Providers and inputs, checked before ONNX Runtime sees them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import dml2onnx
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import DmlError
from tests.lowering.harness import make_case, operator, t
from tests.refusals import refusal, refused


def joined() -> CompiledModel:
    """Two inputs, one of them stored transposed."""
    op = operator(
        "JOIN",
        InputTensors=[t("FLOAT32", [2, 3]), t("FLOAT32", [2, 2], [1, 2])],
        OutputTensor=t("FLOAT32", [2, 5]),
        Axis=1,
    )
    graph = make_case(op).graph
    return compile_outputs(graph, graph.outputs)


A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([[10, 20], [11, 21]], np.float32)


def test_inputs_are_memory_and_outputs_are_tensors() -> None:
    model = joined()
    got = model.run({"InputTensors[0]": A, "InputTensors[1]": B})["OutputTensor"]
    np.testing.assert_array_equal(got, np.concatenate([A, B.T], 1))
    flat = model.run({"InputTensors[0]": A.reshape(-1), "InputTensors[1]": B.reshape(-1)})["OutputTensor"]
    np.testing.assert_array_equal(got, flat)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_inputs_may_have_logical_shapes(order: tuple[int, ...]) -> None:
    sizes = (2, 3, 4)
    memory = np.arange(24, dtype=np.float32).reshape([sizes[axis] for axis in order])
    logical = memory.transpose(np.argsort(order))
    strides = [stride // 4 for stride in logical.strides]
    op = operator(
        "ACTIVATION_RELU", InputTensor=t("FLOAT32", sizes, strides), OutputTensor=t("FLOAT32", sizes, strides)
    )
    graph = make_case(op).graph
    model = compile_outputs(graph, graph.outputs)
    for x in (memory, memory.reshape(-1), logical, np.ascontiguousarray(logical)):
        assert np.array_equal(model.run({"InputTensor": x})["OutputTensor"], logical)
        assert np.array_equal(dml2onnx.run(graph, {"InputTensor": x})["OutputTensor"], logical)
    output = dml2onnx.run(graph, {"InputTensor": memory})["OutputTensor"]
    assert np.array_equal(dml2onnx.run(graph, {"InputTensor": output})["OutputTensor"], logical)  # as the next input
    with pytest.raises(DmlError, match="must have shape"):
        model.run({"InputTensor": logical.transpose(2, 0, 1).copy().reshape(4, 1, 6)})


def test_ambiguous_inputs_are_memory() -> None:
    got = joined().run({"InputTensors[0]": A, "InputTensors[1]": B})["OutputTensor"]
    np.testing.assert_array_equal(got[:, 3:], B.T)  # 2 by 2 either way


@pytest.mark.parametrize("strides", [(0, 1), (8, 2), (1, 1)], ids=["broadcast", "gaps", "overlapping"])
def test_layouts_without_an_order_are_memory_only(strides: tuple[int, int]) -> None:
    op = operator("ACTIVATION_RELU", InputTensor=t("FLOAT32", [2, 3], strides), OutputTensor=t("FLOAT32", [2, 3]))
    graph = make_case(op).graph
    with pytest.raises(DmlError, match="must have shape"):
        compile_outputs(graph, graph.outputs).run({"InputTensor": A})


@pytest.mark.parametrize(
    ("inputs", "codes"),
    [
        pytest.param({}, ["DML3004", "DML3004"], id="nothing-given"),
        pytest.param({"InputTensors[0]": A, "InputTensors[1]": B, "Typo": A}, ["DML3003"], id="unknown-name"),
        pytest.param({"InputTensors[0]": A.astype(np.float64), "InputTensors[1]": B}, ["DML3005"], id="type"),
        pytest.param({"InputTensors[0]": A.T, "InputTensors[1]": B}, ["DML3006"], id="shape"),
        pytest.param(
            {"InputTensors[0]": A[:1], "InputTensors[1]": B.astype(int)}, ["DML3006", "DML3005"], id="all-at-once"
        ),
    ],
)
def test_inputs_are_checked(inputs: dict[str, np.ndarray], codes: list[str]) -> None:
    assert refused(joined().run, inputs) == codes


def test_a_missing_provider_names_its_package() -> None:
    item = refusal(joined().run, {}, provider="dml")
    assert item.code == "DML3002"
    assert "pip install onnxruntime-directml" in item.message


def test_unknown_provider() -> None:
    assert refused(joined().run, {}, provider="nonsense") == ["DML3001"]


def test_profiles_have_any_name_of_a_node() -> None:
    """ONNX Runtime 1.24 writes names into its JSON as they are."""
    names = ['say "no"', "back\\slash", "two\nlines", "\u202e\u00e9", '","args" : {}}']
    g = dml2onnx.GraphBuilder()
    value = g.input("x", "FLOAT32", [4])
    for name in names:
        value = g.activation_sigmoid(value, name=name)
    session = dml2onnx.compile(g.build({"y": value})).session(profile=True)
    session.run({"x": np.zeros(4, np.float32)})
    assert list(dict.fromkeys(item.name.rpartition("/")[0] for item in session.end_profile())) == names
