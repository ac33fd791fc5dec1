"""Running compiled models with ONNX Runtime: sessions, what they are fed with, what they cost in memory and time.

Which execution provider computes is the business of ``providers``.
"""

from __future__ import annotations

from dml2onnx.runtime.feeds import check_inputs
from dml2onnx.runtime.memory import machine_bytes, require_memory
from dml2onnx.runtime.profiles import NodeTime
from dml2onnx.runtime.sessions import Session, open_session

__all__ = ["NodeTime", "Session", "check_inputs", "machine_bytes", "open_session", "require_memory"]
