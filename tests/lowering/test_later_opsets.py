"""Opsets from 24 on: every operator, and the new ONNX operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.diagnostics import DmlError
from dml2onnx.targets import NAMES, OPSETS, target
from dml2onnx.test_cases.runnable import RUNNABLE_OPSETS
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import check_case, operator, operators, t
from tests.runtimes import samples
from tests.runtimes.proof import Job, Runtime, Worker

NEWEST = Path(__file__).parents[2] / ".venv-ort132" / "bin" / "python"
"""An environment with ONNX Runtime 1.32."""
LATER = [opset for opset in RUNNABLE_OPSETS if opset >= 24]
needs_26 = pytest.mark.skipif(26 not in LATER, reason="this ONNX Runtime does not know opset 26")


@pytest.mark.skipif(not NEWEST.exists(), reason="needs .venv-ort132, which scripts/test.py makes")
@pytest.mark.parametrize("opset", [27, 28])
def test_every_operator_on_the_newest_runtime(opset: int) -> None:
    worker = Worker(Runtime("cpu", "onnx", NEWEST, {}))
    worker.start()
    wrong, names = [], set()
    try:
        for sample in samples.operators(opset):
            found = Job(sample, sample.compile("onnx")).run(worker)
            names.add(sample.name.split("#")[0])
            if found.refused or (found.problem and not found.fits_half):
                wrong.append((sample.name, found.problem))
    finally:
        worker.stop()
    assert worker.title.startswith("onnxruntime 1.32")
    assert len(names) == len(catalog.operator_names())
    assert not wrong


def test_opsets_of_targets() -> None:
    for name in NAMES:
        last = OPSETS[-1] if name in ("cpu", "onnx") else 23
        assert target(name, exact=False).opsets == range(OPSETS[0], last + 1), name
    tensor = t("FLOAT32", [3])
    graph = dml2onnx.GraphBuilder()
    built = graph.build({"y": graph.abs(graph.input("x", tensor.data_type, (3,)))})
    with pytest.raises(DmlError) as caught:
        dml2onnx.compile(built, opset=26, target="dml")
    (item,) = caught.value.diagnostics
    assert (item.code, item.found, item.expected) == ("DML2003", "26", "17 to 23")


@needs_26
@pytest.mark.parametrize(("data_type", "bits"), [("FLOAT16", "UINT16"), ("FLOAT32", "INT32"), ("FLOAT64", "UINT64")])
@pytest.mark.parametrize("exact", [False, True])
def test_a_reinterpretation_is_one_bit_cast(data_type: str, bits: str, exact: bool) -> None:
    """It keeps all bits, including signalling NaNs and payloads."""
    graph = dml2onnx.GraphBuilder()
    x = graph.input("x", bits, (1, 64))
    y = graph.reinterpret(graph.identity(x), data_type=data_type)
    model = dml2onnx.compile(graph.build({"y": y}), opset=26, exact=exact)
    assert operators(model) == ["BitCast"]
    dtype = np.dtype(bits.lower())
    values = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (1, 64), dtype, endpoint=True)
    values[0, :3] = np.array([1, -1, 0]).astype(dtype)
    assert model.run({"x": values})["y"].tobytes() == values.tobytes()


@needs_26
def test_bits_of_floats_take_three_nodes() -> None:
    sizes = t("FLOAT32", (2, 5))
    op = operator("ELEMENT_WISE_BIT_AND", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    assert operators(check_case(op, opset=26, extremes=True)) == ["BitCast", "BitCast", "BitwiseAnd", "BitCast"]
    op = operator("ELEMENT_WISE_BIT_NOT", InputTensor=sizes, OutputTensor=sizes)
    assert len(operators(check_case(op, opset=26, extremes=True))) == 3


@needs_26
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT32", "UINT32", "INT64"])
@pytest.mark.parametrize("direction", ["INCREASING", "DECREASING"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_running_products_are_cum_prod(data_type: str, direction: str, exclusive: bool) -> None:
    sizes = t(data_type, (2, 70, 3))
    op = operator(
        "CUMULATIVE_PRODUCT",
        InputTensor=sizes,
        OutputTensor=sizes,
        Axis=1,
        AxisDirection=direction,
        HasExclusiveProduct=exclusive,
    )
    assert [name for name in operators(check_case(op, opset=26)) if name != "Cast"] == ["CumProd"]


@pytest.mark.parametrize(("opset", "form"), [(21, ["Sigmoid", "Mul"]), (24, ["Swish"]), (25, ["Sigmoid", "Mul"])])
def test_swish_is_used_in_opset_24_only(opset: int, form: list[str]) -> None:
    sizes = t("FLOAT32", (2, 5))
    op = operator("ACTIVATION_SWISH", InputTensor=sizes, OutputTensor=sizes, SigmoidInputScale=1.0)
    assert operators(check_case(op, opset=opset, target="onnx", exact=False)) == form


def test_attention_from_opset_23_on() -> None:
    """Without a kernel, ONNX Runtime expands Attention by its function body."""
    graph = single_node(descriptors()["DML_OPERATOR_MULTIHEAD_ATTENTION"][5])
    assert dml2onnx.compile(graph).lowered.later_opset == 23
    for opset in (23, 24, 25, 26, 28):
        model = dml2onnx.compile(graph, opset=opset)
        assert operators(model) == ["Attention"]
        assert model.lowered.later_opset is None
    exact = operators(dml2onnx.compile(graph, opset=25, exact=True))
    assert "Attention" not in exact
    assert exact.count("MatMul") == 2


def test_caches_are_tensor_scatter() -> None:
    graph = single_node(descriptors()["DML_OPERATOR_MULTIHEAD_ATTENTION1"][4])
    assert operators(dml2onnx.compile(graph)).count("ScatterND") == 2
    found = operators(dml2onnx.compile(graph, opset=26))
    assert (found.count("TensorScatter"), found.count("ScatterND")) == (2, 0)


def test_quantisations_without_kernels_are_arithmetic() -> None:
    """ONNX Runtime 1.32 has no kernels for those of opset 28."""
    (op,) = descriptors()["DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD"]
    found = set(operators(dml2onnx.compile(single_node(op), opset=28)))
    assert not {"QuantizeLinear", "DequantizeLinear"} & found
    assert {"Div", "Round", "Clip", "Mul"} <= found
    assert operators(dml2onnx.compile(single_node(op), opset=27)).count("DequantizeLinear") == 2


def test_quantisations_without_kernels_broadcast_along_their_axis() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "UINT8", (2, 3, 4, 5))
    column = np.arange(1, 4).reshape(1, 3, 1, 1)
    scale, zero_point = (g.broadcast(g.constant(column.astype(kind)), x.sizes) for kind in ("float32", "uint8"))
    y = g.quantize_linear(g.dequantize_linear(x, scale, zero_point), scale, zero_point, output_data_type="UINT8")
    lowered = dml2onnx.compile(g.build({"y": y}), opset=28, target="onnx").lowered
    assert (3, 1, 1) in {array.shape for array in lowered.initializers.values()}


@pytest.mark.parametrize("name", ["onnx", "cpu", "dml"])
def test_a_later_opset_is_suggested(name: str) -> None:
    """If ONNX has one operator there for many nodes, and the target runs it."""
    graph = dml2onnx.GraphBuilder()
    x = graph.input("x", "INT32", (1, 8))
    built = graph.build({"y": graph.abs(graph.reinterpret(x, data_type="FLOAT32"))})
    suggested = 26 if 26 in target(name, exact=False).opsets else None
    assert dml2onnx.compile(built, target=name).lowered.later_opset == suggested
    plain = graph.build({"y": graph.abs(graph.input("z", "FLOAT32", (1, 8)))})
    assert dml2onnx.compile(plain, target=name).lowered.later_opset is None
    if suggested is not None:
        again = dml2onnx.compile(built, target=name, opset=suggested)
        assert again.lowered.later_opset is None
        assert again.node_count < dml2onnx.compile(built, target=name).node_count / 4
