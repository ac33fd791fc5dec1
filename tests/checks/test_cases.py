"""Each rule has a graph that breaks it, with exactly the expected findings."""

from __future__ import annotations

import pytest

from dml2onnx.checks import check
from dml2onnx.codes import checking
from dml2onnx.diagnostics import Code
from dml2onnx.ir.operator import OperatorDesc
from tests.checks import attention_cases, operator_cases, size_cases, structure_cases, support_cases, tensor_cases
from tests.checks.build import one, op, t
from tests.checks.cases import Case

CASES = [
    *structure_cases.CASES,
    *tensor_cases.CASES,
    *operator_cases.CASES,
    *size_cases.CASES,
    *attention_cases.CASES,
    *support_cases.CASES,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    findings = check(case.graph, case.level, documented=True)
    found = [(item.code, item.pointer, item.since) for item in findings]
    places = {(item.code, item.since) for item in findings if item.pointer == case.pointer or not case.pointer}
    assert (case.code.id, case.since) in places, "\n".join(map(str, findings))
    assert {code for code, _, _ in found} == {case.code.id} | case.others, "\n".join(map(str, findings))
    for item in findings:
        assert item.documentation.startswith("https://learn.microsoft.com/")
        assert item.severity is next(code for code in _codes() if code.id == item.code).severity


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_absent_tensors_are_not_related(case: Case) -> None:
    present = {
        (node.name, field.name): value is not None
        for node in case.graph.nodes
        for field, value in node.operator.items()
        if field.is_tensor
    }
    for item in check(case.graph, case.level, documented=True):
        assert all(present.get((item.node, path.partition("/")[0]), True) for path in item.related)


@pytest.mark.parametrize(
    ("strides", "expected"),
    [((12, 1, 3, 1), (24, 12, 4, 1)), ((20, 1, 6, 2), (24, 1, 8, 2)), ((24, 8, 2, 1), (24, 1, 8, 2))],
    ids=["no order", "channels last", "listed as N, H, W, C"],
)
def test_strides_of_an_output_that_overlaps_keep_their_order(
    strides: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    (item,) = check(one(op("ACTIVATION_RELU", InputTensor=t(1, 2, 3, 4), OutputTensor=t(1, 2, 3, 4, strides=strides))))
    assert item.code is checking.OVERLAPPING_OUTPUT
    assert item.expected == str(list(expected))


@pytest.mark.parametrize(("count", "is_error"), [(600 + 1024, False), (600 + 1025, True)])
def test_directml_reads_arrays_that_are_at_most_a_page_shorter_than_their_count(count: int, is_error: bool) -> None:
    names = ("Strides", "Dilations", "StartPadding", "EndPadding", "OutputPadding")
    arrays = {name: (1 if name in names[:2] else 0,) * 600 for name in names}
    tensors = {"InputTensor": t(1, 1, 4, 4), "FilterTensor": t(1, 1, 3, 3), "OutputTensor": t(1, 1, 2, 2)}
    convolution = op("CONVOLUTION", Mode="CROSS_CORRELATION", Direction="FORWARD", GroupCount=1, **arrays, **tensors)
    values = tuple(count if field.name == "DimensionCount" else value for field, value in convolution.items())
    found = {item.code for item in check(one(OperatorDesc(convolution.schema, values)))}
    assert (checking.ARRAY_LENGTH in found) is is_error  # else a warning about what DirectML accepts


def test_names_are_distinct() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_every_code_has_a_case() -> None:
    reached = {case.code.id for case in CASES}
    accepted = {code.id for code in checking.ACCEPTED}  # these replace others, see test_accepted.py
    assert {code.id for code in _codes()} - reached == accepted


def test_codes_are_explained() -> None:
    codes = _codes()
    assert len({code.id for code in codes}) == len(codes)
    assert len({code.summary for code in codes}) == len(codes)
    for code in codes:
        assert code.explanation.endswith(".")
        assert len(code.explanation) > len(code.summary)


def _codes() -> list[Code]:
    return [value for value in vars(checking).values() if isinstance(value, Code)]
