"""What one of the forty mistakes is made of."""

from __future__ import annotations

from dataclasses import dataclass

HERE = "<- here"
"""The mark, in a comment, of the line that the finding is to be at."""

THERE = "<- there"
"""The mark of the second place: the other tensor, the other writer."""


@dataclass(frozen=True)
class Case:
    """A file or a program with one mistake, and what is asked of the answer.

    An answer is fully right where it has exactly ``findings`` findings, the first is at the line marked ``HERE``, every
    pattern of ``says`` is found in the text that ``check`` writes, or the exception of the builder, and none of
    ``never``, where a line marked ``THERE`` is named too, and where ``check --fix`` leaves no finding if ``fixed`` says
    so.
    """

    name: str
    source: str
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    findings: int = 1
    severity: str = "error"
    fixed: bool = False
    level: str | None = None


@dataclass(frozen=True)
class Command:
    """A command line with one mistake, in a directory with the network and pictures, and what is asked of the answer.

    It is fully right where the command ends with an exit code that is not 0, without a traceback, and every pattern of
    ``says`` is found in what it writes.
    """

    name: str
    arguments: tuple[str, ...]
    says: tuple[str, ...] = ()
    program: str = ""
    """Of ``program.py``, whose own traceback is a part of the answer."""
    files: tuple[tuple[str, str], ...] = ()
    """Further files, with their text."""
    before: tuple[tuple[str, ...], ...] = ()
    """Command lines without a mistake that come first, before ``files`` are written."""


def edited(text: str, *edits: tuple[str, str]) -> str:
    """The text with parts replaced, each of which it has exactly once."""
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
