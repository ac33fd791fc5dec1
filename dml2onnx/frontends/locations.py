"""Where the members of a model stand in its text: line and column of a JSON pointer, found when somebody asks.

Reading keeps no positions, which would cost each model what only wrong ones need. Here the text is gone through once
more, for the pointers that are asked for and no others.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.frontends.findings import escape
from dml2onnx.frontends.text import location, without_comments

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dml2onnx.diagnostics import Location

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_DESCRIBED = re.compile(r"(/nodes/\d+)/desc/([^/]+)")


@dataclass(frozen=True, slots=True)
class _Member:
    """Places in the text: of the name, if there is one, and of the value or the bracket that opens it."""

    name: tuple[int, int] | None
    value: tuple[int, int]
    is_nested: bool


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
    found = _members(without_comments(text), pointers)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    places: dict[str, Location] = {}
    for pointer, of_name in wanted.items():
        member = next((found[above] for above in _with_above(pointer) if above in found), None)
        if member is not None:
            exact = pointer in found
            use_name = member.name is not None and (of_name or member.is_nested or not exact)
            span = member.name if use_name and member.name is not None else member.value
            places[pointer] = location(text, *span, bisect_right(starts, span[0]))
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


def _members(text: str, wanted: Collection[str]) -> dict[str, _Member]:
    """The members of these pointers, as far as the text goes by the grammar; of one name given twice the first."""
    found: dict[str, _Member] = {}
    stack: list[tuple[str, bool, int]] = []
    """Of each open bracket: its pointer, whether it is an object, and how many values of an array there were."""
    name: tuple[int, int] | None = None
    key = ""
    is_value = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            if stack:
                stack.pop()
            is_value = False
        elif token == ",":
            is_value = not (stack and stack[-1][1])
            if stack and not stack[-1][1]:
                place, _, index = stack[-1]
                stack[-1] = place, False, index + 1
        elif token == ":":
            is_value = True
        elif not is_value:
            name, key = match.span(), _name(token)
        else:
            pointer = _pointer(stack, key)
            if pointer in wanted and pointer not in found:
                found[pointer] = _Member(name, match.span(), token in "{[")
            name = None
            if token in "{[":
                stack.append((pointer, token == "{", 0))
                is_value = token == "["
    return found


def _pointer(stack: list[tuple[str, bool, int]], key: str) -> str:
    if not stack:
        return ""
    place, is_object, index = stack[-1]
    return f"{place}/{escape(key) if is_object else index}"


def _name(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
