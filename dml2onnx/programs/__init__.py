"""Graphs as programs: source code that makes them again, for teams that have only a file left."""

from dml2onnx.programs.cpp import cpp
from dml2onnx.programs.python import Program, python

__all__ = ["Program", "cpp", "python"]
