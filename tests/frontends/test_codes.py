"""Some model or text reaches every code of the reading stage."""

from __future__ import annotations

from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Code

from . import (
    test_descriptors,
    test_dml_graph,
    test_dx_dispatchables,
    test_dx_graphs,
    test_dx_program,
    test_dx_resources,
    test_freezing,
    test_native_rejected,
    test_serialized_rejected,
)
from .test_text import TEXTS

CASES = [
    *test_descriptors.REJECTED,
    *test_dml_graph.REJECTED,
    *test_dx_dispatchables.REJECTED,
    *test_dx_graphs.REJECTED,
    *test_dx_program.REJECTED,
    *test_dx_resources.REJECTED,
    *test_freezing.REJECTED,
    *test_native_rejected.REJECTED,
    *test_serialized_rejected.REJECTED,
]
ALL = [item for module in (unreadable, codes) for item in vars(module).values() if isinstance(item, Code)]


def test_every_code_is_reached() -> None:
    elsewhere = {
        unreadable.NO_SUCH_FILE,
        unreadable.NOT_A_FILE,
        unreadable.CANNOT_READ,
        unreadable.FILE_TOO_LARGE,
        codes.DUPLICATE_KEY,
        codes.REPEATED_KEY,
        codes.TOO_MANY_FINDINGS,
        codes.NO_PILLOW,
        codes.MARKED_TEXT,
        codes.TWO_FILES,
        codes.UNUSED_FILES,
    }
    reached = {code for rejected in CASES for code, _ in rejected.findings} | {code for _, code in TEXTS.values()}
    assert {code.id for code in set(ALL) - reached - elsewhere} == set()
