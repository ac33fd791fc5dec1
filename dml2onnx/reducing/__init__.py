"""The smallest graph of which something is still true: what a bug report needs."""

from dml2onnx.reducing.search import Progress, reduced

__all__ = ["Progress", "reduced"]
