#!/usr/bin/env python3
"""Write and check ``tests/data/findings.txt``: the texts of codes and findings, one line per wording.

    scripts/generate_findings.py            write it
    scripts/generate_findings.py --check    fail if the file is out of date

The diff of this file shows changed messages. It has the title and explanation of each code, and the findings of the
examples of all codes, of the models in ``tests/mistakes.py``, and of valid descriptors of every operator with one field
changed. Texts that differ only in names and numbers are one wording. ``generate_texts.py`` lists strings in the code.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from _generated import ROOT, write_or_check

from dml2onnx.catalog import LATEST, FieldType
from dml2onnx.checks import check
from dml2onnx.checks.operators import findings_of
from dml2onnx.cli import main as command
from dml2onnx.cli.examples import Demonstration, demonstrations, examples
from dml2onnx.codes import all_codes
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.frontends import load_bytes
from dml2onnx.ir.operator import FieldValue, OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.test_cases.variations import with_value
from tests.mistakes import mistakes

TARGET = ROOT / "tests" / "data" / "findings.txt"
GENERATOR = "scripts/generate_findings.py"
PLACE = "/work"
"""Replaces directories in findings."""
LONGEST = 400
"""Limit on the length of a text: some quote their input."""
_FINDING = re.compile(r"(DML\d{4}) (?:error|warning): .*?(?=\s*(?:DML\d{4} (?:error|warning): |$))", re.MULTILINE)
_NAMES = re.compile(r'"[^"]*"|\b[A-Z]+(?:_[A-Z0-9]+)+\b|\b[A-Z][a-z]*(?:[A-Z][a-z0-9]*)+\b')
_NUMBERS = re.compile(r"-?\d[\d,.]*(?:e[+-]?\d+)?")
_REPEATED = re.compile(r"(#|_)(?:(?:, | )\1)+")
_FLOATS = (0.0, -1.0, float("inf"), float("nan"))


def wording(text: str) -> str:
    """The text with names and numbers replaced by placeholders."""
    return _REPEATED.sub(r"\1", _NUMBERS.sub("#", _NAMES.sub("_", text)))


def texts() -> Iterator[tuple[str, str, str]]:
    """Yields code, wording and text of all findings, those of examples first."""
    for example in examples().values():
        yield from map(_text, _found(example.wrong_model))
        yield from map(_text, _found(example.wrong_model, documented=False))
    for item in demonstrations().values():
        for match in _FINDING.finditer(_output(item)):
            yield match[1], wording(match[0]), match[0]
    for mistake in mistakes():
        yield from map(_text, _found(mistake.model))
    for described in descriptors().values():
        for op in described:
            for other in variants(op):
                for finding in findings_of(other, LATEST):
                    text = f"{finding.code}: {op.type}, {finding.path}: {finding.message}"
                    yield finding.code, wording(finding.message), text


def _text(item: Diagnostic) -> tuple[str, str, str]:
    return item.code, wording(item.message), str(item)


def _found(model: object, *, documented: bool = True) -> list[Diagnostic]:
    try:
        return check(load_bytes(json.dumps(model).encode(), "model.json"), documented=documented)
    except DmlError as error:
        return list(error.diagnostics)


def _output(item: Demonstration) -> str:
    """The output of a demonstration's commands or program, run in a new directory."""
    printed = io.StringIO()
    shown = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name), shown[0], shown[1]:
        for file, data in item.files.items():
            path = Path(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            if item.is_program:
                exec("\n".join(item.wrong), {})
            for line in () if item.is_program else item.wrong:
                with contextlib.suppress(SystemExit):
                    command(shlex.split(line)[1:])
        except DmlError as error:
            print(error)
    return printed.getvalue().replace(str(Path(name).resolve()), PLACE).replace(name, PLACE)


def variants(op: OperatorDesc) -> Iterator[OperatorDesc]:
    """Yields the descriptor with one field changed, in every way in which that type of field can be wrong."""
    for item in op.schema.fields:
        value = op.get(item.name)
        for other in _others(item.type, value):
            yield with_value(op, item.name, other)
        if item.optional and value is not None:
            yield with_value(op, item.name, None)


def _others(kind: FieldType, value: FieldValue) -> Iterator[FieldValue]:
    if isinstance(value, TensorDesc):
        yield from _other_tensors(value)
    elif kind is FieldType.TENSOR_ARRAY and isinstance(value, tuple) and value:
        for desc in _other_tensors(value[0]):  # type: ignore[arg-type]  # elements of this kind of field
            yield (desc, *value[1:])
    elif kind in (FieldType.UINT, FieldType.BOOL):
        yield from (0, 7, 2**32 - 1)
    elif kind is FieldType.INT:
        yield from (-9, 9)
    elif kind is FieldType.FLOAT:
        yield from _FLOATS
    elif kind in (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY) and isinstance(value, tuple):
        yield from _other_arrays(value)


def _other_tensors(desc: TensorDesc) -> Iterator[TensorDesc]:
    for index, size in enumerate(desc.sizes):
        sizes = (*desc.sizes[:index], size + 1, *desc.sizes[index + 1 :])
        yield replace(desc, sizes=sizes, strides=None)
    yield replace(desc, sizes=(1, *desc.sizes), strides=None)
    yield replace(desc, sizes=(1,) * 9, strides=None)
    yield replace(desc, sizes=desc.sizes[1:], strides=None)
    yield replace(desc, sizes=(0, *desc.sizes[1:]), strides=None)
    yield replace(desc, strides=(0,) * len(desc.sizes))
    yield replace(desc, total_size=4)
    yield replace(desc, total_size=2)
    yield replace(desc, alignment=3)
    yield from (replace(desc, data_type=kind) for kind in DataType if kind is not desc.data_type)


def _other_arrays(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield value[1:]
    yield (*value, 1)
    for other in (0, 1, 99):
        yield (other, *value[1:])
        yield (*value[:-1], other)


def content() -> str:
    """The texts sorted by code and wording, each code's own text first."""
    wordings = {(code.id, ""): f"{code.id}, {code.summary}: {code.explanation}" for code in all_codes().values()}
    # paths in findings contain the working directory
    with tempfile.TemporaryDirectory() as name:
        here = Path(name).resolve() / "models"
        here.mkdir()
        with contextlib.chdir(here):
            for code, words, text in texts():
                shown = text.replace(str(here.parent), PLACE)
                wordings.setdefault((code, words), shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} ...")
    lines = [wordings[key].replace("\n", "\\n") for key in sorted(wordings)]
    missing = sorted(all_codes().keys() - {code for code, words in wordings if words})
    kinds = f"A line is a code or a wording; {len(missing)} codes have none: {', '.join(missing)}"
    head = f"{GENERATOR} wrote this file. {kinds}"
    return "\n".join([head, "", *lines, ""])


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: content()}))
