"""Edits members in the text of a model; comments, order and layout stay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from dml2onnx.diagnostics import Edit, Member, unescape
from dml2onnx.frontends.spans import Span, spans
from dml2onnx.frontends.text import without_comments


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str | None:
    """Applies edits to a text; returns ``None`` if one has no place, or two overlap."""
    places = spans(without_comments(text))
    changes: dict[_Change, None] = {}
    for edit in edits:
        if edit.where_given and edit.pointer not in places:
            continue
        change = _change(text, places, edit)
        if change is None:
            return None
        changes[change] = None
    ordered = sorted(changes, key=lambda item: (item.start, item.end))
    for before, after in pairwise(ordered):
        if before.end > after.start:
            return None
        both_added = before.text.startswith(",") and after.text.startswith(",") and before.start == before.end
        if (before.start, before.end) == (after.start, after.end) and not both_added:
            return None
    for change in reversed(ordered):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _change(text: str, places: dict[str, Span], edit: Edit) -> _Change | None:
    span = places.get(edit.pointer)
    if edit.renamed:
        if span is None or span.name is None:
            return None
        return _Change(*span.name, json.dumps(edit.value, ensure_ascii=False))
    if span is not None:
        return _Change(span.start, span.end, _written(edit.value))
    above, _, name = edit.pointer.rpartition("/")
    value = edit.value
    while above and above not in places:
        value = {unescape(name): value}
        above, _, name = above.rpartition("/")
    holder = places.get(above)
    if holder is None or not holder.is_object:
        return None
    return _added(text, holder, f"{json.dumps(unescape(name), ensure_ascii=False)}: {_written(value)}")


def _added(text: str, holder: Span, member: str) -> _Change:
    """Adds a member after the last one of an object, on its own line if that one has its own line."""
    if holder.last is None:
        return _Change(holder.start + 1, holder.start + 1, member)
    start, end = holder.last
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return _Change(end, end, f",\n{line}{member}" if not line.strip() else f", {member}")


def _written(value: Member) -> str:
    return json.dumps(value, ensure_ascii=False)
