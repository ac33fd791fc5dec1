"""Finds a smallest graph with a property, for bug reports."""

from dml2onnx.reducing.search import SearchState, reduced

__all__ = ["SearchState", "reduced"]
