"""Text with rich's styles in square brackets: escaping text, and removing the styles.

Importing rich takes longer than most commands do; where nobody looks at a terminal, there is nothing for it to draw.
"""

from __future__ import annotations

import re

from dml2onnx.diagnostics import shortened

LONGEST_SHOWN = 4000
"""Characters of one text that is not ours; tools get everything."""

_TAG = re.compile(r"(\\*)(\[[a-z#/@][^[]*?])")


def escape(text: str, longest: int = LONGEST_SHOWN) -> str:
    """``text``, which need not be ours, as markup that shows it on one line."""
    return _plain(shortened(text, longest))


def escape_lines(text: str) -> str:
    """Our own text, of several lines, as markup that shows it."""
    return "\n".join(escape(line) for line in text.split("\n"))


def _plain(text: str) -> str:
    markup = _TAG.sub(lambda match: f"{match[1]}{match[1]}\\{match[2]}", text)
    return markup + "\\" if markup.endswith("\\") and not markup.endswith("\\\\") else markup


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
