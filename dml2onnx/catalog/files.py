"""The JSON files of `schemas/`, and the names in them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
OPERATOR_PREFIX = "DML_OPERATOR_"


class UnknownNameError(KeyError):
    """A name that the catalog does not have; KeyError itself would print the message in quotes."""

    def __str__(self) -> str:
        return str(self.args[0])


@functools.cache
def schemas_directory() -> Path:
    """The directory of the JSON files: inside the package in a wheel, beside it in a checkout."""
    inside = PACKAGE / "schemas"
    return inside if inside.is_dir() else PACKAGE.parent / "schemas"


@functools.cache
def operator_names() -> tuple[str, ...]:
    """The full names of all operators, sorted; from the file names."""
    directory = schemas_directory() / "operators"
    return tuple(sorted(OPERATOR_PREFIX + path.stem.upper() for path in directory.glob("*.json")))


def read_json(relative: str) -> Any:
    """Returns the untyped content of a file."""
    with open(schemas_directory() / relative, encoding="utf-8") as file:
        return json.load(file)


def did_you_mean(name: str, candidates: tuple[str, ...]) -> str:
    """Returns a question to append to a message about an unknown name, or ``""`` if no candidate is similar."""
    from dml2onnx.catalog.likeness import nearest, question  # needed for misspelled names only

    return question(nearest(name, candidates))
