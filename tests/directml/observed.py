"""What DirectML was seen to do, as data: descriptors that it was asked to accept, each with its answer.

The files stand beside the checkout, in ``../shared/directml/observed``; without them these tests are skipped.
As a script it prints where ``check`` and DirectML differ: ``python -m tests.directml.observed [--list] [OPERATOR]``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Severity
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE, operators_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.ir.operator import OperatorDesc

CHECKOUT = Path(__file__).resolve().parents[2]
PLACES = (CHECKOUT.parent / "shared", CHECKOUT.parent.parent / "shared")
ACCEPTED = "00000000"


def directory() -> Path | None:
    """Where the observations are; ``None`` when they are not there."""
    return next((found for place in PLACES if (found := place / "directml" / "observed").is_dir()), None)


needs_observations = pytest.mark.skipif(directory() is None, reason="../shared/directml/observed is not there")


@dataclass(frozen=True, slots=True)
class Asked:
    """A descriptor as it was asked, what was changed in it, and the HRESULT of CreateOperator (or ``CRASH``)."""

    type: str
    changed: str
    raw: dict[str, Any]
    hresult: str

    @property
    def accepted(self) -> bool:
        """Whether DirectML made an operator of it."""
        return self.hresult == ACCEPTED

    @property
    def field(self) -> str:
        """The kind of change: the field and what was done to it, without values."""
        return self.changed.partition("=")[0] if "." not in self.changed else self.changed.split("=")[0].split("[")[0]


def lines(name: str) -> Iterator[dict[str, Any]]:
    """The records of one file of observations."""
    place = directory()
    assert place is not None
    with lzma.open(place / name, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def acceptance(path: Path | None = None) -> Iterator[Asked]:
    """All descriptors that DirectML was asked to accept."""
    for record in lines("acceptance.jsonl.xz" if path is None else str(path)):
        yield Asked(record["type"], record["changed"], record["desc"], record["hresult"])


@cache
def _reader() -> DescriptorReader:
    return DescriptorReader(NATIVE)


def described(asked: Asked) -> OperatorDesc | None:
    """The descriptor; ``None`` where reading it finds errors, which is a refusal."""
    reading = _reader().operator(catalog.operator(operators_by_name()[asked.type]), asked.raw)
    bad = any(problem.is_error for problem in reading.problems)
    return None if bad else reading.operator


def refusals(asked: Asked) -> list[str]:
    """Why ``check`` refuses a descriptor at the latest level: the errors of reading it, or of its rules."""
    reading = _reader().operator(catalog.operator(operators_by_name()[asked.type]), asked.raw)
    read = [f"{problem.code} {problem.path} {problem.message}" for problem in reading.problems if problem.is_error]
    found = [
        f"{item.code} {item.path}: {item.message}"
        for item in findings_of(reading.operator, LATEST)
        if item.severity is Severity.ERROR
    ]
    return read + found


def main() -> None:
    """Prints how many agree by operator and by changed field, and with ``--list`` each difference."""
    parser = argparse.ArgumentParser()
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--file", type=Path)
    chosen = parser.parse_args()
    total, same = 0, 0
    by_operator: Counter[str] = Counter()
    by_field: Counter[str] = Counter()
    for asked in acceptance(chosen.file):
        if chosen.operators and asked.type not in chosen.operators:
            continue
        total += 1
        why = refusals(asked)
        if asked.accepted is not bool(why):
            same += 1
            continue
        who = "check" if asked.accepted else "DirectML"
        by_operator[f"{asked.type} (only {who} refuses)"] += 1
        by_field[f"{asked.field} (only {who} refuses)"] += 1
        if chosen.list:
            print(who, asked.type, asked.changed, asked.hresult, json.dumps(asked.raw), *why, sep=" | ")
    for name, number in [*by_operator.most_common(), *by_field.most_common(60)]:
        print(f"{number:6} {name}")
    print(f"{same} of {total} verdicts are DirectML's, {100 * same / max(total, 1):.3f} %")


if __name__ == "__main__":
    main()
