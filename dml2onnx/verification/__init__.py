"""Compares a compiled model with the reference implementation.

``verify`` validates node by node, each with the inputs that ONNX Runtime itself computed for it, so that a bound is
that of one operator; and the outputs of the whole model, against errors that have gone through the graph.
"""

from dml2onnx.verification.contents import CONTENTS, contents, random_array
from dml2onnx.verification.nodes import NodeCheck, check_nodes
from dml2onnx.verification.public import verify
from dml2onnx.verification.whole import Comparison, Verification, compare

__all__ = [
    "CONTENTS",
    "Comparison",
    "NodeCheck",
    "Verification",
    "check_nodes",
    "compare",
    "contents",
    "random_array",
    "verify",
]
