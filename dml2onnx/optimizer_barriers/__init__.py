"""Barriers that keep ONNX Runtime's optimizer from changing the results of a model, inserted after all passes.

The optimizer matches adjacent nodes. A barrier is a Reshape to the same shape. Quantization is propagated through
Reshape, so a barrier there is a Flatten, followed by a Reshape if the shape must be restored. Neither copies data. A
barrier is inserted only where a match would be wrong: exact fusions, such as QLinearConv, remain.
"""

from dml2onnx.optimizer_barriers.table import BARRIERS, PROTECTION, Barrier

__all__ = ["BARRIERS", "PROTECTION", "Barrier"]
