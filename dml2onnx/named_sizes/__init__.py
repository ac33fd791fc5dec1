"""Merges models of several sizes into one for all sizes, in which numbers are expressions of the names."""

from dml2onnx.named_sizes.making import one_model
from dml2onnx.named_sizes.merging import difference, merged
from dml2onnx.named_sizes.points import points_of
from dml2onnx.sizes.limits import Limits
from dml2onnx.sizes.ranges import ranges_of

__all__ = ["Limits", "difference", "merged", "one_model", "points_of", "ranges_of"]
