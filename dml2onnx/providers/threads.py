"""How many threads a session has where the caller's surroundings say so."""

from __future__ import annotations

import os

SESSION_THREADS = "DML2ONNX_THREADS"
"""The environment variable: threads of a session, for processes that share a machine with others of their kind.

``OMP_NUM_THREADS``, which ONNX Runtime does not heed, stands for the threads of other libraries."""


def session_threads() -> int | None:
    """The number that the environment states; ``None``, which leaves it to ONNX Runtime, where it states none."""
    text = os.environ.get(SESSION_THREADS, "")
    return int(text) if text.isascii() and text.isdecimal() and int(text) else None
