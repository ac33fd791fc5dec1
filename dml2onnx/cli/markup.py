"""Text with styles in square brackets, as rich has them: how text gets into it, and what is left of it without styles.

Importing rich takes longer than most commands do; where nobody looks at a terminal, there is nothing for it to draw.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"(\\*)(\[[a-z#/@][^[]*?])")


def escape(text: str) -> str:
    """``text`` as markup that shows it."""
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
