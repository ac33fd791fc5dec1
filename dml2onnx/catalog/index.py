"""What lists of operators say of each, from one small file."""

from __future__ import annotations

from typing import NamedTuple

from dml2onnx.catalog.files import read_json

INDEX_FILE = "operator_index.json"
"""Made from the operators' own files by ``scripts/generate_operator_index.py``."""


class IndexEntry(NamedTuple):
    """An operator in a list."""

    name: str
    """Its whole name."""
    introduced: str
    """The feature level that brought it."""
    summary: str
    doc: str
    """Its page."""


def operator_index() -> tuple[IndexEntry, ...]:
    """All operators, sorted by name."""
    return tuple(IndexEntry(*row) for row in read_json(INDEX_FILE)["operators"])
