"""What keeps ONNX Runtime's optimiser from changing the numbers of a model: the last that is done to it.

The optimiser looks for nodes next to one another. A barrier is a Reshape to the shape that is there, or, among
quantisations, which are moved across a Reshape, a Flatten and a Reshape where the shape has to come back: neither
copies anything. It stands only where something would match and be wrong; what is exact, QLinearConv and its kin among
it, stays. Barriers are rows of a table, and no pass knows of them: they are put in behind all passes.
"""

from dml2onnx.optimizer_barriers.table import BARRIERS, PROTECTION, Barrier

__all__ = ["BARRIERS", "PROTECTION", "Barrier"]
