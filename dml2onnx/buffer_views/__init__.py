"""Follows the buffers of a graph while it is lowered: who wrote them, how a view sees them, which nodes see alike.

Only layout propagation depends on operators. Lowerings see tensors, and a view that is not what was written becomes
ONNX nodes here.
"""
