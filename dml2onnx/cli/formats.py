"""Findings in the formats of other programs: concise lines, GitHub commands, SARIF 2.1.0, and JUnit.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree import ElementTree

from dml2onnx import __version__
from dml2onnx.codes import all_codes
from dml2onnx.diagnostics import Diagnostic, Place, is_said, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dml2onnx.report.checked import CheckAnswer

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def concise(checked: CheckAnswer) -> list[str]:
    """``file:line:column: error DML1108: message``, as compilers write it."""
    lines = []
    file = visible(checked.model)
    for item in checked.diagnostics:
        where = f"{file}:{item.line}:{item.column}" if item.line else file
        text = f"{_subject(item)}{visible(item.message)}{_related(item)}"
        first = f"; help: {visible(item.remedies[0].words)}" if item.remedies else ""
        lines.append(f"{where}: {item.severity} {item.code}: {text}{first}")
    return lines


def _subject(item: Diagnostic) -> str:
    return f'node "{visible(item.node)}": ' if item.node else ""


def _related(item: Diagnostic) -> str:
    """Other fields that may be wrong instead, unless the message names them."""
    unsaid = [name for name in item.related if not is_said(name, item.message)]
    return f" (follows from {visible(', '.join(unsaid))})" if unsaid else ""


def github(checked: CheckAnswer) -> list[str]:
    """Commands that make GitHub annotate lines with findings."""
    lines = []
    for item in checked.diagnostics:
        where = f",line={item.line},col={item.column},endColumn={item.end_column}" if item.line else ""
        file = _escaped(checked.model).replace(":", "%3A").replace(",", "%2C")
        message = _escaped(f"{_subject(item)}{item.message}{_related(item)}")
        lines.append(f"::{item.severity} file={file}{where},title={item.code}::{message}")
    return lines


def _escaped(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def junit(models: Iterable[CheckAnswer]) -> str:
    """A test suite for each model, with a failing test for each error, or a passing one if there are none.

    https://github.com/testmoapp/junitxml
    """
    suites = [_suite(checked) for checked in models]
    total = sum(int(suite.get("tests", "0")) for suite in suites)
    failures = sum(int(suite.get("failures", "0")) for suite in suites)
    root = ElementTree.Element("testsuites", name="dml2onnx check", tests=str(total), failures=str(failures))
    root.extend(suites)
    ElementTree.indent(root)
    return f"{ElementTree.tostring(root, encoding='unicode', xml_declaration=False)}\n"


def _suite(checked: CheckAnswer) -> ElementTree.Element:
    file = visible(checked.model)
    errors = [item for item in checked.diagnostics if item.is_error]
    tests = str(max(len(errors), 1))
    suite = ElementTree.Element("testsuite", name=file, tests=tests, failures=str(len(errors)))
    if not errors:
        ElementTree.SubElement(suite, "testcase", classname=file, name="check", file=file)
    for item in errors:
        name = f"{item.code} {visible(item.node or item.pointer)}".strip()
        where = {"line": str(item.line)} if item.line else {}
        case = ElementTree.SubElement(suite, "testcase", {"classname": file, "name": name, "file": file, **where})
        failure = ElementTree.SubElement(case, "failure", message=visible(item.message), type=item.code)
        place = f"{file}:{item.line}:{item.column}" if item.line else file
        failure.text = f"{place}: {_subject(item)}{visible(item.message)}{_related(item)}"
    warnings = [line for line in concise(checked) if ": warning " in line]
    if warnings:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(warnings)
    return suite


def sarif(models: Iterable[CheckAnswer]) -> dict[str, object]:
    """A log of one run, with a rule for each code in it."""
    models = list(models)
    used = sorted({item.code for checked in models for item in checked.diagnostics})
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "dml2onnx", "version": __version__, "rules": list(map(_rule, used))}},
                "columnKind": "unicodeCodePoints",
                "results": [
                    {"ruleIndex": used.index(item.code), **_result(checked, item)}
                    for checked in models
                    for item in checked.diagnostics
                ],
            }
        ],
    }


def _rule(code: str) -> dict[str, object]:
    known = all_codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": known.summary},
        "fullDescription": {"text": known.explanation},
        "defaultConfiguration": {"level": known.severity.value},
    }


def _result(checked: CheckAnswer, item: Diagnostic) -> dict[str, object]:
    location = _location(checked, item)
    if item.node:
        location["logicalLocations"] = [{"name": item.node, "fullyQualifiedName": item.pointer or item.node}]
    result: dict[str, object] = {
        "ruleId": item.code,
        "level": item.severity,
        "message": {"text": f"{_subject(item)}{item.message}"},
        "locations": [location],
    }
    if related := [place for place in item.places if place.line]:
        result["relatedLocations"] = [
            {**_location(checked, place), "message": {"text": place.message}} for place in related
        ]
    if item.related:
        result["properties"] = {"related": list(item.related)}
    return result


def _location(checked: CheckAnswer, place: Diagnostic | Place) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": _uri(checked.model)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column, "endColumn": place.end_column}
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    """A file URI for an absolute path, else a reference relative to the current directory."""
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))
