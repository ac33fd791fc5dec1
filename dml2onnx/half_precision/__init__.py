"""Rewrites FLOAT32 graphs to FLOAT16: half-size weights and computation, with casts at inputs and outputs.

The DirectML graph is rewritten before lowering. So lowerings, rules of targets, the reference and ``explain`` handle it
like any FLOAT16 graph, and operators are computed as in FLOAT16: normalizations in FLOAT32 internally, sums as the
target does.
"""

from dml2onnx.half_precision.choice import Choice, choose
from dml2onnx.half_precision.reasons import explained, stays
from dml2onnx.half_precision.rewriting import Halved, halved

__all__ = ["Choice", "Halved", "choose", "explained", "halved", "stays"]
