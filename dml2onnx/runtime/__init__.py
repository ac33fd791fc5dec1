"""Runs compiled models with ONNX Runtime: sessions, inputs, memory, and profiles.

``providers`` chooses the execution provider.
"""

from __future__ import annotations

from dml2onnx.runtime.assignment import NodeAssignment, assignments, fell_back, placed
from dml2onnx.runtime.feeds import check_inputs
from dml2onnx.runtime.memory_limit import machine_bytes, require_memory
from dml2onnx.runtime.profiles import NodeTime
from dml2onnx.runtime.sessions import Session, open_session
from dml2onnx.runtime.weights import Weights

__all__ = [
    "NodeAssignment",
    "NodeTime",
    "Session",
    "Weights",
    "assignments",
    "check_inputs",
    "fell_back",
    "machine_bytes",
    "open_session",
    "placed",
    "require_memory",
]
