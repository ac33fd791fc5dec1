"""The command line: ``dml2onnx compile | check | run | verify | explain | report | convert | pydirectml | ops | ...``.

Exit codes: 0 success, 1 findings, 2 unreadable input or command line, 130 interrupted.

This module imports nothing slow: an interrupt before ``main`` handles it would print a traceback.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    try:
        from dml2onnx.cli.process import perform

        return perform(arguments)
    except KeyboardInterrupt:
        return 128 + 2  # ``exit_codes.INTERRUPTED``, without an import that could be interrupted again
