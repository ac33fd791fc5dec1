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
"""What a directory is searched for."""


def is_directory(path: Path) -> bool:
    """Whether that is a directory; what cannot be looked at is a file, about which there is more to be said."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def searched(directory: Path, without: Path | None = None, allowed: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Files below a directory that may be models, in order; of a recording the index alone, even where it is lost.

    What lies ``without`` is not looked at, nor is what :func:`outside` gives. :class:`UnreadableError` names a
    directory that cannot be looked into.
    """
    roots = (directory, *allowed)
    files = [path for path in _candidates(directory) if lies_below(path, roots)]
    if without is not None:
        left_out = without.resolve()
        files = [path for path in files if not path.resolve().is_relative_to(left_out)]
    recordings = {path.parent for path in files if path.name == recording.INDEX}
    lost = {index for path in files if path.parent.name == recording.OPERATORS for index in _lost(path.parent.parent)}
    recordings |= {index.parent for index in lost}
    for path in sorted({*files, *lost}):
        if path.name == recording.INDEX or recordings.isdisjoint(path.parents):
            yield path


def outside(directory: Path, allowed: tuple[Path, ...] = ()) -> Iterator[tuple[Path, UnreadableError]]:
    """Files below a directory that may be models and are links out of it, with what is said of them."""
    for path in _candidates(directory):
        if not lies_below(path, (directory, *allowed)):
            real = quote(str(path.resolve()))
            message = f"{quote(str(path))} leads out of {quote(str(directory))}, to {real}"
            expected = "a file below that directory, or --allow-path DIR for another"
            yield path, UnreadableError(FILE_OUTSIDE.at(message, expected=expected, found=real))


def _candidates(directory: Path) -> list[Path]:
    return sorted(path for path in _below(directory) if path.suffix in SUFFIXES and path.is_file())


def _below(directory: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> NoReturn:
        message = f"the directory {quote(str(error.filename))} cannot be read: {error.strerror}"
        raise UnreadableError(CANNOT_READ.at(message, found=error.strerror)) from None

    for folder, _, names in os.walk(directory, onerror=refuse):
        for name in names:
            yield Path(folder, name)


def _lost(folder: Path) -> Iterator[Path]:
    """The index that a recording's directory should have, and has not."""
    index = recording.index_of(folder)
    if index.name == recording.INDEX and not index.exists():
        yield index
