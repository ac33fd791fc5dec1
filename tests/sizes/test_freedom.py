"""The command ``sizes`` on the samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.cli.sizes import cells
from dml2onnx.report.sizes import InputDimension
from tests.sizes.networks import ROOT


def _rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["sizes", "--json", *arguments]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["dimensions"]
    return found


def test_an_image_of_any_size(capsys: pytest.CaptureFixture[str]) -> None:
    batch, channels, height, width = _rows(capsys, str(ROOT / "samples/picture/model.json"))
    assert (batch["may"], batch["first"], batch.get("step", 1)) == ("vary", 1, 1)
    assert (channels["may"], channels["node"]) == ("stay", "sharpen")
    assert [(item["may"], item["first"], item["step"]) for item in (height, width)] == [("vary", 8, 8)] * 2


def test_digits_of_eight_by_eight(capsys: pytest.CaptureFixture[str]) -> None:
    batch, channels, height, width = _rows(capsys, str(ROOT / "samples/digits/model.json"))
    assert (batch["first"], batch.get("last")) == (1, None)
    assert channels["may"] == "stay"
    assert [(item["first"], item["last"], item["node"]) for item in (height, width)] == [(8, 11, "classify")] * 2


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        pytest.param("ADD", "ATensor, BTensor, OutputTensor have the same sizes", id="same-sizes"),
        pytest.param("MVN", "each size of ScaleTensor, BiasTensor is that of InputTensor, or 1", id="broadcast"),
    ],
)
def test_a_rule_without_text_has_a_reason(
    operator: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 2, 4])
    row = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    if operator == "ADD":
        y = g.add(x, np.broadcast_to(row, (1, 2, 4)).copy())
    else:
        y = g.mean_variance_normalization(x, scale=row, bias=row, axes=[2])
    dml2onnx.convert(g.build({"y": y}), tmp_path / "model.json")
    last = _rows(capsys, str(tmp_path / "model.json"))[2]
    assert (last["may"], last["reason"]) == ("stay", words)


def test_an_unknown_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sizes", str(ROOT / "samples/digits/model.json"), "--of", "nothing"]) == 2
    assert "DML2101" in capsys.readouterr().err


def _explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[dict[str, object]]]:
    assert main(["explain", "--json", *arguments]) == 0
    found: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return found


def test_explain_lists_free_and_fixed_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    found = _explained(capsys, str(ROOT / "samples/digits/model.json"), "--size", "images=N,1,H,W")
    rows = found["dimensions"]
    assert [item["name"] for item in rows] == ["N", "1", "H", "W"]
    assert [item["may"] for item in rows] == ["vary", "stay", "vary", "vary"]
    assert [item.get("node", "") for item in rows][2:] == ["classify"] * 2
    assert all("H" in str(item["reason"]) and "images[" not in str(item["reason"]) for item in rows[2:])
    assert ["N", "1", "H", "W"] in [item["sizes"] for item in found["tensors"]]


def test_explain_lists_inputs_that_follow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, [2, 3, 8, 8])
    z = g.input("z", np.float32, [2, 3, 8, 8])
    dml2onnx.convert(g.build({"y": g.add(x, z, name="sum")}), tmp_path / "net.json")
    arguments = [str(tmp_path / "net.json"), "--size", "x=N,3,8,W"]
    rows = _explained(capsys, *arguments)["dimensions"]
    others = [(item["dimension"], item["may"], item["follows"], item["node"]) for item in rows if item["input"] == "z"]
    assert others == [(0, "follow", "N", "sum"), (3, "follow", "W", "sum")]
    assert main(["explain", *arguments]) == 0
    out = capsys.readouterr().out
    assert "tied: N" in out
    assert "free" in out


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ({"may": "vary", "first": 1}, "free"),
        ({"may": "vary", "first": 32, "step": 8}, "free from 32 on in steps of 8"),
        ({"may": "vary", "first": 1, "last": 512}, "free up to 512"),
        ({"may": "vary", "first": 8, "last": 11}, "free from 8 to 11"),
        ({"may": "vary", "first": 50, "step": 0}, "free from 50 on, not all"),
        ({"may": "follow", "first": 4, "follows": "2*x[2]"}, "tied: 2*x[2]"),
        ({"may": "stay", "first": 3}, "fixed"),
    ],
)
def test_texts_of_dimensions(known: dict[str, object], text: str) -> None:
    assert cells(InputDimension("x", 0, 4, **known))[3] == text  # type: ignore[arg-type]
