"""Formats JSON for readers: small values on one line, and numbers in full lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.exporters.descriptors import Json

WIDTH = 120
_STEP = "  "


def laid_out(document: Json, levels: Mapping[str, int]) -> str:
    """The text of a document.

    ``levels`` is the number of nested levels of each section, itself included, whose members have their own lines.
    """
    sections = (
        "".join(_lines(item, f"{_STEP}{_compact(name)}: ", _STEP, levels.get(name, 0)))
        for name, item in document.items()
    )
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _lines(value: object, head: str, indent: str, levels: int) -> Iterator[str]:
    """``value`` after ``head``; ``indent`` is that of all lines but the first."""
    if not isinstance(value, dict | list) or not value:
        yield head + _compact(value)
        return
    if levels <= 0:
        line = _compact(value)
        if len(indent) + len(head) + len(line) < WIDTH:  # a comma may follow
            yield head + line
            return
    deeper = indent + _STEP
    if isinstance(value, dict):
        yield head + "{"
        for index, (name, item) in enumerate(value.items()):
            yield ",\n" + deeper if index else "\n" + deeper
            yield from _lines(item, f"{_compact(name)}: ", deeper, levels - 1)
        yield f"\n{indent}}}"
        return
    yield head + "["
    if any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            yield ",\n" + deeper if index else "\n" + deeper
            yield from _lines(item, "", deeper, levels - 1)
    else:
        yield from _filled(value, deeper)
    yield f"\n{indent}]"


def _filled(values: list[object], indent: str) -> Iterator[str]:
    """Scalars, as many per line as fit."""
    space = 0
    for index, item in enumerate(values):
        text = _compact(item) + ("," if index < len(values) - 1 else "")
        if len(text) + 1 > space:
            yield f"\n{indent}{text}"
            space = WIDTH - len(indent) - len(text)
        else:
            yield f" {text}"
            space -= len(text) + 1


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
