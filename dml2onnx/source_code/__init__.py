"""Writes graphs as programs that build them."""

from dml2onnx.source_code.cpp import cpp
from dml2onnx.source_code.python import Program, python

__all__ = ["Program", "cpp", "python"]
