"""What a command line asks for that cannot be meant, as only the model or the file shows: exit code 2."""

from __future__ import annotations

from dml2onnx.codes.exporting import UNKNOWN_TARGET
from dml2onnx.codes.sizing import WRONG_REQUEST
from dml2onnx.diagnostics import Diagnostic, DmlError


class WrongUseError(DmlError):
    """An option that is wrong by itself, such as the name of a file of another kind for what is written."""


OF_OPTIONS = frozenset({UNKNOWN_TARGET.id, WRONG_REQUEST.id})
"""Findings about what was asked for, and not about the model, which may be raised by functions that Python calls."""


def is_of_options(item: Diagnostic) -> bool:
    """Whether a finding is about what was asked for."""
    return item.code in OF_OPTIONS


def is_wrong_use(error: DmlError) -> bool:
    """Whether it is the command line that is wrong."""
    return isinstance(error, WrongUseError) or all(map(is_of_options, error.diagnostics))
