"""Line and column of JSON pointers into the text of a model, found when a finding is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dml2onnx.diagnostics import Location
from dml2onnx.frontends.spans import spans
from dml2onnx.frontends.text import line_starts, location, without_comments

_DESCRIBED = re.compile(r"(/nodes/\d+)/desc/([^/]+)")


def locate(data: bytes, wanted: Mapping[str, bool]) -> dict[str, Location]:
    """The locations of JSON pointers: that of the name of a member where the mapping says so, or it is no plain value.

    What does not exist, such as a member that is missing, is where it would stand: in the nearest that there is.
    Empty where the bytes are no text.
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
    """The pointer and all that lead to it, the nearest first.

    A native node describes an input or says what it reads, and is described by that; its outputs are named there.
    """
    found = [pointer]
    while pointer:
        described = _DESCRIBED.fullmatch(pointer)
        if described:
            found += [f"{described[1]}/inputs/{described[2]}", f"{described[1]}/outputs/{described[2]}"]
        pointer = pointer.rpartition("/")[0]
        found.append(pointer)
    return found
