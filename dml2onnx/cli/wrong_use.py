"""Mistakes in the command line that only the model or a file reveals: exit code 2."""

from __future__ import annotations

from dml2onnx.codes.exporting import UNKNOWN_TARGET
from dml2onnx.codes.sizing import WRONG_REQUEST
from dml2onnx.diagnostics import Diagnostic, DmlError


class WrongUseError(DmlError):
    """A wrong option, such as an output file with the suffix of another format."""


OF_OPTIONS = frozenset({UNKNOWN_TARGET.id, WRONG_REQUEST.id})
"""Codes of findings about options, which functions of the Python API raise as DmlError."""


def is_of_options(item: Diagnostic) -> bool:
    """Whether a finding is about an option, not the model."""
    return item.code in OF_OPTIONS


def is_wrong_use(error: DmlError) -> bool:
    """Whether an error is about the command line."""
    return isinstance(error, WrongUseError) or all(map(is_of_options, error.diagnostics))
