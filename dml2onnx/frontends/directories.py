"""Finds models in a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from dml2onnx.codes.reading import FILE_OUTSIDE
from dml2onnx.codes.unreadable import CANNOT_READ
from dml2onnx.diagnostics import UnreadableError, quote
from dml2onnx.frontends import recording
from dml2onnx.frontends.files import lies_below

SUFFIXES = (".json", ".bin")
"""Suffixes of model files."""


def is_directory(path: Path) -> bool:
    """Whether the path is a directory; inaccessible paths count as files, for which reading reports the reason."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def find_models(directory: Path, exclude: Path | None = None, allowed: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yields the files below a directory that may be models, sorted; of a recording only the index, even if missing.

    Skips files below ``exclude``, and links that leave the directory (:func:`find_escaping_links`). Raises
    :class:`UnreadableError` for a directory that cannot be read.
    """
    roots = (directory, *allowed)
    files = [path for path in _candidates(directory) if lies_below(path, roots)]
    if exclude is not None:
        excluded = exclude.resolve()
        files = [path for path in files if not path.resolve().is_relative_to(excluded)]
    recordings = {path.parent for path in files if path.name == recording.INDEX}
    missing = {
        index
        for path in files
        if path.parent.name == recording.OPERATORS
        for index in _missing_index(path.parent.parent)
    }
    recordings |= {index.parent for index in missing}
    for path in sorted({*files, *missing}):
        if path.name == recording.INDEX or recordings.isdisjoint(path.parents):
            yield path


def find_escaping_links(directory: Path, allowed: tuple[Path, ...] = ()) -> Iterator[tuple[Path, UnreadableError]]:
    """Yields links below a directory that may be models but lead out of it, each with the error to report."""
    for path in _candidates(directory):
        if not lies_below(path, (directory, *allowed)):
            real = quote(str(path.resolve()))
            message = f"{quote(str(path))} leads out of {quote(str(directory))}, to {real}"
            expected = "a file below that directory, or --allow-path DIR for another"
            yield path, UnreadableError(FILE_OUTSIDE.at(message, expected=expected, found=real))


def _candidates(directory: Path) -> list[Path]:
    return sorted(path for path in _files_below(directory) if path.suffix in SUFFIXES and path.is_file())


def _files_below(directory: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> NoReturn:
        message = f"the directory {quote(str(error.filename))} cannot be read: {error.strerror}"
        raise UnreadableError(CANNOT_READ.at(message, found=error.strerror)) from None

    for folder, _, names in os.walk(directory, onerror=refuse):
        for name in names:
            yield Path(folder, name)


def _missing_index(folder: Path) -> Iterator[Path]:
    """Yields the index that is missing from the directory of a recording."""
    index = recording.index_of(folder)
    if index.name == recording.INDEX and not index.exists():
        yield index
