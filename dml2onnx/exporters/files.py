"""Writes a graph and its data files: all of them, or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

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

Beside: TypeAlias = Data | Sidecar | Archive
"""The contents of a file beside a graph."""
PROGRAMS = frozenset({".py", ".cpp"})
"""Suffixes of programs, whose text names the files that they read."""


def write_files(target: Destination, contents: bytes, beside: Mapping[str, Beside]) -> list[Path]:
    """Writes a file and the files ``beside`` it, by name; returns all paths, the file first.

    Raises :class:`DmlError` (DML1916), and writes nothing, if a file beside it exists that does not belong to an older
    version of the file.
    """
    if not isinstance(target, Path):
        if beside:
            message = "large constants go to files beside the output, and this output has no name"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a regular file"))
        return put(target, [contents])
    check_target(target)
    siblings = {target.with_name(name): data for name, data in beside.items()}
    foreign = sorted({path for path in siblings if path.exists()} - _own_files(target, siblings))
    if foreign:
        names = listing([quote(path.name) for path in foreign])
        verb = "does" if len(foreign) == 1 else "do"
        message = f"constants would overwrite {names}, which {verb} not belong to an earlier {quote(target.name)}"
        raise DmlError(BESIDE_OUTPUT.at(message, expected="a directory without such files", found=str(foreign[0])))
    whole = (Archive, Sidecar)
    require_writable(sum(data.nbytes - stored_bytes(data) for data in siblings.values() if not isinstance(data, whole)))
    parts = {path: data.stream() if isinstance(data, whole) else stream(data) for path, data in siblings.items()}
    return put(target, [contents], parts)


def _own_files(target: Path, siblings: Collection[Path]) -> set[Path]:
    """The files that an earlier version of the target names, and that may be overwritten."""
    if not target.exists():
        return set()
    own = {path for path in siblings if path.name == f"{target.name}.data" or not path.exists()}
    if own == set(siblings):
        return own
    if target.suffix in PROGRAMS:
        text = target.read_text(encoding="utf-8", errors="replace")
        python = {path for path in siblings if json.dumps(path.name, ensure_ascii=False) in text}
        return own | python | {path for path in siblings if f" are in {path.name}.\n" in text}  # the comment in C++
    try:
        named = {source.resolve() for source in load(target).sources}
    except DmlError:
        return own
    return own | {path for path in siblings if path.resolve() in named}
