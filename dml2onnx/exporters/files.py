"""Writes a graph and its files; existing files are replaced together or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.exporting import BESIDE_OUTPUT
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.exporters.archive import Archive
from dml2onnx.exporters.native_contents import Sidecar, require_writable
from dml2onnx.files import Destination, check_target, put
from dml2onnx.frontends import load
from dml2onnx.frontends.findings import listing
from dml2onnx.ir.data import Data, stored_bytes, stream

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PROGRAMS = frozenset({".py", ".cpp"})
"""Suffixes of programs, which name the files that they read."""


def write_files(target: Destination, contents: bytes, beside: Mapping[str, Data]) -> list[Path]:
    """Writes a file and those beside it by their names; returns all of them, the file first.

    Those beside it replace only what belongs to an older version of the file: others are refused (DML1916), and nothing
    is written.
    """
    if not isinstance(target, Path):
        if beside:
            message = "large constants go to files beside the one that is written, and this output has no name"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a regular file"))
        return put(target, [contents])
    check_target(target)
    others = {target.with_name(name): data for name, data in beside.items()}
    strangers = sorted({other for other in others if other.exists()} - _belonging(target, others))
    if strangers:
        shown = listing([quote(path.name) for path in strangers])
        one = len(strangers) == 1
        message = (
            f"{shown} {'is' if one else 'are'} there already, without belonging to an earlier {quote(target.name)};"
            f" {'a constant' if one else 'constants'} would be written there, beside it"
        )
        raise DmlError(BESIDE_OUTPUT.at(message, expected="a directory without such files", found=str(strangers[0])))
    whole = (Archive, Sidecar)
    require_writable(sum(data.nbytes - stored_bytes(data) for data in others.values() if not isinstance(data, whole)))
    parts = {other: data.stream() if isinstance(data, whole) else stream(data) for other, data in others.items()}
    return put(target, [contents], parts)


def _belonging(target: Path, others: Collection[Path]) -> set[Path]:
    """Those of the other files that an earlier version of the target names, which it is to be replaced with."""
    if not target.exists():
        return set()
    own = {other for other in others if other.name == f"{target.name}.data" or not other.exists()}
    if own == set(others):
        return own
    if target.suffix in PROGRAMS:
        text = target.read_text(encoding="utf-8", errors="replace")
        named_there = {other for other in others if json.dumps(other.name, ensure_ascii=False) in text}
        return own | named_there | {other for other in others if f" lie in {other.name}.\n" in text}
    try:
        named = {source.resolve() for source in load(target).sources}
    except DmlError:
        return own
    return own | {other for other in others if other.resolve() in named}
