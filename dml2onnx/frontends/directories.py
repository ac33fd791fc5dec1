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
    """Files below a directory that may be models, in order; of a recording the index alone.

    What lies ``without`` is not looked at.
    """
    files = sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if without is not None:
        left_out = without.resolve()
        files = [path for path in files if not path.resolve().is_relative_to(left_out)]
    recordings = {path.parent for path in files if path.name == recording.INDEX}
    for path in files:
        if path.name == recording.INDEX or recordings.isdisjoint(path.parents):
            yield path
