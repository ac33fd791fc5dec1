"""Warnings for nodes that a target has no kernels for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dml2onnx import compile, convert
from dml2onnx.cli import main
from dml2onnx.ir.graph import Graph
from dml2onnx.targets import NAMES, target
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import make_case, operator, t


def absolute(data_type: str) -> Graph:
    """A graph with one node."""
    tensor = t(data_type, [1, 1, 2, 3])
    return make_case(operator("ELEMENT_WISE_ABS", InputTensor=tensor, OutputTensor=tensor)).graph


def fallbacks(name: str, opset: int) -> set[str]:
    """Returns the operators of which a valid descriptor becomes a node that the target has no kernel for."""
    return {
        op.type
        for several in descriptors().values()
        for op in several
        if any(item.code == "DML2009" for item in compile(single_node(op), target=name, opset=opset).warnings)
    }


def test_operators_that_fall_back() -> None:
    """The last kernels of ScatterElements and ScatterND for DirectML are of opset 17."""
    assert fallbacks("openvino", 21) == set()
    scatter = {"MAX_POOLING_GRAD", "NONZERO_COORDINATES", "ROI_ALIGN_GRAD", "SCATTER", "SCATTER_ND"}
    assert fallbacks("dml", 21) == scatter
    assert fallbacks("dml", 17) == set()


def test_a_node_without_a_kernel_is_named() -> None:
    (found,) = compile(absolute("INT64"), target="webgpu").warnings
    assert found.code == "DML2009"
    assert found.operator == "ELEMENT_WISE_ABS"
    assert found.found == "Abs of int64"
    assert str(found.expected).startswith("kernels of Abs for float")
    assert "runs on the CPU" in found.message


def test_openvino_alone_does_not_fall_back() -> None:
    assert not target("openvino").falls_back
    found = compile(absolute("INT64"), target="portable").warnings
    assert [item.code for item in found] == ["DML2009"]
    assert found[0].message.endswith("will not run there without ONNX Runtime, which uses the CPU instead")


@pytest.mark.parametrize("name", NAMES)
def test_no_warnings_if_there_are_kernels(name: str) -> None:
    assert compile(absolute("FLOAT32"), target=name).warnings == ()


def test_the_opset_that_has_a_kernel_is_named() -> None:
    tensor = t("FLOAT32", [1, 1, 2, 3])
    graph = make_case(operator("ELEMENT_WISE_ACOS", InputTensor=tensor, OutputTensor=tensor)).graph
    (found,) = compile(graph, target="webgpu", opset=22).warnings
    assert found.expected == "no kernel of Acos in opset 22, but in opset 17, 18, 19, 20, 21"
    assert compile(graph, target="webgpu").warnings == ()


def test_nodes_in_bodies_are_checked() -> None:
    """The body of a Scan runs on the device of the Scan, so its nodes need kernels too."""
    tensor, keys = t("UINT32", [1, 1, 1, 64]), t("UINT32", [1, 1, 1, 6])
    op = operator("RANDOM_GENERATOR", InputStateTensor=keys, OutputTensor=tensor, Type="PHILOX_4X32_10")
    found = {str(item.found).split(" of ")[0] for item in compile(make_case(op).graph, target="webgpu").warnings}
    assert found & {"BitwiseXor", "Mul", "BitShift"}


def test_several_nodes_are_one_finding() -> None:
    size = [1, 1, 2, 3]
    op = operator("ELEMENT_WISE_BIT_COUNT", InputTensor=t("UINT64", size), OutputTensor=t("UINT32", size))
    found = compile(make_case(op).graph, target="webgpu").warnings
    assert len({item.found for item in found}) == len(found)
    assert any("nodes" in item.message and "run on the CPU" in item.message for item in found)


def test_the_command_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "model.json"
    convert(absolute("INT64"), graph)
    assert main(["compile", str(graph), "--target", "webgpu", "-o", str(tmp_path / "m.onnx"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [item["code"] for item in answer["diagnostics"]] == ["DML2009"]
    assert main(["compile", str(graph), "--target", "webgpu", "-o", str(tmp_path / "m.onnx")]) == 0
    assert "DML2009" in "".join(capsys.readouterr())
    x = np.array([[-1, 2, -3], [4, -5, 6]], np.int64)
    y = compile(graph, target="webgpu").run({"InputTensor": x.ravel()})["OutputTensor"]
    assert np.array_equal(np.abs(x), y[0, 0])
