"""Finds line and column of JSON pointers in the text of a model, when a finding is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dml2onnx.diagnostics import Location
from dml2onnx.frontends.spans import spans
from dml2onnx.frontends.text import line_starts, location, without_comments

_DESCRIBED = re.compile(r"(/nodes/\d+)/desc/([^/]+)")


def locate(data: bytes, wanted: Mapping[str, bool]) -> dict[str, Location]:
    """Finds the locations of JSON pointers, of the member's name if the mapping is true or the value is nested.

    A pointer to a missing member is located at the nearest enclosing one. Returns nothing if the bytes are not UTF-8.
    """
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        return {}
    pointers = {above for pointer in wanted for above in _with_above(pointer)}
    found = spans(without_comments(text), pointers)
    starts = line_starts(text)
    places: dict[str, Location] = {}
    for pointer, of_name in wanted.items():
        member = next((found[above] for above in _with_above(pointer) if above in found), None)
        if member is not None:
            exact = pointer in found
            use_name = member.name is not None and (of_name or member.is_nested or not exact)
            opening = (member.start, member.start + 1 if member.is_nested else member.end)
            span = member.name if use_name and member.name is not None else opening
            places[pointer] = location(text, *span, starts)
    return places


def _with_above(pointer: str) -> list[str]:
    """Returns the pointer and its ancestors, the nearest first.

    For a missing descriptor of a native node, these include the connection of the field in ``inputs`` or ``outputs``.
    """
    found = [pointer]
    while pointer:
        described = _DESCRIBED.fullmatch(pointer)
        if described:
            found += [f"{described[1]}/inputs/{described[2]}", f"{described[1]}/outputs/{described[2]}"]
        pointer = pointer.rpartition("/")[0]
        found.append(pointer)
    return found
