"""Finds a smallest graph with a property, for bug reports."""

from dml2onnx.reducing.search import Progress, reduced

__all__ = ["Progress", "reduced"]
