"""Optimization passes over a whole ONNX model, before it is written: the same results by fewer or cheaper nodes.

Lowering translates one DirectML node at a time. A pass is a function with a name and a switch. Without passes (``-O0``)
the model has the nodes that lowering emits; constants are folded and layouts propagated even then.
"""

from dml2onnx.passes.draft import Draft
from dml2onnx.passes.table import (
    ALWAYS,
    LAYOUT_PROPAGATION,
    LEVELS,
    PASSES,
    ROUNDING,
    Pass,
    apply,
    chosen,
    propagates_layouts,
)

__all__ = [
    "ALWAYS",
    "LAYOUT_PROPAGATION",
    "LEVELS",
    "PASSES",
    "ROUNDING",
    "Draft",
    "Pass",
    "apply",
    "chosen",
    "propagates_layouts",
]
