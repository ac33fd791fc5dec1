"""The text of a model with some of its members changed; comments, order and all else stay as they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dml2onnx.frontends.findings import escape
from dml2onnx.frontends.text import without_comments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dml2onnx.diagnostics import Edit, Member

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class _Span:
    """Where a member stands: its name, if it has one, its value, and the end of the last member in it."""

    name: tuple[int, int] | None
    start: int
    end: int
    is_object: bool
    last: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with these edits; ``None`` where one has no place, or two are about the same place."""
    spans = _spans(without_comments(text))
    changes: dict[_Change, None] = {}
    for edit in edits:
        if edit.where_given and edit.pointer not in spans:
            continue
        change = _change(text, spans, edit)
        if change is None:
            return None
        changes[change] = None
    ordered = sorted(changes, key=lambda item: (item.start, item.end))
    for before, after in pairwise(ordered):
        if before.end > after.start or (before.start, before.end) == (after.start, after.end):
            return None
    for change in reversed(ordered):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _change(text: str, spans: dict[str, _Span], edit: Edit) -> _Change | None:
    span = spans.get(edit.pointer)
    if edit.renamed:
        if span is None or span.name is None:
            return None
        return _Change(*span.name, json.dumps(edit.value, ensure_ascii=False))
    if span is not None:
        return _Change(span.start, span.end, _written(edit.value))
    above, _, name = edit.pointer.rpartition("/")
    value = edit.value
    while above and above not in spans:
        value = {_unescaped(name): value}
        above, _, name = above.rpartition("/")
    holder = spans.get(above)
    if holder is None or not holder.is_object:
        return None
    return _added(text, holder, f"{json.dumps(_unescaped(name), ensure_ascii=False)}: {_written(value)}")


def _added(text: str, holder: _Span, member: str) -> _Change:
    """A member behind the last one of an object, on a line of its own where that has one."""
    if holder.last is None:
        return _Change(holder.start + 1, holder.start + 1, member)
    start, end = holder.last
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return _Change(end, end, f",\n{line}{member}" if not line.strip() else f", {member}")


def _written(value: Member) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _spans(text: str) -> dict[str, _Span]:
    """All members of a text by their pointers, of one name given twice the first."""
    found: dict[str, _Span] = {}
    stack: list[tuple[str, _Span, int]] = []
    name: tuple[int, int] | None = None
    key = ""
    is_value = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            if stack:
                _, closed, _ = stack.pop()
                closed.end = match.end()
                _note(stack, closed)
            is_value = False
        elif token == ",":
            is_value = bool(stack) and not stack[-1][1].is_object
            if is_value:
                place, span, index = stack[-1]
                stack[-1] = place, span, index + 1
        elif token == ":":
            is_value = True
        elif not is_value:
            name, key = match.span(), _name(token)
        else:
            pointer = _pointer(stack, key)
            span = _Span(name, *match.span(), token == "{")
            found.setdefault(pointer, span)
            name = None
            if token in "{[":
                stack.append((pointer, span, 0))
                is_value = token == "["
            else:
                _note(stack, span)
    return found


def _note(stack: list[tuple[str, _Span, int]], span: _Span) -> None:
    """Remembers the member that has ended as the last one of what it is in."""
    if stack:
        stack[-1][1].last = (span.start if span.name is None else span.name[0], span.end)


def _pointer(stack: list[tuple[str, _Span, int]], key: str) -> str:
    if not stack:
        return ""
    place, span, index = stack[-1]
    return f"{place}/{escape(key) if span.is_object else index}"


def _name(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
