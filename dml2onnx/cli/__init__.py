"""The command line: ``dml2onnx compile | check | run | verify | explain | report | convert | pydirectml | ops | ...``.

Exit codes: 0 all is well, 1 there are findings, 2 the input or the command line cannot be read, 130 interrupted.

This module imports nothing that takes time, so that nobody can interrupt it before it can say so.
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
        return 128 + 2  # ``exit_codes.INTERRUPTED``; an import here could be interrupted once more
