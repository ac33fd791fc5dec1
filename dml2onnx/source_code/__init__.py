"""Writes graphs as programs that build them."""

from dml2onnx.source_code.cpp import cpp
from dml2onnx.source_code.python import SourceProgram, python

__all__ = ["SourceProgram", "cpp", "python"]
