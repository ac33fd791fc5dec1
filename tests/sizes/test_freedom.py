"""What the command ``sizes`` says of the samples."""

from __future__ import annotations

import json

import pytest

from dml2onnx.cli import main
from tests.sizes.networks import ROOT


def _rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["sizes", "--json", *arguments]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["dimensions"]
    return found


def test_a_picture_of_any_size(capsys: pytest.CaptureFixture[str]) -> None:
    batch, channels, height, width = _rows(capsys, str(ROOT / "samples/picture/model.json"))
    assert (batch["may"], batch["first"], batch.get("step", 1)) == ("vary", 1, 1)
    assert (channels["may"], channels["node"]) == ("stay", "sharpen")
    assert [(item["may"], item["first"], item["step"]) for item in (height, width)] == [("vary", 8, 8)] * 2


def test_digits_of_eight_by_eight(capsys: pytest.CaptureFixture[str]) -> None:
    batch, channels, height, width = _rows(capsys, str(ROOT / "samples/digits/model.json"))
    assert (batch["first"], batch.get("last")) == (1, None)
    assert channels["may"] == "stay"
    assert [(item["first"], item["last"], item["node"]) for item in (height, width)] == [(8, 11, "classify")] * 2


def test_an_input_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sizes", str(ROOT / "samples/digits/model.json"), "--of", "nothing"]) == 1
    assert "DML2101" in capsys.readouterr().err
