"""``dml2onnx report``: files, exit codes, and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.compiler import CompiledModel, compile_graph
from dml2onnx.options import CompileOptions
from dml2onnx.report import gathering
from tests.report.models import SAMPLES, small, wrong


@pytest.fixture
def model(tmp_path: Path) -> Path:
    dml2onnx.convert(small(), tmp_path / "model.json")
    return tmp_path / "model.json"


def test_a_page_beside_the_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(model)]) == 0
    assert model.with_suffix(".html").read_text().startswith("<!DOCTYPE html>")
    assert "no errors, 1 warning" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "suffix"), [([], ".html"), (["--svg"], ".svg")])
def test_beside_the_model_only_an_earlier_report_is_replaced(
    model: Path, options: list[str], suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = model.with_suffix(suffix)
    for _ in range(2):
        assert main(["report", str(model), *options]) == 0
    path.write_text("<p>mine</p>")
    assert main(["report", str(model), *options]) == 1
    assert "is not a report" in capsys.readouterr().err
    assert path.read_text() == "<p>mine</p>"


def test_findings_set_the_exit_code_and_the_page_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "broken.html"
    assert main(["report", str(SAMPLES / "broken" / "model.json"), "-o", str(out)]) == 1
    errors = len(dml2onnx.check(SAMPLES / "broken" / "model.json"))
    assert f"{errors} errors" in capsys.readouterr().out
    assert "DML1108" in out.read_text()


def test_wrong_results_set_the_exit_code(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dml2onnx.report.gathering.verify_graph", wrong)
    assert main(["report", str(model), "--verify"]) == 1
    assert "differs from the reference" in model.with_suffix(".html").read_text()


def test_json_has_the_report(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(model), "--json", "--verify", "--profile"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["report"] == 2
    assert document["verification"]["passed"]
    assert document["profile"]["provider"] == "cpu"
    assert not model.with_suffix(".html").exists()


def test_standard_output(model: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", str(model), "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-o", "{model}"], 2),
        (["-o", "{directory}/page.svg"], 2),
        (["--svg", "-o", "{directory}/page.html"], 2),
        (["-o", "{directory}/none/page.html"], 1),
        (["-o", "{directory}"], 2),
    ],
)
def test_refused_outputs(model: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    before = model.read_bytes()
    filled = [item.format(model=model, directory=model.parent) for item in arguments]
    assert main(["report", str(model), *filled]) == code
    assert "DML3009" in capsys.readouterr().err
    assert model.read_bytes() == before


def test_a_page_never_replaces_its_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.html"
    shutil.copy(SAMPLES / "broken" / "model.json", path)
    assert main(["report", str(path), "-o", str(path)]) == 1
    assert "DML3012" in capsys.readouterr().err
    assert path.read_text().startswith("{")


@pytest.mark.parametrize(
    ("options", "target"),
    [
        ([], "onnx"),
        (["--provider", "webgpu"], "webgpu"),
        (["--provider", "cuda"], "portable"),
        (["--provider", "webgpu", "--target", "cpu"], "cpu"),
    ],
)
def test_the_target_is_that_of_the_provider(
    options: list[str], target: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the command and for batches; nothing runs, so the providers need not be installed."""
    targets: list[str] = []

    def compiled(graph: dml2onnx.Graph, options: CompileOptions) -> CompiledModel:
        targets.append(options.target)
        return compile_graph(graph, options)

    monkeypatch.setattr(gathering, "compile_graph", compiled)
    assert main(["report", str(model), "--json", *options]) == 0
    assert main(["batch", str(model), "--do", "report", "--jobs", "1", "-o", str(tmp_path / "out"), *options]) == 0
    assert targets[0] == target
    assert target not in targets[1:]  # compiled to count nodes without kernels on other targets
    journal = (tmp_path / "out" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(journal[0])["options"]["target"] == target
