"""JSON output of commands: it matches its schema, and contains all facts of the text."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.cli import main
from dml2onnx.cli.parser import make_parser
from dml2onnx.codes.compiling import TOO_MANY_CONSTANTS
from dml2onnx.diagnostics import DmlError, InternalError
from dml2onnx.report.form import VERSION, Failure, as_json
from tests.cli.test_cli import NATIVE, PROGRAM

SCHEMA = json.loads((catalog.schemas_directory() / "report.schema.json").read_text(encoding="utf-8"))
SAMPLES = Path(__file__).parents[2] / "samples"
PICTURE = str(SAMPLES / "picture" / "model.json")
BROKEN = str(SAMPLES / "broken" / "model.json")
WITHOUT_FORM = {"pydirectml", "schema", "completion"}
"""Commands that print the output of a program, or text for other programs."""

ANSWERS: dict[str, tuple[str, int, str]] = {
    "check": ("check model.json", 0, "CheckAnswer"),
    "check errors": (f"check {BROKEN} --suggest", 1, "CheckAnswer"),
    "check above level": (f"check {PICTURE} --feature-level 1_0 --suggest", 1, "CheckAnswer"),
    "check several": (f"check model.json {BROKEN} nowhere.json", 2, "CheckAllAnswer"),
    "check unreadable": ("check nowhere.json", 2, "CheckAnswer"),
    "compile": ("compile model.json", 0, "CompileAnswer"),
    "compile errors": (f"compile {BROKEN} -o out.onnx", 1, "Answer"),
    "compile unreadable": ("compile nowhere.json", 2, "Answer"),
    "run": ("run program.json --profile --output-dir results", 0, "RunAnswer"),
    "run left out": ("run program.json", 0, "RunAnswer"),
    "verify": ("verify model.json --cases 2", 0, "VerifyAnswer"),
    "explain": ("explain model.json", 0, "ExplainAnswer"),
    "explain code": ("explain DML1108", 0, "CodeAnswer"),
    "explain result": ("explain 80070057", 0, "ResultAnswer"),
    "explain operator": ("explain GEMM", 0, "OperatorAnswer"),
    "explain nothing": ("explain DML9999", 2, "Failure"),
    "report": ("report model.json --verify --profile -o page.html", 0, "Report"),
    "report errors": (f"report {BROKEN}", 1, "Report"),
    "report of two": (f"report model.json --compare {BROKEN}", 1, "ComparisonAnswer"),
    "convert": ("convert program.json", 0, "ConvertAnswer"),
    "sizes": ("sizes model.json", 0, "SizesAnswer"),
    "sizes in names": ("explain model.json --size x=N,2,3,4", 0, "ExplainAnswer"),
    "reduce": ("reduce model.json --while false", 0, "ReduceAnswer"),
    "reduce nothing": ("reduce model.json --while true", 1, "Answer"),
    "perf": ("perf model.json --runs 2 -O 0 -O 1", 0, "PerfAnswer"),
    "recorder": ("recorder -o cpp", 0, "RecorderAnswer"),
    "batch": (f"batch model.json {BROKEN} --jobs 1", 1, "BatchAnswer"),
    "ops": ("ops pool", 0, "OperatorsAnswer"),
    "doctor": ("doctor", 0, "DoctorAnswer"),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.json").write_text(json.dumps(NATIVE))
    (tmp_path / "program.json").write_text(json.dumps(PROGRAM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")


def answer(capsys: pytest.CaptureFixture[str], line: str, code: int = 0) -> Any:
    assert main([*line.split(), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def valid(document: object, form: str = "") -> None:
    """Validates a document against the whole schema, or one of its forms."""
    schema = {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{form}"}]} if form else SCHEMA
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize(("line", "code", "form"), ANSWERS.values(), ids=ANSWERS)
def test_every_answer_matches_its_schema(capsys: pytest.CaptureFixture[str], line: str, code: int, form: str) -> None:
    document = answer(capsys, line, code)
    valid(document)
    valid(document, form)
    assert document["report"] == VERSION
    assert document["producer"] == f"dml2onnx {dml2onnx.__version__}"
    assert document["command"] == line.split()[0]
    with pytest.raises(jsonschema.ValidationError):
        valid({**document, "other": 1})


def test_every_command_has_a_form() -> None:
    (commands,) = (item for item in make_parser()._actions if isinstance(item, argparse._SubParsersAction))
    takes_json = {name for name, parser in commands.choices.items() if "--json" in parser._option_string_actions}
    assert {line.split()[0] for line, _, _ in ANSWERS.values()} == takes_json - WITHOUT_FORM
    assert {form for _, _, form in ANSWERS.values()} == {item["$ref"].rpartition("/")[2] for item in SCHEMA["anyOf"]}


def test_an_internal_error_matches_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    with mock.patch("dml2onnx.cli.compile.compiler.compile_graph", side_effect=InternalError("JOIN", "it is lost")):
        document = answer(capsys, "compile model.json", 1)
    valid(document, "Failure")
    assert "JOIN: it is lost" in document["failure"]


def test_the_schema_is_strict_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert main(["schema", "report"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
    assert main(["schema", "other"]) == 2
    document = as_json(Failure(command="check", failure="x"))
    valid(document)
    for spoiled in ({**document, "report": 1}, {**document, "failure": 1}, {"failure": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            valid(spoiled)


# --- JSON has what the text has ---------------------------------------------------------------------------------------


def scalars(value: object) -> set[str]:
    """Returns all names and values of a document, formatted as in text."""
    if isinstance(value, dict):
        return set(value) | {item for member in value.values() for item in scalars(member)}
    if isinstance(value, list):
        return {item for member in value for item in scalars(member)}
    return {f"{value:.6g}" if isinstance(value, float) else str(value)}


TEXTS: dict[str, tuple[str, Callable[[str], list[str]]]] = {
    "check": (f"check {BROKEN}", lambda text: re.findall(r"--> \S+?:(\d+):|(DML\d+) |\((Windows[^)]*)\)", text)),
    "compile": ("compile model.json -o a.onnx", lambda text: re.findall(r"(?:\(|, )(\d+) ([A-Z]\w+)", text)),
    "explain": ("explain model.json", lambda text: re.findall(r"^(\w+) +(\w+) +(\w+)", text, re.MULTILINE)[1:]),
    "run": ("run program.json", lambda text: re.findall(r"(?<![\w-])-?\d+\b", text)),
    "ops": ("ops join", lambda text: re.findall(r"\d_\d", text)),
    "verify": (
        "verify model.json --cases 2",
        lambda text: re.findall(r"^(\w+) +(\d \(\w+ values\)) +(\d+) +(\d+) +(\d+)", text, re.MULTILINE),
    ),
    "explain code": (
        "explain DML1108",
        lambda text: re.findall(r"^(DML\d+) (\w+): (.*)\n\n(.*)|^page: (.*)", text, re.MULTILINE),
    ),
    "explain operator": (
        "explain GEMM",
        lambda text: re.findall(r"^(\w+) +(?:in|out|attr)\w+ +(\w+)|^rules\n(.*)", text, re.MULTILINE),
    ),
    "report": (f"report {BROKEN} -o page.html", lambda text: re.findall(r"wrote (\S+) |(\d+) errors", text)),
    "report of two": (
        f"report model.json --compare {BROKEN} -o pair.html",
        lambda text: re.findall(r"(\d+) (?:changed|only in ([^,\s]+))|wrote (\S+)", text),
    ),
    "convert": ("convert program.json -o other.json", lambda text: re.findall(r"wrote (\S+)", text)),
    "sizes": ("sizes model.json", lambda text: re.findall(r"^(\w+) +(\d) +(\d+)", text, re.MULTILINE)),
    "reduce": (
        "reduce model.json --while false -o small.json",
        lambda text: re.findall(r"(\d+) tests|exit code (\d+)|wrote (\S+)", text),
    ),
    "perf": (
        "perf model.json --runs 2 --threads 1 --threads 2",
        lambda text: re.findall(r"^(cpu) +(\d)|(\d+) processors,|ONNX Runtime (\S+);", text, re.MULTILINE),
    ),
    "recorder": ("recorder -o cpp", lambda text: re.findall(r"wrote (\S+)", text)),
    "batch": (
        f"batch model.json {BROKEN} --jobs 1",
        lambda text: re.findall(r"^ +(\d+) +(\d+) +(DML\d+) +(\w+) +(\S.*?)  +(\S+)$|(\d+) passed", text, re.MULTILINE),
    ),
    "doctor": (
        "doctor",
        lambda text: re.findall(r"needs (\S+?)(?:, for (.*))?$|provider (\w+): missing; (.*)", text, re.MULTILINE),
    ),
}


def test_texts_of_all_commands_are_compared() -> None:
    assert {line.split()[0] for line, _ in TEXTS.values()} == {line.split()[0] for line, _, _ in ANSWERS.values()}


@pytest.mark.parametrize(("line", "facts"), TEXTS.values(), ids=TEXTS)
def test_json_has_the_facts_of_the_text(
    capsys: pytest.CaptureFixture[str], line: str, facts: Callable[[str], list[str]]
) -> None:
    code = main(line.split())
    shown = capsys.readouterr()
    known = scalars(answer(capsys, line, code))
    found = [item for match in facts(shown.out + shown.err) for item in ([match] if isinstance(match, str) else match)]
    assert [item for item in found if item], shown.out
    assert not [item for item in found if item and item not in known]


def test_the_histogram_of_operators(capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, f"compile {SAMPLES / 'digits' / 'model.json'} -o digits.onnx")
    counts = document["operators"]
    assert sum(counts.values()) == document["onnx_nodes"]
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert counts["Conv"] == 2
    assert document["file_bytes"] == {"digits.onnx": Path("digits.onnx").stat().st_size}


def test_large_outputs_show_their_first_elements(capsys: pytest.CaptureFixture[str]) -> None:
    g = dml2onnx.GraphBuilder()
    graph = g.build({"y": g.identity(g.input("x", "UINT8", [1 << 17]))})
    dml2onnx.convert(graph, "large.json")
    np.save("x.npy", np.arange(1 << 17).astype(np.uint8))
    (output,) = answer(capsys, "run large.json --input x=x.npy")["outputs"]
    assert (output["values"], output["first"]) == (None, [0, 1, 2, 3, 4, 5])
    valid(answer(capsys, "run large.json --input x=x.npy"), "RunAnswer")


def test_files_that_a_program_would_write(capsys: pytest.CaptureFixture[str]) -> None:
    written = [item["targetPath"] for item in PROGRAM["commands"] if item["type"] == "writeFile"]
    assert answer(capsys, "run program.json")["left_out"] == written
    document = answer(capsys, "run program.json --output-dir results")
    assert "left_out" not in document
    assert set(document["file_bytes"]) == set(document["files"])


# --- check --target ---------------------------------------------------------------------------------------------------


def test_check_reports_obstacles_to_compiling(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables that are too large, and missing constants."""
    assert answer(capsys, "check model.json --target dml")["diagnostics"] == []
    lost = DmlError(TOO_MANY_CONSTANTS.at("JOIN cannot be compiled", node="join"))
    with mock.patch("dml2onnx.compiler.lower", side_effect=lost):
        assert answer(capsys, "check model.json")["diagnostics"] == []
        document = answer(capsys, "check model.json --target cpu", 1)
    assert [item["code"] for item in document["diagnostics"]] == [TOO_MANY_CONSTANTS.id]
    valid(document, "CheckAnswer")
    _, *weights = dml2onnx.convert(dml2onnx.load(SAMPLES / "digits" / "model.json"), "weights.bin")
    for path in weights:
        path.unlink()
    before = answer(capsys, "check weights.bin")
    after = answer(capsys, "check weights.bin --target cpu", 1)
    assert (before["errors"], after["errors"]) == (0, len(weights))
