"""Lines and columns of JSON pointers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.frontends.findings import escape
from dml2onnx.frontends.locations import locate
from dml2onnx.frontends.text import LONGEST_LINE, line_starts

TEXT = """{
  "dml2onnx": 1, // the version
  "nodes": [
    {"type": "JOIN", /* "type": 2, */ "desc": {"Axis": -1, "a/b~c": [10, {"x": null}],},},
    {"type": "SPLIT", "inputs": {"InputTensor": "y"}, "desc": {}, "outputs": {"OutputTensors": []}}
  ]
}
"""


@pytest.mark.parametrize(
    ("pointer", "of_name", "line", "piece"),
    [
        ("", False, 1, "{"),
        ("/missing", False, 1, "{"),
        ("/dml2onnx", False, 2, "1"),
        ("/dml2onnx", True, 2, '"dml2onnx"'),
        ("/nodes", False, 3, '"nodes"'),
        ("/nodes/0", False, 4, "{"),
        ("/nodes/0/type", False, 4, '"JOIN"'),
        ("/nodes/0/desc/Axis", False, 4, "-1"),
        ("/nodes/0/desc/a~1b~0c/0", False, 4, "10"),
        ("/nodes/0/desc/a~1b~0c/1/x", False, 4, "null"),
        ("/nodes/1/type", False, 5, '"SPLIT"'),
        ("/nodes/0/desc/Missing", False, 4, '"desc"'),
        ("/nodes/1/desc/InputTensor/DataType", False, 5, '"InputTensor"'),
        ("/nodes/1/desc/OutputTensors/0/Sizes", False, 5, '"OutputTensors"'),
        ("/nodes/7/desc", False, 3, '"nodes"'),
    ],
)
def test_places(pointer: str, of_name: bool, line: int, piece: str) -> None:
    place = locate(TEXT.encode(), {pointer: of_name})[pointer]
    assert (place.line, TEXT.splitlines()[line - 1][place.column - 1 : place.end_column - 1]) == (line, piece)
    assert place.excerpt[len(place.marker) - len(place.marker.strip()) : len(place.marker)] == piece


def test_byte_order_mark_and_invalid_utf8() -> None:
    assert locate(b'\xef\xbb\xbf{"a": 1}', {"/a": False})["/a"].column == 7
    assert locate(b"\xff\xfe", {"/a": False}) == {}


def test_a_model_on_one_line_gives_an_excerpt() -> None:
    text = json.dumps({"a": list(range(1000)), "b": "here", "c": list(range(1000))})
    place = locate(text.encode(), {"/b": False})["/b"]
    assert len(place.excerpt) == LONGEST_LINE
    assert place.excerpt[place.marker.index("^") :][:6] == '"here"'
    assert text[place.column - 1 : place.end_column - 1] == '"here"'


def test_lines_are_split_once_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splitting a text of many megabytes for each place would take minutes."""
    searched = []

    def counted(text: str) -> list[int]:
        searched.append(text)
        return line_starts(text)

    for module in ("locations", "text"):
        monkeypatch.setattr(f"dml2onnx.frontends.{module}.line_starts", counted)
    text = json.dumps({"a": list(range(50))})
    assert len(locate(text.encode(), {f"/a/{i}": False for i in range(50)})) == 50
    assert searched == [text]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
)


@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_member_is_found(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    leaves = dict(_leaves(value, ""))
    places = locate(text.encode("utf-8", "surrogatepass"), dict.fromkeys(leaves, False))
    if not places:
        return  # the text has lone surrogates
    lines = text.split("\n")
    for pointer, leaf in leaves.items():
        place = places[pointer]
        assert json.loads(lines[place.line - 1][place.column - 1 : place.end_column - 1]) == leaf


def _leaves(value: Any, place: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, f"{place}/{escape(key)}")]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in _leaves(item, f"{place}/{index}")]
    return [(place, value)]
