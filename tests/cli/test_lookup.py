"""``explain`` of operators, ``schema`` for editors, and ``completion`` for shells."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog
from dml2onnx.catalog.left_open import LEFT_OPEN
from dml2onnx.cli import main

SCHEMA = Path(__file__).parents[2] / "schemas" / "graph.schema.json"


def document(capsys: pytest.CaptureFixture[str], name: str) -> Any:
    assert main(["explain", name, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_operator_in_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["explain", "CONVOLUTION"]) == 0
    output = capsys.readouterr().out
    for part in (
        "DML_OPERATOR_CONVOLUTION: ",
        "Since feature level 1_0.",
        "ns-directml-dml_convolution_operator_desc",
        "DML_CONVOLUTION_MODE",
        "OutputTensor.Sizes",
        "FLOAT16, FLOAT32",
        "Conv for FORWARD, ConvTranspose for BACKWARD",
    ):
        assert part in output, part
    assert "decision" not in output


def test_names_in_any_spelling(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "JOIN")
    assert found == document(capsys, "dml_operator_join") == document(capsys, "join")
    assert found["operator"] == "DML_OPERATOR_JOIN"
    assert [item["name"] for item in found["fields"]] == ["InputCount", "InputTensors", "OutputTensor", "Axis"]
    assert found["support"][0]["tensors"]["OutputTensor"]["dimension_counts"] == [1, 8]
    assert "sum over k" in found["sizes"]["OutputTensor"]


def test_every_operator_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """With all fields, a line for each level, and its ONNX operators."""
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        found = document(capsys, name)
        assert [item["name"] for item in found["fields"]] == [field.name for field in schema.fields]
        assert [row["level"] for row in found["support"]] == [row.level.name for row in schema.support]
        assert found["becomes"], name
        assert "tables of this module" not in found["becomes"]
        assert found["left_open"] == [LEFT_OPEN[word] for word in schema.left_open]


def test_onnx_operators_of_a_table_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, "ACTIVATION_RELU")["becomes"] == "Relu for FLOAT32"
    assert document(capsys, "ACTIVATION_CELU")["becomes"] == "Celu for FLOAT32"


def test_a_file_of_that_name_is_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("join").write_text("nothing")
    assert main(["explain", "join"]) == 2
    assert "DML0007" in capsys.readouterr().err


def test_the_schema_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == SCHEMA.read_text(encoding="utf-8")


def test_bash_completes_commands_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef dml2onnx")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    (tmp_path / "completion").write_text(script)
    words = "COMP_WORDS=(dml2onnx com); COMP_CWORD=1"
    program = f"source ./completion; {words}; _shtab_dml2onnx dml2onnx com dml2onnx; echo ${{COMPREPLY[@]}}"
    done = subprocess.run([bash, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"compile", "completion"}, done.stderr


def test_completion_names_its_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "dml2onnx[completion]" in capsys.readouterr().err
