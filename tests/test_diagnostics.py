"""Findings as values and as text, and the list of codes; ``scripts/generate_findings.py`` writes the wording."""

from __future__ import annotations

import ast
import pkgutil
import re
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import codes
from dml2onnx.cli.examples import demonstrations, examples, undemonstrated
from dml2onnx.codes import all_codes, building, checking, compiling, exporting, reading, running, unreadable
from dml2onnx.diagnostics import Code, Diagnostic, DmlError, InternalError, Remedy, UnreadableError, changed

CODE = Code("DML1042", "a title", "An explanation.")
WORDINGS = Path(__file__).with_name("data").joinpath("findings.txt").read_text(encoding="utf-8").splitlines()


def test_a_changed_finding_has_one_field_of_another_value() -> None:
    item = CODE.of(("InputTensor", "Sizes", 2), "it is wrong", 1, 2, related=("Axis",), is_structural=True)
    for field in fields(Diagnostic):
        other: dict[str, Any] = {field.name: "another"}
        assert changed(item, **other) == replace(item, **other) != item
    with pytest.raises(KeyError, match="places_"):
        changed(item, places_=())


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "DML1042 error: wrong"),
        ({"node": "a"}, 'DML1042 error: node "a": wrong'),
        ({"node": "a", "operator": "JOIN"}, 'DML1042 error: node "a" (JOIN): wrong'),
        ({"pointer": "/nodes"}, "DML1042 error: /nodes: wrong"),
        ({"node": "a", "pointer": "/nodes/0"}, 'DML1042 error: node "a", /nodes/0: wrong'),
    ],
)
def test_texts_name_the_place(place: dict[str, Any], text: str) -> None:
    assert str(CODE.at("wrong", **place)) == text


def test_errors_carry_their_findings() -> None:
    items = [CODE.at("one"), CODE.at("two")]
    error = DmlError(*items)
    assert error.diagnostics == tuple(items)
    assert str(error) == "DML1042 error: one\nDML1042 error: two"
    assert isinstance(UnreadableError(items[0]), DmlError)


def test_internal_errors_are_no_findings() -> None:
    error = InternalError("JOIN", "it lost a tensor")
    assert not isinstance(error, DmlError)
    assert str(error).startswith("JOIN: it lost a tensor. ")
    assert "please report" in str(error)


@pytest.mark.parametrize("code", all_codes().values(), ids=list(all_codes()))
def test_every_code_is_explained(code: Code) -> None:
    assert re.fullmatch(r"DML[0-3]\d{3}", code.id)
    assert code.summary
    assert not code.summary.endswith(".")
    assert len(code.explanation) > len(code.summary)
    assert code.explanation.endswith(".")
    assert code.explanation == code.explanation.strip()
    assert "  " not in code.explanation
    assert f"{code.id}, {code.summary}: {code.explanation}" in WORDINGS, "run python scripts/generate_findings.py"


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        (unreadable, "0"),
        (reading, "1"),
        (checking, "1"),
        (building, "1"),
        (exporting, "1"),
        (compiling, "2"),
        (running, "3"),
    ],
    ids=lambda item: str(item),
)
def test_codes_are_numbered_by_stage(module: object, allowed: str) -> None:
    firsts = {value.id[3] for value in vars(module).values() if isinstance(value, Code)}
    assert firsts == set(allowed)


def test_every_code_has_an_example() -> None:
    assert sorted([*examples(), *demonstrations(), *undemonstrated()]) == list(all_codes())
    assert len(undemonstrated()) < 16


def test_exceptions_name_the_expected_value() -> None:
    """Unless the message or a remedy already does."""
    wrong = checking.ARRAY_LENGTH.at("Strides has 2 entries", expected="4 entries")
    assert str(DmlError(wrong)) == f"{wrong}\n    expected: 4 entries"
    complete = checking.ARRAY_LENGTH.at("Strides has 2 entries, not 4 entries", expected="4 entries")
    assert str(DmlError(complete)) == str(complete)
    remedied = replace(wrong, remedies=(Remedy("4 entries, such as [1, 1, 1, 1]"),))
    assert "expected" not in str(DmlError(remedied))


def test_every_code_is_used() -> None:
    """A code that no other module names is never raised."""
    directory = Path(codes.__file__).parent
    used = {
        item.attr if isinstance(item, ast.Attribute) else item.id
        for path in directory.parent.rglob("*.py")
        if path.parent != directory
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(item, (ast.Attribute, ast.Name))
    }
    assert {name for name, _ in defined()} - used == set()


def defined() -> list[tuple[str, Code]]:
    """Returns the codes of all modules with the names of their constants."""
    modules = [import_module(f"dml2onnx.codes.{item.name}") for item in pkgutil.iter_modules(codes.__path__)]
    return [(name, value) for module in modules for name, value in vars(module).items() if isinstance(value, Code)]


def test_codes_are_listed_in_order() -> None:
    assert list(all_codes()) == sorted(code.id for _, code in defined())
