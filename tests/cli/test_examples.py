"""Each code has a model that gives it, and one that differs in a member and does not."""

from __future__ import annotations

import json

import pytest

from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.cli.examples import Example, examples
from dml2onnx.codes import checking, reading
from dml2onnx.diagnostics import Code, Diagnostic, DmlError, Severity
from dml2onnx.frontends import load_bytes

WITHOUT = frozenset(
    code.id
    for code in (
        reading.NO_SUCH_FILE,
        reading.NOT_A_FILE,
        reading.CANNOT_READ,
        reading.FILE_TOO_LARGE,
        reading.NOT_UTF8,
        reading.BYTE_ORDER_MARK,
        reading.NOT_JSON,
        reading.NOT_A_NUMBER_LITERAL,
        reading.TOO_DEEP,
        reading.LONE_SURROGATE,
        reading.WRONG_ROOT,
        reading.ONNX_MODEL,
        reading.DAMAGED_FILE,
        reading.DUPLICATE_KEY,
        reading.REPEATED_KEY,
        reading.NO_CONTENTS,
        reading.UNKNOWN_OPTION_NAME,
        reading.CONTENTS_DIFFER,
        reading.TWO_FILES,
        reading.UNUSED_FILES,
        reading.TOO_MANY_FINDINGS,
        reading.NOTHING_FROZEN,
        reading.BAD_NPY,
        reading.NO_PILLOW,
        reading.FILE_TOO_LONG,
        reading.LFS_POINTER,
        reading.MISSING_CONTENTS,
        reading.FILE_PARTLY_READ,
        reading.MARKED_TEXT,
        reading.NODE_KIND,
        reading.INPUT_AS_OUTPUT,
        reading.TENSOR_COUNT,
        reading.GRAPH_BOUND_WITH_OFFSET,
        reading.GRAPH_BOUND_BYTES,
        reading.NESTED_TOO_DEEP,
        reading.NOT_FINITE,
        reading.ATTRIBUTE_COUNT,
        reading.ATTRIBUTE_NAME,
        reading.ATTRIBUTE_KIND,
        checking.UNKNOWN_VALUE,
        checking.OUTPUT_WITHOUT_SOURCE,
        checking.VALUE_WRITTEN_TWICE,
        checking.UNBOUND_TENSOR,
        checking.BOUND_WITHOUT_TENSOR,
        checking.STRIDE_COUNT,
        checking.MISSING_FIELD,
        checking.UNKNOWN_ENUMERATOR,
        checking.ARRAY_LENGTH,
        checking.SCALAR_TYPE,
        checking.WRONG_DATA_TYPE,
        checking.FUSED_TENSORS,
    )
)
"""What one member of a model in JSON does not bring about: it is about texts that are none, other files, binary files,
options, or graphs that were not read, which the front ends would have refused; or needs a model of many members."""


def found(model: object) -> list[Diagnostic]:
    try:
        return check(load_bytes(json.dumps(model).encode(), "model.json"))
    except DmlError as error:
        return list(error.diagnostics)


def test_every_code_has_one() -> None:
    codes = {value.id for module in (reading, checking) for value in vars(module).values() if isinstance(value, Code)}
    assert codes - WITHOUT == set(examples())


@pytest.mark.parametrize("code", examples())
def test_the_pair(code: str) -> None:
    example = examples()[code]
    findings = found(example.wrong_model)
    assert {finding.code for finding in findings} == {code}
    assert findings[0].documentation == example.page
    assert not [item for item in found(example.right_model) if item.code == code or item.severity is Severity.ERROR]
    assert example.wrong_model != example.right_model
    wrong, right = example.lines()
    assert wrong != right


def test_they_are_small() -> None:
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


def test_explain_for_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DML1410", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    example = examples()["DML1410"]
    assert answer["documentation"] == example.page
    assert answer["example"] == {
        "pointer": example.pointer,
        "wrong": example.wrong_model,
        "corrected": example.right_model,
    }
    assert main(["explain", next(iter(sorted(WITHOUT))), "--json"]) == 0
    assert "example" not in json.loads(capsys.readouterr().out)


def test_members_in_arrays_and_absent_ones() -> None:
    example = Example({"a": {"b": [1, 2]}, "c": 3}, "/a/b/1", 5, "")
    assert example.lines() == ('"b": [1, 5]', '"b": [1, 2]')
