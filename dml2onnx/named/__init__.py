"""One model for all sizes, made of models of some: the same records but for numbers that follow from names."""

from dml2onnx.named.merging import difference, merged
from dml2onnx.named.points import points_of
from dml2onnx.sizes.ranges import ranges_of

__all__ = ["difference", "merged", "points_of", "ranges_of"]
