"""Valid graphs: the documentation's own examples, and descriptors that look like mistakes."""

from __future__ import annotations

import pytest

from dml2onnx import catalog
from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.examples import examples
from dml2onnx.test_cases.valid import EASILY_DOUBTED
from tests.checks.build import one

EXAMPLES = [
    pytest.param(example.operator, id=f"{example.operator.schema.stem}-{number}")
    for name in catalog.operator_names()
    for number, example in enumerate(examples(name, as_printed=True))
    if not example.suspect
]

# Misprints of the documentation that break its own rules, with the resulting codes.
MISPRINTED = {
    ("ELEMENT_WISE_BIT_XOR", 0): {codes.MISSING_FIELD},
    ("GATHER", 2): {codes.WRONG_SIZE},
    ("GATHER_ELEMENTS", 0): {codes.DIFFERENT_DATA_TYPES},
    ("SCATTER", 1): {codes.DIFFERENT_SIZES},
    ("SCATTER_ND", 0): {codes.ACCEPTED_SIZES, codes.DATA_TYPE_UNSUPPORTED},
}


@pytest.mark.parametrize("desc", EXAMPLES)
def test_example(desc: OperatorDesc) -> None:
    assert [str(item) for item in check(one(desc))] == []


@pytest.mark.parametrize(("name", "index"), MISPRINTED)
def test_misprinted_example(name: str, index: int) -> None:
    example = examples(name, as_printed=True)[index]
    assert example.suspect
    assert {item.code for item in check(one(example.operator))} == {code.id for code in MISPRINTED[name, index]}


@pytest.mark.parametrize("name", EASILY_DOUBTED)
def test_right(name: str) -> None:
    assert [str(item) for item in check(one(EASILY_DOUBTED[name]))] == []
