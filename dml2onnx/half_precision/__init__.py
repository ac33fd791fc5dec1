"""Rewrites FLOAT32 graphs as FLOAT16 ones: weights and computation in half the bytes, between casts at the ends.

This happens to the DirectML graph, before it is lowered. So everything behind it (lowerings, rules of targets, the
reference, ``explain``) sees a FLOAT16 graph as if it had been written so, and each operator is computed as FLOAT16 ones
are: normalizations in FLOAT32 inside, sums as the target has them.
"""

from dml2onnx.half_precision.choice import Choice, choose
from dml2onnx.half_precision.reasons import explained, stays
from dml2onnx.half_precision.rewriting import Halved, halved

__all__ = ["Choice", "Halved", "choose", "explained", "halved", "stays"]
