"""Finds the positions of the members of a JSON text, for locations and edits.

They are not recorded while reading, since only wrong models need them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from dml2onnx.frontends.findings import escape

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class Span:
    """The position of a member: that of its value, from ``start`` to ``end``, and of its name."""

    name: tuple[int, int] | None
    start: int
    end: int
    is_object: bool
    is_nested: bool
    """Whether the value is an object or an array."""
    last: tuple[int, int] | None = None
    """The position of the last member of an object or array."""


def spans(text: str, wanted: Collection[str] | None = None) -> dict[str, Span]:
    """Finds the ``wanted`` members, by default all, of a text without comments, by JSON pointer.

    The first of several members with one name wins. If the text is not JSON, the result ends at the error.
    """
    found: dict[str, Span] = {}
    stack: list[tuple[str, Span, int]] = []  # of each open bracket: its pointer, its span, the index in an array
    name: tuple[int, int] | None = None
    key = ""
    is_value = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            if stack:
                _, closed, _ = stack.pop()
                closed.end = match.end()
                _set_last(stack, closed.start if closed.name is None else closed.name[0], closed.end)
            is_value = False
        elif token == ",":
            is_value = bool(stack) and not stack[-1][1].is_object
            if is_value:
                above, span, index = stack[-1]
                stack[-1] = above, span, index + 1
        elif token == ":":
            is_value = True
        elif not is_value:
            name, key = match.span(), _name(token)
        else:
            pointer = _pointer(stack, key)
            is_nested = token in "{["
            is_wanted = (wanted is None or pointer in wanted) and pointer not in found
            if is_nested or is_wanted:
                span = Span(name, *match.span(), token == "{", is_nested)
                if is_wanted:
                    found[pointer] = span
            if is_nested:
                stack.append((pointer, span, 0))
                is_value = token == "["
            else:
                _set_last(stack, match.start() if name is None else name[0], match.end())
            name = None
    return found


def _set_last(stack: list[tuple[str, Span, int]], start: int, end: int) -> None:
    """Records a finished member as the last one of the enclosing object or array."""
    if stack:
        stack[-1][1].last = start, end


def _pointer(stack: list[tuple[str, Span, int]], key: str) -> str:
    if not stack:
        return ""
    above, span, index = stack[-1]
    return f"{above}/{escape(key) if span.is_object else index}"


def _name(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
