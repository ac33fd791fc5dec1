"""``check --fix``: applies certain remedies to a file.

A finding is fixed if it has exactly one remedy, the remedy is certain, and the finding is gone afterwards. A remedy
that fails this check, which would be a bug of ours, is not applied.
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
"""Times that a text is checked again: a fix may uncover further findings."""

Key = tuple[str, str, str]


class FixedText(NamedTuple):
    """A text with its fixes."""

    text: str
    findings: int
    """The number of fixed findings."""
    before: str = ""
    """The original text."""


def fix_file(path: Path, options: argparse.Namespace) -> FixedText | None:
    """Fixes a model file's text; ``None`` if it is not text, or nothing in it can be fixed."""
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
    return FixedText(mark + fixed.text, fixed.findings, text) if fixed.findings else None


def fix(text: str, found: Check) -> FixedText:
    """Applies remedies until no fixable finding is left."""
    failed: set[Key] = set()
    count = 0
    for _ in range(MOST_ROUNDS):
        findings = _found(text, found)
        if findings is None:
            break
        fixable = [item for item in findings if _key(item) not in failed and is_fixable(item)]
        fixed = _fix_all(text, fixable, found) or _fix_one(text, fixable, found, failed)
        if fixed is None:
            break
        text, count = fixed.text, count + fixed.findings
    return FixedText(text, count)


def is_fixable(item: Diagnostic) -> bool:
    """Whether an error has exactly one remedy, which is certain."""
    return item.is_error and len(item.remedies) == 1 and item.remedies[0].is_certain and bool(item.remedies[0].edits)


def difference(name: str, before: str, after: str) -> list[str]:
    """The lines of a unified diff, for ``patch -p1``."""
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


def _fix_all(text: str, fixable: Sequence[Diagnostic], found: Check) -> FixedText | None:
    """Applies the remedies of all findings together; ``None`` if a finding stays."""
    if not fixable:
        return None
    result = edited(text, [edit for item in fixable for edit in item.remedies[0].edits])
    if result is None or (later := _found(result, found)) is None:
        return None
    is_fixed = {_key(item) for item in later}.isdisjoint(map(_key, fixable))
    return FixedText(result, len(fixable)) if is_fixed else None


def _fix_one(text: str, fixable: Iterable[Diagnostic], found: Check, failed: set[Key]) -> FixedText | None:
    """Applies the first remedy that works, and adds the others before it to ``failed``."""
    for item in fixable:
        if (fixed := _fix_all(text, [item], found)) is not None:
            return fixed
        failed.add(_key(item))
    return None
