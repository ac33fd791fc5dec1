"""Files of models: deterministic, with or without external data, and their IR versions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx import writer
from dml2onnx.compiler import CompiledModel, compile, compile_outputs
from dml2onnx.ir.data import Data, FileData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.targets import IR_VERSIONS, OPSETS
from dml2onnx.targets.opsets import LAST_IR_VERSION
from tests.lowering.harness import make_case, operator, t
from tests.refusals import refusal, refused


def gemm(rows: int, columns: int, data_type: str = "FLOAT32", strides: list[int] | None = None) -> OperatorDesc:
    """Returns x W, with 2 rows in x and with strides of W."""
    return operator(
        "GEMM",
        ATensor=t(data_type, [1, 1, 2, rows]),
        BTensor=t(data_type, [1, 1, rows, columns], strides),
        OutputTensor=t(data_type, [1, 1, 2, columns]),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=0.0,
    )


def product(rows: int = 16, columns: int = 32) -> CompiledModel:
    """Returns a model of x W with a constant W."""
    graph = make_case(gemm(rows, columns), constants=["BTensor"], seed=3).graph
    return compile_outputs(graph, graph.outputs)


def product_with(op: OperatorDesc, data: Data) -> CompiledModel:
    """Returns a model of a GEMM with the input x, and with W from ``data``."""
    x, w, y = (Value(name, op.tensor(field).total_bytes) for name, field in PORTS.items())
    node = Node("product", op, {"ATensor": (Read(x),), "BTensor": (Read(w),)}, {"OutputTensor": (Write(y),)})
    outputs = (GraphOutput("y", y, op.tensor("OutputTensor")),)
    return compile(Graph((node,), (GraphInput("x", x),), outputs, (Constant(w, data),)))


PORTS = {"x": "ATensor", "w": "BTensor", "y": "OutputTensor"}


def test_models_are_identical_from_run_to_run(tmp_path: Path) -> None:
    first, second = tmp_path / "a.onnx", tmp_path / "b.onnx"
    product().save(first)
    product().save(second)
    assert first.read_bytes() == second.read_bytes()


def test_external_data_gives_the_same_model(tmp_path: Path) -> None:
    model = product()
    inside, outside = tmp_path / "inside.onnx", tmp_path / "outside.onnx"
    assert model.save(inside) == [inside]
    assert model.save(outside, external_data=True) == [outside, tmp_path / "outside.onnx.data"]
    assert outside.stat().st_size < inside.stat().st_size
    onnx.checker.check_model(str(outside), full_check=True)
    x = np.ones((1, 1, 2, 16), np.float32)
    results = [onnxruntime.InferenceSession(str(path)).run(None, {"ATensor": x})[0] for path in (inside, outside)]
    np.testing.assert_array_equal(*results)


def test_weights_are_named_and_nodes_documented(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    product().save(path)
    model = onnx.load(path)
    assert "BTensor" in [item.name for item in model.graph.initializer]
    assert all({p.key for p in node.metadata_props} == {"dml_node", "dml_operator"} for node in model.graph.node)
    assert model.ir_version == 10
    assert model.opset_import[0].version == 21


def join() -> Graph:
    return make_case(operator("JOIN", InputTensors=[t("INT32", [3])], OutputTensor=t("INT32", [3]), Axis=0)).graph


@pytest.mark.parametrize("opset", OPSETS)
def test_the_ir_version_is_that_of_the_opset(opset: int) -> None:
    """The earliest one by ONNX's own table, since runtimes that support an opset need not read later IR versions."""
    graph = join()
    model = compile_outputs(graph, graph.outputs, opset=opset).model_proto
    assert model.ir_version == onnx.helper.find_min_ir_version_for(list(model.opset_import))
    onnx.checker.check_model(model, full_check=True)


def test_another_ir_version_is_stated() -> None:
    """Only the number in the file differs."""
    usual, other = compile(join(), opset=17), compile(join(), opset=17, ir_version=LAST_IR_VERSION)
    assert other.ir_version == other.model_proto.ir_version == LAST_IR_VERSION
    assert usual.serialize().replace(b"\x08\x08", b"\x08\x0d", 1) == other.serialize()
    onnxruntime.InferenceSession(other.serialize(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("opset", "version"), [(17, 7), (19, 8), (23, 10), (21, LAST_IR_VERSION + 1), (21, 10**30)])
def test_ir_versions_that_the_opset_does_not_allow(opset: int, version: int) -> None:
    item = refusal(compile, join(), opset=opset, ir_version=version)
    assert (item.code, item.expected) == ("DML2008", f"{IR_VERSIONS[opset]} to {LAST_IR_VERSION}")


def test_the_installed_runtime_reads_all_ir_versions() -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
    for version in range(min(IR_VERSIONS.values()), LAST_IR_VERSION + 1):
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=version)
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def test_the_limit_of_a_message_is_inclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.iinfo(np.int32).max == writer.MESSAGE_LIMIT  # protobuf's
    model = product()
    size = len(model.serialize())
    monkeypatch.setattr(writer, "MESSAGE_LIMIT", size)
    assert len(model.serialize()) == size
    monkeypatch.setattr(writer, "MESSAGE_LIMIT", size - 1)
    assert refused(model.serialize) == ["DML3008"]


def test_models_beyond_two_gibibytes(tmp_path: Path) -> None:
    """Weights are mapped from a (sparse) file, streamed into the data file, and mapped again by ONNX Runtime."""
    rows, columns = 20480, 28672
    weights = tmp_path / "weights.bin"
    with weights.open("wb") as file:
        file.truncate(rows * columns * 4)
        file.seek(4 * columns)
        file.write(np.full(columns, 2, np.float32).tobytes())
    model = product_with(gemm(rows, columns), FileData(weights, 0, rows * columns * 4))
    assert model.weight_bytes > writer.MESSAGE_LIMIT
    assert refused(lambda: model.model_proto) == ["DML3008"]
    path = tmp_path / "large.onnx"
    model.save(path)
    weights.unlink()
    a = np.zeros((1, 1, 2, rows), np.float32)
    a[..., 1] = 3
    (got,) = onnxruntime.InferenceSession(str(path)).run(["y"], {"x": a})
    np.testing.assert_array_equal(got, np.full((1, 1, 2, columns), 6, np.float32))
