"""Recorded verdicts of DirectML on descriptors.

The files are next to the checkout, in ``../shared/directml/observed``; without them these tests are skipped.
``python -m tests.directml.observed [--list] [OPERATOR]`` prints differences between ``check`` and DirectML.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Severity
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE, operators_by_name
from dml2onnx.ir.operator import OperatorDesc

CHECKOUT = Path(__file__).resolve().parents[2]
PLACES = (CHECKOUT.parent / "shared", CHECKOUT.parent.parent / "shared")
ACCEPTED = "00000000"


def directory() -> Path | None:
    """The directory of the recordings; ``None`` if there is none."""
    return next((found for place in PLACES if (found := place / "directml" / "observed").is_dir()), None)


needs_observations = pytest.mark.skipif(directory() is None, reason="../shared/directml/observed is not there")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A descriptor, the change that produced it, and the HRESULT of CreateOperator (or ``CRASH``)."""

    type: str
    changed: str
    raw: dict[str, Any]
    hresult: str

    @property
    def accepted(self) -> bool:
        """Whether DirectML created the operator."""
        return self.hresult == ACCEPTED

    @property
    def field(self) -> str:
        """The kind of change: the field and the change, without values."""
        return self.changed.partition("=")[0] if "." not in self.changed else self.changed.split("=")[0].split("[")[0]


def lines(name: str) -> Iterator[dict[str, Any]]:
    """Yields the records of one file."""
    place = directory()
    assert place is not None
    with lzma.open(place / name, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def acceptance(path: Path | None = None) -> Iterator[Verdict]:
    """Yields all recorded verdicts."""
    for record in lines("acceptance.jsonl.xz" if path is None else str(path)):
        yield Verdict(record["type"], record["changed"], record["desc"], record["hresult"])


@cache
def _reader() -> DescriptorReader:
    return DescriptorReader(NATIVE)


def described(verdict: Verdict) -> OperatorDesc | None:
    """The descriptor; ``None`` if reading it finds errors."""
    reading = _reader().operator(catalog.operator(operators_by_name()[verdict.type]), verdict.raw)
    bad = any(problem.is_error for problem in reading.problems)
    return None if bad else reading.operator


def refusals(verdict: Verdict) -> list[str]:
    """The errors of ``check`` at the latest level, from reading the descriptor and from its rules."""
    reading = _reader().operator(catalog.operator(operators_by_name()[verdict.type]), verdict.raw)
    read = [f"{problem.code} {problem.path} {problem.message}" for problem in reading.problems if problem.is_error]
    found = [
        f"{item.code} {item.path}: {item.message}"
        for item in findings_of(reading.operator, LATEST)
        if item.severity is Severity.ERROR
    ]
    return read + found


def main() -> None:
    """Prints the number of differences by operator and by changed field, and with ``--list`` each one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--file", type=Path)
    chosen = parser.parse_args()
    total, same = 0, 0
    by_operator: Counter[str] = Counter()
    by_field: Counter[str] = Counter()
    for verdict in acceptance(chosen.file):
        if chosen.operators and verdict.type not in chosen.operators:
            continue
        total += 1
        why = refusals(verdict)
        if verdict.accepted is not bool(why):
            same += 1
            continue
        who = "check" if verdict.accepted else "DirectML"
        by_operator[f"{verdict.type} (only {who} refuses)"] += 1
        by_field[f"{verdict.field} (only {who} refuses)"] += 1
        if chosen.list:
            print(who, verdict.type, verdict.changed, verdict.hresult, json.dumps(verdict.raw), *why, sep=" | ")
    for name, number in [*by_operator.most_common(), *by_field.most_common(60)]:
        print(f"{number:6} {name}")
    print(f"{same} of {total} verdicts match, {100 * same / max(total, 1):.3f} %")


if __name__ == "__main__":
    main()
