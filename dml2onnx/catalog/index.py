"""The index of operators: a small file with the columns of operator lists."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dml2onnx.catalog.files import read_json

INDEX_FILE = "operator_index.json"
"""Generated from the operators' files by ``scripts/generate_operator_index.py``."""


class IndexEntry(NamedTuple):
    """A row of an operator list."""

    name: str
    """The full name."""
    introduced: str
    """The first feature level with the operator."""
    lowered: bool
    """Whether it can be compiled."""
    summary: str
    doc: str
    """The address of its page."""


@cache
def operator_index() -> tuple[IndexEntry, ...]:
    """All operators, sorted by name."""
    return tuple(IndexEntry(*row) for row in read_json(INDEX_FILE)["operators"])
