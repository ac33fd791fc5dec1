"""Computes the memory that a run needs, in advance."""

from __future__ import annotations

import os
import sys
from math import prod

from dml2onnx.codes.running import TOO_MUCH_MEMORY
from dml2onnx.diagnostics import DmlError
from dml2onnx.onnx_model import OnnxGraph, peak
from dml2onnx.onnx_model.types import stored_size

ASSUMED_BYTES = 16 << 30
"""Memory of a machine that does not report it. Windows does not overcommit memory anyway."""


def machine_bytes() -> int:
    """The memory of this machine, or the limit of this process (``ulimit -v``) if that is less.

    A typical value for systems without the POSIX functions.
    """
    if sys.platform == "win32":
        return ASSUMED_BYTES
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        installed = ASSUMED_BYTES
    return installed if limit == resource.RLIM_INFINITY else min(installed, limit)


def require_memory(graph: OnnxGraph, max_bytes: int | None = None) -> None:
    """Raises :class:`DmlError` (DML3020) for a model that needs more memory than allowed."""
    most = machine_bytes() if max_bytes is None else max_bytes
    found = peak(graph)
    if found.nbytes <= most:
        return
    limit = "--max-bytes" if max_bytes is not None else "the memory of this machine"
    message = f"a run needs {found.nbytes} bytes at once; {limit} is {most}"
    origin = found.origin
    if origin is None and graph.inputs:
        port = max(graph.inputs, key=lambda item: stored_size(item.dtype, prod(item.shape)))
        message += f'; the largest input is "{port.name}"'
    raise DmlError(
        TOO_MUCH_MEMORY.at(
            message,
            expected=f"at most {most} bytes",
            found=f"{found.nbytes} bytes",
            node=origin.node if origin else "",
            operator=origin.operator if origin else "",
        )
    )
