"""``check --fix``: writes those remedies into the file that are certain.

A finding is fixed that has just one remedy, which is certain, and is gone when it is applied. Where a remedy turns out
not to hold, which would be a defect of ours, the text stays as it was there.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.checks import check
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.frontends import load_bytes
from dml2onnx.frontends.edits import edited

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Check = Callable[[bytes], list[Diagnostic]]

MOST_ROUNDS = 20
"""Times that a text is looked at again: what is behind a mistake comes out when it is gone."""

Key = tuple[str, str, str]


class Fixed(NamedTuple):
    """A text with its fixes."""

    text: str
    findings: int
    """How many findings are gone."""
    before: str = ""
    """The text as it was."""


def fix_file(path: Path, options: argparse.Namespace) -> Fixed | None:
    """The text of a model file as it should be; ``None`` where it is no text, or nothing in it can be fixed."""
    from dml2onnx.cli.models import load_options

    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    mark = text[:1] if text.startswith("\ufeff") else ""

    def found(contents: bytes) -> list[Diagnostic]:
        graph = load_bytes(contents, str(path), load_options(options, frozenset(options.input)))
        return check(graph, options.feature_level, documented=options.documented)

    fixed = fix(text.removeprefix(mark), found)
    return Fixed(mark + fixed.text, fixed.findings, text) if fixed.findings else None


def fix(text: str, found: Check) -> Fixed:
    """A text with all that can be fixed, as long as anything can."""
    hopeless: set[Key] = set()
    count = 0
    for _ in range(MOST_ROUNDS):
        findings = _found(text, found)
        if findings is None:
            break
        fixable = [item for item in findings if _key(item) not in hopeless and is_fixable(item)]
        better = _fixed_at_once(text, fixable, found) or _fixed_singly(text, fixable, found, hopeless)
        if better is None:
            break
        text, count = better.text, count + better.findings
    return Fixed(text, count)


def is_fixable(item: Diagnostic) -> bool:
    """Whether there is no doubt what to do about an error."""
    return item.is_error and len(item.remedies) == 1 and item.remedies[0].is_certain and bool(item.remedies[0].edits)


def difference(name: str, before: str, after: str) -> list[str]:
    """The lines of a unified diff, as patch takes it."""
    plain = name.replace("\\\\", "/").lstrip("/")
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{plain}", f"b/{plain}", lineterm="", n=1)
    return list(lines)


def _key(item: Diagnostic) -> Key:
    return item.code, item.pointer, item.message


def _found(text: str, found: Check) -> list[Diagnostic] | None:
    try:
        return found(text.encode("utf-8"))
    except DmlError:
        return None


def _fixed_at_once(text: str, fixable: Sequence[Diagnostic], found: Check) -> Fixed | None:
    """The text with all of these fixed, as nearly always."""
    if not fixable:
        return None
    made = edited(text, [edit for item in fixable for edit in item.remedies[0].edits])
    return Fixed(made, len(fixable)) if made is not None and _holds(made, fixable, found) else None


def _fixed_singly(text: str, fixable: Iterable[Diagnostic], found: Check, hopeless: set[Key]) -> Fixed | None:
    """The text with the first one fixed of which the remedy holds."""
    for item in fixable:
        made = edited(text, item.remedies[0].edits)
        if made is not None and _holds(made, [item], found):
            return Fixed(made, 1)
        hopeless.add(_key(item))
    return None


def _holds(text: str, fixed: Sequence[Diagnostic], found: Check) -> bool:
    later = _found(text, found)
    return later is not None and {_key(item) for item in later}.isdisjoint(map(_key, fixed))
