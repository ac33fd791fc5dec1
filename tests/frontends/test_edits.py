"""Edits of members of a JSON text, which keep the rest of it, with comments, unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.diagnostics import Edit
from dml2onnx.frontends.edits import edited
from dml2onnx.frontends.findings import pointer

TEXT = '{ // a, "b"\n  "a": [1, {"b/c": "x"}], /* "a": 2 */ "d": {}\n}\n'

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab/~"\\é{[,:', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=3), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (Edit("/a/0", 7), '"a": [7, {'),
        (Edit("/a", [2]), '"a": [2], /* "a": 2 */'),
        (Edit("/a/1/b~1c", "y"), '{"b/c": "y"}'),
        (Edit("/a/1/b~1c", "e", renamed=True), '{"e": "x"}'),
        (Edit("/a/1/f", 1), '{"b/c": "x", "f": 1}'),
        (Edit("/d/g", 1), '"d": {"g": 1}'),
        (Edit("/d/g/h", 1), '"d": {"g": {"h": 1}}'),
        (Edit("/d/g", 1, where_given=True), '"d": {}'),
    ],
)
def test_edit(edit: Edit, expected: str) -> None:
    text = edited(TEXT, [edit])
    assert text is not None
    assert expected in text
    assert text.startswith('{ // a, "b"\n')


def test_a_member_on_a_line_of_its_own() -> None:
    assert edited('{\n  "a": 1\n}', [Edit("/b", 2)]) == '{\n  "a": 1,\n  "b": 2\n}'


def test_several_edits() -> None:
    edits = [Edit("/b", 4), Edit("/c", 5), Edit("/a", 3), Edit("/d", 6)]
    assert edited('{"a": 1, "b": 2}', edits) == '{"a": 3, "b": 4, "c": 5, "d": 6}'


def test_missing_members_and_overlapping_edits() -> None:
    assert edited(TEXT, [Edit("/a/7", 1)]) is None
    assert edited(TEXT, [Edit("/x", "y", renamed=True)]) is None
    assert edited(TEXT, [Edit("/a", 1), Edit("/a/0", 2)]) is None
    assert edited(TEXT, [Edit("/a", 1), Edit("/a", 2)]) is None
    assert edited(TEXT, [Edit("/a", 1), Edit("/a", 1)]) is not None


def _members(value: Any, place: str = "") -> Iterator[str]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _members(item, place + pointer(key))


def _replaced(value: Any, place: str, new: object) -> Any:
    if not place:
        return new
    step, _, rest = place[1:].partition("/")
    rest = f"/{rest}" if "/" in place[1:] else ""
    if isinstance(value, list):
        return [_replaced(item, rest, new) if str(index) == step else item for index, item in enumerate(value)]
    name = step.replace("~1", "/").replace("~0", "~")
    return {key: _replaced(item, rest, new) if key == name else item for key, item in value.items()}


@given(st.dictionaries(st.text("ab/~", max_size=3), VALUES, max_size=4), VALUES, st.data(), st.sampled_from([None, 1]))
def test_every_member_can_be_replaced(
    root: dict[str, object], new: Any, data: st.DataObject, indent: int | None
) -> None:
    place = data.draw(st.sampled_from(sorted(_members(root))))
    text = edited(json.dumps(root, indent=indent), [Edit(place, new)])
    assert text is not None
    assert json.loads(text) == _replaced(root, place, new)
