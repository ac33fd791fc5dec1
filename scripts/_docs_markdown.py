"""Markdown from plain text, with markup characters escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$^@=])")


def plain(text: str) -> str:
    """The escaped text on one line."""
    return _escaped(text).strip()


def prose(text: str) -> str:
    """The text on one line; code between single or double backquotes stays code."""
    pieces = re.split(r"(`+)([^`]+)\1", text)
    texts = map(_escaped, pieces[::3])
    codes = [code(" ".join(piece.split())) for piece in pieces[2::3]]
    return "".join(text + code for text, code in zip(texts, [*codes, ""], strict=True)).strip()


def _escaped(text: str) -> str:
    return MARKUP.sub(r"\\\1", re.sub(r"\s+", " ", text))


def code(text: str) -> str:
    """Inline code; empty for an empty text."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown cells without the columns that are empty in all rows; empty without rows."""
    cells = [list(row) for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    columns = [columns[place] for place in kept]
    lines = [f"| {' | '.join([row[place] for place in kept])} |" for row in cells]
    return "\n".join([f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *lines, ""]) if lines else ""


def items(texts: Iterable[str]) -> str:
    """A list of Markdown items."""
    return "".join(f"- {text}\n" for text in texts)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def page(title: str, *parts: str) -> str:
    """A page of the nonempty parts."""
    return "\n".join([f"# {title}\n", *(part for part in parts if part)])


def section(title: str, *parts: str, target: str = "") -> str:
    """A section of the nonempty parts; empty if there are none."""
    text = "\n".join(part for part in parts if part)
    mark = f"({target})=\n" if target else ""
    return f"{mark}## {title}\n\n{text}" if text else ""
