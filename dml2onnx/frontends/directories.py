"""What a directory has that may be models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.frontends import recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES = (".json", ".bin")
"""What a directory is searched for."""


def searched(directory: Path, without: Path | None = None) -> Iterator[Path]:
    """Files below a directory that may be models, in order; of a recording the index alone, even where it is lost.

    What lies ``without`` is not looked at.
    """
    files = sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if without is not None:
        left_out = without.resolve()
        files = [path for path in files if not path.resolve().is_relative_to(left_out)]
    recordings = {path.parent for path in files if path.name == recording.INDEX}
    lost = {index for path in files if path.parent.name == recording.OPERATORS for index in _lost(path.parent.parent)}
    recordings |= {index.parent for index in lost}
    for path in sorted({*files, *lost}):
        if path.name == recording.INDEX or recordings.isdisjoint(path.parents):
            yield path


def _lost(folder: Path) -> Iterator[Path]:
    """The index that a recording's directory should have, and has not."""
    index = recording.index_of(folder)
    if index.name == recording.INDEX and not index.exists():
        yield index
