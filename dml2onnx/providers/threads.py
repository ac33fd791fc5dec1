"""The number of threads of a session, from the environment."""

from __future__ import annotations

import os

from dml2onnx.arguments import refusal

MOST_THREADS = 1024
"""More than a session has use for on any machine."""
SESSION_THREADS = "DML2ONNX_THREADS"
"""The environment variable: threads of a session, for processes that share a machine with others of their kind.

``OMP_NUM_THREADS``, which ONNX Runtime does not heed, stands for the threads of other libraries."""


def session_threads() -> int | None:
    """The number that the environment states; ``None``, which leaves it to ONNX Runtime, where it states none.

    :class:`DmlError` (DML3017) for more than :data:`MOST_THREADS`, all of which a session would start.
    """
    text = os.environ.get(SESSION_THREADS, "")
    if not text.isascii() or not text.isdecimal() or not text.strip("0"):
        return None
    if len(text.lstrip("0")) > 4 or int(text) > MOST_THREADS:
        raise refusal(SESSION_THREADS, text, f"a number of threads up to {MOST_THREADS}")
    return int(text)
