"""Each code has a model that causes it and a corrected one that differs in a member; or commands, or programs."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.cli.examples import WrongModelExample, demonstrations, examples
from dml2onnx.codes import checking
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.frontends import load_bytes


def found(model: object, *, documented: bool) -> list[Diagnostic]:
    try:
        return check(load_bytes(json.dumps(model).encode(), "model.json"), documented=documented)
    except DmlError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize("code", demonstrations())
def test_the_demonstration(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    item = demonstrations()[code]
    for name, data in item.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.rglob("*"))
    for lines, is_wrong in ((item.wrong, True), (item.corrected, False)):
        if item.is_program:
            output = _output_of_program("\n".join(lines))
        else:
            statuses = [_status(line) for line in lines]
            output = "".join(capsys.readouterr())
            assert is_wrong or statuses == [0] * len(lines), output
        assert set(re.findall(r"DML\d{4}", output)) >= {code} if is_wrong else "DML" not in output, output
        for path in set(tmp_path.rglob("*")) - before:  # the next one must not find them
            if path.is_file():
                path.unlink()


def _status(line: str) -> int | str | None:
    program, *arguments = shlex.split(line)
    assert program == "dml2onnx"
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code


def _output_of_program(text: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(text, {})
        except DmlError as error:
            return f"{printed.getvalue()}{error}"
    return printed.getvalue()


@pytest.mark.parametrize("code", examples())
def test_the_pair(code: str) -> None:
    example = examples()[code]
    documented = code not in {item.id for item in checking.ACCEPTED}
    findings = found(example.wrong_model, documented=documented)
    assert {finding.code for finding in findings} == {code}
    assert findings[0].documentation == example.page
    corrected = found(example.right_model, documented=documented)
    assert not [item for item in corrected if item.code == code or item.severity is Severity.ERROR]
    assert example.wrong_model != example.right_model
    wrong, right = example.lines()
    assert wrong != right


def test_examples_are_small() -> None:
    sizes = {code: len(json.dumps(example.wrong_model)) for code, example in examples().items()}
    assert max(sizes.values()) < 2500
    assert sorted(sizes.values())[len(sizes) // 2] < 900


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DML1410"]) == 0
    text = capsys.readouterr().out
    example = examples()["DML1410"]
    wrong, right = example.lines()
    assert f"at {example.pointer}: {wrong}\n" in text
    assert f"corrected: {right}\n" in text
    assert f"page: {example.page}\n" in text
    model = text[text.index("\n{\n") : text.index("\n}\n") + 2]
    assert json.loads(model) == example.wrong_model


def test_explain_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DML1410", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    example = examples()["DML1410"]
    assert answer["documentation"] == example.page
    assert answer["example"] == {
        "pointer": example.pointer,
        "wrong": example.wrong_model,
        "corrected": example.right_model,
    }


def test_explain_shows_commands_programs_and_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DML1027"]) == 0
    text = capsys.readouterr().out
    for line in ("$ dml2onnx check pointer.json", "$ dml2onnx check weights.json", "w.bin", "16 bytes"):
        assert f"\n{line}\n" in text
    assert "version https://git-lfs.github.com/spec/v1" in text
    assert main(["explain", "DML1808"]) == 0
    assert "\ng.reshape(x, [4])\n" in capsys.readouterr().out
    assert main(["explain", "DML3016"]) == 0
    assert "It takes buffers beyond the memory of the machine." in capsys.readouterr().out
    assert main(["explain", "DML0007", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "example" not in answer
    assert (answer["demonstration"]["language"], answer["demonstration"]["wrong"]) == (
        "commands",
        ["dml2onnx check cut.json"],
    )
    assert base64.b64decode(answer["demonstration"]["files"]["cut.json"]).startswith(b'{"dml2onnx": 1, ')


def test_members_in_arrays_and_absent_ones() -> None:
    example = WrongModelExample({"a": {"b": [1, 2]}, "c": 3}, "/a/b/1", 5, "")
    assert example.lines() == ('"b": [1, 5]', '"b": [1, 2]')
