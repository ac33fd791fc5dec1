"""A mistake, and what is expected of the answer to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A file, or a program for the builder, with one mistake.

    The answer is right if it has exactly ``findings`` findings, names the lines ``here`` and ``there``, if any, and
    matches every pattern of ``says`` and none of ``never``; and if ``fixed``, ``check --fix`` leaves no finding.
    """

    name: str
    source: str
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    findings: int = 1
    severity: str = "error"
    fixed: bool = False
    here: int | None = None
    there: int | None = None
    in_program: bool = False


@dataclass(frozen=True)
class Command:
    """A command line with one mistake, in a directory with the network and pictures.

    The answer is right if the exit code is not 0, there is no traceback, and the output matches every pattern of
    ``says``.
    """

    name: str
    arguments: tuple[str, ...]
    says: tuple[str, ...] = ()
    program: str = ""
    """The text of ``program.py``; its own traceback is part of the answer."""
    files: tuple[tuple[str, str], ...] = ()
    """More files, with their text."""
    before: tuple[tuple[str, ...], ...] = ()
    """Valid commands that run first, before ``files`` are written."""
