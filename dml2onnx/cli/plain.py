"""ASCII replacements for characters that a console cannot show."""

from __future__ import annotations

import codecs

HANDLER = "dml2onnx.plain"
"""The name of the error handler for the ``errors`` of streams."""

_ASCII = {"×": "x", "…": "...", "µ": "u", "→": "->", "–": "-", "≤": "<=", "≥": ">=", "·": "*"}


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_ASCII.get(char, "?") for char in text), error.end


codecs.register_error(HANDLER, _replaced)
