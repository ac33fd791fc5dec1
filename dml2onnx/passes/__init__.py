"""Rewrites the records of an ONNX model before they are written: the same numbers by fewer nodes, or by cheaper ones.

Lowering translates one DirectML node at a time. A pass sees the whole model. Each is a function with a name and a
switch; without any of them (``-O0``) the model has the nodes that lowering emits for each
DirectML node; constants are folded, and layouts propagated, all the same.
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
