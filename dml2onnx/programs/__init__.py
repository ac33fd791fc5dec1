"""Writes graphs as source code that builds them."""

from dml2onnx.programs.cpp import cpp
from dml2onnx.programs.python import Program, python

__all__ = ["Program", "cpp", "python"]
