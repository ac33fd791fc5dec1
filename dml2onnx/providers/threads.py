"""The number of threads of a session, from the environment."""

from __future__ import annotations

import os

from dml2onnx.arguments import refusal

MOST_THREADS = 1024
"""More than any machine has use for."""
SESSION_THREADS = "DML2ONNX_THREADS"
"""The environment variable for the threads of a session, for processes that share a machine.

ONNX Runtime ignores ``OMP_NUM_THREADS``, which sets the threads of other libraries."""


def session_threads() -> int | None:
    """The number of threads in the environment; ``None``, ONNX Runtime's default, if not set.

    :class:`DmlError` (DML3017) above :data:`MOST_THREADS`, since a session would start all of them.
    """
    text = os.environ.get(SESSION_THREADS, "")
    if not text.isascii() or not text.isdecimal() or not text.strip("0"):
        return None
    if len(text.lstrip("0")) > 4 or int(text) > MOST_THREADS:
        raise refusal(SESSION_THREADS, text, f"a number of threads up to {MOST_THREADS}")
    return int(text)
