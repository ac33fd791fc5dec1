"""Escapes text for rich's markup, and removes the markup.

Importing rich takes longer than most commands run, and output that is no terminal does not need it.
"""

from __future__ import annotations

import re

from dml2onnx.diagnostics import shortened

LONGEST_SHOWN = 4000
"""Characters that are shown of a text from outside; JSON has all of it."""

_TAG = re.compile(r"(\\*)(\[[a-z#/@][^[]*?])")


def escape(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Markup that shows ``text``, shortened and on one line."""
    markup = _TAG.sub(lambda match: f"{match[1]}{match[1]}\\{match[2]}", shortened(text, longest))
    return markup + "\\" if markup.endswith("\\") and not markup.endswith("\\\\") else markup


def escape_lines(text: str) -> str:
    """Markup that shows a text of several lines."""
    return "\n".join(map(escape, text.split("\n")))


def unstyled(markup: str) -> str:
    """The text that ``markup`` shows."""
    if "[" not in markup:
        return markup
    parts: list[str] = []
    position = 0
    for match in _TAG.finditer(markup):
        backslashes, tag = match.groups()
        parts.append(markup[position : match.start()].replace("\\[", "["))
        parts.append(backslashes[: len(backslashes) // 2] + (tag if len(backslashes) % 2 else ""))
        position = match.end()
    parts.append(markup[position:].replace("\\[", "["))
    return "".join(parts)
