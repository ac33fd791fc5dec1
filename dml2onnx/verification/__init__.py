"""Compares a compiled model with the reference implementation.

``verify`` validates each node on the inputs that ONNX Runtime computed for it, with the error bound of one operator,
and the outputs of the whole model, with errors propagated through the graph.
"""

from dml2onnx.verification.contents import CONTENTS, contents, random_array
from dml2onnx.verification.nodes import NodeCheck, check_nodes
from dml2onnx.verification.public import verify
from dml2onnx.verification.whole import OutputComparison, Verification, compare

__all__ = [
    "CONTENTS",
    "NodeCheck",
    "OutputComparison",
    "Verification",
    "check_nodes",
    "compare",
    "contents",
    "random_array",
    "verify",
]
