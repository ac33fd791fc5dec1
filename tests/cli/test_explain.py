"""``explain`` of models: reasons for nodes of data types and layouts, and models that cannot be compiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.report.reasons import reasons
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one
from tests.frontends.models import f32, one_node
from tests.newcomers.build import text_of
from tests.newcomers.networks import NETWORK


def relu(name: str, source: str, into: str, **desc: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": "ACTIVATION_RELU",
        "desc": {"OutputTensor": f32(2, 3), **desc},
        "inputs": {"InputTensor": source},
        "outputs": {"OutputTensor": into},
    }


def explained(
    path: Path, capsys: pytest.CaptureFixture[str], nodes: list[dict[str, Any]], outputs: list[str], code: int
) -> dict[str, dict[str, Any]]:
    path = path / "model.json"
    path.write_text(json.dumps({"dml2onnx": 1, "inputs": {"x": f32(2, 3)}, "nodes": nodes, "outputs": outputs}))
    assert main(["explain", str(path), "--json"]) == code
    return {item["node"]: item for item in json.loads(capsys.readouterr().out)["nodes"]}


def test_valid_nodes_are_explained_beside_wrong_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        relu("first", "x", "a"),
        relu("wrong", "a", "b", OutputTensor=f32(2, 4)),
        relu("behind", "b", "c", InputTensor=f32(2, 3)),
        relu("beside", "a", "d"),
    ]
    found = explained(tmp_path, capsys, nodes, ["c", "d"], 1)
    assert found["first"]["onnx"] == ["Relu"]
    assert "beside" in found
    assert found["beside"]["onnx"] is not None
    assert (found["wrong"]["onnx"], found["behind"]["onnx"]) == (None, None)
    assert found["behind"]["notes"] == ['reads from "wrong"']
    assert main(["explain", str(tmp_path / "model.json")]) == 1
    output = capsys.readouterr()
    assert "(not compiled)" in output.out
    assert "DML15" in output.err


def test_no_valid_nodes_is_only_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(one_node("ACTIVATION_RELU", {"OutputTensor": f32(2, 4)}, f32(2, 3))))
    assert main(["explain", str(path)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "DML15" in output.err


def notes(call: Any, *arrays: tuple[str, list[int]], **options: Any) -> list[str]:
    g = dml2onnx.GraphBuilder()
    y = call(g, *(g.input(f"x{i}", *array) for i, array in enumerate(arrays)))
    return [note for trace in dml2onnx.compile(g.build({"y": y}), **options).traces for note in trace.notes]


def test_casts_have_reasons() -> None:
    why = notes(lambda g, x, y: g.max(x, y), ("INT16", [4]), ("INT16", [4]))
    assert any("no exact kernel for int16 (target onnx)" in note for note in why), why
    assert "FLOAT16 is computed in FLOAT32 and rounded once at the end" in notes(
        lambda g, x: g.convolution(x, np.ones((1, 1, 1, 1))), ("FLOAT16", [1, 1, 4, 4]), exact=True
    )
    assert "truth values are BOOL in ONNX and numbers in DirectML" in notes(lambda g, x: x > 0, ("FLOAT32", [4]))


def test_layouts_have_reasons() -> None:
    (why,) = notes(lambda g, x: g.activation_relu(g.reinterpret(x, sizes=[3, 3], strides=[3, 2])), ("FLOAT32", [16]))
    assert "Gather" in why


def test_every_cast_has_a_reason() -> None:
    """In all valid descriptors that the checks are tested with."""
    ops = [op for name, found in descriptors().items() for op in found if name != "DML_OPERATOR_CAST"]
    traces = [trace for op in ops for trace in dml2onnx.compile(single_node(op)).traces]
    assert [trace.operator for trace in traces if "Cast" in trace.operators and not trace.notes] == []


@pytest.mark.parametrize("exact", [False, True])
def test_more_than_one_node_always_has_a_reason(exact: bool) -> None:
    """Either a note of the lowering, or a reason derived from its attributes and tensors."""
    silent = []
    for name, descs in descriptors().items():
        for desc in descs[:2]:
            try:
                [origin] = compile(one(desc), exact=exact).traces
            except DmlError:
                continue
            if len(origin.operators) > 1 and not (origin.notes or reasons(desc, origin.operators, exact=exact)):
                silent.append(f"{name}: {origin.operators}")
    assert not silent


def test_a_fused_activation_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # reasons are not broken into lines
    path = tmp_path / "net.json"
    path.write_text(text_of(NETWORK))
    assert main(["explain", str(path)]) == 0
    assert "its FusedActivation ACTIVATION_RELU is a separate node in ONNX" in capsys.readouterr().out
