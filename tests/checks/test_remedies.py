"""Edits of remedies resolve their findings and cause none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dml2onnx.checks import check
from dml2onnx.cli.examples import examples
from dml2onnx.cli.fixing import difference, fix, is_fixable
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.frontends import load_bytes
from dml2onnx.frontends.edits import edited
from tests.checks.build import found_in, one, op, t
from tests.mistakes import MODELS, mistakes
from tests.newcomers.case import Case
from tests.newcomers.native_convolutions import CONVOLUTIONS
from tests.newcomers.native_wiring import VALUES
from tests.newcomers.scoring import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator


def found_or_refused(text: str) -> list[Diagnostic]:
    try:
        return found_in(text)
    except DmlError as error:
        return list(error.diagnostics)


def key(item: Diagnostic) -> tuple[str, str, str]:
    return item.code, item.pointer, item.message


def texts() -> Iterator[tuple[str, str]]:
    yield from ((case.name, case.source) for case in CASES.values() if isinstance(case, Case) and not case.in_program)
    yield from ((code, json.dumps(item.wrong_model)) for code, item in examples().items())
    yield from ((item.name, json.dumps(item.model)) for item in mistakes() if item.format != "serialized")


def remedied(text: str, found: list[Diagnostic]) -> Iterator[tuple[Diagnostic, str, str | None]]:
    """Each finding with a remedy, its text, and the model after its edits."""
    for item in found:
        for remedy in item.remedies:
            if remedy.edits:
                yield item, remedy.words, edited(text, remedy.edits)


def test_every_remedy_resolves_its_finding() -> None:
    """For all examples of codes, small models with every member broken in every way, and newcomers' mistakes."""
    wrong: list[str] = []
    tried = 0
    for name, text in texts():
        found = found_or_refused(text)
        for item, words, better in remedied(text, found):
            tried += 1
            after = [] if better is None else found_or_refused(better)
            if better is None:
                wrong.append(f"{name}: {item}\n    {words}: has no place")
            elif key(item) in {key(other) for other in after}:
                wrong.append(f"{name}: {item}\n    {words}: stays")
            elif item.is_error and _errors(after) > _errors(found):
                wrong.append(f"{name}: {item}\n    {words}: makes it worse: {after[0]}")
    assert not wrong, f"{len(wrong)} of {tried}\n" + "\n".join(wrong[:20])
    assert tried > 300


@pytest.mark.parametrize("name", [name for name in MODELS if name != "serialized"])
def test_fixing_never_adds_errors(name: str) -> None:
    """Fixes every third mistake, and resolves all findings with certain remedies."""
    for mistake in [item for item in mistakes() if item.format == name][::3]:
        text = json.dumps(mistake.model)
        before = found_or_refused(text)
        fixable = [item for item in before if is_fixable(item)]
        if not fixable:
            continue
        fixed = fix(text, lambda data: check(load_bytes(data, "net.json")))
        after = found_or_refused(fixed.text)
        assert not {key(item) for item in after} & {key(item) for item in fixable}, mistake.name
        assert _errors(after) <= _errors(before), mistake.name


def _errors(items: list[Diagnostic]) -> int:
    return sum(item.severity is Severity.ERROR for item in items)


def test_a_choice_of_remedies_is_not_written() -> None:
    """Padding, a smaller filter, or a smaller output."""
    case = next(case for case in CONVOLUTIONS if case.name == "convolution: padding forgotten")
    assert not any(is_fixable(item) for item in found_in(case.source))
    assert [len(item.remedies) for item in found_in(case.source)] == [3]
    assert fix(case.source, lambda data: check(load_bytes(data, "net.json"))).text == case.source


def test_a_layout_is_not_certain() -> None:
    """It explains all findings, but the sizes may be wrong."""
    case = next(case for case in CONVOLUTIONS if case.name == "convolution: input in NHWC order")
    [item] = found_in(case.source)
    assert item.remedies[0].edits
    assert not item.remedies[0].is_certain


def test_a_remedy_that_does_not_help_is_dropped() -> None:
    case = next(case for case in VALUES if case.name == "value misspelt")
    stubborn = found_in(case.source)
    assert fix(case.source, lambda data: stubborn).text == case.source
    (item,) = stubborn
    beside = fix(case.source, lambda data: [replace(item, message="stays"), *found_in(data.decode())])
    assert beside == fix(case.source, lambda data: found_in(data.decode()))


def test_the_byte_count_of_a_tensor_is_certain() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [4]}
    desc = {"InputTensor": {**tensor, "TotalTensorSizeInBytes": 8}, "OutputTensor": tensor}
    node = {"type": "ACTIVATION_RELU", "desc": desc, "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": "y"}}
    text = json.dumps({"dml2onnx": 1, "inputs": {"x": tensor}, "nodes": [node], "outputs": ["y"]})
    assert json.loads(fix(text, lambda data: found_in(data.decode())).text) == json.loads(text.replace(": 8}", ": 16}"))


def test_difference() -> None:
    lines = difference("dir/net.json", "a\nb\nc\n", "a\nB\nc\n")
    assert lines[:2] == ["--- a/dir/net.json", "+++ b/dir/net.json"]
    assert lines[3:] == [" a", "-b", "+B", " c"]


def test_ends_of_a_window_become_its_sizes() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 8]}
    window = {"InputWindowOffsets": [0, 0, 0, 4], "InputWindowSizes": [1, 1, 4, 8], "InputWindowStrides": [1] * 4}
    desc = {"InputTensor": tensor, "OutputTensor": {**tensor, "Sizes": [1, 1, 4, 4]}, "DimensionCount": 4, **window}
    node = {"type": "SLICE1", "desc": desc, "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": "y"}}
    (item,) = found_in(json.dumps({"dml2onnx": 1, "inputs": {"x": tensor}, "nodes": [node], "outputs": ["y"]}))
    assert [remedy.words for remedy in item.remedies] == ["InputWindowSizes [1, 1, 4, 4], if the values were ends"]


@pytest.mark.parametrize("stride", [3, -3])
def test_windows_reach_as_far_as_their_strides(stride: int) -> None:
    window = {"InputWindowOffsets": (0, 0), "InputWindowSizes": (4, 3), "InputWindowStrides": (1, stride)}
    (item,) = check(one(op("SLICE1", InputTensor=t(4, 9), OutputTensor=t(4, 3), **window)))
    assert "InputWindowSizes [4, 7]" in [remedy.words for remedy in item.remedies]


@pytest.mark.parametrize("size", [7, 9])
def test_a_graph_input_may_be_one_too_small_or_too_large(size: int) -> None:
    """Nothing else has the right size."""
    wrong, half = {"DataType": "FLOAT32", "Sizes": [1, 1, size, 6]}, {"DataType": "FLOAT32", "Sizes": [1, 4, 4, 3]}
    desc = {"InputTensor": wrong, "OutputTensor": half, "BlockSize": 2}
    nodes = [
        {"type": "SPACE_TO_DEPTH", "desc": desc, "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": name}}
        for name in "yz"
    ]
    (item,) = found_in(json.dumps({"dml2onnx": 1, "inputs": {"x": wrong}, "nodes": nodes, "outputs": ["y", "z"]}))
    assert (item.code, item.expected) == ("DML1218", "[1, 1, 8, 6]")
