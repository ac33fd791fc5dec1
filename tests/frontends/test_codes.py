"""Every code of the reading stage is explained, and some model or text reaches it."""

from __future__ import annotations

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code

from . import (
    test_descriptors,
    test_dml_graph,
    test_dx_dispatchables,
    test_dx_graphs,
    test_dx_program,
    test_dx_resources,
    test_given,
    test_native,
    test_serialized,
)
from .test_text import TEXTS

MODULES = (
    test_descriptors,
    test_native,
    test_dml_graph,
    test_serialized,
    test_dx_resources,
    test_dx_dispatchables,
    test_dx_graphs,
    test_dx_program,
    test_given,
)
CASES = [case for module in MODULES for case in module.REJECTED]


def test_every_code_is_reached() -> None:
    elsewhere = {
        codes.NO_SUCH_FILE,
        codes.NOT_A_FILE,
        codes.CANNOT_READ,
        codes.FILE_TOO_LARGE,
        codes.DUPLICATE_KEY,
        codes.REPEATED_KEY,
        codes.TOO_MANY_FINDINGS,
        codes.NO_PILLOW,
        codes.MARKED_TEXT,
        codes.TWO_FILES,
        codes.UNUSED_FILES,
    }
    reached = {code for rejected in CASES for code, _ in rejected.findings} | {code for _, code in TEXTS.values()}
    everything = {value for value in vars(codes).values() if isinstance(value, Code)}
    assert {code.id for code in everything - reached - elsewhere} == set()


def test_codes_are_explained() -> None:
    everything = [value for value in vars(codes).values() if isinstance(value, Code)]
    assert len({code.id for code in everything}) == len(everything)
    assert len({code.title for code in everything}) > len(everything) - 3
    for code in everything:
        assert code.explanation.endswith("."), code.id
        assert code.id.startswith(("DML00", "DML10", "DML11"))
