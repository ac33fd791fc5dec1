"""The index of operators, a small file with what lists of operators show."""

from __future__ import annotations

from functools import cache
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
    lowered: bool
    """Whether it can be compiled."""
    summary: str
    doc: str
    """Its page."""


@cache
def operator_index() -> tuple[IndexEntry, ...]:
    """All operators, sorted by name."""
    return tuple(IndexEntry(*row) for row in read_json(INDEX_FILE)["operators"])
